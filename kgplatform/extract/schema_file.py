"""Schema files: YAML or JSON text into one plain form, whoever wrote it.

Read here are our own form (see ``schema``), the ``GraphSchema`` of the official neo4j-graphrag package, and the
lists ``Nodes``, ``Relations``, ``Attributes`` of Youtu-GraphRAG. What the types mean is checked in ``schema``.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml

from kgplatform.errors import SchemaError

Content = dict[str, Any]


def read_schema_file(path: Path) -> Content:
    """The content of ``path`` in our form. Raises ``SchemaError`` with the line of a syntax error."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"The schema {path} cannot be read: {error}.") from error
    return read_schema_text(text, path)


def read_schema_text(text: str, path: Path) -> Content:
    """The same of a file's ``text``; ``path`` says what it is called, and by its ending whether it is JSON."""
    content = _parsed(path, text) if text.strip() else None
    if not content:
        raise SchemaError(f"The schema {path} is empty. Give it `entities:`, `relations:` and `attributes:`.")
    if not isinstance(content, dict):
        raise SchemaError(f"The schema {path} must be a mapping with `entities:` and more, not {_kind(content)}.")
    try:
        return _in_our_form(content)
    except SchemaError as error:
        raise SchemaError(f"The schema {path} cannot be used. {error}") from error


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


def _in_our_form(content: Content) -> Content:
    if "node_types" in content:
        return _from_graph_schema(content)
    if "Nodes" in content:
        return {
            key.lower().replace("nodes", "entities"): _list(content, key)
            for key in ("Nodes", "Relations", "Attributes")
        }
    return content


def _from_graph_schema(content: Content) -> Content:
    """neo4j-graphrag's form. Properties of nodes become attribute types of them.

    Left out are what this platform has otherwise or not at all: the property ``name`` (an entity's own name),
    properties of relationships, constraints, and the switches ``additional_…`` (strict and flexible mode here).
    """
    nodes = [_labelled(node) for node in _list(content, "node_types")]
    relations = [_labelled(relationship) for relationship in _list(content, "relationship_types")]
    pairs: dict[str, list[list[str]]] = {relation["label"]: [] for relation in relations}
    for pattern in _list(content, "patterns"):
        head, name, tail = _pattern(pattern)
        if name not in pairs:
            raise SchemaError(f"A pattern names the relationship {name!r}, which is not in relationship_types.")
        pairs[name].append([head, tail])
    return {
        "entities": [{"name": node["label"], "description": node.get("description") or ""} for node in nodes],
        "relations": [
            {
                "name": relation["label"],
                "description": relation.get("description") or "",
                "pairs": pairs[relation["label"]],
            }
            for relation in relations
        ],
        "attributes": _properties(nodes),
    }


def _properties(nodes: list[Content]) -> list[Content]:
    attributes: dict[str, Content] = {}
    for node in nodes:
        for given in _list(node, "properties"):
            if not isinstance(given, dict) or not isinstance(given.get("name"), str):
                raise SchemaError(f"A property of {node['label']} has no name: {given!r}.")
            if given["name"] != "name":
                new = {"name": given["name"], "description": given.get("description") or "", "entities": []}
                attributes.setdefault(given["name"], new)["entities"].append(node["label"])
    return list(attributes.values())


def _labelled(value: object) -> Content:
    if isinstance(value, str):
        return {"label": value}
    if isinstance(value, dict) and isinstance(value.get("label"), str):
        return value
    raise SchemaError(f"A node or relationship type must be a text or have a label, not {value!r}.")


def _pattern(value: object) -> list[str]:
    if isinstance(value, Mapping):
        value = [value.get("source"), value.get("relationship"), value.get("target")]
    if not isinstance(value, list) or [type(each) for each in value] != [str] * 3:
        raise SchemaError(f"A pattern must be source, relationship and target, not {value!r}.")
    return value


def _list(content: Content, key: str) -> list[Any]:
    value = content.get(key) or []
    if not isinstance(value, list):
        raise SchemaError(f"{key} must be a list, not {_kind(value)}.")
    return value
