"""Sentences that answer a question, found by the words that they share with it: what simulated readers go by.

    tell("Where was the keeper of the Red Lamp born?", texts).text

Nothing is understood. The sentence that shares enough words with the question comes first; where it lacks some of them,
one that has a name of it and words of those follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from kgplatform.evaluate.needles import RANKS
from kgplatform.text.sentences import sentences

_SMALL_WORDS = (
    "a an the of in on at by to for from with into over under after before and or but if as that this these those it "
    "its he she his her they their them who whom whose which what when where why how is are was were be been being has "
    "have had do does did not no about there here than then so such one same tell told your part man later"
)
_SMALL = frozenset(_SMALL_WORDS.split())
WORD = re.compile(r"[^\W_]+")
_NAME = re.compile(r"\b[A-Z][\w'’-]+(?: (?:(?:of|the|de|la|and|du) )?[A-Z][\w'’-]+)*")
_STEM = 5
_LEAST_SHARED, _LEAST_SHARE = 2, 0.25
_MOST_SENTENCES = 3
_KEPT = 50_000


@dataclass(frozen=True)
class Told:
    """The sentences that answer a question, best first, and the words of it that none of them has."""

    sentences: tuple[str, ...]
    lacks: tuple[str, ...]

    @property
    def text(self) -> str:
        """As a reply gives it; empty where nothing was told."""
        return " ".join(self.sentences)

    def lead(self, question: str) -> str:
        """A name that the sentences have and the question has not, from which to look on; empty where there is none."""
        return next(iter(names_in(self.text, question)), "") if self.lacks else ""


def tell(question: str, texts: Iterable[str]) -> Told:
    """What ``texts`` say to ``question``: the sentence with most of its words, then those that a name of it leads to.

    >>> tell("Where was the keeper of the Red Lamp born?", ["Ann Ottley was the keeper of the Red Lamp."]).lacks
    ('born',)
    """
    texts = list(texts)
    if ranked := by_rank(question, " ".join(texts)):
        return Told((ranked,), ())
    asked = stems_of(question)
    said = [(each, stems_of(each)) for text in texts for each in sentences_of(text)]
    first = _most(said, asked, _LEAST_SHARED)
    if first is None or len(asked.keys() & stems_of(first)) < _LEAST_SHARE * len(asked):
        return Told((), tuple(asked.values()))
    chosen = [first]
    lacking = _without(asked, first)
    while lacking and len(chosen) < _MOST_SENTENCES:
        names = names_in(" ".join(chosen), question)
        led = [(each, stems) for each, stems in said if each not in chosen and any(name in each for name in names)]
        following = _most(led, lacking, 1)
        if following is None:
            break
        chosen.append(following)
        lacking = _without(lacking, following)
    return Told(tuple(chosen), tuple(lacking.values()))


def tell_of(name: str, question: str, texts: Iterable[str]) -> str:
    """The sentence about ``name`` that has most words of ``question``; empty where there is none."""
    said = [(each, stems_of(each)) for text in texts for each in sentences_of(text) if name in each]
    return _most(said, _without(stems_of(question), name), 1) or ""


def shared(question: str, text: str) -> int:
    """How many words of ``question`` stand in ``text``."""
    return len(stems_of(question).keys() & stems_of(text).keys())


def names_in(text: str, question: str = "") -> list[str]:
    """The names in ``text`` that the question has not, in order, each once."""
    found = (_without_opener(each) for each in _NAME.findall(text))
    return [each for each in dict.fromkeys(found) if len(each) > 3 and each not in question]


def _most(said: Sequence[tuple[str, Mapping[str, str]]], asked: Mapping[str, str], least: int) -> str | None:
    """The sentence whose words in common with ``asked``, ``least`` at least, are the rarest; of equals the shortest.

    One that has no other words says nothing: it is a heading.
    """
    held = {stem: sum(stem in stems for _, stems in said) for stem in asked}
    best, chosen = (0.0, 0), None
    for each, stems in said:
        common = asked.keys() & stems.keys()
        if len(common) >= least and stems.keys() - asked.keys():
            score = (round(sum(log(1 + len(said) / held[stem]) for stem in sorted(common)), 9), -len(each))
            if chosen is None or score > best:
                best, chosen = score, each
    return chosen


def _without(asked: Mapping[str, str], text: str) -> dict[str, str]:
    found = stems_of(text)
    return {stem: word for stem, word in asked.items() if stem not in found}


@lru_cache(maxsize=_KEPT)
def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of ``text``, each on one line; the pairs of a dictionary apart."""
    found = (text[each.start : each.end] for each in sentences(text))
    lines = (line for each in found for line in re.split(r",\n|(?<=[.!?])\s", each))
    return tuple(" ".join(line.split()) for line in lines if line.strip())


@lru_cache(maxsize=_KEPT)
def stems_of(text: str) -> dict[str, str]:
    """The words that say something, by their first letters."""
    words = [word for word in WORD.findall(text) if word.lower() not in _SMALL and (len(word) > 1 or word.isdigit())]
    return {word.lower()[:_STEM]: word for word in reversed(words)}


def _without_opener(name: str) -> str:
    first, _, rest = name.partition(" ")
    return rest if first.lower() in _SMALL else name


def by_rank(question: str, text: str, *, most: int = 1) -> str:
    """Of a list of numbers the one of the rank that is asked for; the ``most`` that may be it."""
    rank = next((each for each in sorted(RANKS, key=len, reverse=True) if f"{each} number of the list" in question), "")
    numbers = sorted({int(each) for each in re.findall(r"\b\d{6}\b", text)})
    if not (rank and numbers):
        return ""
    if most > 1:
        return ", ".join(map(str, numbers[:1] if RANKS[rank] < 0 else numbers[-most:][::-1]))
    return str(numbers[0] if RANKS[rank] < 0 else numbers[-min(RANKS[rank], len(numbers))])
