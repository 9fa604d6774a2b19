"""What a reader may ask of the graph, each time with the statements that ran for it.

    evidence = Evidence(store, embedder)
    found = evidence.search("Who designed the ship that laid the cable?", route="path", top_k=5)
    found.result.paths, [run.statement for run in found.queries]

``Nodes`` is the graph as GraphReader walks it (sections 3.2, 3.3). A node is a key element with all its forms, and is
known by its name; entities are key elements. Neighbours are nodes that share a fact, found when they are asked for.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kgplatform.errors import InputError
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import ANY_TIME, Row, Store
from kgplatform.records import Citation, Conflict, FoundFact, FoundPassage, QueryRun, SearchResult
from kgplatform.search.communities import Groups, read_groups
from kgplatform.search.conflicts import Single, disputes, over
from kgplatform.search.found import facts_by_id, passages_by_id, traced_read, unscored
from kgplatform.search.pages import Pages
from kgplatform.search.question import Question
from kgplatform.search.search import search
from kgplatform.search.statement import Statements
from kgplatform.shown import shown_days, with_time
from kgplatform.text import node_id, normalise_name, tidy

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
        self._store = store
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
        gone = over(self._store, {fact for row in rows for fact, *_ in row["stated"]})
        first: Row = rows[0] if rows else {"elements": [], "passages": 0, "facts": 0}
        groups = tuple(
            Stated(
                unscored(row["passage"]),
                tuple(
                    (id_, with_time(text, [shown_days(*days)]), start, end)
                    for id_, text, start, end, *days in row["stated"]
                    if id_ not in gone
                ),
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


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a search found, and the statements that it ran, in a fixed order also where they ran side by side."""

    result: SearchResult
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """Passages as the store has them now, by id, without scores; and the statements that read them."""

    passages: dict[str, FoundPassage]
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class Size:
    """How many documents the graph has, and how many characters they have together; and the statement that counted."""

    documents: int
    characters: int
    queries: tuple[QueryRun, ...]


def question_at(question: str, as_of: str | None) -> str:
    """``question`` as a model is asked it, which reads passages of all times: with the time that is asked for."""
    return f"{question} ({as_of})" if as_of else question


class Evidence:
    """The graph as readers see it. Thread-safe."""

    def __init__(
        self, store: Store, embedder: Embedder, only: Sequence[str] | None = None, as_of: str | None = None
    ) -> None:
        """``only``: ids of the documents that anything is shown of; None: all. What speaks of all documents at once,
        communities and statements over the graph, is then refused with an ``InputError``. ``as_of``: the time that
        ``store`` is at, which ends the questions that a model is asked (``question_at``)."""
        self._store = store
        self._embedder = embedder
        self._only = only
        self._told = question_at("", as_of)

    @property
    def days(self) -> tuple[str, str] | None:
        """Of which facts are found: the first, and that after the last; None for all."""
        return None if self._store.as_of == ANY_TIME else self._store.as_of

    def _chosen(self, documents: Sequence[str]) -> Sequence[str]:
        """Of ``documents``, where any are named, those that may be shown; none stands for all."""
        if self._only is None:
            return documents
        chosen = [id_ for id_ in self._only if not documents or id_ in documents]
        if not chosen:
            raise InputError("None of the named documents has this metadata.", "where")
        return chosen

    def _check_whole(self, what: str) -> None:
        if self._only is not None:
            raise InputError(f"{what} about all documents and cannot be limited to some.", "where")

    def search(
        self,
        question: str,
        *,
        route: str = "all",
        top_k: int = 10,
        types: tuple[str, ...] = (),
        without: tuple[str, ...] = (),
        documents: Sequence[str] = (),
    ) -> Retrieved:
        """The best passages and facts, or passages of ``documents`` (ids), as ``kgplatform.search.search`` says."""
        store, chosen = self._store.recording(), self._chosen(documents)
        told = self._told if question.endswith(self._told) else ""  # no passage has to name the time
        question = question.removesuffix(told)
        within = self._only is not None and not documents
        result = search(store, self._embedder, question, route, top_k, types, without, chosen, within=within)
        return Retrieved(replace(result, question=result.question + told), store.queries)

    def nodes(self, question: str) -> Nodes:
        """The nodes and passages as GraphReader walks them. Raises ``InputError`` for a question without any word."""
        return Nodes(self._store, Question(question.removesuffix(self._told), self._embedder), self._only)

    def pages(self, question: str, documents: Sequence[str] = ()) -> Pages:
        """The pages of all or of ``documents`` (ids), as ReadAgent remembers them for ``question``."""
        return Pages(self._store, self._embedder, tidy(question), self._chosen(documents))

    def in_reading_order(
        self, page: int = PASSAGES, documents: Sequence[str] = (), *, from_end: bool = False
    ) -> Iterator[tuple[Sequence[FoundPassage], tuple[QueryRun, ...]]]:
        """All passages, or those of ``documents`` (ids), documents by title; a ``page`` of them at a time, with the
        statement that read it. ``from_end``: from the last passage to the first."""
        documents = self._chosen(documents)
        chosen = {"documents": list(documents)} if documents or from_end else {}
        forwards = "search/documents_in_order" if documents else "search/reading_order"
        statement, bound, place = ("search/reading_order_back", "before", 0) if from_end else (forwards, "after", -1)
        key = document = ""
        names = ("id", "document", "title", "start", "end", "page", "text", "location", "locations", "locationStarts")
        while True:
            begin = {bound: key, "document": document, "place": place}
            rows, ran = traced_read(self._store, statement, **begin, count=page, **chosen)
            if not rows:
                return
            key, document, place = rows[-1]["key"], rows[-1]["documentId"], rows[-1]["place"]
            yield [unscored({name: row[name] for name in names}) for row in rows], ran

    def statements(self, question: str) -> Statements:
        """What a statement that a model writes for ``question`` may ask."""
        self._check_whole("A statement is")
        if self._store.as_of != ANY_TIME:
            raise InputError("A statement is about all times and cannot be limited to one.", "as_of")
        return Statements(self._store, question)

    def size(self, documents: Sequence[str] = ()) -> Size:
        """How much there is to read, in all or in ``documents`` (ids)."""
        (row,), queries = traced_read(self._store, "search/size", documents=list(self._chosen(documents)))
        return Size(row["documents"], row["characters"], queries)

    def groups(
        self, question: str, level: int | None = None, most: int | None = None, facts: int | None = None
    ) -> Groups:
        """The communities of the tree with their facts, as ``kgplatform.search.communities`` says."""
        self._check_whole("Communities are")
        return read_groups(self._store, self._embedder, question, level, most, facts)

    def disputes(self, single: Single, citations: Sequence[Citation]) -> tuple[Conflict, ...]:
        """What else is said of what ``citations`` state, as ``kgplatform.search.conflicts`` says."""
        found = disputes(self._store, single, citations)
        if self._only is None:
            return found
        shown, kept = set(self._only), []
        for each in found:
            places = [place for place in each.facts[1].citations if node_id("document", place.document) in shown]
            if places:
                kept.append(replace(each, facts=(each.facts[0], replace(each.facts[1], citations=tuple(places)))))
        return tuple(kept)

    def facts(self, ids: Sequence[str]) -> tuple[dict[str, FoundFact], tuple[QueryRun, ...]]:
        """The facts with these ids and the places that state them, and the statement that read them."""
        store = self._store.recording()
        return facts_by_id(store, ids), store.queries

    def stored(self, ids: Sequence[str]) -> Stored:
        """The passages with these ids, once more; those that are gone are left out."""
        store = self._store.recording()
        return Stored(passages_by_id(store, ids), store.queries)
