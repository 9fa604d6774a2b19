"""A text as ReadAgent reads it: paragraphs, between which it can pause (section 3.1).

    [text[each.start : each.end] for each in paragraphs(text, max_words=320)]

Paragraphs end at blank lines; a line of a transcript where somebody begins to speak, and the heading of a script's
scene, begin one too. Offsets count code points, half open. The time grows with the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from kgplatform.build.chunk import chunk_document
from kgplatform.records import Document
from kgplatform.text import count_tokens, count_words

Style = Literal["prose", "turns", "scenes"]
"""What else begins a paragraph: nothing; whoever speaks next; the next scene."""

_BLANK = re.compile(r"\n[^\S\n]*\n\s*|[\f\u2029]\s*")
_LINE = re.compile(r"\n\s*")
# "Prof. Ada Norrby (chair): ", at most six words that begin with a capital or a digit, or none at all in a script
# without capitals.
_SPEAKER = re.compile(r"[^\W_a-z][\w.'’-]*(?: [^\W_a-z(][\w.'’-]*){0,5}(?: \([^()\n]{1,40}\))? ?[:：](?!//|\d)")
_SCENE = re.compile(r"(?:INT|EXT|EST|I/E)\b[./ ]|SCENE\b|ACT\b|(?:CUT|FADE|DISSOLVE) (?:TO|IN|OUT)\b")
_FEWEST_SPEAKERS = 2
_TOKENS_PER_WORD = 4
"""Of prose, with much to spare (English has 1.3). What has more is hardly parted by white space."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """``text[start:end]`` without white space at its ends, and how long that is in words (``length``)."""

    start: int
    end: int
    words: int


def length(text: str) -> int:
    """The words of ``text`` as white space parts them, as in the paper.

    A text that white space hardly parts (Chinese, a table, a column of numbers) counts a word for four tokens:
    else a book in Chinese were one short page.
    """
    return length_of(count_words(text), count_tokens(text))


def length_of(words: int, tokens: int) -> int:
    """``length`` of a text with so many ``words`` and ``tokens``."""
    return max(words, tokens // _TOKENS_PER_WORD)


def paragraphs(
    text: str,
    max_words: int,
    style: Style = "prose",
    unsure: Iterable[int] = (),
    *,
    whole_lines: bool = False,
    piece_words: int | None = None,
) -> list[Paragraph]:
    """The paragraphs of ``text`` in order; together they are all of it but white space.

    One longer than ``max_words`` is cut at sentence ends (``whole_lines``: at line ends) into pieces of at most
    ``piece_words`` (else ``max_words``); a sentence is cut only if it alone is longer. ``unsure`` are offsets before
    which the white space is not known for certain (``text.rejoin``): whoever speaks there begins a paragraph, though no
    line begins. Numbers of words are 1 or more.
    """
    found: list[Paragraph] = []
    most = piece_words or max_words
    for start, end in _spans(text, style, unsure):
        words = length(text[start:end])
        if words <= max_words:
            found.append(Paragraph(start, end, words))
        elif whole_lines:
            lines = _between(text, start, end, [(gap.start(), gap.end()) for gap in _LINE.finditer(text, start, end)])
            for first, last in _packed(text, lines, most):
                found += _pieces(text, first, last, most)
        else:
            found += _pieces(text, start, end, most)
    return found


def _spans(text: str, style: Style, unsure: Iterable[int]) -> list[tuple[int, int]]:
    gaps = [(gap.start(), gap.end()) for gap in _BLANK.finditer(text)]
    if style != "prose":
        gaps += _gaps_before(text, _SPEAKER if style == "turns" else _SCENE, unsure, every=style == "turns")
    return _between(text, 0, len(text), sorted(gaps))


def _gaps_before(text: str, mark: re.Pattern[str], unsure: Iterable[int], *, every: bool) -> list[tuple[int, int]]:
    """The white space before each line, and each of ``unsure``, that begins with ``mark``.

    ``every``: before every line, where hardly any has the mark.
    """
    lines = [(gap.start(), gap.end()) for gap in _LINE.finditer(text)]
    places = [(place, place) for place in {0, *unsure}]
    marked = [gap for gap in (*lines, *places) if mark.match(text, gap[1])]
    return lines if every and len(marked) < _FEWEST_SPEAKERS else marked


def _between(text: str, start: int, end: int, gaps: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """What lies between ``gaps``, which are in order and may overlap, without white space at its ends."""
    found: list[tuple[int, int]] = []
    at = start
    for first, last in [*gaps, (end, end)]:
        if first > at:
            piece = text[at:first]
            left = at + len(piece) - len(piece.lstrip())
            right = at + len(piece.rstrip())
            if left < right:
                found.append((left, right))
        at = max(at, last)
    return found


def _packed(text: str, spans: list[tuple[int, int]], max_words: int) -> Iterator[tuple[int, int]]:
    """Neighbours of ``spans`` joined up to ``max_words``."""
    first, words = 0, 0
    for place, (start, end) in enumerate(spans):
        more = length(text[start:end])
        if words and words + more > max_words:
            yield spans[first][0], spans[place - 1][1]
            first, words = place, 0
        words += more
    if spans:
        yield spans[first][0], spans[-1][1]


def _pieces(text: str, start: int, end: int, max_words: int) -> Iterator[Paragraph]:
    """The span in pieces of at most ``max_words``: chunks of as many tokens, since no word has less than one."""
    if length(text[start:end]) <= max_words:
        yield Paragraph(start, end, length(text[start:end]))
        return
    for chunk in chunk_document(Document("", "", "", "", text[start:end], ""), max_words):
        yield Paragraph(start + chunk.start, start + chunk.end, length(chunk.text))


def covering(found: list[Paragraph], characters: int) -> list[tuple[int, int]]:
    """``[start, end)`` of each paragraph with the white space after it, the first from 0, the last to ``characters``.

    >>> covering([Paragraph(2, 5, 1), Paragraph(7, 9, 1)], 10)
    [(0, 7), (7, 10)]
    """
    starts = [0, *(each.start for each in found[1:])] if found else []
    return list(pairwise([*starts, characters])) if found else []
