"""How long a search takes, on a small graph and on a large one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from data_sets import Data
from graphs import Built, Graphs
from measure import MEMORY_LIMIT, PeakMemory, TimedEmbedder, percentile
from tables import Section, Table

from kgplatform import KnowledgeGraph, trace
from kgplatform.records import QueryRun

WARM_UPS = 5
P50_LIMIT, P95_LIMIT = 80, 200
SLOWER_LIMIT = 1.5
_NAMES = ("MuSiQue", "combined")
_SHOWN = {"Chunk": "passages", "Fact": "facts", "Entity": "entities"}


@dataclass(frozen=True, slots=True)
class Searches:
    """Seconds of each search, of each embedding of a question, and every statement that ran."""

    seconds: list[float]
    embedding: list[float]
    statements: list[QueryRun]

    def p(self, share: float) -> float:
        """Milliseconds that ``share`` percent of the searches stay below."""
        return 1000 * percentile(self.seconds, share)


def test_latency(section: Callable[[str, str], Section], graphs: Graphs, data: Data) -> None:
    found = section("latency", "Latency: search by all routes, the question's embedding included")
    questions = [each.text for each in data.musique_questions()]
    warm_ups = data.musique_warm_ups(WARM_UPS)
    homes = [graphs.musique(), graphs.combined()]
    memory = PeakMemory()
    first = _search(graphs, homes, warm_ups, questions)
    _add(found, *first)
    peak = max(memory.megabytes(), *(built.peak for built in homes))
    found.add("peak memory of the Python process", peak, "MB", at_most=MEMORY_LIMIT)
    found.tables.append(_passes(graphs, homes, first, warm_ups, questions, found))
    found.tables += [_breakdown(name, searches) for name, searches in zip(_NAMES, first, strict=True)]
    sizes = [_size(graphs, built) for built in homes]
    graphs.stop(homes[1].home)
    found.notes += [
        f"{len(questions)} questions, each once, after {WARM_UPS} others to warm up; on both graphs by turns.",
        "Combined: 2Wiki by the local extractor, MuSiQue as recorded, HotpotQA by the local extractor: "
        f"{sizes[1]}; MuSiQue alone: {sizes[0]}.",
        "Statements of one search run side by side, so that their times add up to more than the search's.",
    ]


def _add(found: Section, small: Searches, large: Searches) -> None:
    found.add("MuSiQue: p50", small.p(50), "ms", at_most=P50_LIMIT)
    found.add("MuSiQue: p95", small.p(95), "ms", at_most=P95_LIMIT)
    found.add("combined: p50", large.p(50), "ms")
    found.add("combined: p95", large.p(95), "ms")
    found.add("combined: p50, compared with MuSiQue", large.p(50) / small.p(50), "times", at_most=SLOWER_LIMIT)
    found.add("combined: p95, compared with MuSiQue", large.p(95) / small.p(95), "times", at_most=SLOWER_LIMIT)


def _search(
    graphs: Graphs, homes: Sequence[Built], warm_ups: Sequence[str], questions: Sequence[str]
) -> list[Searches]:
    """Each question on one graph after the other, so that both see the same load of the machine."""
    with ExitStack() as stack:
        opened = [stack.enter_context(graphs.open(built.home)) for built in homes]
        found = [Searches([], _timed(graph), []) for graph in opened]
        for question in warm_ups:
            for graph in opened:
                graph.search(question)
        for searches in found:
            searches.embedding.clear()
        for question in questions:
            for graph, searches in zip(opened, found, strict=True):
                with trace(searches.statements.append):
                    started = time.perf_counter()
                    graph.search(question)
                    searches.seconds.append(time.perf_counter() - started)
    return found


def _timed(graph: KnowledgeGraph) -> list[float]:
    """Put a clock on the graph's embedder; returns the list that it writes to."""
    embedder = TimedEmbedder(graph.embedder)
    graph.embedder = embedder
    return embedder.calls


def _passes(
    graphs: Graphs,
    homes: Sequence[Built],
    first: Sequence[Searches],
    warm_ups: Sequence[str],
    questions: Sequence[str],
    found: Section,
) -> Table:
    """The same questions once more on the warm servers, after a restart, and with knowledge trees."""
    again = _search(graphs, homes, (), questions)
    for built in homes:
        graphs.stop(built.home)
    restarted = _search(graphs, homes, warm_ups, questions)
    for built in homes:
        with graphs.open(built.home) as graph:
            graph.embedder = graphs.embedder
            graph.build_tree()
    grown = _search(graphs, homes, warm_ups, questions)
    found.add("MuSiQue with the tree: p50", grown[0].p(50), "ms", at_most=P50_LIMIT)
    found.add("MuSiQue with the tree: p95", grown[0].p(95), "ms", at_most=P95_LIMIT)
    rows = [
        (f"{name}, {label}", *(f"{passes[at].p(share):.1f} ms" for share in (50, 95, 100)))
        for at, name in enumerate(_NAMES)
        for label, passes in (
            ("first pass", first),
            ("the same again", again),
            ("after a restart", restarted),
            ("with the tree", grown),
        )
    ]
    return Table("First, warmer and colder", ("", "p50", "p95", "slowest"), rows)


def _breakdown(name: str, searches: Searches) -> Table:
    count = len(searches.seconds)
    rows = [_line("search, all in all", searches.seconds, count), _line("embedding", searches.embedding, count)]
    by_name: dict[str, list[QueryRun]] = {}
    for each in searches.statements:
        by_name.setdefault(each.name, []).append(each)
    for statement in sorted(by_name):
        runs = by_name[statement]
        mean = sum(run.rows for run in runs) / len(runs)
        rows.append((*_line(statement, [run.seconds for run in runs], count)[:-1], f"{mean:,.0f}"))
    return Table(f"Where the time goes: {name}", ("", "times a search", "p50", "p95", "rows"), rows)


def _line(what: str, seconds: Sequence[float], searches: int) -> tuple[str, ...]:
    p50, p95 = (1000 * percentile(seconds, share) for share in (50, 95))
    return what, f"{len(seconds) / searches:.1f}", f"{p50:.1f} ms", f"{p95:.1f} ms", ""


def _size(graphs: Graphs, built: Built) -> str:
    with graphs.open(built.home) as graph:
        nodes = graph.stats().nodes
    counts = [f"{nodes.get(label, 0):,} {plural}" for label, plural in _SHOWN.items()]
    return ", ".join(counts)
