"""JSON in what a language model wrote: found among other words, read, repaired, and cut to what is whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from kgplatform.text import without_lone_surrogates

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_START = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_ANSWER_FIRST = re.compile(r"\s*(?:```\w*\s*)?[{\[]")
# A bracket that opens JSON, and not an aside in a sentence.
_OPENING = re.compile(r"""\{\s*(?:["'}]|\w+\s*:|$)|\[\s*(?:["'\[{\]]|$)""")
_BRACKET = re.compile(r"[{\[]")
_MARK = re.compile(r'"(?:[^"\\]|\\.)*"?|[][{},]', re.DOTALL)
"""What JSON is made of, and strings, in which the same marks are text."""
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_UNREAD = {"\\b": "\b", "\\f": "\f"}
"""Escapes that json-repair leaves as they are."""
_DEEPEST = 200
_MOST_BRACKETS = 100
_DECODER = json.JSONDecoder(strict=False)
"""Line breaks inside of strings are allowed."""

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


def json_values(text: str, *, cut_off: bool = False) -> Iterator[tuple[Any, bool]]:
    """The objects and lists in ``text``, the likeliest first, each with whether it was repaired.

    Whole values come first, the longest before others, of two as long the later one; then what json-repair makes of
    the first that is broken. Of one that breaks off, the last item of its outermost list goes, or its last member: that
    may lack more than its end.

    >>> list(json_values('As in [1]: {"names": ["Ada", "Bo"]} and {"names": ["C', cut_off=True))[:1]
    [({'names': ['Ada', 'Bo']}, False)]
    """
    value = _decoded(text.strip())
    if isinstance(value, str):  # the quotes of a string round it
        text = value
    whole: list[tuple[int, int, Any]] = []
    broken, at = "", 0
    for _ in range(_MOST_BRACKETS):
        bracket = _BRACKET.search(text, at)
        if bracket is None:
            break
        start = bracket.start()
        try:
            value, at = _DECODER.raw_decode(text, start)
            whole.append((at - start, start, value))
        except (ValueError, RecursionError):
            at = start + 1
            if _OPENING.match(text, start):
                broken = text[start:].rstrip("` \t\r\n")
                break
    for *_, value in sorted(whole, key=lambda found: found[:2], reverse=True):
        yield _storable(value), False
    is_closed = not cut_off and broken.endswith(("}", "]"))
    part = broken if is_closed else _whole_part(broken)
    decoded = None if is_closed else _decoded(part)
    for value in mended(part) if decoded is None else [decoded]:
        if isinstance(value, (dict, list)) and value:
            yield value, True


def _whole_part(text: str) -> str:
    """``text`` less what it breaks off in: the last item of its outermost list that is open, or the last member.

    The brackets that are open there are closed.
    """
    opened: list[str] = []
    ends: list[int] = [0]  # of the last whole item, on each level
    for mark in _MARK.finditer(text):
        if mark[0] in "[{":
            opened.append("]" if mark[0] == "[" else "}")
            ends.append(0)
        elif mark[0] == ",":
            ends[-1] = mark.start()
        elif mark[0] in "]}" and opened:
            opened.pop()
            ends.pop()
            ends[-1] = mark.end()
    level = opened.index("]") + 1 if "]" in opened else len(opened)
    while level and not ends[level]:
        level -= 1
    return text[: ends[level]] + "".join(reversed(opened[:level])) if opened else text


def mended(text: str) -> list[Any]:
    """What json-repair makes of ``text``: a value, or several, the longest first; nothing of nothing."""
    level = deepest = 0
    for mark in re.findall(r"[\[\]{}]", text):
        level += 1 if mark in "[{" else -1 if level else 0
        deepest = max(deepest, level)
    if not text or deepest > _DEEPEST:
        return []
    import json_repair  # a tenth of a second that most replies do not need

    try:
        readable = _ESCAPE.sub(lambda each: _UNREAD.get(each[0], each[0]), text)
        value = json_repair.loads(readable, skip_json_loads=True)
    except (RecursionError, IndexError, KeyError, TypeError, ValueError):  # what its parser can raise on odd text
        return []
    several = sorted(value, key=lambda each: -len(str(each))) if isinstance(value, list) and text[0] == "{" else [value]
    return [_storable(each) for each in several if each != ""]


def value_of(text: str) -> Any:
    """The value of ``text``, repaired where it is broken; None where nothing can be made of it."""
    value = _decoded(text)
    return value if value is not None else next(iter(mended(text.strip())), None)


def _decoded(text: str) -> Any:
    try:
        return _storable(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None


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


def _storable(value: Any) -> Any:
    """``value`` with half surrogate pairs replaced: no database and no file takes them."""
    if isinstance(value, str):
        return without_lone_surrogates(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    return value
