"""A graph as plain data, so that two graphs can be compared node by node."""

from typing import Any

from kgplatform.neo4j.store import Store

Snapshot = tuple[dict[str, Any], list[Any]]
_TIMES = ("addedAt", "createdAt", "modifiedAt")


def snapshot(store: Store) -> Snapshot:
    """All nodes by label and id, and all relationships, with every property but times. Vectors are rounded."""
    nodes = store.run_statement(
        "MATCH (n) RETURN labels(n) AS labels, properties(n) AS properties", {}, write=False, timeout=60, limit=10**6
    )
    edges = store.run_statement(
        "MATCH (a)-[r]->(b) RETURN a.id AS a, type(r) AS type, properties(r) AS properties, b.id AS b",
        {},
        write=False,
        timeout=60,
        limit=10**6,
    )
    known = {f"{sorted(labels)}/{properties.get('id')}": _comparable(properties) for labels, properties in nodes.rows}
    return known, sorted(([a, kind, _comparable(properties), b] for a, kind, properties, b in edges.rows), key=repr)


def _comparable(properties: dict[str, Any]) -> dict[str, Any]:
    return {key: _rounded(value) for key, value in sorted(properties.items()) if key not in _TIMES}


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, 5) if isinstance(value, float) else value
