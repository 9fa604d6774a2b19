"""Entities into communities: the methods by name, small communities joined to others, large ones divided again inside.

labels = partition(graph)         # (n,) the communities at the top
levels = nest(graph, labels)      # levels[1][5]: the one inside, of entity 5; -1 where the top one is not divided
tree_of(graph, levels)            # the communities with their parents, each with its members, the best first
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse  # type: ignore[import-untyped]  # scipy carries no types
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

from kgplatform.errors import InputError, SettingError, to_install
from kgplatform.resolution import stem_of
from kgplatform.text import node_id, unknown
from kgplatform.tree import multiplex, paper
from kgplatform.tree.entity_graph import EntityGraph, Floats, Indices
from kgplatform.tree.paper import RELATION_WEIGHT, centroid_sums, member_scores, overlap, relation_counts, unit_rows

DEFAULT = "multiplex"

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Method:
    """``title`` says what the method is, for people. ``find`` gives (n,) communities, numbered anyhow.

    ``reads_relations``: it wants a vector for every relation name. ``joins_small``: communities of one or two join
    others. ``needs_sklearn``: it needs the extra ``scikit-learn``.
    """

    title: str
    find: Callable[[EntityGraph, Floats], Indices]
    reads_relations: bool = False
    joins_small: bool = False
    needs_sklearn: bool = False


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
    Raises ``InputError`` for an unknown method, or without relation vectors where they are needed; ``SettingError``
    where the method needs an extra that is not installed.
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
        # Only free entities move, all by the constant Potts model, whatever method found the start.
        cost = multiplex.resolution(graph.size)
        labels = multiplex.settled(multiplex.both_layers(graph), start, free, cost) if free.any() else start
    else:
        empty = np.empty((0, graph.vectors.shape[1]), np.float32)
        labels = chosen.find(graph, empty if relation_vectors is None else relation_vectors)
    return settled(graph, labels, method, free)


def settled(graph: EntityGraph, labels: Indices, method: str, free: Bools) -> Indices:
    """(n,) communities 0 .. k-1: those of ``labels``, where ``free`` entities of small ones may be joined to others."""
    labels = numbered(labels)
    return numbered(joined(graph, labels, free)) if named(method).joins_small else labels


def named(method: str) -> Method:
    """The method of that name, which can be used: ``SettingError`` where it needs an extra that is not installed."""
    if method not in METHODS:
        raise InputError(unknown("method", method, METHODS))
    chosen = METHODS[method]
    if chosen.needs_sklearn and find_spec("sklearn") is None:
        raise SettingError(
            f"The method {method} needs scikit-learn. Run `{to_install('scikit-learn')}`, or choose another "
            f"method, such as {DEFAULT}."
        )
    return chosen


def numbered(labels: Indices) -> Indices:
    """The same communities, numbered 0 .. k-1 in the order of their first members."""
    _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    ranks = np.empty(len(first), np.int64)
    ranks[np.argsort(first)] = np.arange(len(first))
    return np.asarray(ranks[labels])


METHODS = {
    "multiplex": Method(
        "both perceptions as two layers, Leiden with CPM",
        lambda graph, _: multiplex.communities(multiplex.both_layers(graph), graph.size),
        joins_small=True,
    ),
    "leidenalg": Method(
        "the same by leidenalg's find_partition_multiplex",
        lambda graph, _: multiplex.by_leidenalg(graph),
        joins_small=True,
    ),
    "paper": Method(
        "k-means and fusion of centres, as in the paper", paper.communities, reads_relations=True, needs_sklearn=True
    ),
}
"""By the name that the caller gives."""


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


LIMIT = 100
"""The most entities of a community that has no communities inside."""


def nest(
    graph: EntityGraph,
    labels: Indices,
    limit: int = LIMIT,
    method: str = DEFAULT,
    *,
    relation_vectors: Floats | None = None,
    start: Sequence[Indices] | None = None,
    movable: Bools | None = None,
) -> list[Indices]:
    """The levels of a hierarchy: for each depth (n,) communities 0 .. k-1, -1 where the one above is not divided.

    ``labels``: (n,) communities 0 .. k-1, which are the first level. One of any level that has more than ``limit``
    entities is divided by ``method`` on the graph inside it, or, where that finds no division, into halves by meaning:
    no innermost community is larger than ``limit``. All entities of a divided community are in its parts.
    ``start``: the levels until now (-1: none yet) and ``movable``: (n,) which entities may leave their communities;
    both or none. What was divided stays divided in the same way, but for the entities that may move.
    """
    levels = [labels]
    while large := [rows for _, rows in groups(levels[-1]) if len(rows) > limit]:
        known = None if start is None or len(levels) >= len(start) else start[len(levels)]
        inner = np.full(graph.size, -1, np.int64)
        for rows, inside in zip(large, _inside(graph, levels[-1], large), strict=True):
            kept = None if known is None or movable is None else (known[rows], movable[rows])
            inner[rows] = inner.max() + 1 + _divided(inside, limit, method, relation_vectors, kept)
        levels.append(inner)
    return levels


def groups(labels: Indices) -> Iterator[tuple[int, Indices]]:
    """Each label but -1, with its positions in order."""
    order = np.argsort(labels, kind="stable")
    found, begins = np.unique(labels[order], return_index=True)
    for label, rows in zip(found.tolist(), np.split(order, begins[1:]), strict=False):
        if label >= 0:
            yield label, rows


def _inside(graph: EntityGraph, labels: Indices, chosen: list[Indices]) -> Iterator[EntityGraph]:
    """The graph inside each of the ``chosen`` communities; statements are looked through once for all of them."""
    outer = labels[graph.heads]
    within = (graph.tails < 0) | (labels[graph.tails] == outer)
    order = np.flatnonzero(within)[np.argsort(outer[within], kind="stable")]
    sorted_labels = outer[order]
    places = np.full(graph.size, -1, np.int64)
    for rows in chosen:
        label = labels[rows[0]]
        begin, end = np.searchsorted(sorted_labels, [label, label + 1])
        statements = order[begin:end]
        places[rows] = np.arange(len(rows))
        tails = graph.tails[statements]
        yield EntityGraph(
            ids=[graph.ids[row] for row in rows],
            names=[graph.names[row] for row in rows],
            types=[graph.types[row] for row in rows],
            vectors=graph.vectors[rows],
            heads=places[graph.heads[statements]],
            tails=np.where(tails < 0, -1, places[tails]),
            relations=graph.relations[statements],
            relation_names=graph.relation_names,
        )


def _divided(
    graph: EntityGraph, limit: int, method: str, relation_vectors: Floats | None, kept: tuple[Indices, Bools] | None
) -> Indices:
    """(n,) at least two parts 0 .. k-1 of a graph that is one community."""
    start, movable = kept if kept is not None and _is_division(kept[0]) else (None, None)
    if start is not None and movable is not None and not (movable | (start < 0)).any():
        return numbered(start)
    parts = partition(graph, method, relation_vectors=relation_vectors, start=start, movable=movable)
    return parts if _is_division(parts) else _halved(graph.vectors, limit)


def _is_division(parts: Indices) -> bool:
    """Whether there are several parts, and not so many that most hold a single entity."""
    count = len(np.unique(parts[parts >= 0]))
    return 1 < count <= len(parts) // 2


def _halved(vectors: Floats, limit: int) -> Indices:
    """(n,) parts of at most ``limit``: halves along the direction in which the vectors differ most, halved again."""
    parts = np.zeros(len(vectors), np.int64)
    while True:
        large = [rows for _, rows in groups(parts) if len(rows) > limit]
        if not large:
            return numbered(parts)
        with threadpool_limits(1, "blas"):  # threads wait for each other longer than they work on so little
            for rows in large:
                centred = vectors[rows] - vectors[rows].mean(axis=0)
                last = [centred.shape[1] - 1] * 2  # the first principal direction alone takes an eighth of the time
                direction = linalg.eigh(centred.T @ centred, subset_by_index=last)[1][:, 0]
                direction *= np.sign(direction[np.abs(direction).argmax()]) or 1  # as its largest part
                order = np.argsort((centred @ direction).round(5), kind="stable")
                parts[rows[order[len(rows) // 2 :]]] = parts.max() + 1


KEYWORDS = 5
"""Keywords of a community: its members with the highest scores (paper, section 3.2), of different names: none is part
of another."""


@dataclass(frozen=True, slots=True, eq=False)
class Community:
    """One community. ``members``: positions, the centre first, then by ``scores``, which fall; ``parent``: an id.

    ``id`` follows from the depth and the members: the same members are the same community, whenever it was found.
    """

    id: str
    depth: int
    parent: str | None
    members: Indices
    scores: Floats

    @property
    def size(self) -> int:
        """How many entities are in it."""
        return len(self.members)

    def keywords(self, graph: EntityGraph) -> dict[str, tuple[int, float]]:
        """Position and score of the entities that stand for it, by the keywords' ids; none for one that is alone."""
        if self.size < 2:
            return {}
        found: dict[str, tuple[int, float]] = {}
        taken: list[str] = []
        for each, score in zip(self.members.tolist(), self.scores.tolist(), strict=True):
            name = f" {stem_of(graph.names[each])} "
            if len(found) == KEYWORDS:
                break
            if not any(name in other or other in name for other in taken):
                taken.append(name)
                found[node_id("keyword", self.id, graph.ids[each])] = each, round(score, 4)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """All communities, parents before their parts. ``leaves``: (n,) of each entity the position of its deepest one.

    ``scores``: (n,) of each entity in that one.
    """

    communities: list[Community]
    leaves: Indices
    scores: Floats


def tree_of(graph: EntityGraph, levels: Sequence[Indices]) -> Tree:
    """The tree of ``levels``: for each depth (n,) communities, -1 where the one above is not divided."""
    communities: list[Community] = []
    leaves = np.zeros(graph.size, np.int64)
    scores = np.zeros(graph.size, np.float32)
    above = np.full(graph.size, -1, np.int64)
    for depth, labels in enumerate(levels):
        phi, groups = _ranked(graph, labels, above)
        found = np.full(graph.size, -1, np.int64)
        for members in groups:
            parent = communities[above[members[0]]].id if depth else None
            identity = node_id("community", depth, *(graph.ids[member] for member in np.sort(members)))
            found[members] = len(communities)
            communities.append(Community(identity, depth, parent, members, phi[members]))
        inside = found >= 0
        leaves[inside], scores[inside] = found[inside], phi[inside]
        above = found
    return Tree(communities, leaves, scores)


def _ranked(graph: EntityGraph, labels: Indices, above: Indices) -> tuple[Floats, list[Indices]]:
    """The scores of all entities, and the members of each community of one depth, the best first."""
    inside = labels >= 0
    # Those whose community is not divided here are scored with it, and then left out: scores want whole partitions.
    _, whole = np.unique(np.where(inside, labels, labels.max(initial=-1) + 2 + above), return_inverse=True)
    found = member_scores(graph, whole)
    phi = found.phi.round(4)
    is_center = np.zeros(graph.size, np.bool_)
    is_center[found.centers] = True
    chosen = np.flatnonzero(inside)
    order = chosen[np.lexsort((chosen, -phi[chosen], ~is_center[chosen], labels[chosen]))]
    cuts = np.flatnonzero(np.diff(labels[order])) + 1
    return phi, np.split(order, cuts) if len(order) else []
