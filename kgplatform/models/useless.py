"""Replies that say nothing: the prompt's own example sent back, and text that repeats itself without an end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from kgplatform.models.json_text import pieces, value_of

_LEAST_WORDS = 4
"""Of a text that nobody writes a second time by chance."""
_PLACEHOLDER = re.compile(r"\s*(?:<[^<>\n]{2,80}>|\.{3,}|…)\s*")
_TAIL = 600
_LEAST_REPEATS = 4
_SHORTEST_LOOP = 3


def copied(value: Any, messages: Sequence[dict[str, str]]) -> bool:
    """Whether a reply's ``value`` is the example of the prompt, or its placeholders.

    It is where one of its texts stands in an example of the system message and nowhere in what the user says, and is a
    placeholder (``<the answer>``, ``…``) or has at least four words.
    """
    system = "\n".join(message["content"] for message in messages if message["role"] == "system")
    if not system:
        return False
    said = [text.strip() for text in _texts(value)]
    shown = _examples(system)
    data = "\n".join(message["content"] for message in messages if message["role"] != "system")
    return any(text in shown and text not in data for text in said)


@lru_cache(maxsize=64)
def _examples(system: str) -> frozenset[str]:
    """The telling texts in the JSON of a system message, placeholders among them."""
    values = [value_of(piece.text) for piece in pieces(system) if piece.whole]
    texts = (text.strip() for text in _texts(values))
    return frozenset(text for text in texts if _PLACEHOLDER.fullmatch(text) or len(text.split()) >= _LEAST_WORDS)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def is_looped(text: str) -> bool:
    """Whether the end of ``text`` is one piece over and over, at least four times.

    >>> is_looped("The cable broke. " + "It was mended. " * 9)
    True
    """
    tail = text[-_TAIL:].rstrip()
    for length in range(_SHORTEST_LOOP, len(tail) // _LEAST_REPEATS + 1):
        piece = tail[-length:]
        if any(letter.isalnum() for letter in piece) and tail.endswith(piece * _LEAST_REPEATS):
            return True
    return False
