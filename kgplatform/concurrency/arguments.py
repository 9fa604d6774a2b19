"""Arguments of other types than a method takes are refused with one sentence, before anything is done.

    @checked
    class Look:
        def find(self, text: str, limit: int = 20) -> tuple[GraphNode, ...]: ...

    look.find(5)        # InputError: text=5 cannot be used: it must be a text.

A type checker says so earlier; this is for notebooks and for programs without one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import FunctionType, NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from kgplatform.errors import wrong_value

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=type)

_Fits = Callable[[object], bool]

_PLAIN: dict[Any, tuple[_Fits, str]] = {
    str: (lambda value: isinstance(value, str), "a text"),
    int: (lambda value: isinstance(value, Integral) and not isinstance(value, bool), "a whole number"),
    float: (lambda value: isinstance(value, Real) and not isinstance(value, bool), "a number"),
    bool: (lambda value: isinstance(value, bool), "True or False"),
    Path: (lambda value: isinstance(value, PathLike), "a path"),
    Mapping: (lambda value: isinstance(value, Mapping), "a dictionary"),
    dict: (lambda value: isinstance(value, dict), "a dictionary"),
    Callable: (callable, "a function"),
}


def checked(kind: C) -> C:
    """The class ``kind``, whose own public methods are ``typed``."""
    for name, method in list(vars(kind).items()):
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(kind, name, typed(method))
    return kind


def typed(method: Callable[P, T]) -> Callable[P, T]:
    """``method``, which raises ``InputError`` for an argument of another type than its signature says. Protocols,
    literals and what is ``Any`` are left to the method itself, and so is what they are an alternative to."""

    @functools.wraps(method)
    def call(*args: P.args, **named: P.kwargs) -> T:
        wanted, signature = _wanted(method)
        try:
            given = signature.bind(*args, **named).arguments
        except TypeError:
            return method(*args, **named)  # whose own error says it best
        for name, value in given.items():
            if name in wanted and not wanted[name][0](value):
                raise wrong_value(name, value, f"it must be {wanted[name][1]}")
        return method(*args, **named)

    return call


@functools.cache
def _wanted(method: Callable[..., Any]) -> tuple[dict[str, tuple[_Fits, str]], inspect.Signature]:
    """What each argument of ``method`` must be, in code and in words, where that can be told; and its signature."""
    signature = inspect.signature(method)
    kept = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    names = [each.name for each in signature.parameters.values() if each.kind not in kept and each.name != "self"]
    # What a method returns may be known to type checkers alone.
    alone = FunctionType((lambda: None).__code__, inspect.unwrap(method).__globals__)
    alone.__annotations__ = {name: method.__annotations__[name] for name in names if name in method.__annotations__}
    hints = get_type_hints(alone)
    return {name: found for name in hints if (found := _check(hints[name]))}, signature


def _check(hint: Any) -> tuple[_Fits, str] | None:
    """Whether a value fits ``hint``, and the words for it; None where that cannot be told."""
    if get_origin(hint) in (Union, UnionType):
        parts = [_check(part) for part in get_args(hint) if part is not NoneType]
        if None in parts:
            return None
        known = [part for part in parts if part is not None]
        can_be_none = NoneType in get_args(hint)
        words = " or ".join(dict.fromkeys(words for _, words in known))
        return (lambda value: (value is None and can_be_none) or any(fits(value) for fits, _ in known)), words
    origin = get_origin(hint) or hint
    if origin is Sequence:
        return _sequence(get_args(hint))
    if origin in _PLAIN:
        return _PLAIN[origin]
    if isinstance(origin, type) and origin is not object and not getattr(origin, "_is_protocol", False):
        return (lambda value: isinstance(value, origin)), f"a {origin.__name__}"
    return None


def _sequence(items: tuple[Any, ...]) -> tuple[_Fits, str] | None:
    inner = _check(items[0]) if items else None
    if inner is None:
        return None
    fits = inner[0]
    return (
        lambda value: isinstance(value, Sequence) and not isinstance(value, str | bytes) and all(map(fits, value))
    ), "a list of texts" if str in (*get_args(items[0]), items[0]) else "a list"
