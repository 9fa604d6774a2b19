"""The schema that a graph has, not the one that it was built by: what a written statement can ask for.

live_schema(store)[0].relations[0]   # Relation(head='Person', type='FOUNDED', tail='Organization', count=19)
shown_schema(schema, 3000)           # 'Nodes: Document 20, Chunk 21, …', with what there is most of first
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from weakref import WeakKeyDictionary

from kgplatform.neo4j.store import Connection, Row, Store
from kgplatform.records import METADATA, QueryRun
from kgplatform.text import clipped, count_tokens

_UNNAMED = "RELATED_TO"
"""The relationship type of relations that no schema names."""
_MOST_TYPES = 60
_MOST_RELATIONS = 150
_MOST_OTHERS = 60
"""Of attributes, and of predicates that no schema names."""


@dataclass(frozen=True, slots=True)
class LiveType:
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
    types: tuple[LiveType, ...]
    relations: tuple[Relation, ...]
    attributes: tuple[AttributeKey, ...]
    predicates: dict[str, int]

    def names(self) -> set[str]:
        """Labels, relationship types and properties, as a statement may write them."""
        return (
            {*self.labels, *(type_.label for type_ in self.types)}
            | {relation.type for relation in self.relations}
            | {property_.name for property_ in self.properties}
        )

    def brief(self) -> LiveSchema:
        """The schema of what was read: without the platform's own labels and properties, which a prompt can tell."""
        metadata = tuple(each for each in self.properties if each.name.startswith(METADATA))
        types = tuple(replace(type_, examples=type_.examples[:1]) for type_ in self.types)
        return replace(self, labels={}, properties=metadata, types=types)


_kept: WeakKeyDictionary[Connection, tuple[Row, LiveSchema]] = WeakKeyDictionary()
_lock = threading.Lock()


def live_schema(store: Store) -> tuple[LiveSchema, tuple[QueryRun, ...]]:
    """The schema of the graph of ``store``, and the statements that read it: one where nothing has changed since."""
    store = store.recording()
    state = store.read("search/graph_counts")[0]
    with _lock:
        before, schema = _kept.get(store.connection, (None, None))
    if schema is None or before != state:
        schema = _read(store)
        with _lock:
            _kept[store.connection] = (state, schema)
    return schema, store.queries


def _read(store: Store) -> LiveSchema:
    return LiveSchema(
        labels={row["label"]: row["count"] for row in store.read("search/schema_labels") if row["count"]},
        properties=tuple(Property(*row.values()) for row in store.read("search/schema_properties")),
        types=tuple(
            LiveType(row["label"], row["count"], tuple(row["examples"]))
            for row in store.read("search/schema_types", most=_MOST_TYPES)
        ),
        relations=tuple(Relation(*row.values()) for row in store.read("search/schema_relations", most=_MOST_RELATIONS)),
        attributes=tuple(
            AttributeKey(*row.values()) for row in store.read("search/schema_attributes", most=_MOST_OTHERS)
        ),
        predicates={
            row["predicate"]: row["count"]
            for row in store.read("search/schema_predicates", type=_UNNAMED, most=_MOST_OTHERS)
        },
    )


_EXAMPLE = 40
"""Characters of a value that is shown to tell what values look like."""

_PLAIN = re.compile(r"[^\W\d]\w*")
_NO_RELATION = Relation("Entity", "RELATED_TO", "Entity", 0)


def shown_schema(schema: LiveSchema, tokens: int) -> str:
    """Labels, properties, types, relations, attributes: a part a line or a list, none longer than its share of
    ``tokens``, and what one leaves is left to those after it."""
    properties = []
    for label, group in groupby(schema.properties, lambda each: each.label):
        own = (f"{each.name} {each.type.removesuffix(' NOT NULL')} {_example(each.example)}" for each in group)
        properties.append(f"{label} {{{', '.join(own)}}}")
    ends: dict[str, list[str]] = {}
    for each in schema.relations:
        ends.setdefault(each.type, []).append(f"{quoted(each.head)} -> {quoted(each.tail)} {each.count:,}")
    attributes: dict[str, list[str]] = {}
    for one in schema.attributes:
        attributes.setdefault(one.label, []).append(f"{one.key} {one.count:,} ({_example(one.example)})")
    types = [f"{each.label} {each.count:,} ({', '.join(map(_example, each.examples))})" for each in schema.types]
    parts = [
        ("Nodes: ", ", ", [f"{label} {count:,}" for label, count in schema.labels.items()]),
        ("Properties, with an example: ", "; ", properties),
        ("Entities by type, with examples: ", ", ", types),
        ("Relations between entities:\n", "\n", _lists(ends)),
        ("Attributes of entities, with an example:\n", "\n", _lists(attributes)),
        ("Predicates of RELATED_TO: ", ", ", [f"{_example(name)} {n:,}" for name, n in schema.predicates.items()]),
    ]
    shown: list[str] = []
    left = tokens
    for number, (title, gap, items) in enumerate(parts):
        if items:
            shown.append(title + gap.join(_fitting(items, left // (len(parts) - number))))
            left -= count_tokens(shown[-1])
    return "\n".join(shown)


def _lists(of: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{quoted(name)}: {', '.join(items)}" for name, items in of.items()]


def example_relation(schema: LiveSchema) -> dict[str, str]:
    """The labels and type of the relation that there is most of, for examples."""
    of = schema.relations[0] if schema.relations else _NO_RELATION
    return {"head": quoted(of.head), "relation": quoted(of.type), "tail": quoted(of.tail)}


def quoted(name: str) -> str:
    """A label or type as a statement writes it: in backticks where it needs them."""
    return name if _PLAIN.fullmatch(name) else f"`{name.replace('`', '``')}`"


def _fitting(items: Sequence[str], tokens: int) -> list[str]:
    """The first of ``items`` that fit, one at least, and how many are left out."""
    kept: list[str] = []
    for item in items:
        tokens -= count_tokens(item) + 1
        if tokens < 0 and kept:
            return [*kept, f"… and {len(items) - len(kept)} more"]
        kept.append(item)
    return kept


def _example(value: str | None) -> str:
    return f'"{clipped(value or "", _EXAMPLE)}"'
