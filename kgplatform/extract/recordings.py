"""The files that the extractor ``recorded`` reads: which entry is about which document.

Of a file with one entry a line (JSONL) nothing is held but where each entry begins and 8 bytes of each name or text
that it is found by: it may be larger than the memory. A file that is one JSON document is held as a whole.
"""

from __future__ import annotations

import json
import re
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from kgplatform.errors import InputError
from kgplatform.extract.shape import KEYS, read_extraction
from kgplatform.records import Document, Extraction
from kgplatform.text import did_you_mean, hash64, node_id, normalise_name

_SPACE = re.compile(r"\s+")
_OPEN_IE = ("extracted_entities", "extracted_triples")
# As keys: inside a JSON string the quotes would stand behind backslashes.
_OPEN_IE_KEY = re.compile(rb'(?<!\\)"extracted_(?:entities|triples)"\s*:')
_HEAD = 1 << 18
_BOM = b"\xef\xbb\xbf"
_EXPECTED = (
    'Expected is JSONL with one object like {"document": "name", "entities": […], "triples": […]} a line, or open-IE '
    'JSON: a list, or JSONL, of {"title", "text", "extracted_entities", "extracted_triples"}.'
)


@dataclass(frozen=True, slots=True)
class Recording:
    """One entry of a file. ``title`` names its document; ``number`` counts the entries from 0."""

    number: int
    title: str
    extraction: Extraction


class Recordings:
    """All entries of a file. ``typed``: whether they are in our own form, under the names of documents.

    Raises ``InputError`` that says where the file is broken and what was expected.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: list[Any] = []
        self._begins, keys, numbers = array("q"), array("Q"), array("q")
        try:
            is_lines = _is_lines(path)
            entries = self._lines() if is_lines else self._whole()
            first = next(entries)
            self.typed = _is_ours(first[1]) if is_lines else all(map(_is_ours, self._held))
            for number, (where, entry) in enumerate(chain((first,), entries)):
                for key in self._read(f"{path}, {where}", entry)[1]:
                    keys.append(hash64(key))
                    numbers.append(number)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"The recorded extractions {path} cannot be read: {error}.") from error
        self.count = number + 1
        order = np.argsort(np.frombuffer(keys, np.uint64), kind="stable")
        self._keys, self._numbers = np.frombuffer(keys, np.uint64)[order], np.frombuffer(numbers, np.int64)[order]

    def of(self, document: Document) -> Sequence[Recording]:
        """The recordings of ``document``: all under its longest matching name, or the one with its text."""
        keys = _names_of(document) if self.typed else _texts_of(document)
        found = next((some for key in keys if (some := self._under(key))), [])
        if self.typed or len(found) < 2:
            return found
        wanted = normalise_name(document.title)
        return [next((each for each in found if normalise_name(each.title) == wanted), found[0])]

    def title(self, number: int) -> str:
        """What the entry calls its document."""
        return self._read(str(self._path), self._entry(number))[0]

    def _under(self, key: str) -> list[Recording]:
        found = []
        start, end = (int(np.searchsorted(self._keys, np.uint64(hash64(key)), side)) for side in ("left", "right"))
        for number in self._numbers[start:end].tolist():
            title, keys, content = self._read(str(self._path), self._entry(number))
            if key in keys:  # another one may have the same hash
                found.append(Recording(number, title, read_extraction(content)))
        return found

    def _entry(self, number: int) -> Any:
        if self._held:
            return self._held[number]
        try:
            with self._path.open("rb") as stream:
                stream.seek(self._begins[number])
                return json.loads(stream.readline())
        except (OSError, ValueError) as error:
            raise InputError(f"The recorded extractions {self._path} have changed since they were opened.") from error

    def _read(self, where: str, entry: Any) -> RecordedEntry:
        return _read_ours(where, entry) if self.typed else _read_open_ie(where, entry)

    def _lines(self) -> Iterator[tuple[str, Any]]:
        """The entries of JSONL, each with its place; where each begins is kept."""
        with self._path.open("rb") as stream:
            begin = 0
            for number, line in enumerate(stream, 1):
                bare = line.removeprefix(_BOM) if number == 1 else line
                if bare.strip():
                    self._begins.append(begin + len(line) - len(bare))
                    yield f"line {number}", _parsed(f"{self._path}, line {number}", bare)
                begin += len(line)

    def _whole(self) -> Iterator[tuple[str, Any]]:
        """The entries of a file that is one JSON document, each with its place; they are kept."""
        text = self._path.read_text(encoding="utf-8-sig")
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"{self._path}, line {error.lineno}: not valid JSON ({error.msg}). {_EXPECTED}") from error
        except RecursionError as error:
            raise InputError(f"{self._path} is nested too deeply to be read. {_EXPECTED}") from error
        if isinstance(content, Mapping) and isinstance(content.get("docs"), list):
            content = content["docs"]
        if isinstance(content, Mapping) and "document" in content:
            content = [content]
        if not isinstance(content, list) or not content:
            raise InputError(f"{self._path} holds no recorded extractions. {_EXPECTED}")
        self._held = content
        return ((f"entry {number}", entry) for number, entry in enumerate(content, 1))


def is_open_ie(path: Path) -> bool:
    """Whether ``path`` is an open-IE recording, which holds its passages too: told from its first 256 kB."""
    if path.suffix.lower() not in (".json", ".jsonl") or not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            return _OPEN_IE_KEY.search(stream.read(_HEAD)) is not None
    except OSError:
        return False  # loading the file says what is wrong with it


def _is_lines(path: Path) -> bool:
    """Whether the file has an object a line. Raises ``InputError`` for an empty one."""
    with path.open("rb") as stream:
        filled = (line for line in stream if line.removeprefix(_BOM).strip())
        first = next(filled, b"").removeprefix(_BOM)
        if not first:
            raise InputError(f"{path} is empty. {_EXPECTED}")
        if not first.lstrip().startswith(b"{"):
            return False
        try:
            entry = json.loads(first)
        except (ValueError, RecursionError):
            return False
        return "document" in entry or any(key in entry for key in _OPEN_IE) or next(filled, None) is not None


def _is_ours(entry: Any) -> bool:
    return isinstance(entry, Mapping) and ("document" in entry or not any(key in entry for key in (*_OPEN_IE, "title")))


def _parsed(where: str, line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON ({error}). {_EXPECTED}") from error


RecordedEntry = tuple[str, Sequence[str], Mapping[str, Any]]
"""The title of an entry's document, the keys that it is found under, and what it extracts."""


def _read_ours(where: str, entry: Any) -> RecordedEntry:
    """An entry of our own form, under the name that it gives its document.

    A key that nobody reads is a mistake of whoever wrote the file: what stands under it would be lost.
    """
    title = entry.get("document") if isinstance(entry, Mapping) else None
    if not isinstance(title, str) or not title.strip():
        raise InputError(f"{where}: the document's name is missing. {_EXPECTED}")
    known = ("document", *KEYS)
    for key in entry:
        if key not in known:
            hint = did_you_mean(key, known)
            raise InputError(f"{where}: {key!r} is not a known key.{hint} Known are: {', '.join(known)}.")
    return title, (normalise_name(title),), entry


def _read_open_ie(where: str, entry: Any) -> RecordedEntry:
    """An entry of open information extraction, under its text, with and without the title before it."""
    if not isinstance(entry, Mapping) or not any(key in entry for key in _OPEN_IE):
        raise InputError(f"{where}: no extracted_entities and no extracted_triples. {_EXPECTED}")
    title, text = entry.get("title"), entry.get("text") or entry.get("passage")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{where}: the passage has no text. {_EXPECTED}")
    if not isinstance(title, str):
        title = text.strip().split("\n", 1)[0]
    keys = tuple(dict.fromkeys((_text_key(text), _text_key(f"{title}\n{text}"))))
    return title, keys, {"entities": entry.get(_OPEN_IE[0]), "triples": entry.get(_OPEN_IE[1])}


def _text_key(text: str) -> str:
    return node_id(_SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip())


def _texts_of(document: Document) -> list[str]:
    return [_text_key(document.text), _text_key(f"{document.title}\n{document.text}")]


def _names_of(document: Document) -> list[str]:
    """All that a recording may call ``document``, the most telling first: URI, path from its end, title."""
    names = [document.uri, unquote(document.uri)]
    if document.uri == document.source:
        folders = unquote(urlsplit(document.source).path).strip("/").split("/")
        names += ["/".join(folders[start:]) for start in range(len(folders))]
    return [normalise_name(name) for name in [*names, document.title] if name]
