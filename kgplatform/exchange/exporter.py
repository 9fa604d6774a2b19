"""The whole graph into a file: every node of the platform, and every relationship between two of them.

The same graph gives the same bytes. It is read in pages of each kind, in the order of ids; what else is in the database
stays out.

GraphML is as networkx, igraph, Gephi and yEd read it: typed keys, labels and types as data. It has texts, whole
numbers, numbers and truth values. A property of another type stands as JSON, and the data ``json`` of its node or edge
lists the names of those.

CSV is a folder for `neo4j-admin database import full`: the fastest way into a new database. Each kind of node has a
file, and each of the platform's own types of relationship; ``relations.csv`` has all others. The columns of a file
stand in another, ``…-header.csv``. Where a property has values of several types, the rows are parted by them.
``import.sh`` is the command, ``after-import.cypher`` makes what the command does not: constraints, indexes, and lists
without items, which it takes for no value. In a cell, texts stand in quotes, quotes in them are doubled. An empty cell
is no value; two quotes are an empty text. The items of a list are parted by U+001F, which no text may hold.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, BinaryIO, TextIO
from xml.sax.saxutils import escape, quoteattr

from kgplatform.errors import InputError, StoreError
from kgplatform.exchange.elements import (
    FORMAT,
    KINDS,
    TEMPORAL,
    VERSION,
    Element,
    ExchangeReport,
    Node,
    Relationship,
    Spool,
    Types,
    chosen_format,
    compact,
    for_file,
    is_name,
    kinds_of,
    line_of,
    type_of,
    write_lines,
)
from kgplatform.exchange.part import part_elements
from kgplatform.extract.schema import reserved
from kgplatform.ingest.graph_state import graph_state, vector_options
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import literal, load_query, query_names
from kgplatform.records import SILENT, Progress

_PAGE = 500


def export_graph(
    store: Store,
    path: str | Path,
    format: str | None = None,
    progress: Progress = SILENT,
    documents: Collection[str] | None = None,
) -> ExchangeReport:
    """Write the graph to ``path`` as JSON lines, GraphML or a folder of CSV files; or, with ``documents`` (ids), the
    part of it that those speak of (``exchange.part``).

    ``format``: "jsonl", "graphml" or "csv"; by default what the name's suffix says. A file that is there is
    replaced once the new one is whole. Raises ``InputError``, and ``StoreError`` if the graph was changed meanwhile.
    """
    started = time.perf_counter()
    target = Path(path).expanduser().absolute()
    chosen = chosen_format(target, format)
    if "embeddingDimension" not in graph_state(store):
        raise InputError("The graph is empty: there is nothing to export. Run `kgplatform ingest PATH…` first.")
    with whole(target, is_folder=chosen == "csv") as folder:
        spool = _read_graph(store, folder, progress, documents)
        progress("writing", 0, 1)
        _WRITERS[chosen](spool, folder / "made")
        progress("writing", 1, 1)
    seconds = round(time.perf_counter() - started, 3)
    return ExchangeReport(spool.nodes, spool.relationships, chosen, target, seconds)


def export_part(store: Store, path: Path, documents: Collection[str], progress: Progress = SILENT) -> None:
    """Write the part that ``documents`` speak of to ``path`` as JSON lines, while nothing else writes the graph."""
    with Spool(path.parent) as spool:
        for element in part_elements(store, documents):
            spool.add(element)
            if isinstance(element, Node) and spool.nodes % _PAGE == 0:
                progress("copying", spool.nodes, 0)
    write_lines(spool, path)


def _read_graph(store: Store, folder: Path, progress: Progress, documents: Collection[str] | None) -> Spool:
    last_change = store.last_change()
    there = store.read("exchange/node_count")[0]["nodes"]
    elements = partial(_elements, store) if documents is None else partial(part_elements, store, documents)
    with Spool(folder) as spool:
        for element in elements():
            spool.add(element)
            if isinstance(element, Node) and spool.nodes % _PAGE == 0:
                progress("exporting", spool.nodes, there)
    progress("exporting", spool.nodes, spool.nodes)
    if store.last_change() != last_change:
        _check_unchanged(elements(), spool, progress)
    return spool


def _check_unchanged(elements: Iterator[Element], spool: Spool, progress: Progress) -> None:
    """Raise ``StoreError`` unless the graph, read a second time, is what ``spool`` holds.

    Something changed the database meanwhile. It may have been another program's part of it; and whatever is read twice
    alike was there, all at once, between the first time and the second.
    """
    with spool.node_lines.open("rb") as nodes, spool.relationship_lines.open("rb") as relationships:
        done = 0
        for element in elements:
            lines = nodes if isinstance(element, Node) else relationships
            if line_of(element) != lines.readline():
                break
            done += isinstance(element, Node)
            if done % _PAGE == 0:
                progress("comparing", done, spool.nodes)
        else:
            if not nodes.readline() and not relationships.readline():
                return
    raise StoreError("The graph was changed while it was exported: nothing was written. Export it again.")


def _elements(store: Store) -> Iterator[Element]:
    """Every node, each followed by the relationships that begin at it."""
    for kind in KINDS:
        after = ""
        while rows := store.read("exchange/export_nodes", kind=kind, after=after, limit=_PAGE):
            for row in sorted(rows, key=lambda row: str(row["id"])):
                yield from _of(row)
                after = row["id"]


def _of(row: Row) -> Iterator[Element]:
    labels = tuple(sorted(row["labels"]))
    if len(kinds := kinds_of(labels)) > 1:
        raise InputError(
            f"The graph cannot be exported: the node {row['id']} has the labels {' and '.join(kinds)}, which exclude "
            "each other. Remove one of them."
        )
    properties = _for_file(row["properties"], labels[0])
    del properties["id"]
    _check_names(labels)
    yield Node(row["id"], labels, properties)
    found = [Relationship(kind, row["id"], end, _for_file(own, kind)) for kind, end, own in row["relationships"]]
    found.sort(key=lambda relationship: (relationship.type, relationship.end))
    if any((one.type, one.end) == (other.type, other.end) for one, other in pairwise(found)):
        found.sort(key=lambda relationship: (relationship.type, relationship.end, compact(relationship.properties)))
    for relationship in found:
        _check_names((relationship.type,))
        yield relationship


def _for_file(properties: dict[str, Any], of: str) -> dict[str, Any]:
    _check_names(tuple(properties))
    try:
        return {name: for_file(value) for name, value in sorted(properties.items())}
    except ValueError as error:
        raise InputError(f"The graph cannot be exported: {error} (a property of {of}).") from error


def _check_names(names: tuple[str, ...]) -> None:
    for name in names:
        if not is_name(name):
            raise InputError(
                f"The graph cannot be exported: a label, type or property is called {name!r}. Names are of letters, "
                "digits, blanks and _ - . alone: rename it."
            )


@contextlib.contextmanager
def whole(target: Path, *, is_folder: bool) -> Iterator[Path]:
    """A folder beside ``target`` to work in. What then lies in it as ``made`` takes the place of ``target``.

    Whatever goes wrong, ``target`` stays as it was, and the folder is gone. Raises ``InputError`` where nothing can be
    written, or a folder is there already and is not empty.
    """
    if is_folder and target.is_dir() and any(target.iterdir()):
        raise InputError(f"{target} is not empty. Name a folder that is new, or empty.")
    if target.is_dir() != is_folder and target.exists():
        raise InputError(f"{target} is {'not a' if is_folder else 'a'} folder. Name another place to export to.")
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name[:100]}.", dir=target.parent))
    except OSError as error:
        raise InputError(f"Nothing can be written into {target.parent}: {error.strerror or error}.") from error
    try:
        yield folder
        made = folder / "made"
        # Its bytes are on the disk before it gets its name: a machine that stops leaves no half of it.
        for path in sorted(made.iterdir()) if made.is_dir() else [made]:
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
        made.replace(target)  # a folder takes the place of an empty one, a file that of any file
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_SCALARS = ("boolean", "long", "double", "string")
_FIXED = (
    ("format", "graph", "string"),
    ("version", "graph", "long"),
    ("nodes", "graph", "long"),
    ("relationships", "graph", "long"),
    ("labels", "node", "string"),
    ("json", "node", "string"),
    ("label", "edge", "string"),
    ("ejson", "edge", "string"),
)
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INFINITE = {"NaN": "NaN", "Infinity": "INF", "-Infinity": "-INF"}
"""As XML Schema calls them."""
_LINE_ENDS = {"\r": "&#13;"}

Keys = dict[tuple[str, str], str]
"""Ids of keys by the property's name and type."""


def write_graphml(spool: Spool, path: Path) -> None:
    """Write what ``spool`` holds."""
    declared = [(id_, owner, "json" if id_ == "ejson" else id_, kind) for id_, owner, kind in _FIXED]
    keys: dict[str, Keys] = {}
    for owner, types in (("node", spool.node_types), ("edge", spool.relationship_types)):
        found = {(name, kind) for each in types.values() for name, kinds in each.items() for kind in kinds}
        pairs = sorted({(name, kind if kind in _SCALARS else "string") for name, kind in found})
        keys[owner] = {pair: f"{owner[0]}{number}" for number, pair in enumerate(pairs)}
        declared += [(id_, owner, name, kind) for (name, kind), id_ in keys[owner].items()]
    with path.open("wb") as out:
        _write(out, f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{_NAMESPACE}">')
        for id_, owner, name, kind in declared:
            _write(out, f'<key id="{id_}" for="{owner}" attr.name={_attribute(name)} attr.type="{kind}"/>')
        _write(out, '<graph id="graph" edgedefault="directed">')
        head = {"format": FORMAT, "version": VERSION, "nodes": spool.nodes, "relationships": spool.relationships}
        _write(out, "".join(_data(name, str(value)) for name, value in head.items()))
        for node in spool.each(Node):
            labels = _data("labels", ":" + ":".join(node.labels))
            _write(out, f"<node id={_attribute(node.id)}>{labels}{_properties(node, keys['node'], 'json')}</node>")
        for number, edge in enumerate(spool.each(Relationship), start=1):
            ends = f"source={_attribute(edge.start)} target={_attribute(edge.end)}"
            inside = _data("label", edge.type) + _properties(edge, keys["edge"], "ejson")
            _write(out, f'<edge id="e{number}" {ends}>{inside}</edge>')
        _write(out, "</graph>\n</graphml>")


def _properties(element: Element, keys: Keys, marker: str) -> str:
    parts, as_json = [], []
    for name, value in element.properties.items():
        kind = type_of(value)
        if kind not in _SCALARS or (kind == "string" and _NO_XML.search(value)):
            as_json.append(name)
            # Other signs than ASCII need no escape, those that XML lacks do.
            escaped = _NO_XML.sub(lambda sign: f"\\u{ord(sign[0]):04x}", compact(value))
            parts.append(_data(keys[name, "string"], escaped))
        else:
            text = _INFINITE[value["float"]] if isinstance(value, dict) else value
            parts.append(_data(keys[name, kind], text if isinstance(text, str) else json.dumps(text)))
    marked = [_data(marker, compact(as_json))] if as_json else []
    return "".join((*marked, *parts))


def _data(key: str, text: str) -> str:
    return f'<data key="{key}">{escape(text, _LINE_ENDS)}</data>'


def _attribute(text: str) -> str:
    return quoteattr(text, {**_LINE_ENDS, "\n": "&#10;", "\t": "&#9;"})


def _write(out: BinaryIO, text: str) -> None:
    out.write(text.encode("utf-8") + b"\n")


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
        self._types: dict[str, dict[str, list[str]]] = {group: {} for group in types}
        for group, name, kinds in ((group, *column) for group, each in types.items() for column in each.items()):
            known = sorted(kinds - {"[]"})  # an empty list is of any type of list
            is_told = "[]" not in kinds or any(kind.endswith("[]") for kind in known)
            self._types[group][name] = known if is_told else [*known, "string[]"]
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


def header_name(name: str) -> str:
    """The file with the columns of the file ``name``."""
    return f"{name.removesuffix('.csv')}-header.csv"


def write_csv(spool: Spool, path: Path) -> None:
    """Write what ``spool`` holds into the new folder ``path``."""
    path.mkdir()
    files = {kind: re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower() for kind in spool.node_types}
    groups: dict[str, str] = {}  # the files of relationships, of which a user's type may not be fit to name one
    relationship_types: dict[str, Types] = {}
    for kind, types in spool.relationship_types.items():
        groups[kind] = kind.lower().replace("_", "-") if reserved("relation", kind) == kind else "relations"
        mine = relationship_types.setdefault(groups[kind], {})
        for name, kinds in types.items():
            mine[name] = mine.get(name, set()) | kinds
    with ExitStack() as open_files:
        nodes = _Tables(path, {files[kind]: types for kind, types in spool.node_types.items()}, open_files)
        edges = _Tables(path, relationship_types, open_files)
        for node in spool.each(Node):
            nodes.add(files[kinds_of(node.labels)[0]], [cell_of(node.id), cell_of(list(node.labels))], node)
        for edge in spool.each(Relationship):
            edges.add(groups[edge.type], [cell_of(edge.start), cell_of(edge.end), cell_of(edge.type)], edge)
        node_tables, edge_tables = nodes.finish(_NODE_COLUMNS), edges.finish(_EDGE_COLUMNS)
    parts = [f"  --nodes={header_name(table.name)},{table.name} \\\n" for table in node_tables]
    parts += [f"  --relationships={header_name(table.name)},{table.name} \\\n" for table in edge_tables]
    parts.append("  --array-delimiter=U+001F --multiline-fields=true --id-type=string \\\n")
    (path / "import.sh").write_text(f'{_SCRIPT}{"".join(parts)}  "${{1:-neo4j}}"\n', "utf-8")
    (path / "import.sh").chmod(0o755)
    with (path / "after-import.cypher").open("w", encoding="utf-8", newline="\n") as out:
        dimension = next(spool.each(Node)).properties["embeddingDimension"]
        indexes = [name for name in query_names("neo4j/schema") if "/drop" not in name and "/await" not in name]
        for name in sorted(indexes, key=lambda name: ("/constraint" not in name, name)):
            kind = name.removeprefix(_VECTOR)
            options = literal(vector_options(kind, dimension)) if name.startswith(_VECTOR) else ""
            out.write(load_query(name).text.replace("$options", options) + ";\n")
        # The statements that give nodes their lists without items.
        lacking = ((node.id, [n for n, value in node.properties.items() if value == []]) for node in spool.each(Node))
        rows = (literal({"id": id_, "names": names}) for id_, names in lacking if names)
        while batch := ",\n".join(islice(rows, _STATEMENT_ROWS)):
            out.write(load_query("exchange/empty_lists").text.replace("$rows", f"[{batch}]", 1) + ";\n")


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


_WRITERS: dict[str, Callable[[Spool, Path], None]] = {"jsonl": write_lines, "graphml": write_graphml, "csv": write_csv}
