"""Places of a result go to passages that say something of their own: not to copies, as of a file that is there twice,
and to tables of contents last, which have the words of every question and answer none.

distinct(passages, 10)      # at most 10; the second "Rain fell." is among ``copies`` of the first
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from kgplatform.records import Citation, FoundPassage
from kgplatform.text.locations import citation_of

SPARE = 5
"""Passages beyond those that are asked for, to take the places that become free."""
_LEADER = re.compile(r"(?:\.\s?){4,}|…{2,}")
"""What leads from a heading to the number of its page."""
_HEADING = re.compile(
    r"(?:table of )?contents|inhalt(?:sverzeichnis|sübersicht)?|table des matières|sommaire|[íi]ndice|sommario"
    r"|目次|目录",
    re.IGNORECASE,
)
_SENTENCE_END = (".", "!", "?", "。", ":", ";")
_LINES = 5
_LONGEST_LINE = 90
_SHARE = 0.6


def distinct(passages: Sequence[FoundPassage], count: int) -> tuple[FoundPassage, ...]:
    """The first ``count`` texts of ``passages``, in their order, tables of contents last."""
    same: dict[str, list[FoundPassage]] = {}
    for passage in passages:
        same.setdefault(passage.text, []).append(passage)
    firsts = [with_copies(first, others) for first, *others in same.values()]
    return tuple(sorted(firsts, key=lambda each: is_contents(each.text))[:count])


def with_copies(first: FoundPassage, others: Sequence[FoundPassage]) -> FoundPassage:
    """``first``, which names ``others`` of the same text, and those that these or it named before."""
    places = {place.passage: place for each in (first, *others) for place in (*each.copies, _place(each))}
    del places[first.id]
    return replace(first, copies=tuple(places.values()))


def _place(passage: FoundPassage) -> Citation:
    return citation_of(passage, passage.start, passage.end)


def is_contents(text: str) -> bool:
    """Whether most of ``text`` is a table of contents: headings with leaders, or short lines beneath its title."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < _LINES:
        return False
    entries = [line for line in lines if _LEADER.search(line)]
    titled = next((number for number, line in enumerate(lines) if _HEADING.fullmatch(line)), None)
    if titled is not None:
        entries = max(entries, list(takewhile(_is_heading, lines[titled + 1 :])), key=len)
    said = sum(map(len, map(_words, lines)))
    return len(entries) >= _LINES and sum(map(len, map(_words, entries))) >= _SHARE * said


def _is_heading(line: str) -> bool:
    return len(line) <= _LONGEST_LINE and (not line.endswith(_SENTENCE_END) or _LEADER.search(line) is not None)


def _words(line: str) -> str:
    return _LEADER.sub("", line)
