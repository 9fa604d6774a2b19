"""The command line. Each command calls the client and prints what it returns; nothing is decided here.

What takes long to import (the driver, the extractors, rich) is imported by the commands that need it, so that
`kgplatform --help` and `kgplatform status` answer at once.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from kgplatform.cli_options import (
    AnswerModeName,
    CallsOfReader,
    Debug,
    ExtractorName,
    Home,
    Json,
    Keep,
    Mode,
    NoAgent,
    NoCommunity,
    NodesOfReader,
    NoPlan,
    NoSchema,
    Prefilter,
    Question,
    RandomNodes,
    ReaderName,
    RebuildTree,
    Route,
    RouteOfReader,
    RouteOption,
    SchemaMode,
    SchemaOption,
    TopK,
    TopKOfReader,
    Trace,
    TreeMethod,
    UpdateTree,
    WindowTokens,
)
from kgplatform.errors import InputError, KgError

if TYPE_CHECKING:
    from kgplatform.client import KnowledgeGraph
    from kgplatform.settings import Settings


class _Commands(TyperGroup):
    """The commands, which Ctrl-C ends with one sentence."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # which Python's checks put before a sentence
            raise
        except KeyboardInterrupt:
            _note("\nStopped. What was done is kept; run the same command again to go on.")
            sys.stdout.flush()
            # At once: Python would wait for threads that wait for a language model.
            os._exit(1)


app = typer.Typer(
    cls=_Commands,
    help="Documents into a Neo4j knowledge graph, and answers out of it, with every statement tied to its source.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def options(debug: Debug = False) -> None:
    """Documents into a Neo4j knowledge graph, and answers out of it, with every statement tied to its source."""
    # Read by ``main``, which sees the arguments before any command runs.


def _note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _settings(home: Path | None) -> Settings:
    from kgplatform.settings import load_settings

    return load_settings(home=home)


def _open(home: Path | None) -> KnowledgeGraph:
    from kgplatform.client import open_graph

    return open_graph(_settings(home), _note)


def _connect(home: Path | None, **more: Any) -> KnowledgeGraph:
    from kgplatform.client import connect

    return connect(home=home, report=_note, **more)


# ----------------------------------------------------------------------------------------------------------- the server


@app.command()
def up(home: Home = None, as_json: Json = False) -> None:
    """Start the managed local Neo4j, if it does not run, and say where it is."""
    from kgplatform.local_neo4j import LocalNeo4j

    settings = _settings(home)
    LocalNeo4j(settings, _note).up()
    _print_status(settings, as_json)


@app.command()
def down(home: Home = None, as_json: Json = False) -> None:
    """Stop the managed local Neo4j. The graph stays on disk."""
    from kgplatform.local_neo4j import LocalNeo4j

    stopped = LocalNeo4j(_settings(home), _note).down()
    if as_json:
        print(json.dumps({"stopped": stopped}))
    else:
        print("Neo4j is stopped." if stopped else "Neo4j was not running.")


@app.command()
def status(home: Home = None, as_json: Json = False) -> None:
    """Say whether the managed local Neo4j runs, and where its things are."""
    _print_status(_settings(home), as_json)


def _print_status(settings: Settings, as_json: bool) -> None:
    from kgplatform.local_neo4j import LocalNeo4j

    found = LocalNeo4j(settings).status()
    password = found.home / "password"
    if as_json:
        fields = {name: getattr(found, name) for name in found.__slots__} | {"password_file": password}
        print(json.dumps(fields, default=str, ensure_ascii=False, indent=2))
        return
    if found.running:
        print(f"Neo4j {found.version} runs as process {found.pid}.")
        print(f"Bolt:          {found.uri}")
        print(f"Neo4j Browser: {found.browser_url}")
        print(f"User:          neo4j, password in {password}")
        print(f"Log:           {found.log}")
    else:
        print(f"Neo4j {found.version} is not running. Its home: {found.home}")
    if settings.neo4j_uri is not None:
        print(f"NEO4J_URI is set: the other commands use {settings.neo4j_uri}, not this server.")


# -------------------------------------------------------------------------------------------------------------- writing


@app.command()
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
    from kgplatform import show

    name = extractor.value if extractor else None
    with _connect(home, max_tokens=max_tokens) as graph:
        if estimate:
            cost = graph.estimate(paths or (), schema=schema, extractor=name, recorded=recorded, facts=facts)
            show.show(as_json, cost, show.show_estimate)
            return
        with show.ProgressLines() as progress:
            report = graph.ingest(
                paths or (),
                schema=schema,
                extractor=name,
                recorded=recorded,
                mode=mode.value if mode else None,
                facts=facts,
                progress=progress,
            )
    show.show(as_json, report, show.show_ingest)
    if not report.complete:
        raise typer.Exit(1)
    if report.skipped and not report.added + report.changed + report.unchanged:
        raise typer.Exit(2)


@app.command()
def tree(
    update: UpdateTree = False,
    rebuild: RebuildTree = False,
    method: TreeMethod = None,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", min=1, help="Stop cleanly at this cost.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Build the four-level knowledge tree, or bring it to what the graph says now. Safe to repeat, and to interrupt."""
    from kgplatform import show
    from kgplatform.show_tree import show_tree

    with _connect(home, max_tokens=max_tokens) as graph, show.ProgressLines() as progress:
        report = graph.build_tree(method=method, update=update, rebuild=rebuild, progress=progress)
    show.show(as_json, report, show_tree)
    if not report.complete:
        raise typer.Exit(1)


@app.command()
def remove(
    documents: Annotated[list[str], typer.Argument(help="Ids, URIs, paths or names.", show_default=False)],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Remove documents, with all that only they support."""
    from kgplatform import show

    with _connect(home) as graph, show.ProgressLines() as progress:
        removed = graph.remove(documents, progress=progress)
    if as_json:
        show.print_json({"removed": removed})
    else:
        print("Removed: " + ", ".join(each.name for each in removed))


@app.command()
def reembed(home: Home = None, as_json: Json = False) -> None:
    """Embed the whole graph again with the embedding model that is set (KGPLATFORM_EMBEDDER)."""
    from kgplatform import show

    with _open(home) as graph, show.ProgressLines() as progress:
        seconds = graph.reembed(progress=progress)
        model = graph.embedder.name
    if as_json:
        show.print_json({"model": model, "seconds": seconds})
    else:
        print(f"The graph is embedded with {model}.")


# ------------------------------------------------------------------------------------------------------------- reading


@app.command()
def search(
    question: Question,
    route: RouteOption = Route.all,
    top_k: TopK = 10,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Find the passages and facts nearest to a question, with their citations. No language model is called."""
    from kgplatform import show

    with _connect(home) as graph:
        result = graph.search(question, route=route.value, top_k=top_k)
    show.show(as_json, result, show.show_search)


@app.command()
def ask(
    question: Question,
    reader: ReaderName = "retrieve",
    mode: Mode = AnswerModeName.reject,
    route: RouteOfReader = None,
    top_k: TopKOfReader = None,
    no_agent: NoAgent = False,
    no_community: NoCommunity = False,
    no_schema: NoSchema = False,
    nodes: NodesOfReader = None,
    calls: CallsOfReader = None,
    no_plan: NoPlan = False,
    random_nodes: RandomNodes = None,
    prefilter: Prefilter = None,
    window_tokens: WindowTokens = None,
    trace: Trace = False,
    keep: Keep = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Answer a question with checked citations; without a language model, give the evidence."""
    from kgplatform.show_trace import show_run

    with _connect(home) as graph:
        answer = graph.ask(
            question,
            reader,
            keep=keep,
            mode=mode.value,
            route=route.value if route else None,
            top_k=top_k,
            agent=_off(no_agent),
            community=_off(no_community),
            schema=_off(no_schema),
            nodes=nodes,
            calls=calls,
            plan=_off(no_plan),
            random_nodes=random_nodes,
            prefilter=prefilter,
            window_tokens=window_tokens,
        )
    show_run(answer, as_json=as_json, trace=trace)


def _off(turned_off: bool) -> bool | None:
    """False for what is turned off, None for what stays as the reader has it."""
    return False if turned_off else None


@app.command()
def cypher(
    statement: Annotated[str, typer.Argument(help="One Cypher statement.", show_default=False)],
    param: Annotated[list[str] | None, typer.Option("--param", help="NAME=VALUE, the value as JSON or text.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Allow the statement to change the graph.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Most rows to print.")] = None,
    timeout: Annotated[float | None, typer.Option("--timeout", min=0.001, help="Most seconds to run.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Run a Cypher statement; read-only unless --write."""
    from kgplatform import show

    with _open(home) as graph:
        rows = graph.cypher(statement, _parameters(param or []), write=write, limit=limit, timeout=timeout)
    if as_json:
        records = [dict(zip(rows.columns, row, strict=True)) for row in rows.rows]
        show.print_json(
            {"columns": rows.columns, "rows": records, "truncated": rows.truncated, "changes": rows.counters}
        )
    else:
        show.show_rows(rows)


def _parameters(given: list[str]) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"--param {each!r} is not NAME=VALUE.")
        try:
            parameters[name] = json.loads(value)
        except json.JSONDecodeError:
            parameters[name] = value
    return parameters


@app.command()
def documents(home: Home = None, as_json: Json = False) -> None:
    """List the documents of the graph."""
    from kgplatform import show

    with _open(home) as graph:
        found = graph.documents()
    if as_json:
        show.print_json({"documents": found})
    else:
        show.show_documents(found)


@app.command()
def stats(home: Home = None, as_json: Json = False) -> None:
    """Count nodes by label, relationships by type, and key elements with their neighbours and facts."""
    from kgplatform import show
    from kgplatform.show_trace import show_calls

    with _open(home) as graph:
        found = graph.stats()
    show.show(as_json, found, show.show_stats)
    if found.calls and not as_json:
        show_calls(found.calls)


@app.command()
def schema(home: Home = None, as_json: Json = False) -> None:
    """Show the schema of the graph, with the types that were added to it."""
    from kgplatform import show

    with _open(home) as graph:
        found = graph.schema()
    if found is None:
        raise InputError("The graph has no schema yet. Run `kgplatform ingest PATH…` first.")
    if as_json:
        show.print_json({"schema": found.schema.to_dict(), "expansions": found.expansions})
    else:
        show.show_schema(found)


@app.command()
def settings(as_json: Json = False) -> None:
    """List all settings with their defaults."""
    from kgplatform import show
    from kgplatform.settings import settings_table

    keys = ("name", "default", "unit", "help")
    rows = settings_table()
    if as_json:
        show.print_json({"settings": [dict(zip(keys, row, strict=True)) for row in rows]})
    else:
        show.show_settings(rows)


def main() -> None:
    """Run the command line: one sentence for an error, and its exit status."""
    debug = "--debug" in sys.argv[1:]
    sys.argv[1:] = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        app(prog_name="kgplatform")
    except KgError as error:
        if debug:
            traceback.print_exc()
        _note(f"kgplatform: {error}")
        sys.exit(error.exit_code)
    except Exception as error:  # noqa: BLE001 - the last place to word what nobody foresaw
        if debug:
            traceback.print_exc()
        fault = f"{type(error).__name__}: {error}".strip().split("\n")[0]
        _note(f"kgplatform: a fault of the platform itself: {fault} (--debug shows where)")
        sys.exit(1)


if __name__ == "__main__":
    main()
