"""The entities of the graph as arrays, and the tree that is there; by pages, so that a million entities fit.

Vectors as lists of floats are the dearest part of it: 0.5 s of 1.0 s for 19,140 entities with 384 dimensions. Their
transfer as whole numbers, which are shorter, takes as long, since Neo4j has to compute them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgplatform.errors import Code, StoreError, coded
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import SILENT, Progress
from kgplatform.tree.entity_graph import EntityGraph, Floats, Indices

_PAGE = 2000
_ID = "S32"
CHANGED = "The graph changed while its entities were read. Run the same command again when nothing else writes into it."


def read_entity_graph(store: Store, progress: Progress = SILENT) -> EntityGraph:
    """The entities of the graph, with what facts say of them, in an order that depends on nothing but the graph.

    Raises ``InputError`` if there are none, or if an ingest was interrupted.
    """
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
        self._vectors: Floats = np.empty((0, 0), np.float32)
        self._relations: dict[str, int] = {}
        self._facts: list[tuple[Indices, Indices, NDArray[np.bytes_]]] = []

    def take(self, page: list[Row]) -> None:
        """Take the rows of ``page`` over."""
        vectors = [row["vector"] for row in page]
        if self.filled + len(page) > self._size or any(vector is None for vector in vectors):
            raise StoreError(CHANGED)
        if not self.filled:
            self._vectors = np.empty((self._size, len(vectors[0])), np.float32)
        self._vectors[self.filled : self.filled + len(page)] = vectors
        self._ids += [row["id"] for row in page]
        self._names += [row["name"] for row in page]
        self._types += [row["type"] for row in page]
        self._take_facts(page)
        self.filled += len(page)

    def _take_facts(self, page: list[Row]) -> None:
        heads = np.repeat(np.arange(self.filled, self.filled + len(page)), [len(row["facts"]) for row in page])
        said = [fact for row in page for fact in row["facts"]]
        known = self._relations
        relations = np.array([known.setdefault(relation, len(known)) for relation, _ in said], np.int64)
        tails = np.array([tail or "" for _, tail in said], _ID)
        self._facts.append((heads, relations, tails))

    def graph(self, *, whole: bool = True) -> EntityGraph:
        """All of it, when every page has been taken. What is not ``whole`` has facts with ends outside, as values."""
        if self.filled != self._size:
            raise StoreError(CHANGED)
        _make_unit(self._vectors)
        heads, relations, ends = (np.concatenate(part) for part in zip(*self._facts, strict=True))
        tails = self._positions(ends, whole)
        names = sorted(self._relations)
        rank = np.empty(len(names), np.int64)
        rank[[self._relations[name] for name in names]] = np.arange(len(names))
        relations = rank[relations] if len(names) else relations
        order = np.lexsort((tails, relations, heads))
        return EntityGraph(
            self._ids, self._names, self._types, self._vectors, heads[order], tails[order], relations[order], names
        )

    def _positions(self, ends: NDArray[np.bytes_], whole: bool) -> Indices:
        """The positions of the entities with these ids; -1 for none."""
        ids = np.array(self._ids, _ID)
        found = np.minimum(np.searchsorted(ids, ends), len(ids) - 1)
        known = ids[found] == ends
        if whole and not known[ends != b""].all():
            raise StoreError(CHANGED)
        return np.where(known, found, -1).astype(np.int64)


def _make_unit(vectors: Floats) -> None:
    """The rows of length 1 again, which they are but for the rounding with which they are stored."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)


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
        chains = {leaf: self._chain(leaf) for leaf in set(self.leaves)}
        levels = []
        for depth in range(max((len(chain) for chain in chains.values()), default=1) or 1):
            at = {leaf: chain[depth] if depth < len(chain) else "" for leaf, chain in chains.items()}
            numbers = {each: number for number, each in enumerate(sorted(set(at.values()) - {""}))}
            levels.append(np.array([numbers.get(at[leaf], -1) for leaf in self.leaves], np.int64))
        return levels

    def top(self, leaf: str) -> str:
        """The id of the community at the top that ``leaf`` is in."""
        return self._chain(leaf)[0]

    def _chain(self, leaf: str | None) -> list[str]:
        """The ids of the communities from the top down to ``leaf``."""
        chain: list[str] = []
        while leaf is not None:
            chain.insert(0, leaf)
            leaf = self.communities[leaf].parent
        return chain


def stored_communities(rows: Iterable[Row]) -> dict[str, StoredCommunity]:
    """The communities of ``rows``, by id."""
    return {
        row["id"]: StoredCommunity(
            row["depth"],
            row["parent"],
            row["size"],
            row["center"],
            row["nameDue"],
            row["nameBy"],
            dict(row["keywords"]),
        )
        for row in rows
    }


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
