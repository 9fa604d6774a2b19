"""All readers, and the options of each: the one list in which a reader's name stands outside its folder.

options = options_for("youtu", {"agent": False})
answer = find("youtu").answer(question, run, options)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from kgplatform.concurrency import plug_ins
from kgplatform.errors import InputError, SettingError
from kgplatform.readers.baselines import chunk_read, full_text, retrieve
from kgplatform.readers.cypher import reader as cypher
from kgplatform.readers.global_ import reader as corpus
from kgplatform.readers.graphreader import reader as graphreader
from kgplatform.readers.longagent import reader as longagent
from kgplatform.readers.readagent import reader as readagent
from kgplatform.readers.reader import AnswerMode, AnswerStyle, Reader
from kgplatform.readers.youtu import reader as youtu
from kgplatform.text import did_you_mean, unknown

READERS: list[Reader] = [
    retrieve.READER,
    youtu.READER,
    graphreader.READER,
    readagent.READER,
    longagent.READER,
    corpus.READER,
    cypher.READER,
    full_text.READER,
    chunk_read.READER,
    chunk_read.READER_WITH_NOTES,
]
"""In the order in which interfaces show them; the first is asked where none is named. One's own is appended here."""


class GivenOptions(TypedDict, total=False):
    """What a program may give a question of the readers' options, for type checkers: a test compares them. Those of
    one's own reader stand in ``options``."""

    mode: AnswerMode
    answer_style: AnswerStyle
    agent: bool
    by_importance: bool
    calls: int | None
    candidates: int
    choices: Sequence[str]
    communities: int | None
    community: bool
    conflict: str
    documents: str | Sequence[str]
    evidence_tokens: int
    facts: int | None
    from_end: bool
    interim: bool
    level: int | None
    list_pages: int
    lookup: str
    member_model: str | None
    member_tokens: int | None
    members: str
    neighbours: int
    nodes: int
    pages: int
    part_tokens: int
    passages: int
    plan: bool
    preset: str
    random_nodes: int | None
    reading_tokens: int
    repairs: int
    rounds: int
    route: str
    rows: int
    schema: bool
    seed: int
    steps: int
    sub_questions: int
    task: str
    timeout: float
    top_k: int
    window_tokens: int | None
    without: str | Sequence[str]


def names() -> tuple[str, ...]:
    """The names of all readers."""
    return tuple(reader.name for reader in READERS)


_BROKEN: dict[str, SettingError] = {}
"""Why readers of other packages cannot be used, by their names."""


def add_plug_ins() -> None:
    """Append the readers of other packages; one that is broken is refused when it is asked for."""
    for name in plug_ins.names("reader"):
        try:
            reader = plug_ins.load("reader", name)
        except SettingError as error:
            _BROKEN[name] = error
            continue
        if not isinstance(reader, Reader) or reader.name != name:
            _BROKEN[name] = plug_ins.broken("reader", name, "it is no Reader of that name")
        elif name not in names():
            READERS.append(reader)


add_plug_ins()


def find(name: str) -> Reader:
    """The reader ``name``. Raises ``InputError`` where there is none."""
    for reader in READERS:
        if reader.name == name:
            return reader
    if name in _BROKEN:
        raise _BROKEN[name]
    raise InputError(unknown("reader", str(name), names()))


def stages_by_reader() -> dict[str, Sequence[str]]:
    """The stages of each reader that has some (``Reader.stages``)."""
    return {reader.name: reader.stages for reader in READERS if reader.stages}


def options_for(name: str, given: Mapping[str, Any]) -> Any:
    """The options of the reader ``name``, those that are not ``given`` as it has them by default. Raises ``InputError``
    for a reader that does not exist, an option that it does not have, and a value of another type or out of bounds."""
    reader = find(name)
    known = {option.name for option in reader.options}
    if foreign := [each for each in given if each not in known]:
        owners = [each.name for each in READERS if {option.name for option in each.options}.issuperset(foreign)]
        use = f", or use the reader {' or '.join(owners)}" if owners else ""
        near = "" if owners else did_you_mean(foreign[0], [*sorted(known), "reader", "where", "keep", "verify", "stop"])
        said = f"The reader {name} has no option {' and '.join(foreign)}.{near}"
        raise InputError(f"{said} Leave {'it' if len(foreign) == 1 else 'them'} out{use}.", *foreign)
    return reader.made(given)
