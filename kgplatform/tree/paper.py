"""The two perceptions of a community (paper, section 3.2): which relations meet in it, and what its members mean.

And communities as the paper finds them: k-means on entity representations, then fusion of the centres.

phi(e, C) = w * S_r(e, C) / max S_r + (1 - w) * S_s(e, C), with S_r the Jaccard index of the multisets of incident
relation types (eq. 6) and S_s the cosine of the entity's vector to the centroid of the members' vectors (eq. 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]  # scipy carries no types
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

from kgplatform.tree.entity_graph import EntityGraph, Floats, Indices

RELATION_WEIGHT = 0.3
"""w: what the relations count in phi; the meaning counts the rest."""
_AT_ONCE = 10_000
"""Entities that are scored at once."""


@dataclass(frozen=True, slots=True, eq=False)
class AffinityScores:
    """``phi``: (n,) of each entity with its own community. ``centers``: (k,) positions of the central entities."""

    phi: Floats
    centers: Indices


def represent(graph: EntityGraph, relation_vectors: Floats) -> Floats:
    """(n, 3d): each entity as the mean of [emb(e_i); emb(r); emb(e_j)] over its triples, both directions (eq. 4).

    ``relation_vectors``: (r, d), one a relation name. Each third has length 1 or is zero, so that none outweighs the
    others. A statement whose tail is a value counts with zeros for the value, which has no vector: the statement is
    one of the entity's (its key belongs to the relation's third), and the direction of the last third stays that of
    the neighbours alone. An isolated entity is [emb; 0; 0].
    """
    ends, others, relations = incidences(graph)
    known = others >= 0
    own = graph.vectors
    met = _sums(ends, relations, len(graph.relation_names), graph.size) @ relation_vectors
    neighbours = _sums(ends[known], others[known], graph.size, graph.size) @ graph.vectors
    # Every third is made as long as 1 afterwards: the division by the number of triples would change nothing.
    return np.hstack([unit_rows(own), unit_rows(met), unit_rows(neighbours)]).astype(np.float32)


def incidences(graph: EntityGraph) -> tuple[Indices, Indices, Indices]:
    """Each statement as its entities see it: (entity, the other end or -1 for a value, relation). A statement of an
    entity about itself is seen once."""
    back = (graph.tails >= 0) & (graph.tails != graph.heads)
    ends = np.concatenate([graph.heads, graph.tails[back]])
    others = np.concatenate([graph.tails, graph.heads[back]])
    return ends, others, np.concatenate([graph.relations, graph.relations[back]])


def relation_counts(graph: EntityGraph) -> sparse.csr_array:
    """(n, r): how often each entity meets each relation type, as head or as tail."""
    ends, _, relations = incidences(graph)
    return _sums(ends, relations, len(graph.relation_names), graph.size)


def overlap(left: sparse.csr_array, right: sparse.csr_array) -> NDArray[np.float64]:
    """(a, b): the Jaccard index, sum of minima / sum of maxima, of each multiset of ``left`` with each of ``right``.
    ``left``: (a, r) and ``right``: (b, r), whole numbers. Two empty multisets have nothing in common: 0."""
    # min(x, y) is the number of j >= 1 with x >= j and y >= j.
    common = np.zeros((left.shape[0], right.shape[0]))
    highest = min(left.data.max(initial=0), right.data.max(initial=0))
    for at_least in range(1, int(highest) + 1):
        reaching, other = ((counts >= at_least).astype(np.float64) for counts in (left, right))
        common += (reaching @ other.T).toarray()
    every = _total(left)[:, None] + _total(right)[None, :] - common
    return np.divide(common, every, out=np.zeros_like(common), where=every > 0)


def member_scores(
    graph: EntityGraph, labels: Indices, vectors: Floats | None = None, weight: float = RELATION_WEIGHT
) -> AffinityScores:
    """phi of each entity with its own community, and each community's centre: the member with the highest phi.

    ``labels``: (n,) communities 0 .. k-1, none without members. ``vectors``: (n, x) in place of ``graph.vectors``.
    Ties go to the entity with more relations, then to the name that comes first.
    """
    degree = _total(relation_counts(graph))
    vectors = graph.vectors if vectors is None else vectors
    count = int(labels.max(initial=-1)) + 1
    # A member's multiset is part of its community's, which is the sum: the minima add up to the member's own.
    total = np.bincount(labels, degree, minlength=count)
    shared = np.divide(degree, total[labels], out=np.zeros(len(labels)), where=total[labels] > 0)
    best = np.zeros(count)
    np.maximum.at(best, labels, shared)
    relative = np.divide(shared, best[labels], out=np.zeros(len(labels)), where=best[labels] > 0)
    centroids = unit_rows(centroid_sums(vectors, labels))
    alike = np.empty(len(labels))
    for begin in range(0, len(labels), _AT_ONCE):  # both sides at once are twice as large as all vectors
        rows = slice(begin, begin + _AT_ONCE)
        alike[rows] = np.einsum("ij,ij->i", unit_rows(vectors[rows]), centroids[labels[rows]], dtype=np.float64)
    phi = weight * relative + (1 - weight) * alike
    by_name = np.argsort(sorted(range(graph.size), key=graph.names.__getitem__))
    order = np.lexsort((by_name, -degree, -phi.round(6), labels))
    first = np.unique(labels[order], return_index=True)[1]
    return AffinityScores(phi.astype(np.float32), order[first])


def centroid_sums(vectors: Floats, labels: Indices) -> Floats:
    """(k, d): the sum of each community's vectors."""
    count = int(labels.max(initial=-1)) + 1
    return np.asarray(_sums(labels, np.arange(len(labels)), len(labels), count).astype(np.float32) @ vectors)


def unit_rows(vectors: NDArray[Any]) -> Floats:
    """The rows with length 1; rows of zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    whole = np.where(lengths > 0, lengths, 1)
    return np.asarray(vectors / whole, np.float32)


def _sums(rows: Indices, columns: Indices, width: int, height: int) -> sparse.csr_array:
    """(height, width): how often each pair occurs."""
    return sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(height, width)).tocsr()


def _total(counts: sparse.csr_array) -> NDArray[np.float64]:
    return np.asarray(counts.sum(axis=1), np.float64).ravel()


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
    from sklearn.cluster import KMeans  # type: ignore[import-untyped]  # an extra; publishes no types

    if not len(vectors):
        return np.empty(0, np.int64)
    different = len(np.unique(vectors, axis=0)) if len(vectors) <= 2 * MOST else count
    method = KMeans(min(count, different), n_init=runs, random_state=SEED)
    # On few rows threads wait for each other longer than they work.
    with threadpool_limits(1 if len(vectors) < _FEW else None):
        return np.asarray(method.fit_predict(vectors), np.int64)


def communities(graph: EntityGraph, relation_vectors: Floats) -> Indices:
    """(n,) communities: k-means with the paper's k, then one round of fusion. ``relation_vectors``: (r, d)."""
    vectors = represent(graph, relation_vectors)
    labels = clusters(vectors, initial_count(graph.size))
    if graph.size <= 1:
        return labels
    labels = np.unique(labels, return_inverse=True)[1]
    # How far apart communities are: 1 - phi of their two centres, as nodes. Literally (eq. 7) it were the difference of
    # the centres' expected phi, which fuses communities that are equally tight, whatever they are about.
    centers = member_scores(graph, labels, vectors).centers
    met, points = relation_counts(graph)[centers], unit_rows(vectors[centers])
    return fuse(labels, 1 - (RELATION_WEIGHT * overlap(met, met) + (1 - RELATION_WEIGHT) * (points @ points.T)))


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
