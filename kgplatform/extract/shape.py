"""What extractors send, read into an ``Extraction``: whatever wraps it, and in whose form it is.

    {"entities": [["Ada", "Person"]], "statements": [["Ada", "born_in", "London", "2"]]}      prompts/ingest/extract.md
    {"entities": [{"name", "type"}], "triples": [{"subject", "predicate", "object", "quote"}]}   ours before, recordings
    {"attributes": {"Ada": ["born: 1815"]}, "entity_types": {"Ada": "Person"}, "new_schema_types": …}   Youtu-GraphRAG
    {"nodes": [{"id", "label", "properties"}], "relationships": [{"type", "start_node_id", …}]}         neo4j-graphrag
    [["Ada", "born in", "London"]]                                                         open information extraction

What cannot be read is reported as ``Malformed``, and the rest is kept.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Any

from kgplatform.extract.grounded_names import sentence_of
from kgplatform.models.reply import value_of
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
from kgplatform.text.matching import find_names, find_words
from kgplatform.text.sentences import numbered, numbers_in

KEYS = ("entities", "triples", "attributes", "facts", "proposals", "entity_types", "new_schema_types")

_OTHER_KEYS = {
    "entities": "nodes named_entities extracted_entities",
    "triples": "relationships relations edges triplets extracted_triples",
    "attributes": "properties",
    "facts": "atomic_facts",
}
_KEYS = {type_key(each): key for key in (*KEYS, "statements") for each in (key, *_OTHER_KEYS.get(key, "").split())}
_DEEPEST = 6
_NAME = "name title entity id"
_TYPE = "type label entity_type"
_SUBJECT = "subject head source start_node_id"
_PREDICATE = "predicate relation type label"
_OBJECT = "object tail target end_node_id"
_QUOTE = "quote evidence"
_KINDS = {
    **dict.fromkeys(("entity", "entitytype", "node", "nodes"), "entity"),
    **dict.fromkeys(("relation", "relationtype", "relationship", "relations"), "relation"),
    **dict.fromkeys(("attribute", "attributetype", "property", "attributes"), "attribute"),
}
_UNSTATED_CONFIDENCE = 0.9
"""Of a proposal without a figure: the prompt asks for those above this only."""
_PLAIN = 4
"""Texts of a statement: subject, relation, object, and the number of its sentence."""
_WORDS_OF_A_FACT = 4
"""Fewer are a key element, whose place is behind the fact."""
_DETAIL = 160
_UNSENDABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def contents(raw: object, deep: int = _DEEPEST) -> dict[str, Any]:
    """What ``raw`` has under each of the keys that are read, whatever wraps it; empty if nothing of the kind is in it.

    >>> contents({"result": '{"Nodes": ["Ada"]}'})
    {'entities': ['Ada']}
    """
    raw = _opened(_opened(raw))  # a document that is a text in another one, too
    if isinstance(raw, Mapping):
        if known := {_KEYS[key]: value for each, value in raw.items() if (key := type_key(str(each))) in _KEYS}:
            return known
        parts = [*raw.values()]
    elif isinstance(raw, list):
        if raw and all(isinstance(each, list) for each in raw):
            return {"triples": raw}
        parts = raw
    else:
        return {}
    found: dict[str, Any] = {}
    for part in parts if deep else ():
        for key, value in contents(part, deep - 1).items():
            before = found.get(key)
            found[key] = [*before, *value] if isinstance(before, list) and isinstance(value, list) else value
    return found


def read_extraction(content: Mapping[str, Any], text: str = "") -> Extraction:
    """The extraction that ``content`` means; everything in it that means nothing is in ``malformed``. ``text``: the
    passage whose sentences it names by their numbers."""
    entities = _entities(content)
    ids = {str(id_): name for name, item in _nodes(content.get("entities")) if (id_ := _of(item, "id")) is not None}
    names = [each.name for each in entities if isinstance(each, ExtractedEntity)]
    statements = _statements(content.get("statements"), names, text)
    facts = [_fact(item, names, text) for item in _members(content.get("facts"), "facts")]
    read: list[Any] = [
        *entities,
        *(_triple(item, ids) for item in _members(content.get("triples"), "triples")),
        *_attributes(content.get("attributes")),
        *_properties(content.get("entities")),
        *statements,
        *(facts or _facts_of(statements, names, text)),
        *_proposals(content.get("proposals"), text),
        *_proposals(content.get("new_schema_types"), text),
    ]
    kinds = (ExtractedEntity, ExtractedTriple, ExtractedAttribute, AtomicFact, Proposal, Malformed)
    sorted_out: Any = [tuple(each for each in read if isinstance(each, kind)) for kind in kinds]
    return Extraction(*sorted_out)


def _numbered(item: object, text: str) -> tuple[int | None, list[str]]:
    """The number of the sentence of ``text`` that a list begins with, and its other texts; None where it has none, or
    one that no sentence has."""
    said = [_text(each) or "" for each in item] if isinstance(item, list) else []
    if not said or any(map(str.isalpha, said[0])):
        return None, said
    number = next((int(each.partition(".")[0]) for each in numbers_in(said[0])), 0)
    return number if 1 <= number <= len(numbered(text)) else None, said[1:]


def _words(number: int | None, text: str) -> str:
    """What the sentence of the number says."""
    if number is None:
        return ""
    place = numbered(text)[number - 1]
    return tidy(text[place.start : place.end])


# ------------------------------------------------------------------------------------------------------------ entities


def _entities(content: Mapping[str, Any]) -> list[ExtractedEntity | Malformed]:
    """Entities in order; the type that ``entity_types`` gives goes to those without one."""
    listed = [_entity(item) for item in _named(content.get("entities"), "entities")]
    every = [*listed, *(_entity(item) for item in _named(content.get("entity_types"), "entity types"))]
    typed = {
        normalise_name(each.name): each for each in reversed(every) if isinstance(each, ExtractedEntity) and each.type
    }
    found: dict[tuple[str, str | None], ExtractedEntity] = {}
    for each in [*listed, *typed.values()]:
        if isinstance(each, ExtractedEntity):
            key = normalise_name(each.name)
            type_ = each.type or (typed[key].type if key in typed else None)
            found.setdefault((key, type_), ExtractedEntity(each.name, type_, each.quote))
    return [*found.values(), *(each for each in every if isinstance(each, Malformed))]


def _named(value: object, where: str) -> Iterator[object]:
    """The members of a list; of a mapping from names to types, or from types to names, the pairs."""
    if not isinstance(value, Mapping) or _of(value, _NAME) is not None:
        yield from _members(value, where)
        return
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            yield {"name": key, **inner}
        else:
            yield from ([each, key] for each in inner) if isinstance(inner, list) else [[key, inner]]


def _entity(item: object) -> ExtractedEntity | Malformed:
    if isinstance(item, Malformed):
        return item
    if isinstance(item, Mapping):
        name = _text(_of(_opened(_of(item, "properties")), "name title")) or _text(_of(item, _NAME))
        type_, quote = _text(_of(item, _TYPE)), _text(_of(item, _QUOTE))
    else:
        name, type_, quote = (_text(each) for each in [*_listed(item), None, None, None][:3])
    return ExtractedEntity(name, type_, quote) if name else _malformed("entity without a name", item)


def _nodes(value: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Entities with keys of their own, each with its name."""
    for item in _named(value, "entities"):
        if isinstance(item, Mapping) and isinstance(entity := _entity(item), ExtractedEntity):
            yield entity.name, item


def _properties(value: object) -> Iterator[ExtractedAttribute]:
    """What nodes have beside their names."""
    for name, item in _nodes(value):
        properties = _opened(_of(item, "properties attributes"))
        for key, inner in properties.items() if isinstance(properties, Mapping) else ():
            if type_key(str(key)) not in ("name", "title") and (text := _text(inner)):
                yield ExtractedAttribute(name, tidy(str(key)), text)


# ---------------------------------------------------------------------------------------------------------- statements


def _statements(
    value: object, names: Sequence[str], text: str
) -> list[ExtractedTriple | ExtractedAttribute | Malformed]:
    """Each once, by the sentence that states it first: small models say the same of one sentence after the other."""
    found: dict[object, ExtractedTriple | ExtractedAttribute | Malformed] = {}
    for item in _members(value, "statements"):
        said = _statement(item, names, text)
        found.setdefault(astuple(said)[:3], said)
    return list(found.values())


def _statement(item: object, names: Sequence[str], text: str) -> ExtractedTriple | ExtractedAttribute | Malformed:
    """What joins two of the entities of these ``names`` is a triple, and what else one of them has an attribute."""
    ordered = item
    if isinstance(item, list) and len(item) == _PLAIN and (_text(item[1]) not in names or _text(item[0]) in names):
        # The number of its sentence may stand at either end.
        is_first = _numbered(item[:1], text)[0] and not _numbered(item[-1:], text)[0]
        ordered = item if is_first else [item[-1], *item[:-1]]
    number, members = _numbered(ordered, text)
    if len(members) != 3 or not all(members):
        return item if isinstance(item, Malformed) else _malformed("statement that is not of four texts", item)
    subject, said, object_ = members
    if normalise_name(subject) == normalise_name(object_):
        return _malformed("statement of a thing about itself", item)
    joins = normalise_name(object_) in map(normalise_name, names)
    kind = ExtractedTriple if joins else ExtractedAttribute
    return kind(subject, said, object_, sentence=sentence_of(number, members, text))


def _facts_of(statements: Sequence[object], names: Sequence[str], text: str) -> Iterator[AtomicFact]:
    """The sentences that state something, as atomic facts; their key elements are the words that it is stated with."""
    stated: dict[int, list[str]] = {}
    for each in statements:
        if isinstance(each, ExtractedTriple | ExtractedAttribute) and each.sentence:
            subject, said, object_ = astuple(each)[:3]
            stated.setdefault(each.sentence, []).extend((subject, said.replace("_", " "), object_))
    for number, words in sorted(stated.items()):
        sentence = _about(words[0], number, names, text)
        short = (each for each in words if each in names or len(each.split()) < _WORDS_OF_A_FACT)
        elements = [each for each in (*short, *names) if find_words(each, sentence)]
        if elements:
            yield AtomicFact(sentence, tuple(dict.fromkeys(elements)), sentence=number)


def _about(name: str, number: int | None, names: Sequence[str], text: str) -> str:
    """A sentence, and before it the entity that it is about, where it has a pronoun in its place."""
    said = _words(number, text)
    is_left_out = said and name in names and find_words(name, text) and not find_words(name, said)
    return f"{name}: {said}" if is_left_out else said


def _triple(item: object, ids: Mapping[str, str]) -> ExtractedTriple | Malformed:
    """A triple; ``ids`` of entities in it stand for their names."""
    if isinstance(item, Mapping):
        members = [_of(item, keys) for keys in (_SUBJECT, _PREDICATE, _OBJECT)]
    elif isinstance(item, list):
        members = item
    else:
        return item if isinstance(item, Malformed) else _malformed("triple that is not a list", item)
    if len(members) != 3:
        return _malformed(f"triple with {len(members)} member{'' if len(members) == 1 else 's'}", item)
    subject, predicate, object_ = map(_text, members)
    if not (subject and predicate and object_):
        return _malformed("triple with an empty member", item)
    return ExtractedTriple(ids.get(subject, subject), predicate, ids.get(object_, object_), _text(_of(item, _QUOTE)))


def _attributes(value: object) -> Iterator[ExtractedAttribute | Malformed]:
    """Attributes one by one, or by the entities that have them: ``["born: 1815"]``, or ``{"born": 1815}``."""
    if isinstance(value, Mapping) and _of(value, "value") is None:
        for entity, inner in value.items():
            pairs = inner.items() if isinstance(inner, Mapping) else map(_pair, _listed(inner))
            yield from (_attribute([entity, key, each], inner) for key, value in pairs for each in _listed(value))
        return
    for item in _members(value, "attributes"):
        keys = ("entity subject", "key attribute", "value object")
        yield _attribute([_of(item, each) for each in keys] if isinstance(item, Mapping) else item, item)


def _pair(said: object) -> tuple[str, object]:
    key, colon, value = str(said).partition(":")
    return (key, value) if colon else ("description", said)


def _attribute(members: object, item: object) -> ExtractedAttribute | Malformed:
    entity, key, value = map(_text, members) if isinstance(members, list) and len(members) == 3 else (None, None, None)
    if not (entity and value):
        return item if isinstance(item, Malformed) else _malformed("attribute without an entity or a value", item)
    return ExtractedAttribute(entity, key or "description", value, _text(_of(item, _QUOTE)))


def _fact(item: object, names: Sequence[str], text: str) -> AtomicFact | Malformed:
    """An atomic fact: a sentence of ``text``, or in words of its own. Where it stands by a number, or has no key
    elements, the entities that it names are some."""
    number = None
    if isinstance(item, list):
        number, elements = _numbered(item, text)
        said, elements = _words(number, text), [each for each in elements if each]
        if elements and len(elements[0].split()) >= _WORDS_OF_A_FACT and elements[0] not in f"{names} {said}":
            said = elements.pop(0)
        else:
            number = sentence_of(number, ["", *elements], text) if number or len(elements) > 1 else None
            said = _about(elements[0] if elements else "", number, names, text)
    else:
        said = _text(_of(item, "text fact")) or ""
        listed = _of(item, "key_elements")
        told = map(_text, listed.split("|") if isinstance(listed, str) else _listed(listed))
        elements = [each for each in told if each]
    if not said:
        return item if isinstance(item, Malformed) else _malformed("atomic fact without text", item)
    if number or not elements:
        elements += [name for name in names if find_names(name, said)]
    if not elements:
        return _malformed("atomic fact without key elements", item)
    return AtomicFact(said, tuple(dict.fromkeys(elements)), _text(_of(item, _QUOTE)), number)


# ----------------------------------------------------------------------------------------------------------- proposals


def _proposals(value: object, text: str) -> Iterator[Proposal | Malformed]:
    """What proposes a type, by itself or under the kind that it is of."""
    if isinstance(value, Mapping) and _of(value, "name") is None:
        yield from (_proposal(kind, each, text) for kind, inner in value.items() for each in _listed(inner))
        return
    for item in _members(value, "proposals"):
        yield _proposal(item[0], item[1:], text) if isinstance(item, list) and item else _proposal(None, item, text)


def _proposal(kind: object, item: Any, text: str) -> Proposal | Malformed:
    if isinstance(item, Malformed):
        return item
    if isinstance(item, list):
        name, score, number = [*item, None, None, None][:3]
        example = _words(_numbered([number], text)[0], text)
    else:
        name, score = (_of(item, "name"), _of(item, "confidence")) if isinstance(item, Mapping) else (item, None)
        kind, example = _of(item, "kind") or kind, _text(_of(item, "example")) or ""
    known, words, confidence = _KINDS.get(type_key(str(kind))), _text(name), _confidence(score)
    if not known or not words or confidence is None:
        return _malformed("proposal without a kind, a name or a confidence", item)
    return Proposal(known, words, confidence, example)  # type: ignore[arg-type]  # it is from _KINDS


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


# --------------------------------------------------------------------------------------------------------- any of them


def _of(item: object, keys: str) -> Any:
    """What an object has under the first of ``keys``, however it spells them; None where it has none."""
    if not isinstance(item, Mapping):
        return None
    known = {type_key(str(key)): value for key, value in reversed(list(item.items())) if value not in (None, "")}
    return next((known[key] for each in keys.split() if (key := type_key(each)) in known), None)


def _opened(value: object) -> object:
    """What stands in a text that is JSON."""
    return value_of(value) if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"') else value


def _listed(value: object) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _members(value: object, where: str) -> list[Any]:
    """The members of a list, or the one object that stands where a list should."""
    if value in (None, "", {}):
        return []
    if isinstance(value, list | Mapping):
        return _listed(value)
    return [_malformed(f"{where} that are not a list", value)]


def _text(value: object) -> str | None:
    """``value`` as one line of text, if it is a text, a number, or a mapping or list of one; else None."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping):
        value = _of(value, "name text value id")
    if isinstance(value, bool):
        value = str(value).lower()
    if not isinstance(value, str | int | float):
        return None
    return tidy(blank_controls(str(value))) or None


def blank_controls(text: str) -> str:
    """``text`` with a blank for each control character and lone surrogate, which neither the store nor JSON takes."""
    return _UNSENDABLE.sub(" ", text)


def _malformed(kind: str, item: object) -> Malformed:
    detail = json.dumps(item, ensure_ascii=False, default=str)
    return Malformed(kind, blank_controls(detail)[:_DETAIL])
