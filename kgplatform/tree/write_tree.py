"""What differs between the stored tree and the new one, and how it gets into Neo4j.

It is written all at once where it is small enough, so that whoever searches meanwhile sees one tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kgplatform.ingest.graph_state import set_state
from kgplatform.neo4j.store import Parameters, Row, Store
from kgplatform.records import Progress
from kgplatform.tree.community_names import CENTRAL, SaidFact, central_facts, name_of, summary_of
from kgplatform.tree.entity_graph import EntityGraph, Indices
from kgplatform.tree.partition import Community, Tree
from kgplatform.tree.stored_tree import StoredTree

AT_ONCE = 50_000
"""Rows that are written in one transaction at most. More are written in many, and the graph says so meanwhile."""

WRITING, EMBEDDING, COMPLETE = "writing", "embedding", "complete"
"""States of the tree: memberships are being written; most communities have no vectors; the tree can be searched."""

_SLICE = 1000
_READ = 100
_ASKED, _FACTS = 25, 30
"""Members whose facts are looked at, and facts of a community that are."""

Statement = tuple[str, Parameters]
Bools = NDArray[np.bool_]
T = TypeVar("T")


def write_tree(store: Store, found: Changes, state: Row, name_due: bool, progress: Progress) -> None:
    """Write what ``found`` says, and ``state`` of the graph with it. New communities get names from their members.

    ``name_due``: a language model is to name the new ones that have more than one member. Whoever searches meanwhile
    does not find a new community before it has its vector.
    """
    at_once = found.rows <= AT_ONCE
    if not at_once:
        store.write(set_state(treeState=WRITING))
    words = _new_words(store, found, progress)
    together: list[Statement] = []
    for statement in _statements(found, words, name_due):
        if at_once:
            together.append(statement)
        else:
            store.write(statement)
    store.write(*together, set_state(**state))


def _statements(found: Changes, words: dict[str, tuple[str, str]], name_due: bool) -> Iterator[Statement]:
    touched = (_community_row(found.graph, community, words, name_due) for community in found.touched)
    yield from _sliced("tree/write_communities", touched)
    parents = [
        {"id": community.id, "parent": community.parent} for community in found.touched if community.parent is not None
    ]
    yield from _sliced("tree/write_parents", parents)
    yield from _sliced("tree/write_members", _member_rows(found))
    known = {community.id for community in found.new}
    yield from (
        ("tree/remove_keywords", {"ids": part})
        for part in _parts(community.id for community in found.represented if community.id not in known)
    )
    yield from _sliced("tree/write_keywords", _keyword_rows(found))
    yield from (("tree/remove_communities", {"ids": part}) for part in _parts(found.gone))
    alone = ({"id": community.id, **_words_row(words[community.id]), "by": "members"} for community in found.renamed)
    yield from _sliced("tree/names", alone)


def _sliced(statement: str, rows: Iterable[Row]) -> Iterator[Statement]:
    return ((statement, {"rows": part}) for part in _parts(rows))


def _parts(items: Iterable[T]) -> Iterator[list[T]]:
    stream = iter(items)
    while part := list(islice(stream, _SLICE)):
        yield part


def _community_row(graph: EntityGraph, community: Community, words: dict[str, tuple[str, str]], name_due: bool) -> Row:
    # One that is there keeps its words, whatever stands here.
    return {
        "id": community.id,
        "depth": community.depth,
        "size": community.size,
        "center": graph.ids[community.members[0]],
        "nameDue": True if name_due and community.size > 1 else None,
        **_words_row(words.get(community.id, ("", ""))),
    }


def _words_row(words: tuple[str, str]) -> Row:
    return {"name": words[0], "summary": words[1]}


def _new_words(store: Store, found: Changes, progress: Progress) -> dict[str, tuple[str, str]]:
    """Name and summary of each new community, from its central members and their facts."""
    wanted = found.new + found.renamed
    words: dict[str, tuple[str, str]] = {}
    for start in range(0, len(wanted), _READ):
        batch = wanted[start : start + _READ]
        facts = read_facts(store, found.graph, batch)
        for community in batch:
            members = central_members(found.graph, community)
            words[community.id] = (
                name_of(members, community.size),
                summary_of(facts[community.id], members, community.size),
            )
        progress("communities", len(words), len(wanted))
    return words


def central_members(graph: EntityGraph, community: Community) -> list[tuple[str, str | None]]:
    """Name and type of the members that speak for ``community``, the centre first."""
    return [(graph.names[member], graph.types[member]) for member in community.members[:CENTRAL].tolist()]


def read_facts(store: Store, graph: EntityGraph, communities: list[Community]) -> dict[str, list[SaidFact]]:
    """By community, what is said of its central members: a few facts, the most telling first."""
    central = {
        community.id: [graph.ids[member] for member in community.members[:_ASKED].tolist()] for community in communities
    }
    rows = [{"id": identity, "members": members} for identity, members in central.items()]
    found = store.read("tree/facts", rows=rows, limit=_FACTS)
    return {row["id"]: central_facts([_said(fact) for fact in row["facts"]], central[row["id"]]) for row in found}


def _said(fact: list[Any]) -> SaidFact:
    kind, text, subject, predicate, object_, members = fact
    return SaidFact(kind, text, subject, predicate, object_, tuple(members))


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """What makes ``tree`` of the tree that is stored; ``signed``: (n,) the signatures of the entities of ``graph``.

    ``new``: communities that are not in the graph; ``gone``: ids of those that only are there. ``touched``: those whose
    size or centre must be written, new ones included. ``entities``: positions of those whose community, score or
    signature must be written. ``represented``: the communities whose keywords must; ``renamed``: those of one entity
    that changed.
    """

    graph: EntityGraph
    tree: Tree
    signed: Indices
    new: list[Community]
    gone: list[str]
    touched: list[Community]
    entities: Indices
    represented: list[Community]
    renamed: list[Community]

    @property
    def rows(self) -> int:
        """About how many rows it takes to write them."""
        return len(self.touched) + len(self.gone) + len(self.entities) + 6 * len(self.represented)


def changes(graph: EntityGraph, tree: Tree, stored: StoredTree, signed: Indices) -> Changes:
    """What makes ``tree`` of ``stored``. ``signed``: (n,) the signatures of the entities now."""
    before = stored.communities
    ids = {community.id for community in tree.communities}
    changed = stored.signatures != signed
    new = [community for community in tree.communities if community.id not in before]
    alone = [community for community in tree.communities if community.size == 1 and community.id in before]
    return Changes(
        graph,
        tree,
        signed,
        new=new,
        gone=sorted(before.keys() - ids),
        touched=[community for community in tree.communities if _is_touched(graph, community, stored)],
        entities=_entities(tree, stored, changed),
        represented=[
            community for community in tree.communities if _is_represented_otherwise(graph, community, stored, changed)
        ],
        renamed=[community for community in alone if changed[community.members[0]]],
    )


def _is_touched(graph: EntityGraph, community: Community, stored: StoredTree) -> bool:
    known = stored.communities.get(community.id)
    if known is None:
        return True
    now = (community.size, graph.ids[community.members[0]], community.parent)
    return now != (known.size, known.center, known.parent)


def _entities(tree: Tree, stored: StoredTree, changed: Bools) -> Indices:
    leaves = [tree.communities[leaf].id for leaf in tree.leaves.tolist()]
    elsewhere = np.array([leaf != known for leaf, known in zip(leaves, stored.leaves, strict=True)], np.bool_)
    same_score = np.abs(stored.scores - tree.scores) < 5e-5  # nothing is like the score of an entity without one
    return np.flatnonzero(elsewhere | changed | ~same_score)


def _is_represented_otherwise(graph: EntityGraph, community: Community, stored: StoredTree, changed: Bools) -> bool:
    known = stored.communities.get(community.id)
    keywords = community.keywords(graph)
    if known is None:
        return bool(keywords)
    same = {key: score for key, (_, score) in keywords.items()} == known.keywords
    return not same or any(changed[position] for position, _ in keywords.values())


def _member_rows(found: Changes) -> Iterator[Row]:
    """One by one: there may be a million."""
    for position in found.entities.tolist():
        yield {
            "id": found.graph.ids[position],
            "community": found.tree.communities[found.tree.leaves[position]].id,
            "score": round(float(found.tree.scores[position]), 4),
            "signature": int(found.signed[position]),
        }


def _keyword_rows(found: Changes) -> Iterator[Row]:
    for community in found.represented:
        for key, (position, score) in community.keywords(found.graph).items():
            named = {"name": found.graph.names[position], "entity": found.graph.ids[position]}
            yield {"id": key, "score": score, "community": community.id, **named}
