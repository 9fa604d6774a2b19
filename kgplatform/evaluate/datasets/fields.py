"""What stands under the keys of an object, checked: a text is a text, a list is a list.

Every function raises ``UnusableError`` with a reason that names the key and says what was found under it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kgplatform.evaluate.datasets.entries import described, shown
from kgplatform.ingest.formats import clean
from kgplatform.text import tidy

Values = Mapping[str, Any]


class UnusableError(Exception):
    """An entry that is no question. Its text goes into a fault: `"answer" is null, expected a text`."""


def text(values: Values, key: str) -> str:
    """The text under ``key``: a number counts as one; empty if the key is missing or its text is blank."""
    return as_text(values[key], key) if key in values else ""


def wanted(values: Values, key: str) -> str:
    """The text under ``key``, which must not be empty."""
    found = text(values, key)
    if not found:
        raise UnusableError(f'there is no "{key}"' if key not in values else f'"{key}" is empty')
    return found


def title(values: Values, key: str) -> str:
    """A name under ``key``, as a document of the graph would be called."""
    return tidy(text(values, key))


def as_text(value: object, key: str) -> str:
    """``value`` as a text without white space around it; what no database stores is left out."""
    if isinstance(value, str):
        return clean(value).strip()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise UnusableError(f'"{shown(key)}" is {described(value)}, expected a text')


def texts(values: Values, key: str) -> tuple[str, ...]:
    """The texts in the list under ``key``, each once, blank ones left out; a text alone is a list of one."""
    value = values.get(key, [])
    items = value if isinstance(value, list) else [value]
    return tuple(filter(None, dict.fromkeys(as_text(item, key) for item in items)))


def objects(values: Values, key: str) -> list[dict[str, Any]]:
    """The objects in the list under ``key``; none if the key is missing."""
    found = listed(values, key)
    for item in found:
        if not isinstance(item, dict):
            raise UnusableError(f'"{key}" holds {described(item)}, expected objects')
    return found


def listed(values: Values, key: str) -> list[Any]:
    """The list under ``key``; empty if the key is missing."""
    found = values.get(key, [])
    if not isinstance(found, list):
        raise UnusableError(f'"{key}" is {described(found)}, expected a list')
    return found


def whole(value: object, key: str) -> int:
    """``value`` as a whole number; digits in a text count."""
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise UnusableError(f'"{key}" is {described(value)}, expected a whole number')
    return value


def yes_or_no(values: Values, key: str, default: bool) -> bool:
    """The truth value under ``key``; a text that says so counts, as in a table."""
    found = values.get(key, default)
    if isinstance(found, str) and found.strip().lower() in ("true", "false"):
        return found.strip().lower() == "true"
    if not isinstance(found, bool):
        raise UnusableError(f'"{key}" is {described(found)}, expected true or false')
    return found


def unpacked(values: Values, key: str) -> Any:
    """What is under ``key``, taken out of the JSON text that some releases put it into; None if it is missing."""
    found = values.get(key)
    if not isinstance(found, str):
        return found
    try:
        return json.loads(found)
    except (ValueError, RecursionError) as error:
        raise UnusableError(f'"{key}" is a text that is not JSON, expected a list') from error
