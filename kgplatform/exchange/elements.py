"""What a file of a graph consists of: nodes and relationships, with values as JSON can hold them.

A value is a string, a whole number, a number, true or false, a list of one of those, or an object with one key that
says what it is: ``{"datetime": "2026-11-21T12:00:00Z"}`` (``values.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from kgplatform.text import in_word

FORMAT = "kgplatform-graph"
VERSION = 1
"""Of the files: raised with every change that an older reader could not read."""

KINDS = (
    *("Graph", "Document", "Chunk", "KeyElement", "Attribute", "Fact", "Community", "Keyword", "Page", "Run", "Step"),
)
"""Every node of the platform has exactly one of these labels; an ``Entity`` is a ``KeyElement`` too."""

GRAPH_ID = "graph"
LONGEST_NAME = 200
_IN_NAMES = "_ -."

Progress = Callable[[str, int, int], None]
"""Called with a stage's name, how much of it is done, and how much there is."""

SILENT: Progress = lambda stage, done, total: None  # noqa: E731 - a default, not a definition


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
Placed = tuple[str, Element]
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
