"""JSON in what a language model wrote: where it begins and ends, and how much of a broken piece is whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kgplatform.text import without_lone_surrogates

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_START = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_CLOSERS = {"{": "}", "[": "]"}
_ANSWER_FIRST = re.compile(r"\s*(?:```\w*\s*)?[{\[]")
# A bracket that opens JSON, and not an aside in a sentence.
_OPENING = re.compile(r"""\{\s*(?:["'}]|\w+\s*:|$)|\[\s*(?:["'\[{\]]|$)""")
# A string, which may lack its end, or a sign of structure.
_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?P<end>")?|[{}\[\],]', re.DOTALL)
_BRACKET = re.compile(r"[{\[]")
_DEEPEST = 200
_MOST_BRACKETS = 100


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text that begins with a bracket. ``whole``: its last character closes that bracket."""

    text: str
    whole: bool


LEAST_REPEATS = 4
_SHORTEST_CIRCLE = 3


def circles(text: str, least: int = 0) -> Iterator[str]:
    """The pieces of which the end of ``text`` is one again and again: four times at least, and over ``least``
    characters.

    >>> list(circles("It broke. " + "Mended. " * 4))
    ['Mended. ']
    """
    for size in range(_SHORTEST_CIRCLE, len(text) // LEAST_REPEATS + 1):
        end = text[-max(least, LEAST_REPEATS * size) :]
        if len(end) >= least and end[size:] == end[:-size]:
            yield end[-size:]


def without_thoughts(text: str, *, cut_off: bool) -> str:
    """``text`` less what reasoning models write before they answer, also where one of the two tags is missing.

    Tags inside of an answer stay. A thought without an end in a text that was cut off leaves nothing: the model had
    not begun to answer.
    """
    while (thought := _THOUGHT.search(text)) and "{" not in text[: thought.start()]:
        text = text[: thought.start()] + text[thought.end() :]
    if _ANSWER_FIRST.match(text):
        return text
    ends = [found.end() for found in _THOUGHT_END.finditer(text)]
    text = text[ends[-1] :] if ends else text
    start = _THOUGHT_START.search(text)
    if start is None or text[: start.start()].strip():
        return text
    return text[: start.start()] if cut_off else text[start.end() :]


def split_thoughts(text: str) -> tuple[str, bool]:
    """``text`` less thoughts, and whether it begins with one that does not end: then nothing but that is there."""
    answer = without_thoughts(text, cut_off=False)
    begun = _THOUGHT_START.match(text.lstrip())
    unclosed = begun is not None and not _THOUGHT_END.search(text)
    return ("" if unclosed else answer), unclosed


def pieces(text: str) -> list[Piece]:
    """The outermost JSON-like parts of ``text``, largest first; where two are as long, the later one first."""
    found: list[Piece] = []
    at = 0
    for _ in range(_MOST_BRACKETS):
        bracket = _BRACKET.search(text, at)
        if bracket is None:
            break
        start = bracket.start()
        end = _closing(text, start)
        if end > 0:
            found.append(Piece(text[start:end], whole=True))
            at = end
        elif _OPENING.match(text, start):
            found.append(Piece(text[start:], whole=False))
            break
        else:
            at = start + 1
    return sorted(found, key=lambda piece: len(piece.text))[::-1]


def read(text: str) -> Any:
    """The value of ``text`` as JSON, line breaks inside strings allowed. Raises ``ValueError`` if it is none."""
    try:
        return _storable(json.loads(text, strict=False))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def mend(text: str) -> Any:
    """The value of a ``text`` with missing or extra quotes, commas or brackets, comments, Python words and the like.

    Raises ``ValueError`` if nothing can be made of it.
    """
    import json_repair  # a tenth of a second that most replies do not need

    if depth(text) > _DEEPEST:
        raise ValueError("it is nested too deeply")
    try:
        value = json_repair.loads(text, skip_json_loads=True)
    except (RecursionError, IndexError, KeyError, TypeError) as error:  # what its parser can raise on odd text
        raise ValueError("it cannot be repaired") from error
    return _storable(value)


def value_of(text: str) -> Any:
    """The value of ``text``, mended where it is broken; None where nothing can be made of it."""
    for way in (read, mend):
        try:
            return way(text)
        except ValueError:
            continue
    return None


def whole_items(text: str) -> str | None:
    """``text``, which breaks off, up to the last complete item of its outermost list, and closed there.

    Without a list: up to the last complete member of the outermost object. None if nothing is complete, or if it is
    nested too deeply.

    >>> whole_items('{"facts": [{"text": "a"}, {"text": "b", "keys": ["c"')
    '{"facts": [{"text": "a"}]}'
    """
    if depth(text) > _DEEPEST:
        return None
    stack: list[str] = []
    whole = None
    for at, mark in _marks(text):
        if mark in "{[":
            stack.append(mark)
        elif mark in "}]" and stack:
            stack.pop()
        # At an item of the outermost list, or outside of all lists.
        is_outer = stack.count("[") == 0 or (stack.count("[") == 1 and stack[-1] == "[")
        if mark in ",}]" and is_outer:
            end = at if mark == "," else at + 1
            whole = end, "".join(_CLOSERS[bracket] for bracket in reversed(stack))
    return None if whole is None else text[: whole[0]] + whole[1]


def depth(text: str) -> int:
    """About how deeply ``text`` nests brackets."""
    deepest = level = 0
    for mark in re.findall(r"[\[\]{}]", text):
        level = level + 1 if mark in "[{" else max(0, level - 1)
        deepest = max(deepest, level)
    return deepest


def partial_text(text: str, field: str) -> str:
    """The text of ``field`` in JSON that is still being written, as far as it goes; empty where it has not begun.

    >>> partial_text('{"reasoning": "…", "answer": "In King', "answer")
    'In King'
    """
    found = re.search(rf'"{re.escape(field)}"\s*:\s*"((?:[^"\\]|\\.)*)', text, re.DOTALL)
    if found is None:
        return ""
    try:
        read = str(json.loads(f'"{found[1]}"', strict=False))
        return without_lone_surrogates(read[:-1] if "\ud800" <= read[-1:] <= "\udbff" else read)  # half a letter
    except ValueError:  # it ends within \u00e9
        return partial_text(text[: text.rfind("\\")], field)


def _closing(text: str, start: int) -> int:
    """The place after the bracket that closes the one at ``start``; -1 if none does."""
    level = 0
    for at, mark in _marks(text, start):
        level += (mark in "{[") - (mark in "}]")
        if level == 0:
            return at + 1
    return -1


def _marks(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """Brackets and commas outside of strings with their places, up to a string that does not end."""
    for found in _MARK.finditer(text, start):
        if not found[0].startswith('"'):
            yield found.start(), found[0]
        elif not found["end"]:
            return


def _storable(value: Any) -> Any:
    """``value`` with half surrogate pairs replaced: no database and no file takes them."""
    if isinstance(value, str):
        return without_lone_surrogates(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    return value
