"""Second texts about what a passage is about: the sentence that states a date or a place, which is another there, or
the same in other words. What is exchanged is drawn by seed; the sentences are the data sets'.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgplatform.text.times import times_in

SEED = 49
_YEAR = re.compile(r"\d{4}")
_DAY = re.compile(r"(\d{1,2}) ([A-Z][a-z]+),? (\d{4})")
_MONTH_FIRST = re.compile(r"([A-Z][a-z]+) (\d{1,2}),? (\d{4})")


@dataclass(frozen=True, slots=True)
class Said:
    """A ``sentence`` of a passage, and the ``value`` in it that is the only one of ``name`` that ``subject`` has."""

    subject: str
    name: str
    value: str
    sentence: str
    title: str


@dataclass(frozen=True, slots=True)
class Second:
    """``text`` about what ``of`` is about. ``change``: "near" or "far" values contradict it, "form" is the same."""

    of: Said
    text: str
    change: str


def second_texts(said: Sequence[Said], count: int) -> list[Second]:
    """``count`` that contradict a sentence, as many that do not, each of another passage."""
    draw = random.Random(SEED)
    of_name: dict[str, list[str]] = {}
    for each in said:
        of_name.setdefault(each.name, []).append(each.value)
    sentences = {each.title: each for each in said if each.value in each.sentence}
    found: list[Second] = []
    for at, title in enumerate(draw.sample(sorted(sentences), 2 * count)):
        each = sentences[title]
        change = "form" if at % 2 else "near" if at % 4 else "far"
        value = _form(each.value) if change == "form" else _other(each.value, change, of_name[each.name], draw)
        found.append(Second(each, each.sentence.replace(each.value, value, 1), change))
    return found


def _form(value: str) -> str:
    """The same date in another order, else its year alone; a place as it is."""
    if day := _DAY.fullmatch(value):
        return f"{day[2]} {day[1]}, {day[3]}"
    if day := _MONTH_FIRST.fullmatch(value):
        return f"{day[2]} {day[1]} {day[3]}"
    year = _YEAR.search(value)
    return year[0] if year else value


def _other(value: str, change: str, values: Sequence[str], draw: random.Random) -> str:
    """A date few years off where it is to be "near", else another one's value."""
    if change == "near" and (year := _YEAR.search(value)):
        shift = draw.choice((-9, -5, -3, -2, -1, 1, 2, 4, 8))
        return value[: year.start()] + str(int(year[0]) + shift) + value[year.end() :]
    others = sorted({each for each in values if each != value and not _overlap(each, value)})
    return draw.choice(others)


def _overlap(one: str, other: str) -> bool:
    days: Mapping[str, set[str]] = {v: {str(t.since)[:4] for t in times_in(f"({v})")} for v in (one, other)}
    return bool(days[one] & days[other])


def sample(ids: Iterator[str] | Sequence[str], count: int) -> list[str]:
    """``count`` of ``ids`` drawn by seed; all if there are fewer."""
    known = sorted(ids)
    return sorted(random.Random(SEED).sample(known, min(count, len(known))))
