"""How long a search takes, on a small graph and on a large one, and where the time goes.

``KGPLATFORM_BENCH_BEFORE`` names a checkout of another commit, whose code is then asked the same questions by turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from clocks import Clock, clocks
from data_sets import Data, Place
from graphs import Built, Graphs
from measure import MEMORY_LIMIT, PeakMemory, percentile
from tables import Section, Table

from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.settings import load_settings

WARM_UPS = 5
P50_LIMIT, P95_LIMIT = 40, 90
SLOWER_LIMIT = 1.2
BEFORE = os.environ.get("KGPLATFORM_BENCH_BEFORE", "")
_ASKED = Path(__file__).with_name("asked.py")
_NAMES = ("MuSiQue", "combined")
_SHOWN = {"Chunk": "passages", "Fact": "facts", "Entity": "entities"}


def test_latency(section: Callable[[str, str], Section], graphs: Graphs, data: Data, place: Place) -> None:
    found = section("latency", "Latency: search by all routes, the question's embedding included")
    questions = [each.text for each in data.musique_questions()]
    warm_ups = data.musique_warm_ups(WARM_UPS)
    homes = [graphs.musique(), graphs.combined()]
    memory = PeakMemory()
    first = _search(graphs, homes, warm_ups, questions)
    _add(found, *first)
    peak = max(memory.megabytes(), *(built.peak for built in homes))
    found.add("peak memory of the Python process", peak, "MB", at_most=MEMORY_LIMIT)
    found.tables += _passes(graphs, place, homes, first, warm_ups, questions, found)
    for name, searches in zip(_NAMES, first, strict=True):
        found.tables += [searches.parts(name), searches.by_statement(name)]
    sizes = [_size(graphs, built) for built in homes]
    graphs.stop(homes[1].home)
    found.notes += [
        f"{len(questions)} questions, each once, after {WARM_UPS} others to warm up; on both graphs by turns.",
        "Combined: 2Wiki by the local extractor, MuSiQue as recorded, HotpotQA by the local extractor: "
        f"{sizes[1]}; MuSiQue alone: {sizes[0]}.",
        "Statements of one search run side by side, so that their times add up to more than the search's.",
    ]


def _add(found: Section, small: Clock, large: Clock) -> None:
    found.add("MuSiQue: p50", small.p(50), "ms", at_most=P50_LIMIT)
    found.add("MuSiQue: p95", small.p(95), "ms", at_most=P95_LIMIT)
    found.add("combined: p50", large.p(50), "ms")
    found.add("combined: p95", large.p(95), "ms")
    found.add("combined: p50, compared with MuSiQue", large.p(50) / small.p(50), "times", at_most=SLOWER_LIMIT)
    found.add("combined: p95, compared with MuSiQue", large.p(95) / small.p(95), "times", at_most=SLOWER_LIMIT)


def _search(graphs: Graphs, homes: Sequence[Built], warm_ups: Sequence[str], questions: Sequence[str]) -> list[Clock]:
    """Each question on one graph after the other, so that both see the same load of the machine."""
    with ExitStack() as stack:
        opened = [(built.home, stack.enter_context(graphs.open(built.home))) for built in homes]
        found = [stack.enter_context(clocks(graph, partial(graphs.processor_seconds, home))) for home, graph in opened]
        for question in warm_ups:
            for clock in found:
                clock.search(question)
        for clock in found:
            clock.clear()
        for question in questions:
            for clock in found:
                clock.search(question)
    return found


def _before(place: Place, musique: Built, warm_ups: Sequence[str], questions: Sequence[str], found: Section) -> Table:
    """MuSiQue by this code and by the other commit's, each on a fresh server with the graph that it made, by turns."""
    recorded = str(place.data.file("musique/openie_gpt-3.5.json"))
    other = place.folder / "before"
    sides = ((str(Path(BEFORE).absolute()), other), (str(_ASKED.parents[2]), musique.home))
    with ExitStack() as stack:
        asked = [stack.enter_context(_process(code, home, place.jars, recorded)) for code, home in sides]
        for home in (other, musique.home):  # what was just filled is not fresh
            LocalNeo4j(load_settings(home=home, neo4j_jars=place.jars)).down()
    rows = []
    with ExitStack() as stack:
        asked = [stack.enter_context(_process(code, home, place.jars, recorded)) for code, home in sides]
        for question in warm_ups:
            for ask in asked:
                ask(question)
        for label in ("first pass", "the same again"):
            servers = [_computed(home, place.jars) for _, home in sides]
            times = [[ask(question) for ask in asked] for question in questions]
            spent = [_computed(home, place.jars) - s for (_, home), s in zip(sides, servers, strict=True)]
            for what, at, share in (
                ("p50", 0, 50),
                ("p95", 0, 95),
                ("shortest", 0, 0),
                ("processor time of Python, p50", 1, 50),
            ):
                figures = [percentile([each[side][at] for each in times], share) for side in (0, 1)]
                rows.append(_compared(f"{label}: {what}", *figures))
                if label == "first pass" and at == 0 and share:
                    found.add(
                        f"MuSiQue: {what}, compared with the commit before", figures[1] / figures[0], "times", at_most=1
                    )
            rows.append(
                _compared(f"{label}: processor time of Neo4j, mean", *(each / len(questions) for each in spent))
            )
    for home in (other, musique.home):
        LocalNeo4j(load_settings(home=home, neo4j_jars=place.jars)).down()
    return Table("Beside the commit before, by turns", ("", "before", "now", "times"), rows)


def _compared(what: str, before: float, after: float) -> tuple[str, ...]:
    return what, f"{1000 * before:.1f} ms", f"{1000 * after:.1f} ms", f"{after / before:.2f}"


def _computed(home: Path, jars: Path) -> float:
    """Seconds that the server of ``home`` computed until now."""
    spent = psutil.Process(LocalNeo4j(load_settings(home=home, neo4j_jars=jars)).status().pid).cpu_times()
    return float(spent.user + spent.system)


@contextmanager
def _process(code: str, home: Path, jars: Path, recorded: str) -> Iterator[Callable[[str], list[float]]]:
    """A process that searches by the code in the folder ``code``; gives the seconds of a question."""
    environment = {**os.environ, "PYTHONPATH": code}
    command = [sys.executable, str(_ASKED)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, cwd=home.parent, **pipes) as process:
        sent, got = process.stdin, process.stdout
        assert sent is not None
        assert got is not None

        def ask(line: Any) -> Any:
            sent.write(json.dumps(line) + "\n")
            sent.flush()
            return json.loads(got.readline())

        try:
            ask({"home": str(home), "jars": str(jars), "recorded": recorded})
            yield ask
        finally:
            sent.close()


def _passes(
    graphs: Graphs,
    place: Place,
    homes: Sequence[Built],
    first: Sequence[Clock],
    warm_ups: Sequence[str],
    questions: Sequence[str],
    found: Section,
) -> list[Table]:
    """The same questions once more on the warm servers, after a restart, and with knowledge trees; and beside the
    commit before.
    """
    again = _search(graphs, homes, (), questions)
    for built in homes:
        graphs.stop(built.home)
    compared = [_before(place, homes[0], warm_ups, questions, found)] if BEFORE else []
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
    return [Table("First, warmer and colder", ("", "p50", "p95", "slowest"), rows), *compared]


def _size(graphs: Graphs, built: Built) -> str:
    with graphs.open(built.home) as graph:
        nodes = graph.stats().nodes
    counts = [f"{nodes.get(label, 0):,} {plural}" for label, plural in _SHOWN.items()]
    return ", ".join(counts)
