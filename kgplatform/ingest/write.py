"""Rows and documents into Neo4j, and out of it.

One transaction has all that some passages say and the mark that they are done. Taken away is what only the passages and
documents that go support, and nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Protocol

from kgplatform.concurrency.stopping import NEVER
from kgplatform.ingest.rows import Rows, ordered
from kgplatform.neo4j.metadata import properties_of
from kgplatform.query import batches
from kgplatform.records import Document, Passage
from kgplatform.text import title_key
from kgplatform.text.languages import language_of

if TYPE_CHECKING:
    from kgplatform.neo4j.store import Row, Store

Statement = tuple[str, dict[str, Any]]


def document_statements(
    written: Sequence[tuple[Document, Sequence[Passage]]], other_texts: Collection[str] = ()
) -> list[Statement]:
    """The statements that write documents, their passages and the reading order.

    Those of ``other_texts`` lose the pages that a run of `kgplatform gist` made of the old text since it was laid off.
    """
    changed = [document.id for document, _ in written if document.id in other_texts]
    names = [each.name for each in fields(Passage)]
    rows = [{name: getattr(passage, name) for name in names} for _, passages in written for passage in passages]
    following = [{"id": one.id, "next": other.id} for _, passages in written for one, other in pairwise(passages)]
    return [
        *([("ingest/remove_pages", {"documents": changed})] if changed else ()),
        *_slices("ingest/documents", [_document_row(document, passages) for document, passages in written]),
        *_slices("ingest/passages", rows),
        *_slices("ingest/next_passages", following),
    ]


def metadata_statements(documents: Sequence[Document]) -> list[Statement]:
    """The statements that write what else is known of documents, in place of what was known."""
    rows = [{"id": document.id, "metadata": properties_of(document.metadata)} for document in documents]
    return _slices("ingest/metadata", rows)


Replaced = Literal["facts", "everything"]
"""What a passage said before that what it says now takes the place of: its atomic facts, or all of it."""


def extraction_statements(
    rows: Rows, states: Sequence[Row], replaces: Replaced | None = None, read: Sequence[str] = ()
) -> list[Statement]:
    """The statements that write ``rows`` and record the ``states`` of the passages that they came from.

    ``replaces``: what the passages ``read`` said before is taken away first.
    """
    ids = {"passages": list(read)}
    before: list[Statement] = []
    after: list[Statement] = []
    if read and replaces == "everything":
        before = [*_taken_away(read), ("ingest/renew_entities", {"ids": sorted(rows.entities)})]
    elif read and replaces == "facts":
        # Statements are counted again, and what is mentioned is looked at again: a name may be another with that.
        mentioned = {"ids": sorted({element for element, _ in rows.mentions})}
        before = [("ingest/remove_atomic_facts", ids), ("ingest/remove_element_mentions", ids)]
        after = [("ingest/revisit_elements", mentioned), ("ingest/recount_statements", ids)]
    return [
        *before,
        *_slices("ingest/entities", ordered(rows.entities)),
        *_slices("ingest/key_elements", ordered(rows.key_elements)),
        *_slices("ingest/mentions", ordered(rows.mentions)),
        *_slices("ingest/triples", ordered(rows.triples)),
        *_slices("ingest/attributes", ordered(rows.attributes)),
        *_slices("ingest/atomic_facts", ordered(rows.atomic_facts)),
        *_slices("ingest/proposed", ordered(rows.proposals)),
        *_slices("ingest/passage_states", states),
        *after,
    ]


def _taken_away(passages: Sequence[str]) -> list[Statement]:
    """The statements that take away all that passages say."""
    ids = {"passages": list(passages)}
    return [
        ("ingest/remove_facts", ids),
        ("ingest/remove_proposals", ids),
        ("ingest/remove_mentions", ids),
        ("ingest/remove_communities", {}),
    ]


def waiting_statements(passages: Sequence[str]) -> list[Statement]:
    """The statements that record that passages are to be read. What they said before stays until they are."""
    waiting = {"state": "pending", **dict.fromkeys(("failure", "unreadBy", "factsFailure", "factsUnreadBy"))}
    return _slices("ingest/passage_states", [{"id": id_, "state": waiting} for id_ in passages])


def _slices(name: str, rows: Sequence[Row]) -> list[Statement]:
    return [(name, {"rows": batch}) for batch in batches(rows)]


def _document_row(document: Document, passages: Sequence[Passage]) -> Row:
    return {
        "id": document.id,
        "name": document.title,
        "key": title_key(document.title),
        "uri": document.uri,
        "source": document.source,
        "sha256": document.sha256,
        "characters": len(document.text),
        "tokens": sum(passage.tokens for passage in passages),
        "language": language_of(document.text) or None,
    }


class Sink(Protocol):
    """What takes the writes of an ingest: a ``Writer``, or what keeps them for a bulk import."""

    def put(self, statements: list[Statement]) -> None: ...


class Writer:
    """Writes transactions in the order given, on a thread of its own, so that the next is prepared meanwhile.

    A failed write is raised by a later ``put``, or on leaving the ``with`` block, and what waits is given up. What was
    put is written though the work is stopped: it is done.
    """

    def __init__(self, store: Store, ahead: int = 2) -> None:
        self._store = store.within(NEVER)
        self._ahead = ahead
        self._pool = ThreadPoolExecutor(1, "writing")
        self._writes: deque[Future[object]] = deque()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        with self._pool:
            self._await(0)

    def put(self, statements: list[Statement]) -> None:
        """Queue one transaction; waits while two are ahead of it."""
        self._await(self._ahead)
        if statements:
            self._writes.append(self._pool.submit(self._store.write, *statements))

    def finish(self) -> None:
        """Wait until all that was put is written."""
        self._await(0)

    def _await(self, left: int) -> None:
        """Wait until no more than ``left`` writes are not over."""
        try:
            while len(self._writes) > left:
                self._writes.popleft().result()
        except BaseException:  # whatever it is, nothing more is written, and it is raised
            for write in self._writes:
                write.cancel()
            self._writes.clear()
            raise


_PASSAGES = 200
_DOCUMENTS = 50
"""Whose pages go in one transaction. A page takes 8 KB of the server's memory until that is committed."""


def remove(store: Store, passages: Sequence[str], documents: Sequence[str], without_pages: Sequence[str] = ()) -> None:
    """Remove ``passages``, in transactions of 200, and then ``documents``.

    The documents ``without_pages`` lose their pages, since their text is another now, or none: the last 50 of them with
    the first passages, others ahead of that.
    """
    pages: list[Statement] = [
        ("ingest/remove_pages", {"documents": list(some)}) for some in batches(without_pages, _DOCUMENTS)
    ]
    for early in pages[:-1]:
        store.write(early)
    with_first = pages[-1:]
    for some in [*batches(passages, _PASSAGES)] or [()]:
        gone = [*_taken_away(some), ("ingest/remove_passages", {"passages": list(some)})]
        if statements := with_first + (gone if some else []):
            store.write(*statements)
        with_first = []
    if documents:
        store.write(("ingest/remove_documents", {"documents": list(documents)}))
