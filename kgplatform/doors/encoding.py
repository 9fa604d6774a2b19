"""Results as JSON: a dataclass becomes an object with its fields' names, a tuple a list.

No pydantic model is built and nothing is validated again, so that a map of ten thousand nodes takes milliseconds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any


def encode(value: object) -> bytes:
    """``value`` as JSON in ASCII, which can hold any text, even the lone surrogates of a broken file."""
    try:
        return _dumped(value)
    except ValueError:  # infinite or NaN, which JSON lacks
        return _dumped(plain(value))


def as_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name; what they hold stays as it is."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def plain(value: object) -> Any:
    """``value`` in JSON's types, all the way down; paths and infinite or NaN numbers become text."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(as_fields(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, Path) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value


def _dumped(value: object) -> bytes:
    return json.dumps(value, default=_object, allow_nan=False, separators=(",", ":")).encode()


def _object(value: object) -> dict[str, Any]:
    if is_dataclass(value) and not isinstance(value, type):
        return as_fields(value)
    raise TypeError(f"{type(value).__name__} cannot be JSON")
