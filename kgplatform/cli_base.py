"""What all commands share: the line for notes, the settings and the graph of a home folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgplatform.client import KnowledgeGraph
    from kgplatform.settings import Settings


def note(line: str) -> None:
    """A line for the person, beside what the command prints."""
    print(line, file=sys.stderr, flush=True)


def settings_of(home: Path | None) -> Settings:
    """The settings, with ``home`` before what the environment says."""
    from kgplatform.settings import load_settings

    return load_settings(home=home)


def open_at(home: Path | None) -> KnowledgeGraph:
    """The graph, for work that needs no embedding model."""
    from kgplatform.client import open_graph

    return open_graph(settings_of(home), note)


def connect_to(home: Path | None, **more: Any) -> KnowledgeGraph:
    """The graph, with ``more`` settings."""
    from kgplatform.client import connect

    return connect(home=home, report=note, **more)
