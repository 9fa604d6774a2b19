"""How ingest, search, additions and the tree grow with a graph: on invented corpora with the statistics of real ones.

``KGPLATFORM_BENCH_SCALE`` names the sizes in passages, such as "10000 30000 100000"; by default as many as two cores
take about a quarter of an hour for. ``KGPLATFORM_BENCH_SCALE_EMBEDDER``: another model than ``hash:384``.

What is to come has its place here: another way to ingest is another entry of ``WAYS``, which ``test_ways`` puts beside
the first on the smallest size; workers that are killed in the middle belong into a ``test_killed_workers`` after it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from corpus_statistics import Statistics, of_recorded, of_texts
from data_sets import Data, Place
from invented import Invented
from measure import growth
from scale_changes import (
    ADDED_LIMIT,
    ADDED_PASSAGES,
    ADDED_RATIO_LIMIT,
    TREE_ENTITIES,
    TREE_LIMIT,
    UPDATE_LIMIT,
    Tree,
    additions,
    tree,
)
from scale_graphs import EMBEDDER, Grown, grow, grow_empty, grow_musique
from scale_search import TIMES, add_recall, add_times, by_turns
from tables import Section, Table

SIZES = [int(size) for size in os.environ.get("KGPLATFORM_BENCH_SCALE", "1000 3000 10000").split()]
"""Read on import: the benchmarks' own runs see no setting of the person who measures."""
WAYS: Mapping[str, Mapping[str, Any]] = {"as it is": {}}
"""Ways to ingest, by what they are called: the arguments of ``ingest`` that each adds."""
GROWTH_LIMIT, MEMORY_LIMIT, MEMORY_GROWTH_LIMIT = 1.1, 1_000, 1.1
_COMPARED = 2_000
"""Passages of the invented corpus whose statistics are put beside the real ones: about as many as those have."""
_STATEMENTS = 12
_SHORT = 0.2
"""Seconds of processor time of a stage, at the largest size, below which its growth says nothing."""


def test_corpus(section: Callable[[str, str], Section], data: Data) -> None:
    found = section("scale-corpus", "Scale: invented corpora beside real ones")
    sides: dict[str, Statistics] = {
        "MuSiQue": of_recorded(data.read("musique/openie_gpt-3.5.json")),
        "2Wiki": of_texts(item["text"] for item in data.read("2wiki/corpus.json")),
        "HotpotQA": of_texts(data.hotpotqa_texts()),
    }
    for size in sorted({_COMPARED, max(_COMPARED, *SIZES)}):
        corpus = Invented(size)
        sides[f"invented, {size:,}"] = of_recorded(corpus.entries())
        titles = {each.title for each in corpus.passages()}
        supports = [title for question in corpus.questions() for title in question.supports]
        found.add(f"supporting passages in the corpus of {size:,}", sum(t in titles for t in supports), exactly=300)
    lines = list(sides["MuSiQue"].lines)
    rows = [(line, *(side.lines.get(line, "") for side in sides.values())) for line in lines]
    found.tables.append(Table("What kind of corpus", ("", *sides), rows))


def test_scale(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("scale", f"Scale: invented corpora of {', '.join(f'{size:,}' for size in SIZES)} passages")
    musique, empty = grow_musique(place), grow_empty(place)
    grown: list[Grown] = []
    try:
        grown = measure(found, place.folder, musique, empty, (grow(place, size) for size in SIZES))
    finally:
        for each in (musique, empty, *grown):
            if each is not None:
                each.stop()
    found.notes += [
        f"Embedder: {EMBEDDER}, in all graphs. Hashed words say nothing of meaning, and short texts of them lie in "
        "clusters, with many equal cosines; the costs of vectors are those of any model with as many numbers.",
        "Processor seconds are those of Python and of the server together, its compilers included.",
        "Peak memory: of a process that does nothing but the ingest.",
    ]


def test_ways(section: Callable[[str, str], Section], place: Place) -> None:
    """First builds in other ways, on the smallest size."""
    if len(WAYS) < 2:
        return
    found = section("scale-ways", f"Scale: ways to ingest {SIZES[0]:,} passages")
    rows = []
    for name, arguments in WAYS.items():
        each = grow(place, SIZES[0], **arguments)
        counts, spent = each.counts(), each.spent
        each.stop()
        written = (counts["nodes"] + counts["relationships"]) / spent.seconds
        rows.append((name, f"{spent.seconds:.1f} s", f"{written:,.0f}/s", f"{spent.peak_megabytes:,.0f} MB"))
        found.add(f"{name}: nodes and relationships a second", written, "/s")
    found.tables.append(Table("Ways to ingest", ("", "seconds", "rows", "peak memory"), rows))


def measure(found: Section, folder: Path, musique: Grown | None, empty: Grown, sizes: Any) -> list[Grown]:
    """Ask everything of each graph while it is new; one server of a large graph is up at a time."""
    grown, times, trees, added = list[Grown](), list[Sequence[str]](), list[Tree](), list[Sequence[float]]()
    for each in sizes:
        grown.append(each)
        name = _name(each)
        clocks = by_turns(_sides(each, musique))
        times.append(add_times(found, name, clocks[0], clocks[1] if musique else None))
        found.tables.append(clocks[0].by_statement(name))
        found.tables.append(add_recall(found, each, name))
        added.append(additions([each, empty], folder))
        trees.append(tree(each, folder))
        add_changes(found, name, added[-1], trees[-1])
        each.stop()
    found.tables.insert(0, Table("Search over all routes, by turns", TIMES, times))
    add_growth(found, grown)
    found.tables.insert(1, _changes(grown, added, trees))
    return grown


def _sides(each: Grown, musique: Grown | None) -> list[tuple[Grown, Sequence[str]]]:
    assert each.corpus is not None
    sides = [(each, [question.text for question in each.corpus.questions()])]
    return [*sides, (musique, musique.questions)] if musique else sides


def add_changes(found: Section, name: str, added: Sequence[float], tree: Tree) -> None:
    """Targets of what follows an ingest; those of the tree are for large graphs."""
    found.add(f"{name}: a document of {ADDED_PASSAGES} passages more, until found", added[0], "s", at_most=ADDED_LIMIT)
    found.add(f"{name}: the same beside an empty graph", added[0] / added[1], "times", at_most=ADDED_RATIO_LIMIT)
    large = tree.entities >= TREE_ENTITIES
    found.add(f"{name}: the tree", tree.built, "s", **({"at_most": TREE_LIMIT} if large else {}))
    found.add(f"{name}: the tree's update", tree.updated, "s", **({"at_most": UPDATE_LIMIT} if large else {}))


def add_growth(found: Section, grown: Sequence[Grown]) -> None:
    """Exponents over the sizes, of the whole and of each stage, and memory."""
    sizes = [each.spent.passages for each in grown]
    spent = [each.spent for each in grown]
    if len(grown) > 1:
        found.add(
            "ingest: growth of processor time",
            growth(sizes, [s.python + s.server for s in spent]),
            "n^",
            at_most=GROWTH_LIMIT,
        )
        found.add("ingest: growth by the clock", growth(sizes, [s.seconds for s in spent]), "n^", at_most=GROWTH_LIMIT)
        found.add(
            "ingest: growth of its memory",
            spent[-1].peak_megabytes / spent[0].peak_megabytes,
            "times",
            at_most=MEMORY_GROWTH_LIMIT,
        )
    found.add("ingest: peak memory of Python", max(s.peak_megabytes for s in spent), "MB", at_most=MEMORY_LIMIT)
    rows = []
    for stage in spent[-1].processor:
        values = [s.processor.get(stage, 0.0) for s in spent]
        shown = _exponent(sizes, values) if values[-1] > _SHORT else ""
        if shown:
            found.add(f"stage {stage}: growth of processor time", growth(sizes, values), "n^", at_most=GROWTH_LIMIT)
        rows.append((stage, *(f"{v:.1f} s" for v in values), shown, *(f"{s.clock.get(stage, 0):.1f} s" for s in spent)))
    rows.append(("all", *(f"{s.python + s.server:.1f} s" for s in spent), "", *(f"{s.seconds:.1f} s" for s in spent)))
    rows.append(("of it Python", *(f"{s.python:.1f} s" for s in spent), "", *[""] * len(spent)))
    names = [_name(each) for each in grown]
    columns = ("processor time", *names, "growth", *(f"clock, {name}" for name in names))
    found.tables.insert(0, Table("Ingest by stage", columns, rows))
    found.tables.insert(1, _sizes(grown))
    found.tables.insert(2, _statements(sizes, grown))


def _sizes(grown: Sequence[Grown]) -> Table:
    rows = []
    for each in grown:
        counts = each.counts()
        kinds = (f"{counts[kind]:,}" for kind in ("passages", "entities", "facts", "nodes", "relationships"))
        rows.append((_name(each), *kinds, f"{each.megabytes():,.0f} MB", f"{each.spent.peak_megabytes:,.0f} MB"))
    columns = ("", "passages", "entities", "facts", "nodes", "relationships", "on disk", "peak memory of the ingest")
    return Table("The graphs, with what was added and their trees", columns, rows)


def _statements(sizes: Sequence[int], grown: Sequence[Grown]) -> Table:
    largest = grown[-1].spent.statements
    rows = []
    for name in sorted(largest, key=lambda each: -largest[each])[:_STATEMENTS]:
        values = [each.spent.statements.get(name, 0.0) for each in grown]
        rows.append((name, *(f"{value:.1f} s" for value in values), _exponent(sizes, values)))
    return Table("Statements of the ingest, by the clock", ("", *map(_name, grown), "growth"), rows)


def _changes(grown: Sequence[Grown], added: Sequence[Sequence[float]], trees: Sequence[Tree]) -> Table:
    rows = [
        (
            _name(each),
            f"{mine:.1f} s",
            f"{empty:.1f} s",
            f"{tree.entities:,}",
            f"{tree.built:.1f} s",
            f"{tree.updated:.1f} s",
        )
        for each, (mine, empty), tree in zip(grown, added, trees, strict=True)
    ]
    columns = ("", "a document more", "beside it, an empty graph", "entities", "tree", "its update")
    return Table("What follows an ingest", columns, rows)


def _exponent(sizes: Sequence[int], values: Sequence[float]) -> str:
    return f"n^{growth(sizes, values):.2f}" if len(sizes) > 1 and min(values) > 0 else ""


def _name(grown: Grown) -> str:
    assert grown.corpus is not None
    return f"{grown.corpus.size:,}"
