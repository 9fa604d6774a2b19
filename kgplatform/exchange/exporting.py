"""The whole graph into a file: every node of the platform, and every relationship between two of them.

The same graph gives the same bytes. It is read in pages of each kind, in the order of ids; what else is in the database
stays out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from kgplatform.build.settle import graph_state
from kgplatform.errors import InputError, StoreError
from kgplatform.exchange.csv_folder import write_csv
from kgplatform.exchange.elements import (
    KINDS,
    SILENT,
    Element,
    ExchangeReport,
    Node,
    Progress,
    Relationship,
    is_name,
    kinds_of,
)
from kgplatform.exchange.files import chosen_format, whole
from kgplatform.exchange.graphml import write_graphml
from kgplatform.exchange.lines import compact, first_line, line_of
from kgplatform.exchange.script import index_statements, write_script
from kgplatform.exchange.spool import Spool
from kgplatform.exchange.values import for_file
from kgplatform.store import Row, Store

_PAGE = 500


def export_graph(
    store: Store, path: str | Path, format: str | None = None, progress: Progress = SILENT
) -> ExchangeReport:
    """Write the graph to ``path`` as JSON lines, GraphML, a folder of CSV files or a Cypher script.

    ``format``: "jsonl", "graphml", "csv" or "cypher"; by default what the name's suffix says. A file that is there is
    replaced once the new one is whole. Raises ``InputError``, and ``StoreError`` if the graph was changed meanwhile.
    """
    started = time.perf_counter()
    target = Path(path).expanduser().absolute()
    chosen = chosen_format(target, format)
    state = graph_state(store)
    if "embeddingDimension" not in state:
        raise InputError("The graph is empty: there is nothing to export. Run `kgplatform ingest PATH…` first.")
    with whole(target, is_folder=chosen == "csv") as folder:
        spool = _read_graph(store, folder, progress)
        progress("writing", 0, 1)
        _WRITERS[chosen](spool, folder / "made", index_statements(state["embeddingDimension"]))
        progress("writing", 1, 1)
    seconds = round(time.perf_counter() - started, 3)
    return ExchangeReport(spool.nodes, spool.relationships, chosen, target, seconds)


def _write_lines(spool: Spool, path: Path, indexes: str) -> None:
    """JSON lines are what the spool has already."""
    with path.open("wb") as out:
        out.write(first_line(spool.nodes, spool.relationships))
        for part in (spool.node_lines, spool.relationship_lines):
            with part.open("rb") as stream:
                while block := stream.read(2**20):
                    out.write(block)


_WRITERS: dict[str, Callable[[Spool, Path, str], None]] = {
    "jsonl": _write_lines,
    "graphml": lambda spool, path, indexes: write_graphml(spool, path),
    "csv": write_csv,
    "cypher": write_script,
}


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
        for row in _pages(store, kind):
            yield from _of(row)


def _pages(store: Store, kind: str) -> Iterator[Row]:
    after = ""
    while rows := store.read("exchange/export_nodes", kind=kind, after=after, limit=_PAGE):
        rows.sort(key=lambda row: str(row["id"]))
        yield from rows
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
    found.sort(key=lambda each: (each.type, each.end))
    if any((one.type, one.end) == (other.type, other.end) for one, other in pairwise(found)):
        found.sort(key=lambda each: (each.type, each.end, compact(each.properties)))
    for each in found:
        _check_names((each.type,))
        yield each


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
