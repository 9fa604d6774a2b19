"""Communities as the paper finds them (section 3.2): k-means on entity representations, then fusion of the centres."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans  # type: ignore[import-untyped]  # publishes no types
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

from kgplatform.build.tree.entity_graph import EntityGraph, Floats, Indices
from kgplatform.build.tree.perception import (
    RELATION_WEIGHT,
    Scores,
    member_scores,
    overlap,
    relation_counts,
    represent,
    unit_rows,
)

SHARE = 10
"""beta: entities a community, in the mean, to begin with."""
MOST = 200
"""eta: the most communities to begin with."""
EPSILON = 0.5
"""Centres whose divergence is below this are fused."""
LARGEST = 100
"""No fused community has more members."""
SEED = 42
_FEW = 2000

Fusion = Literal["center_similarity", "eq7"]


def initial_count(size: int) -> int:
    """k = min(max(2, size // 10), 200), but at least two entities each; 1 for at most two entities.

    >>> [initial_count(size) for size in (2, 15, 95, 2000, 3000)]
    [1, 2, 9, 200, 200]
    """
    if size <= 2:
        return min(size, 1)
    return max(1, min(max(2, size // SHARE), MOST, size // 2))


def clusters(vectors: Floats, count: int, runs: int = 5) -> Indices:
    """(n,) clusters by k-means, the best of ``runs`` beginnings. Fewer than ``count`` if fewer rows differ."""
    if not len(vectors):
        return np.empty(0, np.int64)
    different = len(np.unique(vectors, axis=0)) if len(vectors) <= 2 * MOST else count
    method = KMeans(min(count, different), n_init=runs, random_state=SEED)
    # On few rows threads wait for each other longer than they work.
    with threadpool_limits(1 if len(vectors) < _FEW else None):
        return np.asarray(method.fit_predict(vectors), np.int64)


def communities(graph: EntityGraph, relation_vectors: Floats, fusion: Fusion = "center_similarity") -> Indices:
    """(n,) communities: k-means with the paper's k, then one round of fusion. ``relation_vectors``: (r, d)."""
    vectors = represent(graph, relation_vectors)
    labels = clusters(vectors, initial_count(graph.size))
    if graph.size <= 1:
        return labels
    labels = np.unique(labels, return_inverse=True)[1]
    return fuse(labels, divergences(graph, vectors, labels, fusion))


def divergences(
    graph: EntityGraph,
    vectors: Floats,
    labels: Indices,
    fusion: Fusion = "center_similarity",
    weight: float = RELATION_WEIGHT,
) -> NDArray[np.float64]:
    """(k, k): how far apart the communities are, by their centres (eq. 7).

    ``center_similarity``: 1 - phi of the two centres, as nodes. ``eq7``: literally, the difference of the centres'
    expected phi, which fuses communities that are equally tight, whatever they are about.
    """
    scores = member_scores(graph, labels, vectors, weight)
    if fusion == "eq7":
        expected = _means(scores, labels)
        return np.abs(expected[:, None] - expected[None, :])
    centers = scores.centers
    met = relation_counts(graph)[centers]
    related = overlap(met, met)
    points = unit_rows(vectors[centers])
    return np.asarray(1 - (weight * related + (1 - weight) * (points @ points.T)))


def fuse(labels: Indices, apart: NDArray[np.float64], limit: int = LARGEST) -> Indices:
    """One round: the nearest pairs first, each community at most once, nothing larger than ``limit``."""
    sizes = np.bincount(labels)
    first, second = np.nonzero(np.triu((apart < EPSILON) & (sizes[:, None] + sizes[None, :] <= limit), 1))
    order = np.lexsort((second, first, apart[first, second].round(6)))
    into = np.arange(len(sizes))
    done: set[int] = set()
    for left, right in zip(first[order].tolist(), second[order].tolist(), strict=True):
        if left not in done and right not in done:
            done |= {left, right}
            into[right] = left
    return np.asarray(into[labels])


def _means(scores: Scores, labels: Indices) -> NDArray[np.float64]:
    return np.bincount(labels, scores.phi) / np.bincount(labels)
