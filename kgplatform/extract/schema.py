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

Read as well are the ``GraphSchema`` of the official neo4j-graphrag package, and the lists ``Nodes``, ``Relations`` and
``Attributes`` of Youtu-GraphRAG.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import yaml

from kgplatform.errors import SchemaError
from kgplatform.query import data_folder
from kgplatform.text import did_you_mean, in_word, type_key, unknown

TypeKind = Literal["entity", "relation", "attribute"]


@dataclass(frozen=True, slots=True)
class EntityType:
    """A kind of thing. ``aliases`` are other names that extractors give it."""

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationType:
    """A kind of relation. Without ``heads`` any entity type may be the subject, without ``tails`` the object.

    ``pairs``, if there are any, say which head goes with which tail. ``single``: a subject has one object at a time.
    """

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    single: bool = False

    def joins(self, head: str | None, tail: str | None) -> bool:
        """Whether it may join entities of these types. A type of None is unknown and contradicts nothing."""
        if self.pairs:
            return any(head in (None, first) and tail in (None, second) for first, second in self.pairs)
        return (not self.heads or head in (None, *self.heads)) and (not self.tails or tail in (None, *self.tails))


@dataclass(frozen=True, slots=True)
class AttributeType:
    """A kind of attribute. Without ``entities`` every entity type may have it. ``single``: with one value at a time."""

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    single: bool = False


@dataclass(frozen=True, slots=True)
class Expansion:
    """A type that was added to the schema: how sure its best proposal was, and what it gave as an example.

    ``count`` is the number of documents that proposed it, ``passage`` the id of the passage with the best proposal.
    """

    kind: TypeKind
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
        entities = _index(self.entities, "entity")
        relations = tuple(_with_ends(relation, entities) for relation in self.relations)
        attributes = []
        for attribute in self.attributes:
            said = f"The attribute type {attribute.name!r} names the entity type"
            owners = dict.fromkeys(_known(entity, entities, said) for entity in attribute.entities)
            attributes.append(replace(attribute, entities=tuple(owners)))
        object.__setattr__(self, "relations", relations)
        object.__setattr__(self, "attributes", tuple(attributes))
        _ = self._indexes  # which checks the names

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Schema:
        """The schema that ``to_dict`` wrote, or a file's content in our form."""
        _check_keys(content, ("name", "description", "entities", "relations", "attributes"), "the schema")
        name = content.get("name")
        return cls(
            name=name if isinstance(name, str) and name else "schema",
            entities=tuple(_types(content.get("entities"), "entity", EntityType)),
            relations=tuple(_types(content.get("relations"), "relation", RelationType)),
            attributes=tuple(_types(content.get("attributes"), "attribute", AttributeType)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and texts, fit for JSON; ``Schema.from_dict`` reads it back to an equal schema."""
        content = cast(dict[str, Any], json.loads(json.dumps(asdict(self))))
        for kind in ("entities", "relations", "attributes"):
            content[kind] = [{key: value for key, value in type_.items() if value} for type_ in content[kind]]
        return content

    def entity(self, name: str | None) -> EntityType | None:
        """The entity type that ``name`` means."""
        return self._indexes[0].get(type_key(name)) if name else None

    def relation(self, name: str) -> RelationType | None:
        """The relation type that ``name`` means."""
        return self._indexes[1].get(type_key(name))

    def attribute(self, name: str) -> AttributeType | None:
        """The attribute type that ``name`` means."""
        return self._indexes[2].get(type_key(name))

    def label_of(self, type_name: str | None) -> str | None:
        """The Neo4j label of an entity type; None for one that the schema does not have."""
        found = self.entity(type_name)
        return label_for(found.name) if found else None

    def relationship_of(self, predicate: str) -> str:
        """The Neo4j relationship type of a predicate; ``RELATED_TO`` for one that the schema does not have."""
        found = self.relation(predicate)
        return relationship_for(found.name) if found else RELATED_TO

    @property
    def single(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the relations, and of the attributes, of which a subject has one at a time."""
        relations, attributes = (
            (each.name for each in kind if each.single) for kind in (self.relations, self.attributes)
        )
        return tuple(relations), tuple(attributes)

    def with_expansions(self, expansions: Iterable[Expansion]) -> Schema:
        """This schema with the added types at its end; those that it has already are left out. Only names are taken
        over: an example is a document's text, and the schema goes into every later prompt."""
        added: dict[TypeKind, dict[str, str]] = {"entity": {}, "relation": {}, "attribute": {}}
        for expansion in expansions:
            if not self._has(expansion.kind, expansion.name):
                added[expansion.kind].setdefault(type_key(expansion.name), expansion.name)
        return replace(
            self,
            entities=(*self.entities, *map(EntityType, added["entity"].values())),
            relations=(*self.relations, *map(RelationType, added["relation"].values())),
            attributes=(*self.attributes, *map(AttributeType, added["attribute"].values())),
        )

    def lacks(self, kind: TypeKind, name: str) -> bool:
        """Whether ``name`` could be added as a ``kind``: it can name a type, is not ours, and is not there yet."""
        return not (fault_of_name(name) or self._has(kind, name) or _RESERVED[kind].get(type_key(name)))

    def file_text(self) -> str:
        """The schema as a YAML file, which ``schema_of_text`` reads back to an equal schema."""
        return yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True, width=100)

    def prompt_text(self) -> str:
        """The schema in few words, for a prompt: one line a type."""
        sections = {
            "Entity types": [_line(each, "") for each in self.entities],
            "Relation types (subject -> object)": [_line(each, _ends(each)) for each in self.relations],
            "Attribute keys": [_line(each, ", ".join(each.entities)) for each in self.attributes],
        }
        return "\n".join("\n".join((f"{title}:", *lines)) for title, lines in sections.items() if lines)

    @cached_property
    def _indexes(self) -> tuple[dict[str, EntityType], dict[str, RelationType], dict[str, AttributeType]]:
        return _index(self.entities, "entity"), _index(self.relations, "relation"), _index(self.attributes, "attribute")

    def _has(self, kind: TypeKind, name: str) -> bool:
        return type_key(name) in self._indexes[("entity", "relation", "attribute").index(kind)]


@dataclass(frozen=True, slots=True)
class GraphSchema:
    """The schema of a graph's last ingest, as it was given, and what was added to it since.

    ``chosen``: the schema that the next ingest uses, where that is another one.
    """

    schema: Schema
    expansions: tuple[Expansion, ...]
    chosen: Schema | None = None

    @classmethod
    def of(cls, state: Mapping[str, str]) -> GraphSchema | None:
        """What the graph's ``state`` has of it; None before the first ingest."""
        if "schema" not in state:
            return None
        expansions = tuple(Expansion(**expansion) for expansion in json.loads(state.get("expansions", "[]")))
        chosen = json.loads(state["schemaChosen"]) if state.get("schemaChosen") else None
        return cls(Schema.from_dict(json.loads(state["schema"])), expansions, chosen and Schema.from_dict(chosen))

    @property
    def grown(self) -> Schema:
        """The schema with what was added."""
        return self.schema.with_expansions(self.expansions)

    def to_dict(self) -> dict[str, Any]:
        """``schema`` and ``expansions``, as interfaces show them."""
        return {"schema": self.schema.to_dict(), "expansions": self.expansions}


def load_schema(name_or_path: str | Path) -> Schema:
    """A shipped schema by its name (``"general"``), or one from a YAML or JSON file. Raises ``SchemaError`` with the
    file's name, and the line where the file cannot be read at all."""
    name, shipped = str(name_or_path), shipped_schemas()
    if name in shipped:
        return _of_shipped_file(Path(str(data_folder("schemas") / f"{name}.yaml")))
    path = Path(name_or_path).expanduser()
    if not path.exists():
        raise SchemaError(f"{unknown('schema', name, shipped)} Or give a YAML or JSON file.")
    return _of_file(path)


def _of_file(path: Path) -> Schema:
    try:
        return schema_of_text(path.read_text(encoding="utf-8-sig"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"The schema {path} cannot be read: {error}.") from error


_of_shipped_file = cache(_of_file)  # a server looks these up with each upload


def schema_of_text(text: str, name: str | Path = "schema.yaml") -> Schema:
    """The schema that a file's ``text`` describes; ``name`` is the file's, and says by its ending whether it is JSON.
    Raises ``SchemaError``, with the line of a syntax error."""
    path = Path(name)
    content = _parsed(path, text) if text.strip() else None
    if not content:
        raise SchemaError(f"The schema {path} is empty. Give it `entities:`, `relations:` and `attributes:`.")
    if not isinstance(content, dict):
        raise SchemaError(f"The schema {path} must be a mapping with `entities:` and more, not {_kind(content)}.")
    try:
        if "node_types" in content:
            content = _from_graph_schema(content)
        elif "Nodes" in content:
            keys = {"entities": "Nodes", "relations": "Relations", "attributes": "Attributes"}
            content = {ours: _list(content, theirs) for ours, theirs in keys.items()}
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


def _with_ends(relation: RelationType, entities: Mapping[str, EntityType]) -> RelationType:
    """``relation`` with its heads and tails under the names that the schema gives them."""

    def known(name: str, role: str) -> str:
        return _known(name, entities, f"The relation type {relation.name!r} names the {role}")

    pairs = tuple((known(head, "head"), known(tail, "tail")) for head, tail in relation.pairs)
    heads = [head for head, _ in pairs] if pairs else [known(head, "head") for head in relation.heads]
    tails = [tail for _, tail in pairs] if pairs else [known(tail, "tail") for tail in relation.tails]
    return replace(relation, pairs=pairs, heads=tuple(dict.fromkeys(heads)), tails=tuple(dict.fromkeys(tails)))


def _known(name: str, entities: Mapping[str, EntityType], said: str) -> str:
    found = entities.get(type_key(name))
    if found is None:
        hint = did_you_mean(name, [entity.name for entity in entities.values()])
        raise SchemaError(f"{said} {name!r}, which is not an entity type of the schema.{hint}")
    return found.name


def _index(types: Sequence[AnyType], kind: TypeKind) -> dict[str, AnyType]:
    """Types by the match keys of their names and aliases, checked."""
    index: dict[str, AnyType] = {}
    named = [(one, one.name) for one in types] + [(one, alias) for one in types for alias in one.aliases]
    for owner, name in named:
        fault = fault_of_name(name)
        if fault:
            raise SchemaError(f"The {kind} type {name!r} cannot be a name in Neo4j: it {fault}.")
        if name == owner.name and (taken := _RESERVED[kind].get(type_key(name))):
            raise SchemaError(f"The {kind} type {name!r} takes the platform's own name {taken}. Give it another name.")
        other = index.setdefault(type_key(name), owner)
        if other is not owner:
            raise SchemaError(f"Two {kind} types share the name {name!r}: {other.name!r} and {owner.name!r}.")
    return index


def _line(type_: EntityType | RelationType | AttributeType, ends: str) -> str:
    ends, description = f" ({ends})" if ends else "", f": {type_.description}" if type_.description else ""
    return f"- {type_.name}{ends}{description}"


def _ends(relation: RelationType) -> str:
    if relation.pairs:
        return "; ".join(f"{head} -> {tail}" for head, tail in relation.pairs)
    if relation.heads or relation.tails:
        return f"{', '.join(relation.heads) or 'any'} -> {', '.join(relation.tails) or 'any'}"
    return ""


def _types(content: object, kind: TypeKind, shape: type[AnyType]) -> Iterator[AnyType]:
    """Each type of a list of names or mappings, or of a mapping from names to descriptions or mappings."""
    if isinstance(content, Mapping):
        pairs: list[tuple[object, object]] = list(content.items())
    elif isinstance(content, list):
        pairs = [(each.get("name"), each) if isinstance(each, Mapping) else (each, None) for each in content]
    elif content is None or content == "":
        pairs = []
    else:
        raise SchemaError(f"The {kind} types must be a list or a mapping, not {content!r}.")
    known = [field.name for field in fields(shape)]
    readers: dict[str, Callable[[object, str], Any]] = {"description": _text, "pairs": _pairs, "single": _flag}
    for name, keys in pairs:
        if not isinstance(name, str) or not name.strip():
            raise SchemaError(f"One of the {kind} types has no name: {name if keys is None else keys!r}.")
        if keys is not None and not isinstance(keys, str | Mapping):
            raise SchemaError(f"The {kind} type {name!r} needs a description or a mapping, not {keys!r}.")
        given = keys if isinstance(keys, Mapping) else {"description": keys}
        where = f"the {kind} type {name.strip()!r}"
        _check_keys(given, known, where)
        values = {key: readers.get(key, _texts)(given.get(key), f"In {where}, {key}") for key in known[1:]}
        yield shape(name.strip(), **values)


def _check_keys(content: Mapping[str, Any], allowed: Sequence[str], where: str) -> None:
    for key, value in content.items():
        if key not in allowed:
            hint = did_you_mean(str(key), allowed) or ("" if value else " A text with a comma needs quotes.")
            raise SchemaError(f"In {where}, {key!r} is not a known key.{hint} Known are: {', '.join(allowed)}.")


def _text(value: object, what: str) -> str:
    if value is not None and not isinstance(value, str):
        raise SchemaError(f"{what} must be text, not {value!r}.")
    return " ".join((value or "").split())


def _flag(value: object, what: str) -> bool:
    if str(value).lower() not in ("true", "false", "none"):
        raise SchemaError(f"{what} must be true or false, not {value!r}.")
    return str(value).lower() == "true"


def _texts(value: object, what: str) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) and value else value or []
    if not isinstance(values, list | tuple) or not all(isinstance(each, str) and each.strip() for each in values):
        raise SchemaError(f"{what} must be a list of names, not {value!r}.")
    return tuple(each.strip() for each in values)


def _pairs(value: object, what: str) -> tuple[tuple[str, str], ...]:
    pairs: Sequence[Any] = value if isinstance(value, list | tuple) else [value] if value else []
    for pair in pairs:
        if not isinstance(pair, list | tuple) or [type(each) for each in pair] != [str, str]:
            raise SchemaError(f"{what} must each be a head and a tail, not {pair!r}.")
    return tuple((head, tail) for head, tail in pairs)


RELATED_TO = "RELATED_TO"
"""The relationship type of triples whose predicate no schema names. A schema may define it too."""

_LABELS = (
    *("Document", "Chunk", "Fact", "Entity", "KeyElement", "Attribute", "Keyword", "Community", "Page"),
    *("ProposedType", "Correction", "Run", "Step", "Graph", "Pending", "CorrectDue", "ServerJob", "WritePass"),
)
_RELATIONSHIPS = (
    *("FROM_DOCUMENT", "NEXT_CHUNK", "FROM_CHUNK", "SUBJECT", "OBJECT", "VALUE", "MENTIONS", "HAS_ATTRIBUTE"),
    *("MEMBER_OF", "KEYWORD_OF", "REPRESENTED_BY", "SAME_AS", "PAGE_OF", "NEXT_PAGE", "PARENT", "FORM_OF"),
    *("HAS_STEP", "NEXT_STEP", "FOUND", "CITES", "AT", "FOLLOWS", "PROPOSED", "CORRECTS"),
)
_LONGEST = 100


def words_of(name: str) -> list[str]:
    """The words of a type's name: cut at everything that is not a letter, digit or mark, and where camelCase steps.

    >>> words_of("HTTPServer has-part")
    ['HTTP', 'Server', 'has', 'part']
    """
    letters = [letter if in_word(letter) else " " for letter in unicodedata.normalize("NFKC", name)]
    text = f" {''.join(letters)} "
    return "".join(
        f" {here}" if here.isupper() and (before.islower() or (before.isupper() and after.islower())) else here
        for before, here, after in zip(text, text[1:], text[2:], strict=False)
    ).split()


def label_for(name: str) -> str:
    """The Neo4j label of an entity type, in CamelCase; a name all in capitals is taken for shouting if it is long."""
    words = words_of(name)
    if name.isupper() and len("".join(words)) > 4:
        words = [word.lower() for word in words]
    return "".join(word[:1].upper() + word[1:] for word in words)


def relationship_for(name: str) -> str:
    """The Neo4j relationship type of a relation, in UPPER_SNAKE."""
    return "_".join(words_of(name)).upper()


def fault_of_name(name: str) -> str | None:
    """Why ``name`` cannot name a type at all, as the end of a sentence, or None."""
    letters = "".join(words_of(name))
    if not letters:
        return "has no letter in it"
    if not letters[0].isalpha():
        return "does not start with a letter"
    if len(name) > _LONGEST:
        return f"is longer than {_LONGEST} characters"
    return None


def reserved(kind: TypeKind, name: str) -> str | None:
    """The platform's own label or relationship type that an entity type or a relation of this name would take, or
    None."""
    return _RESERVED[kind].get(type_key(name))


_RESERVED: dict[TypeKind, dict[str, str]] = {
    "entity": {type_key(name): name for name in _LABELS},
    "relation": {type_key(name): name for name in _RELATIONSHIPS},
    "attribute": {},
}


Content = dict[str, Any]


class TextLoader(yaml.BaseLoader):
    """For ``yaml.load``: every scalar is text (``No`` is a type's name, not False), and no key may come twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen if isinstance(key, yaml.ScalarNode) else False:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} is given twice", key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


def _parsed(path: Path, text: str) -> object:
    try:
        if path.suffix.lower() == ".json":
            return json.loads(text, object_pairs_hook=_without_repeats)
        return yaml.load(text, TextLoader)
    except json.JSONDecodeError as error:
        raise SchemaError(f"{path}, line {error.lineno}: not valid JSON ({error.msg}).") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        raise SchemaError(f"{where}: not valid YAML ({error.problem or error.context}).") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SchemaError(f"{path}: not a valid schema ({' '.join(str(error).split())}).") from error


def _without_repeats(pairs: list[tuple[str, Any]]) -> Content:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} is given twice")
    return content


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else "a mapping" if isinstance(value, dict) else repr(value)


def _from_graph_schema(content: Content) -> Content:
    """neo4j-graphrag's form. Properties of nodes become attribute types of them.

    Left out are what this platform has otherwise or not at all: the property ``name`` (an entity's own name),
    properties of relationships, constraints, and the switches ``additional_…`` (strict and flexible mode here).
    """
    entities: list[Content] = []
    attributes: dict[str, Content] = {}
    for node in _list(content, "node_types"):
        entities.append(_labelled(node))
        label = entities[-1]["name"]
        for given in _list(node, "properties") if isinstance(node, dict) else []:
            if not isinstance(given, dict) or not isinstance(given.get("name"), str):
                raise SchemaError(f"A property of {label} has no name: {given!r}.")
            if given["name"] != "name":
                new = {"name": given["name"], "description": given.get("description") or "", "entities": []}
                attributes.setdefault(given["name"], new)["entities"].append(label)
    relations = [{**_labelled(each), "pairs": []} for each in _list(content, "relationship_types")]
    by_name = {each["name"]: each for each in relations}
    for pattern in _list(content, "patterns"):
        if isinstance(pattern, Mapping):
            pattern = [pattern.get("source"), pattern.get("relationship"), pattern.get("target")]
        if not isinstance(pattern, list) or [type(each) for each in pattern] != [str] * 3:
            raise SchemaError(f"A pattern must be source, relationship and target, not {pattern!r}.")
        head, name, tail = pattern
        if name not in by_name:
            raise SchemaError(f"A pattern names the relationship {name!r}, which is not in relationship_types.")
        by_name[name]["pairs"].append([head, tail])
    return {"entities": entities, "relations": relations, "attributes": list(attributes.values())}


def _labelled(value: object) -> Content:
    """The name and the description of a node or relationship type."""
    given = {"label": value} if isinstance(value, str) else value
    if not isinstance(given, dict) or not isinstance(given.get("label"), str):
        raise SchemaError(f"A node or relationship type must be a text or have a label, not {value!r}.")
    return {"name": given["label"], "description": given.get("description") or ""}


def _list(content: Content, key: str) -> list[Any]:
    value = content.get(key) or []
    if not isinstance(value, list):
        raise SchemaError(f"{key} must be a list, not {_kind(value)}.")
    return value
