"""The graph as GraphReader walks it (sections 3.2, 3.3): nodes, their facts by passage, their neighbours, passages.

A node is a key element with all its forms, and is known by its name; entities are key elements. Neighbours are nodes
that share a fact, found when they are asked for.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgplatform.neo4j.store import Row, Store
from kgplatform.records import FoundPassage, QueryRun
from kgplatform.retrieve.found import traced_read
from kgplatform.retrieve.question import Question

PAGE = 1000
"""Names, or passages, that are read at once."""


@dataclass(frozen=True, slots=True)
class Names:
    """Names of nodes. ``total``: how many there are in all, where a bound cut them; and the statements that ran."""

    names: tuple[str, ...]
    total: int
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class Stated:
    """What one passage states of a node: ``facts`` are (id, text), in the order of the text."""

    passage: str
    title: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """The facts of a node by passage, in reading order; ``elements`` are the ids of its forms.

    ``passages`` and ``facts`` count all that there are, shown or not.
    """

    groups: tuple[Stated, ...]
    elements: tuple[str, ...]
    passages: int
    facts: int
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class ToRead:
    """A passage as the store has it, None if it is gone, and the ids of those before and after it in its document."""

    passage: FoundPassage | None
    before: str | None
    after: str | None
    queries: tuple[QueryRun, ...]


class Nodes:
    """The nodes of a graph for one question. Safe from several threads at once."""

    def __init__(self, store: Store, question: Question) -> None:
        self._store = store
        self._vector = question.vector

    def pages(self) -> Iterator[Names]:
        """The names of all nodes in order, a page at a time; one page is held in memory."""
        after = ""
        while True:
            rows, queries = self._read("retrieve/node_names", after=after, count=PAGE)
            names = tuple(row["name"] for row in rows)
            if names:
                yield Names(names, len(names), queries)
            if len(names) < PAGE:
                return
            after = names[-1]

    def near(self, count: int) -> Names:
        """The ``count`` nodes whose names are nearest to the question by meaning, best first."""
        rows, queries = self._read("retrieve/node_near", k=max(50, count), count=count, vector=self._vector)
        names = tuple(row["name"] for row in rows)
        return Names(names, len(names), queries)

    def some(self, count: int, seed: int) -> Names:
        """``count`` nodes drawn at random, each with the same chance; the same for the same ``seed`` and graph."""
        chance = random.Random(seed)
        drawn: list[str] = []
        seen = 0
        queries: list[QueryRun] = []
        for page in self.pages():
            queries += page.queries
            for name in page.names:
                seen += 1
                place = len(drawn) if len(drawn) < count else chance.randrange(seen)
                if place < count:
                    drawn[place : place + 1] = [name]
        return Names(tuple(drawn), seen, tuple(queries))

    def facts(self, name: str, passages: int) -> NodeFacts:
        """What the passages state of the node ``name``; of more than ``passages``, those nearest to the question."""
        rows, queries = self._read("retrieve/node_facts", node=name, vector=self._vector, count=passages)
        groups = tuple(
            Stated(row["passage"], row["title"], tuple((each, text) for each, text in row["stated"])) for row in rows
        )
        first: Row = rows[0] if rows else {"elements": [], "passages": 0, "facts": 0}
        return NodeFacts(groups, tuple(sorted(first["elements"])), first["passages"], first["facts"], queries)

    def neighbours(self, name: str, count: int) -> Names:
        """The names of at most ``count`` neighbours of the node ``name``, those that share most facts first."""
        rows, queries = self._read("retrieve/node_neighbours", node=name, count=count)
        return Names(tuple(row["name"] for row in rows), rows[0]["nodes"] if rows else 0, queries)

    def to_read(self, passage: str) -> ToRead:
        """The passage ``passage``, to be read in full."""
        rows, queries = self._read("retrieve/passage_to_read", id=passage)
        if not rows:
            return ToRead(None, None, None, queries)
        row = rows[0]
        before, after = row.pop("before"), row.pop("after")
        return ToRead(FoundPassage(**row, score=0.0, routes=()), before, after, queries)

    def _read(self, statement: str, **parameters: object) -> tuple[list[Row], tuple[QueryRun, ...]]:
        return traced_read(self._store, statement, **parameters)


def in_reading_order(
    store: Store, page: int = PAGE, documents: Sequence[str] = ()
) -> Iterator[tuple[Sequence[FoundPassage], tuple[QueryRun, ...]]]:
    """All passages, or those of ``documents`` (ids), documents by name; a page at a time, with its statement."""
    statement = "retrieve/documents_in_order" if documents else "retrieve/reading_order"
    chosen = {"documents": list(documents)} if documents else {}
    after, document, place = "", "", -1
    while True:
        rows, ran = traced_read(store, statement, after=after, document=document, place=place, count=page, **chosen)
        if not rows:
            return
        after, document, place = rows[-1]["key"], rows[-1]["documentId"], rows[-1]["place"]
        yield [_passage(row) for row in rows], ran


def from_the_end(
    store: Store, page: int = PAGE, documents: Sequence[str] = ()
) -> Iterator[tuple[Sequence[FoundPassage], tuple[QueryRun, ...]]]:
    """Like ``in_reading_order``, from the last passage to the first."""
    before, document, place = "", "", 0
    while True:
        rows, ran = traced_read(
            store,
            "retrieve/reading_order_back",
            documents=list(documents),
            before=before,
            document=document,
            place=place,
            count=page,
        )
        if not rows:
            return
        before, document, place = rows[-1]["key"], rows[-1]["documentId"], rows[-1]["place"]
        yield [_passage(row) for row in rows], ran


def _passage(row: Row) -> FoundPassage:
    names = ("id", "document", "title", "start", "end", "page", "text")
    return FoundPassage(**{name: row[name] for name in names}, score=0.0, routes=())
