"""A grid of options in a YAML file, and the setups that it means: one table of what each option is worth.

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

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from kgplatform.errors import InputError, SchemaError, SettingError
from kgplatform.evaluate.results import Build, Setup
from kgplatform.evaluate.setups import check_distinct, make_setup, option_names, resolved
from kgplatform.gist.options import GistOptions
from kgplatform.ingest.schema import load_schema
from kgplatform.settings import load_settings
from kgplatform.text import did_you_mean

_Made = TypeVar("_Made")

MOST = 200
"""Setups of one grid. A slip of a few lists makes thousands, and each answers every question."""

_KEYS = ("readers", "build", "corpus")
_BUILD_KEYS = tuple(each.name for each in fields(Build))
_READER_KEYS = ("reader", "options", "one_at_a_time")
_SHAPE = "It is to have readers:, a list of readers, each a name or {reader: NAME, options: {OPTION: [VALUE, VALUE]}}."
_EXTRACTORS = ("llm", "local", "recorded")
_MODES = ("strict", "flexible")

_Choices = Mapping[str, Sequence[Any]]
"""The values of each option that is given."""


class _Gist(BaseModel):
    model_config = ConfigDict(extra="forbid")

    preset: str = "article"
    min_words: int | None = None
    max_words: int | None = None
    uniform: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """The setups in the order of the file. ``corpus``: files and folders that graphs of their own are built from."""

    setups: tuple[Setup, ...]
    corpus: tuple[Path, ...] = ()


def read_grid(file: Path) -> Grid:
    """The grid in ``file``. Paths in it are relative to its folder.

    Raises ``InputError`` for a file that cannot be read, an unknown key, reader, option or value, for setups that are
    the same, and for more than 200 of them; it names the file and the place.
    """
    sheet = _Sheet(str(file))
    content = sheet.mapping(_parsed(file, sheet), _KEYS)
    readers = content.get("readers")
    if not isinstance(readers, list) or not readers:
        raise sheet.fault(f"there are no readers. {_SHAPE}")
    asked = [setup for number, item in enumerate(readers, 1) for setup in _readers(item, sheet / f"reader {number}")]
    builds = _builds(content.get("build"), file.parent, sheet / "build")
    sheet.check_size(len(asked) * len(builds))
    setups = tuple(_built(setup, *build) for build in builds for setup in asked)
    sheet.calling(check_distinct, setups)
    return Grid(setups, _corpus(content.get("corpus"), file.parent, sheet / "corpus"))


def varied(setups: Sequence[Setup]) -> dict[str, tuple[str, ...]]:
    """What differs between ``setups``: by option, its value in each; empty where the reader has no such option.

    Of the options that any of them gives. One that does not give it has it as by default, so that a table is whole.
    """
    rows = [{**resolved(each), **_build_options(each.build)} for each in setups]
    given = dict.fromkeys(name for each in setups for name in (*each.options, *_build_options(each.build)))
    shown = {name: tuple(_shown(row.get(name, "")) for row in rows) for name in given}
    return {name: values for name, values in shown.items() if len(set(values)) > 1}


# ---------------------------------------------------------------------------------------------------------- the readers


def _readers(item: object, sheet: _Sheet) -> list[Setup]:
    """The setups of one item of the list."""
    entry = {"reader": item} if isinstance(item, str) else sheet.mapping(item, _READER_KEYS)
    name = entry.get("reader")
    if not isinstance(name, str):
        raise sheet.fault("the reader has no name. Write reader: youtu.")
    usual: Setup = sheet.calling(make_setup, name, {})
    sheet /= name
    choices = _choices(entry.get("options"), option_names(usual.reader), sheet / "options")
    alone = sheet.flag(entry.get("one_at_a_time", "false"), "one_at_a_time")
    return [sheet.calling(make_setup, name, each) for each in _combined(choices, alone, sheet, _differs(name, sheet))]


def _differs(name: str, sheet: _Sheet) -> Callable[[Mapping[str, Any], Mapping[str, Any]], bool]:
    """Whether two choices of options make different setups of the reader ``name``."""

    def differ(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
        one, other = (resolved(sheet.calling(make_setup, name, each)) for each in (first, second))
        return bool(one != other)

    return differ


def _choices(given: object, known: Sequence[str], sheet: _Sheet) -> _Choices:
    """By option the values to choose from: a list of them, or the one that is given."""
    options = {} if given is None else sheet.mapping(given, known)
    listed = {name: value if isinstance(value, list) else [value] for name, value in options.items()}
    for name, values in listed.items():
        if not values:
            raise sheet.fault(f"{name} has no value. Write {name}: [VALUE, VALUE].")
    return listed


def _combined(
    choices: _Choices, alone: bool, sheet: _Sheet, differ: Callable[[Mapping[str, Any], Mapping[str, Any]], bool]
) -> list[dict[str, Any]]:
    """Every combination of ``choices``; or, each ``alone``: the fixed values, then every value of one option with them.

    A value alone that is the usual one is left out: it stands there already.
    """
    sheet.check_size((sum if alone else prod)(map(len, choices.values())))
    if not alone:
        return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
    fixed = {name: values[0] for name, values in choices.items() if len(values) == 1}
    single = [{**fixed, name: value} for name, values in choices.items() if name not in fixed for value in values]
    return [fixed, *(each for each in single if differ(each, fixed))]


# ----------------------------------------------------------------------------------------------------------- the builds


def _builds(given: object, folder: Path, sheet: _Sheet) -> list[tuple[str, Build]]:
    """How graphs are built, each way with what tells it from the others; the usual way has nothing to tell."""
    content = {} if given is None else dict(sheet.mapping(given, (*_BUILD_KEYS, "one_at_a_time")))
    alone = sheet.flag(content.pop("one_at_a_time", "false"), "one_at_a_time")
    choices = _choices(content, _BUILD_KEYS, sheet)
    checked = {name: [_build_value(name, each, folder, sheet / name) for each in choices[name]] for name in choices}
    made = [Build(**each) for each in _combined(checked, alone, sheet, lambda first, second: first != second)]
    differ = {name for name, values in checked.items() if len(values) > 1}
    return [(_told(each, differ), each) for each in made]


def _told(build: Build, differ: Collection[str]) -> str:
    """What tells ``build`` from the others: its values of the fields in ``differ``."""
    told = _build_options(build).items()
    kept = (each for each in told if (each[0] if each[0] in _BUILD_KEYS else "gist") in differ)
    return " ".join(f"{name}={_shown(value)}" for name, value in kept)


def _build_value(name: str, value: object, folder: Path, sheet: _Sheet) -> Any:
    if name == "gist":
        return _gist(value, sheet)
    if not isinstance(value, str):
        raise sheet.fault(f"{value!r} is no value of {name}.")
    if name == "passage_tokens":
        sheet.calling(load_settings, passage_tokens=value)
        return int(value)
    if name == "schema":
        beside = folder / value
        schema = str(beside) if beside.is_file() else value
        sheet.calling(load_schema, schema)
        return schema
    known = _EXTRACTORS if name == "extractor" else _MODES
    if value not in known:
        raise sheet.fault(
            f"there is no {name} {value!r}.{did_you_mean(value, known)} Choose one of {', '.join(known)}."
        )
    return value


def _gist(value: object, sheet: _Sheet) -> dict[str, Any]:
    """The sizes of pages, which belong together: a mapping is one value."""
    try:
        given = _Gist.model_validate(sheet.mapping(value, tuple(_Gist.model_fields))).model_dump(exclude_unset=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise sheet.fault(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from error
    sheet.calling(GistOptions.of, **given)
    return given


def _built(setup: Setup, told: str, build: Build) -> Setup:
    return replace(setup, name=f"{setup.name}, {told}" if told else setup.name, build=build)


def _build_options(build: Build) -> dict[str, Any]:
    """What is not as usual, by name; the sizes of pages by their own."""
    given = {name: getattr(build, name) for name in _BUILD_KEYS if name != "gist"}
    return {**{name: value for name, value in given.items() if value is not None}, **build.gist}


def _corpus(given: object, folder: Path, sheet: _Sheet) -> tuple[Path, ...]:
    listed = [] if given is None else given if isinstance(given, list) else [given]
    named = [each for each in listed if isinstance(each, str) and each]
    if len(named) < len(listed):
        raise sheet.fault("this is no path. Write corpus: FOLDER, or a list of files and folders.")
    paths = tuple(folder / each for each in named)
    for path in paths:
        if not path.exists():
            raise sheet.fault(f"{path} is not there. Paths are relative to the folder of the grid.")
    return paths


# ------------------------------------------------------------------------------------------------------------- the file


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A place in the file, with which the sentence about a fault begins."""

    where: str

    def __truediv__(self, name: str) -> _Sheet:
        return _Sheet(f"{self.where}, {name}")

    def fault(self, said: str) -> InputError:
        return InputError(f"{self.where}: {said}")

    def calling(self, function: Callable[..., _Made], *given: Any, **named: Any) -> _Made:
        """What ``function`` makes of it; its own sentence about what it cannot use, behind the place."""
        try:
            return function(*given, **named)
        except (InputError, SettingError, SchemaError) as error:
            raise self.fault(str(error)) from error

    def mapping(self, value: object, known: Sequence[str]) -> dict[str, Any]:
        """``value`` if it is a mapping of ``known`` keys."""
        if not isinstance(value, dict):
            raise self.fault(f"this is to be a mapping with {', '.join(known)}. {_SHAPE}")
        for key in value:
            if key not in known:
                raise self.fault(f"there is no {key!r}.{did_you_mean(str(key), known)} Known here: {', '.join(known)}.")
        return value

    def flag(self, value: object, name: str) -> bool:
        """``value`` as true or false."""
        if value not in ("true", "false"):
            raise self.fault(f"{name} is {value!r}. Write true or false.")
        return value == "true"

    def check_size(self, setups: int) -> None:
        """Raise ``InputError`` for more setups than anybody means to ask."""
        if setups > MOST:
            raise self.fault(f"these are {setups:,} setups, and {MOST} are the most. Vary fewer options.")


class _Loader(yaml.BaseLoader):
    """Every scalar is text: ``conflict: [each, off]`` means the word off. No key may come twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value]
        for number, key in enumerate(keys):
            if key in keys[:number]:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key!r} comes twice", node.value[number][0].start_mark
                )
        return super().construct_mapping(node, deep)


def _parsed(file: Path, sheet: _Sheet) -> object:
    try:
        return yaml.load(file.read_text(encoding="utf-8-sig"), _Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise sheet.fault(f"the grid cannot be read: {error}.") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark else ""
        raise sheet.fault(f"{line}this is no YAML ({error.problem or error.context}).") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise sheet.fault(f"this is no YAML ({' '.join(str(error).split())}).") from error


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)
