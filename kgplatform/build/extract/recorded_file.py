"""Reading files of recorded extractions, and finding the recordings of a document. See ``recorded`` for the forms."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from kgplatform.build.extract.shape import KEYS, read_extraction
from kgplatform.errors import InputError
from kgplatform.records import Document, Extraction
from kgplatform.text import node_id, normalise_name

_SPACE = re.compile(r"\s+")
_OPEN_IE = ("extracted_entities", "extracted_triples")
# As keys: inside a JSON string the quotes would stand behind backslashes.
_OPEN_IE_KEY = re.compile(rb'(?<!\\)"extracted_(?:entities|triples)"\s*:')
_HEAD = 1 << 18
_EXPECTED = (
    'Expected is JSONL with one object like {"document": "name", "entities": […], "triples": […]} a line, or open-IE '
    'JSON: a list of {"title", "text", "extracted_entities", "extracted_triples"}.'
)


@dataclass(frozen=True, slots=True)
class Recording:
    """One entry of a file. ``title`` names its document; ``number`` counts the entries from 0."""

    number: int
    title: str
    extraction: Extraction


@dataclass(frozen=True, slots=True)
class Recordings:
    """All entries of a file, and where they are under a document's text or under its names."""

    all: tuple[Recording, ...]
    typed: bool
    _by_key: dict[str, list[Recording]] = field(default_factory=dict)

    def of(self, document: Document) -> Sequence[Recording]:
        """The recordings of ``document``: all under its longest matching name, or the one with its text."""
        keys = _names_of(document) if self.typed else _texts_of(document)
        found = next((self._by_key[key] for key in keys if key in self._by_key), [])
        if self.typed or len(found) < 2:
            return found
        wanted = normalise_name(document.name)
        return [next((each for each in found if normalise_name(each.title) == wanted), found[0])]


def is_open_ie(path: Path) -> bool:
    """Whether ``path`` is an open-IE recording, which holds its passages too: told from its first 256 kB."""
    if path.suffix.lower() not in (".json", ".jsonl") or not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            return _OPEN_IE_KEY.search(stream.read(_HEAD)) is not None
    except OSError:
        return False  # loading the file says what is wrong with it


def read_recordings(path: Path) -> Recordings:
    """The recordings in ``path``. Raises ``InputError`` that says where it is broken and what was expected."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The recorded extractions {path} cannot be read: {error}.") from error
    if not text.strip():
        raise InputError(f"{path} is empty. {_EXPECTED}")
    entries = _whole(path, text)
    if entries is None:
        return _documents(_lines(path, text), path)
    if all(isinstance(entry, Mapping) and "document" in entry for _, entry in entries):
        return _documents(entries, path)
    return _passages(entries, path)


def _whole(path: Path, text: str) -> list[tuple[str, Any]] | None:
    """The entries of a file that is one JSON document, each with its place; None for one that is JSONL."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        if _is_lines(text):
            return None
        raise InputError(f"{path}, line {error.lineno}: this is no JSON ({error.msg}). {_EXPECTED}") from error
    except RecursionError as error:
        raise InputError(f"{path} is nested too deeply to be read. {_EXPECTED}") from error
    if isinstance(content, Mapping) and isinstance(content.get("docs"), list):
        content = content["docs"]
    if isinstance(content, Mapping) and "document" in content:
        return [("line 1", content)]
    if not isinstance(content, list) or not content:
        raise InputError(f"{path} holds no recorded extractions. {_EXPECTED}")
    return [(f"entry {number}", entry) for number, entry in enumerate(content, 1)]


def _is_lines(text: str) -> bool:
    """Whether the file's first line that is not empty is a JSON object of its own."""
    try:
        return isinstance(json.loads(text.strip().splitlines()[0]), Mapping)
    except (ValueError, RecursionError):
        return False


def _lines(path: Path, text: str) -> list[tuple[str, Any]]:
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                entries.append((f"line {number}", json.loads(line)))
            except (ValueError, RecursionError) as error:
                raise InputError(f"{path}, line {number}: this is no JSON ({error}). {_EXPECTED}") from error
    return entries


def _documents(entries: Sequence[tuple[str, Any]], path: Path) -> Recordings:
    """Entries of our own form, under the name that each gives its document."""
    recordings: list[Recording] = []
    by_key: dict[str, list[Recording]] = {}
    for number, (where, entry) in enumerate(entries):
        title = entry.get("document") if isinstance(entry, Mapping) else None
        if not isinstance(title, str) or not title.strip():
            raise InputError(f"{path}, {where}: the document's name is missing. {_EXPECTED}")
        _check_keys(entry, f"{path}, {where}")
        recording = Recording(number, title, read_extraction(entry))
        recordings.append(recording)
        by_key.setdefault(normalise_name(title), []).append(recording)
    return Recordings(tuple(recordings), True, by_key)


def _check_keys(entry: Mapping[str, Any], where: str) -> None:
    """A key that nobody reads is a mistake of whoever wrote the file: what stands under it would be lost."""
    known = ("document", *KEYS)
    for key in entry:
        if key not in known:
            close = get_close_matches(key, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise InputError(f"{where}: {key!r} is not a known key{hint}. Known are: {', '.join(known)}.")


def _passages(entries: Sequence[tuple[str, Any]], path: Path) -> Recordings:
    """Entries of open information extraction, under their text, with and without the title before it."""
    recordings: list[Recording] = []
    by_key: dict[str, list[Recording]] = {}
    for number, (where, entry) in enumerate(entries):
        if not isinstance(entry, Mapping) or not any(key in entry for key in _OPEN_IE):
            raise InputError(f"{path}, {where}: no extracted_entities and no extracted_triples. {_EXPECTED}")
        title, text = entry.get("title"), entry.get("text") or entry.get("passage")
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{path}, {where}: the passage has no text. {_EXPECTED}")
        if not isinstance(title, str):
            title = text.strip().split("\n", 1)[0]
        content = {"entities": entry.get(_OPEN_IE[0]), "triples": entry.get(_OPEN_IE[1])}
        recording = Recording(number, title, read_extraction(content))
        recordings.append(recording)
        for key in dict.fromkeys((_text_key(text), _text_key(f"{title}\n{text}"))):
            by_key.setdefault(key, []).append(recording)
    return Recordings(tuple(recordings), False, by_key)


def _text_key(text: str) -> str:
    return node_id(_SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip())


def _texts_of(document: Document) -> list[str]:
    return [_text_key(document.text), _text_key(f"{document.name}\n{document.text}")]


def _names_of(document: Document) -> list[str]:
    """All that a recording may call ``document``, the most telling first: URI, path from its end, title."""
    names = [document.uri, unquote(document.uri)]
    if document.uri == document.source:
        folders = unquote(urlsplit(document.source).path).strip("/").split("/")
        names += ["/".join(folders[start:]) for start in range(len(folders))]
    return [normalise_name(name) for name in [*names, document.name] if name]
