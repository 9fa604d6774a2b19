"""A file into the graph: all of it is looked at first, then written in batches, each with the word how far it got.

An import that was interrupted resumes where it stopped when the same file is imported again. Until then the graph says
that it is half of one, and every other command refuses it.

Into a graph that has something in it an import merges: what is not there is added, what is there stays. Left out is
what follows from a graph as a whole, and is made again from the larger one: the knowledge tree, gists, and which names
are likely the same. Names, likenesses and forms are settled at once; the tree and gists on demand.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timezone
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from kgplatform.errors import InputError, StoreError
from kgplatform.exchange.check import Contents, NodeKinds, check_elements
from kgplatform.exchange.elements import (
    Element,
    ExchangeReport,
    Node,
    PlacedElement,
    Relationship,
    for_database,
    is_made_by_database,
    kinds_of,
    read_lines,
    type_of,
)
from kgplatform.ingest.graph_state import define_indexes, define_keys, drop_unfit_vector_indexes, drop_vector_indexes
from kgplatform.ingest.settle import settle
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import Parameters, Row, Store
from kgplatform.query import batches
from kgplatform.records import SILENT, Progress
from kgplatform.settings import Settings

LEFT_OUT = "The tree, gists and likenesses of the file were left out: run `kgplatform tree`, and `kgplatform gist`."

_MADE = "exchange/made_values"
_BATCH = 1000
_BATCH_SIGNS = 16 * 2**20
"""Of texts, and items of lists."""
_FILLED_AT_ONCE = 10_000
"""From so many nodes on, vector indexes that an emptied graph still has are dropped, and made of all nodes at the end.
With fewer they stay if they fit: Neo4j plans every statement again when an index goes or comes."""
_DERIVED_KINDS = frozenset({"Graph", "Community", "Keyword", "Page"})
_DERIVED_TYPES = frozenset({"SAME_AS", "FORM_OF"})
"""What a merge leaves out."""
_KEYS = ("fact", "rank", "number", "words")
"""What tells relationships of one type between the same two nodes apart."""
_BLOCK = 2**20


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
    if format not in (None, "jsonl") or source.is_dir() or source.suffix.lower() in (".graphml", ".cypher"):
        raise InputError(
            "An import reads JSON lines: export the graph as .jsonl, and import that. GraphML and CSV are for other "
            "programs, and `cypher-shell -f` runs Cypher scripts.",
            "format",
        )
    if source.exists() and not (source.is_file() or source.is_dir()):  # a stream, which can be read once
        with _spooled(settings.home_folder, source) as copy:
            try:
                report = import_graph(store, settings, embedder, copy, merge=merge, progress=progress)
            except InputError as error:
                raise InputError(str(error).replace(str(copy), str(source)), *error.options) from error
            return replace(report, path=source)
    try:
        if not source.is_file():
            raise InputError(f"{source} is not a file. Name what was exported.")
        progress("checking", 0, 1)
        contents = check_elements(source, read_lines(source), lambda rows: store.read(_MADE, rows=rows))
        progress("checking", 1, 1)
        work = _begun(store, contents, _digest_of(source), merge)
        _write(store, work, read_lines(source), progress)
        notes = _finish(store, work, settings, embedder, read_lines(source), progress)
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error.strerror or error}.") from error
    seconds = round(time.perf_counter() - started, 3)
    return ExchangeReport(len(contents.kinds), contents.relationships, "jsonl", source, seconds, notes)


@contextmanager
def _spooled(home: Path, stream: Path) -> Iterator[Path]:
    """A file with all that ``stream`` gives, for a while."""
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="import-", dir=home) as folder:
        copy = Path(folder) / stream.name
        try:
            with stream.open("rb") as source, copy.open("wb") as target:
                shutil.copyfileobj(source, target)
        except OSError as error:
            raise InputError(f"{stream} cannot be kept in {home}: {error.strerror or error}.") from error
        yield copy


@dataclass(frozen=True, slots=True)
class _Work:
    """An import that has begun: what it brings, into what, and how many elements of the file were ``done`` before."""

    contents: Contents
    merges: bool
    done: int

    @property
    def total(self) -> int:
        return len(self.contents.kinds) + self.contents.relationships


def _begun(store: Store, contents: Contents, digest: str, merge: bool) -> _Work:
    """Decide whether to begin or to resume, and mark the graph as half of an import."""
    rows = store.read("ingest/graph_state")
    state: Row = rows[0]["graph"] if rows else {}
    marks = {f"{word} {digest}": word == "merge" for word in ("import", "merge")}
    if (mark := state.get("importing")) is not None:
        if mark not in marks:
            raise StoreError(
                "An import of another file into this graph was interrupted. Import that file again to finish it, or "
                "remove all nodes of the graph."
            )
        return _Work(contents, marks[mark], state["imported"])
    if merges := bool(store.read("exchange/has_content")[0]["any"]):
        if not merge:
            raise InputError(
                "The graph is not empty: an import would mix two graphs. Name another home folder, or add to this "
                "graph with the option merge.",
                "merge",
            )
        _check_merge(store, contents, state)
    define_keys(store)
    begun = {key: contents.graph.properties[key] for key in ("format", "embeddingModel", "embeddingDimension")}
    if merges:
        begun["format"] = min(begun["format"], state.get("format", begun["format"]))  # what either lacks is made
    elif len(contents.kinds) < _FILLED_AT_ONCE:
        drop_unfit_vector_indexes(store, begun["embeddingDimension"])
    else:
        drop_vector_indexes(store)
    marked = {"importing": next(key for key, is_merge in marks.items() if is_merge == merges), "imported": 0}
    store.write(("ingest/set_graph_state", {"state": begun | marked}))
    return _Work(contents, merges, 0)


def _write(store: Store, work: _Work, elements: Iterator[PlacedElement], progress: Progress) -> None:
    done = work.done
    rest = (element for _, element in islice(elements, done, None))
    for batch in _batches(rest):
        for _, group in groupby(batch, type):
            part = list(group)
            _write_part(store, work, part, done)
            done += len(part)
        progress("importing", done, work.total)


def _batches(elements: Iterator[Element]) -> Iterator[list[Element]]:
    """As many at a time as a transaction takes: few where they have long texts, which the server's memory must hold."""
    batch: list[Element] = []
    signs = 0
    for element in elements:
        batch.append(element)
        signs += sum(len(value) for value in element.properties.values() if isinstance(value, str | list))
        if len(batch) == _BATCH or signs > _BATCH_SIGNS:
            yield batch
            batch, signs = [], 0
    if batch:
        yield batch


def _write_part(store: Store, work: _Work, part: Sequence[Element], done: int) -> None:
    """Nodes alone, or relationships alone. ``done`` elements of the file came before them."""
    progress = {"done": done, "count": len(part)}
    nodes = [element for element in part if isinstance(element, Node)]
    relationships = [element for element in part if isinstance(element, Relationship)]
    if work.merges and nodes:
        new, met = _merge_nodes(store, work.contents, nodes)
        written = store.write(
            ("exchange/create_nodes", {"rows": new, **progress}), ("exchange/meet_elements", {"rows": met})
        )
    elif work.merges:
        rows = _merge_relationships(store, work.contents, relationships)
        store.write(("exchange/merge_relationships", {"rows": rows, **progress}))
        return
    elif nodes:
        new = _node_rows(store, [node for node in nodes if "Graph" not in node.labels])
        written = store.write(("exchange/create_nodes", {"rows": new, **progress}))
    else:
        new = _relationship_rows(store, work.contents.kinds, relationships)
        written = store.write(("exchange/create_relationships", {"rows": new, **progress}))
    if written[0][0]["written"] != (len(relationships) or len(new)):
        raise StoreError(
            "Another import into this graph is running, or nodes of it went missing. Wait for it, then run it again."
        )


def _finish(
    store: Store,
    work: _Work,
    settings: Settings,
    embedder: Callable[[], Embedder],
    elements: Iterator[PlacedElement],
    progress: Progress,
) -> tuple[str, ...]:
    """Indexes, and no mark any more. What it notes for the report."""
    if work.merges:
        _recount(store, elements)
        store.write(("exchange/unmark", {}))
        # Nodes that are not settled yet are marked as such: the next ingest, or the same import, continues with them.
        done = settle(store, embedder(), settings, progress)
        return (LEFT_OUT, *done.all_notes())
    graph = work.contents.graph
    more = [kind.lower() for kind in ("Community", "Page") if kind in work.contents.present]
    progress("indexes", 0, 1)
    define_indexes(store, graph.properties["embeddingDimension"], more)
    progress("indexes", 1, 1)
    row = _node_rows(store, [graph])[0]
    store.write(("exchange/replace_graph_state", row))
    return ()


def _digest_of(path: Path) -> str:
    """SHA-256 over the format's name and the file: an import that an earlier version began goes on."""
    digest = hashlib.sha256(b"jsonl")
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _check_merge(store: Store, contents: Contents, state: Row) -> None:
    """Raise ``InputError`` if the file cannot be added to the graph: other vectors, or another text of a document."""
    theirs = contents.graph.properties
    if state.get("reembedding") or theirs.get("reembedding"):
        raise InputError("Embedding the graph again was interrupted. Run `kgplatform reembed` first.")
    pairs = [(each.get("embeddingModel"), each.get("embeddingDimension")) for each in (state, theirs)]
    if pairs[0] != pairs[1]:
        (mine, width), (other, other_width) = pairs
        raise InputError(
            f"The graph was embedded with {mine} ({width} dimensions), the file's with {other} ({other_width}). "
            "Run `kgplatform reembed` on one of them, so that both have the same model."
        )
    for batch in batches(contents.documents):
        if others := store.read("exchange/other_texts", rows=batch):
            raise InputError(
                f"The graph has another text of {others[0]['name']!r} than the file. Remove it first, with "
                "`kgplatform remove`, or keep to one of them."
            )


def _merge_nodes(store: Store, contents: Contents, nodes: Sequence[Node]) -> tuple[list[Row], list[Row]]:
    """The rows of those that are new, and of key elements that both have."""
    wanted = [node for node in nodes if _DERIVED_KINDS.isdisjoint(node.labels)]
    there = _element_ids(store, contents.kinds, (node.id for node in wanted))
    new = [_due(node) for node in wanted if node.id not in there]
    met = [
        {"element": there[node.id], "labels": list(node.labels), "inSchema": node.properties.get("inSchema")}
        for node in wanted
        if node.id in there and "KeyElement" in node.labels
    ]
    return _node_rows(store, new), met


def _merge_relationships(store: Store, contents: Contents, relationships: Sequence[Relationship]) -> list[Row]:
    """The rows of those that may be new, each with the property that tells it from others."""
    wanted = [relationship for relationship in relationships if relationship.type not in _DERIVED_TYPES]
    rows = _relationship_rows(store, contents.kinds, wanted)
    keys = [next((key for key in _KEYS if key in row["properties"]), "") for row in rows]
    return [row | {"key": key, "value": row["properties"].get(key)} for row, key in zip(rows, keys, strict=True)]


def _recount(store: Store, elements: Iterable[PlacedElement]) -> None:
    """Count again what passages and facts of the file say, now that both graphs speak of them."""
    stream = (element for _, element in elements if isinstance(element, Node))
    while batch := list(islice(stream, _BATCH)):
        statements: list[tuple[str, Parameters]] = [
            ("ingest/recount_statements", {"passages": _ids(batch, "Chunk")}),
            ("exchange/recount_weights", {"facts": _ids(batch, "Fact")}),
        ]
        store.write(*statements)


def _ids(nodes: Iterable[Node], kind: str) -> list[str]:
    return [node.id for node in nodes if kinds_of(node.labels) == [kind]]


def _due(node: Node) -> Node:
    """A key element with a mark that its name and likenesses are to be settled: those of the file were left out."""
    if "KeyElement" not in node.labels:
        return node
    return Node(node.id, tuple(sorted({*node.labels, "Pending"})), node.properties | {"joinDue": True})


def _node_rows(store: Store, nodes: Sequence[Node]) -> list[Row]:
    """Labels and properties, with the ``id`` among them."""
    found = _made(store, [{"id": node.id, **node.properties} for node in nodes])
    return [
        {"labels": list(node.labels), "properties": properties} for node, properties in zip(nodes, found, strict=True)
    ]


def _relationship_rows(store: Store, kinds: NodeKinds, relationships: Sequence[Relationship]) -> list[Row]:
    """Types, properties, and where the ends are in the database; without those of which an end is not there."""
    where = _element_ids(
        store, kinds, (end for relationship in relationships for end in (relationship.start, relationship.end))
    )
    there = [
        relationship for relationship in relationships if relationship.start in where and relationship.end in where
    ]
    found = _made(store, [edge.properties for edge in there])
    return [
        {"start": where[edge.start], "end": where[edge.end], "type": edge.type, "properties": properties}
        for edge, properties in zip(there, found, strict=True)
    ]


def _element_ids(store: Store, kinds: NodeKinds, ids: Iterable[str]) -> dict[str, str]:
    """Where nodes of a file are in the database, by their ids; those that are not there are left out."""
    wanted = sorted(set(ids))
    by_kind: dict[str, list[str]] = defaultdict(list)
    for node_id, kind in zip(wanted, kinds.kinds(wanted), strict=True):
        if kind is not None:
            by_kind[kind].append(node_id)
    return {row["id"]: row["element"] for row in store.read("exchange/element_ids", ids=by_kind)}


def _made(store: Store, every: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Properties as the driver takes them. Only the database can make dates with all their zones and digits."""
    asked: list[Row] = []
    for properties in every:
        for value in filter(is_made_by_database, properties.values()):
            items = value if isinstance(value, list) else [value]
            asked += [{"type": type_of(item), "value": item[type_of(item)]} for item in items]
    made = iter([_with_offset(row["made"]) for row in store.read(_MADE, rows=asked)] if asked else ())

    def of(value: Any) -> Any:
        if not is_made_by_database(value):
            return for_database(value)
        return [next(made) for _ in value] if isinstance(value, list) else next(made)

    return [{name: of(value) for name, value in properties.items()} for properties in every]


def _with_offset(value: Any) -> Any:
    """The driver reads the offset Z as the place UTC, and would write it as that."""
    zone = getattr(value, "tzinfo", None)
    return value.replace(tzinfo=timezone.utc) if getattr(zone, "zone", None) == "UTC" else value
