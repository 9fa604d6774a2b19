"""What of a passage fits into a prompt as numbered sentences.

for piece in pieces(passage, 900): …       # all of it, cut where sentences end
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kgplatform.readers.numbering import TITLE
from kgplatform.readers.window import head, short_name, tokens
from kgplatform.records import FoundPassage
from kgplatform.search.found import part_of
from kgplatform.text.numbered import lines, numbered

_NUMBER = "9999"
"""Of a passage, with more digits than most: a text is counted before it has its number."""
_HEADING = 8
"""Tokens of a line "Passage 12: " and the empty line before it."""


@lru_cache(maxsize=4096)
def cost_of(text: str, title: str | None = None) -> int:
    """The tokens of ``text`` as numbered sentences, under its ``title`` if there is one."""
    return tokens(lines(text, _NUMBER)) + (0 if title is None else heading_cost(title))


def heading_cost(title: str) -> int:
    """The tokens of the line above a passage, and of the empty one before it."""
    return tokens(short_name(title, TITLE)) + _HEADING


def length_within(text: str, room: int) -> int:
    """Characters of the first part of ``text`` that takes ``room`` tokens as numbered sentences: never none."""
    left = room
    while True:
        end = head(text, max(1, left))
        excess = cost_of(text[:end]) - room
        if excess <= 0 or left <= 1:
            return end
        left -= excess


def pieces(passage: FoundPassage, room: int) -> Iterator[FoundPassage]:
    """``passage`` in parts of at most ``room`` tokens, each with its title."""
    start = 0
    while start < len(passage.text):
        end = start + length_within(passage.text[start:], room - heading_cost(passage.title))
        yield part_of(passage, passage.start + start, passage.start + end)
        start = end


def end_within(passage: FoundPassage, room: int) -> FoundPassage | None:
    """The last sentences of ``passage`` that fit into ``room`` tokens; None where not one does."""
    starts = [each.start for each in numbered(passage.text)]
    start = next((start for start in starts if cost_of(passage.text[start:], passage.title) <= room), None)
    return None if start is None else part_of(passage, passage.start + start, passage.end)
