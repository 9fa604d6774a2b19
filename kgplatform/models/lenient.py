"""A reply's value read field by field: what is wrong with one field or one item costs that alone.

    validated({"answer": 1965, "citations": [{"passage": "[1]"}, 7]}, Reply)    # Reply(answer='1965', citations=[…1…])

Models write a number where a text is asked for, null for nothing, "[1]" or "Passage 1" for 1, one thing for a list of
one. What is meant is plain, so that is what is read; what cannot be read is left out where the form can do without it.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any, TypeVar

from pydantic import BaseModel, RootModel, ValidationError
from pydantic.fields import FieldInfo

M = TypeVar("M", bound=BaseModel)

_ROUNDS = 6
"""Of mending: each may bring to light what lay below a value of the wrong type."""
_MOST_FAULTS = 200
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_YES = frozenset({"yes", "y", "true", "ja", "oui", "si", "sí", "sim", "да", "是", "はい", "1", "sufficient"})
_NO = frozenset({"no", "n", "false", "nein", "non", "não", "нет", "否", "いいえ", "0", "insufficient", ""})

_Place = tuple[int | str, ...]


def validated(value: Any, form: type[M]) -> M:
    """``value`` as a ``form``. Raises ``ValidationError`` for what was wrong with it, where that cannot be mended."""
    try:
        return form.model_validate(value)
    except ValidationError as error:
        first = error
    value, fault = copy.deepcopy(value), first
    for _ in range(_ROUNDS):
        if not _mended(value, fault):
            break
        try:
            return form.model_validate(value)
        except ValidationError as error:
            fault = error
    raise first


def keyed(value: dict[str, Any], form: type[BaseModel]) -> dict[str, Any]:
    """``value`` with its keys as ``form`` has them, where they differ by capitals, spaces, hyphens or stars alone."""
    if issubclass(form, RootModel):
        return value
    wanted = {_plain(key): key for name, field in form.model_fields.items() for key in keys_of(name, field)}
    known = {key for name, field in form.model_fields.items() for key in keys_of(name, field)}
    return {key if key in known else wanted.get(_plain(key), key): item for key, item in value.items()}


def keys_of(name: str, field: FieldInfo) -> list[str]:
    """The keys under which a field is taken, the one that surely works first."""
    alias = field.validation_alias
    choices = getattr(alias, "choices", [alias])
    return [*(choice for choice in choices if isinstance(choice, str)), name]


def _plain(key: str) -> str:
    return re.sub(r"[^\w]|_", "", str(key)).lower()


def _mended(value: Any, error: ValidationError) -> bool:
    """Mend what is wrong in ``value``, in place; whether anything could be. The last items go first: places stay."""
    faults = error.errors(include_url=False)[:_MOST_FAULTS]
    changed = False
    for fault in sorted(faults, key=lambda fault: _order(fault["loc"]), reverse=True):
        changed = _mend(value, _written(value, fault["loc"]), fault["type"]) or changed
    return changed


def _order(place: _Place) -> tuple[tuple[int, str], ...]:
    return tuple((part, "") if isinstance(part, int) else (0, part) for part in place)


def _written(value: Any, place: _Place) -> _Place:
    """``place`` as far as ``value`` has it: a union adds the names of its members, which are no keys."""
    found: list[int | str] = []
    for part in place:
        if isinstance(value, dict) and part in value or isinstance(value, list) and isinstance(part, int):
            value = value[part]  # type: ignore[index]  # a list's is a number here, a dictionary's any key
            found.append(part)
    return tuple(found)


def _mend(value: Any, place: _Place, kind: str) -> bool:
    if not place:
        return False
    *way, last = place
    holder = value
    for part in way:
        holder = holder[part]
    new = _meant(holder[last], kind)
    if new is not None and new != holder[last]:
        holder[last] = new
    else:
        del holder[last]  # an item, or a field: that has a default, or is missing in the next round
    return True


def _meant(given: Any, kind: str) -> Any:
    """What ``given`` means where something of another type is wanted; None where that cannot be told."""
    if kind == "string_type":
        return _as_text(given)
    if kind in ("list_type", "tuple_type", "set_type"):
        return _as_list(given)
    if kind.startswith(("int_", "float_")):
        number = _NUMBER.search(given) if isinstance(given, str) else None
        return (float(number[0]) if "." in number[0] else int(number[0])) if number else None
    if kind.startswith("bool_"):
        said = _plain(str(given))
        return True if said in _YES else False if said in _NO else None
    if kind in ("literal_error", "enum") and isinstance(given, str):
        return given.strip().strip("*_`\"'.").lower()
    return None


def _as_list(given: Any) -> list[Any]:
    """One thing as a list of one; an object whose keys are numbers as the list of its values."""
    if given in (None, "", {}):
        return []
    if isinstance(given, dict) and all(_NUMBER.fullmatch(str(key)) for key in given):
        return list(given.values())
    return [given]


def _as_text(given: Any) -> str:
    if given is None:
        return ""
    if isinstance(given, bool):
        return "yes" if given else "no"
    if isinstance(given, list) and all(isinstance(item, (str, int, float)) for item in given):
        return ", ".join(map(str, given))
    if isinstance(given, dict) and len(given) == 1:
        return _as_text(next(iter(given.values())))
    return str(given) if isinstance(given, (int, float)) else json.dumps(given, ensure_ascii=False)
