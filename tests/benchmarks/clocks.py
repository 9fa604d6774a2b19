"""Searches with a clock on each: the wall's, the processors', and that of every statement and of the embedding.

    clock = Clock(graph, processor)
    clock.search("Who designed the ship?")
    clock.p(95), clock.by_statement("MuSiQue")

Statements run side by side, so that their times add up to more than the search's.
"""

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from measure import percentile
from tables import Table

from kgplatform import KnowledgeGraph, trace
from kgplatform.models.embed import embed_question
from kgplatform.records import QueryRun

_EMBEDDING = "embedding the question"


@dataclass(slots=True)
class Clock:
    """What was measured of searches, in seconds. ``processor``: what Python, and what the server computed until now."""

    graph: KnowledgeGraph
    processor: Callable[[], tuple[float, float]]
    seconds: list[float] = field(default_factory=list)
    python: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def search(self, question: str, where: str | None = None) -> None:
        """Time one search; then its embedding alone."""
        before, began = self.processor(), time.perf_counter()
        with trace(self._count):
            self.graph.search(question, where=where)
        self.seconds.append(time.perf_counter() - began)
        after = self.processor()
        self.python.append(after[0] - before[0])
        self.server.append(after[1] - before[1])
        began = time.perf_counter()
        embed_question(self.graph.embedder, question)
        self.parts[_EMBEDDING].append(time.perf_counter() - began)

    def clear(self) -> None:
        """Forget what was measured."""
        for each in (self.seconds, self.python, self.server, self.parts):
            each.clear()

    def p(self, share: float) -> float:
        """Milliseconds that ``share`` percent of the searches stay below."""
        return 1000 * percentile(self.seconds, share)

    def by_statement(self, name: str) -> Table:
        """Every statement, by its name, and the processors' time of a whole search."""
        rows = [
            (part, f"{len(runs) / len(self.seconds):.1f}", *(f"{1000 * percentile(runs, p):.1f} ms" for p in (50, 95)))
            for part, runs in sorted(self.parts.items())
        ]
        for who, spent in (("Python", self.python), ("Neo4j, its compilers included", self.server)):
            rows.append(
                (f"a search: processor time of {who}", "", *(f"{1000 * percentile(spent, p):.1f} ms" for p in (50, 95)))
            )
        return Table(f"Where the time goes: {name}", ("", "a search", "p50", "p95"), rows)

    def _count(self, ran: QueryRun) -> None:
        self.parts[ran.name].append(ran.seconds)
