"""A graph on its way from the database into a file: as JSON lines in a folder of its own, nodes apart.

So no more than a page of it is ever in memory, and a format that must say first what comes later can be written.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from kgplatform.exchange.elements import Element, Node, Relationship, kinds_of
from kgplatform.exchange.lines import element_of, line_of
from kgplatform.exchange.values import type_of

Types = dict[str, set[str]]
"""The types that the values of each property have."""


class Spool:
    """Takes elements, and gives them back in the same order, as often as asked. Used in a ``with`` block to write."""

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        return (each for each in _read(self.node_lines) if isinstance(each, Node))

    def each_relationship(self) -> Iterator[Relationship]:
        """All relationships."""
        return (each for each in _read(self.relationship_lines) if isinstance(each, Relationship))


def _note(types: Types, properties: dict[str, Any]) -> None:
    for name, value in properties.items():
        types[name].add(type_of(value))


def _read(path: Path) -> Iterator[Element]:
    with path.open("rb") as stream:
        for line in stream:
            yield element_of(json.loads(line))
