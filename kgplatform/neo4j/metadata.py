"""What is known of a document beside its text, as flat values under names: who wrote it, when, where it came from.

In the graph these are properties of the document's node: ``author`` is ``meta_author``, so that no name can be that of
a property of the platform's own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from decimal import Decimal
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any
from uuid import UUID

from kgplatform.errors import InputError, wrong_value
from kgplatform.records import MetadataValue
from kgplatform.text import in_word, tidy, without_controls, without_lone_surrogates

PREFIX = "meta_"
_IN_NAMES = "_ -."
_LONGEST_NAME = 100
_LONGEST_TEXT = 2000
_MOST_ITEMS = 100
_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class Flat:
    """``metadata`` as they are kept, in the order of names. ``left_out``: names of what cannot be; ``as_texts``: of
    lists of several kinds of values, which a property cannot hold."""

    metadata: dict[str, MetadataValue]
    left_out: list[str]
    as_texts: list[str]


NOTHING = Flat({}, [], [])


def flat(given: Mapping[Any, Any]) -> Flat:
    """What of ``given`` can be metadata.

    Values are texts, numbers, True or False, dates (as ISO 8601), and lists of one kind of these; what is empty, None
    or NaN says nothing. A sign that no property may have in its name becomes ``_``.
    """
    kept: dict[str, MetadataValue] = {}
    found = Flat(kept, [], [])
    for name, value in given.items():
        try:
            one = _value(value)
        except ValueError:
            found.left_out.append(str(name))
            continue
        if one is not None and (key := _name(str(name))):
            kept[key] = one
            if isinstance(one, list) and isinstance(one[0], str) and not all(isinstance(_item(v), str) for v in value):
                found.as_texts.append(str(name))
    return replace(found, metadata=dict(sorted(kept.items())))


def is_missing(value: object) -> bool:
    """None, and what tables have where there is nothing: NaN, and what pandas calls NA and NaT."""
    is_nan = isinstance(value, float | Decimal) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def properties_of(metadata: Mapping[str, MetadataValue]) -> dict[str, MetadataValue]:
    """The properties of a document's node."""
    return {PREFIX + name: value for name, value in metadata.items()}


def name_of(property: str) -> str:
    """The name that people know a property by."""
    return property.removeprefix(PREFIX)


def metadata_of(properties: Iterable[Sequence[Any]]) -> dict[str, MetadataValue]:
    """Of ``[property, value]`` pairs those that are metadata, by their names."""
    found = {str(name): value for name, value in properties}
    return {name_of(name): found[name] for name in sorted(found) if name.startswith(PREFIX)}


def conditions(where: Mapping[str, Any]) -> list[dict[str, Any]]:
    """``where`` as ``search/documents_where`` wants it: of each property the values, any of which will do. Raises
    ``InputError`` for what can be no metadata."""
    if not isinstance(where, Mapping):  # as of a filter of the map, which nothing looked at before
        raise wrong_value("where", where, "it must be a dictionary")
    found = []
    for name, value in where.items():
        values = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
        kept = [item for item in map(_wanted, values) if item is not None]
        if not _name(str(name)) or not kept or len(kept) < len(values):
            raise InputError(f"where: {name}={value!r:.100} cannot be used: give a text, a number, a date or a list.")
        found.append({"property": PREFIX + _name(str(name)), "values": kept})
    return found


def _wanted(value: object) -> MetadataValue | None:
    try:
        return None if isinstance(value, list | tuple | dict) else _value(value)
    except ValueError:
        return None


def _name(name: str) -> str:
    kept = "".join(each if in_word(each) or each in _IN_NAMES else "_" for each in tidy(name))
    return kept[:_LONGEST_NAME].strip()


def _value(value: Any) -> MetadataValue | None:
    """None where it says nothing. Raises ``ValueError`` for what is not flat, or too long."""
    if isinstance(value, list | tuple | set | frozenset):
        items: list[Any] = [item for item in map(_item, value) if item is not None]
        if len(items) > _MOST_ITEMS:
            raise ValueError
        kinds = {type(item) for item in items}
        if len(kinds) > 1:
            items = [float(item) if kinds == {int, float} else str(item) for item in items]
        return items or None
    return _item(value)


def _item(value: Any) -> str | int | float | bool | None:
    if hasattr(value, "item") and not isinstance(value, str):  # a number of numpy's
        value = value.item()
    if is_missing(value):
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        number = int(value)
        return number if -_LARGEST <= number < _LARGEST else str(number)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, str | PurePath | UUID):
        text = without_controls(without_lone_surrogates(str(value))).strip()
        if len(text) > _LONGEST_TEXT:
            raise ValueError
        return text or None
    raise ValueError
