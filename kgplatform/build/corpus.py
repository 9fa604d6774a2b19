"""JSON and JSONL corpora: files that hold many documents as objects with a title and a text.

Accepted are a list of ``{"title", "text"}`` objects, one such object, a list of ``{"corpus_name", "context"}``, and
open-IE recordings, whose items have ``extracted_…`` beside title and text. In JSONL each line is one object.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from urllib.parse import quote

from kgplatform.build.content import decode
from kgplatform.build.formats import clean
from kgplatform.errors import DocumentError
from kgplatform.text import tidy

_WANTED = "expected a list of {title, text}"
_TEXT_KEYS = ("text", "context")
_TITLE_KEYS = ("title", "corpus_name")
_SHOWN_KEYS = 5
_SHOWN_LENGTH = 40
_UTF8_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Item:
    """One text of a corpus. ``fragment`` names it within its file, whatever its text: it is the URI's part after #.

    It is the quoted title, with ``;2`` for the second of that title, or ``;17`` for the untitled item 17. A quoted
    title has no semicolon, so that no two items share a fragment.
    """

    title: str
    number: int
    text: str
    fragment: str


Found = Item | str
"""An item, or what is wrong with one, for people: "item 3: has no text"."""


def read_json(path: str, stream: BufferedReader) -> Iterator[Found]:
    """The items of a JSON file, in order. Raises ``DocumentError`` if the file as a whole is no corpus."""
    text = decode(path, stream.read())
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = text.split("\n")
        if _is_object(lines[0]):
            return _items("line", _parsed(lines))
        raise DocumentError(path, f"not valid JSON ({_fault(error)})") from error
    values = content if isinstance(content, list) else [content]
    if not any(_text(value) is not None for value in values):
        raise DocumentError(path, f"{_WANTED}, found {_described(content)}")
    return _items("item", enumerate(values, start=1))


def read_jsonl(path: str, stream: BufferedReader) -> Iterator[Found]:
    """The items of a file with one JSON object a line, read line by line; every broken line is told by its number.

    A file that is called so but holds one JSON list, or is not in UTF-8, is read as a whole.
    """
    head = stream.peek(1).removeprefix(_UTF8_BOM)
    if head.lstrip().startswith(b"[") or b"\0" in head:
        return read_json(path, stream)
    return _items("line", _parsed(stream))


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _parsed(lines: Iterable[str | bytes]) -> Iterator[tuple[int, object]]:
    """``(line number, JSON value or the error of parsing it)`` of every line that is not blank."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                yield number, error


def _fault(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[:1].lower()}{error.msg[1:]} in line {error.lineno}, column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return "its text is not UTF-8"
    return "it is nested too deeply" if isinstance(error, RecursionError) else "a number is too long"


# ------------------------------------------------------------------------------------------------- items


def _items(place: str, values: Iterable[tuple[int, object]]) -> Iterator[Found]:
    titles: Counter[str] = Counter()
    for number, value in values:
        if isinstance(value, Exception):
            yield f"{place} {number}: not valid JSON ({_fault(value)})"
            continue
        title = _title(value)
        titles[title] += 1
        text = _text(value)
        if text is None:
            yield f"{place} {number}: expected {{title, text}}, found {_described(value)}"
        elif not text.strip():
            yield f"{place} {number}: has no text" + (f" ({_shown(title)})" if title else "")
        else:
            yield Item(title, number, text, _fragment(title, titles[title], number))


def _fragment(title: str, occurrence: int, number: int) -> str:
    if not title:
        return f";{number}"
    return quote(title, safe="") + (f";{occurrence}" if occurrence > 1 else "")


def _text(value: object) -> str | None:
    """The text of an item, or None if it is of another shape."""
    found = _first(value, _TEXT_KEYS)
    return clean(found) if isinstance(found, str) else None


def _title(value: object) -> str:
    found = _first(value, _TITLE_KEYS)
    is_name = isinstance(found, (str, int, float)) and not isinstance(found, bool)
    return tidy(clean(str(found))) if is_name else ""


def _first(value: object, keys: tuple[str, ...]) -> object:
    present = (value[key] for key in keys if key in value) if isinstance(value, dict) else iter(())
    return next(present, None)


# ------------------------------------------------------------------------------------------ descriptions


def _described(content: object) -> str:
    """What a JSON value is, for people: "a list of objects with the keys question, answer"."""
    if isinstance(content, list):
        return f"a list of {_described_items(content[0])}" if content else "an empty list"
    if isinstance(content, dict):
        return f"an object with {_keys(content)}"
    return "a string" if isinstance(content, str) else _shown(json.dumps(content))


def _described_items(first: object) -> str:
    if isinstance(first, dict):
        return f"objects with {_keys(first)}"
    if isinstance(first, str):
        return "strings"
    return "lists" if isinstance(first, list) else "values"


def _keys(value: dict[str, object]) -> str:
    if not value:
        return "no keys"
    more = " …" if len(value) > _SHOWN_KEYS else ""
    return "the keys " + ", ".join(_shown(key) for key in list(value)[:_SHOWN_KEYS]) + more


def _shown(text: str) -> str:
    tidied = tidy(clean(text))
    return tidied if len(tidied) <= _SHOWN_LENGTH else tidied[: _SHOWN_LENGTH - 1] + "…"
