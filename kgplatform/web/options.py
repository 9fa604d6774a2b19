"""The options of the readers, as a form can show them, and as JSON gives them.

They are the fields of the class ``Options`` of each reader; what they mean is checked there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from kgplatform.errors import InputError
from kgplatform.readers.choose import OPTIONS
from kgplatform.readers.youtu import PARTS
from kgplatform.retrieve.search import SEARCHES

_CHOICES: dict[str, tuple[str, ...]] = {"route": SEARCHES, "without": PARTS}
"""Of options whose type does not say them."""
_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string"}
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class ReaderOption:
    """``type``: boolean, integer, number, string or list (of strings). Without ``choices``, any value of the type."""

    name: str
    type: str
    default: Any
    choices: tuple[str, ...]


def options_of(reader: str) -> tuple[ReaderOption, ...]:
    """The options of ``reader``, in the order in which it has them."""
    hints = get_type_hints(OPTIONS[reader])
    return tuple(
        ReaderOption(each.name, _kind(hints[each.name]), _default(each), _choices(each.name, hints[each.name]))
        for each in fields(OPTIONS[reader])
    )


def read_options(reader: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` with values of the types that ``reader`` wants; what it does not know is left for it to refuse.

    Raises ``InputError`` with the name of an option whose value is of another type.
    """
    hints = get_type_hints(OPTIONS[reader]) if reader in OPTIONS else {}
    return {name: _value(name, value, hints[name]) if name in hints else value for name, value in given.items()}


def _value(name: str, value: Any, hint: Any) -> Any:
    try:
        typed = TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        choices = _choices(name, hint)
        wanted = f"one of {', '.join(choices)}" if choices else f"of type {_kind(hint)}"
        raise InputError(f"The option {name} cannot be {value!r:.100}: it must be {wanted}.") from error
    if isinstance(typed, int) and abs(typed) > _LARGEST:
        raise InputError(f"The option {name} must be at most {_LARGEST:,}.")
    return typed


def _kind(hint: Any) -> str:
    if get_origin(hint) is tuple:
        return "list"
    if get_origin(hint) is Literal:
        return "string"
    return next((kind for type_, kind in _KINDS.items() if hint is type_ or type_ in get_args(hint)), "string")


def _choices(name: str, hint: Any) -> tuple[str, ...]:
    return get_args(hint) if get_origin(hint) is Literal else _CHOICES.get(name, ())


def _default(field: Any) -> Any:
    return field.default if field.default is not MISSING else field.default_factory()
