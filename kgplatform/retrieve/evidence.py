"""What a reader may ask of the graph, each time with the statements that ran for it.

evidence = Evidence(store, embedder)
found = evidence.search("Who designed the ship that laid the cable?", route="path", top_k=5)
found.result.paths, [run.statement for run in found.queries]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgplatform.embed import Embedder
from kgplatform.records import Passage, QueryRun, SearchResult
from kgplatform.retrieve.found import turn
from kgplatform.retrieve.lookup import passages_by_id
from kgplatform.retrieve.nodes import PAGE, Nodes, in_reading_order
from kgplatform.retrieve.question import make_question
from kgplatform.retrieve.search import search
from kgplatform.store import Store, trace


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a search found, and the statements that it ran: those that ran side by side in a fixed order."""

    result: SearchResult
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """Passages as the store has them now, by id, without scores; and the statements that read them."""

    passages: dict[str, Passage]
    queries: tuple[QueryRun, ...]


@dataclass(frozen=True, slots=True)
class Size:
    """How many documents the graph has, and how many characters they have together; and the statement that counted."""

    documents: int
    characters: int
    queries: tuple[QueryRun, ...]


class Evidence:
    """The graph as readers see it. Safe from several threads at once."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    def search(
        self,
        question: str,
        *,
        route: str = "all",
        top_k: int = 10,
        types: tuple[str, ...] = (),
        without: tuple[str, ...] = (),
    ) -> Retrieved:
        """The best passages and facts, as ``kgplatform.retrieve.search`` says."""
        runs: list[tuple[tuple[int, ...], QueryRun]] = []
        with trace(lambda run: runs.append((turn(), run))):
            result = search(self._store, self._embedder, question, route, top_k, types, without)
        return Retrieved(result, tuple(run for _, run in sorted(runs, key=lambda each: each[0])))

    def nodes(self, question: str) -> Nodes:
        """The nodes and passages as GraphReader walks them. Raises ``InputError`` for a question without any word."""
        return Nodes(self._store, make_question(question, self._embedder))

    def in_reading_order(self, page: int = PAGE) -> Iterator[tuple[Sequence[Passage], tuple[QueryRun, ...]]]:
        """All passages, documents by name; a ``page`` of them at a time, with the statement that read it."""
        return in_reading_order(self._store, page)

    def size(self) -> Size:
        """How much there is to read."""
        runs: list[QueryRun] = []
        with trace(runs.append):
            (row,) = self._store.read("retrieve/size")
        return Size(row["documents"], row["characters"], tuple(runs))

    def stored(self, ids: Sequence[str]) -> Stored:
        """The passages with these ids, once more; those that are gone are left out."""
        runs: list[QueryRun] = []
        with trace(runs.append):
            passages = passages_by_id(self._store, ids)
        return Stored(passages, tuple(runs))
