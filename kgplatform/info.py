"""What a graph says of itself: its documents, its schema, its counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kgplatform.build.schema import Expansion, Schema
from kgplatform.errors import InputError
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


def named_documents(names: str | Sequence[str], known: list[DocumentInfo]) -> list[DocumentInfo]:
    """Those of ``known`` that ``names`` mean, by id, URI, path or name, in the order of their ids.

    Raises ``InputError`` for a name that means none, or several that share it.
    """
    wanted = [names] if isinstance(names, str) else names
    chosen = {info.id: info for name in wanted for info in _matching(name, known)}
    return [chosen[each] for each in sorted(chosen)]


def _matching(name: str, known: list[DocumentInfo]) -> list[DocumentInfo]:
    """The documents that ``name`` means. A path or URI of a file with several documents means all of them."""
    path = Path(name).absolute().as_uri()
    by_address = [info for info in known if name in (info.id, info.uri, info.source) or info.source == path]
    by_name = [info for info in known if info.name == name]
    if by_address or len(by_name) == 1:
        return by_address or by_name
    if by_name:
        addresses = "; ".join(info.uri for info in by_name)
        raise InputError(f"{len(by_name)} documents are called {name!r}. Name one by its URI: {addresses}")
    raise InputError(f"There is no document {name!r} in the graph. `kgplatform documents` lists them.")
