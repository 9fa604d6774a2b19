"""A Cypher script: constraints and indexes, then nodes, then relationships, a batch a statement.

It runs in `cypher-shell -f`, in Neo4j Browser and by any driver, statement by statement, on Neo4j 5.26 or newer. Each
statement ends with ``;`` at the end of its last line; no text in it has a line end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kgplatform.build.settle import vector_options
from kgplatform.errors import InputError
from kgplatform.exchange.elements import FORMAT, VERSION, Node
from kgplatform.exchange.spool import Spool
from kgplatform.exchange.values import FLOATS
from kgplatform.pasteable import literal
from kgplatform.query import load_query, query_names

_ROWS = 200
_SIGNS = 200_000
_VECTOR = "schema/vector_"


def write_script(spool: Spool, path: Path, indexes: str) -> None:
    """Write what ``spool`` holds. Raises ``InputError`` for bytes, which Cypher cannot write."""
    nodes = (_row({"labels": list(node.labels)}, {"id": node.id, **node.properties}) for node in spool.each_node())
    relationships = (
        _row({"start": each.start, "end": each.end, "type": each.type}, each.properties)
        for each in spool.each_relationship()
    )
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write(f"// {FORMAT} {VERSION}: {spool.nodes} nodes, {spool.relationships} relationships\n")
        out.write("// For an empty database of Neo4j 5.26 or newer.\n")
        out.write(indexes)
        for name, rows in (("script_nodes", nodes), ("script_relationships", relationships)):
            out.writelines(_statements(f"exchange/{name}", rows))
        out.write(f"// The end of {spool.nodes} nodes and {spool.relationships} relationships.\n")


def index_statements(dimension: int) -> str:
    """The statements that make all constraints and indexes of a graph, with vectors of ``dimension`` numbers."""
    names = [each for each in query_names("schema") if not each.startswith(("schema/drop", "schema/await"))]
    statements = []
    for name in sorted(names, key=lambda each: (not each.startswith("schema/constraint"), each)):
        kind = name.removeprefix(_VECTOR)
        options = literal(vector_options(kind, dimension)) if name.startswith(_VECTOR) else ""
        statements.append(load_query(name).text.replace("$options", options) + ";\n")
    return "".join(statements)


def empty_list_statements(nodes: Iterable[Node]) -> Iterator[str]:
    """The statements that give ``nodes`` their lists without items."""
    names = ((node.id, [name for name, value in node.properties.items() if value == []]) for node in nodes)
    return _statements("exchange/empty_lists", (literal({"id": id_, "names": each}) for id_, each in names if each))


def _statements(name: str, rows: Iterable[str]) -> Iterator[str]:
    text = load_query(name).text
    return (text.replace("$rows", f"[{batch}]", 1) + ";\n" for batch in _batches(rows))


def _batches(rows: Iterable[str]) -> Iterator[str]:
    batch: list[str] = []
    signs = 0
    for row in rows:
        if batch and (len(batch) == _ROWS or signs + len(row) > _SIGNS):
            yield ",\n".join(batch)
            batch, signs = [], 0
        batch.append(row)
        signs += len(row)
    if batch:
        yield ",\n".join(batch)


def _row(labels_or_ends: dict[str, Any], properties: dict[str, Any]) -> str:
    fixed = "".join(f"{name}: {literal(value)}, " for name, value in labels_or_ends.items())
    inside = ", ".join(f"`{name}`: {_value(value)}" for name, value in properties.items())
    return f"{{{fixed}properties: {{{inside}}}}}"


def _value(value: Any) -> str:
    """``value``, as a file holds it, as Cypher writes it."""
    if isinstance(value, list):
        return "[" + ",".join(map(_value, value)) + "]"
    if not isinstance(value, dict):
        return literal(value)
    ((kind, inner),) = value.items()
    if kind == "float":
        return literal(FLOATS[inner])
    if kind == "bytes":
        raise InputError("Cypher has no form for bytes, which the graph has. Export it as .jsonl or .graphml.")
    return f"{kind}({literal(inner)})"
