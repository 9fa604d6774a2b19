"""The objects in a file, one at a time: of a JSON list, of JSON lines, of one JSON object, or of a table (CSV).

Nothing but the object at hand is held, so that a file of hundreds of megabytes costs no memory of its own.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from kgplatform.errors import InputError
from kgplatform.ingest.decode import HEAD_BYTES, foreign_format, is_pdf, is_zip
from kgplatform.ingest.formats import clean
from kgplatform.text import tidy

_PASSAGE = 1 << 16
_UTF8_BOM = b"\xef\xbb\xbf"
_WRAPPERS = ("data", "questions", "rows", "examples", "samples")
_SHOWN_KEYS = 8
_SHOWN_LENGTH = 40
_AGAIN = "If it was downloaded, get it again"


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of a file. ``place``: "line 7", "item 7" or "row 7", counted from 1; ``fault``: why it has no value."""

    file: Path
    place: str
    value: Any = None
    fault: str = ""

    @property
    def where(self) -> str:
        """ "questions.jsonl, line 7"."""
        return f"{self.file.name}, {self.place}"


def entries(file: Path) -> Iterator[Entry]:
    """The values in ``file``, in order. A line that is no JSON is an entry with a fault.

    Raises ``InputError``, while it is read, for a file that cannot be read, is no text, or is broken as a whole.
    """
    try:
        with file.open("rb") as stream:
            _check(file, stream)
            yield from _read(file, stream)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not in UTF-8 throughout: save it again as UTF-8.") from error


def some(file: Path, most: int = 20) -> list[dict[str, Any]]:
    """The objects among the first ``most`` entries of ``file``: enough to tell what the file is."""
    return [entry.value for entry in islice(entries(file), most) if isinstance(entry.value, dict)]


def described(value: object) -> str:
    """What a JSON value is, for people: "an object with the keys question, answer"."""
    if isinstance(value, dict):
        if not value:
            return "an object without keys"
        more = " …" if len(value) > _SHOWN_KEYS else ""
        return f"an object with the keys {', '.join(map(shown, list(value)[:_SHOWN_KEYS]))}{more}"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return "a text" if isinstance(value, str) else shown(json.dumps(value))


def shown(text: object) -> str:
    """``text`` from a file as it may stand in a sentence: one line, short, without control characters."""
    visible = "".join(each for each in tidy(clean(str(text))) if each.isprintable())
    return visible if len(visible) <= _SHOWN_LENGTH else visible[: _SHOWN_LENGTH - 1] + "…"


def _check(file: Path, stream: BufferedReader) -> None:
    head = stream.peek(HEAD_BYTES)[:HEAD_BYTES]
    if not head.removeprefix(_UTF8_BOM).strip():
        raise InputError(f"{file} is empty.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{file} is in UTF-16: save it again as UTF-8.")
    noun = foreign_format(head)
    if noun is None and is_zip(head):
        noun = "an archive (ZIP), not text: unpack it"
    if noun is None and is_pdf(head, file.suffix):
        noun = "a PDF, not text"
    if noun is not None:
        raise InputError(f"{file} is {noun}; questions are read from JSON, JSON lines and CSV.")


def _read(file: Path, stream: BufferedReader) -> Iterator[Entry]:
    head = stream.peek(HEAD_BYTES)[:HEAD_BYTES].removeprefix(_UTF8_BOM).lstrip()
    if file.suffix.lower() == ".csv":
        return _rows(file, _text(stream, newline=""))
    return _items(file, _Window(file, _text(stream))) if head.startswith(b"[") else _lines_or_object(file, stream)


def _text(stream: BufferedReader, newline: str | None = None) -> TextIO:
    return io.TextIOWrapper(stream, encoding="utf-8-sig", newline=newline)


# --------------------------------------------------------------------------------------------------- lines


def _lines_or_object(file: Path, stream: BufferedReader) -> Iterator[Entry]:
    first = next(line for line in stream if line.removeprefix(_UTF8_BOM).strip())
    rest = stream.tell()
    if isinstance(_parsed(first), dict):
        alone = not any(line.strip() for line in stream)
        stream.seek(0)
        return _of_object(file, _parsed(first)) if alone else _lines(file, stream)
    stream.seek(0)
    content = stream.read()
    whole = _parsed(content)
    if isinstance(whole, dict):
        return _of_object(file, whole)
    if isinstance(whole, Exception) and any(isinstance(_parsed(line), dict) for line in content[rest:].splitlines()):
        return _lines(file, io.BytesIO(content))
    reason = fault_of(whole) if isinstance(whole, Exception) else f"found {described(whole)}"
    raise InputError(f"{file} holds no JSON objects ({reason}). {_AGAIN}.")


def _parsed(source: bytes) -> Any:
    """The JSON value in ``source``, or the error of parsing it, as a value."""
    try:
        return json.loads(source.removeprefix(_UTF8_BOM).decode())
    except (ValueError, RecursionError) as error:
        return error


def fault_of(error: Exception) -> str:
    """What is wrong with JSON, in words: "not valid JSON: expecting value"."""
    if isinstance(error, UnicodeDecodeError):
        return "its text is not UTF-8"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    said = error.msg if isinstance(error, json.JSONDecodeError) else "a number is too long"
    return f"not valid JSON: {said[:1].lower()}{said[1:]}".removesuffix(" at").removesuffix(" starting")


def _lines(file: Path, stream: Iterable[bytes]) -> Iterator[Entry]:
    for number, line in enumerate(stream, 1):
        if line.strip():
            value = _parsed(line.rstrip())
            if isinstance(value, Exception):
                yield Entry(file, f"line {number}", fault=fault_of(value))
            else:
                yield Entry(file, f"line {number}", value)


def _of_object(file: Path, value: dict[str, Any]) -> Iterator[Entry]:
    """The items of a list under a usual name, as a server of data sets wraps them; else the object itself.

    QuALITY calls the questions of one article so, too: an object with a text of its own is no wrapper.
    """
    name = next((name for name in _WRAPPERS if isinstance(value.get(name), list)), None)
    if name is None or "article" in value or isinstance(value.get("question"), str):
        yield Entry(file, "line 1", value)
        return
    for number, item in enumerate(value[name], 1):
        inner = item.get("row") if isinstance(item, dict) else None
        yield Entry(file, f"item {number}", inner if isinstance(inner, dict) else item)


# --------------------------------------------------------------------------------------------------- a list


class _Window:
    """The part of a JSON text that is being read, at least one value long."""

    def __init__(self, file: Path, stream: TextIO) -> None:
        self._file = file
        self._stream = stream
        self._decoder = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._ended = False

    def next_mark(self) -> str:
        """The next character that is not white space, which stays; empty at the end."""
        while True:
            while self._at < len(self._text):
                if not self._text[self._at].isspace():
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def skip(self) -> None:
        """Go past one character."""
        self._at += 1

    def value(self, number: int) -> Any:
        """The next value. Raises ``InputError``, naming item ``number``, if there is none."""
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if self._more():
                    continue
                self.refuse(number, fault_of(error), error)
            if end < len(self._text) or not self._more():  # "12" at the end of what was read may go on as "123"
                self._at = end
                return value

    def refuse(self, number: int, reason: str, error: Exception | None = None) -> None:
        """Raise ``InputError``."""
        raise InputError(f"{self._file} is broken in item {number} ({reason}). {_AGAIN}.") from error

    def _more(self) -> bool:
        """Read on, twice as much as is at hand, so that a long value is tried but a few times."""
        if self._ended:
            return False
        self._text = self._text[self._at :]
        self._at = 0
        more = self._stream.read(max(_PASSAGE, len(self._text)))
        self._ended = not more
        self._text += more
        return bool(more)


def _items(file: Path, window: _Window) -> Iterator[Entry]:
    window.next_mark()
    window.skip()
    number = 1
    if window.next_mark() == "]":
        raise InputError(f"{file} holds an empty list.")
    while True:
        window.next_mark()
        yield Entry(file, f"item {number}", window.value(number))
        mark = window.next_mark()
        if mark == "]":
            return
        if mark != ",":
            window.refuse(number, "the list is not closed" if not mark else "no comma follows")
        window.skip()
        number += 1


# --------------------------------------------------------------------------------------------------- a table


def _rows(file: Path, stream: TextIO) -> Iterator[Entry]:
    reader = csv.DictReader(stream)
    number = 0
    while True:
        number += 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            yield Entry(file, f"row {number}", fault=f"not valid CSV: {error}")
            continue
        if row is None:
            return
        if None in row:  # under which the cells go that have no column
            yield Entry(
                file, f"row {number}", fault='it has more cells than columns: put "…" around a text with a comma'
            )
        else:
            yield Entry(file, f"row {number}", row)
