"""The whole graph into a file: every node of the platform, and every relationship between two of them.

The same graph gives the same bytes. It is read in pages of each kind, in the order of ids; what else is in the database
stays out.

GraphML is as networkx, igraph, Gephi and yEd read it: typed keys, labels and types as data. It has texts, whole
numbers, numbers and truth values. A property of another type stands as JSON, and the data ``json`` of its node or edge
lists the names of those.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape, quoteattr

from kgplatform.errors import InputError, StoreError
from kgplatform.exchange.csv_folder import write_csv
from kgplatform.exchange.elements import (
    FORMAT,
    KINDS,
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
from kgplatform.ingest.graph_state import graph_state
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import SILENT, Progress

_PAGE = 500


def export_graph(
    store: Store, path: str | Path, format: str | None = None, progress: Progress = SILENT
) -> ExchangeReport:
    """Write the graph to ``path`` as JSON lines, GraphML or a folder of CSV files.

    ``format``: "jsonl", "graphml" or "csv"; by default what the name's suffix says. A file that is there is
    replaced once the new one is whole. Raises ``InputError``, and ``StoreError`` if the graph was changed meanwhile.
    """
    started = time.perf_counter()
    target = Path(path).expanduser().absolute()
    chosen = chosen_format(target, format)
    if "embeddingDimension" not in graph_state(store):
        raise InputError("The graph is empty: there is nothing to export. Run `kgplatform ingest PATH…` first.")
    with whole(target, is_folder=chosen == "csv") as folder:
        spool = _read_graph(store, folder, progress)
        progress("writing", 0, 1)
        _WRITERS[chosen](spool, folder / "made")
        progress("writing", 1, 1)
    seconds = round(time.perf_counter() - started, 3)
    return ExchangeReport(spool.nodes, spool.relationships, chosen, target, seconds)


def _read_graph(store: Store, folder: Path, progress: Progress) -> Spool:
    last_change = store.last_change()
    there = store.read("exchange/node_count")[0]["nodes"]
    with Spool(folder) as spool:
        for element in _elements(store):
            spool.add(element)
            if isinstance(element, Node) and spool.nodes % _PAGE == 0:
                progress("exporting", spool.nodes, there)
    progress("exporting", spool.nodes, spool.nodes)
    if store.last_change() != last_change:
        _check_unchanged(store, spool, progress)
    return spool


def _check_unchanged(store: Store, spool: Spool, progress: Progress) -> None:
    """Raise ``StoreError`` unless the graph, read a second time, is what ``spool`` holds.

    Something changed the database meanwhile. It may have been another program's part of it; and whatever is read twice
    alike was there, all at once, between the first time and the second.
    """
    with spool.node_lines.open("rb") as nodes, spool.relationship_lines.open("rb") as relationships:
        done = 0
        for element in _elements(store):
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
            rows.sort(key=lambda row: str(row["id"]))
            for row in rows:
                yield from _of(row)
            after = rows[-1]["id"]


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
    found = [
        Relationship(kind, row["id"], end, _for_file(properties, kind))
        for kind, end, properties in row["relationships"]
    ]
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
        _flush(folder / "made")
        # A folder takes the place of an empty one, a file that of any file.
        (folder / "made").replace(target)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _flush(made: Path) -> None:
    """Its bytes are on the disk before it gets its name: a machine that stops leaves no half of it."""
    for path in sorted(made.iterdir()) if made.is_dir() else [made]:
        with path.open("rb") as stream:
            os.fsync(stream.fileno())


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
    node_keys, edge_keys = _keys(spool.node_types, "n"), _keys(spool.relationship_types, "e")
    with path.open("wb") as out:
        _write(out, f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="{_NAMESPACE}">')
        for id_, owner, kind in _FIXED:
            _write_key(out, id_, owner, "json" if id_ == "ejson" else id_, kind)
        for owner, keys in (("node", node_keys), ("edge", edge_keys)):
            for (name, kind), id_ in keys.items():
                _write_key(out, id_, owner, name, kind)
        _write(out, '<graph id="graph" edgedefault="directed">')
        head = {"format": FORMAT, "version": VERSION, "nodes": spool.nodes, "relationships": spool.relationships}
        _write(out, "".join(_data(name, str(value)) for name, value in head.items()))
        for node in spool.each_node():
            labels = _data("labels", ":" + ":".join(node.labels))
            _write(out, f"<node id={_attribute(node.id)}>{labels}{_properties(node, node_keys, 'json')}</node>")
        for number, edge in enumerate(spool.each_relationship(), start=1):
            ends = f"source={_attribute(edge.start)} target={_attribute(edge.end)}"
            inside = _data("label", edge.type) + _properties(edge, edge_keys, "ejson")
            _write(out, f'<edge id="e{number}" {ends}>{inside}</edge>')
        _write(out, "</graph>\n</graphml>")


def _keys(types: dict[str, Types], prefix: str) -> Keys:
    found = {(name, kind) for each in types.values() for name, kinds in each.items() for kind in kinds}
    pairs = {(name, kind if kind in _SCALARS else "string") for name, kind in found}
    return {pair: f"{prefix}{number}" for number, pair in enumerate(sorted(pairs))}


def _write_key(out: BinaryIO, id_: str, owner: str, name: str, kind: str) -> None:
    _write(out, f'<key id="{id_}" for="{owner}" attr.name={_attribute(name)} attr.type="{kind}"/>')


def _properties(element: Element, keys: Keys, marker: str) -> str:
    parts, as_json = [], []
    for name, value in element.properties.items():
        kind = type_of(value)
        if kind not in _SCALARS or (kind == "string" and _NO_XML.search(value)):
            as_json.append(name)
            # Other signs than ASCII need no escape, those that XML lacks do.
            parts.append(_data(keys[name, "string"], _NO_XML.sub(_escaped, compact(value))))
        else:
            parts.append(_data(keys[name, kind], _text(value)))
    marked = [_data(marker, compact(as_json))] if as_json else []
    return "".join((*marked, *parts))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return _INFINITE[value["float"]]
    return value if isinstance(value, str) else json.dumps(value) if isinstance(value, bool) else repr(value)


def _escaped(sign: re.Match[str]) -> str:
    return f"\\u{ord(sign[0]):04x}"


def _data(key: str, text: str) -> str:
    return f'<data key="{key}">{escape(text, _LINE_ENDS)}</data>'


def _attribute(text: str) -> str:
    return quoteattr(text, {**_LINE_ENDS, "\n": "&#10;", "\t": "&#9;"})


def _write(out: BinaryIO, text: str) -> None:
    out.write(text.encode("utf-8") + b"\n")


_WRITERS: dict[str, Callable[[Spool, Path], None]] = {"jsonl": write_lines, "graphml": write_graphml, "csv": write_csv}
