"""Sub-questions: what each waits for, and what stands in the place of an answer that it waits for (section 3.3).

    parts = arrange(["Who directed Jaws?", "When was that director born?"], "When was the director of Jaws born?", 4)
    [(part.text, part.needs) for part in parts]
    # [('Who directed Jaws?', ()), ('When was #1 born?', (0,))]

A mark ``#1`` stands for the answer of the first sub-question, as in MuSiQue's decompositions. Sub-questions without
marks are at level 0 and are searched at the same time; one that needs another is a level above it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from kgplatform.readers.youtu.words_for_answers import mark_references
from kgplatform.text import normalise_name, tidy

MOST_ANSWERS = 3
"""Answers of one sub-question that are filled in, and searches that a sub-question becomes by them."""

_MARK = re.compile(r"\[\s*#(\d{1,3})\s*\]|(?<![A-Za-z0-9])#(\d{1,3})(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """``needs``: positions (from 0) of the earlier sub-questions whose answers replace the marks in ``text``."""

    text: str
    needs: tuple[int, ...] = ()
    level: int = 0


def arrange(texts: Sequence[str], question: str, most: int) -> tuple[SubQuestion, ...]:
    """Sub-questions in order, numbered again; what says nothing, comes twice or is beyond ``most`` is left out.

    Words that stand for an earlier answer ("that film", "the answer to sub-question 1") become its mark; where there is
    no earlier one, the whole question is asked in its place. A mark of an earlier one makes it needed. Any other mark
    gives way to the words of the sub-question that it names, or to nothing; one that the question itself has ("the #1
    hit") is a word like others. So no two wait for each other.
    """
    kept: list[tuple[int, str]] = []
    places: dict[int, int] = {}
    known: dict[str, int] = {}
    for number, text in enumerate(mark_references(list(map(tidy, texts)), question), 1):
        key = same_words(text)
        if key and key not in known and len(kept) < most:
            known[key] = len(kept)
            kept.append((number, text))
        if key in known:
            places[number] = known[key]
    parts: list[SubQuestion] = []
    for position, (number, text) in enumerate(kept):
        filled, needs = _with_marks(text, number, position, places, texts, question)
        level = 1 + max((parts[need].level for need in needs), default=-1)
        parts.append(SubQuestion(filled if same_words(filled) else question, tuple(sorted(needs)), level))
    return tuple(parts) or (SubQuestion(question),)


def _with_marks(
    text: str, number: int, position: int, places: Mapping[int, int], texts: Sequence[str], question: str
) -> tuple[str, set[int]]:
    """``text`` with the marks that count, and the positions that they name."""
    own = {int(mark[1] or mark[2]) for mark in _MARK.finditer(question)}
    needs: set[int] = set()

    def put(mark: re.Match[str]) -> str:
        named = int(mark[1] or mark[2])
        place = places.get(named)
        if named in own:
            return mark[0]
        if place is not None and place < position:
            needs.add(place)
            return f"#{place + 1}"
        other = 1 <= named <= len(texts) and named != number and place != position
        return bare(_MARK.sub("", texts[named - 1])) if other else ""

    return tidy(_MARK.sub(put, text)), needs


def fill(part: SubQuestion, answers: Mapping[int, Sequence[str]]) -> tuple[str, ...]:
    """``part`` with ``answers`` (by position) in place of its marks: a text for each, at most ``MOST_ANSWERS``."""
    chosen = islice(product(*(answers[need] for need in part.needs)), MOST_ANSWERS)
    return tuple(_filled(part, dict(zip(part.needs, words, strict=True))) for words in chosen)


def _filled(part: SubQuestion, words: Mapping[int, str]) -> str:
    def put(mark: re.Match[str]) -> str:
        return words.get(int(mark[1] or mark[2]) - 1, mark[0])

    return tidy(_MARK.sub(put, part.text))


def bare(text: str) -> str:
    """A question as words inside of another one: without its question mark."""
    return tidy(text).rstrip("?？؟ ")


def same_words(text: str) -> str:
    """Equal for texts that differ in case, spaces and punctuation only; empty if there is no letter or digit."""
    return " ".join(re.findall(r"\w+", normalise_name(text).replace("_", " ")))
