"""The rows of a user's statement, with values as JSON can hold them."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import neo4j
from neo4j import exceptions as driver_errors

from kgplatform.errors import StatementError
from kgplatform.neo4j.failures import message_of
from kgplatform.neo4j.statement_guard import as_explain, refuse_plan, without_explain
from kgplatform.records import Table, TableRow


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


def table_of(result: neo4j.Result, limit: int) -> Table:
    """The first ``limit`` rows of ``result``, which is consumed."""
    columns = tuple(result.keys())
    rows = [TableRow(columns, map(plain, record.values())) for record in islice(result, limit)]
    truncated = result.peek() is not None
    counters = result.consume().counters
    changes = {name: count for name, count in vars(counters).items() if type(count) is int and count}
    return Table(columns, rows, truncated, changes)


def refuse_unsafe(
    session: neo4j.Session, statement: str, parameters: dict[str, Any], write: bool, timeout: float
) -> neo4j.ResultSummary:
    """The summary of the plan. Raises ``InputError`` for what users may not run."""
    try:
        summary = session.run(neo4j.Query(as_explain(statement), timeout=timeout), parameters).consume()
    except driver_errors.CypherSyntaxError as error:
        raise StatementError(f"Neo4j cannot run the statement: {without_explain(message_of(error))}") from error
    refuse_plan(statement, summary.plan or {}, summary.query_type, write=write)
    return summary
