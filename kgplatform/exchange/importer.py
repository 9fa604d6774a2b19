"""A file into the graph: all of it is looked at first, then written in batches, each with the word how far it got.

An import that was interrupted resumes where it stopped when the same file is imported again. Until then the graph says
that it is half of one, and every other command refuses it.

Into a graph that has something in it an import merges: what is not there is added, what is there stays. Left out is
what follows from a graph as a whole, and is made again from the larger one: the knowledge tree, gists, and which names
are likely the same. Names, likenesses and forms are settled at once; the tree and gists on demand.

A file may come from anybody. Looked at are names of labels, types and properties, values, ids (each once), the ends of
relationships (all there), vectors (of the length that the file names) and the description of the graph. Dates, times,
durations and points are made by the database itself, which only reads for that: no other parser has all of its bounds.
What is kept in memory of a node is nine bytes: a hash of its id, and its kind.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timezone
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgplatform.errors import InputError, ServerError, StoreError
from kgplatform.exchange.elements import (
    GRAPH_ID,
    KINDS,
    Element,
    ExchangeReport,
    Node,
    PlacedElement,
    Relationship,
    fault_at,
    fault_of,
    for_database,
    is_made_by_database,
    is_name,
    kinds_of,
    read_lines,
    type_of,
)
from kgplatform.extract.schema import GraphSchema, reserved
from kgplatform.ingest.bulk import NODES, RELATIONSHIPS
from kgplatform.ingest.corrections import correction_of, is_kept_form, mark_all
from kgplatform.ingest.graph_state import (
    FORMAT_VERSION,
    define_indexes,
    define_keys,
    drop_vector_indexes,
)
from kgplatform.ingest.schema_expansion import fill_in
from kgplatform.ingest.settle import settle
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import SILENT, Progress
from kgplatform.settings import Settings
from kgplatform.text import hash64

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

    Nothing is written unless all of the file can be. ``embedder`` is asked for to merge, and for what
    is not settled: of a part of a graph the names. Raises ``InputError`` for
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
            raise InputError(f"{source} is not a file. Name one that `export` wrote.")
        progress("checking", 0, 1)
        contents = _Check(str(source), lambda rows: store.read(_MADE, rows=rows)).contents(read_lines(source))
        progress("checking", 1, 1)
        digest = hashlib.sha256(b"jsonl")  # and the file: an import that an earlier version began goes on
        with source.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
        work = _begun(store, contents, digest.hexdigest(), merge)
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
        drop_vector_indexes(store, but=begun["embeddingDimension"])
    else:
        drop_vector_indexes(store)
    marked = {"importing": next(key for key, is_merge in marks.items() if is_merge == merges), "imported": 0}
    store.write(("ingest/set_graph_state", {"state": begun | marked}))
    return _Work(contents, merges, 0)


def _write(store: Store, work: _Work, elements: Iterator[PlacedElement], progress: Progress) -> None:
    done, total = work.done, len(work.contents.kinds) + work.contents.relationships
    for batch in _batches(element for _, element in islice(elements, done, None)):
        for _, group in groupby(batch, type):
            part = list(group)
            _write_part(store, work, part, done)
            done += len(part)
        progress("importing", done, total)


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
        wanted = [relationship for relationship in relationships if relationship.type not in _DERIVED_TYPES]
        rows = _relationship_rows(store, work.contents.kinds, wanted)
        for row in rows:  # those that may be new, each with the property that tells it from others
            row["key"] = next((key for key in _KEYS if key in row["properties"]), "")
            row["value"] = row["properties"].get(row["key"])
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
        # What passages and facts of the file say is counted again, now that both graphs speak of them.
        stream = (element for _, element in elements if isinstance(element, Node))
        while batch := list(islice(stream, _BATCH)):
            passages, facts = ([node.id for node in batch if kind in node.labels] for kind in ("Chunk", "Fact"))
            store.write(
                ("ingest/recount_statements", {"passages": passages}), ("exchange/recount_weights", {"facts": facts})
            )
        mark_all(store)
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
    row["properties"].pop("adopted", None)  # it names a server: a file from anybody would be given a password for it
    store.write(("exchange/replace_graph_state", {"labels": row["labels"], "properties": row["properties"]}))
    if not (any(store.read("ingest/pending_counts")[0].values()) or store.read("correct/due")):
        return ()
    # A part of a graph, or half of an ingest. Of a part the schema has grown less.
    if (known := GraphSchema.of(graph.properties)) is not None:
        fill_in(store, known.schema, known.grown)
    return tuple(settle(store, embedder(), settings, progress).all_notes())


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
    # A new key element has a mark that its name and likenesses are to be settled: those of the file were left out.
    new = [
        Node(node.id, tuple(sorted({*node.labels, "Pending"})), node.properties | {"joinDue": True})
        if "KeyElement" in node.labels
        else node
        for node in wanted
        if node.id not in there
    ]
    met = [
        {"element": there[node.id], "labels": list(node.labels), "inSchema": node.properties.get("inSchema")}
        for node in wanted
        if node.id in there and "KeyElement" in node.labels
    ]
    return _node_rows(store, new), met


def _node_rows(store: Store, nodes: Sequence[Node]) -> list[Row]:
    """Labels, properties with the ``id`` among them, and vectors apart."""
    found = _made(store, [{"id": node.id, **node.properties} for node in nodes])
    vectors = [{name: own.pop(name) for name in _VECTORS if name in own} for own in found]
    rows = zip(nodes, found, vectors, strict=True)
    return [{"labels": list(node.labels), "properties": own, "vectors": apart} for node, own, apart in rows]


def _relationship_rows(store: Store, kinds: NodeKinds, relationships: Sequence[Relationship]) -> list[Row]:
    """Types, properties, and where the ends are in the database; without those of which an end is not there."""
    where = _element_ids(store, kinds, (end for edge in relationships for end in (edge.start, edge.end)))
    there = [edge for edge in relationships if edge.start in where and edge.end in where]
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
    found = [row["made"] for row in store.read(_MADE, rows=asked)] if asked else []
    # The driver reads the offset Z as the place UTC, and would write it as that.
    is_utc = [getattr(getattr(value, "tzinfo", None), "zone", None) == "UTC" for value in found]
    made = iter(
        [value.replace(tzinfo=timezone.utc) if utc else value for value, utc in zip(found, is_utc, strict=True)]
    )

    def of(value: Any) -> Any:
        if not is_made_by_database(value):
            return for_database(value)
        return [next(made) for _ in value] if isinstance(value, list) else next(made)

    return [{name: of(value) for name, value in properties.items()} for properties in every]


_LONGEST_ID = 500
_MOST_DIMENSIONS = 4096
_MOST_TYPES = 50_000
"""Of relationships, and of the labels of nodes. Neo4j numbers types with 16 bits."""
_NEEDED: dict[str, tuple[str, ...]] = {"Chunk": ("text",), "KeyElement": ("name", "key"), "Fact": ("text",)}
_INDEXED = {
    **dict.fromkeys(("name", "key", "stem", "nameWords", "consonants", "source", "memory", "thread"), 8000),
    **dict.fromkeys(("introducedFor", "predicate"), 8000),
    **dict.fromkeys(("seed", "boundBy"), 4000),  # they share one index
}
"""Properties with an index, which refuses longer ones, and how many bytes of UTF-8 they may have."""
_MORE_TYPES = {
    "Document": {"summary": "string", "questions": "string[]", "introducedFor": "string", "given": "string"},
    "Page": {"memory": "string"},
    "Run": {"thread": "string", "restsOn": "string", "askedWith": "string", "foundThen": "string[]"},
    "Community": {"treeDue": "long"},
}
_WORDS = {
    **{"string": "text", "long": "a whole number", "double": "a number", "boolean": "true or false"},
    **{"datetime": "a datetime", "string[]": "a list of texts", "long[]": "a list of whole numbers"},
}
_VECTORS = ("embedding", "elementEmbedding")
_LARGEST = 3.4e38
"""Number in a vector: it has 32 bits."""
_LOOKED_AT_ONCE = 5000

Make = Callable[[list[dict[str, Any]]], object]
"""Makes temporal values and points (``type`` and ``value`` of each) in the database, or raises ``StoreError``."""


class NodeKinds:
    """The kind of each node of a file, by its id. ``settle`` comes after the last ``add`` and before the first look."""

    def __init__(self) -> None:
        self._hashes = array("Q")
        self._kinds = bytearray()
        self._order: NDArray[np.uint64] = np.empty(0, np.uint64)
        self._ranks: NDArray[np.uint8] = np.empty(0, np.uint8)

    def __len__(self) -> int:
        return len(self._kinds)

    def add(self, node_id: str, kind: str) -> None:
        """Take note of a node."""
        self._hashes.append(hash64(node_id))
        self._kinds.append(KINDS.index(kind))

    def settle(self) -> None:
        """Raise ``ValueError`` if two nodes have one id, with the numbers of both."""
        hashes = np.frombuffer(self._hashes, np.uint64) if self._hashes else np.empty(0, np.uint64)
        order = np.argsort(hashes, kind="stable")
        self._order, self._ranks = hashes[order], np.frombuffer(self._kinds, np.uint8)[order]
        twice = np.flatnonzero(self._order[1:] == self._order[:-1])
        if len(twice):
            raise ValueError(f"nodes {order[twice[0]] + 1:,} and {order[twice[0] + 1] + 1:,} have the same id")

    def kinds(self, ids: Sequence[str]) -> list[str | None]:
        """The kinds of nodes; None for an id that no node has."""
        if not len(self._order):
            return [None] * len(ids)
        wanted = np.fromiter(map(hash64, ids), np.uint64, len(ids))
        places = np.minimum(np.searchsorted(self._order, wanted), len(self._order) - 1)
        there = self._order[places] == wanted
        return [KINDS[self._ranks[at]] if is_there else None for at, is_there in zip(places, there, strict=True)]


@dataclass(slots=True)
class Contents:
    """What a file was found to hold. ``graph`` is the node that describes it; ``present`` are the kinds there are."""

    graph: Node
    kinds: NodeKinds
    relationships: int = 0
    documents: list[dict[str, str]] = field(default_factory=list)
    present: set[str] = field(default_factory=set)


class _Check:
    """Looks at everything that a file holds. Raises ``InputError`` that names the place where something is wrong."""

    def __init__(self, path: str, make: Make) -> None:
        self._path = path
        self._make = make
        self._fault = partial(fault_at, path)
        self._found = Contents(Node(GRAPH_ID, (), {}), NodeKinds())
        self._are_nodes = True
        self._ends: list[tuple[str, Relationship]] = []
        self._lengths: dict[int, str] = {}
        self._without_stem = ""
        self._to_make: list[tuple[str, str, dict[str, Any]]] = []
        self._names: dict[str, set[str]] = {"labels": set(), "types of relationships": set()}

    def contents(self, elements: Iterable[PlacedElement]) -> Contents:
        for place, element in elements:
            for name, value in element.properties.items():
                if not is_name(name):
                    raise self._fault(place, f"has a property with a name that cannot be used: {name[:80]!r}")
                if fault := fault_of(value):
                    raise self._fault(place, f"has a property {name!r} that {fault}")
                if is_made_by_database(value):
                    self._to_make += ((place, name, each) for each in (value if isinstance(value, list) else [value]))
            if len(self._to_make) >= _LOOKED_AT_ONCE:
                self._check_made(self._to_make)
                self._to_make = []
            if isinstance(element, Node):
                self._take_node(place, element)
            else:
                self._take_relationship(place, element)
        self._end_nodes()
        self._check_ends()
        self._check_made(self._to_make)
        if not self._found.graph.labels:
            raise InputError(f"{self._path} does not describe its graph: it has no node of the kind Graph.")
        if self._without_stem and self._found.graph.properties["format"] > 1:  # an older one is given them
            raise self._fault(self._without_stem, "is a KeyElement without a stem")
        dimension = self._found.graph.properties["embeddingDimension"]
        for length, place in self._lengths.items():
            if length != dimension:
                raise self._fault(place, f"has a vector of {length} numbers, and the graph's have {dimension}")
        return self._found

    def _take_node(self, place: str, node: Node) -> None:
        if not self._are_nodes:
            raise self._fault(place, "is a node after the first relationship; nodes come first")
        if fault := _fault_of_node(node):
            raise self._fault(place, fault)
        (kind,) = kinds_of(node.labels)
        self._count_names(place, "labels", node.labels)
        self._found.kinds.add(node.id, kind)
        self._found.present.add(kind)
        for name in _VECTORS:
            if name in node.properties:
                self._lengths.setdefault(len(node.properties[name]), place)
        if kind == "KeyElement" and "stem" not in node.properties:
            self._without_stem = self._without_stem or place
        if kind == "Graph":
            if fault := "is a second description of the graph" if self._found.graph.labels else _fault_of_graph(node):
                raise self._fault(place, fault)
            self._found.graph = node
        elif kind == "Document":
            self._found.documents.append({"id": node.id, "sha256": str(node.properties.get("sha256"))})

    def _take_relationship(self, place: str, relationship: Relationship) -> None:
        self._end_nodes()
        ours = reserved("relation", relationship.type)
        if not is_name(relationship.type) or ours not in (None, relationship.type):
            raise self._fault(place, f"has a type that cannot be used: {relationship.type[:80]!r}")
        if fault := _fault_of_types(relationship.type, relationship.properties):
            raise self._fault(place, fault)
        self._count_names(place, "types of relationships", (relationship.type,))
        self._found.relationships += 1
        self._ends.append((place, relationship))
        if len(self._ends) == _LOOKED_AT_ONCE:
            self._check_ends()

    def _count_names(self, place: str, which: str, names: Iterable[str]) -> None:
        self._names[which].update(names)
        if len(self._names[which]) > _MOST_TYPES:
            raise self._fault(place, f"is too much: a file can have {_MOST_TYPES:,} {which}")

    def _check_made(self, values: list[tuple[str, str, dict[str, Any]]]) -> None:
        """Have all of them made; if the database refuses, find the one that is wrong by halves."""
        try:
            if values:
                self._make([{"type": type_of(value), "value": value[type_of(value)]} for _, _, value in values])
        except ServerError:
            raise
        except (StoreError, InputError) as error:  # what the driver cannot send is an InputError
            if len(values) > 1:
                self._check_made(values[: len(values) // 2])
                self._check_made(values[len(values) // 2 :])
                return
            ((place, name, value),) = values
            kind = type_of(value)
            told = f"has a property {name!r} that is not a valid {kind}: {str(value[kind])[:80]}"
            raise self._fault(place, told) from error

    def _end_nodes(self) -> None:
        if self._are_nodes:
            self._are_nodes = False
            try:
                self._found.kinds.settle()
            except ValueError as error:
                raise InputError(f"{self._path} cannot be imported: {error}. Nothing was imported.") from error

    def _check_ends(self) -> None:
        ends = [each for _, relationship in self._ends for each in (relationship.start, relationship.end)]
        for number, (end, kind) in enumerate(zip(ends, self._found.kinds.kinds(ends), strict=True)):
            if kind is None:
                raise self._fault(self._ends[number // 2][0], f"joins a node that the file does not have: {end[:80]!r}")
        self._ends.clear()


def _fault_of_node(node: Node) -> str | None:
    kinds = kinds_of(node.labels)
    if len(kinds) != 1 or len(set(node.labels)) != len(node.labels):
        return f"has {len(kinds)} labels of a kind instead of one; the kinds are {', '.join(KINDS)}"
    if "Entity" in node.labels and kinds != ["KeyElement"]:
        return "is an Entity, but no KeyElement"
    for label in node.labels:
        if not is_name(label) or reserved("entity", label) not in (None, label):
            return f"has a label that cannot be used: {label[:80]!r}"
    if not 0 < len(node.id) <= _LONGEST_ID or fault_of(node.id) or "id" in node.properties:
        return "has an id that cannot be used"
    if fault := _fault_of_types(kinds[0], node.properties):
        return fault
    if "Correction" in node.labels and not _is_correction(node):
        return "is no correction that can be used"
    if "uncorrected" in node.properties and not is_kept_form(node.properties["uncorrected"]):
        return "has something uncorrected that cannot be used"
    vectors = [node.properties[name] for name in _VECTORS if name in node.properties]
    if not all(isinstance(each, list) and set(map(type, each)) == {float} for each in vectors):
        return "has a vector that is not a list of numbers"
    if not all(abs(each) <= _LARGEST for each in chain.from_iterable(vectors)):
        return "has a vector with a number that is too large"
    return None


def _is_correction(node: Node) -> bool:
    try:
        correction_of({"id": node.id, **node.properties})
    except InputError:
        return False
    return True


def _types() -> dict[str, dict[str, str]]:
    """The types of what the platform itself writes, by the kind of a node or the type of a relationship."""
    found: dict[str, dict[str, str]] = {kind: {"name": "string"} | _MORE_TYPES.get(kind, {}) for kind in KINDS}
    found["KeyElement"]["treeDue"] = "long"
    for labels, columns in (*NODES.values(), *RELATIONSHIPS.values()):
        owner = labels.partition(":")[0] or ("KeyElement" if ":LABEL" in columns else "")
        pairs = (column.rpartition(":") for column in columns.split(","))
        found.setdefault(owner, {}).update({name: kind for name, _, kind in pairs if name and name != "id"})
    del found[""]  # relationships of types that are not the platform's own
    return found


_TYPES = _types()


def _fault_of_types(owner: str, properties: dict[str, Any]) -> str | None:
    """What is wrong with properties that the platform's own statements compute with."""
    types = _TYPES.get(owner, {})
    for name in _NEEDED.get(owner, ()):
        if name not in properties:
            return f"is a {owner} without a {name}"
    for name, value in properties.items():
        if (wanted := types.get(name)) is None:
            continue
        found = type_of(value)
        if found != wanted and (wanted, found) not in (("double", "long"), ("string[]", "[]"), ("long[]", "[]")):
            return f"has a {name} that is not {_WORDS[wanted]}"
        if name in _INDEXED and isinstance(value, str) and len(value.encode()) > _INDEXED[name]:
            return f"has a {name} that is longer than {_INDEXED[name]:,} bytes"
    return None


def _fault_of_graph(node: Node) -> str:
    """What is wrong with the description of the graph; empty if nothing is."""
    format_, model, length = (node.properties.get(key) for key in ("format", "embeddingModel", "embeddingDimension"))
    if node.id != GRAPH_ID or type(format_) is not int or not isinstance(model, str) or type(length) is not int:
        return "describes no graph: it lacks the format, or the embedding model"
    if not 0 < length <= _MOST_DIMENSIONS:
        return f"describes vectors of {length:,} numbers; they have at least 1 and at most {_MOST_DIMENSIONS:,}"
    if format_ < 1:
        return f"is of a graph of format {format_}, which there is not"
    if format_ > FORMAT_VERSION:
        return f"is of a graph of format {format_}; this kgplatform reads {FORMAT_VERSION}: upgrade it"
    return "is of a graph whose import was not finished" if "importing" in node.properties else ""
