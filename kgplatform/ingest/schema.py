"""The schema: which entity types, relation types and attribute types bound the extraction (Youtu-GraphRAG, eq. 1).

    schema = load_schema("general")
    schema.entity("person")           # EntityType(name='Person', ...)
    schema.relationship_of("directedBy")   # 'DIRECTED_BY'

A file is YAML or JSON. Types are a list of names, or a mapping from a name to its description or to its keys:

    name: films
    entities:
      Person: a human being
      Film: {description: a film or series, aliases: [Movie]}
    relations:
      directed_by: {description: who directed it, heads: [Film], tails: [Person]}
    attributes:
      release date: {entities: [Film]}

The ``GraphSchema`` JSON of the official neo4j-graphrag package and Youtu-GraphRAG's lists of names are read too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

from kgplatform.errors import SchemaError
from kgplatform.ingest.schema_file import read_schema_file
from kgplatform.ingest.type_names import (
    RELATED_TO,
    fault_of_name,
    label_for,
    match_key,
    relationship_for,
    reserved_label,
    reserved_relationship,
)
from kgplatform.query import data_folder

Kind = Literal["entity", "relation", "attribute"]


@dataclass(frozen=True, slots=True)
class EntityType:
    """A kind of thing. ``aliases`` are other names that extractors give it."""

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationType:
    """A kind of relation. Without ``heads`` any entity type may be the subject, without ``tails`` the object.

    ``pairs``, if there are any, say which head goes with which tail.
    """

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()

    def joins(self, head: str | None, tail: str | None) -> bool:
        """Whether it may join entities of these types. A type of None is unknown and contradicts nothing."""
        if self.pairs:
            return any(head in (None, first) and tail in (None, second) for first, second in self.pairs)
        return (not self.heads or head in (None, *self.heads)) and (not self.tails or tail in (None, *self.tails))


@dataclass(frozen=True, slots=True)
class AttributeType:
    """A kind of attribute. Without ``entities`` every entity type may have it."""

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expansion:
    """A type that was added to the schema: how sure its best proposal was, and what it gave as an example.

    ``count`` is the number of documents that proposed it, ``passage`` the id of the passage with the best proposal.
    """

    kind: Kind
    name: str
    confidence: float
    example: str
    count: int
    passage: str


AnyType = TypeVar("AnyType", EntityType, RelationType, AttributeType)


@dataclass(frozen=True)
class Schema:
    """Types that bound the extraction. Building one checks it and raises ``SchemaError``.

    Lookups ignore case, spaces, ``_``, ``-`` and camelCase, and know the aliases.
    """

    name: str
    entities: tuple[EntityType, ...] = ()
    relations: tuple[RelationType, ...] = ()
    attributes: tuple[AttributeType, ...] = ()

    def __post_init__(self) -> None:
        relations = [self._with_ends(relation) for relation in self.relations]
        attributes = [self._with_owners(attribute) for attribute in self.attributes]
        object.__setattr__(self, "relations", tuple(relations))
        object.__setattr__(self, "attributes", tuple(attributes))
        self._indexes()

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Schema:
        """The schema that ``to_dict`` wrote, or a file's content in our form."""
        _check_keys(content, ("name", "description", "entities", "relations", "attributes"), "the schema")
        name = content.get("name")
        return cls(
            name=name if isinstance(name, str) and name else "schema",
            entities=tuple(_types(content.get("entities"), "entity", _entity_type)),
            relations=tuple(_types(content.get("relations"), "relation", _relation_type)),
            attributes=tuple(_types(content.get("attributes"), "attribute", _attribute_type)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and texts, fit for JSON; ``Schema.from_dict`` reads it back to an equal schema."""
        content = asdict(self)
        for kind in ("entities", "relations", "attributes"):
            content[kind] = [{key: _plain(value) for key, value in each.items() if value} for each in content[kind]]
        return content

    def entity(self, name: str | None) -> EntityType | None:
        """The entity type that ``name`` means."""
        return self._entity_index.get(match_key(name)) if name else None

    def relation(self, name: str) -> RelationType | None:
        """The relation type that ``name`` means."""
        return self._relation_index.get(match_key(name))

    def attribute(self, name: str) -> AttributeType | None:
        """The attribute type that ``name`` means."""
        return self._attribute_index.get(match_key(name))

    def label_of(self, type_name: str | None) -> str | None:
        """The Neo4j label of an entity type; None for one that the schema does not have."""
        found = self.entity(type_name)
        return label_for(found.name) if found else None

    def relationship_of(self, predicate: str) -> str:
        """The Neo4j relationship type of a predicate; ``RELATED_TO`` for one that the schema does not have."""
        found = self.relation(predicate)
        return relationship_for(found.name) if found else RELATED_TO

    def with_expansions(self, expansions: Iterable[Expansion]) -> Schema:
        """This schema with the added types at its end; those that it has already are left out.

        Only names are taken over: an example is a document's text, and the schema goes into every later prompt.
        """
        entities, relations, attributes = list(self.entities), list(self.relations), list(self.attributes)
        known = {kind: set(index) for kind, index in self._indexes().items()}
        for expansion in expansions:
            key = match_key(expansion.name)
            if key in known[expansion.kind]:
                continue
            known[expansion.kind].add(key)
            if expansion.kind == "entity":
                entities.append(EntityType(expansion.name))
            elif expansion.kind == "relation":
                relations.append(RelationType(expansion.name))
            else:
                attributes.append(AttributeType(expansion.name))
        return replace(self, entities=tuple(entities), relations=tuple(relations), attributes=tuple(attributes))

    def lacks(self, kind: Kind, name: str) -> bool:
        """Whether ``name`` could be added as a ``kind``: it can name a type, is not ours, and is not there yet."""
        if fault_of_name(name) or match_key(name) in self._indexes()[kind]:
            return False
        reserved = {"entity": reserved_label, "relation": reserved_relationship}.get(kind)
        return reserved is None or reserved(name) is None

    def prompt_text(self) -> str:
        """The schema in few words, for a prompt: one line a type."""
        parts = [
            _section("Entity types", [_line(each.name, "", each.description) for each in self.entities]),
            _section("Relation types (subject -> object)", [_relation_line(each) for each in self.relations]),
            _section(
                "Attribute keys",
                [_line(each.name, ", ".join(each.entities), each.description) for each in self.attributes],
            ),
        ]
        return "\n".join(part for part in parts if part)

    @cached_property
    def _entity_index(self) -> dict[str, EntityType]:
        return _index(self.entities, "entity type", reserved_label)

    @cached_property
    def _relation_index(self) -> dict[str, RelationType]:
        return _index(self.relations, "relation type", reserved_relationship)

    @cached_property
    def _attribute_index(self) -> dict[str, AttributeType]:
        return _index(self.attributes, "attribute type", lambda name: None)

    def _indexes(self) -> dict[Kind, Mapping[str, object]]:
        return {"entity": self._entity_index, "relation": self._relation_index, "attribute": self._attribute_index}

    def _with_ends(self, relation: RelationType) -> RelationType:
        """``relation`` with its heads and tails under the names that the schema gives them."""
        where = f"The relation type {relation.name!r}"
        pairs = tuple((self._known(a, where, "head"), self._known(b, where, "tail")) for a, b in relation.pairs)
        heads = [first for first, _ in pairs] if pairs else [self._known(a, where, "head") for a in relation.heads]
        tails = [second for _, second in pairs] if pairs else [self._known(b, where, "tail") for b in relation.tails]
        return replace(relation, pairs=pairs, heads=tuple(dict.fromkeys(heads)), tails=tuple(dict.fromkeys(tails)))

    def _with_owners(self, attribute: AttributeType) -> AttributeType:
        where = f"The attribute type {attribute.name!r}"
        owners = [self._known(owner, where, "entity type") for owner in attribute.entities]
        return replace(attribute, entities=tuple(dict.fromkeys(owners)))

    def _known(self, name: str, where: str, role: str) -> str:
        found = self.entity(name)
        if found is None:
            hint = _nearest(name, [each.name for each in self.entities])
            raise SchemaError(f"{where} names the {role} {name!r}, which is no entity type of the schema{hint}.")
        return found.name


def load_schema(name_or_path: str | Path) -> Schema:
    """A shipped schema by its name (``"general"``), or one from a YAML or JSON file.

    Raises ``SchemaError`` with the file's name, and the line where the file cannot be read at all.
    """
    path = _file_of(name_or_path)
    content = read_schema_file(path)
    try:
        schema = Schema.from_dict({"name": path.stem, **content})
        if not schema.entities:
            raise SchemaError("It has no entity types. List at least one under `entities:`.")
    except SchemaError as error:
        raise SchemaError(f"The schema {path} cannot be used. {error}") from error
    return schema


def shipped_schemas() -> list[str]:
    """The names of the schemas that come with the platform, for ``load_schema``."""
    folder = data_folder("schemas")
    return sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))


def _file_of(name_or_path: str | Path) -> Path:
    shipped = shipped_schemas()
    if str(name_or_path) in shipped:
        return Path(str(data_folder("schemas") / f"{name_or_path}.yaml"))
    path = Path(name_or_path).expanduser()
    if not path.exists():
        hint = _nearest(str(name_or_path), shipped)
        raise SchemaError(
            f"There is no schema {str(name_or_path)!r}{hint}. Give a YAML or JSON file, or one of {', '.join(shipped)}."
        )
    return path


def _index(types: Sequence[AnyType], kind: str, reserved: Callable[[str], str | None]) -> dict[str, AnyType]:
    """Types by the match keys of their names and aliases, checked."""
    index: dict[str, AnyType] = {}
    named = [(one, one.name) for one in types] + [(one, alias) for one in types for alias in one.aliases]
    for each, name in named:
        fault = fault_of_name(name)
        if fault:
            raise SchemaError(f"The {kind} {name!r} cannot be a name in Neo4j: it {fault}.")
        if name == each.name and (taken := reserved(name)):
            raise SchemaError(f"The {kind} {name!r} takes the platform's own name {taken}. Give it another name.")
        other = index.setdefault(match_key(name), each)
        if other is not each:
            raise SchemaError(f"Two {kind}s answer to the name {name!r}: {other.name!r} and {each.name!r}.")
    return index


def _types(content: object, kind: Kind, read: Callable[[str, Mapping[str, Any]], AnyType]) -> Iterable[AnyType]:
    """Each type of a list of names or mappings, or of a mapping from names to descriptions or mappings."""
    if isinstance(content, Mapping):
        pairs: list[tuple[object, object]] = list(content.items())
    elif isinstance(content, list):
        pairs = [(each.get("name"), each) if isinstance(each, Mapping) else (each, None) for each in content]
    elif content is None or content == "":
        pairs = []
    else:
        raise SchemaError(f"What stands for the {kind} types must be a list or a mapping, not {content!r}.")
    for name, keys in pairs:
        if not isinstance(name, str) or not name.strip():
            raise SchemaError(f"One of the {kind} types has no name: {name if keys is None else keys!r}.")
        if isinstance(keys, Mapping):
            yield read(name.strip(), keys)
        elif keys is None or isinstance(keys, str):
            yield read(name.strip(), {"description": keys})
        else:
            raise SchemaError(f"The {kind} type {name!r} needs a description or a mapping, not {keys!r}.")


def _entity_type(name: str, keys: Mapping[str, Any]) -> EntityType:
    where = f"the entity type {name!r}"
    _check_keys(keys, ("name", "description", "aliases"), where)
    return EntityType(name, _text(keys, "description", where), _texts(keys, "aliases", where))


def _relation_type(name: str, keys: Mapping[str, Any]) -> RelationType:
    where = f"the relation type {name!r}"
    _check_keys(keys, ("name", "description", "aliases", "heads", "tails", "pairs"), where)
    return RelationType(
        name,
        _text(keys, "description", where),
        _texts(keys, "aliases", where),
        _texts(keys, "heads", where),
        _texts(keys, "tails", where),
        tuple(_pair(each, where) for each in keys.get("pairs") or ()),
    )


def _attribute_type(name: str, keys: Mapping[str, Any]) -> AttributeType:
    where = f"the attribute type {name!r}"
    _check_keys(keys, ("name", "description", "aliases", "entities"), where)
    return AttributeType(
        name, _text(keys, "description", where), _texts(keys, "aliases", where), _texts(keys, "entities", where)
    )


def _check_keys(content: Mapping[str, Any], allowed: Sequence[str], where: str) -> None:
    for key, value in content.items():
        if key not in allowed:
            hint = _nearest(str(key), allowed) or ("" if value else "; a text with a comma needs quotes")
            raise SchemaError(f"In {where}, {key!r} is not a known key{hint}. Known are: {', '.join(allowed)}.")


def _text(keys: Mapping[str, Any], key: str, where: str) -> str:
    value = keys.get(key)
    if value is not None and not isinstance(value, str):
        raise SchemaError(f"In {where}, {key} must be text, not {value!r}.")
    return " ".join((value or "").split())


def _texts(keys: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = keys.get(key)
    values = [value] if isinstance(value, str) and value else value or []
    if not isinstance(values, list | tuple) or not all(isinstance(each, str) and each.strip() for each in values):
        raise SchemaError(f"In {where}, {key} must be a list of names, not {value!r}.")
    return tuple(each.strip() for each in values)


def _pair(value: object, where: str) -> tuple[str, str]:
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(isinstance(each, str) for each in value):
        raise SchemaError(f"In {where}, each of the pairs must be a head and a tail, not {value!r}.")
    return value[0], value[1]


def _nearest(name: str, names: Sequence[str]) -> str:
    lowered = {each.casefold(): each for each in names}
    close = get_close_matches(name.casefold(), lowered, n=1)
    return f"; did you mean {lowered[close[0]]!r}?" if close else ""


def _plain(value: object) -> object:
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"{title}:", *lines]) if lines else ""


def _line(name: str, ends: str, description: str) -> str:
    return f"- {name}" + (f" ({ends})" if ends else "") + (f": {description}" if description else "")


def _relation_line(relation: RelationType) -> str:
    if relation.pairs:
        ends = "; ".join(f"{head} -> {tail}" for head, tail in relation.pairs)
    elif relation.heads or relation.tails:
        ends = f"{', '.join(relation.heads) or 'any'} -> {', '.join(relation.tails) or 'any'}"
    else:
        ends = ""
    return _line(relation.name, ends, relation.description)
