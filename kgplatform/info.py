"""What a graph says of itself: its documents, its schema, its counts."""

from __future__ import annotations

from dataclasses import dataclass

from kgplatform.build.schema import Expansion, Schema
from kgplatform.function_calls import CallStatistics


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document of the graph. ``characters`` and ``tokens`` of its text; chunks by what became of them.

    ``pages`` of its gist memory, and how many percent of its words the gists save, once each page has one.
    """

    id: str
    name: str
    uri: str
    source: str
    characters: int
    tokens: int
    addedAt: str  # noqa: N815 - as the graph's property is called
    chunks: int
    extracted: int
    failed: int
    pages: int = 0
    compression: float | None = None


@dataclass(frozen=True, slots=True)
class GraphSchema:
    """The schema of the last ingest, as it was given, and what was added to it since."""

    schema: Schema
    expansions: tuple[Expansion, ...]


@dataclass(frozen=True, slots=True)
class ElementGraph:
    """The figures of GraphReader's Table 9. A node is a key element with all its forms that has a fact; nodes that
    share a fact are neighbours."""

    nodes: int
    facts: int
    mean_neighbours: float
    most_neighbours: int
    mean_facts: float
    most_facts: int


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of nodes by label and relationships by type, the graph that GraphReader walks, and its kept walks."""

    nodes: dict[str, int]
    relationships: dict[str, int]
    elements: ElementGraph
    calls: CallStatistics | None
