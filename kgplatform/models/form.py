"""The JSON schema of a pydantic model, as servers take it for a reply's form.

    json_schema(Answer)     # {"type": "object", "properties": {…}, "required": […], "additionalProperties": False}

Fields stand in the order of the class, in which models write them; all of them are required, those with a default too,
and nothing else is allowed: what "strict" asks for at OpenAI, and what a grammar can hold a small model to.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel

_DROPPED = ("title", "default", "$defs")
_BOUNDS = ("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern", "format")


@cache
def json_schema(form: type[BaseModel]) -> dict[str, Any]:
    """The schema of ``form``, without references. Do not change it: it is kept."""
    schema = form.model_json_schema()
    found: dict[str, Any] = _inlined(schema, schema.get("$defs", {}), ())
    return found


@cache
def without_bounds(form: type[BaseModel]) -> dict[str, Any]:
    """``json_schema`` without lengths and limits, which some servers refuse in a strict schema."""
    found: dict[str, Any] = _less(json_schema(form), _BOUNDS)
    return found


def has_bounds(schema: dict[str, Any]) -> bool:
    """Whether ``schema`` has lengths or limits."""
    return bool(_less(schema, _BOUNDS) != schema)


@cache
def is_closed(form: type[BaseModel]) -> bool:
    """Whether the schema of ``form`` says of everything in a reply what it is, as "strict" wants it."""
    return _closed(json_schema(form))


def _inlined(node: Any, known: dict[str, Any], inside: tuple[str, ...]) -> Any:
    """``node`` with what it refers to in its place. Raises ``ValueError`` for a form that contains itself."""
    if isinstance(node, list):
        return [_inlined(item, known, inside) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = str(node["$ref"]).rsplit("/", 1)[-1]
        if name in inside:
            raise ValueError(f"The form {name} contains itself: no schema without references can say so.")
        return _inlined(known[name], known, (*inside, name))
    schema = {key: _inlined(value, known, inside) for key, value in node.items() if key not in _DROPPED}
    if isinstance(node.get("properties"), dict):
        schema["properties"] = {name: _inlined(value, known, inside) for name, value in node["properties"].items()}
        schema["required"] = list(schema["properties"])
        schema["additionalProperties"] = False
    return schema


def _less(node: Any, keys: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_less(item, keys) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _less(value, keys) for key, value in node.items() if key not in keys or key == "properties"}
    if isinstance(node.get("properties"), dict):  # a field may be called as a bound is
        kept["properties"] = {name: _less(value, keys) for name, value in node["properties"].items()}
    return kept


def _closed(node: Any) -> bool:
    if not isinstance(node, dict):
        return False
    if "anyOf" in node:
        return all(map(_closed, node["anyOf"]))
    if "enum" in node or "const" in node:
        return True
    if node.get("type") == "object":
        return bool(node.get("properties")) and all(map(_closed, node["properties"].values()))
    if node.get("type") == "array":
        return _closed(node.get("items"))
    return "type" in node
