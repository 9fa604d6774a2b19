"""The map of a graph: which entities are joined, and which discs, one inside of the other, hold them.

A disc is a community. Entities that no community holds are put into groups by their relations. Where many discs lie
side by side, those that relations join are taken together, in discs without a name. Where all of it lies is worked
out by the page that draws it (``explorer/graph/map.js``). The same graph has the same map.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgplatform.explore.info import GraphMap, MapDisc

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_EDGES = 5
"""Relations for each entity that are drawn at most, the most often stated ones."""
_FEW = 60
"""The most items side by side in one disc; larger discs are subdivided along their links."""


def map_of(entities: Sequence[Any], communities: Sequence[Any], nodes: int, relations: int) -> GraphMap:
    """The map of ``entities``, [id, name, type, facts, community, others, beside], the most connected first; each of
    others and beside: [id, times].
    ``communities``: [id, name, parent, depth], outer ones first. ``nodes``, ``relations``: of the whole graph."""
    links, together, times = _joined(entities)
    nest = _Nest(links, np.full(len(entities), -1, np.int64))
    nest.add_tree(entities, communities)
    nest.add_groups(np.flatnonzero(nest.inside < 0), -1, [str(entity[1]) for entity in entities])
    # Wherever many discs lie side by side, those that links join are put into further ones.
    beside: dict[int, list[int]] = defaultdict(list)
    for disc, around in enumerate(nest.around):
        beside[around].append(disc)
    for around, discs in beside.items():
        nest.divide(around, discs)
    columns = list(zip(*(entity[:5] for entity in entities), strict=True)) or [()] * 5
    return GraphMap(
        ids=columns[0],
        names=columns[1],
        kinds=("Entity",) * len(entities),
        types=columns[2],
        sizes=columns[3],
        communities=columns[4],
        inside=tuple(nest.inside.tolist()),
        sources=tuple(links.ends[:, 0].tolist()),
        targets=tuple(links.ends[:, 1].tolist()),
        total_nodes=nodes,
        total_edges=relations,
        together=together,
        times=times,
        discs=tuple(map(MapDisc, nest.ids, nest.names, nest.around)),
    )


@dataclass(frozen=True, slots=True)
class _Links:
    """What joins things, numbered from 0: ``ends`` (m, 2), two things that differ, and ``weights`` (m,)."""

    ends: Indices
    weights: Floats

    def between(self, labels: Indices) -> _Links:
        """The links between groups, given the group of each thing (-1: of none)."""
        ends = labels[self.ends]
        apart = (ends[:, 0] != ends[:, 1]) & (ends.min(axis=1) >= 0)
        return _Links(ends[apart], self.weights[apart])

    def parts(self, size: int) -> list[Indices]:
        """The parts into which ``size`` things fall by their links, the first thing's first: greedily by modularity
        (Clauset, Newman and Moore, 2004), which is fast and leaves nothing to chance."""
        import igraph  # type: ignore[import-untyped]  # publishes no types; few maps need it, and it takes long to import

        graph = igraph.Graph(n=size, edges=self.ends, edge_attrs={"weight": self.weights.tolist()})
        graph.simplify(combine_edges="sum")
        found = graph.community_fastgreedy(weights="weight").as_clustering().membership
        order = np.argsort(found, kind="stable")
        return sorted(np.split(order, np.cumsum(np.bincount(found))[:-1]), key=lambda part: int(part[0]))


def _joined(entities: Sequence[Any]) -> tuple[_Links, int, tuple[Any, ...]]:
    """Which entities are joined, and how many facts do so, or sentences that name both where no fact joins one of them;
    the most often joined where there are too many. How many are joined by sentences alone; and the times of lines."""
    rows = {each[0]: row for row, each in enumerate(entities)}
    found = [
        (row, rows[other], times)
        for row, each in enumerate(entities)
        for other, times in (*each[5], *each[6])
        if other in rows
    ]
    named = {(row, rows[other]) for row, each in enumerate(entities) for other, _ in each[6] if other in rows}
    ends = np.sort(np.array([each[:2] for each in found], np.int64).reshape(-1, 2), axis=1)
    pairs, counts = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0, return_counts=True)
    best = np.sort(np.argsort(-counts, kind="stable")[: _EDGES * len(entities)])
    together = sum((one, two) in named or (two, one) in named for one, two in pairs[best].tolist())
    said: dict[tuple[int, int], set[tuple[str | None, str | None]]] = defaultdict(set)
    for one, two, times in found:
        said[min(one, two), max(one, two)].update(map(tuple, times))
    lines = enumerate(said[one, two] for one, two in pairs[best].tolist())
    timed = tuple((at, tuple(sorted(each, key=str))) for at, each in lines if any(map(any, each)))
    return _Links(pairs[best], counts[best].astype(np.float64)), together, timed


@dataclass(slots=True)
class _Nest:
    """Discs by their numbers. ``inside``: (n,) the innermost disc of each entity. ``around``: of each disc the one that
    it lies in. -1 is none."""

    links: _Links
    inside: Indices
    ids: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    around: list[int] = field(default_factory=list)

    def add(self, id_: str, name: str, around: int) -> int:
        self.ids.append(id_)
        self.names.append(name)
        self.around.append(around)
        return len(self.ids) - 1

    def add_tree(self, entities: Sequence[Any], communities: Sequence[Any]) -> None:
        """The communities; none without entities of the map."""
        parents = {id_: parent for id_, _, parent, _ in communities}
        shown: set[str] = set()
        for community in {entity[4] for entity in entities}:
            while community in parents and community not in shown:
                shown.add(community)
                community = parents[community]
        numbers: dict[str | None, int] = {}
        for id_, name, parent, _ in communities:
            if id_ in shown:
                numbers[id_] = self.add(id_, name, numbers.get(parent, -1))
        self.inside[:] = [numbers.get(entity[4], -1) for entity in entities]

    def add_groups(self, rows: Indices, around: int, names: Sequence[str]) -> None:
        """Groups among the entities ``rows``, called by the most connected of each, and groups inside of large ones."""
        labels = np.full(len(self.inside), -1, np.int64)
        labels[rows] = np.arange(len(rows))
        parts = [rows[part] for part in self.links.between(labels).parts(len(rows))] if len(rows) else []
        for part in parts:
            disc = around
            if len(part) > 1 and len(parts) > 1:
                disc = self.add("", names[part[0]], around)
            self.inside[part] = disc
            if len(part) > _FEW and len(parts) > 1:
                self.add_groups(part, disc, names)

    def divide(self, around: int, discs: Sequence[int]) -> None:
        """Put those of ``discs``, all that lie in ``around``, that links join into further ones, if they are many."""
        if len(discs) <= _FEW:
            return
        owners = {-1: -1} | {disc: place for place, disc in enumerate(discs)}

        def owner(disc: int) -> int:  # a group that was made later holds discs before it: so upwards, not in order
            if disc not in owners:
                owners[disc] = owner(self.around[disc])
            return owners[disc]

        labels = np.array([owner(disc) for disc in self.inside.tolist()], np.int64)
        for part in self.links.between(labels).parts(len(discs)):
            if 1 < len(part) < len(discs):
                group = self.add("", "", around)
                members = [discs[each] for each in part.tolist()]
                for disc in members:
                    self.around[disc] = group
                self.divide(group, members)
