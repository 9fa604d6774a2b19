"""The map of a graph: entities as dots in discs, which are communities, and discs inside of the discs around them.

Members lie as the seeds of a sunflower, the most connected in the middle; discs by ``look_discs.pack``. Without a tree
the groups are found here, around the most connected entities. All of it is arithmetic without chance: the same graph
has the same map.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kgplatform.look_discs import Floats, Indices, by_group, grouped, pack, spiral, taken_together
from kgplatform.look_records import GraphMap, MapDisc

HALF = 1000.0
"""Half the width of a map."""

_EDGES = 5
"""Relations for each entity that are drawn at most, the most often stated ones."""
_FEW = 60
"""Discs that are laid side by side; of more, those that are linked are taken together first."""
_BORDER = 1.05
_LOOSE = 1.7
"""How much room a disc has that is linked with no other, as a multiple of its area."""


@dataclass(eq=False)
class _Disc:
    """A community: ``inner`` discs, or else dots. ``rows``: all entities in it. ``place``: from the middle of what is
    around it."""

    id: str
    name: str
    rows: Indices
    inner: list[_Disc] = field(default_factory=list)
    place: Floats = field(default_factory=lambda: np.zeros(2))
    radius: float = 0.0


@dataclass(frozen=True)
class _Links:
    """What joins things, from 0 on: ``ends`` (m, 2), of which the first is the smaller, and ``weights`` (m,)."""

    ends: Indices
    weights: Floats

    def of(self, chosen: Indices) -> _Links:
        return _Links(self.ends[chosen], self.weights[chosen])

    def between(self, labels: Indices) -> _Links:
        """The links between groups, given the group of each thing, added up."""
        ends = np.sort(labels[self.ends], axis=1)
        apart = ends[:, 0] != ends[:, 1]
        return _added_up(ends[apart], self.weights[apart])


def lay_out(entities: Sequence[Any], communities: Sequence[Any], nodes: int, relations: int) -> GraphMap:
    """The map of ``entities``, [id, name, type, facts, community, others], the most connected first.

    ``communities``: [id, name, parent, depth], outer ones first. ``nodes``, ``relations``: of the whole graph.
    """
    links = _joined(entities)
    discs = _of_tree(entities, communities)
    placed = np.zeros(len(entities), np.bool_)
    for disc in discs:
        placed[disc.rows] = True
    discs += _of_groups(entities, np.flatnonzero(~placed), links)
    areas = 1 + np.log2([1 + each[3] for each in entities]) if entities else np.zeros(0)
    scale = HALF / (_arrange(discs, links, areas) or 1)
    places = np.zeros((len(entities), 2))
    circles = list(_drawn(discs, np.zeros(2), scale, 0, areas, places))
    columns = list(zip(*(each[:5] for each in entities), strict=True)) or [()] * 5
    return GraphMap(
        ids=columns[0],
        names=columns[1],
        kinds=("Entity",) * len(entities),
        types=columns[2],
        x=tuple(places[:, 0].round(2).tolist()),
        y=tuple(places[:, 1].round(2).tolist()),
        sizes=columns[3],
        communities=columns[4],
        sources=tuple(links.ends[:, 0].tolist()),
        targets=tuple(links.ends[:, 1].tolist()),
        total_nodes=nodes,
        total_edges=relations,
        discs=tuple(circles),
    )


def _joined(entities: Sequence[Any]) -> _Links:
    """Which entities are joined, and how many facts do so; the most often joined where there are too many."""
    rows = {each[0]: row for row, each in enumerate(entities)}
    found = [(row, rows[other]) for row, each in enumerate(entities) for other in each[5] if other in rows]
    ends = np.sort(np.array(found, np.int64).reshape(-1, 2), axis=1)
    ends = ends[ends[:, 0] != ends[:, 1]]
    links = _added_up(ends, np.ones(len(ends)))
    best = np.argsort(-links.weights, kind="stable")[: _EDGES * len(entities)]
    return links.of(np.sort(best))


def _added_up(ends: Indices, weights: Floats) -> _Links:
    """Each pair once, in order."""
    pairs, where = np.unique(ends, axis=0, return_inverse=True)
    return _Links(pairs.reshape(-1, 2), np.bincount(where.ravel(), weights, minlength=len(pairs)).astype(np.float64))


def _of_tree(entities: Sequence[Any], communities: Sequence[Any]) -> list[_Disc]:
    """The outermost communities, each with those inside it; none without entities of the map."""
    members: dict[str, list[int]] = {}
    for row, each in enumerate(entities):
        members.setdefault(each[4], []).append(row)
    inside: dict[str | None, list[_Disc]] = {}
    for id_, name, parent, _ in reversed(communities):
        inner, own = inside.pop(id_, [])[::-1], np.array(members.get(id_, []), np.int64)
        if inner and len(own):  # entities that came after the community was divided
            inner.append(_Disc("", name, own))
        if inner or len(own):
            rows = np.concatenate([each.rows for each in inner]) if inner else own
            inside.setdefault(parent, []).append(_Disc(id_, name, rows, inner))
    return inside.get(None, [])[::-1]


def _of_groups(entities: Sequence[Any], rows: Indices, links: _Links) -> list[_Disc]:
    """Groups among the entities ``rows``, which no community holds, called by the most connected of each."""
    labels = np.full(len(entities), -1, np.int64)
    labels[rows] = np.arange(len(rows))
    ends = labels[links.ends]
    inside = (ends >= 0).all(axis=1)
    groups = grouped(len(rows), ends[inside], links.weights[inside])
    found = (rows[each] for each in by_group(groups, int(groups.max(initial=-1)) + 1))
    return [_Disc("", str(entities[each[0]][1]), each) for each in found]


# ---------------------------------------------------------------------------------------------------------- the places


def _arrange(discs: Sequence[_Disc], links: _Links, areas: Floats) -> float:
    """Place ``discs`` around (0, 0), and all that is in them; returns the radius of the whole."""
    labels = np.zeros(len(areas), np.int64)
    for number, disc in enumerate(discs):
        labels[disc.rows] = number
    ends = labels[links.ends]
    within = np.flatnonzero(ends[:, 0] == ends[:, 1])
    for disc, those in zip(discs, by_group(ends[within, 0], len(discs)), strict=True):
        if disc.inner:
            disc.radius = _BORDER * _arrange(disc.inner, links.of(within[those]), areas)
        else:
            disc.radius = float(np.sqrt(areas[disc.rows].sum() / np.pi) + np.sqrt(areas[disc.rows].max()) / 2)
    return _side_by_side(discs, links.between(labels))


def _side_by_side(discs: Sequence[_Disc], links: _Links) -> float:
    """Place discs whose radii are known; ``links`` are between their numbers. Returns the radius of the whole."""
    if len(discs) <= _FEW:
        return _packed(discs, links)
    linked = np.unique(links.ends)
    if len(linked) < len(discs):
        return _around(discs, links, linked)
    groups = taken_together(len(discs), links.ends, links.weights)
    return _in_parts(discs, links, groups, by_group(groups, int(groups.max()) + 1))


def _packed(discs: Sequence[_Disc], links: _Links) -> float:
    if len(discs) < 2:
        return sum(disc.radius for disc in discs)
    wanted = np.zeros((len(discs), len(discs)))
    wanted[links.ends[:, 0], links.ends[:, 1]] = links.weights
    places, radius = pack(np.array([disc.radius for disc in discs]), wanted + wanted.T)
    for disc, place in zip(discs, places, strict=True):
        disc.place = place
    return radius


def _around(discs: Sequence[_Disc], links: _Links, linked: Indices) -> float:
    """The ``linked`` discs in the middle, and those that nothing joins to others around them."""
    numbers = np.full(len(discs), -1, np.int64)
    numbers[linked] = np.arange(len(linked))
    radius = _side_by_side([discs[each] for each in linked], _Links(numbers[links.ends], links.weights))
    return _spread([disc for disc, number in zip(discs, numbers, strict=True) if number < 0], radius)


def _spread(discs: Sequence[_Disc], begin: float) -> float:
    """Place discs on a spiral from the distance ``begin`` on, the largest first."""
    ordered = sorted(discs, key=lambda disc: -disc.radius)
    radii = np.array([disc.radius for disc in ordered])
    places = spiral(_LOOSE * np.pi * radii**2, begin + radii[0])
    for disc, place in zip(ordered, places, strict=True):
        disc.place = place
    return float((np.linalg.norm(places, axis=1) + radii).max())


def _in_parts(discs: Sequence[_Disc], links: _Links, groups: Indices, parts: Sequence[Indices]) -> float:
    """Place the discs of each group, and then the groups as if they were discs."""
    ends = groups[links.ends]
    numbers = np.zeros(len(discs), np.int64)
    around: list[_Disc] = []
    for number, part in enumerate(parts):
        numbers[part] = np.arange(len(part))
        inside = links.of(np.flatnonzero((ends == number).all(axis=1)))
        inner = [discs[each] for each in part]
        radius = _side_by_side(inner, _Links(numbers[inside.ends], inside.weights))
        around.append(_Disc("", "", part, inner, radius=radius))
    radius = _side_by_side(around, links.between(groups))
    for outer in around:
        for disc in outer.inner:
            disc.place = disc.place + outer.place
    return radius


def _drawn(
    discs: Sequence[_Disc], middle: Floats, scale: float, depth: int, areas: Floats, places: Floats
) -> Iterator[MapDisc]:
    """The discs as they are drawn, outer ones first; the places of their entities are written into ``places``."""
    for disc in discs:
        at = middle + disc.place * scale
        if disc.id or len(disc.rows) > 1:
            x, y, radius = (round(float(number), 2) for number in (*at, disc.radius * scale))
            yield MapDisc(disc.id, disc.name, x, y, radius, depth)
        if disc.inner:
            yield from _drawn(disc.inner, at, scale, depth + 1, areas, places)
        else:
            rows = np.sort(disc.rows)
            places[rows] = at + scale * spiral(areas[rows])
