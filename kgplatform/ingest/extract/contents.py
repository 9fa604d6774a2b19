"""Which part of a model's reply is what: unwrapped, joined, and sorted under the keys that the prompt asks for.

    contents({"type": "json", "data": {"Nodes": ["Ada"]}})             # {"entities": ["Ada"]}
    contents([{"entities": ["Ada"]}, {"triples": [...]}])              # {"entities": ["Ada"], "triples": [...]}
    contents({"Person": ["Ada"], "founded": [["Ada", "Acme"]]})        # types and relations as keys
    contents([{"name": "Ada"}, {"head": "Ada", "relation": …}])        # bare items, told apart by their own keys

Nothing is judged here: whether an item means anything says ``shape``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kgplatform.ingest.extract.shape import (
    ELEMENTS,
    FACT,
    NAME,
    OBJECT,
    PREDICATE,
    SUBJECT,
    TYPE,
    first_of,
    is_sentence,
    plain_keys,
    triple_in_words,
)
from kgplatform.models.json_text import value_of
from kgplatform.text import type_key

_ENTITIES = (
    "entity nodes named_entities extracted_entities entity_list entidades entités entitäten entità 实体 エンティティ"
)
_TRIPLES = (
    "triple triplets tripel tripletas relation relations relationships edges links facts_triples extracted_triples "
    "relaciones beziehungen 三元组 关系 関係 отношения"
)
_FACTS = "fact atomic_facts atomicfacts atomic_fact statements fakten faits hechos 事实"
_ATTRIBUTES = "attribute properties attribut atributos attributs 属性 атрибуты"
_KEYS = {
    type_key(key): kind
    for kind, keys in {
        "entities": f"entities {_ENTITIES}",
        "triples": f"triples {_TRIPLES}",
        "facts": f"facts {_FACTS}",
        "attributes": f"attributes {_ATTRIBUTES}",
        "proposals": "proposals proposal new_types proposed_types",
        "entity_types": "entity_types",
        "new_schema_types": "new_schema_types",
    }.items()
    for key in keys.split()
}
_WRAPPERS = (
    "json data result results output outputs response answer reply items item list content arguments parameters input "
    "graph knowledgegraph kg extraction extracted value object schema"
)
_OF_TYPES = ("proposals", "new_schema_types", "entity_types")
_DEEPEST = 6

Part = tuple[str, Any]
"""A key that the prompt asks for, and items of it."""


def contents(raw: object) -> dict[str, Any]:
    """What ``raw`` has under each key that the prompt asks for; empty if there is nothing of the kind in it."""
    found: dict[str, list[Any]] = {}
    for key, items in _parts(raw, _DEEPEST):
        found.setdefault(key, []).append(items)
    return {key: parts[0] if len(parts) == 1 else _flat(parts) for key, parts in found.items()}


def _flat(parts: list[Any]) -> list[Any]:
    return [item for part in parts for item in (part if isinstance(part, list) else [part])]


def _parts(raw: object, deep: int) -> Iterator[Part]:
    raw = _opened(raw)
    if deep and isinstance(raw, list):
        pairs = all(isinstance(item, list) and len(item) == 2 for item in raw)
        for item in raw:
            key = ("entities" if pairs else "triples") if isinstance(item, list) and _is_flat(item) else _kind(item)
            yield from [(key, [item])] if key else _parts(item, deep - 1)
    elif deep and isinstance(raw, Mapping):
        yield from [(kind, [raw])] if (kind := _kind(raw)) else _of_mapping(raw, deep)


def _opened(value: object) -> object:
    """What stands in a text that is JSON, as in the arguments of a tool call."""
    return value_of(value) if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") else value


def _of_mapping(raw: Mapping[str, Any], deep: int) -> Iterator[Part]:
    is_asked_for = any(_known(key) for key in raw)
    for key, value in raw.items():
        known = _known(key)
        if known in _OF_TYPES or (known and not _is_content(value)):
            yield known, value
        elif _joins_under(value):
            yield "triples", [{key: value}]
        elif known or type_key(str(key)) in _WRAPPERS.split() or _is_content(value):
            yield from _parts(value, deep - 1)
        elif not is_asked_for and _names_under(value):
            yield "entities", [{key: value}]
        elif not is_asked_for:
            yield from _parts(value, deep - 1)


def _known(key: object) -> str | None:
    return _KEYS.get(type_key(str(key)))


def _is_content(value: object) -> bool:
    """Whether some of its keys are those that the prompt asks for, and no item's."""
    value = _opened(value)
    if not isinstance(value, Mapping):
        return False
    known = {_known(key) for key, inner in value.items() if isinstance(inner, list | Mapping)} - {None}
    return bool(known - {"attributes"} if first_of(value, NAME) is not None else known)


def _kind(item: object) -> str | None:
    """The key under which a bare item belongs; None for what is no item."""
    if isinstance(item, str):
        return "triples" if triple_in_words(item) else "facts" if is_sentence(item) else "entities"
    if not isinstance(item, Mapping) or _is_content(item) or any(map(_is_content, item.values())):
        return None
    keys = plain_keys(item).keys()
    if first_of(item, SUBJECT) is not None and first_of(item, OBJECT) is not None and _has(item, PREDICATE):
        return "triples"
    if keys >= {"kind", "name"} or keys >= {"name", "confidence"}:
        return "proposals"
    if "value" in keys and keys & {"entity", "subject", "key", "attribute", "property"}:
        return "attributes"
    if keys & {"fact", "atomicfact", "statement"} or (_has(item, FACT) and _has(item, ELEMENTS)):
        return "facts"
    is_named = isinstance(first_of(item, "name entity entity_name"), str) or (
        keys & {"id", "text"} and _has(item, TYPE)
    )
    return "entities" if is_named else None


def _has(item: Mapping[str, Any], keys: str) -> bool:
    return not plain_keys(item).keys().isdisjoint(map(type_key, keys.split()))


def _is_flat(items: list[Any]) -> bool:
    return bool(items) and all(not isinstance(each, list | Mapping) for each in items)


def _joins_under(value: object) -> bool:
    """Whether a relation may stand before ``value`` as its key: pairs of names, or mappings with both ends."""
    return isinstance(value, list) and bool(value) and all(map(_is_pair, value))


def _is_pair(item: object) -> bool:
    if isinstance(item, Mapping):
        return (
            first_of(item, SUBJECT) is not None
            and first_of(item, OBJECT) is not None
            and first_of(item, PREDICATE) is None
        )
    return isinstance(item, list) and len(item) == 2 and _is_flat(item)


def _names_under(value: object) -> bool:
    """Whether a type may stand before ``value`` as its key, or a name before its type."""
    if isinstance(value, Mapping):
        return first_of(value, TYPE) is not None
    members = value if isinstance(value, list) else []
    return bool(members) and all(_kind(member) == "entities" for member in members)
