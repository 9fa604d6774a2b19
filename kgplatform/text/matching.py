"""Finding an extractor's words in the text that they come from.

    find_words("Mary  Shelley’s novel", "Is Mary Shelley's novel old?")    # Place(start=3, end=23, exact=False)

Offsets count code points of the text that was searched, half open.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from rapidfuzz import fuzz

from kgplatform.text import in_word, is_unspaced, normalise_name
from kgplatform.text.sentences import Sentence, sentences

_NEAR = 85.0
"""Least ``partial_ratio`` of words that count as nearly found."""

_SHORTEST_NEAR = 12
_SHORTEST_NEAR_UNSPACED = 6
_LONGEST_NEAR = 1000
"""Longer words are looked for to the letter and folded only: the time for near ones grows with the product."""

_SHORTEST_INSIDE = 4
_DIGITS = re.compile(r"\d+")
_STROKED = re.compile(r"LATIN SMALL (?:LETTER|LIGATURE) (?:DOTLESS )?([A-Z]{1,2})(?: WITH .*)?")
"""Names of letters that Unicode does not take apart; their accents are gone."""
_OMISSION = re.compile(r"\[?(?:\.\.\.|…)\]?")


@dataclass(frozen=True, slots=True)
class Place:
    """Where words stand: ``text[start:end]``. ``exact`` means that they stand there to the letter."""

    start: int
    end: int
    exact: bool


def find_words(words: str, text: str) -> Place | None:
    """The first place of ``words`` in ``text``: to the letter, else folded (``fold``), else nearly.

    Words that leave something out ("the ship … sank") are found from their first part to their last. Near places
    differ by few letters and by no number.
    """
    words = words.strip()
    if not _says_something(words):
        return None
    return _to_the_letter_or_folded(words, text) or _with_omission(words, text) or _near(words, text)


def find_statement(
    quote: str | None, names: Sequence[str], text: str, understood: Collection[str] = ()
) -> Place | None:
    """Where ``text`` states something: the place of its ``quote``; else, without one or where it is not found, the
    shortest sentence that has all ``names``, else the shortest span that has them. None if one of them is missing.

    ``understood`` are names that the text may leave out as long as it has another one: its title, mostly.
    """
    if quote and (place := find_words(quote, text)):
        return place
    free = {normalise_name(name) for name in understood}
    places = []
    for name in dict.fromkeys(names):
        if found := find_names(name, text) or list(filter(None, [find_words(name, text)])):
            places.append(found)
        elif normalise_name(name) not in free:
            return None
    return (_shared_sentence(places, text) or _window(places)) if places else None


def find_names(name: str, text: str) -> list[Place]:
    """All places where ``text`` names ``name``, from left to right: as written, or else folded. A name begins and ends
    where words do. A short name in capitals is not its lower-case word ("IT", "it")."""
    name = name.strip()
    if not _says_something(name):
        return []
    found = _occurrences(name, text, exact=True)
    exact = [Place(start, end, True) for start, end in found if is_bounded(text, start, end)]
    is_acronym = len(name) <= 4 and name.isupper()
    return exact or [
        Place(start, end, False)
        for start, end in _occurrences(name, text, exact=False)
        if is_bounded(text, start, end) and not (is_acronym and text[start:end].islower())
    ]


def _says_something(words: str) -> bool:
    return any(letter.isalnum() for letter in words)


def _occurrences(words: str, text: str, *, exact: bool) -> Iterator[tuple[int, int]]:
    if exact:
        at = text.find(words)
        while at >= 0:
            yield at, at + len(words)
            at = text.find(words, at + len(words))
    elif folded := fold_words(words):
        for start, end in fold(text).occurrences(folded):
            yield start, with_marks(text, end)


def _to_the_letter_or_folded(words: str, text: str) -> Place | None:
    """The first place that begins and ends where words do, else the first one, unless it is only some letters."""
    for exact in (True, False):
        inside = None
        for start, end in _occurrences(words, text, exact=exact):
            if is_bounded(text, start, end):
                return Place(start, end, exact)
            if with_marks(text, end) == end:
                inside = inside or Place(start, end, exact)
        if inside and len(words) >= _SHORTEST_INSIDE:
            return inside
    return None


def _with_omission(words: str, text: str) -> Place | None:
    parts = [part.strip() for part in _OMISSION.split(words) if part.strip()]
    if len(parts) < 2:
        return None
    start, end = None, 0
    for part in parts:
        place = _to_the_letter_or_folded(part, text[end:])
        if place is None:
            return None
        start = end + place.start if start is None else start
        end += place.end
    return Place(start or 0, end, exact=False)


def _near(words: str, text: str) -> Place | None:
    wanted, folded = fold_words(words), fold(text)
    shortest = _SHORTEST_NEAR_UNSPACED if is_unspaced(words) else _SHORTEST_NEAR
    if not shortest <= len(wanted) <= min(_LONGEST_NEAR, len(folded.text)):
        return None
    found = fuzz.partial_ratio_alignment(wanted, folded.text, score_cutoff=_NEAR)
    if found is None or found.dest_end <= found.dest_start:
        return None
    start, end = folded.origins[found.dest_start], folded.origins[found.dest_end - 1] + 1
    # Without punctuation and space at its ends, and with the whole of the words that it cuts.
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    while not is_bounded(text, start, len(text)):
        start -= 1
    while not is_bounded(text, 0, end):
        end += 1
    if start >= end or set(_DIGITS.findall(wanted)) - set(_DIGITS.findall(fold_words(text[start:end]))):
        return None
    return Place(start, end, exact=False)


@lru_cache(maxsize=32)
def _sentences_of(text: str) -> tuple[Sentence, ...]:
    return tuple(sentences(text))


def _shared_sentence(places: Sequence[Sequence[Place]], text: str) -> Place | None:
    """The shortest sentence with at least one place of each name."""
    every = _sentences_of(text)
    shared = set(range(len(every)))
    for of_name in places:
        numbers = [bisect_right(every, place.start, key=lambda sentence: sentence.start) - 1 for place in of_name]
        shared &= {n for n, place in zip(numbers, of_name, strict=True) if n >= 0 and place.end <= every[n].end}
    shortest = min((every[n] for n in shared), key=lambda each: (each.end - each.start, each.start), default=None)
    return Place(shortest.start, shortest.end, exact=False) if shortest else None


def _window(places: Sequence[Sequence[Place]]) -> Place:
    """The shortest span that has at least one place of each name; the first of equals."""
    marks = sorted((place.start, place.end, name) for name, of_name in enumerate(places) for place in of_name)
    latest: dict[int, tuple[int, int]] = {}
    best: tuple[int, int, int] | None = None
    for start, end, name in marks:
        latest[name] = (start, end)
        if len(latest) == len(places):
            first = min(begin for begin, _ in latest.values())
            last = max(stop for _, stop in latest.values())
            best = min(best or (last - first, first, last), (last - first, first, last))
    if best is None:
        raise ValueError("every name needs a place")
    return Place(best[1], best[2], exact=False)


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
        for part in _fold_letter(letter):
            if part != " " or (letters and letters[-1] != " "):
                letters.append(part)
                origins.append(place)
    return Folded("".join(letters), origins)


@lru_cache(maxsize=8192)
def fold_words(words: str) -> str:
    """``words`` folded, without white space at the ends."""
    return " ".join("".join(map(_fold_letter, words)).split())


def is_bounded(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` begins and ends where words do. Scripts without spaces and Korean, which adds its
    particles, have no such places: there every place will do."""
    if end < len(text) and _joined(text[end - 1], text[end]):
        return False
    if start == 0 or not _joined(text[start - 1], text[start]):
        return True
    return "\u0600" <= text[start] <= "\u06ff" and _ARABIC_PREFIX.search(text, max(0, start - 4), start) is not None


def with_marks(text: str, end: int) -> int:
    """``end``, moved behind the combining marks that belong to the letter before it."""
    while end < len(text) and unicodedata.category(text[end]).startswith("M"):
        end += 1
    return end


def _joined(left: str, right: str) -> bool:
    return in_word(left) and in_word(right) and not is_unspaced(left + right)


@cache
def _fold_letter(letter: str) -> str:
    """What one character becomes, found once per character."""
    if letter in _QUOTES or unicodedata.category(letter) in ("Cf", "Cs"):
        return ""
    if letter.isspace() or unicodedata.category(letter) in ("Pd", "Cc") or letter == "\u2212":
        return " "
    return bare_letter(letter)


@cache
def bare_letter(letter: str) -> str:
    """A letter without case, accents, strokes and ligature: "é" and "E" are "e", "ø" is "o", "æ" is "ae"."""
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", letter).casefold())
    # Without accents (combining class 200 and up) and the Hebrew and Arabic points (10 to 36).
    kept = (part for part in parts if not ((rank := unicodedata.combining(part)) >= 200 or 10 <= rank <= 36))
    return "".join(
        stroked[1].lower() if (stroked := _STROKED.fullmatch(unicodedata.name(part, ""))) else part for part in kept
    )
