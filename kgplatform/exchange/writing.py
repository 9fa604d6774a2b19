"""Elements of a file as rows for ``cypher/exchange``: values made, ends of relationships found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timezone
from typing import Any

from kgplatform.exchange.checking import NodeKinds
from kgplatform.exchange.elements import Node, Relationship
from kgplatform.exchange.values import for_database, is_made_by_database, type_of
from kgplatform.store import Row, Store


def node_rows(store: Store, nodes: Sequence[Node]) -> list[Row]:
    """Labels and properties, with the ``id`` among them."""
    found = _made(store, [{"id": node.id, **node.properties} for node in nodes])
    return [
        {"labels": list(node.labels), "properties": properties} for node, properties in zip(nodes, found, strict=True)
    ]


def relationship_rows(store: Store, kinds: NodeKinds, relationships: Sequence[Relationship]) -> list[Row]:
    """Types, properties, and where the ends are in the database; without those of which an end is not there."""
    where = element_ids(store, kinds, (end for each in relationships for end in (each.start, each.end)))
    there = [each for each in relationships if each.start in where and each.end in where]
    found = _made(store, [each.properties for each in there])
    return [
        {"start": where[each.start], "end": where[each.end], "type": each.type, "properties": properties}
        for each, properties in zip(there, found, strict=True)
    ]


def element_ids(store: Store, kinds: NodeKinds, ids: Iterable[str]) -> dict[str, str]:
    """Where nodes of a file are in the database, by their ids; those that are not there are left out."""
    wanted = sorted(set(ids))
    by_kind: dict[str, list[str]] = defaultdict(list)
    for node_id, kind in zip(wanted, kinds.kinds(wanted), strict=True):
        if kind is not None:
            by_kind[kind].append(node_id)
    return {row["id"]: row["element"] for row in store.read("exchange/element_ids", ids=by_kind)}


def _made(store: Store, every: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Properties as the driver takes them. Only the database can make dates with all their zones and digits."""
    asked: list[Row] = []
    for properties in every:
        for value in filter(is_made_by_database, properties.values()):
            asked += [{"type": type_of(item), "value": item[type_of(item)]} for item in _items(value)]
    made = iter([_with_offset(row["made"]) for row in store.read("exchange/made_values", rows=asked)] if asked else ())

    def of(value: Any) -> Any:
        if not is_made_by_database(value):
            return for_database(value)
        return [next(made) for _ in value] if isinstance(value, list) else next(made)

    return [{name: of(value) for name, value in properties.items()} for properties in every]


def _with_offset(value: Any) -> Any:
    """The driver reads the offset Z as the place UTC, and would write it as that."""
    zone = getattr(value, "tzinfo", None)
    return value.replace(tzinfo=timezone.utc) if getattr(zone, "zone", None) == "UTC" else value


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
