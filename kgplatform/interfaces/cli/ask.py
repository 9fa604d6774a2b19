"""The commands ``ask`` and ``chat``: a reader answers one question, or questions line by line, kept as a thread.

Importing the readers takes most of a second: it happens only when a command runs or shows its help.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from kgplatform.errors import BudgetError, InputError, KgError, ModelError, StoppedError
from kgplatform.interfaces.cli.shared import (
    AsJson,
    AsOf,
    Documents,
    Folders,
    Home,
    QuestionText,
    Route,
    TokenBudget,
    Verify,
    Where,
    alternatives,
    connect_to,
    flag,
    named_texts,
    note,
    open_at,
    spelled,
)

if TYPE_CHECKING:
    from kgplatform.client import ChatThread, KnowledgeGraph
    from kgplatform.readers.reader import Option
    from kgplatform.records import Answer, Usage

ReaderName = Annotated[str | None, typer.Option("--reader", help="The reader. Default: retrieve.")]
ReaderOptions = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of the reader, such as nodes=3. May be repeated."),
]
Keep = Annotated[bool, typer.Option("--keep", help="Save the run in the graph.")]

_QUIT = "/quit"
_FLAGS = {name: flag(name) for name in ("mode", "answer_style", "route", "top_k")}
"""The options of readers that ``ask`` has flags for."""


class AskCommand(TyperCommand):
    """The command, whose help ends with the options of the reader that is named, else with the names of all."""

    _reader = ""

    @property
    def epilog(self) -> str:
        """The readers and their options; a paragraph for each option of the one that was named."""
        from kgplatform.readers.readers import READERS

        if reader := next((each for each in READERS if each.name == self._reader), None):
            rows = options_table()
            lines = [f"{name}: {does}" for name, who, does in rows if reader.name in who.split(", ") or who == "all"]
            return "\n\n".join([f"Options of {reader.name}, for --option NAME=VALUE:", *lines])
        lines = [f"{each.name}: {', '.join(option.name for option in each.options)}" for each in READERS]
        about = f"Readers (default: {READERS[0].name}) and their options, for --option NAME=VALUE. "
        return "\n\n".join([f"{about}`kgplatform ask --reader NAME --help` explains them.", *lines])

    @epilog.setter
    def epilog(self, given: object) -> None:
        """What Typer sets is ignored."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See Click. For one release: an option of a reader that was a flag is refused with its new form."""
        known = {opt for param in self.params for opt in param.opts}
        given = [arg.partition("=")[0] for arg in args if arg.startswith("--")]
        parts = [part for arg in args for part in (arg.split("=", 1) if arg.startswith("--reader=") else [arg])]
        self._reader = parts[parts.index("--reader") + 1] if "--reader" in parts[:-1] else ""
        if unknown := set(given) - known:
            for option in _owners():
                if (was := flag(f"no_{option.singular}" if option.default is True else option.singular)) in unknown:
                    value = str(option.default is False).lower() if option.type == "boolean" else "VALUE"
                    raise InputError(f"Write --option {option.name}={value} in place of {was}.")
        return super().parse_args(ctx, args)


def ask(
    question: QuestionText,
    reader: ReaderName = None,
    mode: Annotated[
        Literal["reject", "open"] | None,
        typer.Option(
            "--mode",
            help="If the documents have no answer: decline (reject, the default), or use the model's knowledge.",
        ),
    ] = None,
    answer_style: Annotated[
        Literal["phrase", "sentences", "report"] | None,
        typer.Option("--answer-style", help="Length of the answer. Default: sentences."),
    ] = None,
    route: Annotated[Route | None, typer.Option("--route", help="Search route, for readers with this option.")] = None,
    top_k: Annotated[
        int | None, typer.Option("--top-k", min=1, help="Number of passages, for readers with this option.")
    ] = None,
    option: ReaderOptions = None,
    where: Where = None,
    documents: Documents = None,
    folders: Folders = None,
    as_of: AsOf = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show each step with its Cypher, ready to paste.")] = False,
    keep: Keep = False,
    verify: Verify = False,
    token_budget: TokenBudget = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question and cite the supporting sentences; without a language model, show the evidence."""
    from kgplatform.interfaces.cli.show.answers import failed_json, show_run
    from kgplatform.interfaces.cli.show.terminal import print_json

    flags = {"mode": mode, "answer_style": answer_style, "route": route, "top_k": top_k}
    try:
        options = reader_options(reader, option, {name: value for name, value in flags.items() if value})
        with connect_to(home, token_budget=token_budget) as graph:
            only = alternatives(where, documents, folders)
            asked_of: dict[str, Any] = {"options": options, "where": only, "as_of": as_of}
            asked = partial(graph.ask, question, reader, **asked_of, keep=keep, verify=verify)
            told = partial(failed_json, question, trace=trace)
            answer, cost = watched(asked, graph, as_json, lambda *failed: print_json(told(*failed)))
    except InputError as error:
        raise InputError(_told(error, _FLAGS)) from error
    show_run(answer, as_json=as_json, trace=trace)
    if not as_json:
        note(cost)


def reader_options(
    reader: str | None, given: Sequence[str] | None, flags: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What ``--option`` was given, and ``flags``, as options of ``reader``, which are checked before a server starts. A
    list is given item by item. Raises ``InputError``."""
    from kgplatform.client import check_options
    from kgplatform.readers.readers import READERS, find

    known = {option.name: option for option in (find(reader) if reader else READERS[0]).options}
    options: dict[str, Any] = dict(flags or {})
    for name, text in named_texts(given, "--option"):
        option = known.get(name)
        if option is None:
            options[name] = text
        elif option.type == "list":
            options[name] = (*options.get(name, ()), text)
        else:
            options[name] = None if text in ("none", "null") else option.read(text)
    check_options(reader, options)
    return options


def _owners() -> dict[Option, list[str]]:
    """All options of readers, each with the readers that have that very option."""
    from kgplatform.readers.readers import READERS

    found: dict[Option, list[str]] = {}
    for reader in READERS:
        for option in reader.options:
            found.setdefault(option, []).append(reader.name)
    return found


def _told(error: KgError, flags: Mapping[str, str]) -> str:
    """The message of ``error``: an option of a reader that is not among ``flags`` keeps the name for ``--option``."""
    return spelled(error, flags, {option.name for option in _owners()} - flags.keys())


def options_table() -> list[tuple[str, str, str]]:
    """The name of each option of readers, the readers that have it, and what it does; first what most have."""

    def described(option: Option) -> str:  # what it does, its values unless the help names them, and its default
        values = default = ""
        if not all(re.search(rf"\b{choice}\b", option.help) for choice in option.choices):
            values = f" ({', '.join(option.choices)})"
        elif option.least is not None:
            values = f" (from {option.least:g})" if option.most is None else f" ({option.least:g} to {option.most:g})"
        if isinstance(option.default, int | float | str):
            shown = str(option.default).lower() if option.type == "boolean" else option.default
            default = f"; by default {shown}"
        return f"{option.help}{values}{default}."

    rows = [(option.name, readers, described(option)) for option, readers in _owners().items()]
    most = max(len(readers) for _, readers, _ in rows)
    rows.sort(key=lambda row: -len(row[1]))
    return [(name, "all" if len(who) == most else ", ".join(who), does) for name, who, does in rows]


def watched(
    ask: Callable[..., Answer], graph: KnowledgeGraph, as_json: bool, tell_failure: Callable[[ModelError, Usage], None]
) -> tuple[Answer, str]:
    """The answer of ``ask``, a reader of ``graph``, watched on a terminal; and what it cost.

    Where the language model fails, the evidence and the cost are shown before the error leaves; with ``as_json``,
    ``tell_failure`` is given them.
    """
    from kgplatform.interfaces.cli.show.answers import show_first, spent_on
    from kgplatform.interfaces.cli.show.terminal import LiveAnswer, console

    started, before = time.perf_counter(), graph.ledger.total
    try:
        with LiveAnswer(as_json=as_json) as live:
            answer = ask(**live.listeners)
    except ModelError as error:
        spent = graph.ledger.total - before
        if as_json:
            tell_failure(error, spent)
        else:
            if error.evidence is not None:
                show_first(console(), "The reader failed. What was found until then", error.evidence.passages)
            note(spent_on(spent, time.perf_counter() - started, "no reply from the model"))
        raise
    return answer, spent_on(answer.usage, time.perf_counter() - started)


def chat(
    thread: Annotated[str | None, typer.Option("--thread", help="Continue this thread. Default: a new one.")] = None,
    reader: ReaderName = None,
    option: ReaderOptions = None,
    where: Where = None,
    documents: Documents = None,
    folders: Folders = None,
    as_of: AsOf = None,
    verify: Verify = False,
    list_: Annotated[bool, typer.Option("--list", help="List the threads and exit.")] = False,
    remove: Annotated[str | None, typer.Option("--remove", metavar="ID", help="Remove this thread.")] = None,
    token_budget: TokenBudget = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Ask questions and follow-up questions, one per line. /quit or Ctrl-D exits."""
    if list_ or remove:
        from kgplatform.interfaces.cli.show.answers import show_threads
        from kgplatform.interfaces.cli.show.terminal import show

        with open_at(home) as graph:
            if remove:
                graph.remove_thread(remove)
            threads = graph.look.threads()
        show(as_json, threads, show_threads, {"threads": threads})
        return
    try:
        options = reader_options(reader, option)
    except InputError as error:
        raise InputError(_told(error, {})) from error
    with connect_to(home, token_budget=token_budget) as graph:
        opened = graph.chat(thread)
        only = alternatives(where, documents, folders)
        ask = partial(opened.ask, reader=reader, options=options, where=only, as_of=as_of, verify=verify)
        failed = _talk(graph, opened, ask, as_json)
    if failed and not sys.stdin.isatty():  # a person has read it, a script has not
        raise typer.Exit(1)


def _talk(graph: KnowledgeGraph, thread: ChatThread, ask: Callable[..., Answer], as_json: bool) -> int:
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
            tell = partial(failed_json, question, trace=True)
            to_ask = partial(ask, question)
            answer, cost = watched(to_ask, graph, as_json, lambda *told, tell=tell: answers.append(tell(*told)))
        except StoppedError:
            raise
        except KgError as error:
            note(f"kgplatform: {_told(error, {})}")
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
