"""The objects in a file, one at a time: of a JSON list, or of JSON lines.

What is under the keys of an object is checked: a text is a text, a list is a list.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from kgplatform.errors import InputError
from kgplatform.sources.corpus_file import described, shown
from kgplatform.sources.decode import HEAD_BYTES, foreign_format, is_pdf
from kgplatform.sources.files.file_text import clean
from kgplatform.text import tidy


class UnusableError(Exception):
    """An entry that is not a question. Its text goes into a fault: `"answer" is null, expected a text`."""


class Values(dict[str, Any]):
    """An object of a file. Its methods raise ``UnusableError`` with a reason that names the key and what was found."""

    def text(self, key: str) -> str:
        """The text under ``key``: a number counts as one; empty if the key is missing or its text is blank."""
        return as_text(self[key], key) if key in self else ""

    def wanted(self, key: str) -> str:
        """The text under ``key``, which must not be empty."""
        found = self.text(key)
        if not found:
            raise UnusableError(f'"{key}" is empty' if key in self else f'there is no "{key}"')
        return found

    def title(self, key: str) -> str:
        """A name under ``key``, as a document of the graph would be called."""
        return tidy(self.text(key))

    def texts(self, *keys: str) -> tuple[str, ...]:
        """The texts in the lists under ``keys``, each once, blank ones left out; a text alone is a list of one."""
        found: dict[str, None] = {}
        for key in keys:
            value = self.get(key, [])
            found |= dict.fromkeys(as_text(item, key) for item in (value if isinstance(value, list) else [value]))
        return tuple(filter(None, found))

    def listed(self, key: str) -> list[Any]:
        """The list under ``key``; empty if the key is missing."""
        found = self.get(key, [])
        if not isinstance(found, list):
            raise UnusableError(f'"{key}" is {described(found)}, expected a list')
        return found

    def objects(self, key: str) -> list[Values]:
        """The objects in the list under ``key``; none if the key is missing."""
        for item in self.listed(key):
            if not isinstance(item, dict):
                raise UnusableError(f'"{key}" holds {described(item)}, expected objects')
        return list(map(Values, self.listed(key)))

    def yes_or_no(self, key: str, default: bool) -> bool:
        """The truth value under ``key``."""
        found = self.get(key, default)
        if not isinstance(found, bool):
            raise UnusableError(f'"{key}" is {described(found)}, expected true or false')
        return found

    def unpacked(self, key: str) -> Any:
        """What is under ``key``, taken out of the JSON text that some releases put it into; None if it is missing."""
        found = self.get(key)
        if not isinstance(found, str):
            return found
        try:
            return json.loads(found)
        except (ValueError, RecursionError) as error:
            raise UnusableError(f'"{key}" is a text that is not JSON, expected a list') from error


def as_text(value: object, key: str) -> str:
    """``value`` as a text without white space around it; what no database stores is left out."""
    if isinstance(value, str):
        return clean(value).strip()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise UnusableError(f'"{shown(key)}" is {described(value)}, expected a text')


def whole(value: object, key: str) -> int:
    """``value`` as a whole number; digits in a text count."""
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise UnusableError(f'"{key}" is {described(value)}, expected a whole number')
    return value


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of a file. ``place``: "line 7" or "item 7", counted from 1; ``fault``: why it has no value."""

    file: Path
    place: str
    value: Any = None
    fault: str = ""

    @property
    def where(self) -> str:
        """ "questions.jsonl, line 7"."""
        return f"{self.file.name}, {self.place}"

    @property
    def values(self) -> Values:
        """The value, an object. Raises ``UnusableError`` where it is none."""
        if self.fault:
            raise UnusableError(self.fault)
        if not isinstance(self.value, dict):
            raise UnusableError(f"found {described(self.value)}, expected an object")
        return Values(self.value)


def entries(file: Path) -> Iterator[Entry]:
    """The values in ``file``, in order. A line that is not JSON is an entry with a fault. Raises ``InputError`` for a
    file that cannot be read, is not text, or is broken as a whole."""
    try:
        with file.open("rb") as stream:
            head = stream.peek(HEAD_BYTES)[:HEAD_BYTES]
            _check(file, head)
            if not head.removeprefix(BOM_UTF8).lstrip().startswith(b"["):
                yield from _lines(file, stream)
                return
            values = json.loads(stream.read().decode("utf-8-sig"))
    except OSError as error:
        raise InputError(f"{file} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not in UTF-8 throughout: save it again as UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file} is broken ({fault_of(error)}). If it was downloaded, get it again.") from error
    if not values:
        raise InputError(f"{file} holds an empty list.")
    yield from (Entry(file, f"item {number}", value) for number, value in enumerate(values, 1))


def some(file: Path, most: int = 20) -> list[Values]:
    """The objects among the first ``most`` entries of ``file``: enough to tell what the file is."""
    return [Values(entry.value) for entry in islice(entries(file), most) if isinstance(entry.value, dict)]


def _check(file: Path, head: bytes) -> None:
    if not head.removeprefix(BOM_UTF8).strip():
        raise InputError(f"{file} is empty.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{file} is in UTF-16: save it again as UTF-8.")
    is_zip = head.startswith(b"PK\3\4")
    noun = foreign_format(head) or ("an archive (ZIP), not text: unpack it" if is_zip else None)
    noun = noun or ("a PDF, not text" if is_pdf(head, file.suffix) else None)
    if noun is not None:
        raise InputError(f"{file} is {noun}; questions are read from JSON and JSON lines.")


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
            value, fault = None, ""
            try:
                value = json.loads(line.rstrip().removeprefix(BOM_UTF8).decode())
            except (ValueError, RecursionError) as error:
                fault = fault_of(error)
            yield Entry(file, f"line {number}", value, fault)
