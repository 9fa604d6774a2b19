"""Okapi BM25 over texts that are given once, one after the other, and not kept.

    index = Okapi("Who fired bricks?")
    for id, text in parts: index.add(id, text)
    index.ranked(3)                                # the ids of the best three

The full-text index of Neo4j ranks within the whole graph: its weights of words come from all documents. Here they come
from the texts that were given, as a database for each document has it (ReadAgent, section 4.2). Only the counts of the
question's words are held: memory grows with the number of texts, not with their length.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from kgplatform.text import normalise_name

K1 = 1.2
B = 0.75
# A word, or one letter of a script that is written without spaces.
_WORD = re.compile(
    r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
    r"|[^\W\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)


class Okapi:
    """Scores of texts by the words of ``question``; all words count, however frequent they are."""

    def __init__(self, question: str) -> None:
        self._wanted = frozenset(_words(question))
        self._counts: dict[str, Counter[str]] = {}
        self._lengths: Counter[str] = Counter()

    def add(self, id_: str, text: str) -> None:
        """Count ``text``; parts of one text are given with the same id."""
        words = _words(text)
        self._counts.setdefault(id_, Counter()).update(word for word in words if word in self._wanted)
        self._lengths[id_] += len(words)

    def ranked(self, count: int) -> list[str]:
        """The ids of the best ``count`` texts that have a word of the question; equal ones in the order given."""
        number = len(self._counts)
        mean = sum(self._lengths.values()) / number if number else 0.0
        having = Counter(word for counts in self._counts.values() for word in counts)
        weights = {word: math.log(1 + (number - n + 0.5) / (n + 0.5)) for word, n in having.items()}
        scores = {id_: self._score(id_, weights, mean) for id_ in self._counts}
        return sorted((id_ for id_ in scores if scores[id_] > 0), key=lambda id_: -scores[id_])[:count]

    def _score(self, id_: str, weights: dict[str, float], mean: float) -> float:
        longer = K1 * (1 - B + B * self._lengths[id_] / mean) if mean else K1
        return sum(weights[word] * n * (K1 + 1) / (n + longer) for word, n in sorted(self._counts[id_].items()))


def _words(text: str) -> list[str]:
    return _WORD.findall(normalise_name(text))
