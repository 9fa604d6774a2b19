"""Rows into Neo4j and out of it: in one transaction, all that some passages say and the word that they are done.

Taken away is what only the passages and documents that go support, and nothing else.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Collection, Sequence

from kgplatform.ingest.rows import LONGEST_NAME, Rows, ordered
from kgplatform.neo4j.store import Parameters, Row, Store
from kgplatform.records import Document, Passage
from kgplatform.text import title_key
from kgplatform.work.stopping import NEVER

Statement = tuple[str, Parameters]
_STATEMENT_ROWS = 1000


def write_documents(
    store: Store, written: Sequence[tuple[Document, list[Passage]]], other_texts: Collection[str] = ()
) -> None:
    """Documents, their passages and the reading order, in one transaction.

    Those of ``other_texts`` lose the pages that a run of `kgplatform gist` made of the old text since it was laid off.
    """
    changed = [document.id for document, _ in written if document.id in other_texts]
    statements: list[Statement] = [("ingest/remove_pages", {"documents": changed})] if changed else []
    statements.append(
        ("ingest/documents", {"rows": [_document_row(document, passages) for document, passages in written]})
    )
    rows = [_passage_row(passage) for _, passages in written for passage in passages]
    following = [
        {"id": one.id, "next": other.id}
        for _, passages in written
        for one, other in zip(passages, passages[1:], strict=False)
    ]
    statements += _slices("ingest/passages", rows) + _slices("ingest/next_passages", following)
    store.write(*statements)


def extraction_statements(rows: Rows, states: Sequence[Row]) -> list[Statement]:
    """The statements that write ``rows`` and record the ``states`` of the passages that they came from."""
    return [
        *_slices("ingest/entities", ordered(rows.entities)),
        *_slices("ingest/key_elements", ordered(rows.key_elements)),
        *_slices("ingest/mentions", ordered(rows.mentions)),
        *_slices("ingest/triples", ordered(rows.triples)),
        *_slices("ingest/attributes", ordered(rows.attributes)),
        *_slices("ingest/atomic_facts", ordered(rows.atomic_facts)),
        *_slices("ingest/passage_states", states),
    ]


def fact_removals(passages: Sequence[str]) -> list[Statement]:
    """The statements that take away the atomic facts of ``passages``, before others are written in their place."""
    if not passages:
        return []
    return [
        ("ingest/remove_atomic_facts", {"passages": list(passages)}),
        ("ingest/remove_element_mentions", {"passages": list(passages)}),
    ]


def fact_consequences(passages: Sequence[str], rows: Rows) -> list[Statement]:
    """The statements that follow where the facts of ``passages`` were replaced by ``rows``: what they state is counted
    again, and what they mention is looked at again, since a name may be another with that.
    """
    if not passages:
        return []
    mentioned = sorted({element for element, _ in rows.mentions})
    return [
        ("ingest/revisit_elements", {"ids": mentioned}),
        ("ingest/recount_statements", {"passages": list(passages)}),
    ]


def _slices(name: str, rows: Sequence[Row]) -> list[Statement]:
    return [(name, {"rows": rows[i : i + _STATEMENT_ROWS]}) for i in range(0, len(rows), _STATEMENT_ROWS)]


def _document_row(document: Document, passages: Sequence[Passage]) -> Row:
    return {
        "id": document.id,
        "name": document.title,
        "key": title_key(document.title)[:LONGEST_NAME],
        "uri": document.uri,
        "source": document.source,
        "sha256": document.sha256,
        "characters": len(document.text),
        "tokens": sum(passage.tokens for passage in passages),
    }


def _passage_row(passage: Passage) -> Row:
    return {
        "id": passage.id,
        "document": passage.document_id,
        "name": passage.name,
        "text": passage.text,
        "index": passage.index,
        "start": passage.start,
        "end": passage.end,
        "page": passage.page,
        "tokens": passage.tokens,
    }


class Writer:
    """Writes transactions in the order given, on a thread of its own, so that the next is prepared meanwhile.

    A failed write is raised by the next ``put``, or on leaving the ``with`` block. What was put is written though the
    work is stopped: it is done.
    """

    def __init__(self, store: Store, ahead: int = 2) -> None:
        self._store = store.within(NEVER)
        self._queue: queue.Queue[list[Statement] | None] = queue.Queue(maxsize=ahead)
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.put(None)
        self._thread.join()
        self._raise()

    def put(self, statements: list[Statement]) -> None:
        """Queue one transaction; waits while two are ahead of it."""
        self._raise()
        if statements:
            self._queue.put(statements)

    def _work(self) -> None:
        while (statements := self._queue.get()) is not None:
            if self._error is None:
                try:
                    self._store.write(*statements)
                except Exception as error:  # noqa: BLE001 - carried to the caller's thread, and raised there
                    self._error = error

    def _raise(self) -> None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error


# -------------------------------------------------------------------------------------------------------------- removal


_PASSAGES = 200
_DOCUMENTS = 50
"""Whose pages go in one transaction. A page takes 8 KB of the server's memory until that is committed."""


def removals(
    passages: Sequence[str], documents: Sequence[str] = (), without_pages: Sequence[str] = ()
) -> list[Statement]:
    """The statements, in order, that remove ``passages`` and then ``documents`` within one transaction.

    The documents ``without_pages`` lose those first, since their text is another now, or none.
    """
    statements: list[Statement] = []
    if without_pages:
        statements.append(("ingest/remove_pages", {"documents": list(without_pages)}))
    if passages:
        statements += [
            ("ingest/remove_facts", {"passages": list(passages)}),
            ("ingest/remove_mentions", {"passages": list(passages)}),
            ("ingest/remove_communities", {}),
            ("ingest/remove_passages", {"passages": list(passages)}),
        ]
    if documents:
        statements.append(("ingest/remove_documents", {"documents": list(documents)}))
    return statements


def remove(store: Store, passages: Sequence[str], documents: Sequence[str], without_pages: Sequence[str] = ()) -> None:
    """Remove ``passages``, in transactions of 200, and then ``documents``; the first takes the pages away, too.

    Of more than 50 documents ``without_pages``, those before the last 50 lose theirs ahead of that.
    """
    slices = [without_pages[start : start + _DOCUMENTS] for start in range(0, len(without_pages), _DOCUMENTS)]
    for early in slices[:-1]:
        store.write(*removals((), without_pages=early))
    for start in range(0, max(len(passages), bool(without_pages)), _PASSAGES):
        pages = slices[-1] if slices and start == 0 else ()
        store.write(*removals(passages[start : start + _PASSAGES], without_pages=pages))
    if documents:
        store.write(*removals((), documents))
