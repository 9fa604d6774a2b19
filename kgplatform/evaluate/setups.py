"""What is compared, as people write it: readers and comparators, each with its options.

parse_setups("retrieve,bm25,youtu:agent=false:top_k=10")
# three setups: "retrieve", "bm25" and "youtu agent=false top_k=10"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kgplatform.errors import InputError
from kgplatform.evaluate.results import Build, Setup
from kgplatform.readers.baselines.retrieve import READER as RETRIEVE
from kgplatform.readers.reader import AnswerMode, Need, Option, check, option, options_of
from kgplatform.readers.readers import READERS, find, options_for
from kgplatform.readers.readers import names as reader_names
from kgplatform.text import did_you_mean

CLOSED = "closed"
OFFICIAL = ("official-vector", "official-hybrid")
"""Readers with retrievers of the package neo4j-graphrag."""

ROUTES = {"bm25": {"route": "bm25"}, "dense": {"route": "dense"}, "hybrid": {"route": "hybrid"}}
"""Comparators that are the reader ``retrieve`` by one route."""

_JOINED = "+"


@dataclass(frozen=True, slots=True)
class ClosedOptions:
    """The model alone, without any document. There is nothing that it could refuse for."""

    mode: AnswerMode = "open"

    def __post_init__(self) -> None:
        if self.mode != "open":
            raise InputError("closed is the model without documents: it has no mode but open.")


@dataclass(frozen=True, slots=True)
class OfficialOptions:
    """Retrieval by neo4j-graphrag, the answer by our prompt, over ``top_k`` passages."""

    mode: AnswerMode = "reject"
    top_k: int = option(10, "how many passages", least=1)

    def __post_init__(self) -> None:
        check(self)


_OWN_OPTIONS: dict[str, type[Any]] = {CLOSED: ClosedOptions, **dict.fromkeys(OFFICIAL, OfficialOptions)}


def names() -> tuple[str, ...]:
    """All readers and comparators."""
    return (*reader_names(), *ROUTES, *OFFICIAL, CLOSED)


def usual() -> str:
    """The readers that are asked where none are named, as ``parse_setups`` reads them."""
    return ",".join(each.name for each in READERS if each.usual)


def parse_setups(text: str, build: Build = Build()) -> tuple[Setup, ...]:  # noqa: B008 - frozen: one serves all
    """The setups that ``text`` lists, in its order; parted by commas, their options by colons.

    Values of options that hold several are joined by ``+``. Raises ``InputError`` for an unknown reader or option, a
    value that cannot be used, and for a setup that comes twice.
    """
    written = [each.strip() for each in text.split(",")]
    if not all(written):
        raise InputError("A reader's name is missing. Write --readers as retrieve,youtu:agent=false,readagent.")
    setups = tuple(_parsed(each, build) for each in written)
    check_distinct(setups)
    return setups


def make_setup(name: str, options: Mapping[str, Any], build: Build = Build()) -> Setup:  # noqa: B008 - frozen
    """The setup of the reader or comparator ``name`` with ``options``, whose values may be text. See ``parse_setups``.

    Its name says what was asked for: "youtu agent=false". Its options are those that were given, checked.
    """
    if name not in names():
        raise InputError(f"There is no reader {name!r}.{did_you_mean(name, names())} There are {', '.join(names())}.")
    reader = RETRIEVE.name if name in ROUTES else name
    fixed = ROUTES.get(name, {})
    for taken in fixed.keys() & options.keys():
        raise InputError(f"{name} is the reader {reader} by the route {name}: leave {taken} out.")
    given = {key: _value(name, reader, key, value) for key, value in options.items()}
    setup = Setup(setup_name(name, given), reader, {**fixed, **given}, build)
    resolved(setup)
    return setup


def setup_name(name: str, options: Mapping[str, Any]) -> str:
    """A reader with its options as it is shown: "longagent members=retrieved:5"."""
    return " ".join([name, *(f"{option}={_shown(value)}" for option, value in options.items())])


def resolved(setup: Setup) -> dict[str, Any]:
    """All options of ``setup``, those that were not given as its reader has them by default.

    Raises ``InputError`` for an option that the reader does not have, or a value out of bounds.
    """
    if setup.reader in _OWN_OPTIONS:
        return asdict(_OWN_OPTIONS[setup.reader](**setup.options))
    return asdict(options_for(setup.reader, setup.options))


def check_distinct(setups: Sequence[Setup]) -> None:
    """Raise ``InputError`` where two setups have the same name, or are the same under two names."""
    known: dict[str, str] = {}
    names: set[str] = set()
    for setup in setups:
        same = repr((setup.reader, sorted(resolved(setup).items()), setup.build))
        if setup.name in names or same in known:
            first = known.get(same, setup.name)
            raise InputError(
                f"{setup.name} is there twice. Give each setup once."
                if first == setup.name
                else f"{setup.name} is the same as {first}: those are its options by default. Give one of them."
            )
        known[same] = setup.name
        names.add(setup.name)


def option_names(reader: str) -> tuple[str, ...]:
    """The names of the options that ``reader`` has."""
    return tuple(each.name for each in _options(reader))


def needs(setup: Setup) -> tuple[Need, ...]:
    """What ``setup`` reads beside the texts."""
    if setup.reader == CLOSED:
        return ()
    if setup.reader in OFFICIAL:
        return ("entities",)
    return tuple(find(setup.reader).needs(options_for(setup.reader, setup.options)))


def _parsed(written: str, build: Build) -> Setup:
    name, *parts = written.split(":")
    options: dict[str, str] = {}
    last = None
    for part in parts:
        option, equals, value = part.partition("=")
        if equals:
            last = option.strip().replace("-", "_")
            if last in options:
                raise InputError(f"{written}: {last} is there twice.")
            options[last] = value.strip()
        elif last is None:
            raise InputError(f"{written}: {part!r} is no option=value. Write it as youtu:agent=false:top_k=10.")
        else:  # a colon inside of a value: members=retrieved:5
            options[last] += f":{part.strip()}"
    return make_setup(name.strip(), options, build)


def _options(reader: str) -> tuple[Option, ...]:
    return options_of(_OWN_OPTIONS[reader]) if reader in _OWN_OPTIONS else find(reader).options


def _value(name: str, reader: str, option: str, value: Any) -> Any:
    """``value`` as the option wants it. What it means, and whether it is in bounds, is the reader's to check."""
    known = {each.name: each for each in _options(reader)}
    if option not in known:
        near = did_you_mean(option, tuple(known))
        raise InputError(f"{name} has no option {option!r}.{near} It has {', '.join(known)}.")
    wanted = known[option]
    if wanted.type == "list" and isinstance(value, str):
        return tuple(value.split(_JOINED))
    if wanted.optional and isinstance(value, str) and value.lower() == "none":
        return None
    try:
        return wanted.typed(value)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return _JOINED.join(map(str, value)) if isinstance(value, tuple) else str(value)
