"""What the commands share: options with their help, notes to people, and the graph of a home folder."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kgplatform.errors import InputError
from kgplatform.text import unknown

if TYPE_CHECKING:
    from kgplatform.client import KnowledgeGraph
    from kgplatform.errors import KgError
    from kgplatform.settings import Settings


def note(line: str) -> None:
    """A line for people, on the error stream: standard output is for results."""
    print(line, file=sys.stderr, flush=True)


def flag(option: str) -> str:
    """How the command line spells ``option``."""
    return f"--{option.replace('_', '-')}"


def spelled(error: KgError, flags: Mapping[str, str] | None = None) -> str:
    """The message of ``error``, with the options that it names as flags: ``top_k=5`` becomes ``--top-k 5``.

    Where a message has ``format=``, its word "format" is no option.
    """
    said = str(error)
    for name in error.options:
        end, after = ("=", " ") if f"{name}=" in said else (r"\b", "")
        said = re.sub(rf"(?<![\w-]){name}{end}", (flags or {}).get(name, flag(name)) + after, said)
    return said


def named_values(given: Sequence[str], flag: str) -> dict[str, Any]:
    """The values that ``flag`` was given as NAME=VALUE; a value is JSON, else text. Raises ``InputError``."""
    values: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"{flag} {each!r} is not NAME=VALUE.")
        try:
            values[name] = json.loads(value)
        except json.JSONDecodeError:
            values[name] = value
    return values


Verify = Annotated[
    bool, typer.Option("--verify", help="Have the model check whether the cited sentences support each statement.")
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="NAME=VALUE",
        help="Only documents with this metadata. May be repeated: several values of one name are alternatives.",
    ),
]


def metadata_of(given: Sequence[str] | None) -> dict[str, list[Any]]:
    """What ``--where`` asks for: a value that is written as a number, or as true or false, is meant as that, too."""
    wanted: dict[str, list[Any]] = {}
    for each in given or ():
        name, equals, value = each.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise InputError(f"--where {each!r} is not NAME=VALUE.")
        values = wanted.setdefault(name.strip(), [])
        values.append(value.strip())
        with suppress(json.JSONDecodeError):
            if isinstance(read := json.loads(value), int | float):
                values.append(read)
    return wanted


def known_extractor(name: str | None) -> str | None:
    """``name``, if there is an extractor of that name; else the command is not even begun."""
    if name is not None and name not in ("llm", "local", "recorded"):
        from kgplatform.client import extractors

        if name not in extractors():
            raise typer.BadParameter(unknown("extractor", name, extractors()).rstrip("."))
    return name


def settings_of(home: str | None) -> Settings:
    """The settings; ``home`` overrides the environment."""
    from kgplatform.settings import load_settings

    return load_settings(home=home)


def open_at(home: str | None) -> KnowledgeGraph:
    """The graph, for work that needs no embedding model."""
    from kgplatform.client import open_graph

    return open_graph(settings_of(home), note)


def connect_to(home: str | None, **more: Any) -> KnowledgeGraph:
    """The graph, with ``more`` settings."""
    from kgplatform.client import connect

    return connect(home=home, report=note, **more)


Route = Literal["all", "entity", "triple", "path", "community", "passage", "bm25", "dense", "hybrid"]
EXTRACTOR_NAMES = "[llm|local|recorded]"
"""As the help shows them; other packages may add some."""
SchemaMode = Literal["strict", "flexible"]

Home = Annotated[
    str | None, typer.Option("--home", metavar="FOLDER", help="Home folder of the managed graph (KGPLATFORM_HOME).")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
QuestionText = Annotated[str, typer.Argument(help="The question.", show_default=False)]
TopK = Annotated[int, typer.Option("--top-k", min=1, help="Number of passages and facts.")]
RouteOption = Annotated[Route, typer.Option("--route", help="How to search.")]
SchemaOption = Annotated[
    str | None,
    typer.Option(
        "--schema",
        help="A schema file or a shipped schema. Default: the graph's schema; general for a new graph.",
    ),
]
TokenBudget = Annotated[
    int | None,
    typer.Option("--token-budget", min=1, help="Stop cleanly when the model has used this many tokens."),
]
