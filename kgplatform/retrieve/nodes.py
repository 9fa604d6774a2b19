"""The graph as GraphReader walks it (sections 3.2, 3.3): nodes, their facts by passage, their neighbours, passages.

A node is a key element with all its forms, and is known by its name; entities are key elements. Neighbours are nodes
that share a fact, found when they are asked for.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from kgplatform.neo4j.store import Row, Store
from kgplatform.records import FoundPassage, QueryRun
from kgplatform.retrieve.found import traced_read, unscored
from kgplatform.retrieve.question import EmbeddedQuestion

PAGE = 1000
"""Names that are read at once."""

PASSAGES = 100
"""Passages that are read at once."""


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
    """The nodes of a graph for one question. Thread-safe."""

    def __init__(self, store: Store, question: EmbeddedQuestion) -> None:
        self._read = partial(traced_read, store)
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
        return ToRead(unscored(row), before, after, queries)


def in_reading_order(
    store: Store, page: int = PASSAGES, documents: Sequence[str] = (), *, from_end: bool = False
) -> Iterator[tuple[Sequence[FoundPassage], tuple[QueryRun, ...]]]:
    """All passages, or those of ``documents`` (ids), documents by title; a page at a time, with its statement.

    ``from_end``: from the last passage to the first.
    """
    chosen = {"documents": list(documents)} if documents or from_end else {}
    forwards = "retrieve/documents_in_order" if documents else "retrieve/reading_order"
    statement, bound, place = ("retrieve/reading_order_back", "before", 0) if from_end else (forwards, "after", -1)
    key = document = ""
    names = ("id", "document", "title", "start", "end", "page", "text")
    while True:
        begin = {bound: key, "document": document, "place": place}
        rows, ran = traced_read(store, statement, **begin, count=page, **chosen)
        if not rows:
            return
        key, document, place = rows[-1]["key"], rows[-1]["documentId"], rows[-1]["place"]
        yield [unscored({name: row[name] for name in names}) for row in rows], ran
