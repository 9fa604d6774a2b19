"""Constraints and indexes of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgplatform.neo4j.store import Store
from kgplatform.query import query_names

_INDEX_SECONDS = 3600
_VECTOR_KINDS = ("chunk", "fact", "entity", "element", "community", "page")
_VECTOR_INDEX: dict[str, Any] = {"vector.similarity_function": "cosine", "vector.quantization.enabled": False}
# Half the links and two thirds of the candidates of Neo4j's defaults for the many facts and entities: the same recall
# as its quantised default, in half the time to fill (docs/decisions.md). Passages are few, and matter most.
_LIGHT: dict[str, Any] = {"vector.hnsw.m": 8, "vector.hnsw.ef_construction": 64}


def define_keys(store: Store) -> None:
    """Constraints, and the indexes that writing needs."""
    for name in query_names("neo4j/schema"):
        if name.startswith(("neo4j/schema/constraint", "neo4j/schema/index")):
            store.define(name)


def define_indexes(store: Store, dimension: int, more: Sequence[str] = ()) -> None:
    """The indexes that retrieval needs, online. ``more``: "community" and "page", where the graph has those."""
    for kind in ("chunk", "fact", "entity", "element", *more):
        define_vector_index(store, kind, dimension)
    for kind in ("chunk", "entity"):
        store.define(f"neo4j/schema/fulltext_{kind}")
    await_indexes(store)


def await_indexes(store: Store) -> None:
    """Wait until all indexes are online."""
    store.define("neo4j/schema/await_indexes", seconds=_INDEX_SECONDS)


def define_vector_index(store: Store, kind: str, dimension: int) -> None:
    """The vector index of a kind of node, not online yet."""
    store.define(f"neo4j/schema/vector_{kind}", options=vector_options(kind, dimension))


def vector_options(kind: str, dimension: int) -> dict[str, Any]:
    """How the vector index of a kind of node ("chunk", "fact" …) is made."""
    return {"indexConfig": {**_VECTOR_INDEX, **({} if kind == "chunk" else _LIGHT), "vector.dimensions": dimension}}


def drop_vector_indexes(store: Store) -> None:
    """Take away the vector indexes, whose form depends on the embedding model."""
    for kind in _VECTOR_KINDS:
        store.define(f"neo4j/schema/drop_vector_{kind}")


def drop_unfit_vector_indexes(store: Store, dimension: int) -> None:
    """Take away what a graph of another model has left: whoever deletes all nodes leaves the indexes."""
    left = {row["name"]: row["dimension"] for row in store.read("ingest/vector_dimensions")}
    for kind in _VECTOR_KINDS:
        if left.get(f"{kind}_embedding", dimension) != dimension:
            store.define(f"neo4j/schema/drop_vector_{kind}")
