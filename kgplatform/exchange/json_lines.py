"""JSON lines: a first line that says what the file is, then one node or relationship a line, all nodes first.

{"format":"kgplatform-graph","version":1,"nodes":2,"relationships":1}
{"node":"4f…","labels":["Entity","KeyElement","Person"],"properties":{"name":"Cyrus Field",…}}
{"relationship":"FOUNDED","start":"4f…","end":"91…","properties":{"weight":2,…}}

In this form a graph also lies on the disk while it is exported (``Spool``), whatever the format of the export.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from kgplatform.errors import InputError
from kgplatform.exchange.elements import FORMAT, VERSION, Element, Node, PlacedElement, Relationship, kinds_of, type_of

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
    if isinstance(value, dict):
        match value:
            case {"node": str(id_), "labels": list(labels), "properties": dict(properties)} if len(value) == 3:
                if all(isinstance(label, str) for label in labels):
                    return Node(id_, tuple(sorted(labels)), properties)
            case {
                "relationship": str(kind),
                "start": str(start),
                "end": str(end),
                "properties": dict(properties),
            } if len(value) == 4:
                return Relationship(kind, start, end, properties)
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
    try:
        return json.loads(line.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}, line {number}, is not valid JSON. Nothing was imported.") from error


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


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
            _note(self.node_types[kinds_of(element.labels)[0]], element.properties)
        else:
            self.relationships += 1
            self._relationships.write(line_of(element))
            _note(self.relationship_types[element.type], element.properties)

    def each_node(self) -> Iterator[Node]:
        """All nodes."""
        return (each for each in _stored(self.node_lines) if isinstance(each, Node))

    def each_relationship(self) -> Iterator[Relationship]:
        """All relationships."""
        return (each for each in _stored(self.relationship_lines) if isinstance(each, Relationship))


def _note(types: Types, properties: dict[str, Any]) -> None:
    for name, value in properties.items():
        types[name].add(type_of(value))


def _stored(path: Path) -> Iterator[Element]:
    with path.open("rb") as stream:
        for line in stream:
            yield element_of(json.loads(line))


def write_lines(spool: Spool, path: Path) -> None:
    """Write what ``spool`` holds, which it has as lines already."""
    with path.open("wb") as out:
        head = {"format": FORMAT, "version": VERSION, "nodes": spool.nodes, "relationships": spool.relationships}
        out.write(compact(head).encode("utf-8") + b"\n")
        for part in (spool.node_lines, spool.relationship_lines):
            with part.open("rb") as stream:
                while block := stream.read(2**20):
                    out.write(block)
