"""Taking away: what only these chunks and documents support, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from kgplatform.store import Parameters, Store

_CHUNKS = 200
Statement = tuple[str, Parameters]


def removals(chunks: Sequence[str], documents: Sequence[str] = ()) -> list[Statement]:
    """The statements, in order, that remove ``chunks`` and then ``documents`` within one transaction."""
    statements: list[Statement] = []
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


def remove(store: Store, chunks: Sequence[str], documents: Sequence[str]) -> None:
    """Remove ``chunks``, in transactions of 200, and then ``documents``."""
    for start in range(0, len(chunks), _CHUNKS):
        store.write(*removals(chunks[start : start + _CHUNKS]))
    if documents:
        store.write(*removals((), documents))
