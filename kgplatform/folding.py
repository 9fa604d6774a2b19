"""Text folded for comparison, with the way back to the original characters.

Folded away are case, compatibility forms, accents and other marks that only help reading (Latin, Greek, Cyrillic,
Arabic, Hebrew), quotation marks, and the difference between dashes and any run of white space. Vowel signs of Indic
and South-East Asian scripts are kept: there they are letters.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from kgplatform.text import in_word, is_unspaced

_QUOTES = frozenset("'\"`´‘’‚‛“”„‟‹›«»′″「」『』＂＇\u0640")  # and the Arabic lengthening stroke, which says nothing
# "and", "so", "in", "like", "to", "the": written in one with the Arabic word that follows.
_ARABIC_PREFIX = re.compile(r"(?<!\w)[وف]?[بكل]?(?:ال)?\Z")


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded ``text``; its character ``i`` comes from the source's character ``origins[i]``."""

    text: str
    origins: array[int]

    def source_span(self, start: int, end: int) -> tuple[int, int] | None:
        """The source's characters behind ``text[start:end]``; None if the cut goes through one of them."""
        first, last = self.origins[start], self.origins[end - 1]
        if start > 0 and self.origins[start - 1] == first:
            return None
        if end < len(self.origins) and self.origins[end] == last:
            return None
        return first, last + 1

    def occurrences(self, folded_words: str) -> Iterator[tuple[int, int]]:
        """The source's spans in which ``folded_words`` stand, from left to right, without overlap."""
        at = self.text.find(folded_words)
        while at >= 0:
            span = self.source_span(at, at + len(folded_words))
            if span:
                yield span
            at = self.text.find(folded_words, at + (len(folded_words) if span else 1))


# Every text of a few passages at a time is searched for dozens of words; whole documents come one after the other.
@lru_cache(maxsize=32)
def fold(text: str) -> Folded:
    """``text`` folded, remembered for the texts that were folded last."""
    letters: list[str] = []
    origins = array("I")
    for place, letter in enumerate(text):
        for part in _FOLDS[letter]:
            if part != " " or (letters and letters[-1] != " "):
                letters.append(part)
                origins.append(place)
    return Folded("".join(letters), origins)


@lru_cache(maxsize=8192)
def fold_words(words: str) -> str:
    """``words`` folded, without white space at the ends."""
    return " ".join("".join([_FOLDS[letter] for letter in words]).split())


def is_bounded(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` begins and ends where words do.

    Scripts without spaces and Korean, which adds its particles, have no such places: there every place will do.
    """
    return _free_before(text, start) and (end >= len(text) or not _joined(text[end - 1], text[end]))


def with_marks(text: str, end: int) -> int:
    """``end``, moved behind the combining marks that belong to the letter before it."""
    while end < len(text) and unicodedata.category(text[end]).startswith("M"):
        end += 1
    return end


def _free_before(text: str, start: int) -> bool:
    if start == 0 or not _joined(text[start - 1], text[start]):
        return True
    return "\u0600" <= text[start] <= "\u06ff" and _ARABIC_PREFIX.search(text, max(0, start - 4), start) is not None


def _joined(left: str, right: str) -> bool:
    return in_word(left) and in_word(right) and not is_unspaced(left + right)


class _Folds(dict[str, str]):
    """What one character becomes, found once per character."""

    def __missing__(self, letter: str) -> str:
        self[letter] = folded = _fold_letter(letter)
        return folded


_FOLDS = _Folds()


def _fold_letter(letter: str) -> str:
    if letter in _QUOTES or unicodedata.category(letter) in ("Cf", "Cs"):
        return ""
    if letter.isspace() or unicodedata.category(letter) in ("Pd", "Cc") or letter == "\u2212":
        return " "
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", letter).casefold())
    return "".join(part for part in parts if not _only_helps(part))


def _only_helps(mark: str) -> bool:
    """Accents (combining class 200 and up) and the Hebrew and Arabic points (10 to 36)."""
    rank = unicodedata.combining(mark)
    return rank >= 200 or 10 <= rank <= 36
