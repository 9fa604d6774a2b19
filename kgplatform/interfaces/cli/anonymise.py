"""The command `anonymise`: names out of a folder of texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgplatform.interfaces.cli.shared import AsJson, Home, note, settings_of
from kgplatform.text import counted

if TYPE_CHECKING:
    from kgplatform.evaluate.anonymise import AnonymityReport
    from kgplatform.evaluate.hidden_names import SourceNames
    from kgplatform.records import Document

_NOTES_SHOWN = 20

Folder = Annotated[Path, typer.Argument(help="The folder with the texts.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", help="The output folder, new or empty.", show_default=False)]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="Hide names that the graph has of this type. May be repeated. Default: Person and Location, if --names is "
        "not given.",
    ),
]
NamesFile = Annotated[
    Path | None, typer.Option("--names", metavar="FILE", help="Your own names: JSON lines {name, type, aliases}.")
]
Questions = Annotated[
    Path | None,
    typer.Option("--questions", metavar="FILE", help="A file of questions to anonymise in the same way."),
]
Wanted = Annotated[
    int, typer.Option("--build-questions", min=0, metavar="N", help="Write N questions to OUT.reversion.jsonl.")
]


def anonymise(
    folder: Folder,
    out: Out,
    types: Types = None,
    names: NamesFile = None,
    questions: Questions = None,
    wanted: Wanted = 0,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Replace names in texts by placeholders such as [PERSON#12], and write a map of what each stands for."""
    from kgplatform.evaluate.anonymise import anonymise as run
    from kgplatform.evaluate.graphs import Graphs
    from kgplatform.evaluate.hidden_names import DEFAULT_TYPES, names_from_file, names_of_texts
    from kgplatform.interfaces.cli.show import terminal

    with terminal.ProgressLines() as progress:

        def found(documents: Sequence[Document]) -> Sequence[SourceNames]:
            own = [names_from_file(names)] if names else []
            if own and not types:
                return own
            with Graphs(settings_of(home), note, progress) as graphs:
                return [*own, names_of_texts(graphs, folder.resolve().name, documents, types or DEFAULT_TYPES)]

        report = run(folder, out, found, questions, wanted)
    terminal.show(as_json, report, _show)


def _show(report: AnonymityReport) -> None:
    from kgplatform.interfaces.cli.show.terminal import console, safe

    out = console()
    kinds = ", ".join(f"{count:,} {label}" for label, count in report.entities.items())
    out.print(
        safe(
            f"{counted(report.texts, 'text')} in {report.out}: {counted(report.mentions, 'mention')} of "
            f"{counted(sum(report.entities.values()), 'name')} replaced ({kinds})."
        )
    )
    out.print(safe(f"Map: {report.map}. Store it apart from the texts: it has every name."))
    if report.questions:
        out.print(safe(f"Questions: {report.questions}"))
    if report.built_file:
        made = ", ".join(f"{count:,} {kind}" for kind, count in report.built.items()) or "none"
        out.print(safe(f"Made: {report.built_file} ({made})"))
    for line in _first(report.notes):
        out.print(safe(f"Note: {line}"))
    for line in _first([f"{each.path}: {each.reason}" for each in report.skipped]):
        out.print(safe(f"Left out: {line}"))
    if report.left:
        names = ", ".join(f"{name} ({count:,})" for name, count in report.left)
        out.print(safe(f"Names of unknown type, left unchanged (add those that matter with --names): {names}"))


def _first(lines: Sequence[str]) -> list[str]:
    """The first lines, and how many more there are."""
    more = len(lines) - _NOTES_SHOWN
    return [*lines[:_NOTES_SHOWN], *([f"and {more:,} more (--json lists all)"] if more > 0 else [])]
