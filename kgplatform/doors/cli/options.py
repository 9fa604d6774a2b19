"""What the commands share: options, with what ``--help`` says of them, notes, and the graph of a home folder."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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


class Route(str, Enum):
    """Ways to retrieve."""

    all = "all"
    entity = "entity"
    triple = "triple"
    path = "path"
    community = "community"
    passage = "passage"
    bm25 = "bm25"
    dense = "dense"
    hybrid = "hybrid"


class ExtractorName(str, Enum):
    """Ways to extract."""

    llm = "llm"
    local = "local"
    recorded = "recorded"


class SchemaMode(str, Enum):
    """What happens to what the schema does not have."""

    strict = "strict"
    flexible = "flexible"


Home = Annotated[Path | None, typer.Option("--home", help="Home folder of the managed graph (KGPLATFORM_HOME).")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, and nothing else, on standard output.")]
Question = Annotated[str, typer.Argument(help="A question, in words.", show_default=False)]
TopK = Annotated[int, typer.Option("--top-k", min=1, help="How many passages and facts.")]
RouteOption = Annotated[Route, typer.Option("--route", help="Which way to retrieve.")]
SchemaOption = Annotated[str, typer.Option("--schema", help="A schema file, or the name of a shipped one.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

# --------------------------------------------------------------------------------------------------------------- tree

UpdateTree = Annotated[bool, typer.Option("--update", help="Only what changed; all of it where there is no tree yet.")]
RebuildTree = Annotated[bool, typer.Option("--rebuild", help="All communities anew, by the tree's method or --method.")]
TreeMethod = Annotated[
    str | None,
    typer.Option(
        "--method",
        help="How communities are found: multiplex, paper or leidenalg; else as those of the tree that is there, or "
        "multiplex.",
    ),
]
