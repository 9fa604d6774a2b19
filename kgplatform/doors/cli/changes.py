"""The commands that change the graph."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from kgplatform.doors.cli.options import (
    ExtractorName,
    Home,
    Json,
    RebuildTree,
    SchemaMode,
    SchemaOption,
    TreeMethod,
    UpdateTree,
    connect_to,
    open_at,
)
from kgplatform.errors import InputError


class GistPresetName(str, Enum):
    """What a text is like, and how long its pages are."""

    article = "article"
    book = "book"
    script = "script"
    transcript = "transcript"


class GistShrinkName(str, Enum):
    """What is done where gists are too long."""

    merge = "merge"
    older = "older"


GistPreset = Annotated[
    GistPresetName,
    typer.Option("--preset", help="Pages of 280 to 600 words; book: 500 to 3000, script: 600 to 1000, transcript."),
]
GistShrink = Annotated[
    GistShrinkName, typer.Option("--shrink", help="To fit: merge pages, or shorten the older gists once more.")
]


def ingest(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files and folders.", show_default=False)] = None,
    schema: SchemaOption = "general",
    extractor: Annotated[ExtractorName | None, typer.Option("--extractor", help="How to extract.")] = None,
    recorded: Annotated[
        Path | None, typer.Option("--recorded", help="A recorded extraction; open-IE recordings hold the corpus too.")
    ] = None,
    mode: Annotated[SchemaMode | None, typer.Option("--mode", help="strict drops, flexible marks.")] = None,
    facts: Annotated[
        bool, typer.Option("--facts", help="Have a model read atomic facts where none did; alone: in the whole graph.")
    ] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Say what it would cost, and stop.")] = False,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", min=1, help="Stop cleanly at this cost.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Bring the graph to what the files say. Safe to repeat, and to interrupt: it goes on where it stopped."""
    if not paths and recorded is None and not facts:
        raise InputError("Name at least one file or folder to ingest.")
    from kgplatform.doors.cli.show import reports, terminal

    name = extractor.value if extractor else None
    with connect_to(home, max_tokens=max_tokens) as graph:
        if estimate:
            cost = graph.estimate(paths or (), schema=schema, extractor=name, recorded=recorded, facts=facts)
            terminal.show(as_json, cost, reports.show_estimate)
            return
        with terminal.ProgressLines() as progress:
            report = graph.ingest(
                paths or (),
                schema=schema,
                extractor=name,
                recorded=recorded,
                mode=mode.value if mode else None,
                facts=facts,
                progress=progress,
            )
    terminal.show(as_json, report, reports.show_ingest)
    if not report.complete:
        raise typer.Exit(1)
    if report.skipped and not report.added + report.changed + report.unchanged:
        raise typer.Exit(2)


def tree(
    update: UpdateTree = False,
    rebuild: RebuildTree = False,
    method: TreeMethod = None,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", min=1, help="Stop cleanly at this cost.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Build the four-level knowledge tree, or bring it to what the graph says now. Safe to repeat, and to interrupt."""
    from kgplatform.doors.cli.show import reports, terminal

    with connect_to(home, max_tokens=max_tokens) as graph, terminal.ProgressLines() as progress:
        report = graph.build_tree(method=method, update=update, rebuild=rebuild, progress=progress)
    terminal.show(as_json, report, reports.show_tree)
    if not report.complete:
        raise typer.Exit(1)


def gist(
    documents: Annotated[
        list[str] | None, typer.Argument(help="Ids, URIs, paths or titles; all without any.", show_default=False)
    ] = None,
    preset: GistPreset = GistPresetName.article,
    min_words: Annotated[
        int | None, typer.Option("--min-words", min=1, help="Shortest page, but for the last.")
    ] = None,
    max_words: Annotated[
        int | None, typer.Option("--max-words", min=1, help="Longest page; alone, it scales the shortest with it.")
    ] = None,
    uniform: Annotated[
        bool, typer.Option("--uniform", help="Pages of equal length, without asking the model.")
    ] = False,
    question: Annotated[
        str | None, typer.Option("--for", metavar="QUESTION", help="A memory of its own for this question.")
    ] = None,
    instruction: Annotated[str, typer.Option("--instruction", help="What else the model is to keep in mind.")] = "",
    fit: Annotated[
        int | None, typer.Option("--fit", min=1, metavar="TOKENS", help="Most tokens of the gists of one document.")
    ] = None,
    shrink: GistShrink = GistShrinkName.merge,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", min=1, help="Stop cleanly at this cost.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Give documents their pages and gists, for the reader readagent. Safe to repeat, and to interrupt."""
    from kgplatform.doors.cli.show import reports, terminal

    with connect_to(home, max_tokens=max_tokens) as graph, terminal.ProgressLines() as progress:
        report = graph.gist(
            documents or (),
            preset=preset.value,
            min_words=min_words,
            max_words=max_words,
            uniform=uniform,
            question=question,
            instruction=instruction,
            fit=fit,
            shrink=shrink.value,
            progress=progress,
        )
    if as_json:
        terminal.print_json(reports.gist_document(report))
    else:
        reports.show_gist(report)
    if not report.complete:
        raise typer.Exit(1)


def remove(
    documents: Annotated[list[str], typer.Argument(help="Ids, URIs, paths or titles.", show_default=False)],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Remove documents, with all that only they support."""
    from kgplatform.doors.cli.show import terminal

    with connect_to(home) as graph, terminal.ProgressLines() as progress:
        removed = graph.remove(documents, progress=progress)
    if as_json:
        terminal.print_json({"removed": removed})
    else:
        print("Removed: " + ", ".join(info.title for info in removed))


def reembed(home: Home = None, as_json: Json = False) -> None:
    """Embed the whole graph again with the embedding model that is set (KGPLATFORM_EMBEDDER)."""
    from kgplatform.doors.cli.show import terminal

    with open_at(home) as graph, terminal.ProgressLines() as progress:
        seconds = graph.reembed(progress=progress)
        model = graph.embedder.name
    if as_json:
        terminal.print_json({"model": model, "seconds": seconds})
    else:
        print(f"The graph is embedded with {model}.")
