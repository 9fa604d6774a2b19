"""Both perceptions as two layers of one graph: relations, and nearest neighbours in meaning; communities of both.

What is optimised is the constant Potts model (CPM): the weight inside communities less ``resolution`` for every pair
of members. It judges a community by itself, so that what is best here does not depend on how large the rest of the
graph is. CPM adds up over layers, sum_l w_l (inside_l - resolution * pairs): that of a multiplex is that of one graph
whose weights are the weighted sums. igraph's Leiden works on that one graph.
"""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import igraph  # type: ignore[import-untyped]  # publishes no types
import leidenalg  # type: ignore[import-untyped]  # publishes no types
import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]  # scipy carries no types
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

from kgplatform.tree.entity_graph import EntityGraph, Floats, Indices
from kgplatform.tree.paper import RELATION_WEIGHT

RESOLUTION = 0.0015
"""What a pair of members costs, where an entity's edges weigh 1 in the mean."""
SMALL = 640
"""Below this many entities the resolution grows as they get fewer, so that a small graph has communities too. It stays
below 1 / n, which is what a pair weighs where all are alike: such a graph is one community."""
ITERATIONS = 2
"""Rounds of Leiden's algorithm. Four take half as long again, for 0.2 % more quality at most."""
SEED = 42


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Undirected weighted edges, each once: ``low`` < ``high``, positions of entities."""

    low: Indices
    high: Indices
    weights: NDArray[np.float64]

    @property
    def pairs(self) -> Indices:
        """(m, 2), as igraph takes them."""
        return np.stack([self.low, self.high], axis=1)


def relation_layer(graph: EntityGraph) -> Edges:
    """An edge between two entities that statements join; its weight is their number."""
    joined = (graph.tails >= 0) & (graph.tails != graph.heads)
    heads, tails = graph.heads[joined], graph.tails[joined]
    matrix = sparse.coo_array(
        (np.ones(len(heads)), (np.minimum(heads, tails), np.maximum(heads, tails))), (graph.size, graph.size)
    )
    return _edges(matrix.tocsr())


def semantic_layer(vectors: Floats) -> Edges:
    """An edge between each entity and those nearest in meaning; its weight is their cosine, if that is positive."""
    size = len(vectors)
    found, alike = nearest(vectors)
    kept = (found >= 0) & (alike > 0)
    rows = np.nonzero(kept)[0]
    weights = alike[kept].astype(np.float64)
    matrix = sparse.coo_array((weights, (rows, found[kept])), (size, size)).tocsr()
    return _edges(sparse.triu(matrix.maximum(matrix.T), 1, "csr"))


def merged(layers: list[tuple[Edges, float]], size: int) -> Edges:
    """One layer of several. Each is first scaled so that an entity's edges weigh 1 in the mean, then weighted. Without
    scaling, the layer with more edges would decide. A layer without edges leaves its share to the others."""
    present = [(edges, weight) for edges, weight in layers if edges.weights.sum() > 0 and weight > 0]
    whole = sum(weight for _, weight in present)
    matrix = sparse.csr_array((size, size), dtype=np.float64)
    for edges, weight in present:
        scale = weight / whole * size / (2 * edges.weights.sum())
        matrix = matrix + sparse.coo_array((edges.weights * scale, (edges.low, edges.high)), (size, size)).tocsr()
    return _edges(matrix)


def both_layers(graph: EntityGraph) -> Edges:
    """Relations and meaning as one layer, weighted as phi weighs the two perceptions."""
    layers = [(relation_layer(graph), RELATION_WEIGHT), (semantic_layer(graph.vectors), 1 - RELATION_WEIGHT)]
    return merged(layers, graph.size)


def resolution(size: int) -> float:
    """What a pair of members costs in a graph of ``size`` entities."""
    return RESOLUTION * max(1.0, SMALL / max(size, 1))


def communities(edges: Edges, size: int) -> Indices:
    """(size,) communities by Leiden's algorithm, the best by CPM that ``ITERATIONS`` rounds find."""
    if not len(edges.low):
        return np.arange(size)
    graph = igraph.Graph(n=size, edges=edges.pairs)
    # igraph has one generator of random numbers for all threads: the same ones, whatever was drawn before.
    igraph.set_random_number_generator(random.Random(SEED))
    try:
        found = graph.community_leiden("CPM", edges.weights.tolist(), resolution(size), n_iterations=ITERATIONS)
    finally:
        igraph.set_random_number_generator(random)
    return np.asarray(found.membership, np.int64)


def by_leidenalg(graph: EntityGraph) -> Indices:
    """(n,) communities: the same objective, its layers optimised side by side by leidenalg. Slower. Measured on 19,000
    entities: 30 times the time of ``communities``, for a quality that is no better."""
    size = graph.size
    scaled = [merged([(edges, 1.0)], size) for edges in (relation_layer(graph), semantic_layer(graph.vectors))]
    graphs = [igraph.Graph(n=size, edges=each.pairs, edge_attrs={"weight": each.weights}) for each in scaled]
    labels, _ = leidenalg.find_partition_multiplex(
        graphs,
        leidenalg.CPMVertexPartition,
        layer_weights=[RELATION_WEIGHT, 1 - RELATION_WEIGHT],
        seed=SEED,
        weights="weight",
        resolution_parameter=resolution(size),
    )
    return np.asarray(labels, np.int64)


def settled(edges: Edges, start: Indices, movable: NDArray[np.bool_], cost: float) -> Indices:
    """(n,) communities by CPM when only ``movable`` entities may leave those of ``start``; -1 there: none yet.

    The others of a community count as one node that stays, as heavy as they are many: the work is as large as the
    number of entities that may move, but the quality that is optimised is that of the whole graph.
    """
    count = int(start.max(initial=-1)) + 1
    places = np.flatnonzero(movable)
    nodes = start.copy()
    nodes[places] = count + np.arange(len(places))
    total = count + len(places)
    matrix = sparse.coo_array((edges.weights, (nodes[edges.low], nodes[edges.high])), (total, total)).tocsr()
    between = _edges(sparse.triu(matrix + matrix.T, 1, "csr"))
    began = np.concatenate([np.arange(count), start[places]])
    began[began < 0] = total + np.arange(int((began < 0).sum()))
    fixed = np.arange(total) < count
    found: Indices = moved_nodes(between, np.bincount(nodes, minlength=total), began, fixed, cost)[nodes]
    return found


def moved_nodes(between: Edges, sizes: Indices, start: Indices, fixed: NDArray[np.bool_], cost: float) -> Indices:
    """(n,) communities of nodes by CPM, when those that are ``fixed`` stay in those of ``start``. ``sizes``: (n,) for
    how many entities each node stands. ``between``: what the nodes have with each other."""
    graph = igraph.Graph(n=len(sizes), edges=between.pairs)
    _, began = np.unique(start, return_inverse=True)
    partition = leidenalg.CPMVertexPartition(
        graph,
        initial_membership=began.tolist(),
        weights=between.weights.tolist(),
        node_sizes=sizes.tolist(),
        resolution_parameter=cost,
    )
    optimiser = leidenalg.Optimiser()
    optimiser.set_rng_seed(SEED)
    optimiser.optimise_partition(partition, n_iterations=ITERATIONS, is_membership_fixed=fixed.tolist())
    return np.asarray(partition.membership, np.int64)


def _edges(matrix: sparse.csr_array) -> Edges:
    each = matrix.tocoo()
    kept = (each.data > 0) & (each.row != each.col)
    return Edges(each.row[kept].astype(np.int64), each.col[kept].astype(np.int64), each.data[kept].astype(np.float64))


COUNT = 10
"""Neighbours of a row."""
TREES = 7
"""Trees, and one more each time the rows are four times as many, since a deeper tree parts more neighbours."""
LEAF = 320
"""Rows that are compared with each other: at most this many, at least half of it."""
SAMPLE = 8
"""Rows at either end of a random direction."""
_NOTHING = np.float32(-2)


def nearest(vectors: Floats, count: int = COUNT) -> tuple[Indices, Floats]:
    """(n, count) positions of each row's nearest rows by cosine, approximately, and their cosines; -1 for no more rows.

    In a time that grows little faster than their number. A forest of random-projection trees: every tree halves the
    rows at the median of a random direction until a few hundred are left together, and inside such a leaf all are
    compared by one product of matrices. What the trees find is merged. The same rows give the same neighbours, which a
    search index built by several threads does not promise.

    Of the true ten of 19,000 names it finds 73 %, in 1.5 s of processor time; faiss's HNSW 96 % in 5.5 s, all
    comparisons take 10 s. Communities are hardly worse for it: see docs/explanation/decisions.md.

    ``vectors``: (n, d), rows of length 1. Up to ``LEAF`` rows the answer is exact.
    """
    size = len(vectors)
    found = np.full((size, count), -1, np.int64)
    alike = np.full((size, count), _NOTHING)
    rng = np.random.default_rng(SEED)
    depth = max(0, int(np.ceil(np.log2(max(size, 1) / LEAF))))
    # Leaves share no row: side by side, and each on one core, they take half the time, and the result is the same
    # whatever the number of cores. Threads inside so small a product wait for each other longer than they work.
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in range(TREES + depth // 2 if depth else 1):
            leaves = _leaves(vectors, depth, rng)
            for _ in pool.map(lambda rows: _compare(vectors, rows, found, alike), leaves):
                pass
    return found, alike


def _leaves(vectors: Floats, depth: int, rng: np.random.Generator) -> list[Indices]:
    """The rows in ``2 ** depth`` leaves. One direction serves a whole level: one product for the tree.

    A direction leads from some random rows to others, along which rows differ more than along any direction at all:
    on 19,000 names that finds 68 % of the true neighbours in eight trees, random directions 58 %.
    """
    ends = rng.integers(len(vectors), size=(2, depth, SAMPLE))
    directions = vectors[ends[0]].sum(axis=1) - vectors[ends[1]].sum(axis=1)
    places = vectors @ directions.T
    leaves = [np.arange(len(vectors))]
    for level in range(depth):
        orders = [rows[np.argpartition(places[rows, level], len(rows) // 2)] for rows in leaves]
        leaves = [half for rows in orders for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :])]
    return leaves


def _compare(vectors: Floats, rows: Indices, found: Indices, alike: Floats) -> None:
    """Look at all pairs of ``rows``, and keep the best of what was ``found`` and what is here."""
    here = vectors[rows]
    cosines = here @ here.T
    np.fill_diagonal(cosines, _NOTHING)
    wanted = min(found.shape[1], len(rows) - 1)
    if wanted < 1:
        return
    best = np.argpartition(cosines, len(rows) - wanted, axis=1)[:, -wanted:]
    scores, best = np.take_along_axis(cosines, best, 1), rows[best]
    known, known_scores = found[rows], alike[rows]
    again = (best[:, :, None] == known[:, None, :]).any(axis=2)
    scores[again], best[again] = _NOTHING, -1
    both = np.concatenate([known, best], axis=1)
    both_scores = np.concatenate([known_scores, scores], axis=1)
    kept = np.argpartition(both_scores, -found.shape[1], axis=1)[:, -found.shape[1] :]
    found[rows] = np.take_along_axis(both, kept, 1)
    alike[rows] = np.take_along_axis(both_scores, kept, 1)
