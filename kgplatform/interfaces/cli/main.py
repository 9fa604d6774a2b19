"""The command line. Each command calls the client and prints what it returns.

Slow imports (the driver, the extractors, rich) stand in the commands that need them, so that `kgplatform --help` and
`kgplatform status` answer at once.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from kgplatform.concurrency.system import speak_utf8
from kgplatform.errors import InputError, KgError
from kgplatform.interfaces.cli import ask, changes, evaluate, kept, people, serve, workspaces
from kgplatform.interfaces.cli.shared import (
    AsJson,
    AsOf,
    Documents,
    Folders,
    Home,
    QuestionText,
    RouteOption,
    TopK,
    Where,
    alternatives,
    connect_to,
    json_or_text,
    named_texts,
    note,
    open_at,
    open_part,
    settings_of,
    spelled,
)

if TYPE_CHECKING:
    from kgplatform.settings import Settings


_ABOUT = "Turn documents into a Neo4j knowledge graph, and get answers that cite their sources."


class _Commands(TyperGroup):
    """The commands. Each takes ``--debug`` and ``--workspace`` too, and Ctrl-C ends it with one sentence."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that ``args`` name, which takes the group's own options too."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            command.params.extend(option for option in self.params if option.name in ("debug", "workspace"))
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # pydantic's prefix
            raise
        except KeyboardInterrupt:
            note("\nStopped. What was done is kept; run the same command again to resume.")
            sys.stdout.flush()
            # At once: Python would wait for threads that wait for a language model.
            os._exit(1)


app = typer.Typer(
    cls=_Commands,
    help=_ABOUT,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(value: bool) -> None:
    if value:
        print(f"kgplatform {metadata.version('kgplatform')}")
        raise typer.Exit


def _set_debug(ctx: typer.Context, value: bool) -> None:
    """Note the option for ``main``, which prints errors after all contexts are gone."""
    if value:
        ctx.ensure_object(dict)["debug"] = True


Debug = Annotated[
    bool,
    typer.Option(
        "--debug", help="Show the traceback of an error.", is_eager=True, expose_value=False, callback=_set_debug
    ),
]


def _set_workspace(ctx: typer.Context, value: str | None) -> None:
    if value is not None:
        os.environ["KGPLATFORM_WORKSPACE"] = value


Workspace = Annotated[
    str | None,
    typer.Option(
        "--workspace",
        metavar="NAME",
        help="Open this workspace of the home folder.",
        is_eager=True,
        expose_value=False,
        callback=_set_workspace,
    ),
]
Version = Annotated[
    bool,
    typer.Option("--version", help="Show the version.", is_eager=True, expose_value=False, callback=_print_version),
]


@app.callback(help=_ABOUT)
def options(debug: Debug = False, workspace: Workspace = None, version: Version = False) -> None:
    """What stands before the command."""
    if any(name.startswith("KGPLATFORM_") for name in os.environ):
        from kgplatform.settings import unknown_variables

        for line in unknown_variables():
            note(line)


@app.command()
def up(home: Home = None, as_json: AsJson = False) -> None:
    """Start the managed local Neo4j if it is not running, and show its addresses."""
    from kgplatform.neo4j.server import LocalNeo4j

    settings = settings_of(home)
    LocalNeo4j(settings, note).up()
    _print_status(settings, as_json)


@app.command()
def down(home: Home = None, as_json: AsJson = False) -> None:
    """Stop the managed local Neo4j. The graph stays on disk."""
    from kgplatform.neo4j.server import LocalNeo4j

    settings, had_parts = settings_of(home), False
    if settings.parts_folder.is_dir():  # else no more is loaded
        from kgplatform.parts import stop_parts

        had_parts = stop_parts(settings, note)
    stopped = LocalNeo4j(settings, note).down() or had_parts
    if as_json:
        print(json.dumps({"stopped": stopped}))
    else:
        print("Neo4j is stopped." if stopped else "Neo4j was not running.")


@app.command()
def status(home: Home = None, as_json: AsJson = False) -> None:
    """Show whether the managed local Neo4j is running, and its addresses and files."""
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
        if found.heap:
            print(f"Memory:        heap {found.heap}, page cache {found.page_cache}")
        print(f"Log:           {found.log}")
        if found.advice:
            print(found.advice)
    else:
        print(f"Neo4j {found.version} is not running. Its home: {found.home}")
    if settings.neo4j_uri is not None:
        print(f"NEO4J_URI is set: the other commands use {settings.neo4j_uri}, not this server.")
        try:
            with open_at(str(settings.home_folder)) as graph:
                print(graph.server_advice() or "That server responds and limits the memory of each statement.")
        except KgError as error:
            print(error)


for command in (changes.ingest, changes.tree, changes.gist, changes.remove, changes.describe, changes.reembed):
    app.command()(command)
app.command("import")(changes.import_)


@app.command()
def search(
    question: QuestionText,
    route: RouteOption = "all",
    top_k: TopK = 10,
    facts: Annotated[bool, typer.Option("--facts", help="Show all facts found, not only the relevant ones.")] = False,
    where: Where = None,
    documents: Documents = None,
    folders: Folders = None,
    as_of: AsOf = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Find the passages and facts nearest to a question, with citations. Uses no language model."""
    from kgplatform.interfaces.cli.show import answers, terminal

    with terminal.ProgressLines(), connect_to(home) as graph:
        only = alternatives(where, documents, folders)
        result = graph.search(question, route=route, top_k=top_k, where=only, as_of=as_of)
    terminal.show(as_json, result, partial(answers.show_search, all_facts=facts))


app.command(cls=ask.AskCommand)(ask.ask)
app.command()(ask.chat)
app.command()(kept.recheck)
app.command()(kept.watch)
app.add_typer(kept.app, name="answer")
app.command(hidden=True)(evaluate.anonymise)
app.command()(evaluate.evaluate)
app.command()(changes.correct)
app.command()(changes.adopt)
app.command()(changes.export)
app.command()(serve.serve)
app.command()(serve.mcp)
app.command()(serve.browser)
app.add_typer(workspaces.app, name="workspaces")
app.add_typer(people.app, name="people")


@app.command()
def cypher(
    statement: Annotated[str, typer.Argument(help="One Cypher statement.", show_default=False)],
    param: Annotated[
        list[str] | None, typer.Option("--param", help="NAME=VALUE; the value is JSON or text. May be repeated.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Allow the statement to change the graph.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Maximum rows to print.")] = None,
    timeout: Annotated[float | None, typer.Option("--timeout", min=0.001, help="Time limit in seconds.")] = None,
    where: Where = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Run a Cypher statement; read-only unless --write."""
    from kgplatform.interfaces.cli.show import reports, terminal

    if write and where:
        raise InputError("A statement that changes the graph is about all of it: leave out --write or --where.")
    parameters = {name: json_or_text(text) for name, text in named_texts(param, "--param")}
    with open_part(home, where) as graph:
        rows = graph.cypher(statement, parameters, write=write, limit=limit, timeout=timeout)
    document = {"columns": rows.columns, "rows": [*rows], "truncated": rows.truncated, "changes": rows.counters}
    document["notes"] = rows.notes
    terminal.show(as_json, rows, reports.show_rows, document)


@app.command()
def documents(where: Where = None, home: Home = None, as_json: AsJson = False) -> None:
    """List the documents of the graph."""
    from kgplatform.interfaces.cli.show import reports, terminal

    with open_part(home, where) as graph:
        documents = graph.documents()
    terminal.show(as_json, documents, reports.show_documents, {"documents": documents})


@app.command("conflicts")
def list_conflicts(
    limit: Annotated[int, typer.Option("--limit", min=1, help="Maximum conflicts to list.")] = 100,
    where: Where = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """List facts that contradict each other: two values of what the schema marks as single."""
    from kgplatform.interfaces.cli.show import answers, terminal

    with open_part(home, where) as graph:
        found = graph.conflicts(limit)
    terminal.show(as_json, found, answers.show_conflicts, {"conflicts": found})


@app.command()
def stats(where: Where = None, home: Home = None, as_json: AsJson = False) -> None:
    """Count nodes by label, relationships by type, and key elements with their neighbours and facts."""
    from kgplatform.interfaces.cli.show import reports, terminal

    with open_part(home, where) as graph:
        counts = graph.stats()
    terminal.show(as_json, counts, reports.show_stats)


@app.command()
def schema(where: Where = None, home: Home = None, as_json: AsJson = False) -> None:
    """Show the schema of the graph and the types added to it."""
    from kgplatform.interfaces.cli.show import reports, terminal

    with open_part(home, where) as graph:
        known = graph.schema()
    if known is None:
        raise InputError("The graph has no schema yet. Run `kgplatform ingest PATH…` first.")
    terminal.show(as_json, known, reports.show_schema, known.to_dict())


@app.command()
def settings(home: Home = None, as_json: AsJson = False) -> None:
    """List all settings with their current values and sources."""
    from kgplatform.interfaces.cli.show import terminal
    from kgplatform.settings import settings_table, values_in_force

    heads = ("Setting", "Value", "From", "Unit", "Meaning")
    shown, listed = [], []
    for (name, default, unit, text), (value, source) in zip(settings_table(), values_in_force(home=home), strict=True):
        shown.append((name, value, source, unit, text))
        listed.append({"name": name, "value": value, "source": source, "default": default, "unit": unit, "help": text})
    document = {"settings": listed}
    terminal.show(as_json, shown, lambda rows: terminal.table(terminal.console(), heads, rows), document)
    settings_of(home)  # raises where one of them cannot be used


def main() -> None:
    """Run the command line: an error is one sentence and an exit status."""
    given: dict[str, bool] = {}
    speak_utf8()
    try:
        app(prog_name="kgplatform", obj=given)
    except Exception as error:  # noqa: BLE001 - the last place: an unforeseen error is one sentence too
        if given.get("debug"):
            traceback.print_exc()
        if isinstance(error, KgError):
            note(f"kgplatform: {spelled(error)}")
            sys.exit(error.exit_code)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            where = error.filename or "The output"
            note(f"kgplatform: {where} cannot be written: {error.strerror}. Free some space, then run it again.")
            sys.exit(1)
        fault = f"{type(error).__name__}: {error}".strip().split("\n")[0]
        note(f"kgplatform: internal error: {fault} (--debug shows where)")
        sys.exit(1)


if __name__ == "__main__":
    main()
