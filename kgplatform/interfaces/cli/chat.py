"""The command ``chat``: questions and follow-up questions, line by line, kept as a thread of the graph."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgplatform.errors import BudgetError, KgError, StoppedError
from kgplatform.interfaces.cli.ask import watched
from kgplatform.interfaces.cli.shared import (
    AsJson,
    Home,
    TokenBudget,
    Verify,
    Where,
    connect_to,
    metadata_of,
    named_values,
    note,
    open_at,
    spelled,
)

if TYPE_CHECKING:
    from kgplatform.client import KnowledgeGraph
    from kgplatform.conversation import ChatThread
    from kgplatform.records import Answer

_QUIT = "/quit"


def chat(
    thread: Annotated[str | None, typer.Option("--thread", help="Continue this thread. Default: a new one.")] = None,
    reader: Annotated[str | None, typer.Option("--reader", help="The reader, as for ask.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="NAME=VALUE, an option of the reader, such as mode=open. May be repeated."),
    ] = None,
    where: Where = None,
    verify: Verify = False,
    list_: Annotated[bool, typer.Option("--list", help="List the threads and exit.")] = False,
    remove: Annotated[str | None, typer.Option("--remove", metavar="ID", help="Remove this thread.")] = None,
    token_budget: TokenBudget = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Ask questions and follow-up questions, one per line. /quit or Ctrl-D exits."""
    if list_ or remove:
        with open_at(home) as graph:
            _manage(graph, remove, as_json)
        return
    from kgplatform.client import check_options

    options = named_values(option or [], "--option")
    check_options(reader, options)  # before a server is started for it
    how: dict[str, Any] = {"options": options, "where": metadata_of(where), "verify": verify}
    with connect_to(home, token_budget=token_budget) as graph:
        failed = _talk(graph, graph.chat(thread), reader, how, as_json)
    if failed and not sys.stdin.isatty():  # a person has read it, a script has not
        raise typer.Exit(1)


def _manage(graph: KnowledgeGraph, remove: str | None, as_json: bool) -> None:
    from kgplatform.interfaces.cli.show.answers import show_threads
    from kgplatform.interfaces.cli.show.terminal import show

    if remove:
        graph.remove_thread(remove)
    threads = graph.look.threads()
    show(as_json, threads, show_threads, {"threads": threads})


def _talk(graph: KnowledgeGraph, thread: ChatThread, reader: str | None, how: dict[str, Any], as_json: bool) -> int:
    """Answer line after line; how many questions failed."""
    from kgplatform.interfaces.cli.show.answers import failed_json, show_answer, show_turns
    from kgplatform.interfaces.cli.show.terminal import print_json

    earlier = thread.turns
    if not as_json:
        show_turns(earlier)
    answers: list[Answer | dict[str, Any]] = []
    failed = 0
    for question in _questions():
        try:
            ask = partial(thread.ask, question, reader, **how)
            tell = partial(failed_json, question, trace=True)
            answer, cost = watched(ask, graph, as_json, lambda *told, tell=tell: answers.append(tell(*told)))
        except StoppedError:
            raise
        except KgError as error:
            note(f"kgplatform: {spelled(error)}")
            failed += 1
            if isinstance(error, BudgetError):
                break
            continue  # the next question may go better
        answers.append(answer)
        if not as_json:
            show_answer(answer)
            note(cost)
    if as_json:
        print_json({"thread": thread.id, "answers": answers})
    elif earlier or answers or failed:
        note(f"To continue this thread: kgplatform chat --thread {thread.id}")
    return failed


def _questions() -> Iterator[str]:
    """The lines of standard input, up to /quit or its end; on a terminal each is asked for."""
    asks = sys.stdin.isatty()
    if asks:
        with suppress(ImportError):  # not everywhere
            import readline  # noqa: F401 - lines can be edited, and called back with the arrow keys
        note(f"Type a question. {_QUIT} or Ctrl-D exits.")
    while True:
        try:
            line = (input("> ") if asks else next(sys.stdin)).strip()
        except (EOFError, StopIteration):
            return
        if line == _QUIT:
            return
        if re.fullmatch("/[a-z]+", line):
            note(f"There is no command {line}; {_QUIT} or Ctrl-D exits.")
        elif line:
            yield line
