"""What the commands share: options with their help, notes to people, and the graph of a home folder."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
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


def spelled(error: KgError, flags: Mapping[str, str] | None = None, besides: Collection[str] = ()) -> str:
    """The message of ``error``, with the options that it names as flags: ``top_k=5`` becomes ``--top-k 5``. Those in
    ``besides`` have none. Where a message has ``format=``, its word "format" is no option."""
    said = str(error)
    for name in (each for each in error.options if each not in besides):
        end, after = ("=", " ") if f"{name}=" in said else (r"\b", "")
        said = re.sub(rf"(?<![\w-]){name}{end}", (flags or {}).get(name, flag(name)) + after, said)
    return said


def named_texts(given: Sequence[str] | None, flag: str) -> list[tuple[str, str]]:
    """The names and texts that ``flag`` was given as NAME=VALUE. Raises ``InputError``."""
    named = []
    for each in given or ():
        name, equals, text = each.partition("=")
        if not equals or not name.strip():
            raise InputError(f"{flag} {each!r} is not NAME=VALUE.")
        named.append((name.strip(), text))
    return named


def json_or_text(text: str) -> Any:
    """What ``text`` means as JSON; itself if it is none."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


Verify = Annotated[
    bool, typer.Option("--verify", help="Have the model check whether the cited sentences support each statement.")
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Only documents with this metadata: author=Verne, 'year >= 1869 and not draft'. Several conditions must "
        "all hold; several NAME=VALUE with the same name are alternatives.",
    ),
]
Documents = Annotated[
    list[str] | None,
    typer.Option("--document", metavar="NAME", help="Only this document: its title, file or path. May be repeated."),
]
Folders = Annotated[
    list[str] | None,
    typer.Option("--folder", metavar="NAME", help="Only documents in or below this folder. May be repeated."),
]
AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="DATE", help="Leave out facts of other times than this year, month or day."),
]


_EQUALS = re.compile(r"""\s*([\w.-]+|`[^`]+`)\s*=\s*("[^"\\]*"|'[^'\\]*'|[^\s"'()=<>!,;&|][^"()=<>!,;&|]*)""")


def alternatives(
    conditions: Sequence[str] | None, documents: Sequence[str] | None = None, folders: Sequence[str] | None = None
) -> list[str]:
    """``--where``, ``--document`` and ``--folder`` as conditions that must all hold: ``NAME=VALUE`` with the same name,
    several documents and several folders are joined by "or"."""
    equal: dict[str, list[str]] = {}
    others = []
    for each in conditions or ():
        found = _EQUALS.fullmatch(each)
        if found is None or re.search(r"\s(?:and|or)\s", each, re.IGNORECASE):
            others.append(each)
        else:
            equal.setdefault(found[1].strip("`"), []).append(each)
    for name, values in (("document", documents), ("folder", folders)):
        if values:
            others.append(f"{name} in ({', '.join(map(_quoted, values))})")
    return [*(" or ".join(some) for some in equal.values()), *filter(str.strip, others)]


def _quoted(name: str) -> str:
    """``name`` as a value of a condition; a path that begins at this folder, ``./a.md``, from the root."""
    whole = os.path.abspath(name) if re.match(r"\.\.?(?:[/\\]|$)", name) else name  # noqa: PTH100  # links stay
    return '"{}"'.format(re.sub(r'(["\\])', r"\\\1", whole))


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


@contextmanager
def open_part(home: str | None, where: Sequence[str] | None) -> Iterator[KnowledgeGraph]:
    """The same, or the graph of the documents alone that ``--where`` names."""
    only = alternatives(where)
    with open_at(home) as graph, graph.part(only) if only else nullcontext(graph) as part:
        yield part


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
        "--schema", help="A schema file or a shipped schema. Default: the graph's schema; general for a new graph."
    ),
]
TokenBudget = Annotated[
    int | None, typer.Option("--token-budget", min=1, help="Stop cleanly when the model has used this many tokens.")
]
