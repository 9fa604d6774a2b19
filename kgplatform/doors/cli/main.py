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

from kgplatform.doors.cli import anonymise, ask, changes, evaluate, exchange, serve
from kgplatform.doors.cli.options import (
    Debug,
    Home,
    Json,
    Question,
    Route,
    RouteOption,
    TopK,
    connect_to,
    note,
    open_at,
    settings_of,
)
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
    from kgplatform.neo4j.server import LocalNeo4j

    settings = settings_of(home)
    LocalNeo4j(settings, note).up()
    _print_status(settings, as_json)


@app.command()
def down(home: Home = None, as_json: Json = False) -> None:
    """Stop the managed local Neo4j. The graph stays on disk."""
    from kgplatform.neo4j.server import LocalNeo4j

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
    from kgplatform.neo4j.server import LocalNeo4j

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


for command in (changes.ingest, changes.tree, changes.gist, changes.remove, changes.reembed):
    app.command()(command)
app.command("import")(exchange.import_)


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
    from kgplatform.doors.cli.show import answers, terminal

    with connect_to(home) as graph:
        result = graph.search(question, route=route.value, top_k=top_k)
    terminal.show(as_json, result, answers.show_search)


app.command(cls=ask.AskCommand)(ask.ask)
app.command()(anonymise.anonymise)
app.command()(evaluate.evaluate)
app.command()(exchange.export)
app.command()(serve.serve)
app.command()(serve.mcp)
app.command()(serve.browser)


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
    from kgplatform.doors.cli.show import tables, terminal

    with open_at(home) as graph:
        rows = graph.cypher(statement, _parameters(param or []), write=write, limit=limit, timeout=timeout)
    if as_json:
        records = [dict(zip(rows.columns, row, strict=True)) for row in rows.rows]
        terminal.print_json(
            {"columns": rows.columns, "rows": records, "truncated": rows.truncated, "changes": rows.counters}
        )
    else:
        tables.show_rows(rows)


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
    from kgplatform.doors.cli.show import tables, terminal

    with open_at(home) as graph:
        found = graph.documents()
    if as_json:
        terminal.print_json({"documents": found})
    else:
        tables.show_documents(found)


@app.command()
def stats(home: Home = None, as_json: Json = False) -> None:
    """Count nodes by label, relationships by type, and key elements with their neighbours and facts."""
    from kgplatform.doors.cli.show import tables, terminal

    with open_at(home) as graph:
        found = graph.stats()
    terminal.show(as_json, found, tables.show_stats)


@app.command()
def schema(home: Home = None, as_json: Json = False) -> None:
    """Show the schema of the graph, with the types that were added to it."""
    from kgplatform.doors.cli.show import tables, terminal

    with open_at(home) as graph:
        found = graph.schema()
    if found is None:
        raise InputError("The graph has no schema yet. Run `kgplatform ingest PATH…` first.")
    if as_json:
        terminal.print_json({"schema": found.schema.to_dict(), "expansions": found.expansions})
    else:
        tables.show_schema(found)


@app.command()
def settings(as_json: Json = False) -> None:
    """List all settings with their defaults."""
    from kgplatform.doors.cli.show import tables, terminal
    from kgplatform.settings import settings_table

    keys = ("name", "default", "unit", "help")
    rows = settings_table()
    if as_json:
        terminal.print_json({"settings": [dict(zip(keys, row, strict=True)) for row in rows]})
    else:
        tables.show_settings(rows)


def _without_debug(given: list[str]) -> list[str]:
    """The arguments without the option ``--debug``, which may stand before and after the command.

    Behind ``--``, and as the value of another option, it is a word like any other.
    """
    group: Any = typer.main.get_command(app)
    options = [param for command in group.commands.values() for param in command.params if hasattr(param, "is_flag")]
    with_value = {name for option in options if not option.is_flag for name in option.opts}
    end = given.index("--") if "--" in given else len(given)
    return [
        word
        for at, word in enumerate(given)
        if word != "--debug" or at >= end or (at > 0 and given[at - 1] in with_value)
    ]


def main() -> None:
    """Run the command line: one sentence for an error, and its exit status."""
    given = sys.argv[1:]
    sys.argv[1:] = _without_debug(given) if "--debug" in given else given
    debug = sys.argv[1:] != given
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
