"""Questions that ask which of two is older, larger or first: the number that a text gives for each decides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from kgplatform.readers.families import Word
from kgplatform.readers.telling import telling

_EARLY = "older oldest earlier earliest first before elder eldest"
_LATE = "younger youngest later latest last recently newer newest"
_LARGE = "larger largest taller tallest longer longest bigger biggest higher highest heavier greater deeper wider"
_SMALL = "smaller smallest shorter shortest lower lowest lighter fewer fewest"
_ASKS = re.compile(r"\b(?P<way>" + "|".join(f"{_EARLY} {_LATE} {_LARGE} {_SMALL}".split()) + r")\b", re.IGNORECASE)
_OR = re.compile(r"\bor\b")


class Unit(Protocol):
    """A sentence that was read, and the keys of its title."""

    @property
    def words(self) -> Sequence[Word]: ...

    @property
    def about(self) -> frozenset[str]: ...


class Units(Protocol):
    """All sentences that were read."""

    @property
    def units(self) -> Sequence[Unit]: ...


def compares(question: str) -> bool:
    """Whether ``question`` asks which of two is older, larger or the like."""
    return bool(_ASKS.search(question) and _OR.search(question))


def compared(question: str, said: Sequence[frozenset[str]], read: Units) -> str:
    """Why the other one of the two that ``question`` compares is the answer; empty where that cannot be told.

    ``said``: the keys of the names and numbers of the answer. It is told for a bare name alone.
    """
    asks, between = _ASKS.search(question), _OR.search(question)
    if asks is None or between is None or not said:
        return ""
    one, other = _names(question[: between.start()])[-1:], _names(question[between.end() :])[:1]
    if not one or not other:
        return ""
    first, second = one[0] - other[0], other[0] - one[0]
    chosen = [any(keys & name for keys in said) for name in (first, second)]
    if sum(chosen) != 1 or not all(keys & (one[0] | other[0]) for keys in said):
        return ""
    way = asks["way"].lower()
    years = way in f"{_EARLY} {_LATE}".split()
    values = [next(_values(name, read, years), None) for name in (first, second)]
    if values[0] is None or values[1] is None or values[0] == values[1]:
        return ""
    least = way in f"{_EARLY} {_SMALL}".split()
    is_first = (values[0] < values[1]) == least
    return "" if chosen[0] == is_first else f"What was read says that the other one is {way}."


def _names(text: str) -> list[frozenset[str]]:
    """The keys of each name in ``text``: words with capitals that follow each other."""
    names: list[frozenset[str]] = []
    before = False
    for word in telling(text):
        if word.kind == "name":
            names = [*names[:-1], names[-1] | word.keys] if before and names else [*names, word.keys]
        before = word.kind == "name"
    return names


def _values(name: frozenset[str], read: Units, years: bool) -> Iterator[float]:
    """The years, or the other numbers, of the sentences about ``name``, from the first on."""
    for unit in read.units:
        keys = unit.about.union(*(word.keys for word in unit.words))
        if not name & keys:
            continue
        for word in unit.words:
            if word.kind in ("number", "date"):
                numbers = [float(key[1:]) for key in word.keys if key[0] == "#"]
                fitting = [value for value in numbers if (1000 <= value <= 2100) == years]
                if fitting:
                    yield max(fitting)
