"""The command `anonymise`: names out of a folder of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgplatform.interfaces.cli.shared import AsJson, Home, note, settings_of
from kgplatform.text import counted

if TYPE_CHECKING:
    from kgplatform.evaluate.anonymise import AnonymityReport
    from kgplatform.evaluate.hidden_names import SourceNames
    from kgplatform.records import Document

_SHOWN = 20

Folder = Annotated[Path, typer.Argument(help="The folder with the texts.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", help="The output folder, new or empty.", show_default=False)]
NamesFile = Annotated[
    Path | None,
    typer.Option(
        "--names",
        metavar="FILE",
        help="Names of your own, besides persons and places: JSON lines {name, type, aliases}.",
    ),
]
Questions = Annotated[
    Path | None,
    typer.Option("--questions", metavar="FILE", help="A file of questions to anonymise in the same way."),
]


def anonymise(
    folder: Folder,
    out: Out,
    names: NamesFile = None,
    questions: Questions = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Replace names in texts by placeholders such as [PERSON#12], and write a map of what each stands for."""
    from kgplatform.evaluate.anonymise import anonymise as run
    from kgplatform.evaluate.graphs import Graphs
    from kgplatform.evaluate.hidden_names import names_from_file, names_of_texts
    from kgplatform.interfaces.cli.show import terminal

    own = names_from_file(names) if names else ()
    with terminal.ProgressLines() as progress:

        def find(documents: Sequence[Document]) -> SourceNames:
            with Graphs(settings_of(home), note, progress) as graphs:
                found = names_of_texts(graphs, folder.resolve().name, documents)
            return replace(found, candidates=(*own, *found.candidates))

        report = run(folder, out, find, questions)
    terminal.show(as_json, report, _show)


def _show(report: AnonymityReport) -> None:
    from kgplatform.evaluate.terms import first_of
    from kgplatform.interfaces.cli.show.terminal import console, safe

    kinds = ", ".join(f"{count:,} {label}" for label, count in report.entities.items())
    made = ", ".join(f"{count:,} {kind}" for kind, count in report.built.items())
    left_out = [f"Left out: {each.path}: {each.reason}" for each in report.skipped]
    names = ", ".join(f"{name} ({count:,})" for name, count in report.left)
    lines = [
        f"{counted(report.texts, 'text')} in {report.out}: {counted(report.mentions, 'mention')} of "
        f"{counted(sum(report.entities.values()), 'name')} replaced ({kinds}).",
        f"Map: {report.map}. Store it apart from the texts: it has every name.",
        f"Questions: {report.questions}" if report.questions else "",
        f"Questions about the hidden names: {report.built_file} ({made})" if report.built_file else "",
        *first_of(left_out, _SHOWN),
        f"Names of unknown type, left unchanged (add those that matter with --names): {names}" if names else "",
    ]
    for line in filter(None, lines):
        console().print(safe(line))
