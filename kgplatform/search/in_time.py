"""Passages by the time that they state of what is asked.

    of_time(passages, "Who was president of the company?", ("1930-01-01", "1931-01-01"))
    # "… president of the company from 1919 to 1943" before "… president of the company from 1945 to 1960"

Facts of other times are left out of a search, passages are not: they say much that is of no time. But what is shown
first is read most.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgplatform.records import FoundPassage
from kgplatform.text.languages import ENGLISH, language_of, stems
from kgplatform.text.sentences import sentences
from kgplatform.text.times import Time, period, times_in


def of_time(passages: Sequence[FoundPassage], question: str, days: tuple[str, str]) -> tuple[FoundPassage, ...]:
    """``passages`` in their order, but first those whose sentence about ``question`` is of ``days`` (the first, and
    that after the last), then those that state no time, then those of other times."""
    words = frozenset(stems(question, language_of(question) or ENGLISH))

    def rank(passage: FoundPassage) -> int:
        times = _times_of(passage.text, words)
        return 2 if _are_others(times, days) else int(not times)

    return tuple(sorted(passages, key=rank))


def is_of_others(sentence: str, days: tuple[str, str]) -> bool:
    """Whether ``sentence`` states times, all of them later than ``days``, or spans that had ended. What happened on an
    earlier day or in an earlier year may be so since."""
    times = times_in(sentence)
    return _are_others(times, days) and not any(_is_point(each) and (each.since or "") < days[0] for each in times)


def _is_point(time: Time) -> bool:
    """Whether it is one day, month or year."""
    letters = {"day": 10, "month": 7, "year": 4}.get(time.granularity)
    return bool(letters and time.since) and period((time.since or "")[:letters]) == (time.since, time.until)


def _are_others(times: Sequence[Time], days: tuple[str, str]) -> bool:
    return bool(times) and not any(each.meets(days) for each in times)


def _times_of(text: str, words: frozenset[str]) -> Sequence[Time]:
    """The times in the sentence that has most of the ``words``, of those that state one."""
    language = language_of(text) or ENGLISH
    best: tuple[int, Sequence[Time]] = (0, ())
    for place in sentences(text):
        said = text[place.start : place.end]
        shared = len(words.intersection(stems(said, language)))
        if shared > best[0] and (times := times_in(said)):
            best = (shared, times)
    return best[1]
