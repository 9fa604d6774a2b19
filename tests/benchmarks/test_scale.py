"""How ingest, search, additions and the tree grow with a graph: on invented corpora with the statistics of real ones.

``KGPLATFORM_BENCH_SCALE`` names the sizes in passages, such as "10000 30000 100000"; by default as many as two cores
take about a quarter of an hour for. ``KGPLATFORM_BENCH_SCALE_EMBEDDER``: another model than ``hash:384``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data_sets import Place
from measure import exponent, growth
from scale_changes import (
    ADDED_LIMIT,
    ADDED_PASSAGES,
    ADDED_RATIO_LIMIT,
    TREE_ENTITIES,
    TREE_LIMIT,
    UPDATE_LIMIT,
    Took,
    Tree,
    additions,
    tree,
)
from scale_graphs import EMBEDDER, Grown, grow, grow_empty, grow_musique
from scale_search import TIMES, add_recall, add_times, by_turns
from tables import Section, Table

SIZES = [int(size) for size in os.environ.get("KGPLATFORM_BENCH_SCALE", "1000 3000 10000").split()]
"""Read on import: the benchmarks' own runs see no setting of the person who measures."""
GROWTH_LIMIT, MEMORY_LIMIT, MEMORY_GROWTH_LIMIT = 1.1, 1_000, 1.1


@dataclass(frozen=True, slots=True)
class Asked:
    """What was found of one graph. ``added``: a document more, here and in the empty graph."""

    grown: Grown
    name: str
    counts: Mapping[str, int]
    megabytes: float
    times: Sequence[str]
    added: Sequence[Took]
    tree: Tree


def test_scale(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("scale", f"Scale: invented corpora of {', '.join(f'{size:,}' for size in SIZES)} passages")
    musique, empty = grow_musique(place), grow_empty(place)
    try:
        measure(found, place.folder, musique, empty, (grow(place, size) for size in SIZES))
    finally:
        empty.stop()
        if musique is not None:
            musique.stop()
    found.notes += [
        f"Embedder: {EMBEDDER}, in all graphs. Hashed words say nothing of meaning, and short texts of them lie in "
        "clusters, with many equal cosines; the costs of vectors are those of any model with as many numbers.",
        "Processor seconds are those of Python and of the server together, its compilers included.",
        "Peak memory: of a process that does nothing but the ingest.",
    ]


def measure(found: Section, folder: Path, musique: Grown | None, empty: Grown, sizes: Iterable[Grown]) -> None:
    """Ask everything of each graph while it is new; one server of a large graph is up at a time."""
    asked = []
    for each in sizes:
        try:
            asked.append(ask(found, folder, musique, empty, each))
        finally:
            each.stop()
    found.tables.insert(0, Table("Search over all routes, by turns", TIMES, [each.times for each in asked]))
    found.tables.insert(1, _changes(asked))
    add_growth(found, asked)


def ask(found: Section, folder: Path, musique: Grown | None, empty: Grown, grown: Grown) -> Asked:
    """Everything of one graph but its ingest, which is over."""
    counts = grown.counts()
    name = f"{counts['passages']:,}"
    clocks = by_turns(_sides(grown, musique))
    times = add_times(found, name, clocks[0], clocks[1] if musique else None)
    add_recall(found, grown, name)
    assert grown.corpus is not None
    number = grown.corpus.size  # of the first document: other ones for each graph, since all use one empty graph
    more, grows = additions([grown, empty], folder, number), tree(grown, folder, number - 1)
    asked = Asked(grown, name, counts, grown.megabytes(), times, more, grows)
    add_changes(found, asked)
    return asked


def _sides(each: Grown, musique: Grown | None) -> list[tuple[Grown, Sequence[str]]]:
    assert each.corpus is not None
    sides = [(each, [question.text for question in each.corpus.questions()])]
    return [*sides, (musique, musique.questions)] if musique else sides


def add_changes(found: Section, asked: Asked) -> None:
    """Targets of what follows an ingest; those of the tree are for large graphs."""
    name, (mine, empty), tree = asked.name, asked.added, asked.tree
    more = f"{name}: a document of {ADDED_PASSAGES} passages more, until found"
    found.add(more, mine.seconds, "s", at_most=ADDED_LIMIT)
    ratio = mine.processor / empty.processor
    found.add(f"{more}: processor time beside that in an empty graph", ratio, "times", at_most=ADDED_RATIO_LIMIT)
    times = tree.entities / TREE_ENTITIES  # the target is for as many; of more it may take as many times as long
    whole, update = ({"at_most": TREE_LIMIT * times}, {"at_most": UPDATE_LIMIT}) if times >= 1 else ({}, {})
    found.add(f"{name}: the tree", tree.built.seconds, "s", **whole)
    found.add(f"{name}: the tree's update", tree.updated.seconds, "s", **update)


def add_growth(found: Section, asked: Sequence[Asked]) -> None:
    """Exponents over the sizes, and memory."""
    spent = [each.grown.spent for each in asked]
    sizes, peaks = [each.passages for each in spent], [each.peak_megabytes for each in spent]
    if len(asked) > 1:
        whole = {"processor time": [s.python + s.server for s in spent], "the clock": [s.seconds for s in spent]}
        for what, values in whole.items():
            found.add(f"ingest: growth by {what}", growth(sizes, values), "n^", at_most=GROWTH_LIMIT)
        found.add("ingest: growth of its memory", peaks[-1] / peaks[0], "times", at_most=MEMORY_GROWTH_LIMIT)
    found.add("ingest: peak memory of Python", max(peaks), "MB", at_most=MEMORY_LIMIT)
    found.tables[:0] = [_stages(sizes, asked), _sizes(asked)]


def _stages(sizes: Sequence[int], asked: Sequence[Asked]) -> Table:
    spent = [each.grown.spent for each in asked]
    lines = {
        stage: ([s.processor.get(stage, 0.0) for s in spent], [s.clock.get(stage, 0.0) for s in spent])
        for stage in spent[-1].processor
    }
    lines["all"] = [s.python + s.server for s in spent], [s.seconds for s in spent]
    lines["of it Python"] = [s.python for s in spent], []
    rows = [
        (
            stage,
            *map(_seconds, values),
            exponent(sizes, values),
            *map(_seconds, clock),
            *[""] * (len(spent) - len(clock)),
        )
        for stage, (values, clock) in lines.items()
    ]
    names = [each.name for each in asked]
    columns = ("seconds of processors", *names, "growth", *(f"by the clock: {name}" for name in names))
    return Table("Ingest by stage", columns, rows)


def _sizes(asked: Sequence[Asked]) -> Table:
    rows = []
    for each in asked:
        kinds = (f"{each.counts[kind]:,}" for kind in ("entities", "facts", "nodes", "relationships"))
        peak = each.grown.spent.peak_megabytes
        rows.append((each.name, *kinds, f"{each.megabytes:,.0f} MB", f"{peak:,.0f} MB"))
    columns = ("passages", "entities", "facts", "nodes", "relationships", "on disk", "peak memory of the ingest")
    return Table("The graphs", columns, rows)


def _changes(asked: Sequence[Asked]) -> Table:
    rows = [
        (
            each.name,
            *map(_took, each.added),
            f"{each.tree.entities:,}",
            *map(_took, (each.tree.built, each.tree.updated)),
        )
        for each in asked
    ]
    columns = ("", "a document more", "the same, empty graph", "entities", "tree", "its update")
    return Table("What follows an ingest: by the clock, of processors", columns, rows)


def _took(took: Took) -> str:
    return f"{_seconds(took.seconds)}, {_seconds(took.processor)}"


def _seconds(value: float) -> str:
    return f"{value:.1f} s"
