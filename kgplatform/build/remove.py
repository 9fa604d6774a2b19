"""Taking away: what only these chunks and documents support, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from kgplatform.store import Parameters, Store

_CHUNKS = 200
_DOCUMENTS = 50
"""Whose pages go in one transaction. A page takes 8 KB of the server's memory until that is committed."""
Statement = tuple[str, Parameters]


def removals(
    chunks: Sequence[str], documents: Sequence[str] = (), without_pages: Sequence[str] = ()
) -> list[Statement]:
    """The statements, in order, that remove ``chunks`` and then ``documents`` within one transaction.

    The documents ``without_pages`` lose those first, since their text is another now, or none.
    """
    statements: list[Statement] = []
    if without_pages:
        statements.append(("build/remove_pages", {"documents": list(without_pages)}))
    if chunks:
        statements += [
            ("build/remove_facts", {"chunks": list(chunks)}),
            ("build/remove_mentions", {"chunks": list(chunks)}),
            ("build/remove_communities", {}),
            ("build/remove_chunks", {"chunks": list(chunks)}),
        ]
    if documents:
        statements.append(("build/remove_documents", {"documents": list(documents)}))
    return statements


def remove(store: Store, chunks: Sequence[str], documents: Sequence[str], without_pages: Sequence[str] = ()) -> None:
    """Remove ``chunks``, in transactions of 200, and then ``documents``; the first takes the pages away, too.

    Of more than 50 documents ``without_pages``, those before the last 50 lose theirs ahead of that.
    """
    slices = [without_pages[start : start + _DOCUMENTS] for start in range(0, len(without_pages), _DOCUMENTS)]
    for early in slices[:-1]:
        store.write(*removals((), without_pages=early))
    for start in range(0, max(len(chunks), bool(without_pages)), _CHUNKS):
        pages = slices[-1] if slices and start == 0 else ()
        store.write(*removals(chunks[start : start + _CHUNKS], without_pages=pages))
    if documents:
        store.write(*removals((), documents))
