"""What the platform says as JSON: a dataclass is an object with its fields' names, a tuple is a list.

No model is built and nothing is checked again on the way, so that a map of ten thousand nodes takes milliseconds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from starlette.responses import Response


def encode(value: object) -> bytes:
    """``value`` in ASCII, which holds every text, half surrogate pairs of a broken file included."""
    try:
        return _dumped(value)
    except ValueError:  # a number that JSON has no word for
        return _dumped(_speakable(value))


def as_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name; what they hold stays as it is."""
    return {each.name: getattr(value, each.name) for each in fields(value)}


class Json(Response):
    """A response whose content was encoded already, or is encoded now."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """See ``encode``."""
        return content if isinstance(content, bytes) else encode(content)


def _dumped(value: object) -> bytes:
    return json.dumps(value, default=_object, allow_nan=False, separators=(",", ":")).encode()


def _object(value: object) -> dict[str, Any]:
    if is_dataclass(value) and not isinstance(value, type):
        return as_fields(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _speakable(value: Any) -> Any:
    """``value`` with its infinite numbers and those that are none as text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: _speakable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_speakable(item) for item in value]
    return _speakable(as_fields(value)) if is_dataclass(value) else value
