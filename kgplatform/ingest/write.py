"""Rows into Neo4j and out of it: in one transaction, all that some chunks say and the word that they are done.

Taken away is what only the chunks and documents that go support, and nothing else.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Collection, Sequence

from kgplatform.ingest.rows import LONGEST_NAME, Rows, ordered
from kgplatform.neo4j.store import Parameters, Row, Store
from kgplatform.records import Chunk, Document
from kgplatform.text import title_key
from kgplatform.work.stopping import NEVER

Statement = tuple[str, Parameters]
_STATEMENT_ROWS = 1000


def write_documents(
    store: Store, written: Sequence[tuple[Document, list[Chunk]]], other_texts: Collection[str] = ()
) -> None:
    """Documents, their chunks and the reading order, in one transaction.

    Those of ``other_texts`` lose the pages that a run of `kgplatform gist` made of the old text since it was laid off.
    """
    changed = [document.id for document, _ in written if document.id in other_texts]
    statements: list[Statement] = [("ingest/remove_pages", {"documents": changed})] if changed else []
    statements.append(("ingest/documents", {"rows": [_document_row(document, chunks) for document, chunks in written]}))
    rows = [_chunk_row(chunk) for _, chunks in written for chunk in chunks]
    following = [
        {"id": one.id, "next": other.id}
        for _, chunks in written
        for one, other in zip(chunks, chunks[1:], strict=False)
    ]
    statements += _slices("ingest/chunks", rows) + _slices("ingest/next_chunks", following)
    store.write(*statements)


def extraction_statements(rows: Rows, states: Sequence[Row]) -> list[Statement]:
    """The statements that write ``rows`` and record the ``states`` of the chunks that they came from."""
    return [
        *_slices("ingest/entities", ordered(rows.entities)),
        *_slices("ingest/key_elements", ordered(rows.key_elements)),
        *_slices("ingest/mentions", ordered(rows.mentions)),
        *_slices("ingest/triples", ordered(rows.triples)),
        *_slices("ingest/attributes", ordered(rows.attributes)),
        *_slices("ingest/atomic_facts", ordered(rows.atomic_facts)),
        *_slices("ingest/chunk_states", states),
    ]


def fact_removals(chunks: Sequence[str]) -> list[Statement]:
    """The statements that take away the atomic facts of ``chunks``, before others are written in their place."""
    if not chunks:
        return []
    return [
        ("ingest/remove_atomic_facts", {"chunks": list(chunks)}),
        ("ingest/remove_element_mentions", {"chunks": list(chunks)}),
    ]


def fact_consequences(chunks: Sequence[str], rows: Rows) -> list[Statement]:
    """The statements that follow where the facts of ``chunks`` were replaced by ``rows``: what they state is counted
    again, and what they mention is looked at again, since a name may be another with that.
    """
    if not chunks:
        return []
    mentioned = sorted({element for element, _ in rows.mentions})
    return [
        ("ingest/revisit_elements", {"ids": mentioned}),
        ("ingest/recount_statements", {"chunks": list(chunks)}),
    ]


def _slices(name: str, rows: Sequence[Row]) -> list[Statement]:
    return [(name, {"rows": rows[i : i + _STATEMENT_ROWS]}) for i in range(0, len(rows), _STATEMENT_ROWS)]


def _document_row(document: Document, chunks: Sequence[Chunk]) -> Row:
    return {
        "id": document.id,
        "name": document.name,
        "key": title_key(document.name)[:LONGEST_NAME],
        "uri": document.uri,
        "source": document.source,
        "sha256": document.sha256,
        "characters": len(document.text),
        "tokens": sum(chunk.tokens for chunk in chunks),
    }


def _chunk_row(chunk: Chunk) -> Row:
    return {
        "id": chunk.id,
        "document": chunk.document_id,
        "name": chunk.name,
        "text": chunk.text,
        "index": chunk.index,
        "start": chunk.start,
        "end": chunk.end,
        "page": chunk.page,
        "tokens": chunk.tokens,
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


_CHUNKS = 200
_DOCUMENTS = 50
"""Whose pages go in one transaction. A page takes 8 KB of the server's memory until that is committed."""


def removals(
    chunks: Sequence[str], documents: Sequence[str] = (), without_pages: Sequence[str] = ()
) -> list[Statement]:
    """The statements, in order, that remove ``chunks`` and then ``documents`` within one transaction.

    The documents ``without_pages`` lose those first, since their text is another now, or none.
    """
    statements: list[Statement] = []
    if without_pages:
        statements.append(("ingest/remove_pages", {"documents": list(without_pages)}))
    if chunks:
        statements += [
            ("ingest/remove_facts", {"chunks": list(chunks)}),
            ("ingest/remove_mentions", {"chunks": list(chunks)}),
            ("ingest/remove_communities", {}),
            ("ingest/remove_chunks", {"chunks": list(chunks)}),
        ]
    if documents:
        statements.append(("ingest/remove_documents", {"documents": list(documents)}))
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
