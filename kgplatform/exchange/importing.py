"""A file into the graph: all of it is looked at first, then written in batches, each with the word how far it got.

An import that was interrupted goes on where it stopped when the same file is imported again. Until then the graph says
that it is half of one, and every other command refuses it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path

from kgplatform.build.settle import define_indexes, define_keys, drop_vector_indexes, settle
from kgplatform.embed import Embedder
from kgplatform.errors import InputError, StoreError
from kgplatform.exchange.checking import Contents, check_elements
from kgplatform.exchange.csv_folder import read_csv
from kgplatform.exchange.elements import SILENT, Element, ExchangeReport, Node, Placed, Progress, Relationship
from kgplatform.exchange.files import chosen_format, digest_of
from kgplatform.exchange.graphml import read_graphml
from kgplatform.exchange.lines import read_lines
from kgplatform.exchange.merging import LEFT_OUT, check_merge, merge_nodes, merge_relationships, recount
from kgplatform.exchange.writing import node_rows, relationship_rows
from kgplatform.settings import Settings
from kgplatform.store import Row, Store

_READERS: dict[str, Callable[[Path], Iterator[Placed]]] = {
    "jsonl": read_lines,
    "graphml": read_graphml,
    "csv": read_csv,
}
_BATCH = 1000


def import_graph(
    store: Store,
    settings: Settings,
    embedder: Callable[[], Embedder],
    path: str | Path,
    format: str | None = None,
    *,
    merge: bool = False,
    progress: Progress = SILENT,
) -> ExchangeReport:
    """Bring the graph of a file that ``export_graph`` wrote into an empty graph, or with ``merge`` into any.

    Nothing is written unless all of the file can be. ``embedder`` is asked for only to merge. Raises ``InputError`` for
    a file that cannot be used and for a graph that is not empty, and ``StoreError``.
    """
    started = time.perf_counter()
    source = Path(path).expanduser().absolute()
    chosen = chosen_format(source, format)
    try:
        contents = _looked_at(source, chosen, progress)
        work = _begun(store, contents, digest_of(source, chosen), merge)
        _write(store, work, _READERS[chosen](source), progress)
        notes = _finish(store, work, settings, embedder, _READERS[chosen](source), progress)
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error.strerror or error}.") from error
    seconds = round(time.perf_counter() - started, 3)
    return ExchangeReport(len(contents.kinds), contents.relationships, chosen, source, seconds, notes)


@dataclass(frozen=True, slots=True)
class _Work:
    """An import that has begun: what it brings, into what, and how many elements of the file were ``done`` before."""

    contents: Contents
    merges: bool
    done: int

    @property
    def total(self) -> int:
        return len(self.contents.kinds) + self.contents.relationships


def _looked_at(source: Path, chosen: str, progress: Progress) -> Contents:
    if chosen == "cypher":
        raise InputError(
            f"A Cypher script is run, not imported: `cypher-shell -f {source.name}`, in an empty database of Neo4j."
        )
    if not source.exists() or source.is_dir() != (chosen == "csv"):
        raise InputError(f"There is no {'folder' if chosen == 'csv' else 'file'} {source}. Name what was exported.")
    progress("checking", 0, 1)
    contents = check_elements(source, _READERS[chosen](source))
    progress("checking", 1, 1)
    return contents


def _begun(store: Store, contents: Contents, digest: str, merge: bool) -> _Work:
    """Decide whether to begin or to go on, and mark the graph as half of an import."""
    rows = store.read("build/graph_state")
    state: Row = rows[0]["graph"] if rows else {}
    marks = {f"{word} {digest}": word == "merge" for word in ("import", "merge")}
    if (mark := state.get("importing")) is not None:
        if mark not in marks:
            raise StoreError(
                "An import of another file into this graph was interrupted. Import that file again to finish it, or "
                "remove all nodes of the graph."
            )
        return _Work(contents, marks[mark], state["imported"])
    merges = _merges(store, contents, state, merge)
    define_keys(store)
    begun = {key: contents.graph.properties[key] for key in ("format", "embeddingModel", "embeddingDimension")}
    if not merges:
        drop_vector_indexes(store)  # an emptied graph may have had another model
    marked = {"importing": next(key for key, is_merge in marks.items() if is_merge == merges), "imported": 0}
    store.write(("build/set_graph_state", {"state": begun | marked}))
    return _Work(contents, merges, 0)


def _merges(store: Store, contents: Contents, state: Row, merge: bool) -> bool:
    if not store.read("exchange/has_content")[0]["any"]:
        return False
    if not merge:
        raise InputError(
            "The graph is not empty: an import would mix two graphs. Name another home folder, or add --merge (in "
            "Python: merge=True) to add what it lacks."
        )
    check_merge(store, contents, state)
    return True


def _write(store: Store, work: _Work, elements: Iterator[Placed], progress: Progress) -> None:
    done = work.done
    rest = (element for _, element in islice(elements, done, None))
    while batch := list(islice(rest, _BATCH)):
        for _, group in groupby(batch, type):
            part = list(group)
            _write_part(store, work, part, done)
            done += len(part)
        progress("importing", done, work.total)


def _write_part(store: Store, work: _Work, part: Sequence[Element], done: int) -> None:
    """Nodes alone, or relationships alone. ``done`` elements of the file came before them."""
    progress = {"done": done, "count": len(part)}
    nodes = [each for each in part if isinstance(each, Node)]
    relationships = [each for each in part if isinstance(each, Relationship)]
    if work.merges and nodes:
        new, met = merge_nodes(store, work.contents, nodes)
        written = store.write(
            ("exchange/create_nodes", {"rows": new, **progress}), ("exchange/meet_elements", {"rows": met})
        )
    elif work.merges:
        rows = merge_relationships(store, work.contents, relationships)
        store.write(("exchange/merge_relationships", {"rows": rows, **progress}))
        return
    elif nodes:
        new = node_rows(store, [node for node in nodes if "Graph" not in node.labels])
        written = store.write(("exchange/create_nodes", {"rows": new, **progress}))
    else:
        new = relationship_rows(store, work.contents.kinds, relationships)
        written = store.write(("exchange/create_relationships", {"rows": new, **progress}))
    if written[0][0]["written"] != (len(relationships) or len(new)):
        raise StoreError(
            "Another import into this graph is under way, or nodes of it went missing. Wait for it, then run it again."
        )


def _finish(
    store: Store,
    work: _Work,
    settings: Settings,
    embedder: Callable[[], Embedder],
    elements: Iterator[Placed],
    progress: Progress,
) -> tuple[str, ...]:
    """Indexes, and no mark any more. What it notes for the report."""
    if work.merges:
        recount(store, elements)
        store.write(("exchange/unmark", {}))
        # What is not settled yet is marked as such, node by node: the next ingest, or the same import, goes on with it.
        settle(store, embedder(), settings, progress)
        return (LEFT_OUT,)
    graph = work.contents.graph
    more = [kind.lower() for kind in ("Community", "Page") if kind in work.contents.present]
    progress("indexes", 0, 1)
    define_indexes(store, graph.properties["embeddingDimension"], more)
    progress("indexes", 1, 1)
    row = node_rows(store, [graph])[0]
    store.write(("exchange/replace_graph_state", row))
    return ()
