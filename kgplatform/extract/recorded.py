"""The extractor ``recorded``: extractions that were made elsewhere, by a model, by a person, by another program.

Two forms of file are told apart by what is in them:

1. Open information extraction: ``{"title", "text", "extracted_entities", "extracted_triples"}``, in a JSON list or one
   a line, or HippoRAG's ``{"docs": [{"passage", "extracted_entities", "extracted_triples"}]}``. It belongs to the
   document with that text. Nothing is typed, so the schema's flexible mode is its default.
2. Our JSONL: one object a line, in the form of the language model's reply plus the document's title, file name (as
   much of its path as tells it apart) or URI. Several lines for one document add up. Strict mode is its default.

       {"document": "ada.txt", "entities": [{"name": "Ada Lovelace", "type": "Person", "quote": "Ada Lovelace"}],
        "triples": [{"subject": "…", "predicate": "…", "object": "…", "quote": "…"}], "attributes": [], "facts": []}
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from kgplatform.errors import InputError
from kgplatform.extract.bound import Mode
from kgplatform.extract.recordings import Recordings
from kgplatform.extract.schema import Schema
from kgplatform.records import Document, ExtractedEntity, Extraction, Passage
from kgplatform.text import normalise_name
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
        self.default_mode: Mode = "strict" if self._recordings.typed else "flexible"
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
