"""The command `anonymise`: names out of a folder of texts, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgplatform.errors import InputError, SettingError
from kgplatform.interfaces.cli.shared import AsJson, Home, note, settings_of
from kgplatform.text import counted

if TYPE_CHECKING:
    from kgplatform.evaluate.anonymise.hidden_names import SourceNames
    from kgplatform.evaluate.anonymise.hide import AnonymityReport, Built, FindNames, HiddenCorpus, RestoreReport
    from kgplatform.records import Document

_NOTES_SHOWN = 20
_AT_ONCE = 8
"""Questions that are asked beyond those that are wanted, at most, where the number of calls is not set."""


class NameSource(str, Enum):
    """Where names come from, beside the file of names."""

    local = "local"
    llm = "llm"
    graph = "graph"
    none = "none"


Folder = Annotated[Path, typer.Argument(help="The folder with the texts.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", help="The output folder, new or empty.", show_default=False)]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="TYPE", help="Hide names of this type. May be repeated. Default: Person, Location."),
]
Questions = Annotated[
    Path | None,
    typer.Option("--questions", metavar="FILE", help="A file of questions to anonymise in the same way."),
]
MapFile = Annotated[
    Path | None,
    typer.Option("--map", metavar="FILE", help="The map file. Default: OUT.map.json; with --restore, FOLDER.map.json."),
]
NamesFrom = Annotated[
    NameSource | None,
    typer.Option(
        "--extractor",
        help=(
            "Where names come from: the connected graph (graph), a graph of these texts built by rules (local) or by "
            "the model (llm), or only --names (none). Default: graph if it holds these texts, else local."
        ),
    ),
]
NamesFile = Annotated[
    Path | None, typer.Option("--names", metavar="FILE", help="Your own names: JSON lines {name, type, aliases}.")
]
Wanted = Annotated[
    int | None, typer.Option("--build-questions", min=1, metavar="N", help="Write N questions to OUT.reversion.jsonl.")
]
Filter = Annotated[bool, typer.Option("--filter", help="Leave out questions that the model answers without the texts.")]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.")]
Restore = Annotated[bool, typer.Option("--restore", help="Restore the original texts from FOLDER and --map.")]


def anonymise(
    folder: Folder,
    out: Out,
    types: Types = None,
    questions: Questions = None,
    map_file: MapFile = None,
    extractor: NamesFrom = None,
    names: NamesFile = None,
    wanted: Wanted = None,
    drop_known: Filter = False,
    seed: Seed = 0,
    restore: Restore = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Replace names in texts by placeholders such as [PERSON#12], and write a map that restores them exactly."""
    if restore:
        if types or names or wanted or drop_known or seed or extractor:
            raise InputError("--restore works only with FOLDER, --map, --out and --questions.")
        _restore(folder, out, map_file, questions, as_json)
        return
    if drop_known and not wanted:
        raise InputError("--filter only works with --build-questions N.")
    if extractor is NameSource.none and names is None:
        raise InputError("Without an extractor, name a file of names with --names FILE.")
    if extractor is NameSource.none and types:
        raise InputError(
            "--type applies only to the names that an extractor finds; all names in --names are hidden. Leave --type "
            "out."
        )
    from kgplatform.evaluate.anonymise.hide import HideRequest
    from kgplatform.evaluate.anonymise.hide import anonymise as run
    from kgplatform.interfaces.cli.show import terminal

    with terminal.ProgressLines() as progress:
        sources = _sources(extractor, names, tuple(types or ()), folder, home, progress)
        builder = _builder(wanted, drop_known, seed, home) if wanted else None
        report = run(HideRequest(folder, out, map_file, questions, seed), sources, builder)
    terminal.show(as_json, report, _show)


def _sources(
    extractor: NameSource | None,
    names: Path | None,
    types: tuple[str, ...],
    folder: Path,
    home: str | None,
    progress: Callable[[str, int, int], None],
) -> FindNames:
    from kgplatform.evaluate.anonymise.hidden_names import DEFAULT_TYPES, graph_names, names_from_file, names_of_texts
    from kgplatform.evaluate.graphs import Graphs

    own = [names_from_file(names)] if names else []
    chosen = types or DEFAULT_TYPES

    def found(documents: Sequence[Document]) -> Sequence[SourceNames]:
        if extractor is NameSource.none:
            return own
        with Graphs(settings_of(home), note, progress) as graphs:
            if extractor is NameSource.graph:
                return [*own, graph_names(graphs.current(), chosen)]
            how = extractor.value if extractor else None
            return [*own, names_of_texts(graphs, folder.resolve().name, documents, chosen, how)]

    return found


def _builder(wanted: int, drop: bool, seed: int, home: str | None) -> Callable[[HiddenCorpus], Built]:
    from kgplatform.evaluate.anonymise.reversion_questions import POOL, as_built, build_questions
    from kgplatform.evaluate.anonymise.reversion_questions import drop_known as kept_of
    from kgplatform.models.chat import Ledger
    from kgplatform.models.openai_chat import make_chat

    settings = settings_of(home)
    chat = make_chat(settings, Ledger(settings.token_budget)) if drop else None
    if drop and chat is None:
        raise SettingError("--filter needs a language model. Set OPENAI_API_KEY, or OPENAI_BASE_URL.")

    def build(work: HiddenCorpus) -> Built:
        if chat is None:
            unfiltered = (
                "the questions may include some that a model answers without the texts (--filter leaves them out)"
            )
            return as_built(build_questions(work, wanted, seed), wanted, [unfiltered])
        pool = build_questions(work, wanted * POOL, seed)
        items, dropped = kept_of(pool, wanted, chat, settings.concurrency or _AT_ONCE)
        known = f"{dropped:,} more were left out, since {chat.model} answers them without the texts"
        return as_built(items, wanted, [known])

    return build


def _restore(folder: Path, out: Path, map_file: Path | None, questions: Path | None, as_json: bool) -> None:
    from kgplatform.evaluate.anonymise.hide import restore
    from kgplatform.interfaces.cli.show import terminal

    plain = folder.absolute()
    report = restore(folder, map_file or plain.with_name(f"{plain.name}.map.json"), out, questions)
    terminal.show(as_json, report, _show_restored)
    if report.missing:
        note(f"kgplatform: {counted(len(report.missing), 'text')} of the map are missing.")
        raise typer.Exit(1)


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
    out.print(safe(f"Map: {report.map}. Store it apart from the texts: it restores every name."))
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


def _show_restored(report: RestoreReport) -> None:
    from kgplatform.interfaces.cli.show.terminal import console, safe

    out = console()
    out.print(safe(f"{counted(report.exact, 'text')} restored exactly, in {report.out}."))
    for name in _first(report.by_name):
        out.print(safe(f"Changed or not in the map, so placeholders became entity names: {name}"))
    for name in _first(report.missing):
        out.print(safe(f"Missing: {name}"))
    if report.questions:
        out.print(safe(f"Questions: {report.questions}"))


def _first(lines: Sequence[str]) -> list[str]:
    """The first lines, and how many more there are."""
    more = len(lines) - _NOTES_SHOWN
    return [*lines[:_NOTES_SHOWN], *([f"and {more:,} more (--json lists all)"] if more > 0 else [])]
