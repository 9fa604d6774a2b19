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

Faults = list[Malformed]


def read_extraction(content: Mapping[str, Any]) -> Extraction:
    """The extraction that ``content`` means; everything in it that means nothing is in ``malformed``."""
    faults: Faults = []
    entities = _entities(content, faults)
    return Extraction(
        entities=tuple(entities),
        triples=tuple(_triples(content.get("triples"), faults)),
        attributes=tuple(_attributes(content.get("attributes"), faults)),
        facts=tuple(_facts(content.get("facts"), [entity.name for entity in entities], faults)),
        proposals=tuple(_proposals(content, faults)),
        malformed=tuple(faults),
    )


def read_triple(item: object, faults: Faults) -> ExtractedTriple | None:
    """A triple from a list of three or from a mapping; None, and one more fault, if it is neither."""
    quote = None
    if isinstance(item, Mapping):
        members = [_get(item, _SUBJECT), _get(item, _PREDICATE), _get(item, _OBJECT)]
        quote = _text(_get(item, _QUOTE))
    elif isinstance(item, list | tuple):
        members = list(item)
    else:
        _fault(faults, "triple that is no list", item)
        return None
    if len(members) != 3:
        _fault(faults, f"triple with {len(members)} member{'' if len(members) == 1 else 's'}", item)
        return None
    subject, predicate, object_ = (_text(member) for member in members)
    if subject is None or predicate is None or object_ is None:
        _fault(faults, "triple with an empty member", item)
        return None
    return ExtractedTriple(subject, predicate, object_, quote)


def without_controls(text: str) -> str:
    """``text`` with a blank for each control character and lone surrogate, which neither the store nor JSON takes."""
    return _UNSENDABLE.sub(" ", text)


def _entities(content: Mapping[str, Any], faults: Faults) -> list[ExtractedEntity]:
    """Entities in order; the type that ``entity_types`` gives goes to those without one."""
    listed = [_entity(item, faults) for item in _named_items(content.get("entities"), "entities", faults)]
    typed = [_entity(item, faults) for item in _named_items(content.get("entity_types"), "entity_types", faults)]
    found = [entity for entity in listed if entity]
    types = {normalise_name(each.name): each for each in reversed([*found, *filter(None, typed)]) if each.type}
    entities: dict[tuple[str, str | None], ExtractedEntity] = {}
    for entity in [*found, *types.values()]:
        name = normalise_name(entity.name)
        if entity.type is None and name in types:
            entity = ExtractedEntity(entity.name, types[name].type, entity.quote)
        entities.setdefault((name, entity.type), entity)
    return list(entities.values())


def _named_items(value: object, where: str, faults: Faults) -> Iterator[object]:
    """The members of a list; those of a mapping from name to type, from name to keys, or from type to names."""
    if not isinstance(value, Mapping) or isinstance(value.get("name"), str):
        yield from _members(value, where, faults)
        return
    for key, inner in value.items():
        if isinstance(inner, list):
            yield from ({"type": key, **each} if isinstance(each, Mapping) else [each, key] for each in inner)
        else:
            yield {"name": key, **inner} if isinstance(inner, Mapping) else [key, inner]


def _entity(item: object, faults: Faults) -> ExtractedEntity | None:
    if isinstance(item, Mapping):
        parts = [_get(item, _NAME), _get(item, _TYPE), _get(item, _QUOTE)]
    elif isinstance(item, list | tuple) and 1 <= len(item) <= 3:
        parts = [*item, None, None]
    else:
        parts = [item, None, None]
    type_name = parts[1][0] if isinstance(parts[1], list) and parts[1] else parts[1]
    name = _text(parts[0])
    if name is None:
        _fault(faults, "entity without a name", item)
        return None
    return ExtractedEntity(name, _text(type_name), _text(parts[2]))


def _triples(value: object, faults: Faults) -> Iterator[ExtractedTriple]:
    for item in _members(value, "triples", faults):
        triple = read_triple(item, faults)
        if triple:
            yield triple


def _attributes(value: object, faults: Faults) -> Iterator[ExtractedAttribute]:
    for entity, key, inner, quote in _attribute_items(value, faults):
        for each in inner if isinstance(inner, list) else [inner]:
            name, key_name, text = _text(entity), _text(key), _text(each)
            if key is None and text and ":" in text:
                key_name, _, text = (part.strip() for part in text.partition(":"))
            if name and text:
                yield ExtractedAttribute(name, key_name or "description", text, quote)
            else:
                _fault(faults, "attribute without an entity or a value", [entity, key, each])


def _attribute_items(value: object, faults: Faults) -> Iterator[tuple[object, object, object, str | None]]:
    """``(entity, key, value or values, quote)``; the key is None where it stands in the value ("born: 1815")."""
    if isinstance(value, Mapping) and "entity" not in value:
        for entity, inner in value.items():
            yield from _attributes_of(entity, inner)
        return
    for item in _members(value, "attributes", faults):
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
            _fault(faults, "attribute of an unknown shape", item)


def _attributes_of(entity: object, inner: object) -> Iterator[tuple[object, object, object, str | None]]:
    """The attributes of one entity: a mapping from key to value, or texts "key: value", or mappings of one."""
    for each in inner if isinstance(inner, list) else [inner]:
        if isinstance(each, Mapping) and "value" in each:
            yield entity, _get(each, _KEY), each["value"], _text(_get(each, _QUOTE))
        elif isinstance(each, Mapping):
            yield from ((entity, key, value, None) for key, value in each.items())
        else:
            yield entity, None, each, None


def _facts(value: object, names: list[str], faults: Faults) -> Iterator[AtomicFact]:
    """Atomic facts; to one without key elements go the entities that it names."""
    for item in _members(value, "facts", faults):
        if isinstance(item, Mapping):
            text, elements, quote = _text(_get(item, _FACT)), _get(item, _ELEMENTS), _text(_get(item, _QUOTE))
        else:
            first, _, rest = item.partition("|") if isinstance(item, str) else ("", "", "")
            text, elements, quote = _text(_SERIAL.sub("", first)), rest, None
        if text is None:
            _fault(faults, "atomic fact without text", item)
            continue
        key_elements = _key_elements(elements) or [name for name in names if find_names(name, text)]
        if key_elements:
            yield AtomicFact(text, tuple(dict.fromkeys(key_elements)), quote)
        else:
            _fault(faults, "atomic fact without key elements", item)


def _key_elements(value: object) -> list[str]:
    if isinstance(value, str):
        value = value.strip("[] ").split("|" if "|" in value else ",")
    if not isinstance(value, list | tuple):
        return []
    return [element for element in map(_text, value) if element]


def _proposals(content: Mapping[str, Any], faults: Faults) -> Iterator[Proposal]:
    for source in (content.get("proposals"), content.get("new_schema_types")):
        for kind, item in _proposal_items(source, faults):
            name = _text(_get(item, ("name", "type_name", "type")) if isinstance(item, Mapping) else item)
            known_kind = _KINDS.get(str(kind).strip().lower().replace(" ", "_"))
            confidence = _confidence(item.get("confidence") if isinstance(item, Mapping) else None)
            if name is None or known_kind is None or confidence is None:
                _fault(faults, "proposal without a kind, a name or a confidence", item)
                continue
            example = _text(item.get("example")) if isinstance(item, Mapping) else None
            yield Proposal(known_kind, name, confidence, example or "")  # type: ignore[arg-type]  # from _KINDS


def _proposal_items(value: object, faults: Faults) -> Iterator[tuple[object, Any]]:
    if isinstance(value, Mapping) and "name" not in value:
        for kind, inner in value.items():
            yield from ((kind, each) for each in _members(inner, "proposals", faults))
        return
    for item in _members(value, "proposals", faults):
        yield (_get(item, ("kind", "category")) if isinstance(item, Mapping) else None), item


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


def _members(value: object, where: str, faults: Faults) -> list[Any]:
    """The members of a list, or the one thing that stands where a list should."""
    if value is None or value in ("", {}):
        return []
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, Mapping):
        inner = list(value.values())
        return inner if all(isinstance(each, list | Mapping) for each in inner) else [value]
    _fault(faults, f"{where} that are no list", value)
    return []


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
    return tidy(without_controls(str(value))) or None


def _fault(faults: Faults, kind: str, item: object) -> None:
    detail = json.dumps(item, ensure_ascii=False, default=str)
    faults.append(Malformed(kind, without_controls(detail)[:_DETAIL]))
