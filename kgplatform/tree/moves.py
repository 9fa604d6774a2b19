"""Where a few entities of a large graph belong at the top of its tree, by what is around them.

The same objective as for the whole graph (``multiplex``): every community stays as it is and counts as one node, and
only the movers leave theirs. Their neighbours in meaning come from the index of vectors.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kgplatform.neo4j.store import Store
from kgplatform.query import batches
from kgplatform.tree import multiplex
from kgplatform.tree.multiplex import Edges
from kgplatform.tree.paper import RELATION_WEIGHT
from kgplatform.tree.partition import SMALLEST

_CANDIDATES = 30
"""Nearest entities that the index is asked for, so that most of the ten nearest are among them."""
_BATCH = 100


@dataclass(frozen=True, slots=True)
class Mover:
    """An entity that may move. ``joined``: the other end of each statement about it."""

    id: str
    joined: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Moves:
    """``tops``: by mover, the community at the top that it belongs to; one that is not stored is new.

    ``touched``: the stored ones at the top that movers were in, or are in now, or could be joined to; with their sizes.
    """

    tops: dict[str, str]
    touched: dict[str, int]


Pairs = dict[tuple[str, str], float]


def move(store: Store, movers: Sequence[Mover], size: int) -> Moves:
    """Move ``movers`` of a graph of ``size`` entities to the communities at the top where they are best by CPM."""
    if not movers:
        return Moves({}, {})
    (graph,) = store.read("tree/joining_facts")
    pairs = _weighed(_joined(movers), _alike(store, movers), graph["facts"], size, len(movers))
    ids = {each.id for each in movers}
    found = {row["id"]: row for some in batches(sorted(ids.union(*pairs))) for row in store.read("tree/tops", ids=some)}
    sizes = {row["top"]: row["size"] for row in found.values()}
    before = {id_: row["top"] for id_, row in found.items()}
    tops = _settled(sorted(ids), before, pairs, sizes, multiplex.resolution(size))
    touched = {before[id_] for id_ in ids if id_ in before} | set(tops.values()) | _possible(tops, before, pairs)
    return Moves(tops, {top: sizes[top] for top in touched if top in sizes})


def _joined(movers: Sequence[Mover]) -> Pairs:
    """How many statements join two entities, one of them a mover."""
    return {_pair(each.id, other): times for each in movers for other, times in Counter(each.joined).items()}


def _alike(store: Store, movers: Sequence[Mover]) -> Pairs:
    """The cosines of movers and those that mean most nearly the same, if they are positive."""
    return {
        _pair(row["id"], other): cosine
        for some in batches([each.id for each in movers], _BATCH)
        for row in store.read("tree/alike", ids=some, candidates=_CANDIDATES, count=multiplex.COUNT)
        for other, cosine in row["others"]
        if cosine > 0
    }


def _pair(one: str, other: str) -> tuple[str, str]:
    return min(one, other), max(one, other)


def _weighed(joined: Pairs, alike: Pairs, statements: int, size: int, movers: int) -> Pairs:
    """Both perceptions as one layer, each scaled so that an entity's edges weigh 1 in the mean.

    Of statements that is known for the whole graph, which has ``size`` entities and so many ``statements`` that join
    two; of meaning it is what the movers have, since nobody counts all neighbours.
    """
    weights = {"joined": RELATION_WEIGHT if statements else 0, "alike": 1 - RELATION_WEIGHT if alike else 0}
    scales = {"joined": size / (2 * max(statements, 1)), "alike": movers / (sum(alike.values()) or 1)}
    weighed: Pairs = defaultdict(float)
    for layer, pairs in (("joined", joined), ("alike", alike)):
        for pair, value in pairs.items():
            weighed[pair] += value * scales[layer] * weights[layer] / sum(weights.values())
    return weighed


def _settled(
    ids: Sequence[str], before: Mapping[str, str], pairs: Pairs, sizes: Mapping[str, int], cost: float
) -> dict[str, str]:
    """By mover of ``ids``, its community at the top now; a name of its own for each new one."""
    tops = sorted(sizes)
    place = {top: number for number, top in enumerate(tops)}
    node = {id_: len(tops) + number for number, id_ in enumerate(ids)}
    total = len(tops) + len(ids)
    weights: dict[tuple[int, int], float] = defaultdict(float)
    for pair, weight in pairs.items():
        met = [node[id_] if id_ in node else place[before[id_]] for id_ in pair if id_ in node or id_ in before]
        if len(met) == 2:
            weights[min(met), max(met)] += weight
    moving = Counter(before[id_] for id_ in ids if id_ in before)
    heavy = [max(0, sizes[top] - moving[top]) for top in tops] + [1] * len(ids)
    start = [*range(len(tops)), *(place[before[id_]] if id_ in before else node[id_] for id_ in ids)]
    ends = np.array(sorted(weights), np.int64).reshape(-1, 2)
    edges = Edges(ends[:, 0], ends[:, 1], np.array([weights[pair] for pair in sorted(weights)], np.float64))
    found = multiplex.moved_nodes(edges, np.array(heavy), np.array(start), np.arange(total) < len(tops), cost).tolist()
    names = dict(zip(found, tops, strict=False))
    return {id_: names.get(found[node[id_]], f"new {found[node[id_]]}") for id_ in ids}


def _possible(tops: Mapping[str, str], before: Mapping[str, str], pairs: Pairs) -> set[str]:
    """Where those that came to stand almost alone could be joined: the communities of all that is around them."""
    few = {top for top, members in Counter(tops.values()).items() if members < SMALLEST}
    alone = {id_ for id_, top in tops.items() if top in few and top not in before.values()}
    around = {id_ for pair in pairs if not alone.isdisjoint(pair) for id_ in pair}
    return {tops.get(id_) or before[id_] for id_ in around if id_ in tops or id_ in before}
