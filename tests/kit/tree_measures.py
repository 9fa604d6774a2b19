"""How good communities are: by relations, by meaning, and for a reader; and what either alone finds."""

from collections.abc import Sequence
from dataclasses import dataclass

import igraph
import leidenalg
import numpy as np

from kgplatform.tree import partition
from kgplatform.tree.entity_graph import EntityGraph, Floats, Indices
from kgplatform.tree.multiplex import SEED, relation_layer
from kgplatform.tree.paper import centroid_sums, clusters, initial_count, unit_rows

READABLE = (10, 100)
"""A community of this many members is one that a reader can use."""


@dataclass(frozen=True, slots=True)
class Measures:
    """``sizes``: (k,) members of each community. ``coverage``: the share of entities in a community, 0 to 1.

    ``modularity`` (of the relations) and ``cohesion`` (of the meanings): see the functions of these names.
    """

    sizes: Indices
    modularity: float
    cohesion: float
    coverage: float

    @property
    def count(self) -> int:
        """The number of communities."""
        return len(self.sizes)

    @property
    def usual(self) -> float:
        """The size of the community that the middle entity is in."""
        return float(np.median(np.repeat(self.sizes, self.sizes))) if len(self.sizes) else 0.0

    @property
    def readable(self) -> float:
        """The share of the covered entities whose community has a size within ``READABLE``."""
        fits = (self.sizes >= READABLE[0]) & (self.sizes <= READABLE[1])
        return float(self.sizes[fits].sum() / max(1, self.sizes.sum()))


def measure(graph: EntityGraph, labels: Indices) -> Measures:
    """All measures of (n,) ``labels``; -1: in no community."""
    covered = labels >= 0
    sizes = np.bincount(labels[covered])
    return Measures(
        sizes=sizes[sizes > 0],
        modularity=modularity(graph, labels),
        cohesion=cohesion(graph.vectors, labels),
        coverage=float(covered.mean()) if len(labels) else 1.0,
    )


def modularity(graph: EntityGraph, labels: Indices) -> float:
    """Newman's modularity of the graph of relations, an edge weighing as many statements as it has.

    The share of the weight inside communities, less what would be there by chance; 0 for a graph without relations.
    An entity in no community (-1) is one by itself.
    """
    edges = relation_layer(graph)
    whole = edges.weights.sum()
    if whole == 0:
        return 0.0
    alone = np.where(labels < 0, labels.max(initial=-1) + 1 + np.arange(len(labels)), labels)
    low, high = alone[edges.low], alone[edges.high]
    ends = np.concatenate([low, high])
    strengths = np.bincount(ends, np.concatenate([edges.weights, edges.weights]))
    inside = edges.weights[low == high].sum()
    return float(inside / whole - ((strengths / (2 * whole)) ** 2).sum())


def cohesion(vectors: Floats, labels: Indices) -> float:
    """The mean cosine of an entity's vector to the centroid of its community, over all that are in one."""
    covered = labels >= 0
    if not covered.any():
        return 0.0
    inside, members = labels[covered], unit_rows(vectors[covered])
    centroids = unit_rows(centroid_sums(members, inside))
    return float(np.einsum("ij,ij->i", members, centroids[inside]).mean())


def by_relations(graph: EntityGraph) -> Indices:
    """(n,) communities by Leiden's algorithm and modularity, on the relations alone."""
    edges = relation_layer(graph)
    found = leidenalg.find_partition(
        igraph.Graph(n=graph.size, edges=edges.pairs),
        leidenalg.ModularityVertexPartition,
        weights=edges.weights.tolist(),
        seed=SEED,
    )
    return np.asarray(found.membership, np.int64)


def by_meaning(graph: EntityGraph) -> Indices:
    """(n,) communities by k-means on the meanings alone."""
    return clusters(graph.vectors, initial_count(graph.size))


def leaves(levels: Sequence[Indices]) -> Indices:
    """(n,) the innermost community of each entity, 0 .. k-1 over all levels."""
    found, count = levels[0].copy(), 0
    for level in levels:
        inside = level >= 0
        found[inside] = level[inside] + count
        count += int(level.max(initial=-1)) + 1
    return partition.numbered(found)
