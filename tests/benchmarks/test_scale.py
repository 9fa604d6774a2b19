"""How ingest, search, additions and the tree grow with a graph: on invented corpora with the statistics of real ones.

``KGPLATFORM_BENCH_SCALE`` names the sizes in passages, such as "10000 30000 100000"; by default as many as two cores
take about a quarter of an hour for. ``KGPLATFORM_BENCH_SCALE_EMBEDDER``: another model than ``hash:384``.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from clocks import Clock
from data_sets import Place
from invented import Invented, PlantedQuestion
from measure import exponent, growth
from scale_graphs import EMBEDDER, Grown, grow, grow_empty, grow_musique
from scale_ingest import Spent
from scale_search import FIRST, WARM_UPS, embedded, nearest
from tables import Section, Table

from kgplatform import KnowledgeGraph
from kgplatform.records import Document
from kgplatform.sources.cut import cut_document

SIZES = [int(size) for size in os.environ.get("KGPLATFORM_BENCH_SCALE", "1000 3000 10000").split()]
"""Read on import: the benchmarks' own runs see no setting of the person who measures."""
GROWTH_LIMIT, MEMORY_LIMIT, MEMORY_GROWTH_LIMIT = 1.1, 1_000, 1.1
P50_LIMIT, P95_LIMIT, LOST_LIMIT = 1.5, 2, 1
ADDED_PASSAGES = 20
ADDED_LIMIT, ADDED_RATIO_LIMIT = 2, 1.5
TREE_LIMIT, UPDATE_LIMIT, TREE_ENTITIES = 120, 5, 300_000
_UNCOUNTED, _ADDITIONS = 5, 3


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds by the clock, and those that Python and the server computed."""

    seconds: float
    processor: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s ({self.processor:.1f} s)"


def test_scale(section: Callable[[str, str], Section], place: Place) -> None:
    """Everything of each graph while it is new; one server of a large graph is up at a time."""
    found = section("scale", f"Scale: invented corpora of {', '.join(f'{size:,}' for size in SIZES)} passages")
    musique, empty = grow_musique(place), grow_empty(place)
    spent: list[Spent] = []
    rows: dict[str, list[str]] = {}
    try:
        for size in SIZES:
            grown = grow(place, size)
            spent.append(grown.spent)
            try:
                for what, told in _asked(found, place.folder, grown, musique, empty).items():
                    rows.setdefault(what, []).append(told)
            finally:
                grown.stop()
    finally:
        empty.stop()
        if musique is not None:
            musique.stop()
    _add_growth(found, spent)
    names = [f"{each.passages:,} passages" for each in spent]
    found.tables += [
        _stages(spent, names),
        Table(
            "Each graph; seconds by the clock, of processors in brackets",
            ("", *names),
            [(what, *told) for what, told in rows.items()],
        ),
    ]
    found.notes += [
        f"Embedder: {EMBEDDER}, in all graphs. Hashed words say nothing of meaning, and short texts of them lie in "
        "clusters, with many equal cosines; the costs of vectors are those of any model with as many numbers.",
        "Processor seconds are those of Python and of the server together, its compilers included.",
        "Peak memory: of a process that does nothing but the ingest.",
    ]


def _asked(found: Section, folder: Path, grown: Grown, musique: Grown | None, empty: Grown) -> dict[str, str]:
    """The figures of one graph by name, and what is wanted of them."""
    assert grown.corpus is not None
    counts, questions = grown.counts(), grown.corpus.questions()
    name = f"{counts['passages']:,}"
    told = _add_search(found, name, grown, questions, musique)
    _add_recall(found, name, grown, questions)
    number = grown.corpus.size  # of the first document: other ones for each graph, since all use one empty graph
    mine, other = _additions([grown, empty], folder, number)
    more = f"{name}: a document of {ADDED_PASSAGES} passages more, until found"
    found.add(more, mine.seconds, "s", at_most=ADDED_LIMIT)
    ratio = mine.processor / other.processor
    found.add(f"{more}: processor time beside that in an empty graph", ratio, "times", at_most=ADDED_RATIO_LIMIT)
    entities = grown.counts()["entities"]
    built = _timed(grown, lambda graph: graph.build_tree())
    _until_found(grown, folder, number - 1)
    updated = _timed(grown, lambda graph: graph.build_tree(update=True))
    times = entities / TREE_ENTITIES  # the target is for as many; of more it may take as many times as long
    whole, update = ({"at_most": TREE_LIMIT * times}, {"at_most": UPDATE_LIMIT}) if times >= 1 else ({}, {})
    found.add(f"{name}: the tree", built.seconds, "s", **whole)
    found.add(f"{name}: the tree's update", updated.seconds, "s", **update)
    return {
        "peak memory of the ingest": f"{grown.spent.peak_megabytes:,.0f} MB",
        **{kind: f"{counts[kind]:,}" for kind in ("entities", "facts", "nodes", "relationships")},
        "on disk": f"{grown.megabytes():,.0f} MB",
        **told,
        "a document more": str(mine),
        "the same, empty graph": str(other),
        "the tree": str(built),
        "its update": str(updated),
    }


def _add_search(
    found: Section, name: str, grown: Grown, questions: Sequence[PlantedQuestion], musique: Grown | None
) -> dict[str, str]:
    """How long searches take, beside the small graph's of the same run."""
    sides = [(grown, [each.text for each in questions]), *([(musique, musique.questions)] if musique else [])]
    clocks = dict(zip(("search", "search of MuSiQue"), _by_turns(sides), strict=False))
    for share, limit in ((50, P50_LIMIT), (95, P95_LIMIT)) if musique else ():
        slower = clocks["search"].p(share) / clocks["search of MuSiQue"].p(share)
        found.add(f"{name}: search, p{share} beside MuSiQue", slower, "times", at_most=limit)
    return {f"{what}, p50, p95": f"{clock.p(50):.0f}, {clock.p(95):.0f} ms" for what, clock in clocks.items()}


def _by_turns(sides: Sequence[tuple[Grown, Sequence[str]]]) -> list[Clock]:
    """Each graph asked its own questions in turn with the others, as many of each, after some to warm up.

    All servers are fresh, since one that has answered more searches before is faster, whatever it holds.
    """
    for grown, _ in sides:
        grown.stop()
    count = min(len(questions) for _, questions in sides)
    with ExitStack() as stack:
        clocks = [Clock(stack.enter_context(grown.open()), grown.processor_seconds) for grown, _ in sides]
        for number in range(-WARM_UPS, count):
            for clock, (_, questions) in zip(clocks, sides, strict=True):
                if number == 0:
                    clock.clear()
                clock.search(questions[number])
    return clocks


def _add_recall(found: Section, name: str, grown: Grown, questions: Sequence[PlantedQuestion]) -> None:
    """Planted passages among the first ten of a search, and what it loses beside exact comparison of all vectors."""
    with grown.open() as graph:
        exact = nearest(graph, embedded(graph, [each.text for each in questions]))
        searched = [{each.title for each in graph.search(q.text, top_k=FIRST).passages} for q in questions]
    planted = [
        (support in titles, support in dict(best))
        for question, best, titles in zip(questions, exact, searched, strict=True)
        for support in question.supports
    ]
    share = 100 * float(np.mean([is_found for is_found, _ in planted]))
    lost = 100 * float(np.mean([is_near and not is_found for is_found, is_near in planted]))
    found.add(f"{name}: planted passages among the first ten", share, "%")
    found.add(f"{name}: of those that exact comparison finds, a search loses", lost, "%", at_most=LOST_LIMIT)


def _addition(folder: Path, number: int) -> tuple[Path, str]:
    """A document of ``ADDED_PASSAGES`` passages as a file, and the question that finds it."""
    corpus = Invented(300, seed=1000 + number)
    text, passages = "", []
    for place in range(corpus.size):
        text += corpus.passage(place).text + "\n\n"
        passages = cut_document(Document("", "", "", "", text, ""), 400)
        if len(passages) > ADDED_PASSAGES:
            break
    last = passages[ADDED_PASSAGES - 1]
    file = folder / f"addition-{number}.jsonl"
    file.write_text(json.dumps({"title": f"Addition {number}", "text": text[: last.end]}) + "\n")
    return file, last.text[:200]


def _until_found(grown: Grown, folder: Path, number: int) -> Took:
    """From the call of ``ingest`` until a search finds the document's last passage."""
    file, question = _addition(folder, number)

    def work(graph: KnowledgeGraph) -> None:
        assert graph.ingest(file, extractor="local").passages == ADDED_PASSAGES
        found = graph.search(question).passages
        assert any(each.title == f"Addition {number}" for each in found), "the document is not found"

    return _timed(grown, work)


def _additions(sides: Sequence[Grown], folder: Path, first: int) -> list[Took]:
    """The middle one of three documents on each graph, by turns, after five more that are not counted.

    They are numbered from ``first`` on: a graph that has a document already would have nothing to do. All servers are
    fresh, and as warm as each other after the first five: one that has ingested more before is faster, whatever it
    holds, and what it has not touched yet comes from the disk.
    """
    for side in sides:
        side.stop()
    numbers = range(first, first + _UNCOUNTED + _ADDITIONS)
    times = [[_until_found(side, folder, number) for side in sides] for number in numbers]
    counted = zip(*times[_UNCOUNTED:], strict=True)
    return [sorted(side, key=lambda each: each.processor)[_ADDITIONS // 2] for side in counted]


def _timed(grown: Grown, work: Callable[[KnowledgeGraph], object]) -> Took:
    with grown.open() as graph:
        before, started = sum(grown.processor_seconds()), time.perf_counter()
        work(graph)
        return Took(time.perf_counter() - started, sum(grown.processor_seconds()) - before)


def _add_growth(found: Section, spent: Sequence[Spent]) -> None:
    """Exponents over the sizes, and memory."""
    sizes, peaks = [each.passages for each in spent], [each.peak_megabytes for each in spent]
    if len(spent) > 1:
        whole = {"processor time": [s.python + s.server for s in spent], "the clock": [s.seconds for s in spent]}
        for what, values in whole.items():
            found.add(f"ingest: growth by {what}", growth(sizes, values), "n^", at_most=GROWTH_LIMIT)
        found.add("ingest: growth of its memory", peaks[-1] / peaks[0], "times", at_most=MEMORY_GROWTH_LIMIT)
    found.add("ingest: peak memory of Python", max(peaks), "MB", at_most=MEMORY_LIMIT)


def _stages(spent: Sequence[Spent], names: Sequence[str]) -> Table:
    """The processors' seconds of each stage, and the clock's in brackets."""
    sizes = [each.passages for each in spent]
    lines = {
        stage: [Took(s.clock.get(stage, 0.0), s.processor.get(stage, 0.0)) for s in spent]
        for stage in spent[-1].processor
    }
    lines["all"] = [Took(s.seconds, s.python + s.server) for s in spent]
    lines["of it Python"] = [Took(0.0, s.python) for s in spent]
    rows = [
        (
            stage,
            *(
                f"{each.processor:.1f} ({each.seconds:.1f})" if each.seconds else f"{each.processor:.1f}"
                for each in took
            ),
            exponent(sizes, [each.processor for each in took]),
        )
        for stage, took in lines.items()
    ]
    return Table("Ingest by stage: seconds of processors, the clock in brackets", ("", *names, "growth"), rows)
