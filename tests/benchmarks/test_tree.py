"""Communities: how good those of each method are, how long they take, and how that grows.

``KGPLATFORM_BENCH_MILLION=1`` adds a graph of a million entities, which takes some minutes and 4 GB.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import tree_measures
from graphs import Graphs
from measure import PeakMemory, growth
from sklearn.metrics import adjusted_rand_score
from tables import Section, Table

from kgplatform.tree import paper, partition
from kgplatform.tree.entity_graph import EntityGraph, Floats, Indices
from kgplatform.tree.stored_tree import read_entity_graph

SECONDS_LIMIT = 4
GROWTH_LIMIT = 1.2
MEMORY_LIMIT = 16_000
MILLION = os.environ.get("KGPLATFORM_BENCH_MILLION") == "1"
"""Read on import: the benchmarks' own runs see no setting of the person who measures."""
SIZES = (10_000, 30_000, 100_000, 300_000, *([1_000_000] if MILLION else []))

DIMENSION = 384
MEMBERS = 50
STATEMENTS = 3
INSIDE = 0.7
NOISE = 1.2
_RELATIONS = 200
_AT_ONCE = 50_000
"""Of the graphs whose communities are planted."""


@dataclass(frozen=True, slots=True)
class Run:
    """One method on one graph: top communities to scores. ``seconds`` by the clock, ``processor`` of all cores."""

    levels: list[Indices]
    seconds: float
    processor: float

    @property
    def leaves(self) -> Indices:
        """(n,) the innermost communities."""
        return tree_measures.leaves(self.levels)


def test_tree(section: Callable[[str, str], Section], graphs: Graphs) -> None:
    found = section("tree", "Tree: communities of MuSiQue's entities, embeddings apart")
    built = graphs.musique()
    with graphs.open(built.home) as kg:
        started = time.perf_counter()
        graph = read_entity_graph(kg.store)
        found.add(f"reading {graph.size:,} entities and {len(graph.heads):,} statements", _since(started), "s")
    relations = graphs.embedder.embed(graph.relation_names)
    runs = {method: _run(graph, method, relations) for method in partition.METHODS}
    top = {method: tree_measures.measure(graph, run.levels[0]) for method, run in runs.items()}
    _add_default(found, graph, runs[partition.DEFAULT], top[partition.DEFAULT])
    found.tables.append(_compared(runs, top))
    found.notes.append(
        "Modularity is that of the relations, cohesion the mean cosine to the community's centroid; usual size: that "
        "of the community which the middle entity is in; readable: the share of entities whose community has "
        f"{tree_measures.READABLE[0]} to {tree_measures.READABLE[1]} members. Seconds include nesting and scores."
    )


def test_growth(section: Callable[[str, str], Section]) -> None:
    found = section("tree-growth", "Tree: communities of synthetic graphs, by their size")
    runs, rows, peaks = [], [], []
    for size in SIZES:
        graph, groups = _planted(size)
        memory = PeakMemory()
        runs.append(_run(graph, partition.DEFAULT, None))
        peaks.append(memory.megabytes())
        agreed = adjusted_rand_score(groups, runs[-1].leaves)
        rows.append(_row(f"{size:,}", graph, runs[-1], f"{peaks[-1]:,.0f} MB", f"{agreed:.4f}"))
        found.add(f"agreement with the planted communities, {size:,} entities", 100 * agreed, "%", at_least=95)
    exponent = growth(SIZES, [run.seconds for run in runs])
    found.add(f"growth, {SIZES[0]:,} to {SIZES[-1]:,} entities", exponent, "n^", at_most=GROWTH_LIMIT)
    found.add("the same in processor time", growth(SIZES, [run.processor for run in runs]), "n^")
    found.add(f"time for {SIZES[-1]:,} entities", runs[-1].seconds, "s")
    found.add("peak memory", max(peaks), "MB", at_most=MEMORY_LIMIT)
    columns = ("entities", "seconds", "processor", "communities", "usual size", "peak memory", "agreement (ARI)")
    found.tables.append(Table("By size", columns, rows))
    found.notes.append(
        f"Communities of about {MEMBERS}, {STATEMENTS} statements for each entity, {INSIDE:.0%} of them inside; "
        "peak memory is the process's, vectors and statements included."
    )


def _run(graph: EntityGraph, method: str, relations: Floats | None) -> Run:
    started, computed = time.perf_counter(), time.process_time()
    labels = partition.partition(graph, method, relation_vectors=relations)
    levels = partition.nest(graph, labels, method=method, relation_vectors=relations)
    paper.member_scores(graph, tree_measures.leaves(levels))
    return Run(levels, _since(started), time.process_time() - computed)


def _add_default(found: Section, graph: EntityGraph, run: Run, ours: tree_measures.Measures) -> None:
    by_meaning = tree_measures.modularity(graph, tree_measures.by_meaning(graph))
    by_relations = tree_measures.cohesion(graph.vectors, tree_measures.by_relations(graph))
    found.add("arrays to communities, levels and scores", run.seconds, "s", at_most=SECONDS_LIMIT)
    found.add("the same in processor time", run.processor, "s")
    found.add("entities in a community", 100 * ours.coverage, "%", exactly=100)
    found.add("modularity; at least that of k-means", 100 * ours.modularity, "%", at_least=100 * by_meaning)
    found.add("cohesion; at least that of plain Leiden", 100 * ours.cohesion, "%", at_least=100 * by_relations)
    innermost = np.bincount(run.leaves)
    found.add("entities of the largest community without parts", innermost.max(), at_most=partition.LIMIT)
    again = _run(graph, partition.DEFAULT, None)
    same = len(again.levels) == len(run.levels) and all(map(np.array_equal, again.levels, run.levels))
    found.add("a second run gives the same", 100 * same, "%", exactly=100)


def _compared(runs: dict[str, Run], top: dict[str, tree_measures.Measures]) -> Table:
    quality = ("communities", "modularity", "cohesion", "coverage")
    sizes = ("usual size", "largest", "one or two", "readable")
    columns = ("method", *quality, *sizes, "seconds", "processor")
    rows = [
        (
            *(method, f"{each.count:,}", f"{each.modularity:.2f}", f"{each.cohesion:.2f}", f"{each.coverage:.0%}"),
            *(f"{each.usual:.0f}", f"{each.sizes.max():,}", f"{(each.sizes <= 2).sum():,}", f"{each.readable:.0%}"),
            *(f"{runs[method].seconds:.1f}", f"{runs[method].processor:.1f}"),
        )
        for method, each in top.items()
    ]
    return Table("Communities at the top, by method", columns, rows)


def _row(name: str, graph: EntityGraph, run: Run, *more: str) -> Sequence[str]:
    measured = tree_measures.measure(graph, run.leaves)
    spent = (f"{run.seconds:.1f}", f"{run.processor:.1f}")
    return (name, *spent, f"{measured.count:,}", f"{measured.usual:.0f}", *more)


def _since(started: float) -> float:
    return time.perf_counter() - started


def _planted(size: int, seed: int = 1) -> tuple[EntityGraph, Indices]:
    """A graph of ``size`` entities in communities of about ``MEMBERS``, and (n,) the community of each.

    Vectors are a theme of the community's and ``NOISE`` times as much of their own: the cosine of two members is 0.4.
    There are ``STATEMENTS`` for each entity, of which ``INSIDE`` join members and the others anybody.
    """
    rng = np.random.default_rng(seed)
    count = max(1, size // MEMBERS)
    groups = rng.integers(count, size=size)
    heads = rng.integers(size, size=STATEMENTS * size)
    tails = np.where(rng.random(len(heads)) < INSIDE, _fellows(groups, heads, rng), rng.integers(size, size=len(heads)))
    ids = [f"{number:08}" for number in range(size)]
    graph = EntityGraph(
        ids=ids,
        names=ids,
        types=[None] * size,
        vectors=_vectors(groups, count, rng),
        heads=heads,
        tails=tails,
        relations=rng.integers(_RELATIONS, size=len(heads)),
        relation_names=[f"relation {number}" for number in range(_RELATIONS)],
    )
    return graph, groups


def _vectors(groups: Indices, count: int, rng: np.random.Generator) -> Floats:
    themes = rng.standard_normal((count, DIMENSION), dtype=np.float32)
    vectors = np.empty((len(groups), DIMENSION), np.float32)
    for begin in range(0, len(groups), _AT_ONCE):
        chosen = groups[begin : begin + _AT_ONCE]
        part = themes[chosen] + NOISE * rng.standard_normal((len(chosen), DIMENSION), dtype=np.float32)
        vectors[begin : begin + _AT_ONCE] = part / np.linalg.norm(part, axis=1, keepdims=True)
    return vectors


def _fellows(groups: Indices, rows: Indices, rng: np.random.Generator) -> Indices:
    """For each of ``rows`` some entity of the same community."""
    order = np.argsort(groups, kind="stable")
    ends = np.searchsorted(groups[order], [groups[rows], groups[rows] + 1])
    return order[ends[0] + (rng.random(len(rows)) * (ends[1] - ends[0])).astype(np.int64)]
