"""How the nodes of another graph are said: a file of YAML that ``propose`` writes and people edit.

    from: neo4j://localhost:7687
    nodes:
      Customer:
        id: customerID
        name: "{companyName}"
        sentences:
          city: "The city of {name} is {city}."
    relationships:
      "(Customer)-[:PURCHASED]->(Order)": "{a.name} purchased {b.name}[ on {date}]."

A sentence has places for values, in braces; what stands in square brackets is left out where it lacks a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import yaml

from kgplatform.errors import InputError, SchemaError
from kgplatform.extract.schema import (
    AttributeType,
    EntityType,
    RelationType,
    Schema,
    TextLoader,
    fault_of_name,
    reserved,
    words_of,
)
from kgplatform.text import did_you_mean, listed, tidy, type_key

_PLACE = re.compile(r"\{([^{}]+)\}")
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_END = re.compile(r"(?<=[.!?…])\.\Z")
_PATH = re.compile(r"\(:?(.+?)\)-\[:(.+?)\]->\(:?(.+?)\)")
NAME, ENDS = "name", ("a.name", "b.name")
"""Places that are the name of a row, and those of the rows that a relationship joins."""


def said_value(value: object) -> str:
    """A value as a sentence has it; empty for none."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(said_value, value)))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return "" if value is None else tidy(str(value))


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with places for values."""

    text: str

    @property
    def places(self) -> list[str]:
        """The names of its places, in order."""
        return [*dict.fromkeys(_PLACE.findall(self.text))]

    def filled(self, values: Mapping[str, str]) -> str:
        """The sentence; empty if a value is missing that it cannot do without. Values are texts, whatever they hold."""
        parts = []
        for number, part in enumerate(_OPTIONAL.split(self.text)):
            if all(values.get(place) for place in _PLACE.findall(part)):
                parts.append(_PLACE.sub(lambda found: values[found[1]], part))
            elif number % 2 == 0:
                return ""
        return _END.sub("", tidy("".join(parts)))  # a value may end as a sentence does


@dataclass(frozen=True, slots=True)
class Rows:
    """The nodes of a label: the property that tells them apart, what they are called, their entity type, and a sentence
    for each property that is read."""

    label: str
    id: str
    name: Template
    type: str
    sentences: Mapping[str, Template]

    @property
    def properties(self) -> list[str]:
        """All that is read of a node, the id first."""
        said = (place for each in self.sentences.values() for place in each.places if place != NAME)
        return [*dict.fromkeys((self.id, *self.name.places, *said))]


@dataclass(frozen=True, slots=True)
class Path:
    """The relationships of a type between nodes of two labels, and the sentence that says one."""

    start: str
    type: str
    end: str
    sentence: Template

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others."""
        return self.start, self.type, self.end

    @property
    def properties(self) -> list[str]:
        """All that is read of a relationship."""
        return [place for place in self.sentence.places if place not in ENDS]


@dataclass(frozen=True, slots=True)
class RowMapping:
    """A mapping that was read. ``source``: where the other graph is."""

    source: str
    rows: Mapping[str, Rows]
    paths: Mapping[tuple[str, str, str], Path]


@dataclass(slots=True)
class _Reader:
    """Reads a file, and collects its faults, each with its line. ``known``: as of ``read_mapping``."""

    known: Mapping[str, Collection[str]] | None
    faults: list[tuple[int, str]] = field(default_factory=list)

    def fault(self, line: int, said: str) -> None:
        """Note what is wrong in a line."""
        self.faults.append((line, said))

    def pairs(self, node: yaml.Node | None, what: str) -> Iterator[tuple[str, int, yaml.Node]]:
        """The keys of a mapping, each with its line and its value."""
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                yield str(key.value), key.start_mark.line + 1, value
        elif node is not None:
            self.fault(node.start_mark.line + 1, f"{what} must be a mapping.")

    def text(self, node: yaml.Node, what: str) -> str:
        """A text, which is not empty."""
        text = node.value.strip() if isinstance(node, yaml.ScalarNode) else ""
        if not text:
            self.fault(node.start_mark.line + 1, f"{what} must be a text.")
        return text

    def look_up(self, kind: str, name: str, line: int) -> None:
        """Note it if the other graph does not have the name."""
        if self.known is not None and name not in self.known[kind]:
            self.fault(line, f"The graph has no {kind} {name!r}.{did_you_mean(name, self.known[kind])}")

    def template(self, node: yaml.Node, what: str, needed: Collection[str], given: Collection[str] = ()) -> Template:
        """A sentence that has the places ``needed``, and others of ``given`` or of properties."""
        line, template = node.start_mark.line + 1, Template(self.text(node, what))
        if missing := [f"{{{each}}}" for each in needed if each not in template.places]:
            self.fault(line, f"{what} lacks {listed(missing)}.")
        for place in template.places:
            if place not in (*needed, *given):
                self.look_up("property", place, line)
        return template

    def rows(self, label: str, line: int, node: yaml.Node) -> Rows | None:
        """Those of a label."""
        before, found = len(self.faults), {key: (at, value) for key, at, value in self.pairs(node, label)}
        for key, (at, _) in found.items():
            if key not in ("id", "name", "type", "sentences"):
                self.fault(at, f"{key!r} is no key of a label: it has id, name, type and sentences.")
        if missing := [key for key in ("id", "name") if key not in found]:
            self.fault(line, f"The label {label} lacks {listed(missing)}.")
        self.look_up("label", label, line)
        if len(self.faults) > before:
            return None
        id_, name = self.text(found["id"][1], "id"), self.template(found["name"][1], "name", ())
        self.look_up("property", id_, found["id"][0])
        if not name.places:
            self.fault(found["name"][0], 'name has no place for a value, such as "{title}".')
        at, type_ = found["type"][0] if "type" in found else line, label
        if "type" in found:
            type_ = self.text(found["type"][1], "type")
        if (fault := fault_of_name(type_)) or reserved("entity", type_):
            self.fault(at, f"The type {type_!r} {fault or 'is one of kgplatform itself'}: give the label another type.")
        said = found["sentences"][1] if "sentences" in found else None
        for key, at_key, _ in self.pairs(said, "sentences"):
            if key == NAME:
                self.fault(at_key, "{name} is what the node is called: put the property name into its name.")
        sentences = {
            key: self.template(value, f"The sentence of {key}", (NAME, key))
            for key, _, value in self.pairs(said, "sentences")
        }
        return Rows(label, id_, name, type_, sentences)

    def path(self, key: str, line: int, node: yaml.Node, rows: Collection[str]) -> Path | None:
        """The relationships that ``key`` names."""
        found = _PATH.fullmatch(key.strip())
        if found is None:
            self.fault(line, f"{key!r} is no path: write it as {path_text('Label', 'TYPE', 'Label')}.")
            return None
        start, type_, end = (each.strip() for each in found.groups())
        for label in dict.fromkeys((start, end)):
            if label not in rows:
                self.fault(line, f"The label {label} of {key} is not among the nodes.{did_you_mean(label, rows)}")
        self.look_up("relationship type", type_, line)
        return Path(start, type_, end, self.template(node, f"The sentence of {key}", ENDS))


def read_mapping(text: str, name: str, known: Mapping[str, Collection[str]] | None = None) -> RowMapping:
    """The mapping that the file ``name`` has, over a graph with these ``known`` names: "label", "relationship type",
    "property"; None does not look them up. Raises ``InputError`` with a sentence for each fault, and its line."""
    try:
        top = yaml.compose(text, TextLoader)
        yaml.load(text, TextLoader)  # which says that a key comes twice
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise InputError(f"{name}, line {line}: not valid YAML ({error.problem or error.context}).") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{name}: not valid YAML ({' '.join(str(error).split())[:200]}).") from error
    reader = _Reader(known)
    parts = {key: (line, value) for key, line, value in reader.pairs(top, "A mapping of a graph")}
    for key, (line, _) in parts.items():
        if key not in ("from", "nodes", "relationships"):
            reader.fault(line, f"{key!r} is no key of a mapping: it has from, nodes and relationships.")
    if missing := [key for key in ("from", "nodes") if key not in parts]:
        reader.fault(1, f"The mapping lacks {listed(missing)}.")
    nodes, joins = (parts[key][1] if key in parts else None for key in ("nodes", "relationships"))
    labels = [(label, line, node) for label, line, node in reader.pairs(nodes, "nodes")]
    rows = [reader.rows(*each) for each in labels]
    names = [label for label, _, _ in labels]
    paths = [reader.path(*each, names) for each in reader.pairs(joins, "relationships")]
    source = reader.text(parts["from"][1], "from") if "from" in parts else ""
    if reader.faults:
        raise InputError("\n".join(f"{name}, line {line}: {said}" for line, said in sorted(set(reader.faults))))
    found = {each.key: each for each in paths if each}
    return RowMapping(source, {each.label: each for each in rows if each}, found)


def path_text(start: str, type_: str, end: str) -> str:
    """The key of relationships in a mapping."""
    return "-".join((f"({start})", f"[:{type_}]", f">({end})"))


def spelled_out(name: str) -> str:
    """The name of a property, a label or a relationship type as words: ``unitPrice`` is "unit price"."""
    is_short = not name.isupper()  # in "customerID" two letters are, "ACTED_IN" is loud
    return " ".join(word if is_short and word.isupper() else word.lower() for word in words_of(name)) or name


Added = dict[str, list[str]]
"""Types that a mapping has added to a schema, as JSON, by their kind: "entities", "relations", "attributes"."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a schema calls the labels, the properties and the relationships of a mapping. ``schema``: grown by what it
    did not have, which ``added`` has."""

    schema: Schema
    added: Added
    types: Mapping[str, str]
    keys: Mapping[tuple[str, str], str]
    relations: Mapping[tuple[str, str, str], str]


def terms_of(mapping: RowMapping, schema: Schema) -> Terms:
    """The terms of ``mapping`` in ``schema``. A type that joins the same ends is used; one that is taken by something
    else has the other end, or the owner, in its name: no document's statement means anything else because of a row.
    Raises ``InputError``."""
    entities: dict[str, EntityType] = {}
    types, keys, relations = dict[str, str](), dict[tuple[str, str], str](), dict[tuple[str, str, str], str]()
    for each in mapping.rows.values():
        known = schema.entity(each.type) or entities.setdefault(type_key(each.type), EntityType(each.type))
        types[each.label] = known.name
    names = dict[str, str]()  # as they are spelled first
    pairs: dict[str, list[tuple[str, str]]] = {}
    for path in mapping.paths.values():
        ends, name = (types[path.start], types[path.end]), spelled_out(path.type).replace(" ", "_")
        relation = schema.relation(name)
        if relation is None or not relation.joins(*ends):
            if relation is not None or reserved("relation", name):
                name = f"{name}_{spelled_out(ends[1]).replace(' ', '_')}"
            name = names.setdefault(type_key(name), name)
            pairs.setdefault(name, []).append(ends)
        relations[path.key] = relation.name if relation and relation.joins(*ends) else name
    owners: dict[str, list[str]] = {}
    for rows in mapping.rows.values():
        for key in rows.sentences:
            name, owner = spelled_out(key), types[rows.label]
            attribute = schema.attribute(name)
            if attribute is None or (attribute.entities and owner not in attribute.entities):
                name = name if attribute is None else f"{spelled_out(owner)} {name}"
                name = names.setdefault(f"{type_key(name)} of", name)
                owners.setdefault(name, []).append(owner)
            else:
                name = attribute.name
            keys[rows.label, key] = name
    more: dict[str, Any] = {
        "entities": tuple(entities.values()),
        "relations": tuple(RelationType(name, pairs=tuple(dict.fromkeys(some))) for name, some in pairs.items()),
        "attributes": tuple(AttributeType(name, entities=tuple(dict.fromkeys(some))) for name, some in owners.items()),
    }
    try:
        whole: dict[str, Any] = {kind: (*getattr(schema, kind), *some) for kind, some in more.items()}
        grown = replace(schema, **whole)
    except SchemaError as error:
        raise InputError(f"The mapping does not fit the graph's schema. {error}") from error
    # As the schema has them, which names the ends of a relation too.
    added = {kind: [_json(each) for each in getattr(grown, kind)[len(getattr(schema, kind)) :]] for kind in more}
    return Terms(grown, added, types, keys, relations)


def without(schema: Schema, added: Added) -> Schema:
    """``schema`` without the types that a mapping has ``added`` to it, but for those that were changed since."""
    left: dict[str, Any] = {
        kind: tuple(each for each in getattr(schema, kind) if _json(each) not in some) for kind, some in added.items()
    }
    try:
        return replace(schema, **left)
    except SchemaError:  # what somebody has added since is of these types
        return schema


def _json(type_: Any) -> str:
    return json.dumps(asdict(type_), ensure_ascii=False, sort_keys=True)
