"""What is compared, as people write it: readers and comparators with their options, in a line or in a grid.

    parse_setups("retrieve,bm25,youtu:agent=false:top_k=10")
    # three setups: "retrieve", "bm25" and "youtu agent=false top_k=10"

A grid is a YAML file. It makes one table of what each option is worth:

    readers:
      - retrieve
      - reader: youtu
        options: {agent: [true, false], community: [true, false]}     # every combination: four setups
      - reader: graphreader
        options: {nodes: [1, 3, 5, 7], window_tokens: [2048, 8192]}
        one_at_a_time: true                        # as by default, then each value by itself
    build:                                         # how graphs are built; each combination has a graph of its own
      passage_tokens: [200, 400]
      gist: [{min_words: 100, max_words: 200}, {min_words: 280, max_words: 600}]
    corpus: my-folder/                             # what those graphs are built from

A value alone is set for all setups, a list is varied. An option that itself takes several values is varied over lists:
``without: [[], [path], [path, entity]]``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, validate_call

from kgplatform.errors import InputError, SchemaError, SettingError
from kgplatform.evaluate.comparators import CLOSED, ROUTES, ClosedOptions
from kgplatform.evaluate.terms import Build, Setup
from kgplatform.extract.bound import MODES
from kgplatform.extract.schema import TextLoader, load_schema
from kgplatform.gist.options import GistOptions
from kgplatform.readers.baselines.retrieve import READER as RETRIEVE
from kgplatform.readers.reader import Need, Option, options_of
from kgplatform.readers.readers import READERS, find, options_for
from kgplatform.readers.readers import names as reader_names
from kgplatform.settings import load_settings
from kgplatform.text import unknown

_JOINED = "+"


def names() -> tuple[str, ...]:
    """All readers and comparators."""
    return (*reader_names(), *ROUTES, CLOSED)


def usual() -> str:
    """The readers that are asked where none are named, as ``parse_setups`` reads them."""
    return ",".join(reader.name for reader in READERS if reader.usual)


def parse_setups(text: str) -> tuple[Setup, ...]:
    """The setups that ``text`` lists, in its order, separated by commas, their options by colons.

    Values of options that hold several are joined by ``+``. Raises ``InputError`` for an unknown reader or option, a
    value that cannot be used, and for a setup that is given twice.
    """
    written = [part.strip() for part in text.split(",")]
    if not all(written):
        raise InputError(f"A reader's name is missing. Write readers as {usual()}.", "readers")
    setups = tuple(map(_parsed, written))
    check_distinct(setups)
    return setups


def make_setup(name: str, options: Mapping[str, Any]) -> Setup:
    """The setup of the reader or comparator ``name`` with ``options``, whose values may be text. See ``parse_setups``.
    Its name says what was asked for: "youtu agent=false". Its options are those that were given, checked."""
    if name not in names():
        raise InputError(unknown("reader", name, names()))
    reader, fixed = (RETRIEVE.name, {"route": name}) if name in ROUTES else (name, {})
    for taken in fixed.keys() & options.keys():
        raise InputError(f"{name} is the reader {reader} by the route {name}: leave {taken} out.")
    given = {key: _value(name, reader, key, value) for key, value in options.items()}
    shown = [f"{option}={_shown(value)}" for option, value in given.items()]
    setup = Setup(" ".join([name, *shown]), reader, {**fixed, **given})
    resolved(setup)
    return setup


def as_asked(setup: Setup) -> dict[str, Any]:
    """The options of ``setup`` that its reader is given: where it does not say what answers are like, phrases. EM and
    F1 compare with right answers that are phrases. Sentences would rank the prompts, and not the readers."""
    usual = {"answer_style": "phrase"} if "answer_style" in option_names(setup.reader) else {}
    return {**usual, **setup.options}


def resolved(setup: Setup) -> dict[str, Any]:
    """All options of ``setup``, those that were not given as an evaluation, else its reader, has them by default.
    Raises ``InputError`` for an option that the reader does not have, or a value out of bounds."""
    given = as_asked(setup)
    return asdict(ClosedOptions(**given) if setup.reader == CLOSED else options_for(setup.reader, given))


def check_distinct(setups: Sequence[Setup]) -> None:
    """Raise ``InputError`` where two setups have the same name, or are the same under two names."""
    first: dict[str, str] = {}
    for number, setup in enumerate(setups):
        other = first.setdefault(repr((setup.reader, sorted(resolved(setup).items()), setup.build)), setup.name)
        if other != setup.name:
            raise InputError(
                f"{setup.name} is the same as {other}: those are its options by default. Give one of them."
            )
        if setup.name in (other.name for other in setups[:number]):
            raise InputError(f"{setup.name} is given twice. Give each setup once.")


def option_names(reader: str) -> tuple[str, ...]:
    """The names of the options that ``reader`` has."""
    return tuple(option.name for option in _options(reader))


def needs(setup: Setup) -> tuple[Need, ...]:
    """What ``setup`` reads beside the texts."""
    if setup.reader == CLOSED:
        return ()
    return tuple(find(setup.reader).needs(options_for(setup.reader, setup.options)))


def _parsed(written: str) -> Setup:
    name, *parts = written.split(":")
    options: dict[str, str] = {}
    for part in parts:
        option, equals, value = part.partition("=")
        key = option.strip().replace("-", "_")
        if equals and key in options:
            raise InputError(f"{written}: {key} is given twice.")
        if equals:
            options[key] = value.strip()
        elif options:  # a colon inside of a value: members=retrieved:5
            options[list(options)[-1]] += f":{part.strip()}"
        else:
            raise InputError(f"{written}: {part!r} is not option=value. Write it as {READERS[0].name}:top_k=10.")
    return make_setup(name.strip(), options)


def _options(reader: str) -> tuple[Option, ...]:
    return options_of(ClosedOptions) if reader == CLOSED else find(reader).options


def _value(name: str, reader: str, option: str, value: Any) -> Any:
    """``value`` as the option wants it. What it means, and whether it is in bounds, is the reader's to check."""
    known = {one.name: one for one in _options(reader)}
    if option not in known:
        raise InputError(f"{name}: {unknown('option', option, known)}")
    wanted = known[option]
    if wanted.type == "list" and isinstance(value, str):
        return tuple(value.split(_JOINED))
    if wanted.optional and isinstance(value, str) and value.lower() == "none":
        return None
    try:
        return wanted.read(value)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return _JOINED.join(map(str, value)) if isinstance(value, tuple) else str(value)


MOST = 200
"""Setups of one grid. A slip of a few lists makes thousands, and each answers every question."""

_CHOICES = {"extractor": ("llm", "local"), "mode": MODES}


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


_Values = Annotated[list[Any], BeforeValidator(_listed), Field(min_length=1)]
"""An option's values: a list is varied, a value alone is set for all setups."""


class _Varied(BaseModel):
    """One item of the list of readers, or how graphs are built."""

    model_config = ConfigDict(extra="forbid")

    one_at_a_time: bool = False


class _Reader(_Varied):
    reader: str
    options: dict[str, _Values] = {}


class _Builds(_Varied):
    passage_tokens: _Values | None = None
    extractor: _Values | None = None
    schema_: _Values | None = Field(default=None, alias="schema")
    mode: _Values | None = None
    gist: Annotated[list[dict[str, Any]], BeforeValidator(_listed), Field(min_length=1)] | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    readers: Annotated[
        list[Annotated[_Reader, BeforeValidator(lambda item: {"reader": item} if isinstance(item, str) else item)]],
        Field(min_length=1),
    ]
    build: _Builds = _Builds()
    corpus: Annotated[list[str], BeforeValidator(_listed)] = []


def read_grid(file: Path) -> tuple[tuple[Setup, ...], tuple[Path, ...]]:
    """The setups of the grid in ``file``, in its order, and the files and folders that graphs of their own are built
    from. Paths in it are relative to its folder.

    Raises ``InputError`` for a file that cannot be read, an unknown key, reader, option or value, for setups that are
    the same, and for more than 200 of them; it names the file and the place.
    """
    try:
        content = _File.model_validate(yaml.load(file.read_text(encoding="utf-8-sig"), TextLoader))
        asked = [setup for item in content.readers for setup in _of_reader(item)]
        builds = _of_builds(content.build, file.parent)
        _check_size(len(asked) * len(builds))
        setups = tuple(
            replace(setup, name=f"{setup.name}, {told}" if told else setup.name, build=build)
            for told, build in builds
            for setup in asked
        )
        check_distinct(setups)
        corpus = tuple(file.parent / path for path in content.corpus)
        for path in corpus:
            if not path.exists():
                raise InputError(f"{path} does not exist. Paths are relative to the folder of the grid.")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: the grid cannot be read: {error}.") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{file}: not valid YAML ({' '.join(str(error).split())}).") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(each + 1) if isinstance(each, int) else each for each in first["loc"])
        raise InputError(f"{file}: {place or 'the grid'}: {first['msg']}.") from error
    except (InputError, SettingError, SchemaError) as error:
        raise InputError(f"{file}: {error}") from error
    return setups, corpus


def _of_reader(item: _Reader) -> list[Setup]:
    """The setups of one item of the list."""
    make_setup(item.reader, {})  # an unknown reader is said before its options are
    made = _combined(item.options, item.one_at_a_time, lambda options: resolved(make_setup(item.reader, options)))
    return [make_setup(item.reader, options) for options in made]


def _of_builds(given: _Builds, folder: Path) -> list[tuple[str, Build]]:
    """How graphs are built, each way with what distinguishes it from the others."""
    listed = given.model_dump(exclude={"one_at_a_time"}, exclude_none=True, by_alias=True)
    checked = {name: [_build_value(name, value, folder) for value in values] for name, values in listed.items()}
    builds = []
    for values in _combined(checked, given.one_at_a_time, dict):
        differ = {name: value for name, value in values.items() if len(checked[name]) > 1}
        differ |= differ.pop("gist", {})  # the sizes of pages by their own names
        builds.append((" ".join(f"{name}={_shown(value)}" for name, value in differ.items()), Build(**values)))
    return builds


def _build_value(name: str, value: Any, folder: Path) -> Any:
    if name == "gist":  # the sizes of pages belong together: a mapping is one value
        options = validate_call(GistOptions.of)(**value)
        return {option: getattr(options, option) for option in value}
    if name == "passage_tokens":
        load_settings(passage_tokens=value)
        return int(value)
    if name == "schema":
        schema = str(folder / value) if (folder / value).is_file() else value
        load_schema(schema)
        return schema
    if value not in _CHOICES[name]:
        raise InputError(unknown(name, value, _CHOICES[name]))
    return value


def _combined(
    choices: Mapping[str, Sequence[Any]], one_at_a_time: bool, meaning: Callable[[Mapping[str, Any]], object]
) -> list[dict[str, Any]]:
    """Every combination of ``choices``. With ``one_at_a_time``: the fixed values, then every value of one option with
    them, but for those that have the same ``meaning``: the default is there already."""
    _check_size((sum if one_at_a_time else prod)(map(len, choices.values())))
    if not one_at_a_time:
        return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
    fixed = {name: values[0] for name, values in choices.items() if len(values) == 1}
    single = [{**fixed, name: value} for name, values in choices.items() if name not in fixed for value in values]
    return [fixed, *(one for one in single if meaning(one) != meaning(fixed))]


def _check_size(setups: int) -> None:
    """Raise ``InputError`` for more setups than anybody means to ask."""
    if setups > MOST:
        raise InputError(f"the grid makes {setups:,} setups; the limit is {MOST}. Vary fewer options.")
