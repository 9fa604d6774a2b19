"""A question as the routes need it: its vector, its words for the full-text index, the names that it may hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from kgplatform.errors import InputError
from kgplatform.models.embed import Embedder, embed_question
from kgplatform.text import WORD_RUN, normalise_name, tidy

_LONGEST_NAME = 12
"""Words of a name that a question is searched for."""
_MOST_WORDS = 200
_DIGITS = 6
"""Of each number of the vector: finer than the stored vectors are (0.00002), and short enough for a trace to print."""


@dataclass(frozen=True, slots=True)
class EmbeddedQuestion:
    """``vector``: floats, length 1. ``words``: a full-text query. ``names``: runs of up to 12 words, normalised."""

    text: str
    vector: list[float]
    words: str
    names: tuple[str, ...]


def make_question(text: str, embedder: Embedder) -> EmbeddedQuestion:
    """Raises ``InputError`` for a question without any word."""
    text = asked(text)
    return EmbeddedQuestion(text, question_vector(text, embedder), full_text_words(text), names_in(text))


def asked(text: str) -> str:
    """``text`` with its white space folded. Raises ``InputError`` for what is no text or has no word."""
    if not isinstance(text, str):
        raise InputError(f"A question is a text, not {text!r:.100}.")
    text = tidy(text)
    if not WORD_RUN.search(text):
        raise InputError("The question is empty. Ask it in words.")
    return text


def question_vector(text: str, embedder: Embedder) -> list[float]:
    """The vector of a question, as statements get it."""
    return [round(number, _DIGITS) for number in embed_question(embedder, text).tolist()]


def full_text_words(text: str) -> str:
    """The words of ``text`` as a query that Lucene cannot read as operators, wildcards or fields."""
    words = [word.lower() for word in WORD_RUN.findall(text)[:_MOST_WORDS]]
    return " ".join(f'"{word}"' for word in dict.fromkeys(words))


def names_in(text: str) -> tuple[str, ...]:
    """Every run of words of ``text``, with the punctuation inside it, as a normalised name."""
    return tuple(sorted({normalise_name(run) for run in runs_in(text)}))


def runs_in(text: str) -> list[str]:
    """Every run of words of ``text``, with the punctuation inside it, as it is written."""
    spans = [match.span() for match in WORD_RUN.finditer(text)][:_MOST_WORDS]
    return [
        text[spans[first][0] : spans[last][1]]
        for first in range(len(spans))
        for last in range(first, min(first + _LONGEST_NAME, len(spans)))
    ]


def is_name(name: str, text: str) -> bool:
    """Whether ``text`` may mean ``name`` as a name; one Latin word only where it is written with a capital."""
    return " " in name or not name.isascii() or _has_capital(name, text)


def is_proper_name(name: str, text: str) -> bool:
    """Whether ``text`` means ``name`` as a name: "Salt March", not "political party", if its capitals tell at all."""
    if not name.isascii() or text == text.lower():
        return is_name(name, text)
    return _has_capital(name, text)


def _has_capital(name: str, text: str) -> bool:
    return name in _names_with_capitals(text)


@lru_cache(maxsize=64)
def _names_with_capitals(text: str) -> frozenset[str]:
    """The runs of words with a capital in one of them, as normalised names; asked for once for each name of a text."""
    return frozenset(normalise_name(run) for run in runs_in(text) if run != run.lower())


def stands_alone(name: str, text: str) -> bool:
    """Whether ``name`` stands in ``text`` other than inside a hyphenated word: "Tai Chi", but not in "Tai Chi-tao"."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", normalise_name(text)) is not None


def longest_names(text: str, names: Iterable[str]) -> set[str]:
    """Of ``names`` that stand in ``text``, those that are not part of a longer one: "New York City", but not "York"."""
    normal = normalise_name(text)
    taken: list[tuple[int, int]] = []
    kept: set[str] = set()
    for name in sorted(set(names), key=lambda name: (-len(name), name)):
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", normal):
            if not any(start < match.end() and match.start() < end for start, end in taken):
                taken.append(match.span())
                kept.add(name)
    return kept
