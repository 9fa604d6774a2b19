"""Where the milliseconds of searches go: a clock on every statement and on every embedding.

    with clocks(graph, processor) as clock:
        clock.search("Who designed the ship?")
    clock.parts("MuSiQue"), clock.by_statement("MuSiQue")

What the server says of a statement: until it has the first row, which is planning it and starting it, and until it has
sent the last one, both in whole milliseconds, so that only their mean over many says something. What is left of the
statement's time is its way there and back, and decoding. Statements run side by side, so that their times add up to
more than the search's; the parts of the search's own time add up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import neo4j
import pytest
from measure import Vectors, percentile
from tables import Table

from kgplatform import KnowledgeGraph
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import Store

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Timed:
    """A statement that ran. Seconds: when it ``began``, ``ended``; ``started`` and ``sent`` are the server's own."""

    name: str
    began: float
    ended: float
    started: float
    sent: float
    rows: int

    @property
    def seconds(self) -> float:
        """By the clock of who waited for it."""
        return self.ended - self.began

    @property
    def transfer(self) -> float:
        """What the server does not count."""
        return self.seconds - self.started - self.sent


@dataclass(slots=True)
class Clock:
    """What was measured of searches. ``processor``: seconds that Python, and that the server computed until now."""

    graph: KnowledgeGraph
    processor: Callable[[], tuple[float, float]]
    seconds: list[float] = field(default_factory=list)
    python: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    embedding: list[float] = field(default_factory=list)
    embedding_alone: list[float] = field(default_factory=list)
    waiting: list[float] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    statements: list[Timed] = field(default_factory=list)
    _embedded: list[Span] = field(default_factory=list)
    _ran: list[Timed] = field(default_factory=list)

    def search(self, question: str) -> None:
        """Time one search."""
        self._embedded.clear()
        self._ran.clear()
        before, began = self.processor(), time.perf_counter()
        self.graph.search(question)
        seconds, after = time.perf_counter() - began, self.processor()
        spans = [(each.began, each.ended) for each in self._ran]
        waiting = _covered(spans)
        self.seconds.append(seconds)
        self.python.append(after[0] - before[0])
        self.server.append(after[1] - before[1])
        self.embedding.append(_covered(self._embedded))
        self.waiting.append(waiting)
        self.embedding_alone.append(_covered([*spans, *self._embedded]) - waiting)
        self.rounds.append(_in_turn(spans))
        self.statements += self._ran

    def clear(self) -> None:
        """Forget what was measured."""
        for each in (self.seconds, self.python, self.server, self.embedding, self.embedding_alone, self.waiting):
            each.clear()
        self.rounds.clear()
        self.statements.clear()

    def p(self, share: float) -> float:
        """Milliseconds that ``share`` percent of the searches stay below."""
        return 1000 * percentile(self.seconds, share)

    def parts(self, name: str) -> Table:
        """Where each millisecond of a search goes, on average."""
        count = len(self.seconds)
        whole, waiting, alone = (sum(each) / count for each in (self.seconds, self.waiting, self.embedding_alone))
        server = [sum(each) / count for each in zip(*((s.started, s.sent) for s in self.statements), strict=True)]
        transfer = sum(each.transfer for each in self.statements) / count
        rows = [
            ("a search", whole, ""),
            ("= waiting for statements", waiting, f"{sum(self.rounds) / count:.1f} rounds, one after another"),
            ("+ embedding, while no statement runs", alone, f"of {1000 * sum(self.embedding) / count:.1f} ms in all"),
            ("+ Python between them", whole - waiting - alone, ""),
            ("all statements added up", sum(s.seconds for s in self.statements) / count, f"{self._each():.1f} of them"),
            ("= the server, until the first row: planning, starting", server[0], ""),
            ("+ the server, until the last row", server[1], ""),
            ("+ way there and back, decoding, waiting for a processor", transfer, ""),
            ("processor time of Python", sum(self.python) / count, ""),
            ("processor time of Neo4j, its compilers included", sum(self.server) / count, ""),
        ]
        shown = [(what, f"{1000 * seconds:.1f} ms", note) for what, seconds, note in rows]
        return Table(f"Where each millisecond goes: {name}, mean", ("", "a search", ""), shown)

    def by_statement(self, name: str) -> Table:
        """Every statement, by its name."""
        found: dict[str, list[Timed]] = {}
        for each in self.statements:
            found.setdefault(each.name, []).append(each)
        rows = [(each, *self._line(runs)) for each, runs in sorted(found.items())]
        columns = ("", "a search", "p50", "p95", "starting", "rows of the server", "the rest", "rows")
        return Table(f"Every statement: {name}", columns, rows)

    def _line(self, runs: list[Timed]) -> tuple[str, ...]:
        p50, p95 = (1000 * percentile([run.seconds for run in runs], share) for share in (50, 95))
        means = [
            1000 * sum(each) / len(runs) for each in zip(*((r.started, r.sent, r.transfer) for r in runs), strict=True)
        ]
        rows = sum(run.rows for run in runs) / len(runs)
        times = (f"{each:.1f} ms" for each in (p50, p95, *means))
        return f"{len(runs) / len(self.seconds):.1f}", *times, f"{rows:,.0f}"

    def _each(self) -> float:
        return len(self.statements) / len(self.seconds)


@contextmanager
def clocks(graph: KnowledgeGraph, processor: Callable[[], tuple[float, float]]) -> Iterator[Clock]:
    """A clock on the statements and the embedder of ``graph``, as long as it lasts."""
    clock = Clock(graph, processor)
    kept, run_rows = graph.embedder, Store._rows

    def rows(store: Store, query: Any, parameters: Any, run: Callable[[], neo4j.Result]) -> Any:
        results: list[neo4j.Result] = []

        def remembered() -> neo4j.Result:
            results.append(run())
            return results[0]

        began = time.perf_counter()
        found = run_rows(store, query, parameters, remembered)
        ended, summary = time.perf_counter(), results[0].consume()
        server = [(each or 0) / 1000 for each in (summary.result_available_after, summary.result_consumed_after)]
        if store.connection == graph.store.connection:
            clock._ran.append(Timed(query.name, began, ended, *server, len(found[0])))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "_rows", rows)
        graph.embedder = TimedEmbedder(kept, clock._embedded)
        try:
            yield clock
        finally:
            graph.embedder = kept


class TimedEmbedder:
    """Another embedder, and when each of its calls began and ended."""

    def __init__(self, inner: Embedder, calls: list[Span]) -> None:
        self.name = inner.name
        self._inner = inner
        self._calls = calls

    @property
    def dimension(self) -> int:
        """As the other embedder says."""
        return self._inner.dimension

    def question(self, text: str) -> str:
        """As the other embedder words it."""
        worded: Callable[[str], str] = getattr(self._inner, "question", str)
        return worded(text)

    def embed(self, texts: Any) -> Vectors:
        """See ``Embedder.embed``."""
        began = time.perf_counter()
        vectors = self._inner.embed(texts)
        self._calls.append((began, time.perf_counter()))
        return vectors


def _covered(spans: list[Span]) -> float:
    """The seconds in which any of ``spans`` lies."""
    covered, until = 0.0, float("-inf")
    for began, ended in sorted(spans):
        covered += max(0.0, ended - max(began, until))
        until = max(until, ended)
    return covered


def _in_turn(spans: list[Span]) -> int:
    """How many of ``spans``, at most, came one after another."""
    rounds, until = 0, float("-inf")
    for began, ended in sorted(spans, key=lambda span: span[1]):
        if began >= until:
            rounds, until = rounds + 1, ended
    return rounds
