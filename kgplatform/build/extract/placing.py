"""Which chunk of a document an item belongs to, if it was extracted from the document as a whole."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from kgplatform.places import Place, find_names, find_statement, find_words
from kgplatform.records import (
    AtomicFact,
    Chunk,
    Document,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    Proposal,
)
from kgplatform.text import normalise_name

Item = TypeVar("Item", ExtractedTriple, ExtractedAttribute, AtomicFact, Proposal)
Anchored = tuple[tuple[Item, int | None], ...]
"""Items with the document's offset at which their words begin; None if the document does not have them."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An extraction whose items know where they stand in the document."""

    extraction: Extraction
    triples: Anchored[ExtractedTriple]
    attributes: Anchored[ExtractedAttribute]
    facts: Anchored[AtomicFact]
    proposals: Anchored[Proposal]
    mentions: tuple[tuple[int, ...], ...]
    """For each entity the offsets that name it, in order."""

    def part(self, chunk: Chunk) -> Extraction:
        """The items that begin in ``chunk``; those that begin nowhere are the first chunk's."""
        triples = _of_chunk(self.triples, chunk)
        attributes = _of_chunk(self.attributes, chunk)
        used = {normalise_name(name) for triple in triples for name in (triple.subject, triple.object)}
        used |= {normalise_name(attribute.entity) for attribute in attributes}
        entities = [
            entity
            for entity, offsets in zip(self.extraction.entities, self.mentions, strict=True)
            if _names(offsets, chunk) or normalise_name(entity.name) in used
        ]
        return Extraction(
            entities=tuple(entities),
            triples=triples,
            attributes=attributes,
            facts=_of_chunk(self.facts, chunk),
            proposals=_of_chunk(self.proposals, chunk),
            malformed=self.extraction.malformed if chunk.index == 0 else (),
        )


def place_items(extraction: Extraction, document: Document) -> Placed:
    """Find every item of ``extraction`` in ``document``: by its quote, else by the names in it."""
    text, title = document.text, (document.name,)
    return Placed(
        extraction,
        triples=tuple(
            (each, _start(find_statement(each.quote, (each.subject, each.object), text, title)))
            for each in extraction.triples
        ),
        attributes=tuple(
            (each, _start(find_statement(each.quote, (each.entity, each.value), text, title)))
            for each in extraction.attributes
        ),
        facts=tuple(
            (each, _start(find_statement(each.quote or each.text, each.key_elements, text)))
            for each in extraction.facts
        ),
        proposals=tuple((each, _start(find_words(each.example, text))) for each in extraction.proposals),
        mentions=tuple(_mentions(each, text) for each in extraction.entities),
    )


def _mentions(entity: ExtractedEntity, text: str) -> tuple[int, ...]:
    places = find_names(entity.name, text)
    if not places:
        quoted = find_words(entity.quote or entity.name, text)
        places = [quoted] if quoted else []
    return tuple(place.start for place in places)


def _start(place: Place | None) -> int | None:
    return place.start if place else None


def _of_chunk(items: Sequence[tuple[Item, int | None]], chunk: Chunk) -> tuple[Item, ...]:
    return tuple(item for item, offset in items if _begins_in(offset, chunk))


def _begins_in(offset: int | None, chunk: Chunk) -> bool:
    return chunk.index == 0 if offset is None else chunk.start <= offset < chunk.end


def _names(offsets: Sequence[int], chunk: Chunk) -> bool:
    if not offsets:
        return chunk.index == 0
    at = bisect_left(offsets, chunk.start)
    return at < len(offsets) and offsets[at] < chunk.end
