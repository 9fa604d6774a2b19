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
from kgplatform.search.found import traced_read, unscored
from kgplatform.search.question import Question
from kgplatform.text import normalise_name

PAGE = 1000
"""Names that are read at once."""

PASSAGES = 100
"""Passages that are read at once."""

_PASSAGES_NEAR = 10
_BY_WORDS = 30
_BY_WORDS_AMONG = 1000
"""Of the whole graph's, where few may be of the documents that are chosen."""


@dataclass(frozen=True, slots=True)
class Names:
    """Names of nodes. ``total``: how many there are in all, where a bound cut them; and the statements that ran."""

    names: tuple[str, ...]
    total: int
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class Stated:
    """What one passage states of a node: ``facts`` are (id, text, start, end), in the order of the text.

    A fact is said by those characters of the document. ``nearness`` of the passage to the question, 0 to 1.
    """

    passage: FoundPassage
    facts: tuple[tuple[str, str, int, int], ...]
    nearness: float


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
    """A passage as the store has it, None if it is gone, with those before and after it in its document, in order."""

    passage: FoundPassage | None
    before: tuple[FoundPassage, ...]
    after: tuple[FoundPassage, ...]
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class NearNodes:
    """Nodes near a text: those that it names, the longest names first, and rankings of others, each best first."""

    named: tuple[str, ...]
    rankings: tuple[tuple[str, ...], ...]
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class NodePlaces:
    """The facts of a node, and the passages that state them, by id."""

    facts: frozenset[str]
    passages: frozenset[str]


class Nodes:
    """The nodes of a graph for one question. Thread-safe.

    Of ``documents`` (ids; None: of all) alone: then a node has the facts that they state, and is one where there are
    any. It is called as in the whole graph.
    """

    def __init__(self, store: Store, question: Question, documents: Sequence[str] | None = None) -> None:
        self._read = partial(traced_read, store)
        self._question = question
        self._vector = question.vector
        self._documents = None if documents is None else list(documents)

    def pages(self) -> Iterator[Names]:
        """The names of all nodes in order, a page at a time; one page is held in memory."""
        after = ""
        chosen = {"documents": self._documents, "count": PAGE}
        while True:
            rows, queries = self._read("search/node_names", after=after, **chosen)
            names = tuple(row["name"] for row in rows)
            if names:
                yield Names(names, len(names), queries)
            if len(names) < PAGE:
                return
            after = names[-1]

    def near(self, count: int) -> NearNodes:
        """Nodes near the question: ``count`` each by their names, by facts and by passages."""
        asked, of_all = self._question, self._documents is None
        statement = "search/node_candidates" if of_all else "search/node_candidates_in_documents"
        chosen = {} if of_all else {"documents": self._documents}
        rows, meant = self._read(statement, k=count, passages=_PASSAGES_NEAR, vector=self._vector, **chosen)
        names = list(dict.fromkeys(asked.runs))
        most = _BY_WORDS if of_all else _BY_WORDS_AMONG
        asked_for = {"keys": list(asked.names), "names": names, "words": asked.words, "most": most}
        named, called = self._read("search/node_named", **asked_for, documents=self._documents)
        said = ((normalise_name(row["key"]), row["name"]) for row in named if row["named"])
        keys = {key: name for key, name in said if asked.may_name(key)}
        standing = asked.longest(keys)
        exact = dict.fromkeys(name for key, name in keys.items() if key in standing)
        by_words = tuple(row["name"] for row in named)
        return NearNodes(tuple(exact), (by_words, *(tuple(row["names"]) for row in rows)), meant + called)

    def places(self, names: Sequence[str]) -> tuple[dict[str, NodePlaces], tuple[QueryRun, ...]]:
        """What the nodes ``names`` are about, by name; and the statement that ran."""
        rows, queries = self._read("search/node_places", nodes=list(names), most=PASSAGES, documents=self._documents)
        found = {row["name"]: NodePlaces(frozenset(row["facts"]), frozenset(row["passages"])) for row in rows}
        return found, queries

    def some(self, count: int, seed: int) -> Names:
        """``count`` nodes drawn at random, each with the same chance; the same for the same ``seed`` and graph."""
        pages = list(self.pages())
        names = [name for page in pages for name in page.names]
        drawn = random.Random(seed).sample(names, min(count, len(names)))
        return Names(tuple(drawn), len(names), tuple(query for page in pages for query in page.queries))

    def facts(self, name: str, passages: int) -> NodeFacts:
        """What the passages state of the node ``name``; of more than ``passages``, those nearest to the question."""
        chosen = {"documents": self._documents, "count": passages}
        rows, queries = self._read("search/node_facts", node=name, vector=self._vector, **chosen)
        first: Row = rows[0] if rows else {"elements": [], "passages": 0, "facts": 0}
        groups = tuple(
            Stated(
                unscored(row["passage"]),
                tuple((id_, text, start, end) for id_, text, start, end in row["stated"]),
                row["nearness"],
            )
            for row in rows
        )
        return NodeFacts(groups, tuple(sorted(first["elements"])), first["passages"], first["facts"], queries)

    def neighbours(self, name: str, count: int) -> Names:
        """The names of at most ``count`` neighbours of the node ``name``, the nearest to the question first."""
        chosen = {"documents": self._documents, "count": count}
        rows, queries = self._read("search/node_neighbours", node=name, vector=self._vector, **chosen)
        return Names(tuple(row["name"] for row in rows), rows[0]["nodes"] if rows else 0, queries)

    def to_read(self, passage: str, characters: int) -> ToRead:
        """The passage ``passage``, to be read in full, with ``characters`` of those around it, and one more each."""
        rows, queries = self._read("search/reading_window", id=passage, characters=characters)
        found = {row.pop("place"): unscored(row) for row in rows}
        before = tuple(found[place] for place in sorted(found) if place < 0)
        after = tuple(found[place] for place in sorted(found) if place > 0)
        return ToRead(found.get(0), before, after, queries)


def in_reading_order(
    store: Store, page: int = PASSAGES, documents: Sequence[str] = (), *, from_end: bool = False
) -> Iterator[tuple[Sequence[FoundPassage], tuple[QueryRun, ...]]]:
    """All passages, or those of ``documents`` (ids), documents by title; a page at a time, with its statement.
    ``from_end``: from the last passage to the first."""
    chosen = {"documents": list(documents)} if documents or from_end else {}
    forwards = "search/documents_in_order" if documents else "search/reading_order"
    statement, bound, place = ("search/reading_order_back", "before", 0) if from_end else (forwards, "after", -1)
    key = document = ""
    names = ("id", "document", "title", "start", "end", "page", "text", "location", "locations", "locationStarts")
    while True:
        begin = {bound: key, "document": document, "place": place}
        rows, ran = traced_read(store, statement, **begin, count=page, **chosen)
        if not rows:
            return
        key, document, place = rows[-1]["key"], rows[-1]["documentId"], rows[-1]["place"]
        yield [unscored({name: row[name] for name in names}) for row in rows], ran
