"""The commands about kept answers: whether they still stand, who is told, and their evidence as a file."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgplatform.errors import InputError, KgError
from kgplatform.interfaces.cli.shared import (
    AsJson,
    Home,
    QuestionText,
    TokenBudget,
    Where,
    alternatives,
    connect_to,
    note,
    open_at,
    settings_of,
)

if TYPE_CHECKING:
    from kgplatform.exchange import Verified

NOT_TRUE = 4
"""Exit status where answers are not, or no longer, borne out."""

app = typer.Typer(help="Write a kept answer with its evidence to a file, and check such a file.", no_args_is_help=True)


def recheck(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN]...", help="Ids. Default: the last answer to each question.", show_default=False),
    ] = None,
    fail_on: Annotated[
        str, typer.Option("--fail-on", metavar="STATES", help="Exit with 4 if an answer is one: lost,changed")
    ] = "",
    ask_again: Annotated[
        bool, typer.Option("--ask-again", help="Have the model answer those anew that do not stand; keep its answers.")
    ] = False,
    token_budget: TokenBudget = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Check whether the answers that you kept (ask --keep) still stand. Uses no language model."""
    from kgplatform.explore.recheck import SHAKEN, summary
    from kgplatform.interfaces.cli.show import answers, terminal
    from kgplatform.text import unknown

    failing = [name.strip() for name in fail_on.split(",") if name.strip()]
    for name in failing:
        if name not in SHAKEN:
            raise InputError(unknown("state", name, SHAKEN))
    with terminal.ProgressLines() as progress, connect_to(home, token_budget=token_budget) as graph:
        checked = graph.recheck(runs or (), ask_again=ask_again, progress=progress)
    document: dict[str, Any] = {"answers": checked, "summary": summary(checked)}
    terminal.show(as_json, checked, answers.show_checked, document)
    if any(each.state in failing for each in checked):
        raise typer.Exit(NOT_TRUE)


def watch(
    question: QuestionText,
    webhook: Annotated[
        str | None,
        typer.Option("--webhook", metavar="URL", help="POST each change there, signed: KGPLATFORM_WEBHOOK_SECRET."),
    ] = None,
    command: Annotated[
        str | None, typer.Option("--command", help="Run this for each change, with its JSON as standard input.")
    ] = None,
    every: Annotated[float, typer.Option("--every", min=0.1, help="Seconds between two looks at the graph.")] = 2.0,
    where: Where = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Tell each time that the evidence for a question changes, until Ctrl-C. Uses no language model."""
    from kgplatform.explore.watch import check_webhook, send
    from kgplatform.interfaces.cli.show import answers
    from kgplatform.shown import encode

    secret = settings_of(home).webhook_secret
    if webhook:
        check_webhook(webhook, secret)
    try:
        to_run = shlex.split(command or "")
    except ValueError as error:
        raise InputError(f"The command cannot be read: {error}.", "command") from error
    with connect_to(home) as graph:
        for change in graph.watch(question, where=alternatives(where) or None, every=every):
            body = encode(change)
            if as_json:
                print(body.decode(), flush=True)
            else:
                answers.show_change(change)
            try:
                if webhook and secret:
                    send(webhook, secret.get_secret_value(), body)
                if to_run:
                    subprocess.run(to_run, input=body + b"\n", check=True)
            except (KgError, OSError, subprocess.SubprocessError) as error:
                note(f"kgplatform: {error}")  # the next change is told all the same


@app.command()
def export(
    run: Annotated[str, typer.Argument(help="The run's id.", show_default=False)],
    file: Annotated[Path | None, typer.Argument(help="Default: answer-RUN.zip here.", show_default=False)] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Write a kept answer with its evidence to a ZIP that a browser shows. The same graph gives the same bytes."""
    from kgplatform.interfaces.cli.show import terminal

    with open_at(home) as graph:
        path = graph.export_answer(run, file or Path(f"answer-{run}.zip"))
    terminal.show(as_json, path, lambda path: print(f"Exported the answer with its evidence: {path}"), {"path": path})


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="What `answer export` wrote.", show_default=False)],
    folder: Annotated[Path, typer.Argument(help="The documents: a folder or a file.", show_default=False)],
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Check, without a database, whether each sentence that an answer cites stands in these documents."""
    from kgplatform.client import verify_answer
    from kgplatform.interfaces.cli.show import terminal

    found = verify_answer(file, folder, settings_of(home))
    terminal.show(as_json, found, _show_verified, {**found.to_dict(), "holds": found.holds})
    if not found.holds:
        raise typer.Exit(NOT_TRUE)


_VERDICTS = {
    "stands": "stands, to the byte",
    "elsewhere": "the document changed, and still has these words",
    "lost": "the document does not have these words",
    "no document": "there is no such document here",
}


def _show_verified(found: Verified) -> None:
    from kgplatform.interfaces.cli.show.terminal import console, safe, short
    from kgplatform.shown import file_of

    out = console()
    out.print(f"[bold]{safe(found.question)}[/bold]")
    for each in found.citations:
        where = f" ({file_of(each.found_in)})" if each.found_in else ""
        out.print(f"{safe(f'[{each.number}]')} {safe(each.title + where)}: {_VERDICTS[each.state]}", soft_wrap=True)
        out.print(f"     {safe(short(each.text))}")
    for line in found.notes:
        note(line)
    standing = sum(each.state == "stands" for each in found.citations)
    out.print(f"{standing} of {len(found.citations)} cited sentences stand to the byte.")
