"""The extractor ``recorded``: extractions that were made elsewhere, by a model, by a person, by another program.

Two forms of file are told apart by what is in them:

1. Open information extraction: ``{"title", "text", "extracted_entities", "extracted_triples"}``, in a JSON list or one
   a line, or HippoRAG's ``{"docs": [{"passage", "extracted_entities", "extracted_triples"}]}``. It belongs to the
   document with that text. Nothing is typed.
2. Our JSONL: one object a line, in the form of the language model's reply plus the document's title, file name (as
   much of its path as tells it apart) or URI. Several lines for one document add up.

       {"document": "ada.txt", "entities": [{"name": "Ada Lovelace", "type": "Person", "quote": "Ada Lovelace"}],
        "triples": [{"subject": "…", "predicate": "…", "object": "…", "quote": "…"}], "attributes": [], "facts": []}

Of a file with one entry a line nothing is held but where each entry begins and 8 bytes of each name or text that it is
found by: it may be larger than the memory. A file that is one JSON document is held as a whole.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from kgplatform.errors import InputError
from kgplatform.extract.schema import Schema
from kgplatform.extract.shape import KEYS, read_extraction
from kgplatform.records import Document, Extraction, Passage
from kgplatform.text import did_you_mean, hash64, node_id, normalise_name, tidy
from kgplatform.text.matching import Place, find_names, find_statement, find_words

_DOCUMENTS_KEPT = 64


class RecordedExtractor:
    """Gives each passage its part of what a file records about its document.

    Raises ``InputError``, with the line, if the file cannot be read.
    """

    name = "recorded"

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._recordings = Recordings(self.path)
        self._used = bytearray(self._recordings.count)
        self._recorded = lru_cache(_DOCUMENTS_KEPT)(self._find)
        self._placed = lru_cache(_DOCUMENTS_KEPT)(lambda document: place_items(self._recorded(document), document))

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        """What is recorded about the characters of ``passage``. Raises ``InputError`` if nothing is about ``document``.

        Every triple, attribute and fact goes to the one passage in which its words begin; what is found nowhere goes
        to the first passage, as does what cannot be read. An entity goes to every passage that names or uses it.
        """
        is_whole = passage.index == 0 and not document.text[passage.end :].strip()
        return self._recorded(document) if is_whole else self._placed(document).part(passage)

    def unused(self) -> list[str]:
        """The recordings that no document asked for, by the document's title or name in the file."""
        return [self._recordings.title(number) for number, used in enumerate(self._used) if not used]

    def _find(self, document: Document) -> Extraction:
        found = self._recordings.of(document)
        if not found:
            raise InputError(
                f"{self.path.name} has no line about {document.title}. Add one, with its title or file name."
            )
        for each in found:
            self._used[each.number] = True
        kinds = [each.name for each in fields(Extraction)]
        return Extraction(*(tuple(chain(*(getattr(each.extraction, kind) for each in found))) for kind in kinds))


@dataclass(frozen=True, slots=True)
class Placed:
    """An extraction whose items know where they stand in the document.

    ``items``: those of each kind, with the offset at which their words begin; None if the document does not have them.
    ``mentions``: for each entity the offsets that name it, in order.
    """

    extraction: Extraction
    items: Mapping[str, Sequence[tuple[Any, int | None]]]
    mentions: Sequence[Sequence[int]]

    def part(self, passage: Passage) -> Extraction:
        """The items that begin in ``passage``; those that begin nowhere are the first passage's."""
        is_first, inside = passage.index == 0, range(passage.start, passage.end)

        parts = {
            kind: tuple(item for item, at in items if (is_first if at is None else at in inside))
            for kind, items in self.items.items()
        }
        used = {normalise_name(name) for triple in parts["triples"] for name in (triple.subject, triple.object)}
        used |= {normalise_name(attribute.entity) for attribute in parts["attributes"]}
        entities = []
        for entity, offsets in zip(self.extraction.entities, self.mentions, strict=True):
            at = bisect_left(offsets, passage.start)
            is_named = offsets[at] < passage.end if at < len(offsets) else is_first and not offsets
            if is_named or normalise_name(entity.name) in used:
                entities.append(entity)
        malformed = self.extraction.malformed if is_first else ()
        return Extraction(entities=tuple(entities), malformed=malformed, **parts)


def place_items(extraction: Extraction, document: Document) -> Placed:
    """Find every item of ``extraction`` in ``document``: by its quote, else by the names in it."""
    text, title = document.text, (document.title,)
    finders: dict[str, Callable[[Any], Place | None]] = {
        "triples": lambda each: find_statement(each.quote, (each.subject, each.object), text, title),
        "attributes": lambda each: find_statement(each.quote, (each.entity, each.value), text, title),
        "facts": lambda each: find_statement(each.quote or each.text, each.key_elements, text),
        "proposals": lambda each: find_words(each.example, text),
    }
    items = {
        kind: [(item, place.start if (place := find(item)) else None) for item in getattr(extraction, kind)]
        for kind, find in finders.items()
    }
    mentions = []
    for entity in extraction.entities:
        places: Sequence[Place | None] = find_names(entity.name, text) or [
            find_words(entity.quote or entity.name, text)
        ]
        mentions.append([place.start for place in places if place])
    return Placed(extraction, items, mentions)


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
            self.typed = all(
                isinstance(entry, Mapping)
                and ("document" in entry or not any(key in entry for key in (*_OPEN_IE, "title")))
                for entry in ([first[1]] if is_lines else self._held)
            )
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
        keys: Sequence[str] = ()
        if self.typed:  # all that it may be called, the most telling first: URI, path from its end, title
            names = [document.uri, unquote(document.uri)]
            if document.uri == document.source:
                folders = unquote(urlsplit(document.source).path).strip("/").split("/")
                names += ["/".join(folders[start:]) for start in range(len(folders))]
            keys = [normalise_name(name) for name in [*names, document.title] if name]
        else:
            keys = _text_keys(document.title, document.text)
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
                    try:
                        entry = json.loads(bare.decode("utf-8"))
                    except (ValueError, RecursionError) as error:
                        where = f"{self._path}, line {number}"
                        raise InputError(f"{where}: not valid JSON ({error}). {_EXPECTED}") from error
                    yield f"line {number}", entry
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


RecordedEntry = tuple[str, Sequence[str], Mapping[str, Any]]
"""The title of an entry's document, the keys that it is found under, and what it extracts."""


def _read_ours(where: str, entry: Any) -> RecordedEntry:
    """An entry of our own form, under the name that it gives its document. A key that nobody reads is a mistake of
    whoever wrote the file: what stands under it would be lost."""
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
    return title, _text_keys(title, text), {"entities": entry.get(_OPEN_IE[0]), "triples": entry.get(_OPEN_IE[1])}


def _text_keys(title: str, text: str) -> tuple[str, ...]:
    """What a text is found under, with and without its title before it."""
    return tuple(dict.fromkeys(node_id(tidy(each)) for each in (text, f"{title}\n{text}")))
