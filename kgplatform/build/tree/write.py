"""The tree into Neo4j: all at once where it is small enough, so that whoever searches meanwhile sees one tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from kgplatform.build.settle import Progress
from kgplatform.build.tree.changes import Changes, keyword_rows, member_rows, parent_rows
from kgplatform.build.tree.communities import Community, Tree
from kgplatform.build.tree.entity_graph import EntityGraph, Indices
from kgplatform.build.tree.read import StoredTree
from kgplatform.build.tree.words import CENTRAL, SaidFact, central_facts, name_of, summary_of
from kgplatform.store import Parameters, Row, Store

AT_ONCE = 50_000
"""Rows that are written in one transaction at most. More are written in many, and the graph says so meanwhile."""

WRITING, EMBEDDING, COMPLETE = "writing", "embedding", "complete"
"""States of the tree: memberships are being written; most communities have no vectors; the tree can be searched."""

_SLICE = 1000
_READ = 100
_ASKED, _FACTS = 25, 30
"""Members whose facts are looked at, and facts of a community that are."""

Statement = tuple[str, Parameters]
T = TypeVar("T")


def write_tree(
    store: Store,
    graph: EntityGraph,
    tree: Tree,
    stored: StoredTree,
    found: Changes,
    signed: Indices,
    state: Row,
    name_due: bool,
    progress: Progress,
) -> None:
    """Write what ``found`` says, and ``state`` of the graph with it. New communities get names from their members.

    ``name_due``: a language model is to name the new ones that have more than one member. Whoever searches meanwhile
    does not find a new community before it has its vector.
    """
    at_once = found.rows <= AT_ONCE
    if not at_once:
        store.write(("build/set_graph_state", {"state": {"treeState": WRITING}}))
    words = _new_words(store, graph, found, progress)
    together: list[Statement] = []
    for statement in _statements(graph, tree, stored, found, signed, words, name_due):
        if at_once:
            together.append(statement)
        else:
            store.write(statement)
    together.append(("build/set_graph_state", {"state": state}))
    store.write(*together)


def _statements(
    graph: EntityGraph,
    tree: Tree,
    stored: StoredTree,
    found: Changes,
    signed: Indices,
    words: dict[str, tuple[str, str]],
    name_due: bool,
) -> Iterator[Statement]:
    touched = (_community_row(graph, each, words, name_due) for each in found.touched)
    yield from _sliced("build/tree_write_communities", touched)
    yield from _sliced("build/tree_write_parents", parent_rows(found))
    yield from _sliced("build/tree_write_members", member_rows(graph, tree, found, signed))
    other = [each.id for each in found.represented if each.id in stored.communities]
    yield from (("build/tree_forget_keywords", {"ids": part}) for part in _parts(other))
    yield from _sliced("build/tree_write_keywords", keyword_rows(graph, found))
    yield from (("build/tree_forget_communities", {"ids": part}) for part in _parts(found.gone))
    alone = ({"id": each.id, **_words_row(words[each.id]), "by": "members"} for each in found.renamed)
    yield from _sliced("build/tree_names", alone)


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


# --------------------------------------------------------------------------------------------------- words from members


def _new_words(store: Store, graph: EntityGraph, found: Changes, progress: Progress) -> dict[str, tuple[str, str]]:
    """Name and summary of each new community, from its central members and their facts."""
    wanted = found.new + found.renamed
    words: dict[str, tuple[str, str]] = {}
    for start in range(0, len(wanted), _READ):
        batch = wanted[start : start + _READ]
        facts = read_facts(store, graph, batch)
        for each in batch:
            members = central_members(graph, each)
            words[each.id] = (name_of(members, each.size), summary_of(facts[each.id], members, each.size))
        progress("communities", len(words), len(wanted))
    return words


def central_members(graph: EntityGraph, community: Community) -> list[tuple[str, str | None]]:
    """Name and type of the members that speak for ``community``, the centre first."""
    return [(graph.names[each], graph.types[each]) for each in community.members[:CENTRAL].tolist()]


def read_facts(store: Store, graph: EntityGraph, communities: list[Community]) -> dict[str, list[SaidFact]]:
    """By community, what is said of its central members: a few facts, the most telling first."""
    central = {each.id: [graph.ids[member] for member in each.members[:_ASKED].tolist()] for each in communities}
    rows = [{"id": identity, "members": members} for identity, members in central.items()]
    found = store.read("build/tree_facts", rows=rows, limit=_FACTS)
    return {row["id"]: central_facts([_said(fact) for fact in row["facts"]], central[row["id"]]) for row in found}


def _said(fact: list[Any]) -> SaidFact:
    kind, text, subject, predicate, object_, members = fact
    return SaidFact(kind, text, subject, predicate, object_, tuple(members))
