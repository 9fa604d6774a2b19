"""Which reader answers, and with which of its options. An option that the chosen reader does not have is refused.

options = options_for("youtu", {"agent": False})
answer = answer_with("youtu", options, question, evidence, chat, ledger, schema)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from kgplatform.errors import InputError
from kgplatform.llm import Chat, Ledger
from kgplatform.readers import chunk_read, cypher, full_text, graphreader, longagent, readagent, retrieve, youtu
from kgplatform.records import Answer
from kgplatform.retrieve.evidence import Evidence

OPTIONS: dict[str, type[Any]] = {
    "retrieve": retrieve.Options,
    "youtu": youtu.Options,
    "graphreader": graphreader.Options,
    "readagent": readagent.Options,
    "longagent": longagent.Options,
    "cypher": cypher.Options,
    "fulltext": full_text.Options,
    "chunkread": chunk_read.Options,
    "chunknotes": chunk_read.Options,
}
READERS = tuple(OPTIONS)
MODES = ("reject", "open")
_SINGULAR = {"documents": "document", "choices": "choice"}
"""Options that the command line takes one by one."""


def options_for(reader: str, given: Mapping[str, Any]) -> Any:
    """The options of ``reader``, those that are not ``given`` as it has them by default.

    Raises ``InputError`` for a reader that does not exist, an option that it does not have, or a value out of bounds.
    """
    if reader not in OPTIONS:
        raise InputError(f"There is no reader {reader!r}. Choose one of {', '.join(READERS)}.")
    if given.get("mode", "reject") not in MODES:
        raise InputError(f"There is no mode {given['mode']!r}. Choose one of {', '.join(MODES)}.")
    foreign = [name for name in given if name not in _names(reader)]
    if foreign:
        raise InputError(_foreign(reader, foreign, given))
    return OPTIONS[reader](**given)


def _names(reader: str) -> set[str]:
    return {each.name for each in fields(OPTIONS[reader])}


def _foreign(reader: str, foreign: list[str], given: Mapping[str, Any]) -> str:
    shown = " and ".join(flag(name, given[name]) for name in foreign)
    owners = [other for other in READERS if _names(other).issuperset(foreign)]
    use = f", or use the reader {' or '.join(owners)}" if owners else ""
    return f"The reader {reader} has no option {shown}. Leave {'it' if len(foreign) == 1 else 'them'} out{use}."


def flag(name: str, value: object) -> str:
    """An option as the command line writes it: ``--top-k``; ``--no-agent`` for what is turned off."""
    return f"--{'no-' if value is False else ''}{_SINGULAR.get(name, name).replace('_', '-')}"


def answer_with(
    reader: str,
    options: Any,
    question: str,
    evidence: Evidence,
    chat: Chat | None,
    ledger: Ledger,
    schema: Callable[[], youtu.SchemaTypes | None],
) -> Answer:
    """The answer of ``reader`` with its ``options``. ``schema`` reads the graph's, with what was added to it."""
    if reader == "youtu":
        return youtu.answer(question, evidence, chat, ledger, schema(), options)
    return _ANSWERS[reader](question, evidence, chat, ledger, options)


_ANSWERS: dict[str, Callable[[str, Evidence, Chat | None, Ledger, Any], Answer]] = {
    "retrieve": retrieve.answer,
    "graphreader": graphreader.answer,
    "readagent": readagent.answer,
    "longagent": longagent.answer,
    "cypher": cypher.answer,
    "fulltext": full_text.answer,
    "chunkread": chunk_read.answer,
    "chunknotes": chunk_read.answer_with_notes,
}
