"""The commands ``export`` and ``import``: the whole graph into a file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgplatform.doors.cli.options import Home, Json, note, open_at

if TYPE_CHECKING:
    from kgplatform.exchange import ExchangeReport


Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="[jsonl|graphml|csv]",
        help="By default what the name says: .jsonl, .graphml; csv for a folder.",
    ),
]


def export(
    path: Annotated[Path, typer.Argument(help="The file to write, or for CSV the folder.", show_default=False)],
    format: Format = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Write the whole graph into a file; the same graph gives the same bytes."""
    from kgplatform.doors.cli.show import terminal

    try:
        with open_at(home) as graph, terminal.ProgressLines() as progress:
            report = graph.export(path, format, progress=progress)
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
    from kgplatform.doors.cli.show import terminal

    with open_at(home) as graph, terminal.ProgressLines() as progress:
        report = graph.import_graph(path, format, merge=merge, progress=progress)
    _show(report, "Imported", as_json)


def _show(report: ExchangeReport, done: str, as_json: bool) -> None:
    from kgplatform.doors.cli.show import terminal
    from kgplatform.text import counted, duration

    if as_json:
        terminal.print_json(report)
        return
    sizes = f"{counted(report.nodes, 'node')} and {counted(report.relationships, 'relationship')}"
    print(f"{done} {sizes} in {duration(report.seconds)}: {report.path} ({report.format})")
    for each in report.notes:
        note(each)
