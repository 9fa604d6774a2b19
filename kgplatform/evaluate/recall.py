"""What retrieval found of what a question needs: its supporting passages by rank, its supporting facts by their words.

found = ranks(question.supports, answer.evidence.passages)      # (1, None): the second was not found
recall_at(found, 5), all_found_at(found, 5)                     # 0.5, 0.0
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from kgplatform.evaluate.question import Text
from kgplatform.places import find_words
from kgplatform.records import Passage

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A retrieved chunk as it is compared: the names of its document, and its text."""

    names: frozenset[str]
    text: str


def ranks(supports: Sequence[Text], passages: Sequence[Passage]) -> tuple[int | None, ...]:
    """For each of ``supports`` the rank, from 1, of the first of ``passages`` that is of it; None if none is.

    A passage is a chunk; it is of a support whose title is its own, or the name of its file, and in whose text its
    text stands, or the other way round, white space aside. Where a support has no text its title is enough.
    """
    chunks = [_Chunk(_names(each), _squeezed(each.text)) for each in passages]
    return tuple(_rank(_squeezed(each.title), _squeezed(each.text), chunks) for each in supports)


def recall_at(found: Sequence[int | None], k: int) -> float:
    """The share of supporting passages among the first ``k``. Raises ``ValueError`` where there are none to find."""
    if not found:
        raise ValueError("recall needs a supporting passage at least")
    return sum(rank is not None and rank <= k for rank in found) / len(found)


def all_found_at(found: Sequence[int | None], k: int) -> float:
    """1 if every supporting passage is among the first ``k``. Raises ``ValueError`` where there are none to find."""
    return float(recall_at(found, k) == 1)


def facts_found(facts: Sequence[str], read: str) -> tuple[bool, ...]:
    """Of each fact whether its words stand in what was ``read``: to the letter, folded, or nearly (``find_words``).

    What is told in other words is not found so; the rater "facts" finds it.
    """
    return tuple(find_words(fact, read) is not None for fact in facts)


def fact_recall(found: Sequence[Sequence[bool]]) -> tuple[float, float]:
    """Recall by fact, recalled / needed over all questions, and by sample, the share with every fact recalled.

    ``found``: for each question its facts (GraphReader, appendix F, "SF-wise" and "Sample-wise"). Questions without
    facts do not count. Raises ``ValueError`` where no question has one.
    """
    needing = [list(facts) for facts in found if facts]
    if not needing:
        raise ValueError("recall of facts needs a fact at least")
    needed = sum(map(len, needing))
    return sum(map(sum, needing)) / needed, sum(map(all, needing)) / len(needing)


def _rank(title: str, text: str, chunks: Sequence[_Chunk]) -> int | None:
    for rank, chunk in enumerate(chunks, start=1):
        if title in chunk.names and (chunk.text in text or text in chunk.text):
            return rank
    return None


def _names(passage: Passage) -> frozenset[str]:
    """The title of a passage's document; for a file of its own, which no ``#`` follows, the file's name too."""
    address = urlsplit(passage.document)
    file = unquote(address.path.rsplit("/", 1)[-1])
    named = {passage.title} if address.fragment or not file else {passage.title, file}
    return frozenset(map(_squeezed, named))


@lru_cache(maxsize=1024)
def _squeezed(text: str) -> str:
    """``text`` in composed form without white space: chunks are cut at it, and ingesting changes it."""
    return _SPACE.sub("", unicodedata.normalize("NFC", text))
