"""The command ``ask``: its options are made from the readers' records.

Importing the readers takes most of a second: it happens only when the command runs or shows its help.
"""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from kgplatform.errors import InputError, ModelError
from kgplatform.interfaces.cli.shared import (
    AsJson,
    Home,
    QuestionText,
    TokenBudget,
    Verify,
    Where,
    connect_to,
    flag,
    metadata_of,
    note,
    spelled,
)

if TYPE_CHECKING:
    from kgplatform.client import KnowledgeGraph
    from kgplatform.readers.reader import Option
    from kgplatform.records import Answer, Usage

Trace = Annotated[bool, typer.Option("--trace", help="Show each step with its Cypher, ready to paste.")]
Keep = Annotated[bool, typer.Option("--keep", help="Save the run in the graph.")]

_OF_ALL, _OF_SEVERAL, _OF_ONE = "Options of all readers", "Options of several readers", "Only for --reader {}"
"""The headings of the help."""
_TYPES: dict[str, Any] = {"boolean": bool, "integer": int, "number": float, "string": str, "list": list[str]}
_METAVARS = {"integer": "N", "number": "NUMBER", "string": "TEXT", "list": "TEXT"}
_NAMED = re.compile(r"\b([a-z_]+)=(\w+)")
_OWN = ("question", "reader", "where", "trace", "keep", "verify", "token_budget", "home", "as_json")


class AskCommand(TyperCommand):
    """The command with the options of all readers, which are made when they are first needed."""

    @cached_property
    def _made(self) -> TyperCommand:
        made = typer.Typer(add_completion=False)
        made.command()(_with_options())
        command = typer.main.get_command(made)
        assert isinstance(command, TyperCommand)
        return command

    # Click sets both when it makes the command; what it sets is ignored.
    params = property(lambda self: self._made.params, lambda self, given: None)
    callback = property(lambda self: self._made.callback, lambda self, given: None)


def ask() -> None:
    """Answer a question and cite the supporting sentences; without a language model, show the evidence."""


def _ask(
    question: str,
    reader: str | None,
    where: list[str] | None,
    trace: bool,
    keep: bool,
    verify: bool,
    token_budget: int | None,
    home: Any,
    as_json: bool,
    options: dict[str, Any],
) -> None:
    from kgplatform.client import check_options
    from kgplatform.interfaces.cli.show.answers import failed_json, show_run
    from kgplatform.interfaces.cli.show.terminal import print_json

    given = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in options.items()
        if value not in (None, [], ())
    }
    try:
        check_options(reader, given)  # before a server is started for it
        only: dict[str, Any] = {"where": wanted} if (wanted := metadata_of(where)) else {}
        with connect_to(home, token_budget=token_budget) as graph:
            ask = partial(graph.ask, question, reader, options=given, keep=keep, verify=verify, **only)
            tell = partial(failed_json, question, trace=trace)
            answer, cost = watched(ask, graph, as_json, lambda *failed: print_json(tell(*failed)))
    except InputError as error:
        if not error.options:
            raise
        raise respelled(error) from error
    show_run(answer, as_json=as_json, trace=trace)
    if not as_json:
        note(cost)


def watched(
    ask: Callable[..., Answer],
    graph: KnowledgeGraph,
    as_json: bool,
    tell_failure: Callable[[ModelError, Usage], None],
) -> tuple[Answer, str]:
    """The answer of ``ask``, a reader of ``graph``, watched on a terminal; and what it cost.

    Where the language model fails, the evidence and the cost are shown before the error leaves; with ``as_json``,
    ``tell_failure`` is given them.
    """
    from kgplatform.interfaces.cli.show.answers import show_failed, spent_on
    from kgplatform.interfaces.cli.show.live import LiveAnswer

    started, before = time.perf_counter(), graph.ledger.total
    try:
        with LiveAnswer(as_json=as_json) as live:
            answer = ask(**live.listeners)
    except ModelError as error:
        spent = graph.ledger.total - before
        if as_json:
            tell_failure(error, spent)
        else:
            show_failed(error)
            note(spent_on(spent, time.perf_counter() - started, "no reply from the model"))
        raise
    return answer, spent_on(answer.usage, time.perf_counter() - started)


def respelled(error: InputError) -> InputError:
    """``error``, with the options of the readers as this command spells them."""
    flags = {name: _flag(owners[0][1]) for name, owners in _by_name().items()}
    return InputError(spelled(error, flags))


def _with_options() -> Any:
    """A function for Typer, whose parameters are the options of the command and of all readers."""
    from kgplatform.readers.readers import names

    def run(**given: Any) -> None:
        own = {name: given.pop(name) for name in _OWN}
        _ask(**own, options=given)

    known = names()
    help = f"The reader: {', '.join(known[:-1])} or {known[-1]}. Default: {known[0]}."
    who = Annotated[str | None, typer.Option("--reader", help=help)]
    parameters: dict[str, tuple[Any, Any]] = {
        "question": (QuestionText, inspect.Parameter.empty),
        "reader": (who, None),
    }
    options = sorted(_by_name().items(), key=lambda item: (len(item[1]) == 1, len(item[1]) < len(known)))
    parameters |= {name: (_annotation(owners), None) for name, owners in options}
    parameters |= {
        "where": (Where, None),
        "trace": (Trace, False),
        "keep": (Keep, False),
        "verify": (Verify, False),
        "token_budget": (TokenBudget, None),
    }
    parameters |= {"home": (Home, None), "as_json": (AsJson, False)}
    keyword = inspect.Parameter.KEYWORD_ONLY
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined] # what ``inspect`` and Typer look for
        [
            inspect.Parameter(name, keyword, default=default, annotation=type_)
            for name, (type_, default) in parameters.items()
        ]
    )
    run.__annotations__ = {name: type_ for name, (type_, _) in parameters.items()}
    run.__doc__ = ask.__doc__
    return run


def _by_name() -> dict[str, list[tuple[str, Option]]]:
    """By the name of an option, the readers that have it, each with its own."""
    from kgplatform.readers.readers import READERS

    found: dict[str, list[tuple[str, Option]]] = {}
    for reader in READERS:
        for option in reader.options:
            found.setdefault(option.name, []).append((reader.name, option))
    return found


def _annotation(owners: Sequence[tuple[str, Option]]) -> Any:
    option = owners[0][1]
    choices = tuple(dict.fromkeys(choice for _, each in owners for choice in each.choices))
    type_: Any = Literal[choices] if choices and option.type == "string" else _TYPES[option.type]
    metavar = None if option.type == "boolean" else _metavar(option)
    name = f" /{_flag(option)}" if option.default is True else _flag(option)
    shown = typer.Option(name, metavar=metavar, help=_help(owners), rich_help_panel=_panel(owners), show_default=False)
    return Annotated[type_ | None, shown]


def _panel(owners: Sequence[tuple[str, Option]]) -> str:
    """The heading that an option stands under: its readers are named in its own help, too."""
    from kgplatform.readers.readers import names

    if len(owners) == 1:
        return _OF_ONE.format(owners[0][0])
    return _OF_ALL if len(owners) == len(names()) else _OF_SEVERAL


def _metavar(option: Option) -> str:
    if option.choices or option.one:
        return (option.one or option.name).upper()
    return _METAVARS[option.type]


def _flag(option: Option) -> str:
    return flag(f"no_{option.singular}" if option.default is True else option.singular)


def _help(owners: Sequence[tuple[str, Option]]) -> str:
    """Which readers have the option, what it does in each, and its default."""
    alike: dict[str, dict[str, Option]] = {}
    for reader, option in owners:
        alike.setdefault(option.help, {})[reader] = option
    return " ".join(_help_of(options) for options in alike.values())


def _help_of(options: dict[str, Option]) -> str:
    """The help of readers in which the option does the same; only its default may differ."""
    from kgplatform.readers.readers import names

    who = "all readers" if len(options) == len(names()) else ", ".join(options)
    first = next(iter(options.values()))
    said = _NAMED.sub(lambda found: f"{flag(found[1])} {found[2]}", first.help)
    return f"{who}: {'without ' if first.default is True else ''}{said}{_bounds(first)}{_default(options)}."


def _bounds(option: Option) -> str:
    """The values that the option takes, if the help does not name them."""
    if not all(re.search(rf"\b{choice}\b", option.help) for choice in option.choices):
        return f" ({', '.join(option.choices)})"
    if option.least is None:
        return ""
    return f" (from {option.least:g})" if option.most is None else f" ({option.least:g} to {option.most:g})"


def _default(options: dict[str, Option]) -> str:
    """The first reader's default, then those that differ from it."""
    shown = {reader: option.default for reader, option in options.items() if type(option.default) in (int, float, str)}
    if not shown:
        return ""
    usual = next(iter(shown.values()))
    others = "".join(f", {reader} {default}" for reader, default in shown.items() if default != usual)
    return f"; by default {usual}{others}"
