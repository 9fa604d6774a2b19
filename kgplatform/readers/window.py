"""A language model's window: what a prompt costs in it, and what has to be divided so that it fits.

    window = Window(4096)
    room = window.room(messages)                 # messages without their data
    for page in pack(pieces, room): …            # the indices of the pieces of each prompt

Nothing is left out: pieces are put on as many pages as they need, and a piece that is larger than a page is cut by
``cut`` into parts that are all of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgplatform.errors import InputError
from kgplatform.prompt import Messages
from kgplatform.text import count_tokens, tokens_more
from kgplatform.text.sentences import LIKELY, ranked_sentences

SMALLEST = 1000
"""Tokens. In less, no prompt of the readers leaves room for data."""
_LEAST_ROOM = 100  # tokens of text that a prompt must have room for
NAME_TOKENS = 60
"""A longer name is shown cut."""
_SHARE = 0.9  # of the window that a prompt may fill by our count, which can be a tenth below the server's
_PER_MESSAGE = 4
_LETTERS = 5  # of a token, about: where the end of a part is looked for first
_LINES = re.compile(r"\n+")
_LONG_NAME = re.compile(r"[A-Z][a-z]{5,}")
_LONG_WORD = re.compile(r"[A-Za-z]{12,}")
_WORD = re.compile(r"\S+\s*")


@dataclass(frozen=True, slots=True)
class Window:
    """A window of ``tokens``, nine tenths of which prompt and reply fill at most; ``reply``: what is kept for it."""

    tokens: int
    reply: int = 0

    @property
    def limit(self) -> int:
        """Tokens of the largest prompt, by our count."""
        return int(self.tokens * _SHARE) - self.reply

    def room(self, messages: Messages) -> int:
        """How many tokens of data ``messages`` leave room for; below 0 where they are too large already."""
        return self.limit - cost(messages)

    def check(self, question: str, room: int, least: int, what: str) -> None:
        """Raise ``InputError`` where ``room`` tokens are fewer than the ``least`` for ``what``, which says if a shorter
        ``question`` would do."""
        length, lacking = tokens(question), least - room
        if 0 < lacking < length:
            raise InputError(
                f"The question has about {length:,} tokens, and a window of {self.tokens:,} tokens leaves room for "
                f"{length - lacking:,}. Ask it in fewer words, or raise window_tokens.",
                "window_tokens",
            )
        if lacking > 0:
            said = f"A window of {self.tokens:,} tokens has no room for {what}. Raise window_tokens."
            raise InputError(said, "window_tokens")


def window_of(window_tokens: int | None, preset: str, context: int, paper: int) -> int:
    """The window that is asked for, else that of the ``paper``, else that of the model: ``context``."""
    return window_tokens or (paper if preset == "paper" else context)


def room_for(window: Window, question: str, messages: Messages, reserved: int = 0) -> int:
    """Tokens of text that fit into ``messages``, beside the reply and what is ``reserved``. Raises ``InputError``."""
    room = window.room(messages) - reserved
    window.check(question, room, _LEAST_ROOM, "a text")
    return room


def cost(messages: Messages) -> int:
    """The tokens of a prompt."""
    return sum(tokens(message["content"]) + _PER_MESSAGE for message in messages)


def tokens(text: str) -> int:
    """About how many tokens ``text`` takes in a window, rather too many than too few.

    ``count_tokens`` is made for prose, and for the default model. Lists of names, one a line, cost a third more (every
    line end is a token, names are rarely one). Compounds, as German has, and letters other than English ones cost up to
    three times as much with other models: of six tokenizers in use, none needs a tenth more for a text in any of the
    fifteen languages of docs/explanation/benchmarks/languages.md.
    """
    return math.ceil(_weight(text))


def pack(pieces: Sequence[str], room: int) -> list[list[int]]:
    """The indices of ``pieces`` by page: in order, whole, each page within ``room`` tokens. A line end is counted after
    each piece. A piece larger than ``room`` has a page to itself: ``cut`` it before."""
    pages: list[list[int]] = []
    left = 0.0
    for number, piece in enumerate(pieces):
        weight = _weight(piece) + 1
        if not pages or weight > left:
            pages.append([])
            left = float(room)
        pages[-1].append(number)
        left -= weight
    return pages


def cut(text: str, room: int) -> list[str]:
    """``text`` in parts of at most ``room`` tokens, at ends of sentences, else of lines, between words, or anywhere.
    The parts joined are ``text``, white space and all."""
    parts: list[str] = []
    while text:
        end = head(text, room)
        parts.append(text[:end])
        text = text[end:]
    return parts


def head(text: str, room: int) -> int:
    """Where the first part of ``text`` ends, as ``cut`` cuts it: all of it if it fits, and never nothing."""
    within = _longest(text, room)
    if within == len(text):
        return within
    starts = [start for start, _, _ in ranked_sentences(text[: within + 1], LIKELY) if 0 < start <= within]
    if starts:
        return starts[-1]
    lines = [found.end() for found in _LINES.finditer(text[:within]) if found.end() > within // 2]
    if lines:
        return lines[-1]
    ends = [found.end() for found in _WORD.finditer(text[:within]) if found.end() < within or text[within].isspace()]
    return ends[-1] if ends else within


def short_name(name: str, most: int = NAME_TOKENS) -> str:
    """A name or title as prompts show it: on one line, and in ``most`` tokens."""
    name = " ".join(name.split())
    end = head(name, most)
    return name if end == len(name) else f"{name[:end].rstrip()}…"


def _longest(text: str, room: int) -> int:
    """Characters of the longest beginning that fits into ``room``, at least one. Looks not far beyond it."""
    high = max(1, _LETTERS * room)
    while high < len(text) and tokens(text[:high]) <= room:
        high *= 2
    low, high = 1, min(high, len(text))
    if tokens(text[:high]) <= room:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle]) <= room else (low, middle - 1)
    return low


def _weight(text: str) -> float:
    extra = len(_LINES.findall(text)) + 0.5 * len(_LONG_NAME.findall(text)) + len(_LONG_WORD.findall(text))
    return count_tokens(text) + extra + tokens_more(text)
