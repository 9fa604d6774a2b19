"""The schema bounds what was extracted (Youtu-GraphRAG, eq. 2).

Strict mode keeps an entity whose type the schema has; a triple whose relation the schema has, between kept entities
whose types the relation may join; an attribute whose key the schema has and whose kept entity may have it. Flexible
mode keeps everything and marks what is not so with ``in_schema=False``, with one easing: an entity without a type
contradicts no relation, so that triples of extractors that type nothing can still get the schema's relation.

What is not as the schema has it is put right before: a relation said backwards, a date for an object, a shorter name.

    (Acme, founded, Ada) and (Acme, founded by, Ada)     -> (Ada, founded, Acme)         where only that way is allowed
    (Ada, born_in, 1815), as a triple or an attribute    -> the attribute birth date of Ada
    (Lovelace, born_in, London)                          -> (Ada Lovelace, born_in, London)  where one listed name fits

What could be meant in two ways stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeGuard, get_args

from kgplatform.extract.schema import AttributeType, Schema
from kgplatform.records import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction
from kgplatform.text import normalise_name, tidy

Mode = Literal["strict", "flexible"]
MODES = get_args(Mode)
ExtractedItem = ExtractedEntity | ExtractedTriple | ExtractedAttribute
KINDS = ("type", "relation", "attribute")
Listed = dict[str, ExtractedEntity]
"""The entities of a passage by their normalised names."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many entities, triples and attributes were kept, and how many strict mode left out.

    Of those kept, ``mapped`` got the schema's name in place of their own, ``off_schema`` are marked
    ``in_schema=False``, ``turned`` were put right before: see ``put_right``.
    """

    kept: int = 0
    mapped: int = 0
    dropped: int = 0
    off_schema: int = 0
    turned: int = 0
    left_out: dict[str, Counter[str]] = field(default_factory=dict, compare=False)
    """Of what was left out, by its kind (``KINDS``), how often the reply called it what."""


def bound(extraction: Extraction, schema: Schema, mode: Mode) -> tuple[Extraction, Tally]:
    """``extraction`` as far as ``schema`` allows it in ``mode``, under the schema's names, and what was done to it.

    A triple or attribute means the first entity listed under its name. In flexible mode every entity that one names
    is listed afterwards, untyped if it was not before. A triple that stays off schema keeps its predicate's words,
    even if they name a relation that may not join its entities.
    """

    def is_kept(item: ExtractedItem) -> bool:
        return item.in_schema or mode == "flexible"

    extraction, turned = put_right(extraction, schema)
    entities: list[tuple[ExtractedEntity, bool]] = []  # as the schema has each, and whether that renamed it
    for entity in extraction.entities:
        found = schema.entity(entity.type)
        name = found.name if found is not None else entity.type or None
        is_renamed = found is not None and name != entity.type
        entities.append((replace(entity, type=name, in_schema=found is not None), is_renamed))
    if mode == "flexible":
        entities += [(entity, False) for entity in _unlisted(extraction)]
    listed: Listed = {}
    for entity, _ in entities:
        if is_kept(entity):
            listed.setdefault(normalise_name(entity.name), entity)
    triples = [_judge_triple(triple, schema, listed, entities) for triple in extraction.triples]
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
        left_out=_called([item for item, _ in judged if not is_kept(item)], schema),
    )


def _called(items: Sequence[ExtractedItem], schema: Schema) -> dict[str, Counter[str]]:
    """What the schema leaves out, by what it is called, as people write that."""
    found: dict[str, Counter[str]] = {}
    for item in items:
        if isinstance(item, ExtractedEntity):
            kind, name, known = KINDS[0], item.type or "no type", False
        elif isinstance(item, ExtractedTriple):
            kind, name, known = KINDS[1], item.predicate, schema.relation(item.predicate) is not None
        else:
            kind, name, known = KINDS[2], item.key, schema.attribute(item.key) is not None
        called = tidy(name.replace("_", " ")) + (" (of other types)" if known else "")
        found.setdefault(kind, Counter())[called] += 1
    return found


def _judge_triple(
    triple: ExtractedTriple, schema: Schema, listed: Listed, entities: Sequence[tuple[ExtractedEntity, bool]]
) -> tuple[ExtractedTriple, bool]:
    """The triple as the schema has it, and whether that renamed it."""
    relation = schema.relation(triple.predicate)
    head, tail = listed.get(normalise_name(triple.subject)), listed.get(normalise_name(triple.object))
    if tail and triple.object_type not in (None, tail.type):  # another one of that name
        key = normalise_name(triple.object)
        others = (each for each, _ in entities if each.type == triple.object_type and normalise_name(each.name) == key)
        tail = next(others, tail)
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


_BY = re.compile(r"(.+?)[\s_]+by", re.IGNORECASE)
_PREPOSITION = re.compile(r"[\s_]+(?:in|on|at|since|from|of)\Z", re.IGNORECASE)
_VALUE = re.compile(r"[^\d]{0,20}\d[\w\s.,:/%°€$£+-]{0,30}")
"""A date, a number or an amount: few letters before a digit, and nothing long behind it."""
_DATE = re.compile(r"\b\d{4}\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b")


def put_right(extraction: Extraction, schema: Schema) -> tuple[Extraction, int]:
    """``extraction`` with what can be put right, and how many triples and attributes that changed."""
    listed: Listed = {}
    for entity in extraction.entities:
        if found := schema.entity(entity.type):
            listed.setdefault(normalise_name(entity.name), replace(entity, type=found.name))
    triples: list[ExtractedTriple] = []
    attributes = []
    for each in extraction.attributes:
        named = replace(each, entity=_full_name(each.entity, listed))
        owner = listed.get(normalise_name(named.entity))
        if owner is not None and schema.attribute(named.key) is None and _VALUE.fullmatch(named.value):
            key = _key(named.key, named.value, owner, schema)
            named = replace(named, key=key.name) if key else named
        attributes.append(named)
    turned = sum(one != other for one, other in zip(attributes, extraction.attributes, strict=True))
    for triple in extraction.triples:
        right = _triple(triple, schema, listed)
        if isinstance(right, ExtractedTriple):
            triples.append(right)
        else:
            attributes.append(right)
        turned += right != triple
    return replace(extraction, triples=tuple(triples), attributes=tuple(attributes)), turned


def _triple(triple: ExtractedTriple, schema: Schema, listed: Listed) -> ExtractedTriple | ExtractedAttribute:
    if triple.object_type is not None:  # of a row, which says what it means
        return triple
    triple = replace(triple, subject=_full_name(triple.subject, listed), object=_full_name(triple.object, listed))
    head, tail = listed.get(normalise_name(triple.subject)), listed.get(normalise_name(triple.object))
    relation = schema.relation(triple.predicate)
    if relation and head and tail and relation.joins(head.type, tail.type):
        return triple
    is_value = _VALUE.fullmatch(triple.object) or relation is None
    if head and is_value and (key := _key(triple.predicate, triple.object, head, schema)):
        return ExtractedAttribute(triple.subject, key.name, triple.object, triple.quote, sentence=triple.sentence)
    # The relation of the other direction: founded for "founded by", directed_by for "directed".
    active = _BY.fullmatch(triple.predicate.strip())
    turned = relation or schema.relation(active[1] if active else f"{triple.predicate} by")
    if turned and head and tail and turned.joins(tail.type, head.type):
        return replace(triple, subject=triple.object, predicate=turned.name, object=triple.subject)
    return triple


def _key(said: str, value: str, owner: ExtractedEntity, schema: Schema) -> AttributeType | None:
    """The attribute that is meant by what is ``said`` of its ``value``."""
    keys = [said, _PREPOSITION.sub("", said)]
    for key in [*keys, "date"] if _DATE.search(value) else keys:
        found = schema.attribute(key)
        if found and (not found.entities or owner.type in found.entities):
            return found
    return None


def _full_name(name: str, listed: Listed) -> str:
    """The one listed name that has all words of ``name``, and more, if ``name`` is not listed itself."""
    key = normalise_name(name)
    if key in listed or not key:
        return name
    longer = [entity.name for other, entity in listed.items() if set(key.split()) < set(other.split())]
    return longer[0] if len(longer) == 1 else name
