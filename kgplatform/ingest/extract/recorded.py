"""The extractor ``recorded``: extractions that were made elsewhere, by a model, by a person, by another program.

Two forms of file are told apart by what is in them:

1. Open information extraction: a JSON list of ``{"title", "text", "extracted_entities", "extracted_triples"}``, or
   HippoRAG's ``{"docs": [{"passage", "extracted_entities", "extracted_triples"}]}``. It belongs to the document with
   that text. Nothing is typed, so the schema's flexible mode is its default.
2. Our JSONL: one object a line, in the form of the language model's reply plus the document's title, file name (as
   much of its path as tells it apart) or URI. Several lines for one document add up. Strict mode is its default.

       {"document": "ada.txt", "entities": [{"name": "Ada Lovelace", "type": "Person", "quote": "Ada Lovelace"}],
        "triples": [{"subject": "…", "predicate": "…", "object": "…", "quote": "…"}], "attributes": [], "facts": []}
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from kgplatform.errors import InputError
from kgplatform.ingest.bound import Mode
from kgplatform.ingest.decode import is_json_object
from kgplatform.ingest.extract.shape import KEYS, read_extraction
from kgplatform.ingest.schema import Schema
from kgplatform.places import Place, find_names, find_statement, find_words
from kgplatform.records import Document, ExtractedEntity, Extraction, Passage
from kgplatform.text import did_you_mean, node_id, normalise_name

_DOCUMENTS_KEPT = 64


class RecordedExtractor:
    """Gives each passage its part of what a file records about its document.

    Raises ``InputError``, with the line, if the file cannot be read.
    """

    name = "recorded"

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._recordings = read_recordings(self.path)
        self.default_mode: Mode = "strict" if self._recordings.typed else "flexible"
        self._used: set[int] = set()
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
        return [recording.title for recording in self._recordings.all if recording.number not in self._used]

    def _find(self, document: Document) -> Extraction:
        found = self._recordings.of(document)
        if not found:
            raise InputError(
                f"{self.path.name} has no line about {document.title}. Add one, with its title or file name."
            )
        self._used.update(recording.number for recording in found)
        kinds = [each.name for each in fields(Extraction)]
        return Extraction(*(tuple(chain(*(getattr(each.extraction, kind) for each in found))) for kind in kinds))


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
        wanted = normalise_name(document.title)
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
    whole = _whole(path, text)
    entries = _lines(path, text) if whole is None else whole
    is_ours = whole is None or all(isinstance(entry, Mapping) and "document" in entry for _, entry in entries)
    recordings: list[Recording] = []
    by_key: dict[str, list[Recording]] = {}
    for number, (where, entry) in enumerate(entries):
        title, keys, content = (_read_ours if is_ours else _read_open_ie)(f"{path}, {where}", entry)
        recordings.append(Recording(number, title, read_extraction(content)))
        for key in keys:
            by_key.setdefault(key, []).append(recordings[-1])
    return Recordings(tuple(recordings), is_ours, by_key)


def _whole(path: Path, text: str) -> list[tuple[str, Any]] | None:
    """The entries of a file that is one JSON document, each with its place; None for one that is JSONL."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        if is_json_object(text.strip().splitlines()[0]):
            return None
        raise InputError(f"{path}, line {error.lineno}: not valid JSON ({error.msg}). {_EXPECTED}") from error
    except RecursionError as error:
        raise InputError(f"{path} is nested too deeply to be read. {_EXPECTED}") from error
    if isinstance(content, Mapping) and isinstance(content.get("docs"), list):
        content = content["docs"]
    if isinstance(content, Mapping) and "document" in content:
        return [("line 1", content)]
    if not isinstance(content, list) or not content:
        raise InputError(f"{path} holds no recorded extractions. {_EXPECTED}")
    return [(f"entry {number}", entry) for number, entry in enumerate(content, 1)]


def _lines(path: Path, text: str) -> list[tuple[str, Any]]:
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                entries.append((f"line {number}", json.loads(line)))
            except (ValueError, RecursionError) as error:
                raise InputError(f"{path}, line {number}: not valid JSON ({error}). {_EXPECTED}") from error
    return entries


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
        parts = {
            kind: tuple(item for item, offset in items if _begins_in(offset, passage))
            for kind, items in self.items.items()
        }
        used = {normalise_name(name) for triple in parts["triples"] for name in (triple.subject, triple.object)}
        used |= {normalise_name(attribute.entity) for attribute in parts["attributes"]}
        entities = tuple(
            entity
            for entity, offsets in zip(self.extraction.entities, self.mentions, strict=True)
            if _names(offsets, passage) or normalise_name(entity.name) in used
        )
        malformed = self.extraction.malformed if passage.index == 0 else ()
        return Extraction(entities=entities, malformed=malformed, **parts)


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
    return Placed(extraction, items, [_mentions(entity, text) for entity in extraction.entities])


def _mentions(entity: ExtractedEntity, text: str) -> list[int]:
    places: Sequence[Place | None] = find_names(entity.name, text) or [find_words(entity.quote or entity.name, text)]
    return [place.start for place in places if place]


def _begins_in(offset: int | None, passage: Passage) -> bool:
    return passage.index == 0 if offset is None else passage.start <= offset < passage.end


def _names(offsets: Sequence[int], passage: Passage) -> bool:
    if not offsets:
        return passage.index == 0
    at = bisect_left(offsets, passage.start)
    return at < len(offsets) and offsets[at] < passage.end
