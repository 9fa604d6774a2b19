"""Sub-questions that wait for each other's answers: "#1" stands for the answer of the first.

parts = arrange(["Who directed Jaws?", "When was #1 born?"], "When was the director of Jaws born?", 4)
fill(parts[1], {0: ("Steven Spielberg",)})        # ('When was Steven Spielberg born?',)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from kgplatform.text import normalise_name, tidy

MOST_ANSWERS = 3
"""Answers of one sub-question that are filled in, and searches that a sub-question becomes by them."""

_MARK = re.compile(r"\[\s*#(\d{1,2})\s*\]|(?<![A-Za-z0-9])#(\d{1,2})(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """``needs``: positions (from 0) of the earlier sub-questions whose answers replace the marks in ``text``."""

    text: str
    needs: tuple[int, ...] = ()
    level: int = 0


def arrange(texts: Sequence[str], question: str, most: int) -> tuple[SubQuestion, ...]:
    """Sub-questions in order, numbered again; what says nothing, comes twice or is beyond ``most`` is left out.

    A mark of an earlier one makes it needed; another one gives way to nothing, unless the question itself has it ("the
    #1 hit"). A sub-question that is the only one is the question itself: in other words it would ask for no more.
    """
    own = {_number(mark) for mark in _MARK.finditer(question)}
    places: dict[int, int] = {}
    known: dict[str, int] = {}
    parts: list[SubQuestion] = []
    for number, text in enumerate(map(tidy, texts), 1):
        filled, needs = _with_places(text, places, own)
        key = same_words(filled)
        if key and key not in known and len(parts) < most:
            known[key] = len(parts)
            level = 1 + max((parts[need].level for need in needs), default=-1)
            parts.append(SubQuestion(filled, tuple(sorted(needs)), level))
        if key in known:
            places[number] = known[key]
    return tuple(parts) if len(parts) > 1 else (SubQuestion(question),)


def _with_places(text: str, places: Mapping[int, int], own: set[int]) -> tuple[str, set[int]]:
    """``text`` with the marks that count, by position, and the positions that they name."""
    needs: set[int] = set()

    def put(mark: re.Match[str]) -> str:
        number = _number(mark)
        if number in own:
            return mark[0]
        if number not in places:
            return ""
        needs.add(places[number])
        return f"#{places[number] + 1}"

    return tidy(_MARK.sub(put, text)), needs


def _number(mark: re.Match[str]) -> int:
    return int(mark[1] or mark[2])


def fill(part: SubQuestion, answers: Mapping[int, Sequence[str]]) -> tuple[str, ...]:
    """``part`` with ``answers`` (by position) in place of its marks: a text for each, at most ``MOST_ANSWERS``."""
    chosen = islice(product(*(answers[need] for need in part.needs)), MOST_ANSWERS)
    return tuple(_filled(part, dict(zip(part.needs, words, strict=True))) for words in chosen)


def _filled(part: SubQuestion, words: Mapping[int, str]) -> str:
    return tidy(_MARK.sub(lambda mark: words.get(_number(mark) - 1, mark[0]), part.text))


def bare(text: str) -> str:
    """A question as words inside of another one: without its question mark."""
    return tidy(text).rstrip("?？؟ ")


def same_words(text: str) -> str:
    """Equal for texts that differ in case, spaces and punctuation only; empty if there is no letter or digit."""
    return " ".join(re.findall(r"\w+", normalise_name(text).replace("_", " ")))
