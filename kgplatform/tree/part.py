"""What a run at the tree looks at: the whole graph, or the communities that a change is in.

What has changed since the tree saw it is marked (``treeDue``). Where that is little of a large graph, an update reads
it, moves it, and reads those communities that something came to, left or changed in: its time follows the change, not
the graph. Their members are scored and divided as in a whole tree, since a community's score is made inside of it.

Where a few entities belong at the top is settled by what is around them (``move``), with the objective of the whole
graph (``multiplex``): every community stays as it is and counts as one node, and only the movers leave theirs. Their
neighbours in meaning come from the index of vectors.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kgplatform.errors import StoreError
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import Progress
from kgplatform.tree import multiplex
from kgplatform.tree.entity_graph import EntityGraph, Indices, signatures_of
from kgplatform.tree.multiplex import Edges
from kgplatform.tree.paper import RELATION_WEIGHT
from kgplatform.tree.partition import SMALLEST
from kgplatform.tree.stored_tree import (
    CHANGED,
    EntityColumns,
    StoredTree,
    stored_communities,
)

_CANDIDATES = 30
"""Nearest entities that the index is asked for, so that most of the ten nearest are among them."""
_MOVED_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Moves:
    """``tops``: by mover, the community at the top that it belongs to; one that is not stored is new.

    ``touched``: the stored ones at the top that movers were in, or are in now, or could be joined to; with their sizes.
    """

    tops: dict[str, str]
    touched: dict[str, int]


Pairs = dict[tuple[str, str], float]


def move(store: Store, rows: Sequence[Row], size: int) -> Moves:
    """Move the entities of ``rows`` (``tree/changed_entities``) in a graph of ``size`` entities to the communities at
    the top where they are best by CPM."""
    if not rows:
        return Moves({}, {})
    ids = sorted(row["id"] for row in rows)
    joined: Pairs = {}  # how many statements join two entities, one of them a mover
    for row in rows:
        others = Counter(end for side in ("said", "heard") for _, end in row[side] if end not in (None, row["id"]))
        joined |= {(min(row["id"], other), max(row["id"], other)): times for other, times in others.items()}
    alike = {  # the cosines of movers and those that mean most nearly the same
        (min(row["id"], other), max(row["id"], other)): cosine
        for some in batches(ids, _MOVED_AT_ONCE)
        for row in store.read("tree/alike", ids=some, candidates=_CANDIDATES, count=multiplex.COUNT)
        for other, cosine in row["others"]
        if cosine > 0
    }
    (graph,) = store.read("tree/joining_facts")
    # Both perceptions as one layer, each scaled so that an entity's edges weigh 1 in the mean. Of statements that is
    # known for the whole graph; of meaning it is what the movers have, since nobody counts all neighbours.
    statements = graph["facts"]  # that join two
    weights = {"joined": RELATION_WEIGHT if statements else 0, "alike": 1 - RELATION_WEIGHT if alike else 0}
    scales = {"joined": size / (2 * max(statements, 1)), "alike": len(rows) / (sum(alike.values()) or 1)}
    pairs: Pairs = defaultdict(float)
    for layer, found_pairs in (("joined", joined), ("alike", alike)):
        for pair, value in found_pairs.items():
            pairs[pair] += value * scales[layer] * weights[layer] / sum(weights.values())
    around = sorted({*ids}.union(*pairs))
    found = {row["id"]: row for some in batches(around) for row in store.read("tree/tops", ids=some)}
    sizes = {row["top"]: row["size"] for row in found.values()}
    before = {id_: row["top"] for id_, row in found.items()}
    tops = _settled(ids, before, pairs, sizes, multiplex.resolution(size))
    touched = {before[id_] for id_ in ids if id_ in before} | set(tops.values())
    # Where those that came to stand almost alone could be joined: the communities of all that is around them.
    few = {top for top, members in Counter(tops.values()).items() if members < SMALLEST}
    alone = {id_ for id_, top in tops.items() if top in few and top not in before.values()}
    near = {id_ for pair in pairs if not alone.isdisjoint(pair) for id_ in pair}
    touched |= {tops.get(id_) or before[id_] for id_ in near if id_ in tops or id_ in before}
    return Moves(tops, {top: sizes[top] for top in touched if top in sizes})


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


LARGE = 20_000
"""Entities from which an update may look at a part: a smaller graph is read whole in a second, with exact neighbours.
"""
_SHARE = 4
"""A part is at most one in so many of the entities: from there on the whole is as fast."""
_BATCH = 200


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What the tree has outside of a part: communities at each depth, keywords, communities that no model named."""

    depths: tuple[int, ...] = ()
    keywords: int = 0
    unnamed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The graph, or a part that holds whole communities, beside the tree that is stored.

    ``signed``: (n,) the signatures now. ``size``: entities of the whole graph. ``due_entities``, ``due_communities``:
    ids of what was marked when the reading began. ``labels``: (n,) the communities at the top, where they are known
    already; None where all are still to be found.
    """

    graph: EntityGraph
    stored: StoredTree
    signed: Indices
    size: int
    due_entities: Sequence[str]
    due_communities: Sequence[str]
    labels: Indices | None = None
    elsewhere: Elsewhere = Elsewhere()


@dataclass(frozen=True, slots=True)
class Due:
    """What is marked: entities that have changed, and communities that lost some, with those at the top above them."""

    entities: list[str]
    communities: list[str]
    tops: dict[str, int]


def read_part(store: Store, due: Due, size: int, counts: Row, progress: Progress) -> Part | None:
    """What has changed, moved to where it belongs, with the communities that this touches; None if they are too many.
    ``size``: entities of the graph. ``counts``: of the tree (``tree/counts``)."""
    most = size // _SHARE
    if size < LARGE or len(due.entities) > most:
        return None
    rows = _rows(store, "tree/changed_entities", ids=due.entities)
    signed = _signatures(list(rows.values())).tolist()
    changed = [row for row, now in zip(rows.values(), signed, strict=True) if row["signature"] != now]
    found = move(store, changed, size)
    touched = due.tops | found.touched
    if sum(touched.values()) > most:
        return None
    communities = stored_communities(
        row for some in batches(sorted(touched)) for row in store.read("tree/communities_inside", tops=some)
    )
    inside = _rows(store, "tree/entities_inside", tops=sorted(touched))
    inside |= {id_: rows[id_] for id_ in found.tops}
    progress("reading entities", len(inside), len(inside))
    members = [inside[id_] for id_ in sorted(inside)]
    ids = {row["id"] for row in members}
    columns = EntityColumns(len(members))  # what leads outside counts as a relation without another end
    columns.take(
        [
            row | {"facts": row["said"] + [[what, None] for what, who in row["heard"] if who not in ids]}
            for row in members
        ]
    )
    stored = StoredTree(
        communities,
        [row["community"] for row in members],
        np.array([np.nan if row["score"] is None else row["score"] for row in members], np.float32),
        np.array([row["signature"] or 0 for row in members], np.int64),
    )
    # The communities at the top: those that the movers came to, and for the others those that they are in.
    at = [found.tops.get(row["id"]) or stored.chain(row["community"])[0] for row in members]
    numbers = {top: number for number, top in enumerate(sorted(set(at)))}
    known = communities.values()
    depths = np.array(counts["depths"]) - np.bincount([each.depth for each in known], minlength=len(counts["depths"]))
    elsewhere = Elsewhere(
        tuple(depths.tolist()),
        counts["keywords"] - sum(len(each.keywords) for each in known),
        counts["unnamed"] - sum(each.could_be_named for each in known),
    )
    labels = np.array([numbers[top] for top in at], np.int64)
    graph, due_ids = columns.graph(whole=False), (due.entities, due.communities)
    return Part(graph, stored, _signatures(members), size, *due_ids, labels, elsewhere)


def _rows(store: Store, statement: str, **asked: Sequence[str]) -> dict[str, Row]:
    """The entities that ``statement`` finds by what is ``asked``, some at a time, by id."""
    ((name, values),) = asked.items()
    parts = (store.read(statement, **{name: some}) for some in batches(values, _BATCH))
    found = {row["id"]: row for part in parts for row in part}
    if any(row["vector"] is None for row in found.values()):
        raise StoreError(CHANGED)
    return found


def _signatures(rows: Sequence[Row]) -> Indices:
    sides = []
    for side in ("said", "heard"):
        facts = [(place, *fact) for place, row in enumerate(rows) for fact in row[side]]
        sides.append(([place for place, _, _ in facts], [what for _, what, _ in facts], [end for _, _, end in facts]))
    return signatures_of([row["name"] for row in rows], *sides)
