"""Whether two values may be forms of one, and whether two texts speak of one thing by its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from kgplatform.extract.aliases import TITLES
from kgplatform.extract.lexicon import PEOPLES
from kgplatform.neo4j.store import Row
from kgplatform.text import normalise_name
from kgplatform.text.languages import ENGLISH, stems
from kgplatform.text.times import Time, times_in

_NEAR = 10
"""Years by which texts are wrong about one thing. Of 25 pairs of one name in three corpora whose dates differ, all of
different people, one is within them."""
_NUMBER = re.compile(r"\d")
_AMOUNT = re.compile(r"\W{0,3}(?:(?:c|ca|circa|about|over|some)\b\.?\s?)?\d")
_THOUSANDS = re.compile(r"(?<=\d)[.,'’ \u00a0](?=\d{3}(?!\d))")


class Said(NamedTuple):
    """What one place states of an entity."""

    fact: str
    kind: str
    name: str
    value: str
    document: str
    passage: str
    start: int
    end: int

    def meets(self, other: Said) -> bool:
        """Whether both are stated by the same words."""
        return self.passage == other.passage and self.start < other.end and other.start < self.end


def are_one(entity: Row, sides: Sequence[Sequence[Said]], single: set[str]) -> bool:
    """Whether what two texts say of ``entity``, a name that they share, may be of one thing.

    Two people of one name have nothing in common, and their times lie far apart. Two texts that contradict each other
    about one thing agree in something else, or their values lie near each other. What one can have several of tells
    less: other words for what somebody is count only beside a time that lies far apart.
    """
    agrees, differs, apart = False, False, 0
    for name in {each.name for each in sides[0]} & {each.name for each in sides[1]}:
        values = [[each for each in side if each.name == name] for side in sides]
        pairs = [(one.value, other.value) for one in values[0] for other in values[1]]
        if name not in single:
            is_alike = any(_words(one) & _words(other) for one, other in pairs)
            agrees, differs = agrees or is_alike, differs or not (is_alike or values[0][0].kind == "triple")
        elif any(agree(*pair) for pair in pairs):
            return True
        else:
            apart += not any(_are_near(*pair) for pair in pairs)
    # A surname, or a given name, is of many.
    is_part = entity["type"] == "Person" and sum(word not in TITLES for word in entity["key"].split()) < 2
    return apart < 2 and (agrees or not (is_part or (apart and differs)))


def _words(value: str) -> set[str]:
    """The telling words of a description: a people's name is of many."""
    return set(stems(" ".join(word for word in value.split() if word.lower() not in PEOPLES), ENGLISH))


def _are_near(one: str, other: str) -> bool:
    """Whether two values are times that one may be mistaken for the other."""
    years = [[int(each.since[:4]) for each in read_value(value)[0] if each.since] for value in (one, other)]
    return any(abs(x - y) <= _NEAR for x in years[0] for y in years[1])


def agree(one: str, other: str) -> bool:
    """Whether two values may be forms of one: the same words, or more of them; the same number; dates of which one is
    within the other. So are values of different kinds, of which one is no value of that ("born in 1815", "born in
    London"), and of different times ("448 in 2000", "806 in 2010").

    >>> agree("10 December 1815", "1815"), agree("1,200 men", "1200 men"), agree("1815", "1816")
    (True, True, False)
    """
    times, rests = zip(*map(read_value, (one, other)), strict=True)
    is_amount = [_NUMBER.search(rest) is not None for rest in rests]
    if all(times):
        overlap = any(
            first.meets((second.since or "", second.until or "~")) for first in times[0] for second in times[1]
        )
        if not (overlap and all(is_amount)):
            return overlap or any(is_amount)
    for value, found, opposite in ((one, times[0], other), (other, times[1], one)):
        if (found or _AMOUNT.match(value)) and not _NUMBER.search(opposite):
            return True
    amounts = [rest if is_one else value for rest, is_one, value in zip(rests, is_amount, (one, other), strict=True)]
    words = [_words_of(value) for value in amounts]
    return words[0] <= words[1] or words[1] <= words[0]


@lru_cache(maxsize=10_000)
def _words_of(value: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w.]+", _THOUSANDS.sub("", normalise_name(value))))


@lru_cache(maxsize=10_000)
def read_value(value: str) -> tuple[Sequence[Time], str]:
    """The times in ``value``, where a bare year is one, and what is left of it without them."""
    times = times_in(f"({value})")
    for each in reversed(times):
        value = value[: max(0, each.start - 1)] + value[each.end - 1 :]
    return times, value
