"""The schema that a graph has, not the one that it was built by: what a written statement can ask for.

live_schema(store).relations[0]      # Relation(head='Person', type='FOUNDED', tail='Organization', count=19)
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from kgplatform.neo4j.store import Connection, Row, Store
from kgplatform.records import QueryRun

_UNNAMED = "RELATED_TO"
"""The relationship type of relations that no schema names."""
_MOST_TYPES = 60
_MOST_RELATIONS = 150
_MOST_OTHERS = 60
"""Of attributes, and of predicates that no schema names."""


@dataclass(frozen=True, slots=True)
class EntityType:
    """A label that entities have, on how many, and some of their names."""

    label: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """``count`` relationships of ``type`` between entities with the labels ``head`` and ``tail``."""

    head: str
    type: str
    tail: str
    count: int


@dataclass(frozen=True, slots=True)
class AttributeKey:
    """An attribute that ``count`` entities with ``label`` have, and one value of it."""

    label: str
    key: str
    count: int
    example: str


@dataclass(frozen=True, slots=True)
class Property:
    """A property of the nodes with ``label``: its type as Cypher calls it, and the beginning of one value."""

    label: str
    name: str
    type: str
    example: str


@dataclass(frozen=True, slots=True)
class LiveSchema:
    """What is in the graph now, each kind by frequency. ``labels``: the platform's own that have nodes."""

    labels: dict[str, int]
    properties: tuple[Property, ...]
    types: tuple[EntityType, ...]
    relations: tuple[Relation, ...]
    attributes: tuple[AttributeKey, ...]
    predicates: dict[str, int]

    def names(self) -> set[str]:
        """Labels, relationship types and properties, as a statement may write them."""
        return (
            {*self.labels, *(each.label for each in self.types)}
            | {each.type for each in self.relations}
            | {each.name for each in self.properties}
        )


_kept: WeakKeyDictionary[Connection, tuple[Row, LiveSchema]] = WeakKeyDictionary()
_lock = threading.Lock()


def live_schema(store: Store) -> tuple[LiveSchema, tuple[QueryRun, ...]]:
    """The schema of the graph of ``store``, and the statements that read it: one where nothing has changed since."""
    store = store.recording()
    state = store.read("retrieve/graph_counts")[0]
    with _lock:
        before, schema = _kept.get(store.connection, (None, None))
    if schema is None or before != state:
        schema = _read(store)
        with _lock:
            _kept[store.connection] = (state, schema)
    return schema, store.queries


def _read(store: Store) -> LiveSchema:
    return LiveSchema(
        labels={row["label"]: row["count"] for row in store.read("retrieve/schema_labels") if row["count"]},
        properties=tuple(Property(*row.values()) for row in store.read("retrieve/schema_properties")),
        types=tuple(
            EntityType(row["label"], row["count"], tuple(row["examples"]))
            for row in store.read("retrieve/schema_types", most=_MOST_TYPES)
        ),
        relations=tuple(
            Relation(*row.values()) for row in store.read("retrieve/schema_relations", most=_MOST_RELATIONS)
        ),
        attributes=tuple(
            AttributeKey(*row.values()) for row in store.read("retrieve/schema_attributes", most=_MOST_OTHERS)
        ),
        predicates={
            row["predicate"]: row["count"]
            for row in store.read("retrieve/schema_predicates", type=_UNNAMED, most=_MOST_OTHERS)
        },
    )
