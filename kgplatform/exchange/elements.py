"""What a file of a graph consists of: nodes and relationships, with values as JSON can hold them.

A file of JSON lines says first what it is, then has one node or relationship a line, all nodes first:

    {"format":"kgplatform-graph","version":1,"nodes":2,"relationships":1}
    {"node":"4f…","labels":["Entity","KeyElement","Person"],"properties":{"name":"Cyrus Field",…}}
    {"relationship":"FOUNDED","start":"4f…","end":"91…","properties":{"weight":2,…}}

In this form a graph also lies on the disk while it is exported (``Spool``), whatever the format of the export.

JSON has no dates, durations, points, bytes and no infinity. In a file each of those is an object with one key:

    {"date": "2026-11-21"}   {"time": "12:00:00+01:00"}   {"localtime": …}   {"datetime": …}   {"localdatetime": …}
    {"duration": "P1M2DT3.5S"}   {"point": {"srid": 4326, "x": 8.6, "y": 49.4}}   {"bytes": "base64"}   {"float": "NaN"}
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from kgplatform.errors import InputError
from kgplatform.text import in_word, unknown

FORMAT = "kgplatform-graph"
VERSION = 1
"""Of the files: raised with every change that an older reader could not read."""

SUFFIXES = {"jsonl": ".jsonl", "graphml": ".graphml", "csv": ""}
"""Of the formats. CSV is a folder."""

KINDS = (
    *("Graph", "Document", "Chunk", "KeyElement", "Attribute", "Fact", "Community", "Keyword", "Page", "ProposedType"),
    *("Correction", "Run", "Step"),
)
"""Every node of the platform has exactly one of these labels; an ``Entity`` is a ``KeyElement`` too."""

GRAPH_ID = "graph"
LONGEST_NAME = 200
_IN_NAMES = "_ -."


@dataclass(frozen=True, slots=True)
class Node:
    """A node. ``labels`` are sorted; ``properties`` do not hold the ``id``."""

    id: str
    labels: tuple[str, ...]
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship between the nodes with the ids ``start`` and ``end``."""

    type: str
    start: str
    end: str
    properties: dict[str, Any]


Element = Node | Relationship
E = TypeVar("E", Node, Relationship)
PlacedElement = tuple[str, Element]
"""Where in a file it stands ("line 12"), and what stands there."""


@dataclass(frozen=True, slots=True)
class ExchangeReport:
    """What an export wrote, or what an import brought in. ``notes`` say what was left out, and why."""

    nodes: int
    relationships: int
    format: str
    path: Path
    seconds: float
    notes: tuple[str, ...] = field(default=())


def kinds_of(labels: Iterable[str]) -> list[str]:
    """Those of ``labels`` that say what kind of node it is."""
    return [label for label in labels if label in KINDS]


@lru_cache(maxsize=10_000)
def is_name(name: str | None) -> bool:
    """Whether ``name`` can be a label, a relationship type or a property's name in every format: letters, digits,
    ``_``, ``-``, ``.`` and blanks, beginning with a letter or ``_``."""
    if not name or len(name) > LONGEST_NAME or name != name.strip():
        return False
    return (name[0].isalpha() or name[0] == "_") and all(in_word(each) or each in _IN_NAMES for each in name)


def chosen_format(path: Path, asked: str | None) -> str:
    """The format of ``path``: the one that was asked for, else by its suffix; a folder is CSV. Raises ``InputError``
    for a format that does not exist, and for a name that does not say one."""
    by_suffix = {suffix: name for name, suffix in SUFFIXES.items()}
    found = "csv" if path.is_dir() else by_suffix.get(path.suffix.lower())
    chosen = found if asked is None else asked
    if chosen == "cypher" or (chosen is None and path.suffix.lower() == ".cypher"):
        raise InputError(
            "Cypher scripts are neither written nor imported: for another server export .jsonl and import that there "
            "(NEO4J_URI), or a folder of CSV files for neo4j-admin; `cypher-shell -f` runs a script that you have."
        )
    if chosen is None:
        raise InputError(
            f"The format cannot be told from the name {path.name}. Use .jsonl, .graphml or, for a folder of CSV files, "
            "no extension; or give format=FORMAT.",
            "format",
        )
    if chosen not in SUFFIXES:
        raise InputError(unknown("format", chosen, SUFFIXES))
    return chosen


TEMPORAL = ("date", "time", "localtime", "datetime", "localdatetime", "duration")
FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_AXES = "xyz"
_LARGEST = 2**63
_SRIDS = {4326: 2, 4979: 3, 7203: 2, 9157: 3}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_TEMPORAL = 120


def for_file(value: Any) -> Any:
    """``value``, as the driver gave it, as a file holds it. Raises ``ValueError`` for one that has no form there."""
    if isinstance(value, list):
        return value if _are_plain(value) else [for_file(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, bytes | bytearray):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if hasattr(value, "srid"):
        return {"point": {"srid": value.srid, **dict(zip(_AXES, map(float, value), strict=False))}}
    if hasattr(value, "iso_format"):
        kind, text, zone = type(value).__name__.lower(), str(value.iso_format()), getattr(value, "tzinfo", None)
        if kind in ("time", "datetime") and zone is None:  # the driver has one class for either of Cypher's
            kind = f"local{kind}"
        place = getattr(zone, "key", None) or getattr(zone, "zone", None)
        # UTC is what the driver makes of the offset Z, and no place.
        return {kind: f"{text}[{place}]" if place and place != "UTC" else text}
    raise ValueError(f"a value of the type {type(value).__name__} has no form in a file")


def _are_plain(values: list[Any]) -> bool:
    """Whether JSON has all of them, of a vector of hundreds of numbers too."""
    types = set(map(type, values))
    return types <= {str, bool, int} or (types == {float} and all(map(math.isfinite, values)))


def for_database(value: Any) -> Any:
    """``value`` from a file as the driver takes it, but for temporal ones and points, which the database makes."""
    if isinstance(value, list):
        return value if _are_plain(value) else [for_database(item) for item in value]
    if isinstance(value, dict):
        ((kind, inner),) = value.items()
        return FLOATS[inner] if kind == "float" else base64.b64decode(inner) if kind == "bytes" else value
    return value


def is_made_by_database(value: Any) -> bool:
    """Whether ``value``, as a file holds it, or the items of it, are temporal or points."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and not first.keys() & {"float", "bytes"}


def type_of(value: Any) -> str:
    """``string``, ``long``, ``double``, ``boolean`` or the key of an object; with ``[]`` for a list."""
    if isinstance(value, list):
        return f"{type_of(value[0])}[]" if value else "[]"
    if isinstance(value, dict):
        kind = str(next(iter(value)))
        return "double" if kind == "float" else kind
    names = {bool: "boolean", int: "long", float: "double"}
    return names.get(type(value), "string")


def fault_of(value: Any) -> str | None:
    """Why ``value`` cannot be a property, as the end of a sentence; None if it can."""
    if not isinstance(value, list):
        return _fault_of_one(value)
    if set(map(type, value)) == {float}:  # a vector
        return None
    faults = (_fault_of_one(item) for item in value)
    if fault := next((each for each in faults if each), None):
        return fault
    return "is a list of several types" if len({type_of(item) for item in value}) > 1 else None


def _fault_of_one(value: Any) -> str | None:
    if isinstance(value, str):
        return "has half a character (a lone surrogate) in it" if _LONE_SURROGATE.search(value) else None
    if isinstance(value, bool | float):
        return None
    if isinstance(value, int):
        return None if -_LARGEST <= value < _LARGEST else "is a whole number of more than 64 bits"
    if isinstance(value, dict) and len(value) == 1:
        ((kind, inner),) = value.items()
        return None if _is_special(kind, inner) else f"is not a valid {kind}"
    return "is not a text, number, true, false or list of those" if value is not None else "is null"


def _is_special(kind: object, inner: Any) -> bool:
    if kind == "point":
        srid = inner.get("srid") if isinstance(inner, dict) else None
        axes = _AXES[: _SRIDS.get(srid, 0)] if type(srid) is int else ""
        return bool(axes) and set(inner) == {"srid", *axes} and all(type(inner[axis]) in (int, float) for axis in axes)
    if not isinstance(inner, str):
        return False
    if kind == "bytes":
        try:
            return base64.b64encode(base64.b64decode(inner, validate=True)).decode("ascii") == inner
        except (binascii.Error, ValueError):
            return False
    if kind == "float":
        return inner in FLOATS
    return kind in TEMPORAL and 0 < len(inner) <= _LONGEST_TEMPORAL  # the database makes it, or says that it cannot


def fault_at(path: object, place: str, fault: str) -> InputError:
    """What is wrong with a file at ``place``, such as "line 7"."""
    return InputError(f"{path}, {place}, {fault}. Nothing was imported.")


LONGEST_LINE = 16 * 2**20
"""Bytes. A passage of 4,000 tokens with a vector of 4,096 numbers has an eightieth of that."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def line_of(element: Element) -> bytes:
    """The line of a node or a relationship, with its end."""
    if isinstance(element, Node):
        value = {"node": element.id, "labels": list(element.labels), "properties": element.properties}
    else:
        ends = {"relationship": element.type, "start": element.start, "end": element.end}
        value = {**ends, "properties": element.properties}
    return compact(value).encode("utf-8") + b"\n"


def compact(value: Any) -> str:
    """``value`` as JSON without blanks, the same for the same value."""
    return _ENCODER.encode(value)


def element_of(value: Any) -> Element:
    """The node or relationship of a line. Raises ``ValueError`` with what is wrong with it."""
    match value:
        case {"node": str(id_), "labels": list(labels), "properties": dict(own), **more} if not more:
            if all(isinstance(label, str) for label in labels):
                return Node(id_, tuple(sorted(labels)), own)
        case {"relationship": str(kind), "start": str(start), "end": str(end), "properties": dict(own), **more}:
            if not more:
                return Relationship(kind, start, end, own)
    raise ValueError("is neither a node nor a relationship of a graph that was exported")


def read_lines(path: Path) -> Iterator[PlacedElement]:
    """The elements of a file. Raises ``InputError`` that names the line where it is broken, or the cut-off file."""
    counts = {Node: 0, Relationship: 0}
    with path.open("rb") as stream:
        head = _check_header(path, _parsed(path, 1, _line(path, 1, stream)))
        number = 1
        while line := _line(path, number + 1, stream):
            number += 1
            try:
                element = element_of(_parsed(path, number, line))
            except ValueError as error:
                raise InputError(f"{path}, line {number}, {error}. Nothing was imported.") from error
            counts[type(element)] += 1
            yield f"line {number}", element
    if head != (found := tuple(counts.values())):
        raise InputError(
            f"{path} is cut off, or was changed: it says {head[0]:,} nodes and {head[1]:,} relationships, but has "
            f"{found[0]:,} and {found[1]:,}. Nothing was imported; export the graph again."
        )


def _check_header(path: Path, head: Any) -> tuple[int, int]:
    """How many nodes and relationships a file says that it has. Raises ``InputError`` if it is none of ours."""
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise InputError(f"{path} is not a graph that `kgplatform export` wrote: its first line does not say so.")
    if head.get("version") != VERSION:
        raise InputError(
            f"{path} has version {head.get('version')} of the format; this kgplatform reads {VERSION}. "
            "Export the graph again with this version, or upgrade."
        )
    nodes, relationships = head.get("nodes"), head.get("relationships")
    if type(nodes) is not int or type(relationships) is not int or min(nodes, relationships) < 0:
        raise InputError(f"{path} does not say how many nodes and relationships it has: its first line is damaged.")
    return nodes, relationships


def _line(path: Path, number: int, stream: BinaryIO) -> bytes:
    line = stream.readline(LONGEST_LINE + 1)
    if len(line) > LONGEST_LINE:
        raise InputError(f"{path}, line {number}, is longer than {LONGEST_LINE:,} bytes. Nothing was imported.")
    return line


def _parsed(path: Path, number: int, line: bytes) -> Any:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not JSON")

    try:
        return json.loads(line.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}, line {number}, is not valid JSON. Nothing was imported.") from error


Types = dict[str, set[str]]
"""The types that the values of each property have."""


class Spool:
    """A graph on its way into a file, as JSON lines in a folder, nodes and relationships apart.

    Takes elements in a ``with`` block, and gives them back in the same order, as often as asked. So no more than a page
    of the graph is ever in memory, and a format that must say first what comes later can be written.
    """

    def __init__(self, folder: Path) -> None:
        self.node_lines = folder / "nodes"
        self.relationship_lines = folder / "relationships"
        self.nodes = self.relationships = 0
        self.node_types: dict[str, Types] = defaultdict(lambda: defaultdict(set))
        """By kind."""
        self.relationship_types: dict[str, Types] = defaultdict(lambda: defaultdict(set))

    def __enter__(self) -> Spool:
        self._nodes, self._relationships = self.node_lines.open("wb"), self.relationship_lines.open("wb")
        return self

    def __exit__(self, *_: object) -> None:
        self._nodes.close()
        self._relationships.close()

    def add(self, element: Element) -> None:
        """Write one down."""
        if isinstance(element, Node):
            self.nodes += 1
            self._nodes.write(line_of(element))
            types = self.node_types[kinds_of(element.labels)[0]]
        else:
            self.relationships += 1
            self._relationships.write(line_of(element))
            types = self.relationship_types[element.type]
        for name, value in element.properties.items():
            types[name].add(type_of(value))

    def each(self, kind: type[E]) -> Iterator[E]:
        """All nodes, or all relationships."""
        with (self.node_lines if kind is Node else self.relationship_lines).open("rb") as stream:
            found = (element_of(json.loads(line)) for line in stream)
            yield from (each for each in found if isinstance(each, kind))


def write_lines(spool: Spool, path: Path) -> None:
    """Write what ``spool`` holds, which it has as lines already."""
    with path.open("wb") as out:
        head = {"format": FORMAT, "version": VERSION, "nodes": spool.nodes, "relationships": spool.relationships}
        out.write(compact(head).encode("utf-8") + b"\n")
        for part in (spool.node_lines, spool.relationship_lines):
            with part.open("rb") as stream:
                while block := stream.read(2**20):
                    out.write(block)
