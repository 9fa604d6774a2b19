"""A question as the routes need it: its vector, its words for the full-text index, the names that it may hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from kgplatform.errors import InputError
from kgplatform.models.embed import Embedder, embed_question, knows_english_only
from kgplatform.text import UNSPACED, WORD_RUN, is_unspaced, normalise_name, tidy
from kgplatform.text.languages import (
    ENGLISH,
    Phrase,
    full_text_query,
    is_common,
    language_of,
    named_in,
    search_terms,
    spellings_of,
)

_LONGEST_NAME = 12
"""Words of a name that a question is searched for."""
_LONGEST_UNSPACED = 20
"""Letters of a name that a question without white space between its words is searched for."""
_MOST_WORDS = 200
_UNSPACED_RUN = re.compile(rf"[{UNSPACED}]+")
_LETTERS = r"\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PIECE = re.compile(rf"(?P<letters>[{_LETTERS}]+)|[^{_LETTERS}]+")
"""Han and Hiragana, of which Lucene makes each letter a word, and what lies between."""
_DIGITS = 6
"""Of each number of the vector: finer than the stored vectors are (0.00002), and short enough for a trace to print."""


class Question:
    """A question, read once for all routes; each part is made when a route first needs it.

    Raises ``InputError`` for one without any word.
    """

    def __init__(self, text: str, embedder: Embedder) -> None:
        self.text = asked(text)
        self._embedder = embedder

    @cached_property
    def vector(self) -> list[float]:
        """Its vector as statements get it: floats, length 1."""
        return [round(number, _DIGITS) for number in embed_question(self._embedder, self.text).tolist()]

    @cached_property
    def by_words(self) -> bool:
        """Whether the embedding model does not know the question's language."""
        return knows_english_only(self._embedder) and language_of(self.text) not in ("", ENGLISH)

    @cached_property
    def words(self) -> str:
        """A full-text query of its words."""
        return full_text_words(self.text)

    @cached_property
    def terms(self) -> str:
        """One for passages in its language; empty for a question in English."""
        return full_text_query(search_terms(self.text, language_of(self.text))[:_MOST_WORDS])

    @cached_property
    def typed(self) -> str:
        """One of its words in one spelling, without the commonest."""
        language = language_of(self.text) or ENGLISH
        words = [word for word in spellings_of(self.text)[:_MOST_WORDS] if not is_common(word, language)]
        return full_text_query(words)

    @cached_property
    def named(self) -> list[list[Phrase]]:
        """What it may name, as it was typed."""
        return named_in(self.text)

    @cached_property
    def runs(self) -> list[str]:
        """Its runs of up to 12 words, as they are written."""
        return runs_in(self.text)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The same as normalised names."""
        return names_in(self.text)

    @cached_property
    def _with_capitals(self) -> frozenset[str]:
        return frozenset(normalise_name(run) for run in self.runs if run != run.lower())

    def may_name(self, name: str) -> bool:
        """Whether ``name`` may be meant as a name; one Latin word only where it is written with a capital."""
        return " " in name or not name.isascii() or name in self._with_capitals

    def names_properly(self, name: str) -> bool:
        """Whether ``name`` is meant as one: "Salt March", not "political party", if its capitals tell at all."""
        if not name.isascii() or self.text == self.text.lower():
            return self.may_name(name)
        return name in self._with_capitals

    def longest(self, names: Iterable[str]) -> set[str]:
        """Of ``names`` that stand in it, those that are not part of a longer one."""
        return longest_names(self.text, names)


def asked(text: str) -> str:
    """``text`` with its white space folded. Raises ``InputError`` for what has no word."""
    text = tidy(text)
    if not WORD_RUN.search(text):
        raise InputError("The question is empty. Ask it in words.")
    return text


def full_text_words(text: str) -> str:
    """The words of ``text`` as a query that Lucene cannot read as operators, wildcards or fields. Of Chinese and the
    like, pairs of letters: the index has each letter as a word, and a pair is two of them in a row."""
    language = language_of(text)
    words: list[str] = []
    for word in WORD_RUN.findall(text)[:_MOST_WORDS]:
        for found in _PIECE.finditer(word.lower()):
            run = found[0]
            pairs = [run[at : at + 2] for at in range(len(run) - 1)] if found["letters"] else []
            words += pairs or [run]
    return full_text_query([word for word in words if language == ENGLISH or not is_common(word, language)] or words)


def names_in(text: str) -> tuple[str, ...]:
    """Every run of words of ``text``, with the punctuation inside it, as a normalised name."""
    return tuple(sorted({normalise_name(run) for run in runs_in(text)}))


def runs_in(text: str) -> list[str]:
    """Every run of words of ``text``, with the punctuation inside it, as it is written; where no white space parts
    words, every run of two letters and more."""
    spans = [match.span() for match in WORD_RUN.finditer(text)][:_MOST_WORDS]
    runs = [
        text[spans[first][0] : spans[last][1]]
        for first in range(len(spans))
        for last in range(first, min(first + _LONGEST_NAME, len(spans)))
    ]
    unspaced = [found[0][:_MOST_WORDS] for found in _UNSPACED_RUN.finditer(text)]
    return runs + [
        word[first:last]
        for word in unspaced
        for first in range(len(word) - 1)
        for last in range(first + 2, min(first + _LONGEST_UNSPACED, len(word)) + 1)
    ]


def stands_alone(name: str, text: str) -> bool:
    """Whether ``name`` stands in ``text`` other than inside a hyphenated word: "Tai Chi", but not in "Tai Chi-tao"."""
    return re.search(_whole(name, r"\w-"), normalise_name(text)) is not None


def longest_names(text: str, names: Iterable[str]) -> set[str]:
    """Of ``names`` that stand in ``text``, those that are not part of a longer one: "New York City", but not "York"."""
    normal = normalise_name(text)
    taken: list[tuple[int, int]] = []
    kept: set[str] = set()
    for name in sorted(set(names), key=lambda name: (-len(name), name)):
        for match in re.finditer(_whole(name, r"\w"), normal):
            if not any(start < match.end() and match.start() < end for start, end in taken):
                taken.append(match.span())
                kept.add(name)
    return kept


def _whole(name: str, inside: str) -> str:
    """A regex for ``name`` with none of the letters ``inside`` beside it, but where no white space parts words."""
    before = "" if is_unspaced(name[0]) else rf"(?<![{inside}])"
    after = "" if is_unspaced(name[-1]) else rf"(?![{inside}])"
    return before + re.escape(name) + after
