"""The entities of the graph as arrays, and the tree that is there; by pages, so that a million entities fit.

Vectors as lists of floats are the dearest part of it: 0.5 s of 1.0 s for 19,140 entities with 384 dimensions. Their
transfer as whole numbers, which are shorter, takes as long, since Neo4j has to compute them.

What differs between that tree and a new one is written all at once where it is small enough, so that whoever searches
meanwhile sees one tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from kgplatform.errors import Code, StoreError, coded
from kgplatform.ingest.graph_state import set_state
from kgplatform.neo4j.store import Parameters, Row, Store
from kgplatform.records import SILENT, Progress
from kgplatform.tree.community_names import CENTRAL, SaidFact, central_facts, name_of, summary_of
from kgplatform.tree.entity_graph import EntityGraph, Floats, Indices
from kgplatform.tree.partition import Community, Tree

_PAGE = 2000
_ID = "S32"
CHANGED = "The graph changed while its entities were read. Run the same command again when nothing else writes into it."


def read_entity_graph(store: Store, progress: Progress = SILENT) -> EntityGraph:
    """The entities of the graph, with what facts say of them, in an order that depends on nothing but the graph. Raises
    ``InputError`` if there are none, or if an ingest was interrupted."""
    size = count_entities(store)
    columns = EntityColumns(size)
    for page in _pages(store, "tree/entities"):
        columns.take(page)
        progress("reading entities", columns.filled, size)
    return columns.graph()


def count_entities(store: Store) -> int:
    """How many entities there are. Raises ``InputError`` if there are none."""
    found = store.read("tree/size")[0]
    if not found["entities"]:
        raise coded(Code.NO_ENTITIES)
    return int(found["entities"])


def _pages(store: Store, statement: str) -> Iterator[list[Row]]:
    after = ""
    while page := store.read(statement, after=after, limit=_PAGE):
        yield page
        after = page[-1]["id"]


class EntityColumns:
    """The arrays of ``size`` entities, filled page by page."""

    def __init__(self, size: int) -> None:
        self.filled = 0
        self._size = size
        self._ids: list[str] = []
        self._names: list[str] = []
        self._types: list[str | None] = []
        self._vectors: Floats = np.zeros((size, 0), np.float32)
        self._relations: dict[str, int] = {}
        self._facts: list[tuple[Indices, Indices, NDArray[np.bytes_]]] = []

    def take(self, page: list[Row]) -> None:
        """Take the rows of ``page`` over. What the embedding model has no vector for is like nothing else."""
        if self.filled + len(page) > self._size:
            raise StoreError(CHANGED)
        vectors = {self.filled + at: row["vector"] for at, row in enumerate(page) if row["vector"] is not None}
        if vectors:
            if not self._vectors.size:
                self._vectors = np.zeros((self._size, len(next(iter(vectors.values())))), np.float32)
            self._vectors[[*vectors]] = [*vectors.values()]
        self._ids += [row["id"] for row in page]
        self._names += [row["name"] for row in page]
        self._types += [row["type"] for row in page]
        heads = np.repeat(np.arange(self.filled, self.filled + len(page)), [len(row["facts"]) for row in page])
        said = [fact for row in page for fact in row["facts"]]
        known = self._relations
        relations = np.array([known.setdefault(relation, len(known)) for relation, _ in said], np.int64)
        tails = np.array([tail or "" for _, tail in said], _ID)
        self._facts.append((heads, relations, tails))
        self.filled += len(page)

    def graph(self, *, whole: bool = True) -> EntityGraph:
        """All of it, when every page has been taken. What is not ``whole`` has facts with ends outside, as values."""
        if self.filled != self._size:
            raise StoreError(CHANGED)
        # Rows of length 1 again, which they are but for the rounding with which they are stored.
        lengths = np.linalg.norm(self._vectors, axis=1, keepdims=True)
        np.divide(self._vectors, lengths, out=self._vectors, where=lengths > 0)
        heads, relations, ends = (np.concatenate(part) for part in zip(*self._facts, strict=True))
        ids = np.array(self._ids, _ID)
        found = np.minimum(np.searchsorted(ids, ends), len(ids) - 1)
        known = ids[found] == ends
        if whole and not known[ends != b""].all():
            raise StoreError(CHANGED)
        tails = np.where(known, found, -1).astype(np.int64)
        names = sorted(self._relations)
        rank = np.empty(len(names), np.int64)
        rank[[self._relations[name] for name in names]] = np.arange(len(names))
        relations = rank[relations] if len(names) else relations
        order = np.lexsort((tails, relations, heads))
        return EntityGraph(
            self._ids, self._names, self._types, self._vectors, heads[order], tails[order], relations[order], names
        )


@dataclass(frozen=True, slots=True)
class StoredCommunity:
    """A community as it stands in the graph. ``keywords``: scores by the keywords' ids."""

    depth: int
    parent: str | None
    size: int
    center: str
    name_due: bool
    name_by: str
    keywords: dict[str, float]

    @property
    def could_be_named(self) -> bool:
        """Whether it has a name that no model gave, though one could."""
        return self.size > 1 and self.name_by != "model"


@dataclass(frozen=True, slots=True, eq=False)
class StoredTree:
    """The tree as it stands in the graph: communities by id, and for each entity its leaf's id, score, signature.

    An entity that is in no community has the leaf None, and a score and a signature of nothing.
    """

    communities: dict[str, StoredCommunity]
    leaves: list[str | None]
    scores: Floats
    signatures: Indices

    def levels(self) -> list[Indices]:
        """For each depth, at least one, (n,) the number of the community of each entity; -1 for none."""
        chains = {leaf: self.chain(leaf) for leaf in set(self.leaves)}
        levels = []
        for depth in range(max((len(chain) for chain in chains.values()), default=1) or 1):
            at = {leaf: chain[depth] if depth < len(chain) else "" for leaf, chain in chains.items()}
            numbers = {each: number for number, each in enumerate(sorted(set(at.values()) - {""}))}
            levels.append(np.array([numbers.get(at[leaf], -1) for leaf in self.leaves], np.int64))
        return levels

    def chain(self, leaf: str | None) -> list[str]:
        """The ids of the communities from the top down to ``leaf``."""
        chain: list[str] = []
        while leaf is not None:
            chain.insert(0, leaf)
            leaf = self.communities[leaf].parent
        return chain


def stored_communities(rows: Iterable[Row]) -> dict[str, StoredCommunity]:
    """The communities of ``rows``, by id."""
    found = {}
    for row in rows:
        told = row["depth"], row["parent"], row["size"], row["center"], row["nameDue"], row["nameBy"]
        found[row["id"]] = StoredCommunity(*told, dict(row["keywords"]))
    return found


def read_tree(store: Store, graph: EntityGraph) -> StoredTree:
    """The tree as it stands, its entities in the order of ``graph``."""
    communities = stored_communities(store.read("tree/communities"))
    scores = np.full(graph.size, np.nan, np.float32)
    signatures = np.zeros(graph.size, np.int64)
    if not communities:
        return StoredTree({}, [None] * graph.size, scores, signatures)
    rows = (row for page in _pages(store, "tree/memberships") for row in page)
    leaves: list[str | None] = []
    for position, row in enumerate(rows):
        if position >= graph.size or row["id"] != graph.ids[position]:
            raise StoreError(CHANGED)
        leaves.append(row["community"])
        if row["community"] is not None:
            scores[position], signatures[position] = row["score"], row["signature"]
    return StoredTree(communities, leaves, scores, signatures)


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


def write_tree(store: Store, found: Changes, state: Row, name_due: bool, progress: Progress) -> None:
    """Write what ``found`` says, and ``state`` of the graph with it. New communities get names from their members.

    ``name_due``: a language model is to name the new ones that have more than one member. Whoever searches meanwhile
    does not find a new community before it has its vector.
    """
    # About how many rows it takes.
    rows = len(found.touched) + len(found.gone) + len(found.entities) + 6 * len(found.represented)
    at_once = rows <= AT_ONCE
    if not at_once:
        store.write(set_state(treeState=WRITING))
    # Name and summary of each new community, from its central members and their facts.
    wanted = found.new + found.renamed
    words: dict[str, tuple[str, str]] = {}
    for start in range(0, len(wanted), _READ):
        batch = wanted[start : start + _READ]
        facts = read_facts(store, found.graph, batch)
        for community in batch:
            members = central_members(found.graph, community)
            summary = summary_of(facts[community.id], members, community.size)
            words[community.id] = name_of(members, community.size), summary
        progress("communities", len(words), len(wanted))
    together: list[Statement] = []
    for statement in _statements(found, words, name_due):
        if at_once:
            together.append(statement)
        else:
            store.write(statement)
    store.write(*together, set_state(**state))


def _statements(found: Changes, words: dict[str, tuple[str, str]], name_due: bool) -> Iterator[Statement]:
    graph, new = found.graph, {community.id for community in found.new}

    def named(community: Community) -> Row:  # one that is there keeps its words, whatever stands here
        name, summary = words.get(community.id, ("", ""))
        return {"id": community.id, "name": name, "summary": summary}

    communities = (
        {
            **named(community),
            "depth": community.depth,
            "size": community.size,
            "center": graph.ids[community.members[0]],
            "nameDue": True if name_due and community.size > 1 else None,
        }
        for community in found.touched
    )
    members = (  # one by one: there may be a million
        {
            "id": graph.ids[position],
            "community": found.tree.communities[found.tree.leaves[position]].id,
            "score": round(float(found.tree.scores[position]), 4),
            "signature": int(found.signed[position]),
        }
        for position in found.entities.tolist()
    )
    keywords = (
        {"id": key, "score": score, "community": each.id, "name": graph.names[place], "entity": graph.ids[place]}
        for each in found.represented
        for key, (place, score) in each.keywords(graph).items()
    )
    steps: list[tuple[str, str, Iterable[object]]] = [
        ("tree/write_communities", "rows", communities),
        ("tree/write_parents", "rows", ({"id": c.id, "parent": c.parent} for c in found.touched if c.parent)),
        ("tree/write_members", "rows", members),
        ("tree/remove_keywords", "ids", (each.id for each in found.represented if each.id not in new)),
        ("tree/write_keywords", "rows", keywords),
        ("tree/remove_communities", "ids", found.gone),
        ("tree/names", "rows", ({**named(each), "by": "members"} for each in found.renamed)),
    ]
    for statement, name, items in steps:
        stream = iter(items)
        while part := list(islice(stream, _SLICE)):
            yield statement, {name: part}


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
    by_community: dict[str, list[SaidFact]] = {}
    for row in found:
        facts = [SaidFact(*[*said, tuple(members)]) for *said, members in row["facts"]]
        by_community[row["id"]] = central_facts(facts, central[row["id"]])
    return by_community


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


def changes(graph: EntityGraph, tree: Tree, stored: StoredTree, signed: Indices) -> Changes:
    """What makes ``tree`` of ``stored``. ``signed``: (n,) the signatures of the entities now."""
    before = stored.communities
    ids = {community.id for community in tree.communities}
    changed = stored.signatures != signed
    new = [community for community in tree.communities if community.id not in before]
    alone = [community for community in tree.communities if community.size == 1 and community.id in before]
    leaves = [tree.communities[leaf].id for leaf in tree.leaves.tolist()]
    elsewhere = np.array([leaf != known for leaf, known in zip(leaves, stored.leaves, strict=True)], np.bool_)
    same_score = np.abs(stored.scores - tree.scores) < 5e-5  # nothing is like the score of an entity without one
    touched, represented = list[Community](), list[Community]()
    for community in tree.communities:
        known, keywords = before.get(community.id), community.keywords(graph)
        now = (community.size, graph.ids[community.members[0]], community.parent)
        if known is None or now != (known.size, known.center, known.parent):
            touched.append(community)
        stood = known.keywords if known else {}
        same = {key: score for key, (_, score) in keywords.items()} == stood
        if not same or (known and any(changed[position] for position, _ in keywords.values())):
            represented.append(community)
    return Changes(
        graph,
        tree,
        signed,
        new=new,
        gone=sorted(before.keys() - ids),
        touched=touched,
        entities=np.flatnonzero(elsewhere | changed | ~same_score),
        represented=represented,
        renamed=[community for community in alone if changed[community.members[0]]],
    )
