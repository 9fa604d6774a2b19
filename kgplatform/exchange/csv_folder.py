"""A folder of CSV files for `neo4j-admin database import full`: the fastest way into a new database.

Each kind of node has a file, and each of the platform's own types of relationship; ``relations.csv`` has all others.
The columns of a file stand in another, ``…-header.csv``. Where a property has values of several types, the rows are
parted by them. ``import.sh`` is the command, ``after-import.cypher`` makes what the command does not: constraints,
indexes, and lists without items, which it takes for no value.

In a cell, texts stand in quotes, quotes in them are doubled. An empty cell is no value; two quotes are an empty text.
The items of a list are parted by U+001F, which no text may hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from kgplatform.errors import InputError
from kgplatform.exchange.elements import TEMPORAL, Element, Node, Spool, Types, kinds_of, type_of
from kgplatform.extract.schema import reserved_relationship
from kgplatform.ingest.graph_state import vector_options
from kgplatform.neo4j.pasteable import literal
from kgplatform.query import load_query, query_names

_NODE_COLUMNS = ("id:ID", ":LABEL")
_EDGE_COLUMNS = (":START_ID", ":END_ID", ":TYPE")
_ITEM_END = "\x1f"
_STATEMENT_ROWS = 200
_VECTOR = "neo4j/schema/vector_"
_SCRIPT = """\
#!/bin/sh
# Brings this folder into a new database of Neo4j 5.26 or newer. Run it in this folder, while that database is stopped,
# as the user that Neo4j runs as. Then start the database, and run after-import.cypher:
#   cypher-shell -d "${1:-neo4j}" -f after-import.cypher
# A database that is there already is left alone, unless --overwrite-destination=true is added below: that deletes it.
set -e
neo4j-admin database import full \\
"""


@dataclass(slots=True)
class _Table:
    """A file and its columns: ``(name, type)`` of the properties."""

    name: str
    columns: list[tuple[str, str]]
    stream: TextIO


class _Tables:
    """The files of nodes, or those of relationships. Rows go to the file that has the types of their properties."""

    def __init__(self, folder: Path, types: dict[str, Types], open_files: ExitStack) -> None:
        self._folder = folder
        self._open = open_files
        self._types = {group: {name: _settled(kinds) for name, kinds in each.items()} for group, each in types.items()}
        self._tables: dict[tuple[str, tuple[str, ...]], _Table] = {}

    def add(self, group: str, fixed: list[str], element: Element) -> None:
        """Write a row."""
        table = self._table(group, element.properties)
        try:
            values = [element.properties.get(name) for name, _ in table.columns]
            cells = ["" if value is None else cell_of(value) for value in values]
        except ValueError as error:
            raise InputError(
                f"CSV has no form for {error}, which the graph has. Export it as .jsonl or .graphml."
            ) from error
        table.stream.write(",".join((*fixed, *cells)) + "\n")

    def finish(self, fixed: tuple[str, ...]) -> list[_Table]:
        """Write the headers, and give the tables in the order of their names."""
        for table in self._tables.values():
            header = ",".join((*fixed, *(f"{name}:{kind}" for name, kind in table.columns)))
            (self._folder / header_name(table.name)).write_text(header + "\n", "utf-8")
        return sorted(self._tables.values(), key=lambda table: table.name)

    def _table(self, group: str, properties: dict[str, Any]) -> _Table:
        types = self._types[group]
        mixed = [name for name, kinds in sorted(types.items()) if len(kinds) > 1]
        own = {name: type_of(properties[name]) for name in mixed if name in properties}
        # A list without items is in the column of the first type of list.
        lists = {name: next(kind for kind in types[name] if kind.endswith("[]")) for name in own if own[name] == "[]"}
        variant = tuple(f"{name}:{kind}" for name, kind in (own | lists).items())
        if (group, variant) not in self._tables:
            before = sum(key[0] == group for key in self._tables)
            name = f"{group}-{before + 1}.csv" if before else f"{group}.csv"
            mine = dict(column.rsplit(":", 1) for column in variant)
            names = [name for name in sorted(types) if name in mine or name not in mixed]
            columns = [(name, mine.get(name, types[name][0])) for name in names]
            stream = self._open.enter_context((self._folder / name).open("w", encoding="utf-8", newline=""))
            self._tables[group, variant] = _Table(name, columns, stream)
        return self._tables[group, variant]


def _settled(kinds: set[str]) -> list[str]:
    """The types of a column; an empty list is of any type of list."""
    known = sorted(kinds - {"[]"})
    is_told = "[]" not in kinds or any(kind.endswith("[]") for kind in known)
    return known if is_told else [*known, "string[]"]


def header_name(name: str) -> str:
    """The file with the columns of the file ``name``."""
    return f"{name.removesuffix('.csv')}-header.csv"


def write_csv(spool: Spool, path: Path) -> None:
    """Write what ``spool`` holds into the new folder ``path``."""
    path.mkdir()
    relationship_types: dict[str, Types] = {}
    for kind, types in spool.relationship_types.items():
        mine = relationship_types.setdefault(_group(kind), {})
        for name, kinds in types.items():
            mine[name] = mine.get(name, set()) | kinds
    with ExitStack() as open_files:
        nodes = _Tables(path, {_file(kind): types for kind, types in spool.node_types.items()}, open_files)
        edges = _Tables(path, relationship_types, open_files)
        for node in spool.each_node():
            nodes.add(_file(kinds_of(node.labels)[0]), [cell_of(node.id), cell_of(list(node.labels))], node)
        for edge in spool.each_relationship():
            edges.add(_group(edge.type), [cell_of(edge.start), cell_of(edge.end), cell_of(edge.type)], edge)
        node_tables, edge_tables = nodes.finish(_NODE_COLUMNS), edges.finish(_EDGE_COLUMNS)
    parts = [f"  --nodes={header_name(table.name)},{table.name} \\\n" for table in node_tables]
    parts += [f"  --relationships={header_name(table.name)},{table.name} \\\n" for table in edge_tables]
    options = "  --array-delimiter=U+001F --multiline-fields=true --id-type=string \\\n"
    (path / "import.sh").write_text(f'{_SCRIPT}{"".join(parts)}{options}  "${{1:-neo4j}}"\n', "utf-8")
    (path / "import.sh").chmod(0o755)
    with (path / "after-import.cypher").open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(_index_statements(next(spool.each_node()).properties["embeddingDimension"]))
        out.writelines(_empty_list_statements(spool.each_node()))


def _file(kind: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower()


def _group(kind: str) -> str:
    """The file of a type of relationship, without its suffix: a user's type may not be fit to name one."""
    return kind.lower().replace("_", "-") if reserved_relationship(kind) == kind else "relations"


def _index_statements(dimension: int) -> Iterator[str]:
    """The statements that make all constraints and indexes of a graph, with vectors of ``dimension`` numbers."""
    names = [name for name in query_names("neo4j/schema") if "/drop" not in name and "/await" not in name]
    for name in sorted(names, key=lambda name: ("/constraint" not in name, name)):
        kind = name.removeprefix(_VECTOR)
        options = literal(vector_options(kind, dimension)) if name.startswith(_VECTOR) else ""
        yield load_query(name).text.replace("$options", options) + ";\n"


def _empty_list_statements(nodes: Iterator[Node]) -> Iterator[str]:
    """The statements that give ``nodes`` their lists without items."""
    text = load_query("exchange/empty_lists").text
    named = ((node.id, [name for name, value in node.properties.items() if value == []]) for node in nodes)
    rows = (literal({"id": id_, "names": names}) for id_, names in named if names)
    while batch := ",\n".join(islice(rows, _STATEMENT_ROWS)):
        yield text.replace("$rows", f"[{batch}]", 1) + ";\n"


def cell_of(value: Any) -> str:
    """``value`` in a cell. Raises ``ValueError`` for what has no form there."""
    if not isinstance(value, list):
        return _quoted(value) if isinstance(value, str) else _scalar(value)
    if set(map(type, value)) == {float}:  # a vector
        return _quoted(_ITEM_END.join(map(repr, value)))
    items = [item if isinstance(item, str) else _scalar(item) for item in value]
    if items == [""]:
        raise ValueError("a list of one empty text")
    if any(_ITEM_END in item for item in items):
        raise ValueError("a list with the sign U+001F in a text")
    return _quoted(_ITEM_END.join(items))


def _scalar(value: Any) -> str:
    if isinstance(value, dict):
        ((kind, inner),) = value.items()
        if kind == "float" or kind in TEMPORAL:
            return str(inner)
        raise ValueError(f"a value of the type {kind}")
    return ("true" if value else "false") if isinstance(value, bool) else repr(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
