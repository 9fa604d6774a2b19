"""What a reader may ask of the graph, each time with the statements that ran for it.

evidence = Evidence(store, embedder)
found = evidence.search("Who designed the ship that laid the cable?", route="path", top_k=5)
found.result.paths, [run.statement for run in found.queries]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgplatform.errors import InputError
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import Store
from kgplatform.records import FoundFact, FoundPassage, QueryRun, SearchResult
from kgplatform.search.communities import Groups, read_groups
from kgplatform.search.found import facts_by_id, passages_by_id, traced_read
from kgplatform.search.nodes import PASSAGES, Nodes, in_reading_order
from kgplatform.search.pages import Pages
from kgplatform.search.question import Question
from kgplatform.search.search import search
from kgplatform.search.statement import Statements
from kgplatform.text import tidy


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


class Evidence:
    """The graph as readers see it. Thread-safe."""

    def __init__(self, store: Store, embedder: Embedder, only: Sequence[str] | None = None) -> None:
        """``only``: ids of the documents that anything is shown of; None: all. What speaks of all documents at once,
        communities and statements over the graph, is then refused with an ``InputError``."""
        self._store = store
        self._embedder = embedder
        self._only = only

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
        within = self._only is not None and not documents
        result = search(store, self._embedder, question, route, top_k, types, without, chosen, within=within)
        return Retrieved(result, store.queries)

    def nodes(self, question: str) -> Nodes:
        """The nodes and passages as GraphReader walks them. Raises ``InputError`` for a question without any word."""
        return Nodes(self._store, Question(question, self._embedder), self._only)

    def pages(self, question: str, documents: Sequence[str] = ()) -> Pages:
        """The pages of all or of ``documents`` (ids), as ReadAgent remembers them for ``question``."""
        return Pages(self._store, self._embedder, tidy(question), self._chosen(documents))

    def in_reading_order(
        self, page: int = PASSAGES, documents: Sequence[str] = (), *, from_end: bool = False
    ) -> Iterator[tuple[Sequence[FoundPassage], tuple[QueryRun, ...]]]:
        """All passages, or those of ``documents`` (ids), documents by title; a ``page`` of them at a time, with the
        statement that read it. ``from_end``: from the last passage to the first."""
        return in_reading_order(self._store, page, self._chosen(documents), from_end=from_end)

    def statements(self, question: str) -> Statements:
        """What a statement that a model writes for ``question`` may ask."""
        self._check_whole("A statement is")
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

    def facts(self, ids: Sequence[str]) -> tuple[dict[str, FoundFact], tuple[QueryRun, ...]]:
        """The facts with these ids and the places that state them, and the statement that read them."""
        store = self._store.recording()
        return facts_by_id(store, ids), store.queries

    def stored(self, ids: Sequence[str]) -> Stored:
        """The passages with these ids, once more; those that are gone are left out."""
        store = self._store.recording()
        return Stored(passages_by_id(store, ids), store.queries)
