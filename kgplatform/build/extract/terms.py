"""Recurring terms of a text that names few things: what stands between function words, if the text repeats it.

Domain texts (medicine, law, manuals) write what they are about in lower case. A term is two to four words between
function words and punctuation that the document repeats (after Rose and others, 2010, "Automatic keyword
extraction from individual documents").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from kgplatform.build.extract.names import Span
from kgplatform.build.extract.words import FUNCTION_WORDS, OPENERS, words

FEWEST_REPEATS = 3
MOST_TERMS = 2000
_MOST_WORDS = 4

_PIECE = re.compile(r"(?P<word>[^\W\d_]+(?:['’\-\u2010\u2011][^\W\d_]+)*)|(?P<space>[ \n])|(?P<stop>.)", re.DOTALL)
_VERBS = words(
    """
    accept affect allow appear apply ask avoid begin believe bring call care cause change check choose come consider
    contain continue cost create decide depend describe develop die differ discuss drink eat end exist explain feel
    find follow forget get give go grow happen hear help hold hope include increase involve keep know lead learn leave
    let like live look lose love lower make mean meet move need occur offer open order pass pay play prevent provide
    put raise reach read receive recommend reduce remain remember remove require say see seem send serve show sit
    sleep speak spend spread stand start stay stop suggest take talk tell tend think treat try turn understand use
    visit wait want watch win wish work worry write able asks called calls causes comes common contains different done
    gets gives goes good got great helps high important includes including involves keeps known large leads like
    likely long looks low made makes means much needed needs new old possible provides put puts removes says seen sees
    shows small taken takes tells tends told took uses using wants way ways went works sometimes usually often always
    also well lot lots thing things people person day days week weeks month months year years time times number kind
    kinds type types
    """
)
_BREAKS = FUNCTION_WORDS | OPENERS | _VERBS


def recurring_terms(text: str) -> frozenset[str]:
    """Folded terms of ``text`` that stand in it at least three times, the most frequent ones if there are many."""
    counts = Counter(term for term, _, _ in _candidates(text))
    frequent = [(-count, term) for term, count in counts.items() if count >= FEWEST_REPEATS]
    return frozenset(term for _, term in sorted(frequent)[:MOST_TERMS])


def terms(text: str, start: int, end: int, known: frozenset[str]) -> list[Span]:
    """The ``known`` terms in ``text[start:end]``, in reading order."""
    part = text[start:end]
    return [Span(term, start + left, start + right) for term, left, right in _candidates(part) if term in known]


def _candidates(text: str) -> Iterator[tuple[str, int, int]]:
    """Every run of two to four content words: its folded form and its characters."""
    run: list[re.Match[str]] = []
    for piece in _PIECE.finditer(text):
        if piece["space"]:
            continue
        if piece["word"] and piece["word"].lower() not in _BREAKS and len(piece["word"]) > 1:
            run.append(piece)
            continue
        yield from _term(run)
        run = []
    yield from _term(run)


def _term(run: list[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    if 2 <= len(run) <= _MOST_WORDS and not run[-1][0].lower().endswith(("ly", "ing", "ed")):
        yield " ".join(piece[0].lower() for piece in run), run[0].start(), run[-1].end()
