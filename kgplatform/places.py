"""Finding an extractor's words in the text that they come from.

    find_words("Mary  Shelley’s novel", "Is Mary Shelley's novel old?")    # Place(start=3, end=23, exact=False)

Offsets count code points of the text that was searched, half open.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from kgplatform.folding import fold, fold_words, is_bounded, with_marks
from kgplatform.sentences import Sentence, sentences
from kgplatform.text import is_unspaced, normalise_name

_NEAR = 85.0
"""Least ``partial_ratio`` of words that count as nearly found."""

_SHORTEST_NEAR = 12
_SHORTEST_NEAR_UNSPACED = 6
_LONGEST_NEAR = 1000
"""Longer words are looked for to the letter and folded only: the time for near ones grows with the product."""

_SHORTEST_INSIDE = 4
_DIGITS = re.compile(r"\d+")
_OMISSION = re.compile(r"\[?(?:\.\.\.|…)\]?")


@dataclass(frozen=True, slots=True)
class Place:
    """Where words stand: ``text[start:end]``. ``exact`` means that they stand there to the letter."""

    start: int
    end: int
    exact: bool


def find_words(words: str, text: str) -> Place | None:
    """The first place of ``words`` in ``text``: to the letter, else folded (see ``folding``), else nearly.

    Words that leave something out ("the ship … sank") are found from their first part to their last. Near places
    differ by few letters and by no number.
    """
    words = words.strip()
    if not _says_something(words):
        return None
    return _first(words, text) or _folded(words, text) or _with_omission(words, text) or _near(words, text)


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
        places_of_name = _places_of(name, text)
        if places_of_name:
            places.append(places_of_name)
        elif normalise_name(name) not in free:
            return None
    return (_shared_sentence(places, text) or _window(places)) if places else None


def find_names(name: str, text: str) -> list[Place]:
    """All places where ``text`` names ``name``, from left to right: as written, or else folded.

    A name begins and ends where words do. A short name in capitals is not its lower-case word ("IT", "it").
    """
    name = name.strip()
    if not _says_something(name):
        return []
    exact = [Place(start, end, True) for start, end in _occurrences(name, text) if is_bounded(text, start, end)]
    return exact or [
        Place(start, end, False)
        for start, end in _folded_occurrences(name, text)
        if is_bounded(text, start, end) and not (_is_acronym(name) and text[start:end].islower())
    ]


def _says_something(words: str) -> bool:
    return any(letter.isalnum() for letter in words)


def _occurrences(words: str, text: str) -> Iterator[tuple[int, int]]:
    at = text.find(words)
    while at >= 0:
        yield at, at + len(words)
        at = text.find(words, at + len(words))


def _folded_occurrences(words: str, text: str) -> Iterator[tuple[int, int]]:
    folded = fold_words(words)
    if folded:
        for start, end in fold(text).occurrences(folded):
            yield start, with_marks(text, end)


def _is_acronym(name: str) -> bool:
    return len(name) <= 4 and name.isupper()


def _first(words: str, text: str) -> Place | None:
    span = _best_span(_occurrences(words, text), words, text)
    return Place(*span, exact=True) if span else None


def _folded(words: str, text: str) -> Place | None:
    span = _best_span(_folded_occurrences(words, text), words, text)
    return Place(*span, exact=False) if span else None


def _best_span(spans: Iterator[tuple[int, int]], words: str, text: str) -> tuple[int, int] | None:
    """The first span that begins and ends where words do, else the first one, unless it is only some letters."""
    inside = None
    for start, end in spans:
        if is_bounded(text, start, end):
            return start, end
        if with_marks(text, end) == end:
            inside = inside or (start, end)
    return inside if len(words) >= _SHORTEST_INSIDE else None


def _with_omission(words: str, text: str) -> Place | None:
    parts = [part.strip() for part in _OMISSION.split(words) if part.strip()]
    if len(parts) < 2:
        return None
    start, end = None, 0
    for part in parts:
        place = _first(part, text[end:]) or _folded(part, text[end:])
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
    start, end = _widen(text, start, end)
    if start >= end or set(_DIGITS.findall(wanted)) - set(_DIGITS.findall(fold_words(text[start:end]))):
        return None
    return Place(start, end, exact=False)


def _widen(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without punctuation and space at its ends, and with the whole of the words that it cuts."""
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    while not is_bounded(text, start, len(text)):
        start -= 1
    while not is_bounded(text, 0, end):
        end += 1
    return start, end


def _places_of(name: str, text: str) -> list[Place]:
    places = find_names(name, text)
    if places:
        return places
    place = find_words(name, text)
    return [place] if place else []


@lru_cache(maxsize=32)
def _sentences_of(text: str) -> tuple[Sentence, ...]:
    return tuple(sentences(text))


def _shared_sentence(places: Sequence[Sequence[Place]], text: str) -> Place | None:
    """The shortest sentence with at least one place of each name."""
    shared = set.intersection(*({number for place in of_name for number in _around(place, text)} for of_name in places))
    if not shared:
        return None
    fitting = [_sentences_of(text)[number] for number in shared]
    shortest = min(fitting, key=lambda sentence: (sentence.end - sentence.start, sentence.start))
    return Place(shortest.start, shortest.end, exact=False)


def _around(place: Place, text: str) -> list[int]:
    """The number of the sentence that holds all of ``place``, if one does."""
    all_sentences = _sentences_of(text)
    number = bisect_right(all_sentences, place.start, key=lambda sentence: sentence.start) - 1
    return [number] if number >= 0 and place.end <= all_sentences[number].end else []


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
