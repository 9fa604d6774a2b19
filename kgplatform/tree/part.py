"""What a run at the tree looks at: the whole graph, or the communities that a change is in.

What has changed since the tree saw it is marked (``treeDue``). Where that is little of a large graph, an update reads
it, moves it, and reads those communities that something came to, left or changed in: its time follows the change, not
the graph. Their members are scored and divided as in a whole tree, since a community's score is made inside of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kgplatform.errors import StoreError
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import Progress
from kgplatform.tree.entity_graph import EntityGraph, Indices, signatures, signatures_of
from kgplatform.tree.moves import Mover, move
from kgplatform.tree.stored_tree import (
    CHANGED,
    EntityColumns,
    StoredCommunity,
    StoredTree,
    read_entity_graph,
    read_tree,
    stored_communities,
)

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


def read_due(store: Store, runs: int) -> Due:
    """What was marked before run number ``runs`` began."""
    entities = [row["id"] for row in store.read("tree/due_entities", runs=runs)]
    lost = store.read("tree/due_communities", runs=runs)
    return Due(entities, [row["id"] for row in lost], {row["top"]: row["size"] for row in lost})


def read_whole(store: Store, due: Due, progress: Progress) -> Part:
    """All entities, and the tree as it stands."""
    graph = read_entity_graph(store, progress)
    return Part(graph, read_tree(store, graph), signatures(graph), graph.size, due.entities, due.communities)


def read_part(store: Store, due: Due, size: int, counts: Row, progress: Progress) -> Part | None:
    """What has changed, moved to where it belongs, with the communities that this touches; None if they are too many.

    ``size``: entities of the graph. ``counts``: of the tree (``tree/counts``).
    """
    most = size // _SHARE
    if size < LARGE or len(due.entities) > most:
        return None
    rows = _rows(store, "tree/changed_entities", ids=due.entities)
    movers = [_mover(row) for row in _changed(list(rows.values()))]
    found = move(store, movers, size)
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
    return Part(
        _graph(members),
        stored := _stored(members, communities),
        _signatures(members),
        size,
        due.entities,
        due.communities,
        _labels(members, stored, found.tops),
        _elsewhere(counts, communities),
    )


def _rows(store: Store, statement: str, **asked: Sequence[str]) -> dict[str, Row]:
    """The entities that ``statement`` finds by what is ``asked``, some at a time, by id."""
    ((name, values),) = asked.items()
    parts = (store.read(statement, **{name: some}) for some in batches(values, _BATCH))
    found = {row["id"]: row for part in parts for row in part}
    if any(row["vector"] is None for row in found.values()):
        raise StoreError(CHANGED)
    return found


def _changed(rows: Sequence[Row]) -> list[Row]:
    """Those of ``rows`` of which the graph says something else than the tree has seen."""
    return [row for row, now in zip(rows, _signatures(rows).tolist(), strict=True) if row["signature"] != now]


def _signatures(rows: Sequence[Row]) -> Indices:
    sides = []
    for side in ("said", "heard"):
        facts = [(place, *fact) for place, row in enumerate(rows) for fact in row[side]]
        sides.append(([place for place, _, _ in facts], [what for _, what, _ in facts], [end for _, _, end in facts]))
    return signatures_of([row["name"] for row in rows], *sides)


def _mover(row: Row) -> Mover:
    joined = [end for side in ("said", "heard") for _, end in row[side] if end is not None and end != row["id"]]
    return Mover(row["id"], tuple(joined))


def _graph(rows: Sequence[Row]) -> EntityGraph:
    """``rows``, in the order of their ids, as arrays. What leads outside counts as a relation without another end."""
    ids = {row["id"] for row in rows}
    columns = EntityColumns(len(rows))
    columns.take(
        [row | {"facts": row["said"] + [[what, None] for what, who in row["heard"] if who not in ids]} for row in rows]
    )
    return columns.graph(whole=False)


def _stored(rows: Sequence[Row], communities: dict[str, StoredCommunity]) -> StoredTree:
    return StoredTree(
        communities,
        [row["community"] for row in rows],
        np.array([np.nan if row["score"] is None else row["score"] for row in rows], np.float32),
        np.array([row["signature"] or 0 for row in rows], np.int64),
    )


def _labels(rows: Sequence[Row], stored: StoredTree, tops: Mapping[str, str]) -> Indices:
    """(n,) the communities at the top: those that the movers came to, and for the others those that they are in."""
    at = [tops.get(row["id"]) or stored.top(row["community"]) for row in rows]
    numbers = {top: number for number, top in enumerate(sorted(set(at)))}
    return np.array([numbers[top] for top in at], np.int64)


def _elsewhere(counts: Row, communities: Mapping[str, StoredCommunity]) -> Elsewhere:
    known: Collection[StoredCommunity] = communities.values()
    depths = np.array(counts["depths"]) - np.bincount([each.depth for each in known], minlength=len(counts["depths"]))
    return Elsewhere(
        tuple(depths.tolist()),
        counts["keywords"] - sum(len(each.keywords) for each in known),
        counts["unnamed"] - sum(each.could_be_named for each in known),
    )
