"""Results as JSON: a dataclass becomes an object with its fields' names, a tuple a list.

No pydantic model is built and nothing is validated again, so that a map of ten thousand nodes takes milliseconds.
"""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from typing import Any

from kgplatform.shown import as_fields, plain


def encode(value: object) -> bytes:
    """``value`` as JSON in ASCII, which can hold any text, even the lone surrogates of a broken file."""
    try:
        return _dumped(value)
    except ValueError:  # infinite or NaN, which JSON lacks
        return _dumped(plain(value))


def _dumped(value: object) -> bytes:
    return json.dumps(value, default=_object, allow_nan=False, separators=(",", ":")).encode()


def _object(value: object) -> dict[str, Any]:
    if is_dataclass(value) and not isinstance(value, type):
        return as_fields(value)
    raise TypeError(f"{type(value).__name__} cannot be JSON")
