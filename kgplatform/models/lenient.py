"""A reply's value read field by field: what is wrong with one field or one item costs that alone.

    validated({"Answer": 1965, "citations": [{"passage": "[1]"}, 7]}, Reply)    # Reply(answer='1965', citations=[…1…])

Models write a number where a text is asked for, null for nothing, "[1]" or "Passage 1" for 1, one thing for a list of
one, and keys of their own. What is meant is plain, so that is what is read; what cannot be read is left out where the
form can do without it.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar, get_origin

from pydantic import BaseModel, RootModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails

from kgplatform.models.json_text import value_of
from kgplatform.text import type_key

M = TypeVar("M", bound=BaseModel)

_ROUNDS = 6
"""Of mending: each may bring to light what lay below a value of the wrong type."""
_MOST_FAULTS = 200
_DEEPEST_WRAPPING = 4
_LONG_ITEM = 60
"""Characters. A list with an item that is longer is one of lines."""
_MOST_RANGE = 100
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_TEXTS = ("text", "answer", "final_answer", "value", "content", "name")
_YES = "true yes y 1 answerable sufficient ja oui sí si sim да 是 はい"
_NO = "false no n 0 none insufficient notsufficient unanswerable notanswerable nein non não нет 否 いいえ"

_Place = tuple[int | str, ...]


# ------------------------------------------------------------------------------------------------------- single values


def words_of(value: Any, glue: str = "") -> str:
    """The words of a field, of a number, a list or an object too; empty for null.

    ``glue`` stands between the items of a list and the pairs of an object: all that is there. Without it an object is
    its text, if it has one.
    """
    if value is None or isinstance(value, bool):
        return "" if value is None else "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (list, tuple)):
        items = [words for words in (words_of(item, glue) for item in value) if words]
        return (glue or ("\n" if any(len(item) > _LONG_ITEM for item in items) else ", ")).join(items)
    if isinstance(value, dict):
        if len(value) == 1 and next(iter(value)) in _TEXTS:
            return words_of(next(iter(value.values())), glue)
        told = None if glue else next((value[key] for key in _TEXTS if value.get(key)), None)
        if told is not None or (len(value) == 1 and not glue):
            return words_of(next(iter(value.values())) if told is None else told, glue)
        pairs = (f"{key}: {words}" for key, inner in value.items() if (words := words_of(inner, glue)))
        return (glue or "; ").join(pairs)
    return str(value).strip()


def truth_of(value: Any) -> bool | None:
    """True or false, also in words; None where it is neither."""
    said = type_key(words_of(value))
    return True if said in _YES.split() else False if said in _NO.split() else None


def numbers_of(value: Any) -> list[int]:
    """All whole numbers in ``value``, whatever holds them: 3, "[3]", "facts 3-5", [{"fact": "3"}]. Each once."""
    found: list[int] = []
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        found = [int(value)] if math.isfinite(value) else []
    elif isinstance(value, str):
        for first, last in re.findall(r"(\d{1,7})(?:\s*[-–—]\s*[^\W\d]{0,2}(\d{1,7}))?", value):
            end = int(last or first)
            found += range(int(first), end + 1) if 0 <= end - int(first) < _MOST_RANGE else (int(first), end)
    elif isinstance(value, (dict, list, tuple)):
        keys = [key for key in value if numbers_of(str(key))] if isinstance(value, dict) else []
        inner = value.values() if isinstance(value, dict) and not keys else keys or value
        found = [number for item in inner for number in numbers_of(item)]
    return list(dict.fromkeys(found))


def items_of(value: Any) -> list[Any]:
    """The items of a list, or of what should have been one: one thing, or an object whose keys are their numbers."""
    if value in (None, "", {}):
        return []
    if isinstance(value, dict) and all(_NUMBER.fullmatch(str(key).strip("#. ")) for key in value):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else [value]


# --------------------------------------------------------------------------------------------------------------- keys


_key = lru_cache(maxsize=4096)(type_key)
"""The same few keys come again in every reply."""


def plain_keys(value: Any) -> dict[str, Any]:
    """An object with its keys as ``type_key`` has them; of anything else, nothing."""
    return {_key(str(key)): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def first_of(value: Any, keys: str) -> Any:
    """What an object has under the first of ``keys``, however they are spelt; None where it has none."""
    known = plain_keys(value)
    return next((known[key] for each in keys.split() if known.get(key := _key(each)) is not None), None)


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a JSON value, the outer before the inner: what wraps a reply is one of them."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(inner)


def with_arguments(value: Any) -> Any:
    """A call of a function whose arguments are JSON in a text, with the arguments that are meant."""
    for key in ("arguments", "parameters", "input") if isinstance(value, dict) and "name" in value else ():
        if isinstance(said := value.get(key), str) and said.lstrip().startswith("{"):
            return {**value, key: value_of(said) or said}
    return value


def keys_of(name: str, field: FieldInfo) -> list[str]:
    """The keys under which a field is taken, the one that surely works first."""
    alias = field.validation_alias
    choices = getattr(alias, "choices", [alias])
    return [*(choice for choice in choices if isinstance(choice, str)), name]


def keyed(value: dict[str, Any], form: type[BaseModel]) -> dict[str, Any]:
    """``value`` with the keys that ``form`` has for its fields; other keys stay.

    Capitals, spaces, hyphens and stars make no difference. Of several keys of a field the first counts that has
    something.
    """
    if issubclass(form, RootModel):
        return value
    given = {_key(str(key)): key for key in reversed(value)}
    new, other = dict[Any, str](), set[Any]()
    for name, field in form.model_fields.items():
        keys = keys_of(name, field)
        there = [given[key] for key in dict.fromkeys(map(_key, keys)) if key in given]
        if there:
            told = next((key for key in there if value[key] not in (None, "", [], {})), there[0])
            new[told] = keys[0]
            other.update(there)
    return {new.get(key, key): item for key, item in value.items() if key in new or key not in other}


def unwrapped(value: Any, form: type[BaseModel]) -> Any:
    """``value`` without what models put around it: ``[value]``, ``{"result": value}``, ``{"type": "json", "data":
    value}``; or a bare list put into the one field that there is. Raises ``ValidationError`` for an object that has
    none of the fields asked for: with defaults it would pass for an empty answer.
    """
    if issubclass(form, RootModel) or getattr(form, "whole", False) or value == {}:
        return value
    return opened(value, form)


def opened(value: Any, form: type[BaseModel]) -> Any:
    """As ``unwrapped``, also for a form that is given its reply as a whole."""
    wanted = [keys_of(name, field)[0] for name, field in form.model_fields.items()]
    level = [value]
    for _ in range(_DEEPEST_WRAPPING):
        for inner in level:
            if isinstance(inner, dict) and (fitting := keyed(inner, form)).keys() & set(wanted):
                return _innermost(fitting, form, set(wanted))
        level = [each for inner in level for each in _inside(inner)]
    if isinstance(value, list) and _is_one_list(form):
        return {wanted[0]: value}
    missing: list[InitErrorDetails] = [{"type": "missing", "loc": (name,), "input": None} for name in wanted]
    raise ValidationError.from_exception_data(form.__name__, missing)


def _innermost(value: dict[str, Any], form: type[BaseModel], wanted: set[str]) -> dict[str, Any]:
    """``value``, or the object that is all it has: "result" is the key of an answer, and of what wraps one."""
    (key, *more) = value.keys() & wanted
    inner = keyed(value[key], form) if not more and isinstance(value[key], dict) else {}
    return inner if inner.keys() & wanted else value


def _inside(value: Any) -> list[Any]:
    """What may be wrapped in ``value``: the values of an object, the one item of a list."""
    if isinstance(value, dict):
        return [inner for inner in value.values() if isinstance(inner, (dict, list))]
    return value if isinstance(value, list) and len(value) == 1 else []


def _is_one_list(form: type[BaseModel]) -> bool:
    """Whether ``form`` has one field, a list: "[bold] words" is no list of words where a text is wanted."""
    fields = list(form.model_fields.values())
    return len(fields) == 1 and get_origin(fields[0].annotation) in (list, tuple)


# ------------------------------------------------------------------------------------------------------------- mending


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
        return words_of(given)
    if kind in ("list_type", "tuple_type", "set_type"):
        return items_of(given)
    if kind.startswith(("int_", "float_")):
        number = _NUMBER.search(given) if isinstance(given, str) else None
        return (float(number[0]) if "." in number[0] else int(number[0])) if number else None
    if kind.startswith("bool_"):
        return truth_of(given)
    if kind in ("literal_error", "enum") and isinstance(given, str):
        return given.strip().strip("*_`\"'.").lower()
    return None
