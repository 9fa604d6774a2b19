"""Sentences of a text with exact offsets, by punctuation, line structure and a list of abbreviations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kgplatform.build.extract.words import ABBREVIATIONS

LONGEST_SENTENCE = 2000
"""Characters. A longer "sentence" is a table or a text without punctuation; it is cut at the last space before."""

_LINE_IS_PROSE = 50
_BREAK = re.compile(
    r"""(?P<latin>[.!?\u061f\u06d4\u0964\u0965\u2026]+["'”’»)\]]*)(?=\s)   # end marks followed by space
    |(?P<wide>[。！？｡]+["'”’」』）》]*)                        # full-width end marks need no space
    |(?P<line>[ \t]*(?:\r\n|\n|\r|\u2028|\u2029)\s*)                            # the end of a line
    """,
    re.VERBOSE,
)
_LAST_WORD = re.compile(r"[^\W\d_]+\Z")


@dataclass(frozen=True, slots=True)
class Sentence:
    """``text[start:end]`` of the text that was cut; without space at its ends."""

    start: int
    end: int


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of ``text`` in order. Lines that are short, listed or followed by an empty line end one too."""
    start = 0
    for match in _BREAK.finditer(text):
        if match.end() > start and _ends_sentence(text, start, match):
            yield from _trimmed(text, start, match.end())
            start = match.end()
    yield from _trimmed(text, start, len(text))


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    if match["wide"]:
        return True
    if match["line"] is not None:
        return _line_ends_sentence(text, start, match)
    mark = match["latin"]
    after = text[match.end() : match.end() + 3].lstrip()
    if mark != "." or not after:
        return not after[:1].islower()
    word = _LAST_WORD.search(text, max(start, match.start() - 12), match.start())
    if word is None:
        return not after[0].islower()
    name = word[0]
    initial = len(name) == 1 and name.isupper() and name != "I"
    return not (initial or name.lower() in ABBREVIATIONS or after[0].islower())


def _line_ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    """A line break inside a paragraph of prose does not end a sentence; any other does."""
    if len(re.findall(r"\r\n|\n|\r|\u2028|\u2029", match[0])) > 1:
        return True
    window = text[max(0, match.start() - _LINE_IS_PROSE) : match.start()]
    following = text[match.end() : match.end() + 1]
    is_prose = len(window) == _LINE_IS_PROSE and not set("\n\r\t|") & set(window)
    return not (is_prose and (following.isalnum() or following in "\"'“‘(«"))


def _trimmed(text: str, start: int, end: int) -> Iterator[Sentence]:
    """The span without space at its ends, cut where it is too long; nothing if it holds no letter or digit."""
    while start < end:
        stop = end
        if end - start > LONGEST_SENTENCE:
            space = text.rfind(" ", start + 1, start + LONGEST_SENTENCE)
            stop = space if space > 0 else start + LONGEST_SENTENCE
        left, right = start, stop
        while left < right and text[left].isspace():
            left += 1
        while right > left and text[right - 1].isspace():
            right -= 1
        if left < right:
            yield Sentence(left, right)
        start = stop
