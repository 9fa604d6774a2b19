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

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from kgplatform.build.extract import Mode
from kgplatform.build.extract.placing import Placed, place_items
from kgplatform.build.extract.recorded_file import Recording, Recordings, read_recordings
from kgplatform.build.schema import Schema
from kgplatform.errors import InputError
from kgplatform.records import Chunk, Document, Extraction

_DOCUMENTS_REMEMBERED = 64


class RecordedExtractor:
    """Gives each chunk its part of what a file records about its document.

    Raises ``InputError``, with the line, if the file cannot be read.
    """

    name = "recorded"

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._recordings: Recordings = read_recordings(self.path)
        self.default_mode: Mode = "strict" if self._recordings.typed else "flexible"
        self._found: dict[tuple[str, str], Sequence[Recording]] = {}
        self._placed: OrderedDict[tuple[str, str], Placed] = OrderedDict()
        self._lock = threading.Lock()

    def extract(self, chunk: Chunk, document: Document, schema: Schema) -> Extraction:
        """What is recorded about the characters of ``chunk``. Raises ``InputError`` if nothing is about ``document``.

        Every triple, attribute and fact goes to the one chunk in which its words begin; what is found nowhere goes
        to the first chunk, as does what cannot be read. An entity goes to every chunk that names or uses it.
        """
        found = self._find(document)
        if not found:
            raise InputError(
                f"{self.path.name} has no line about {document.name}. Add one, with its title or file name."
            )
        if _is_whole(chunk, document):
            return _joined(found)
        return self._place(document, found).part(chunk)

    def unused(self) -> list[str]:
        """The recordings that no document asked for, by the document's title or name in the file."""
        with self._lock:
            used = {each.number for found in self._found.values() for each in found}
        return [each.title for each in self._recordings.all if each.number not in used]

    def _find(self, document: Document) -> Sequence[Recording]:
        key = (document.id, document.sha256)
        with self._lock:
            if key not in self._found:
                self._found[key] = self._recordings.of(document)
            return self._found[key]

    def _place(self, document: Document, found: Sequence[Recording]) -> Placed:
        key = (document.id, document.sha256)
        with self._lock:
            if key not in self._placed:
                self._placed[key] = place_items(_joined(found), document)
                while len(self._placed) > _DOCUMENTS_REMEMBERED:
                    self._placed.popitem(last=False)
            self._placed.move_to_end(key)
            return self._placed[key]


def _is_whole(chunk: Chunk, document: Document) -> bool:
    return chunk.index == 0 and not document.text[chunk.end :].strip()


def _joined(found: Sequence[Recording]) -> Extraction:
    parts = [each.extraction for each in found]
    return Extraction(
        entities=tuple(each for part in parts for each in part.entities),
        triples=tuple(each for part in parts for each in part.triples),
        attributes=tuple(each for part in parts for each in part.attributes),
        facts=tuple(each for part in parts for each in part.facts),
        proposals=tuple(each for part in parts for each in part.proposals),
        malformed=tuple(each for part in parts for each in part.malformed),
    )
