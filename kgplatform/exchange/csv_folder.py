"""A folder of CSV files for `neo4j-admin database import full`: the fastest way into a new database.

Each kind of node has a file, and each of the platform's own types of relationship; ``relations.csv`` has all others.
The columns of a file stand in another, ``…-header.csv``. Where a property has values of several types, the rows are
parted by them. ``manifest.json`` lists the files; ``import.sh`` is the command, ``after-import.cypher`` makes what
the command does not: constraints, indexes, and lists without items, which it takes for no value.

In a cell, texts stand in quotes, quotes in them are doubled. An empty cell is no value; two quotes are an empty text.
The items of a list are parted by U+001F, which no text may hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from kgplatform.errors import InputError
from kgplatform.exchange.elements import (
    FLOATS,
    FORMAT,
    TEMPORAL,
    VERSION,
    Element,
    Node,
    PlacedElement,
    Relationship,
    is_name,
    kinds_of,
    type_of,
)
from kgplatform.exchange.json_lines import LONGEST_LINE, Spool, Types, check_counts, check_header
from kgplatform.ingest.graph_state import vector_options
from kgplatform.ingest.schema import reserved_relationship
from kgplatform.neo4j.pasteable import literal
from kgplatform.query import load_query, query_names

MANIFEST = "manifest.json"
_NODE_COLUMNS = ("id:ID", ":LABEL")
_EDGE_COLUMNS = (":START_ID", ":END_ID", ":TYPE")
_ITEM_END = "\x1f"
_TYPES = ("string", "long", "double", "boolean", *TEMPORAL)
_LONG = re.compile(r"-?[0-9]{1,19}")
_CELL = re.compile(r'("(?:[^"]|"")*"|[^",\n]*)(,|\n|$)')
_STATEMENT_ROWS = 200
_VECTOR = "neo4j/schema/vector_"
_FILE_NAME = re.compile(r"[a-z][a-z0-9-]*\.csv")
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
    rows: int = 0
    stream: TextIO | None = field(default=None, repr=False)


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
        assert table.stream is not None
        table.stream.write(",".join((*fixed, *cells)) + "\n")
        table.rows += 1

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
            self._tables[group, variant] = _Table(name, columns, 0, stream)
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
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "nodes": spool.nodes,
        "relationships": spool.relationships,
        "nodeFiles": {table.name: table.rows for table in node_tables},
        "relationshipFiles": {table.name: table.rows for table in edge_tables},
    }
    (path / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")


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


def read_cells(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file as they are written, quotes and all, each with the number of its first line."""
    with path.open("r", encoding="utf-8", newline="") as stream:
        number = begun = size = quotes = 0
        parts: list[str] = []
        for line in _lines(path, stream.readline):
            number += 1
            begun = begun or number
            parts.append(line)
            size += len(line)
            quotes += line.count('"')  # not of all parts again: a text may have a million lines
            if size > LONGEST_LINE:
                raise InputError(f"{path}, line {begun}, is longer than {LONGEST_LINE:,} signs. Nothing was imported.")
            if quotes % 2:
                continue
            yield begun, _split(path, begun, "".join(parts))
            parts, begun, size, quotes = [], 0, 0, 0
        if parts:
            raise InputError(f"{path}, line {begun}, has a quote that is never closed. Nothing was imported.")


def _lines(path: Path, readline: Callable[[int], str]) -> Iterator[str]:
    try:
        while line := readline(LONGEST_LINE + 1):
            yield line
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not in UTF-8. Nothing was imported.") from error


def _split(path: Path, number: int, record: str) -> list[str]:
    cells, at = [], 0
    record = record.removesuffix("\n")
    while found := _CELL.match(record, at):
        cells.append(found[1])
        at = found.end()
        if found[2] != ",":
            break
    if at != len(record) or not found or found[2] == "\n":
        raise InputError(f"{path}, line {number}, is not valid CSV. Nothing was imported.")
    return cells


def value_of(cell: str, kind: str) -> Any:
    """The value of a cell that is not empty, of the ``kind`` that the header says. Raises ``ValueError``."""
    if kind.endswith("[]"):
        text = _text_of(cell)
        return [_item(item, kind[:-2]) for item in text.split(_ITEM_END)] if text else []
    return _text_of(cell) if kind == "string" else _item(cell, kind)


def _text_of(cell: str) -> str:
    """What stands between quotes. Raises ``ValueError`` if none do."""
    if len(cell) < 2 or cell[0] != '"':
        raise ValueError(f"{cell[:40]!r} stands without quotes")
    return cell[1:-1].replace('""', '"')


def _item(text: str, kind: str) -> Any:
    if kind == "string":
        return text
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    if kind == "long" and _LONG.fullmatch(text):  # Python reads more than the digits of a number
        return int(text)
    if kind == "double":
        return {"float": text} if text in FLOATS else float(text)
    if kind in TEMPORAL:
        return {kind: text}
    raise ValueError(f"{text[:40]!r} is not a {kind}")


def files_of(folder: Path) -> list[Path]:
    """All files that an import of ``folder`` reads. Raises ``InputError`` for names that lead out of it."""
    manifest = _manifest(folder)
    names = [name for kind in ("nodeFiles", "relationshipFiles") for name in manifest[kind]]
    return [folder / MANIFEST, *(folder / each for name in names for each in (name, header_name(name)))]


def read_csv(folder: Path) -> Iterator[PlacedElement]:
    """The elements of a folder. Raises ``InputError`` that names the file and the line where it is broken."""
    manifest = _manifest(folder)
    said = check_header(folder / MANIFEST, manifest, "the manifest")
    counts = {"nodeFiles": 0, "relationshipFiles": 0}
    for kind, fixed in (("nodeFiles", _NODE_COLUMNS), ("relationshipFiles", _EDGE_COLUMNS)):
        for name in sorted(manifest[kind]):
            columns = _columns(folder / header_name(name), fixed)
            for number, cells in read_cells(folder / name):
                counts[kind] += 1
                try:
                    yield f"{name}, line {number}", _element(cells, columns)
                except ValueError as error:
                    raise InputError(f"{folder / name}, line {number}, {error}. Nothing was imported.") from error
    check_counts(folder, said, *counts.values())


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        with path.open("rb") as stream:
            written = stream.read(LONGEST_LINE + 1)
        if len(written) > LONGEST_LINE:
            raise InputError(f"{path} is longer than {LONGEST_LINE:,} bytes. Nothing was imported.")
        manifest = json.loads(written)
    except FileNotFoundError as error:
        raise InputError(f"{folder} is not a folder that `kgplatform export` wrote: it has no {MANIFEST}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid JSON. Nothing was imported.") from error
    check_header(path, manifest, "it")
    for kind in ("nodeFiles", "relationshipFiles"):
        names = manifest.get(kind)
        if not isinstance(names, dict) or not all(_FILE_NAME.fullmatch(name) for name in names):
            raise InputError(f"{path} names files that no export has. Nothing was imported.")
        for file in (part for name in names for part in (name, header_name(name))):
            if (folder / file).is_symlink() or not (folder / file).is_file():
                raise InputError(f"{folder / file} is missing, or is not a file. Nothing was imported.")
    return dict(manifest)


def _columns(path: Path, fixed: tuple[str, ...]) -> list[tuple[str, str]]:
    """Names and types of the columns; those that every row has come first, without a type."""
    rows = [cells for _, cells in islice(read_cells(path), 2)]
    names = rows[0] if len(rows) == 1 else []
    columns = [tuple(column.rsplit(":", 1)) for column in names[len(fixed) :]]
    known = all(
        len(column) == 2 and is_name(column[0]) and column[1].removesuffix("[]") in _TYPES for column in columns
    )
    if tuple(names[: len(fixed)]) != fixed or not known or len(set(names)) != len(names):
        raise InputError(f"{path} does not name columns that can be imported. Nothing was imported.")
    return [*((name, "") for name in fixed), *((name, kind) for name, kind in columns)]


def _element(cells: list[str], columns: list[tuple[str, str]]) -> Element:
    if len(cells) != len(columns):
        raise ValueError(f"has {len(cells)} cells, but {len(columns)} columns are named")
    try:
        fixed = [_text_of(cell) for cell, (_, kind) in zip(cells, columns, strict=True) if not kind]
        properties = {
            name: value_of(cell, kind) for cell, (name, kind) in zip(cells, columns, strict=True) if kind and cell
        }
    except ValueError as error:
        raise ValueError(f"has a cell that cannot be read: {error}") from error
    if len(fixed) == len(_NODE_COLUMNS):
        return Node(fixed[0], tuple(sorted(fixed[1].split(_ITEM_END))), properties)
    return Relationship(fixed[2], fixed[0], fixed[1], properties)
