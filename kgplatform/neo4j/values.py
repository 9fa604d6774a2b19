"""What a user's statement returns, as JSON can hold it."""

from __future__ import annotations

import math
from typing import Any

import neo4j


def plain(value: Any) -> Any:
    """``value`` as JSON can hold it: nodes and relationships become dictionaries, without long vectors."""
    if isinstance(value, neo4j.graph.Node):
        return {"labels": sorted(value.labels), "properties": _plain_properties(value)}
    if isinstance(value, neo4j.graph.Relationship):
        return {"type": value.type, "properties": _plain_properties(value)}
    if isinstance(value, neo4j.graph.Path):
        nodes = [plain(node) for node in value.nodes]
        return {"nodes": nodes, "relationships": [plain(relationship) for relationship in value.relationships]}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def _plain_properties(entity: neo4j.graph.Entity) -> dict[str, Any]:
    return {key: plain(value) for key, value in sorted(entity.items()) if key != "embedding"}
