"""The commands ``export`` and ``import``: the whole graph into a file, and back."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgplatform.cli_base import note, open_at
from kgplatform.cli_options import Home, Json

if TYPE_CHECKING:
    from kgplatform.exchange import ExchangeReport


class FormatName(str, Enum):
    """Forms of a file."""

    jsonl = "jsonl"
    graphml = "graphml"
    csv = "csv"
    cypher = "cypher"


Format = Annotated[
    FormatName | None,
    typer.Option("--format", help="By default what the name says: .jsonl, .graphml, .cypher; csv for a folder."),
]


def export(
    path: Annotated[Path, typer.Argument(help="The file to write, or for CSV the folder.", show_default=False)],
    format: Format = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Write the whole graph into a file; the same graph gives the same bytes."""
    from kgplatform import show

    try:
        with open_at(home) as graph, show.ProgressLines() as progress:
            report = graph.export(path, format.value if format else None, progress=progress)
    except KeyboardInterrupt:
        note(f"\nStopped. Nothing was written: {path} is as it was.")
        raise typer.Exit(1) from None
    _show(report, "Exported", as_json)


def import_(
    path: Annotated[Path, typer.Argument(help="A file or folder that `export` wrote.", show_default=False)],
    format: Format = None,
    merge: Annotated[bool, typer.Option("--merge", help="Into a graph that is not empty: add what it lacks.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Bring an exported graph into an empty one. Safe to interrupt: the same command goes on where it stopped."""
    from kgplatform import show

    with open_at(home) as graph, show.ProgressLines() as progress:
        report = graph.import_graph(path, format.value if format else None, merge=merge, progress=progress)
    _show(report, "Imported", as_json)


def _show(report: ExchangeReport, done: str, as_json: bool) -> None:
    from kgplatform import show
    from kgplatform.text import counted

    if as_json:
        show.print_json(report)
        return
    sizes = f"{counted(report.nodes, 'node')} and {counted(report.relationships, 'relationship')}"
    print(f"{done} {sizes} in {show.duration(report.seconds)}: {report.path} ({report.format})")
    for each in report.notes:
        note(each)
