"""Communities too small to be worth a name join the one that they fit best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]  # scipy carries no types

from kgplatform.build.tree.entity_graph import EntityGraph, Indices
from kgplatform.build.tree.perception import RELATION_WEIGHT, centroid_sums, overlap, relation_counts, unit_rows

SMALLEST = 3
"""A community with fewer members is joined to another."""
_AT_ONCE = 1000


def joined(
    graph: EntityGraph, labels: Indices, movable: NDArray[np.bool_] | None = None, smallest: int = SMALLEST
) -> Indices:
    """(n,) the communities, each member of a small one moved to the larger one that it fits best by the dual score.

    ``labels``: (n,) communities 0 .. k-1, none without members. ``movable``: (n,) who may be moved, all if it is left
    out. If all communities are small, nothing holds some entities together more than others: they become one
    community, unless some may not be moved.
    """
    sizes = np.bincount(labels)
    large = np.flatnonzero(sizes >= smallest)
    lost = np.flatnonzero((sizes[labels] < smallest) & (True if movable is None else movable))
    if not len(lost):
        return labels
    if not len(large):
        return np.zeros_like(labels) if len(lost) == graph.size else labels
    counts = relation_counts(graph)
    belongs = sparse.coo_array((np.ones(graph.size), (labels, np.arange(graph.size))), (len(sizes), graph.size)).tocsr()
    met = (belongs @ counts)[large]
    centroids = unit_rows(centroid_sums(graph.vectors, labels)[large])
    moved: Indices = labels.copy()
    for begin in range(0, len(lost), _AT_ONCE):
        rows = lost[begin : begin + _AT_ONCE]
        related = overlap(counts[rows], met)
        most = related.max(axis=1, keepdims=True)
        relative = np.divide(related, most, out=np.zeros_like(related), where=most > 0)
        score = RELATION_WEIGHT * relative + (1 - RELATION_WEIGHT) * (graph.vectors[rows] @ centroids.T)
        moved[rows] = large[score.round(6).argmax(axis=1)]
    return moved
