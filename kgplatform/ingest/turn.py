"""What a schema would leave out, put right: a relation said backwards, a date for an object, a shorter name.

    (Acme, founded, Ada) and (Acme, founded by, Ada)     -> (Ada, founded, Acme)         where only that way is allowed
    (Ada, born_in, 1815), as a triple or an attribute    -> the attribute birth date of Ada
    (Lovelace, born_in, London)                          -> (Ada Lovelace, born_in, London)  where one listed name fits

What could be meant in two ways stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from kgplatform.ingest.schema import AttributeType, RelationType, Schema
from kgplatform.records import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction
from kgplatform.text import normalise_name

_BY = re.compile(r"(.+?)[\s_]+by", re.IGNORECASE)
_PREPOSITION = re.compile(r"[\s_]+(?:in|on|at|since|from|of)\Z", re.IGNORECASE)
_VALUE = re.compile(r"[^\d]{0,20}\d[\w\s.,:/%°€$£+-]{0,30}")
"""A date, a number or an amount: few letters before a digit, and nothing long behind it."""
_DATE = re.compile(r"\b\d{4}\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b")

Listed = Mapping[str, ExtractedEntity]
"""Entities of the schema's types by their normalised names."""


def put_right(extraction: Extraction, schema: Schema) -> tuple[Extraction, int]:
    """``extraction`` with what can be put right, and how many triples and attributes that changed."""
    listed: dict[str, ExtractedEntity] = {}
    for entity in extraction.entities:
        if found := schema.entity(entity.type):
            listed.setdefault(normalise_name(entity.name), replace(entity, type=found.name))
    triples: list[ExtractedTriple] = []
    attributes = [_attribute(each, schema, listed) for each in extraction.attributes]
    turned = sum(one != other for one, other in zip(attributes, extraction.attributes, strict=True))
    for triple in extraction.triples:
        right = _triple(triple, schema, listed)
        if isinstance(right, ExtractedTriple):
            triples.append(right)
        else:
            attributes.append(right)
        turned += right != triple
    return replace(extraction, triples=tuple(triples), attributes=tuple(attributes)), turned


def _attribute(attribute: ExtractedAttribute, schema: Schema, listed: Listed) -> ExtractedAttribute:
    named = replace(attribute, entity=_full_name(attribute.entity, listed))
    owner = listed.get(normalise_name(named.entity))
    is_known = owner is None or schema.attribute(named.key) is not None or not _VALUE.fullmatch(named.value)
    key = None if is_known or owner is None else _key(named.key, named.value, owner, schema)
    return replace(named, key=key.name) if key else named


def _triple(triple: ExtractedTriple, schema: Schema, listed: Listed) -> ExtractedTriple | ExtractedAttribute:
    triple = replace(triple, subject=_full_name(triple.subject, listed), object=_full_name(triple.object, listed))
    head, tail = listed.get(normalise_name(triple.subject)), listed.get(normalise_name(triple.object))
    relation = schema.relation(triple.predicate)
    if relation and head and tail and relation.joins(head.type, tail.type):
        return triple
    is_value = _VALUE.fullmatch(triple.object) or relation is None
    if head and is_value and (key := _key(triple.predicate, triple.object, head, schema)):
        return ExtractedAttribute(triple.subject, key.name, triple.object, triple.quote, sentence=triple.sentence)
    turned = relation or _passive(triple.predicate, schema)
    if turned and head and tail and turned.joins(tail.type, head.type):
        return replace(triple, subject=triple.object, predicate=turned.name, object=triple.subject)
    return triple


def _passive(predicate: str, schema: Schema) -> RelationType | None:
    """The relation of the other direction: founded for "founded by", directed_by for "directed"."""
    active = _BY.fullmatch(predicate.strip())
    return schema.relation(active[1]) if active else schema.relation(f"{predicate} by")


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
