"""Discs inside of discs: where the communities of a map lie, so that linked ones are near and none overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_GOLDEN = np.pi * (3 - 5**0.5)
_GAP = 0.06
"""What lies between two discs at least, as a part of the smaller one's radius."""
_MIDDLE = 1.5
"""How much a disc is drawn to the middle of those that lie; those that it is linked with draw it with 1 in all."""
_TOGETHER = 10
"""Things that are taken together at most."""


def pack(radii: Floats, links: Floats) -> tuple[Floats, float]:
    """(k, 2) centres of discs that do not overlap, and the radius around (0, 0) that holds them all. For few discs.

    ``radii``: (k,). ``links``: (k, k), symmetric: how much two discs want to be near each other. One disc after the
    other is laid so that it touches two that lie already, where it is nearest to those that it is linked with: the
    largest first, then always the one that is most linked with what lies there.
    """
    order = _sequence(radii, links)
    places = np.zeros((len(radii), 2))
    for count, disc in enumerate(order[1:], start=1):
        laid = order[:count]
        apart = radii[laid] + radii[disc] + _GAP * np.minimum(radii[laid], radii[disc])
        spots = _free_spots(places[laid], apart)
        wanted = links[disc, laid]
        pull = wanted / total if (total := wanted.sum()) > 0 else wanted
        middle = np.average(places[laid], axis=0, weights=radii[laid] ** 2)
        far = _distances(spots, places[laid]) @ pull + _MIDDLE * _lengths(spots - middle)
        places[disc] = spots[np.round(far, 6).argmin()]
    return _centred(places, radii)


def _sequence(radii: Floats, links: Floats) -> list[int]:
    """The largest disc, then always the one that is most linked with those before it, large ones before small ones."""
    order = [int(radii.argmax())]
    share, drawn = links / (links.max() or 1), np.zeros(len(radii))
    for _ in range(len(radii) - 1):
        drawn += share[order[-1]]
        score = np.round(drawn + radii / radii.max(), 9)
        score[order] = -1
        order.append(int(score.argmax()))
    return order


def _free_spots(places: Floats, apart: Floats) -> Floats:
    """(s, 2) where a disc touches two of those that lie at ``places`` and overlaps none. ``apart``: (k,) how far its
    middle has to be from theirs."""
    if len(places) == 1:
        return np.asarray(places + [[apart[0], 0.0]])
    one, two = np.triu_indices(len(places), 1)
    line = places[two] - places[one]
    length = _lengths(line)
    along = (length**2 + apart[one] ** 2 - apart[two] ** 2) / (2 * length)
    aside = apart[one] ** 2 - along**2
    near = (aside >= 0) & (length > 0)
    unit = line[near] / length[near, None]
    foot = places[one[near]] + unit * along[near, None]
    out = np.stack([-unit[:, 1], unit[:, 0]], axis=1) * np.sqrt(aside[near])[:, None]
    spots = np.concatenate([foot + out, foot - out])
    free = (_distances(spots, places) >= apart - 1e-6 * apart.max()).all(axis=1)
    return np.asarray(spots[free]) if free.any() else _outside(places, apart)


def _outside(places: Floats, apart: Floats) -> Floats:
    """(4, 2) spots that touch the outermost disc to each side. They are free, also for what slips through all gaps."""
    sides = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    last = (places @ sides.T + apart[:, None]).argmax(axis=0)
    return np.asarray(places[last] + sides * apart[last, None])


def _distances(ones: Floats, others: Floats) -> Floats:
    return _lengths(ones[:, None] - others)


def _lengths(vectors: Floats) -> Floats:
    return np.asarray(np.hypot(vectors[..., 0], vectors[..., 1]))


def _centred(places: Floats, radii: Floats) -> tuple[Floats, float]:
    """The same places around the middle of a small circle that holds all discs (Bădoiu and Clarkson, 2003)."""
    middle = np.average(places, axis=0, weights=radii**2)
    for step in range(1, 60):
        reach = _lengths(places - middle) + radii
        middle = middle + (places[reach.argmax()] - middle) / (step + 1)
    moved = places - middle
    return moved, float((_lengths(moved) + radii).max())


def spiral(areas: Floats, begin: float = 0.0) -> Floats:
    """(n, 2) places of things of these ``areas`` around (0, 0), the first at the distance ``begin``, as the seeds of a
    sunflower lie (Vogel, 1979)."""
    reach = np.sqrt(begin**2 + (np.cumsum(areas) - areas / 2 - areas[:1] / 2) / np.pi)
    turn = np.arange(len(areas)) * _GOLDEN
    return np.stack([reach * np.cos(turn), reach * np.sin(turn)], axis=1)


def by_group(groups: Indices, count: int) -> Sequence[Indices]:
    """For each of ``count`` groups the positions of those in it, in order."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.cumsum(np.bincount(groups, minlength=count))[:-1]) if count else []


def grouped(size: int, ends: Indices, weights: Floats, rounds: int = 4) -> Indices:
    """(size,) groups 0 .. k-1 of things that links (m, 2) join: those with most links take their neighbours, then each
    goes where most of its links lead, a few times over (Raghavan et al., 2007, without its chance)."""
    heads, tails = np.concatenate([ends, ends[:, ::-1]]).T
    both = np.concatenate([weights, weights])
    labels = _stars(size, heads, tails, np.bincount(heads, both, minlength=size).astype(np.float64))
    for _ in range(rounds):
        labels = _where_links_lead(labels, heads, tails, both)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def taken_together(size: int, ends: Indices, weights: Floats) -> Indices:
    """(size,) groups 0 .. k-1 of at most 10 things, those that belong together most first: by the links between two
    as a share of all links that they have. What finds only full groups, as most of a star does, goes with its like."""
    total = np.bincount(ends.ravel(), np.repeat(weights, 2), minlength=size)
    near = weights / np.sqrt(total[ends[:, 0]] * total[ends[:, 1]])
    groups: list[list[int]] = [[each] for each in range(size)]
    ordered = ends[np.argsort(-near.round(9), kind="stable")].tolist()
    for one, other in ordered:
        mine, theirs = groups[one], groups[other]
        if mine is not theirs and len(mine) + len(theirs) <= _TOGETHER:
            mine += theirs
            for each in theirs:
                groups[each] = mine
    for alone in _alone_beside(groups, ordered):
        for first in range(0, len(alone), _TOGETHER):
            part = alone[first : first + _TOGETHER]
            for each in part:
                groups[each] = part
    return np.unique([group[0] for group in groups], return_inverse=True)[1].astype(np.int64)


def _alone_beside(groups: Sequence[Sequence[int]], pairs: Iterable[tuple[int, int]]) -> Iterable[list[int]]:
    """The things that are groups of their own and have links: those together that the same group draws most."""
    beside: dict[int, list[int]] = {}
    known: set[int] = set()
    for pair in pairs:
        for thing, other in (pair, pair[::-1]):
            if len(groups[thing]) == 1 and thing not in known:
                known.add(thing)
                beside.setdefault(groups[other][0], []).append(thing)
    return beside.values()


def _stars(size: int, heads: Indices, tails: Indices, strength: Floats) -> Indices:
    """(size,) the strongest thing takes its neighbours, then the strongest of those that are left."""
    neighbours = [each.tolist() for each in _split(tails, heads, size)]
    labels = [-1] * size
    for thing in np.argsort(-strength, kind="stable").tolist():
        if labels[thing] < 0:
            labels[thing] = thing
            for other in neighbours[thing]:
                if labels[other] < 0:
                    labels[other] = thing
    return np.array(labels, np.int64)


def _split(values: Indices, groups: Indices, count: int) -> list[Indices]:
    return [values[rows] for rows in by_group(groups, count)]


def _where_links_lead(labels: Indices, heads: Indices, tails: Indices, weights: Floats) -> Indices:
    """(n,) of each thing the group that most of its links lead to; in doubt its own, else the first."""
    votes, where = np.unique(heads * len(labels) + labels[tails], return_inverse=True)
    count = np.bincount(where, weights, minlength=len(votes))
    voters, wanted = np.divmod(votes, len(labels))
    order = np.lexsort((wanted, wanted != labels[voters], -count, voters))
    first = order[np.unique(voters[order], return_index=True)[1]]
    moved: Indices = labels.copy()
    moved[voters[first]] = wanted[first]
    return moved
