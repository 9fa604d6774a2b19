"""The terms of a text that names little: what medicine, law and manuals write about stands in lower case."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from kgplatform.extract.lexicon import FUNCTION_WORDS, OPENERS, WORDS
from kgplatform.extract.tokens import Span

FEWEST_REPEATS, FEWEST_IN_A_MANUAL = 3, 5
"""How often a document has a term; a manual repeats its phrases."""
MOST_TERMS = 2000
_MOST_WORDS = 4

_PIECE = re.compile(
    r"(?P<word>(?<![\w/$@])[^\W\d_]+(?![\w/=(]|::)(?:['’\-\u2010\u2011][^\W\d_]+)*)|(?P<space>[ \n])|(?P<stop>.)",
    re.DOTALL,
)
"""A word is no part of a path, a call or an identifier."""
_BREAKS = FUNCTION_WORDS | OPENERS | WORDS["verbs"]
_AFTER_A_VERB = re.compile(r"\s(?:the|an?|how|whether|which|what|that|this|these|if)\s", re.IGNORECASE)
"""Where mostly this follows, the last word is a verb: "the variable controls the order"."""
_DETERMINED = re.compile(r"\b(?:the|an?|of|this|each|its|their|your|any|every|in|for|from|no)\s\Z", re.IGNORECASE)


def recurring_terms(text: str, fewest: int = FEWEST_REPEATS) -> frozenset[str]:
    """Folded terms of ``text`` that stand in it ``fewest`` times or more, the most frequent ones if there are many.

    A term is two to four words between function words and punctuation that the document repeats (after Rose and
    others, 2010, "Automatic keyword extraction from individual documents"), and that stands behind an article or "of"
    somewhere: a command does not.
    """
    counts: Counter[str] = Counter()
    determined: set[str] = set()
    verbal: Counter[str] = Counter()
    for term, left, right in _candidates(text):
        counts[term] += 1
        verbal[term] += _AFTER_A_VERB.match(text, right) is not None
        if term not in determined and _DETERMINED.search(text, max(0, left - 8), left):
            determined.add(term)
    frequent = [
        (-count, term)
        for term, count in counts.items()
        if count >= fewest and term in determined and 2 * verbal[term] < count
    ]
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


_PARTICIPLE = re.compile(r"(?:ly|ed|(?<!operat)(?<!programm)(?<!mail)(?<!process)(?<!comput)(?<!spr)ing)\Z")
_VERB_FORMS = frozenset(verb + ending for verb in WORDS["verbs"] for ending in ("s", "es", "ing")) - {
    *("uses", "ends", "works"),
}


def _term(run: list[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    """The run as a term, without the adjectives before it that say nothing of what it is."""
    while run and run[0][0].lower() in WORDS["loose adjectives"]:
        run = run[1:]
    if not 2 <= len(run) <= _MOST_WORDS:
        return
    words = [piece[0].lower() for piece in run]
    inflected = (
        words[-1].endswith(("ly", "ing", "ed", "able")) or _PARTICIPLE.search(words[0]) or words[0] in _VERB_FORMS
    )
    possessive = any(word.endswith(("'s", "’s")) for word in words)
    if not inflected and not possessive and len(set(words)) == len(words) and words[-1] not in _VERB_FORMS:
        yield " ".join(words), run[0].start(), run[-1].end()
