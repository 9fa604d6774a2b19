"""What extractors really send, read into an ``Extraction``.

The wanted form is in ``prompts/ingest/extract.md``. Read as well are the forms that models fall into, and those of
Youtu-GraphRAG (``attributes`` by entity, ``entity_types``, ``new_schema_types``) and of open information extraction
(triples as lists of three). What cannot be read is reported as ``Malformed``, and the rest is kept.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from kgplatform.places import find_names
from kgplatform.records import (
    AtomicFact,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    Malformed,
    Proposal,
)
from kgplatform.text import normalise_name, tidy

KEYS = ("entities", "triples", "attributes", "facts", "proposals", "entity_types", "new_schema_types")

_UNSTATED_CONFIDENCE = 0.9
"""Of a proposal without a figure: the prompt asks for those above this only."""

_UNSENDABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
_SERIAL = re.compile(r"^\s*\(?\d+[.,)]\s*")
_DETAIL = 160
_NAME = ("name", "entity", "entity_name", "text", "id")
_TYPE = ("type", "entity_type", "label", "category")
_QUOTE = ("quote", "evidence", "source_text", "span")
_SUBJECT = ("subject", "head", "source", "from")
_PREDICATE = ("predicate", "relation", "relationship", "relation_type", "type", "rel")
_OBJECT = ("object", "tail", "target", "to")
_KEY = ("key", "attribute", "property", "name", "type")
_FACT = ("text", "fact", "atomic_fact", "statement")
_ELEMENTS = ("key_elements", "elements", "keywords")
_KINDS = {
    **dict.fromkeys(("entity", "entities", "entity_type", "entity_types", "node", "nodes"), "entity"),
    **dict.fromkeys(("relation", "relations", "relation_type", "relationship", "relationships", "edge"), "relation"),
    **dict.fromkeys(("attribute", "attributes", "attribute_type", "property", "properties"), "attribute"),
}


def read_extraction(content: Mapping[str, Any]) -> Extraction:
    """The extraction that ``content`` means; everything in it that means nothing is in ``malformed``."""
    entities = _entities(content)
    names = [entity.name for entity in entities if isinstance(entity, ExtractedEntity)]
    read: dict[str, list[Any]] = {
        "entities": entities,
        "triples": [_triple(item) for item in _members(content.get("triples"), "triples")],
        "attributes": list(_attributes(content.get("attributes"))),
        "facts": [_fact(item, names) for item in _members(content.get("facts"), "facts")],
        "proposals": [
            _proposal(kind, item)
            for source in ("proposals", "new_schema_types")
            for kind, item in _proposal_items(content.get(source))
        ],
    }
    usable = {kind: tuple(item for item in items if not isinstance(item, Malformed)) for kind, items in read.items()}
    malformed = (item for items in read.values() for item in items if isinstance(item, Malformed))
    return Extraction(**usable, malformed=tuple(malformed))


def _triple(item: object) -> ExtractedTriple | Malformed:
    """A triple from a list of three or from a mapping."""
    quote = None
    if isinstance(item, Malformed):
        return item
    if isinstance(item, Mapping):
        members = [_get(item, _SUBJECT), _get(item, _PREDICATE), _get(item, _OBJECT)]
        quote = _text(_get(item, _QUOTE))
    elif isinstance(item, list | tuple):
        members = list(item)
    else:
        return _malformed("triple that is not a list", item)
    if len(members) != 3:
        return _malformed(f"triple with {len(members)} member{'' if len(members) == 1 else 's'}", item)
    subject, predicate, object_ = (_text(member) for member in members)
    if subject is None or predicate is None or object_ is None:
        return _malformed("triple with an empty member", item)
    return ExtractedTriple(subject, predicate, object_, quote)


def blank_controls(text: str) -> str:
    """``text`` with a blank for each control character and lone surrogate, which neither the store nor JSON takes."""
    return _UNSENDABLE.sub(" ", text)


def _entities(content: Mapping[str, Any]) -> list[ExtractedEntity | Malformed]:
    """Entities in order; the type that ``entity_types`` gives goes to those without one."""
    listed = [_entity(item) for item in _named_items(content.get("entities"), "entities")]
    typed = [_entity(item) for item in _named_items(content.get("entity_types"), "entity_types")]
    found = [entity for entity in listed if isinstance(entity, ExtractedEntity)]
    every = [entity for entity in listed + typed if isinstance(entity, ExtractedEntity)]
    types = {normalise_name(entity.name): entity for entity in reversed(every) if entity.type}
    entities: dict[tuple[str, str | None], ExtractedEntity] = {}
    for entity in [*found, *types.values()]:
        name = normalise_name(entity.name)
        if entity.type is None and name in types:
            entity = ExtractedEntity(entity.name, types[name].type, entity.quote)
        entities.setdefault((name, entity.type), entity)
    return [*entities.values(), *(each for each in listed + typed if isinstance(each, Malformed))]


def _named_items(value: object, where: str) -> Iterator[object]:
    """The members of a list; those of a mapping from name to type, from name to keys, or from type to names."""
    if not isinstance(value, Mapping) or isinstance(value.get("name"), str):
        yield from _members(value, where)
        return
    for key, inner in value.items():
        if isinstance(inner, list):
            yield from ({"type": key, **each} if isinstance(each, Mapping) else [each, key] for each in inner)
        else:
            yield {"name": key, **inner} if isinstance(inner, Mapping) else [key, inner]


def _entity(item: object) -> ExtractedEntity | Malformed:
    if isinstance(item, Malformed):
        return item
    if isinstance(item, Mapping):
        parts = [_get(item, _NAME), _get(item, _TYPE), _get(item, _QUOTE)]
    elif isinstance(item, list | tuple) and 1 <= len(item) <= 3:
        parts = [*item, None, None]
    else:
        parts = [item, None, None]
    type_name = parts[1][0] if isinstance(parts[1], list) and parts[1] else parts[1]
    name = _text(parts[0])
    if name is None:
        return _malformed("entity without a name", item)
    return ExtractedEntity(name, _text(type_name), _text(parts[2]))


def _attributes(value: object) -> Iterator[ExtractedAttribute | Malformed]:
    for found in _attribute_items(value):
        if isinstance(found, Malformed):
            yield found
            continue
        entity, key, inner, quote = found
        for single in inner if isinstance(inner, list) else [inner]:
            name, key_name, text = _text(entity), _text(key), _text(single)
            if key is None and text and ":" in text:
                key_name, _, text = (part.strip() for part in text.partition(":"))
            if name and text:
                yield ExtractedAttribute(name, key_name or "description", text, quote)
            else:
                yield _malformed("attribute without an entity or a value", [entity, key, single])


StatedAttribute = tuple[object, object, object, str | None]


def _attribute_items(value: object) -> Iterator[StatedAttribute | Malformed]:
    """``(entity, key, value or values, quote)``; the key is None where it stands in the value ("born: 1815")."""
    if isinstance(value, Mapping) and "entity" not in value:
        for entity, inner in value.items():
            yield from _attributes_of(entity, inner)
        return
    for item in _members(value, "attributes"):
        if isinstance(item, list | tuple) and len(item) == 3:
            yield item[0], item[1], item[2], None
        elif isinstance(item, Mapping) and "attributes" in item:
            yield from _attributes_of(_get(item, _NAME), item["attributes"])
        elif isinstance(item, Mapping) and "value" in item:
            entity = _get(item, ("entity", "subject", "entity_name"))
            yield entity, _get(item, _KEY), item["value"], _text(_get(item, _QUOTE))
        elif isinstance(item, Mapping) and not {"entity", "key"} & item.keys():
            for entity, inner in item.items():
                yield from _attributes_of(entity, inner)
        else:
            yield item if isinstance(item, Malformed) else _malformed("attribute of an unknown shape", item)


def _attributes_of(entity: object, inner: object) -> Iterator[StatedAttribute]:
    """The attributes of one entity: a mapping from key to value, or texts "key: value", or mappings of one."""
    for attribute in inner if isinstance(inner, list) else [inner]:
        if isinstance(attribute, Mapping) and "value" in attribute:
            yield entity, _get(attribute, _KEY), attribute["value"], _text(_get(attribute, _QUOTE))
        elif isinstance(attribute, Mapping):
            yield from ((entity, key, value, None) for key, value in attribute.items())
        else:
            yield entity, None, attribute, None


def _fact(item: object, names: list[str]) -> AtomicFact | Malformed:
    """An atomic fact; to one without key elements go the entities that it names."""
    if isinstance(item, Malformed):
        return item
    if isinstance(item, Mapping):
        text, elements, quote = _text(_get(item, _FACT)), _get(item, _ELEMENTS), _text(_get(item, _QUOTE))
    else:
        first, _, rest = item.partition("|") if isinstance(item, str) else ("", "", "")
        text, elements, quote = _text(_SERIAL.sub("", first)), rest, None
    if text is None:
        return _malformed("atomic fact without text", item)
    key_elements = _key_elements(elements) or [name for name in names if find_names(name, text)]
    if not key_elements:
        return _malformed("atomic fact without key elements", item)
    return AtomicFact(text, tuple(dict.fromkeys(key_elements)), quote)


def _key_elements(value: object) -> list[str]:
    if isinstance(value, str):
        value = value.strip("[] ").split("|" if "|" in value else ",")
    if not isinstance(value, list | tuple):
        return []
    return [element for element in map(_text, value) if element]


def _proposal_items(value: object) -> Iterator[tuple[object, Any]]:
    """What proposes a type, each with the kind that it is of."""
    if isinstance(value, Mapping) and "name" not in value:
        for kind, inner in value.items():
            yield from ((kind, member) for member in _members(inner, "proposals"))
        return
    for item in _members(value, "proposals"):
        yield (_get(item, ("kind", "category")) if isinstance(item, Mapping) else None), item


def _proposal(kind: object, item: Any) -> Proposal | Malformed:
    if isinstance(item, Malformed):
        return item
    keys = item if isinstance(item, Mapping) else {"name": item}
    name = _text(_get(keys, ("name", "type_name", "type")))
    known_kind = _KINDS.get(str(kind).strip().lower().replace(" ", "_"))
    confidence = _confidence(keys.get("confidence"))
    if name is None or known_kind is None or confidence is None:
        return _malformed("proposal without a kind, a name or a confidence", item)
    return Proposal(known_kind, name, confidence, _text(keys.get("example")) or "")  # type: ignore[arg-type]  # from _KINDS


def _confidence(value: object) -> float | None:
    """A share of one, from a number or a text such as "95 %"; None if it is neither."""
    if value is None:
        return _UNSTATED_CONFIDENCE
    try:
        number = float(value.strip(" %") if isinstance(value, str) else value)  # type: ignore[arg-type]  # see except
    except (TypeError, ValueError):
        return None
    share = number / 100 if 1 < number <= 100 else number
    return share if math.isfinite(share) and 0 <= share <= 1 else None


def _members(value: object, where: str) -> list[Any]:
    """The members of a list, or the one thing that stands where a list should."""
    if value is None or value in ("", {}):
        return []
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, Mapping):
        inner = list(value.values())
        return inner if all(isinstance(each, list | Mapping) for each in inner) else [value]
    return [_malformed(f"{where} that are not a list", value)]


def _get(item: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The value of the first of ``keys`` that ``item`` has."""
    return next((item[key] for key in keys if item.get(key) is not None), None)


def _text(value: object) -> str | None:
    """``value`` as one line of text, if it is a text, a number, or a mapping that has a name; else None."""
    if isinstance(value, Mapping):
        value = _get(value, ("name", "text", "value"))
    if isinstance(value, bool):
        value = str(value).lower()
    if not isinstance(value, str | int | float):
        return None
    return tidy(blank_controls(str(value))) or None


def _malformed(kind: str, item: object) -> Malformed:
    detail = json.dumps(item, ensure_ascii=False, default=str)
    return Malformed(kind, blank_controls(detail)[:_DETAIL])
