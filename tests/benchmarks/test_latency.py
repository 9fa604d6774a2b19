"""How long a search takes, on a small graph and on a large one, and where the time goes."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

from clocks import Clock
from data_sets import Data
from graphs import Built, Graphs
from measure import MEMORY_LIMIT, PeakMemory
from tables import Section, Table

WARM_UPS = 5
P50_LIMIT, P95_LIMIT = 40, 90
SLOWER_LIMIT = 1.2
_NAMES = ("MuSiQue", "combined")


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
    passes = {"first pass": first, "the same again": _search(graphs, homes, (), questions)}
    for built in homes:
        graphs.stop(built.home)
    passes["after a restart"] = _search(graphs, homes, warm_ups, questions)
    for built in homes:
        with graphs.open(built.home) as graph:
            graph.embedder = graphs.embedder
            graph.build_tree()
    passes["with the tree"] = grown = _search(graphs, homes, warm_ups, questions)
    for share, limit in ((50, P50_LIMIT), (95, P95_LIMIT)):
        found.add(f"MuSiQue with the tree: p{share}", grown[0].p(share), "ms", at_most=limit)
    rows = [
        (f"{name}, {label}", *(f"{clocks[at].p(share):.1f} ms" for share in (50, 95, 100)))
        for at, name in enumerate(_NAMES)
        for label, clocks in passes.items()
    ]
    found.tables.append(Table("First, warmer and colder", ("", "p50", "p95", "slowest"), rows))
    found.tables += [clock.by_statement(name) for name, clock in zip(_NAMES, first, strict=True)]
    sizes = [_size(graphs, built) for built in homes]
    graphs.stop(homes[1].home)
    found.notes += [
        f"{len(questions)} questions, each once, after {WARM_UPS} others to warm up; on both graphs by turns.",
        "Combined: 2Wiki by the local extractor, MuSiQue as recorded, HotpotQA by the local extractor: "
        f"{sizes[1]}; MuSiQue alone: {sizes[0]}.",
        "Statements of one search run side by side, so that their times add up to more than the search's.",
    ]


def _add(found: Section, small: Clock, large: Clock) -> None:
    for share, limit in ((50, P50_LIMIT), (95, P95_LIMIT)):
        found.add(f"MuSiQue: p{share}", small.p(share), "ms", at_most=limit)
        found.add(f"combined: p{share}", large.p(share), "ms")
        slower = large.p(share) / small.p(share)
        found.add(f"combined: p{share}, compared with MuSiQue", slower, "times", at_most=SLOWER_LIMIT)


def _search(graphs: Graphs, homes: Sequence[Built], warm_ups: Sequence[str], questions: Sequence[str]) -> list[Clock]:
    """Each question on one graph after the other, so that both see the same load of the machine."""
    with ExitStack() as stack:
        opened = [(built.home, stack.enter_context(graphs.open(built.home))) for built in homes]
        clocks = [Clock(graph, partial(graphs.processor_seconds, home)) for home, graph in opened]
        for question in warm_ups:
            for clock in clocks:
                clock.search(question)
        for clock in clocks:
            clock.clear()
        for question in questions:
            for clock in clocks:
                clock.search(question)
    return clocks


def _size(graphs: Graphs, built: Built) -> str:
    with graphs.open(built.home) as graph:
        nodes = graph.stats().nodes
    shown = {"Chunk": "passages", "Fact": "facts", "Entity": "entities"}
    return ", ".join(f"{nodes.get(label, 0):,} {plural}" for label, plural in shown.items())
