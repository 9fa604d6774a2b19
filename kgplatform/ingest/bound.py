"""The schema bounds what was extracted (Youtu-GraphRAG, eq. 2).

Strict mode keeps an entity whose type the schema has; a triple whose relation the schema has, between kept entities
whose types the relation may join; an attribute whose key the schema has and whose kept entity may have it. What would
fit the other way round is turned (``turn``). Flexible mode keeps everything and marks what is not so with
``in_schema=False``, with one easing: an entity without a type contradicts no relation, so that triples of extractors
that type nothing can still get the schema's relation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeGuard, get_args

from kgplatform.ingest.schema import Schema
from kgplatform.ingest.turn import put_right
from kgplatform.records import (
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
)
from kgplatform.text import normalise_name, tidy

Mode = Literal["strict", "flexible"]
MODES = get_args(Mode)
ExtractedItem = ExtractedEntity | ExtractedTriple | ExtractedAttribute
Listed = dict[str, ExtractedEntity]
"""The entities of a passage by their normalised names."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many entities, triples and attributes were kept, and how many strict mode left out.

    Of those kept, ``mapped`` got the schema's name in place of their own, ``off_schema`` are marked
    ``in_schema=False``, ``turned`` were put right before: see ``turn.put_right``.
    """

    kept: int = 0
    mapped: int = 0
    dropped: int = 0
    off_schema: int = 0
    turned: int = 0


def bound(extraction: Extraction, schema: Schema, mode: Mode) -> tuple[Extraction, Tally]:
    """``extraction`` as far as ``schema`` allows it in ``mode``, under the schema's names, and what was done to it.

    A triple or attribute means the first entity listed under its name. In flexible mode every entity that one names
    is listed afterwards, untyped if it was not before. A triple that stays off schema keeps its predicate's words,
    even if they name a relation that may not join its entities.
    """

    def is_kept(item: ExtractedItem) -> bool:
        return item.in_schema or mode == "flexible"

    turned = 0
    if mode == "strict":
        extraction, turned = put_right(extraction, schema)
    entities = [_judge_entity(entity, schema) for entity in extraction.entities]
    if mode == "flexible":
        entities += [(entity, False) for entity in _unlisted(extraction)]
    listed: Listed = {}
    for entity, _ in entities:
        if is_kept(entity):
            listed.setdefault(normalise_name(entity.name), entity)
    triples = [_judge_triple(triple, schema, listed) for triple in extraction.triples]
    attributes = [_judge_attribute(attribute, schema, listed) for attribute in extraction.attributes]
    bounded = replace(
        extraction,
        entities=tuple(entity for entity, _ in entities if is_kept(entity)),
        triples=tuple(triple for triple, _ in triples if is_kept(triple)),
        attributes=tuple(attribute for attribute, _ in attributes if is_kept(attribute)),
    )
    kept: list[ExtractedItem] = [*bounded.entities, *bounded.triples, *bounded.attributes]
    judged: list[tuple[ExtractedItem, bool]] = [*entities, *triples, *attributes]
    return bounded, Tally(
        kept=len(kept),
        mapped=sum(renamed for _, renamed in judged),
        dropped=len(judged) - len(kept),
        off_schema=sum(not item.in_schema for item in kept),
        turned=turned,
    )


def _judge_entity(entity: ExtractedEntity, schema: Schema) -> tuple[ExtractedEntity, bool]:
    """The entity as the schema has it, and whether that renamed it."""
    found = schema.entity(entity.type)
    if found is None:
        return replace(entity, type=entity.type or None, in_schema=False), False
    return replace(entity, type=found.name, in_schema=True), found.name != entity.type


def _judge_triple(triple: ExtractedTriple, schema: Schema, listed: Listed) -> tuple[ExtractedTriple, bool]:
    relation = schema.relation(triple.predicate)
    head, tail = listed.get(normalise_name(triple.subject)), listed.get(normalise_name(triple.object))
    if relation is None or not _fits(head) or not _fits(tail) or not relation.joins(head.type, tail.type):
        return replace(triple, in_schema=False), False
    return replace(triple, predicate=relation.name, in_schema=True), relation.name != triple.predicate


def _judge_attribute(attribute: ExtractedAttribute, schema: Schema, listed: Listed) -> tuple[ExtractedAttribute, bool]:
    found = schema.attribute(attribute.key)
    owner = listed.get(normalise_name(attribute.entity))
    if found is None or not _fits(owner) or (found.entities and owner.type not in (None, *found.entities)):
        return replace(attribute, in_schema=False), False
    return replace(attribute, key=found.name, in_schema=True), found.name != attribute.key


def _fits(entity: ExtractedEntity | None) -> TypeGuard[ExtractedEntity]:
    """Listed, and not of a foreign type. (In strict mode only entities of the schema's types are listed.)"""
    return entity is not None and (entity.in_schema or entity.type is None)


def _unlisted(extraction: Extraction) -> list[ExtractedEntity]:
    """The entities that triples and attributes name without listing them, untyped, in order."""
    listed = {normalise_name(entity.name) for entity in extraction.entities}
    found: dict[str, ExtractedEntity] = {}
    names = [name for triple in extraction.triples for name in (triple.subject, triple.object)]
    for name in names + [attribute.entity for attribute in extraction.attributes]:
        key = normalise_name(name)
        if key not in listed:
            found.setdefault(key, ExtractedEntity(tidy(name), in_schema=False))
    return list(found.values())
