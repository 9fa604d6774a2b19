"""The commands that change the graph, and ``export``, which ``import`` reads back."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kgplatform.errors import InputError
from kgplatform.interfaces.cli.shared import (
    EXTRACTOR_NAMES,
    AsJson,
    Documents,
    Folders,
    Home,
    SchemaMode,
    SchemaOption,
    TokenBudget,
    Where,
    alternatives,
    connect_to,
    known_extractor,
    named_texts,
    note,
    open_at,
)

if TYPE_CHECKING:
    from kgplatform.client import KnowledgeGraph
    from kgplatform.exchange import ExchangeReport


FormatName = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="[jsonl|graphml|csv]", help="Default: by extension, .jsonl or .graphml; csv for a folder."
    ),
]

ExtractorOption = Annotated[
    str | None,
    typer.Option(
        "--extractor",
        metavar=EXTRACTOR_NAMES,
        callback=known_extractor,
        help="The extractor. Default: recorded if you give a recording, llm if a model is configured, else local.",
    ),
]
Recorded = Annotated[
    Path | None, typer.Option("--recorded", help="A recorded extraction. An open-IE recording includes its texts.")
]
ModeOption = Annotated[
    SchemaMode, typer.Option("--mode", help="What is outside the schema: flexible keeps and marks it, strict drops it.")
]
Facts = Annotated[
    bool, typer.Option("--facts", help="Also read atomic facts with a model. Without files: for the whole graph.")
]
Prune = Annotated[bool, typer.Option("--prune", help="Also remove documents whose files are gone from these folders.")]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Ask the model again about passages without a usable reply.")
]
Reread = Annotated[
    bool, typer.Option("--reread", help="Also read unchanged documents again, for example with another schema.")
]
Metadata = Annotated[
    list[str] | None,
    typer.Option("--metadata", metavar="NAME=VALUE", help="Metadata of all these documents. May be repeated."),
]
TextField = Annotated[
    str | None,
    typer.Option(
        "--text-field",
        metavar="KEY",
        help="JSON key of the texts. Default: text, context, content(s), body, page_content or passage.",
    ),
]
TitleField = Annotated[
    str | None,
    typer.Option("--title-field", metavar="KEY", help="JSON key of the titles. Default: title or corpus_name."),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Encoding of the files that are not UTF-8. Default: what they declare, else a guess.",
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, max=256, help="Number of processes that parse and read.")
]


def ingest(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Files, folders and web addresses.", show_default=False)
    ] = None,
    schema: SchemaOption = None,
    extractor: ExtractorOption = None,
    recorded: Recorded = None,
    mode: ModeOption = "flexible",
    facts: Facts = False,
    prune: Prune = False,
    reread: Reread = False,
    retry_failed: RetryFailed = False,
    metadata: Metadata = None,
    text_field: TextField = None,
    title_field: TitleField = None,
    encoding: Encoding = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Print the expected cost and stop.")] = False,
    workers: Workers = None,
    token_budget: TokenBudget = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Update the graph from your files. Safe to repeat and to interrupt: it resumes where it stopped."""
    if not paths and recorded is None and not facts:
        raise InputError("Name at least one file or folder to ingest.")
    from kgplatform.interfaces.cli.show import reports, terminal
    from kgplatform.sources.files.plain import typed
    from kgplatform.sources.load import find_files
    from kgplatform.sources.objects import is_web

    # One that is not there is told before a server is started.
    find_files([path for path in paths or () if not is_web(path)])
    said = {name: typed(text) for name, text in named_texts(metadata, "--metadata")}
    what: dict[str, Any] = {
        "schema": schema,
        "extractor": extractor,
        "recorded": recorded,
        "facts": facts,
        "reread": reread,
        "retry_failed": retry_failed,
    }
    given: dict[str, Any] = {"workers": workers, "token_budget": token_budget}
    given |= {"text_field": text_field, "title_field": title_field, "encoding": encoding}
    with terminal.ProgressLines() as progress, connect_to(home, **given) as graph:
        progress.by(lambda: graph.ledger.total)
        if estimate:
            cost = graph.estimate(paths or (), **what, progress=progress)
        else:
            web = [path for path in paths or () if is_web(path)]
            more: dict[str, Any] = {"prune": prune, "introduce": web, "metadata": said}
            report = graph.ingest(paths or (), **what, **more, mode=mode, progress=progress)
            advice = graph.server_advice()
    if estimate:
        terminal.show(as_json, cost, reports.show_estimate)
        return
    if advice:
        note(advice)
    terminal.show(as_json, report, reports.show_ingest)
    raise typer.Exit(reports.exit_code(report, of_files=bool(paths or recorded)))


def adopt(
    mapping: Annotated[
        Path | None, typer.Argument(help="A mapping that you have edited; the file to save a new one in.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--from", metavar="URI", help="Propose a mapping of the graph at this address.")
    ] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Read what has changed since.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Remove all that came of that graph.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Read a graph that you have in another Neo4j beside the documents. Nothing is written there."""
    if refresh + forget + bool(mapping or source) > 1:
        raise InputError("Give a mapping, --from, --refresh or --forget, one of them.")
    from kgplatform.interfaces.cli.show import reports, terminal

    with terminal.ProgressLines() as progress, connect_to(home) as graph:
        if forget:
            number = graph.adopt.forget(progress=progress)
            terminal.show(as_json, number, lambda number: print(f"Rows removed: {number:,}."), {"removed": number})
            return
        if source or (mapping is None and not refresh):
            _propose(graph, source, mapping or Path("adopt.yaml"), as_json)
            return
        read = graph.adopt.refresh if mapping is None else partial(graph.adopt.ingest, mapping)
        report = read(progress=progress)
    terminal.show(as_json, report, reports.show_ingest)
    raise typer.Exit(reports.exit_code(report, of_files=True))


def _propose(graph: KnowledgeGraph, source: str | None, file: Path, as_json: bool) -> None:
    from kgplatform.interfaces.cli.show import terminal

    if file.exists():
        raise InputError(f"{file} is there already. Run `kgplatform adopt {file}`, or name another file.")
    text = graph.adopt.propose(source)
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}.") from error
    terminal.show(as_json, text, lambda text: print(text, end=""), {"mapping": text, "file": file})
    note(f"Saved to {file}. Edit it, then run `kgplatform adopt {file}`.")


def tree(
    update: Annotated[
        bool, typer.Option("--update", help="Update only what changed. The default if there is a tree.")
    ] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Find all communities again, from scratch.")] = False,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help=(
                "How to find communities: multiplex, paper or leidenalg. Default: the existing tree's method, else "
                "multiplex."
            ),
        ),
    ] = None,
    token_budget: TokenBudget = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Build or update the knowledge tree. Safe to repeat and to interrupt."""
    if update and rebuild:
        raise InputError("Give --update or --rebuild, not both.")
    from kgplatform.interfaces.cli.show import reports, terminal

    with terminal.ProgressLines() as progress, connect_to(home, token_budget=token_budget) as graph:
        progress.by(lambda: graph.ledger.total)
        report = graph.build_tree(method=method, update=update, rebuild=rebuild, progress=progress)
    terminal.show(as_json, report, reports.show_tree)
    if not report.complete:
        raise typer.Exit(1)


def gist(
    documents: Annotated[
        list[str] | None, typer.Argument(help="Ids, URIs, paths or titles. Default: all documents.", show_default=False)
    ] = None,
    preset: Annotated[
        Literal["report", "article", "book", "script", "transcript"],
        typer.Option(
            "--preset",
            help=(
                "The kind of text, which sets what gists keep and the words per page: report, article and transcript "
                "280 to 600, book 500 to 3000, script 600 to 1000."
            ),
        ),
    ] = "report",
    min_words: Annotated[int | None, typer.Option("--min-words", min=1, help="Minimum words per page.")] = None,
    max_words: Annotated[
        int | None,
        typer.Option(
            "--max-words", min=1, help="Maximum words per page. Without --min-words, it scales the minimum too."
        ),
    ] = None,
    uniform: Annotated[
        bool, typer.Option("--uniform", help="Make pages of equal length, without asking the model.")
    ] = False,
    question: Annotated[
        str | None, typer.Option("--for", metavar="QUESTION", help="Make separate gists for this question.")
    ] = None,
    instruction: Annotated[str, typer.Option("--instruction", help="Extra instructions for the model.")] = "",
    fit: Annotated[
        int | None, typer.Option("--fit", min=1, metavar="TOKENS", help="Maximum tokens for a document's gists.")
    ] = None,
    shrink: Annotated[
        Literal["merge", "older"], typer.Option("--shrink", help="How to fit: merge pages, or shorten the older gists.")
    ] = "merge",
    token_budget: TokenBudget = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Split documents into pages and write a gist of each, for the reader readagent. Safe to repeat or interrupt."""
    from kgplatform.interfaces.cli.show import reports, terminal

    with terminal.ProgressLines() as progress, connect_to(home, token_budget=token_budget) as graph:
        progress.by(lambda: graph.ledger.total)
        report = graph.gist(
            documents or (),
            preset=preset,
            min_words=min_words,
            max_words=max_words,
            uniform=uniform,
            question=question,
            instruction=instruction,
            fit=fit,
            shrink=shrink,
            progress=progress,
        )
    document = {**asdict(report), "compression": report.compression, "complete": report.complete}
    terminal.show(as_json, report, reports.show_gist, document)
    if not report.complete:
        raise typer.Exit(1 if report.stopped else reports.IN_PART)


def remove(
    documents: Annotated[list[str], typer.Argument(help="Ids, URIs, paths or titles; folders.", show_default=False)],
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Remove documents, and everything that only they support."""
    from kgplatform.interfaces.cli.show import reports, terminal

    with terminal.ProgressLines() as progress, connect_to(home) as graph:
        removed = graph.remove(documents, progress=progress)
    terminal.show(as_json, removed, reports.show_removed, {"removed": removed})


def describe(
    documents: Annotated[list[str], typer.Argument(help="Ids, URIs, paths or titles; folders.", show_default=False)],
    metadata: Metadata = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Give documents metadata, without reading them again. An empty value takes a name away."""
    from kgplatform.interfaces.cli.show import reports, terminal
    from kgplatform.sources.files.plain import typed

    given = {name: typed(text) for name, text in named_texts(metadata, "--metadata")}
    if not given:
        raise InputError("Give the documents at least one --metadata NAME=VALUE.")
    with open_at(home) as graph:
        described = graph.describe(documents, given)
    terminal.show(as_json, described, reports.show_documents, {"documents": described})


def reembed(home: Home = None, as_json: AsJson = False) -> None:
    """Embed the whole graph again, with the model of KGPLATFORM_EMBEDDER."""
    from kgplatform.interfaces.cli.show import terminal

    with terminal.ProgressLines() as progress, open_at(home) as graph:
        seconds = graph.reembed(progress=progress)
        model = graph.embedder.name
    if as_json:
        terminal.print_json({"model": model, "seconds": seconds})
    else:
        print(f"The graph is embedded with {model}.")


def correct(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="What to do; see below.", show_default=False)],
    given: Annotated[
        list[str] | None, typer.Argument(metavar="[WHAT]...", help="Entities, names, a fact.", show_default=False)
    ] = None,
    documents: Documents = None,
    value: Annotated[bool, typer.Option("--value", help="With add: the last is a value, not an entity.")] = False,
    why: Annotated[str, typer.Option("--why", help="Why, for those who read it later.")] = "",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Correct the graph by hand; what you correct is kept through every ingest, and can be undone.

    list · duplicates · namesakes · undo ID · merge ENTITY INTO · split ENTITY NAME --document TITLE · rename ENTITY
    NAME · retype ENTITY TYPE · alias ENTITY NAME · remove-alias ENTITY NAME · accept ONE OTHER · refuse ONE OTHER ·
    drop FACT · add SUBJECT PREDICATE OBJECT

    Name an entity by its name, its name with its type ("Mercury (Planet)"), or its id.
    """
    from kgplatform.correct import ACTIONS
    from kgplatform.interfaces.cli.show import reports, terminal
    from kgplatform.text import unknown

    words, lists = list(given or ()), ("list", "duplicates", "namesakes")
    wanted = ("id",) if action == "undo" else () if action in lists else ACTIONS.get(action)
    if wanted is None:
        raise InputError(unknown("correction", action, (*lists, "undo", *ACTIONS)))
    names = [name for name in wanted if name != "documents"]
    if len(words) != len(names):
        raise InputError(f"`kgplatform correct {action}` takes {len(names)} arguments: {' '.join(names).upper()}.")
    what: dict[str, Any] = dict(zip(names, words, strict=True)) | ({"documents": documents} if documents else {})
    with terminal.ProgressLines() as progress, connect_to(home) as graph:
        if action in lists:
            found = getattr(graph.correct, "all" if action == "list" else action)()
            terminal.show(as_json, found, reports.show_corrections, {action: found})
            return
        if action == "undo":
            made = graph.correct.undo(words[0], progress=progress)
        else:
            made = graph.correct.do(action, what | ({"value": True} if value else {}), why=why, progress=progress)
    done = "Undone" if action == "undo" else "Corrected"
    terminal.show(as_json, made, lambda made: reports.show_correction(made, done))


def export(
    path: Annotated[Path, typer.Argument(help="The file to write; for CSV, a folder.", show_default=False)],
    format: FormatName = None,
    where: Where = None,
    documents: Documents = None,
    folders: Folders = None,
    corrections: Annotated[bool, typer.Option("--corrections", help="Write what you corrected alone.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Write the graph, or a part of it, to a file. The same graph gives the same bytes."""
    from kgplatform.interfaces.cli.show import reports, terminal

    if corrections:
        with open_at(home) as graph:
            count = graph.correct.save(path)
        terminal.show(as_json, (count, path), reports.show_exported, {"corrections": count})
        return

    try:
        with terminal.ProgressLines() as progress, open_at(home) as graph:
            only = alternatives(where, documents, folders)
            report = graph.export(path, format, where=only, progress=progress)
    except KeyboardInterrupt:
        note(f"\nStopped. {path} is unchanged.")
        raise typer.Exit(1) from None
    _show_exchange(report, "Exported", as_json)


def import_(
    path: Annotated[Path, typer.Argument(help="A .jsonl file that `export` wrote.", show_default=False)],
    merge: Annotated[bool, typer.Option("--merge", help="Merge into a non-empty graph.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Import an exported graph into an empty one, or corrections into any. Safe to interrupt and to repeat."""
    from kgplatform.correct import holds_corrections
    from kgplatform.interfaces.cli.show import reports, terminal

    if holds_corrections(path):
        with terminal.ProgressLines() as progress, connect_to(home) as graph:
            count = graph.correct.load(path, progress=progress)
        terminal.show(as_json, (count, path), reports.show_imported, {"corrections": count})
        return
    with terminal.ProgressLines() as progress, open_at(home) as graph:
        report = graph.import_graph(path, merge=merge, progress=progress)
    _show_exchange(report, "Imported", as_json)


def _show_exchange(report: ExchangeReport, done: str, as_json: bool) -> None:
    from kgplatform.interfaces.cli.show import terminal
    from kgplatform.text import counted, duration

    if as_json:
        terminal.print_json(report)
        return
    sizes = f"{counted(report.nodes, 'node')} and {counted(report.relationships, 'relationship')}"
    print(f"{done} {sizes} in {duration(report.seconds)}: {report.path} ({report.format})")
    for line in report.notes:
        note(line)
