"""What a file says, looked at as a whole before anything of it is written: a file may come from anybody.

Looked at are names of labels, types and properties, values, ids (each once), the ends of relationships (all there),
vectors (of the length that the file names) and the description of the graph. Dates, times, durations and points are
made by the database itself, which only reads for that: no other parser has all of its bounds. What is kept in memory
of a node is nine bytes: a hash of its id, and its kind.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgplatform.errors import InputError, ServerError, StoreError
from kgplatform.exchange.elements import (
    GRAPH_ID,
    KINDS,
    Element,
    Node,
    PlacedElement,
    Relationship,
    fault_at,
    fault_of,
    is_made_by_database,
    is_name,
    kinds_of,
    type_of,
)
from kgplatform.extract.schema import reserved_label, reserved_relationship
from kgplatform.ingest.bulk import NODES, RELATIONSHIPS
from kgplatform.ingest.graph_state import FORMAT_VERSION
from kgplatform.text import hash64

_LONGEST_ID = 500
_MOST_DIMENSIONS = 4096
_MOST_TYPES = 50_000
"""Of relationships, and of the labels of nodes. Neo4j numbers types with 16 bits."""
_NEEDED: dict[str, tuple[str, ...]] = {"Chunk": ("text",), "KeyElement": ("name", "key"), "Fact": ("text",)}
_INDEXED = {
    **dict.fromkeys(("name", "key", "stem", "nameWords", "consonants", "source", "memory", "thread"), 8000),
    **dict.fromkeys(("seed", "boundBy"), 4000),  # they share one index
}
"""Properties with an index, which refuses longer ones, and how many bytes of UTF-8 they may have."""
_MORE_TYPES = {"Page": {"memory": "string"}, "Run": {"thread": "string"}, "Community": {"treeDue": "long"}}
_WORDS = {
    **{"string": "text", "long": "a whole number", "double": "a number", "boolean": "true or false"},
    **{"datetime": "a datetime", "string[]": "a list of texts", "long[]": "a list of whole numbers"},
}
_VECTORS = ("embedding", "elementEmbedding")
_BATCH = 5000

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


def check_elements(path: object, elements: Iterable[PlacedElement], make: Make) -> Contents:
    """Look at everything that a file holds. Raises ``InputError`` that names the place where something is wrong."""
    check = _Check(str(path), make)
    for place, element in elements:
        check.take(place, element)
    return check.finish()


class _Check:
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

    def take(self, place: str, element: Element) -> None:
        """The next one."""
        for name, value in element.properties.items():
            if not is_name(name):
                raise self._fault(place, f"has a property with a name that cannot be used: {name[:80]!r}")
            if fault := fault_of(value):
                raise self._fault(place, f"has a property {name!r} that {fault}")
            if is_made_by_database(value):
                self._to_make += ((place, name, each) for each in (value if isinstance(value, list) else [value]))
        if len(self._to_make) >= _BATCH:
            self._check_made(self._to_make)
            self._to_make = []
        if isinstance(element, Node):
            self._take_node(place, element)
        else:
            self._take_relationship(place, element)

    def finish(self) -> Contents:
        """After the last one."""
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
        reserved = reserved_relationship(relationship.type)
        if not is_name(relationship.type) or reserved not in (None, relationship.type):
            raise self._fault(place, f"has a type that cannot be used: {relationship.type[:80]!r}")
        if fault := _fault_of_types(relationship.type, relationship.properties):
            raise self._fault(place, fault)
        self._count_names(place, "types of relationships", (relationship.type,))
        self._found.relationships += 1
        self._ends.append((place, relationship))
        if len(self._ends) == _BATCH:
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
        if not is_name(label) or reserved_label(label) not in (None, label):
            return f"has a label that cannot be used: {label[:80]!r}"
    if not 0 < len(node.id) <= _LONGEST_ID or fault_of(node.id) or "id" in node.properties:
        return "has an id that cannot be used"
    if fault := _fault_of_types(kinds[0], node.properties):
        return fault
    vectors = [node.properties[name] for name in _VECTORS if name in node.properties]
    if not all(isinstance(each, list) and set(map(type, each)) == {float} for each in vectors):
        return "has a vector that is not a list of numbers"
    if not all(map(math.isfinite, chain.from_iterable(vectors))):
        return "has a vector with a number that is too large"
    return None


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
