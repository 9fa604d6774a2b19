"""The methods of community detection by name, and one door to them all: ``partition``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import igraph  # type: ignore[import-untyped]  # publishes no types
import leidenalg  # type: ignore[import-untyped]  # publishes no types
import numpy as np
from numpy.typing import NDArray

from kgplatform.build.tree import multiplex, paper, small
from kgplatform.build.tree.entity_graph import EntityGraph, Floats, Indices
from kgplatform.build.tree.perception import RELATION_WEIGHT
from kgplatform.errors import InputError

DEFAULT = "multiplex"
SEED = 42

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Method:
    """``title`` says what the method is, for people. ``find`` gives (n,) communities, numbered anyhow.

    ``reads_relations``: it wants a vector for every relation name. ``relation_weight``: what relations count, meaning
    the rest, when only some entities may move. ``joins_small``: communities of one or two join others.
    """

    title: str
    find: Callable[[EntityGraph, Floats], Indices]
    reads_relations: bool = False
    relation_weight: float = RELATION_WEIGHT
    joins_small: bool = False


def partition(
    graph: EntityGraph,
    method: str = DEFAULT,
    *,
    relation_vectors: Floats | None = None,
    start: Indices | None = None,
    movable: Bools | None = None,
) -> Indices:
    """(n,) communities 0 .. k-1, numbered in the order of their first members: each entity in exactly one.

    ``relation_vectors``: (r, d), for methods that read them. ``start``: (n,) the communities until now, -1 for an
    entity that has none, and ``movable``: (n,) which entities may leave theirs (those without one always may); both
    or none. The others stay together as they were. The same graph gives the same communities.
    Raises ``InputError`` for an unknown method, or without relation vectors where they are needed.
    """
    chosen = named(method)
    if chosen.reads_relations and relation_vectors is None:
        raise InputError(f"The method {method!r} needs a vector for every relation name: give relation_vectors.")
    if graph.size == 0:
        return np.empty(0, np.int64)
    free = np.ones(graph.size, np.bool_)
    if start is not None and movable is not None:
        free = movable | (start < 0)
    if start is not None and not free.all():
        labels = _moved(graph, start, free, chosen.relation_weight)
    else:
        empty = np.empty((0, graph.vectors.shape[1]), np.float32)
        labels = chosen.find(graph, empty if relation_vectors is None else relation_vectors)
    labels = numbered(labels)
    return numbered(small.joined(graph, labels, free)) if chosen.joins_small else labels


def named(method: str) -> Method:
    """The method of that name."""
    if method not in METHODS:
        raise InputError(f"There is no method {method!r} of community detection. Choose one of {', '.join(METHODS)}.")
    return METHODS[method]


def numbered(labels: Indices) -> Indices:
    """The same communities, numbered 0 .. k-1 in the order of their first members."""
    _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    ranks = np.empty(len(first), np.int64)
    ranks[np.argsort(first)] = np.arange(len(first))
    return np.asarray(ranks[labels])


def _moved(graph: EntityGraph, start: Indices, free: Bools, relation_weight: float) -> Indices:
    """Only ``free`` entities move, all by the constant Potts model, whatever method found ``start``."""
    if not free.any():
        return start
    edges = multiplex.both_layers(graph, relation_weight)
    return multiplex.settled(edges, start, free, multiplex.resolution(graph.size))


def _multiplex(graph: EntityGraph, _: Floats) -> Indices:
    return multiplex.communities(multiplex.both_layers(graph), graph.size)


def _leidenalg(graph: EntityGraph, _: Floats) -> Indices:
    layers = [multiplex.relation_layer(graph), multiplex.semantic_layer(graph.vectors)]
    return multiplex.by_leidenalg(layers, [RELATION_WEIGHT, 1 - RELATION_WEIGHT], graph.size)


def _leiden(graph: EntityGraph, _: Floats) -> Indices:
    edges = multiplex.relation_layer(graph)
    found = leidenalg.find_partition(
        igraph.Graph(n=graph.size, edges=edges.pairs),
        leidenalg.ModularityVertexPartition,
        weights=edges.weights.tolist(),
        seed=SEED,
    )
    return np.asarray(found.membership, np.int64)


def _louvain(graph: EntityGraph, _: Floats) -> Indices:
    edges = multiplex.relation_layer(graph)
    with multiplex.seeded():
        found = igraph.Graph(n=graph.size, edges=edges.pairs).community_multilevel(weights=edges.weights.tolist())
    return np.asarray(found.membership, np.int64)


def _kmeans(graph: EntityGraph, _: Floats) -> Indices:
    return paper.clusters(graph.vectors, paper.initial_count(graph.size))


METHODS = {
    "multiplex": Method("both perceptions as two layers, Leiden with CPM", _multiplex, joins_small=True),
    "leidenalg": Method("the same by leidenalg's find_partition_multiplex", _leidenalg, joins_small=True),
    "paper": Method("k-means and fusion of centres, as in the paper", paper.communities, reads_relations=True),
    "leiden": Method("Leiden on the relations alone", _leiden, relation_weight=1.0),
    "louvain": Method("Louvain on the relations alone", _louvain, relation_weight=1.0),
    "kmeans": Method("k-means on the meanings alone", _kmeans, relation_weight=0.0),
}
"""By the name that the caller gives."""
