"""What extractors really send, read into an ``Extraction``.

The wanted form is in ``prompts/ingest/extract.md``. Read as well are the forms that models fall into, and those of
Youtu-GraphRAG (``attributes`` by entity, ``entity_types``, ``new_schema_types``) and of open information extraction
(triples as lists of three). What cannot be read is reported as ``Malformed``, and the rest is kept.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
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
from kgplatform.text import normalise_name, tidy, type_key

KEYS = ("entities", "triples", "attributes", "facts", "proposals", "entity_types", "new_schema_types")

_UNSTATED_CONFIDENCE = 0.9
"""Of a proposal without a figure: the prompt asks for those above this only."""

_UNSENDABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_SERIAL = re.compile(r"^\s*\(?\d+[.,)]\s*")
# Bars, the brackets of Cypher, arrows, semicolons, commas: each parts a triple if it makes three of the text.
_ARROW = r"\s*--\s*(?!>)|\s*(?:-{1,2}|=)>\s*|\s*→\s*"
_SIGNS = tuple(map(re.compile, (r"\||\t|｜", r"\)?\s*-\[:?|\]->\s*\(?", _ARROW, "[;；]", "[,，、]")))
_DETAIL = 160
NAME = "name entity entity_name text id title label"
_NAMED = "name entity entity_name"
TYPE = "type entity_type label category class"
_NO_TYPES = ("entity", "node")
QUOTE = "quote evidence source_text span"
SUBJECT = "subject head source from subj entity1 head_entity start source_entity"
PREDICATE = "predicate relation relationship relation_type rel edge verb type label name"
_NO_PREDICATES = ("relation", "relationship", "triple", "edge")
OBJECT = "object tail target to obj entity2 tail_entity end target_entity"
_OWNER = "entity subject entity_name entity_id"
_VALUE = "value values object attribute_value"
_KEY = "key attribute property name type"
FACT = "text fact atomic_fact statement sentence"
ELEMENTS = "key_elements elements keywords keyelements entities"
_KINDS = {
    **dict.fromkeys(("entity", "entities", "entity_type", "entity_types", "node", "nodes"), "entity"),
    **dict.fromkeys(("relation", "relations", "relation_type", "relationship", "relationships", "edge"), "relation"),
    **dict.fromkeys(("attribute", "attributes", "attribute_type", "property", "properties"), "attribute"),
}


_key = lru_cache(maxsize=4096)(type_key)
"""The same few keys come again in every reply."""


def plain_keys(value: Any) -> dict[str, Any]:
    """An object with its keys as ``type_key`` has them; of anything else, nothing."""
    return {_key(str(key)): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def first_of(value: Any, keys: str) -> Any:
    """What an object has under the first of ``keys``, however they are spelt; None where it has none."""
    known = plain_keys(value)
    return next((known[key] for each in keys.split() if known.get(key := _key(each)) is not None), None)


def read_extraction(content: Mapping[str, Any]) -> Extraction:
    """The extraction that ``content`` means; everything in it that means nothing is in ``malformed``."""
    entities = _entities(content)
    names = [entity.name for entity in entities if isinstance(entity, ExtractedEntity)]
    read: dict[str, list[Any]] = {
        "entities": entities,
        "triples": list(_triples(content.get("triples"), _names_by_id(content.get("entities")))),
        "attributes": [
            *_attributes(content.get("attributes")),
            *_attributes(_of_entities(content.get("entities"))),
        ],
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


def _triples(value: object, names: Mapping[str, str]) -> Iterator[ExtractedTriple | Malformed]:
    """Each triple; one with a list for its object is several. ``names`` stand for the ids that triples may join."""
    for item in _triple_items(value):
        if isinstance(item, Malformed):
            yield item
            continue
        if isinstance(item, Mapping):
            members = [first_of(item, SUBJECT), _first_telling(item, PREDICATE, _NO_PREDICATES), first_of(item, OBJECT)]
        else:
            members = list(item)
        objects = members[2] if len(members) == 3 and isinstance(members[2], list) else members[2:3]
        if not objects or len(members) != 3:
            yield _triple(members, item, names)
        yield from (_triple([*members[:2], object_], item, names) for object_ in objects if len(members) == 3)


def _triple(members: Sequence[object], item: object, names: Mapping[str, str]) -> ExtractedTriple | Malformed:
    if len(members) != 3:
        return _malformed(f"triple with {len(members)} member{'' if len(members) == 1 else 's'}", item)
    subject, predicate, object_ = (_text(member) for member in members)
    if subject is None or predicate is None or object_ is None:
        return _malformed("triple with an empty member", item)
    quote = _text(first_of(item, QUOTE))
    return ExtractedTriple(names.get(subject, subject), predicate, names.get(object_, object_), quote)


def _triple_items(value: object) -> Iterator[Any]:
    """Lists and mappings that should be triples, those under their relation's or their subject's name among them."""
    if isinstance(value, Mapping) and first_of(value, f"{SUBJECT} {OBJECT}") is None:
        value = [{key: inner} for key, inner in value.items()]
    for item in _members(value, "triples"):
        if isinstance(item, str) and (members := triple_in_words(item)):
            yield members
        elif isinstance(item, list | tuple | Malformed):
            yield item
        elif not isinstance(item, Mapping):
            yield _malformed("triple that is not a list", item)
        elif first_of(item, SUBJECT) is not None or first_of(item, OBJECT) is not None or len(item) != 1:
            yield item
        else:
            yield from _under_name(*next(iter(item.items())))


def _under_name(name: object, inner: object) -> Iterator[Any]:
    """Of ``{"founded": [["Ada", "Acme"]]}`` and ``{"Ada": {"founded": "Acme"}}`` the triples; else what is there."""
    if isinstance(inner, Mapping) and first_of(inner, SUBJECT) is None:
        yield from ([name, predicate, object_] for predicate, object_ in inner.items())
        return
    for pair in inner if isinstance(inner, list) and isinstance(next(iter(inner), None), list | Mapping) else [inner]:
        if isinstance(pair, Mapping):
            yield pair if first_of(pair, PREDICATE) is not None else {"predicate": name, **pair}
        elif isinstance(pair, list) and len(pair) == 2:
            yield [pair[0], name, pair[1]]
        else:
            yield pair if isinstance(pair, list) else _malformed("triple that is not a list", {name: pair})


def _first_telling(item: Mapping[str, Any], keys: str, telling_nothing: tuple[str, ...]) -> Any:
    """The value of the first of ``keys`` that says more than what kind of item this is ("type": "relationship")."""
    values = (first_of(item, key) for key in keys.split())
    return next((v for v in values if v is not None and str(v).strip().lower() not in telling_nothing), None)


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


def _names_by_id(value: object) -> dict[str, str]:
    """The names of entities that have an id beside their name, for triples that join ids."""
    items = value if isinstance(value, list) else []
    named = ((first_of(item, "id entity_id"), first_of(item, _NAMED)) for item in items)
    return {str(id_): str(name) for id_, name in named if id_ is not None and name is not None}


def _of_entities(value: object) -> list[object]:
    """The attributes that entities have with them, as ``_attributes`` takes them."""
    items = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
    return [
        {"name": first_of(item, NAME), "attributes": inner}
        for item in items
        if (inner := first_of(item, "attributes properties"))
    ]


def _named_items(value: object, where: str) -> Iterator[object]:
    """The members of a list; those of a mapping from name to type, from name to keys, or from type to names."""
    if not isinstance(value, Mapping) or first_of(value, NAME) is not None:
        for item in _members(value, where):
            yield from _named_items(item, where) if _is_by_name(item) else [item]
        return
    for key, inner in value.items():
        if isinstance(inner, list):
            yield from ({"type": key, **each} if isinstance(each, Mapping) else [each, key] for each in inner)
        else:
            yield {"name": key, **inner} if isinstance(inner, Mapping) else [key, inner]


def _is_by_name(item: object) -> bool:
    """Whether it is ``{"Ada": "Person"}`` or the like: a mapping of other keys than an entity has."""
    if not isinstance(item, Mapping) or "" in item.values():
        return False
    return bool(item) and first_of(item, f"{NAME} {TYPE} {QUOTE}") is None


def _entity(item: object) -> ExtractedEntity | Malformed:
    if isinstance(item, Malformed):
        return item
    if isinstance(item, Mapping):
        parts = [first_of(item, NAME), _first_telling(item, TYPE, _NO_TYPES), first_of(item, QUOTE)]
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
    if isinstance(value, Mapping) and first_of(value, _OWNER) is None:
        for entity, inner in value.items():
            yield from _attributes_of(entity, inner)
        return
    for item in _members(value, "attributes"):
        members = triple_in_words(item) if isinstance(item, str) else item
        if isinstance(members, list | tuple) and len(members) == 3:
            yield members[0], members[1], members[2], None
        elif (inner := first_of(item, "attributes")) is not None:
            yield from _attributes_of(first_of(item, NAME), inner)
        elif (stated := first_of(item, _VALUE)) is not None and (owner := first_of(item, _OWNER)) is not None:
            yield owner, first_of(item, _KEY), stated, _text(first_of(item, QUOTE))
        elif isinstance(item, Mapping) and first_of(item, f"{_OWNER} key") is None:
            for entity, inner in item.items():
                yield from _attributes_of(entity, inner)
        else:
            yield item if isinstance(item, Malformed) else _malformed("attribute of an unknown shape", item)


def _attributes_of(entity: object, inner: object) -> Iterator[StatedAttribute]:
    """The attributes of one entity: a mapping from key to value, or texts "key: value", or mappings of one."""
    for attribute in inner if isinstance(inner, list) else [inner]:
        if (stated := first_of(attribute, "value")) is not None:
            yield entity, first_of(attribute, _KEY), stated, _text(first_of(attribute, QUOTE))
        elif isinstance(attribute, Mapping):
            yield from ((entity, key, value, None) for key, value in attribute.items())
        else:
            yield entity, None, attribute, None


def _fact(item: object, names: list[str]) -> AtomicFact | Malformed:
    """An atomic fact; to one without key elements go the entities that it names."""
    if isinstance(item, Malformed):
        return item
    if isinstance(item, Mapping) and len(item) == 1 and first_of(item, FACT) is None:
        item = {"text": next(iter(item)), "key_elements": next(iter(item.values()))}
    if isinstance(item, Mapping):
        text, elements, quote = _text(first_of(item, FACT)), first_of(item, ELEMENTS), _text(first_of(item, QUOTE))
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
    if isinstance(value, Mapping) and first_of(value, "name type_name kind") is None:
        for kind, inner in value.items():
            yield from ((kind, member) for member in _members(inner, "proposals"))
        return
    for item in _members(value, "proposals"):
        if isinstance(item, Mapping) and first_of(item, "name type_name kind") is None:
            yield from _proposal_items(item)
        else:
            yield first_of(item, "kind category"), item


def _proposal(kind: object, item: Any) -> Proposal | Malformed:
    if isinstance(item, Malformed):
        return item
    keys = item if isinstance(item, Mapping) else {"name": item}
    name = _text(first_of(keys, "name type_name type"))
    known_kind = _KINDS.get(str(kind).strip().lower().replace(" ", "_"))
    confidence = _confidence(first_of(keys, "confidence score"))
    if name is None or known_kind is None or confidence is None:
        return _malformed("proposal without a kind, a name or a confidence", item)
    return Proposal(known_kind, name, confidence, _text(first_of(keys, "example")) or "")  # type: ignore[arg-type]  # from _KINDS


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
        is_numbered = all(str(key).strip("#. ").isdigit() for key in value)
        return inner if is_numbered or all(isinstance(each, list | Mapping) for each in inner) else [value]
    if isinstance(value, str) and "\n" in value:
        return [line for line in map(str.strip, value.splitlines()) if line]
    return [_malformed(f"{where} that are not a list", value)]


def is_sentence(text: str) -> bool:
    """Whether ``text`` says something, and names nothing."""
    return len(text.split()) > 4 and text.rstrip(" \"'”)").endswith((".", "!", "?")) or text.rstrip().endswith("。")


def triple_in_words(text: str) -> list[str] | None:
    """The members of a triple in one text: "(Ada, born in, London)", "Ada | born in | London", "Ada -> wrote -> it"."""
    inner = _SERIAL.sub("", text).strip().strip("-*• ").strip("()[]<>（）【】").strip()
    for sign in _SIGNS:
        parts = [part.strip(" \"'<>") for part in sign.split(inner)]
        if len(parts) == 3 and all(parts) and not is_sentence(inner):
            return parts
    return None


def _text(value: object) -> str | None:
    """``value`` as one line of text, if it is a text, a number, or a mapping or list that has one; else None."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping):
        value = first_of(value, "name text value id")
    if isinstance(value, bool):
        value = str(value).lower()
    if not isinstance(value, str | int | float):
        return None
    return tidy(blank_controls(str(value))) or None


def _malformed(kind: str, item: object) -> Malformed:
    detail = json.dumps(item, ensure_ascii=False, default=str)
    return Malformed(kind, blank_controls(detail)[:_DETAIL])
