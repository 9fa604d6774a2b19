"""The command line. Each command calls the client and prints what it returns; nothing is decided here.

What takes long to import (the driver, the extractors, rich) is imported by the commands that need it, so that
`kgplatform --help` and `kgplatform status` answer at once.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from kgplatform import cli_anonymise, cli_ask, cli_browser, cli_build, cli_evaluate, cli_exchange, cli_mcp, cli_serve
from kgplatform.cli_base import connect_to, note, open_at, settings_of
from kgplatform.cli_options import Debug, Home, Json, Question, Route, RouteOption, TopK
from kgplatform.errors import InputError, KgError

if TYPE_CHECKING:
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
            note("\nStopped. What was done is kept; run the same command again to go on.")
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


# ----------------------------------------------------------------------------------------------------------- the server


@app.command()
def up(home: Home = None, as_json: Json = False) -> None:
    """Start the managed local Neo4j, if it does not run, and say where it is."""
    from kgplatform.local_neo4j import LocalNeo4j

    settings = settings_of(home)
    LocalNeo4j(settings, note).up()
    _print_status(settings, as_json)


@app.command()
def down(home: Home = None, as_json: Json = False) -> None:
    """Stop the managed local Neo4j. The graph stays on disk."""
    from kgplatform.local_neo4j import LocalNeo4j

    stopped = LocalNeo4j(settings_of(home), note).down()
    if as_json:
        print(json.dumps({"stopped": stopped}))
    else:
        print("Neo4j is stopped." if stopped else "Neo4j was not running.")


@app.command()
def status(home: Home = None, as_json: Json = False) -> None:
    """Say whether the managed local Neo4j runs, and where its things are."""
    _print_status(settings_of(home), as_json)


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


for command in (cli_build.ingest, cli_build.tree, cli_build.gist, cli_build.remove, cli_build.reembed):
    app.command()(command)
app.command("import")(cli_exchange.import_)


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

    with connect_to(home) as graph:
        result = graph.search(question, route=route.value, top_k=top_k)
    show.show(as_json, result, show.show_search)


app.command()(cli_ask.ask)
app.command()(cli_anonymise.anonymise)
app.command()(cli_evaluate.evaluate)
app.command()(cli_exchange.export)
app.command()(cli_serve.serve)
app.command()(cli_mcp.mcp)
app.command()(cli_browser.browser)


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

    with open_at(home) as graph:
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

    with open_at(home) as graph:
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

    with open_at(home) as graph:
        found = graph.stats()
    show.show(as_json, found, show.show_stats)
    if found.calls and not as_json:
        show_calls(found.calls)


@app.command()
def schema(home: Home = None, as_json: Json = False) -> None:
    """Show the schema of the graph, with the types that were added to it."""
    from kgplatform import show

    with open_at(home) as graph:
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
        note(f"kgplatform: {error}")
        sys.exit(error.exit_code)
    except Exception as error:  # noqa: BLE001 - the last place to word what nobody foresaw
        if debug:
            traceback.print_exc()
        fault = f"{type(error).__name__}: {error}".strip().split("\n")[0]
        note(f"kgplatform: a fault of the platform itself: {fault} (--debug shows where)")
        sys.exit(1)


if __name__ == "__main__":
    main()
