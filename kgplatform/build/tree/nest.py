"""Communities within communities: one with more members than a reader can use is divided again inside.

levels = nest(graph, partition(graph))
levels[0][5]          # the community of entity 5 at the top
levels[1][5]          # the one inside it; -1 if the one at the top was not divided
leaves(levels)[5]     # the innermost one, whatever its depth
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kgplatform.build.tree.entity_graph import EntityGraph, Floats, Indices
from kgplatform.build.tree.methods import DEFAULT, Bools, numbered, partition

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


def leaves(levels: Sequence[Indices]) -> Indices:
    """(n,) the innermost community of each entity, 0 .. k-1 over all levels."""
    found, count = levels[0].copy(), 0
    for level in levels:
        inside = level >= 0
        found[inside] = level[inside] + count
        count += int(level.max(initial=-1)) + 1
    return numbered(found)


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
        for rows in large:
            order = np.argsort(_main_places(vectors[rows]), kind="stable")
            parts[rows[order[len(rows) // 2 :]]] = parts.max() + 1


def _main_places(vectors: Floats) -> Floats:
    """(n,) where the rows lie along their first principal direction; its sign is that of its largest part."""
    centred = vectors - vectors.mean(axis=0)
    direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    direction *= np.sign(direction[np.abs(direction).argmax()]) or 1
    return np.asarray((centred @ direction).round(5))
