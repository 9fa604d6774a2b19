"""What of the evidence speaks to the question: of each passage one sentence, and some of the facts.

    result = judged(result, "Who founded the Atlantic Telegraph Company?")
    result.passages[0].sentence.text, [fact.text for fact in result.facts if fact.relevant]

By words alone: that takes a few milliseconds, works with any embedding model, and finds more of the sentences that
support an answer than cosines do. The threshold is calibrated in docs/retrieval.md. It decides what people are shown
first, never what a language model reads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from kgplatform.readers.families import LITTLE, families, stem
from kgplatform.readers.telling import LITTLE_IN_GERMAN
from kgplatform.records import FoundFact, FoundPassage, Quote, SearchResult
from kgplatform.sentences import FULL_ENDS, SPACED_ENDS, sentences
from kgplatform.text import WORD, has_noun_capitals

FIRST = 2
"""A fact is shown if the best sentence of one of so many passages states it."""
LEAST = 0.2
"""And if it has so much of the question, each word by its weight."""
_HEADING = 0.5
"""What counts of a line without an end mark: a heading has the words, the sentence below it says something."""
_MOST = 100
"""Passages that are looked at; a reader may have read thousands."""
_ENDS = SPACED_ENDS + FULL_ENDS
_CLOSERS = "\"'”’»)]*_"


@dataclass(frozen=True, slots=True)
class _Line:
    """A sentence of a document, and the stems in it."""

    quote: Quote
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The words of a question, each as its stems, with their weights: rare ones tell more than frequent ones."""

    weights: dict[frozenset[str], float]

    def share(self, stems: frozenset[str]) -> float:
        """How much of the question is in ``stems``, from 0 to 1."""
        shared = sum(weight for word, weight in self.weights.items() if not word.isdisjoint(stems))
        return shared / (sum(self.weights.values()) or 1.0)

    def without(self, stems: frozenset[str]) -> _Asked:
        """What else is asked."""
        return _Asked({word: weight for word, weight in self.weights.items() if word.isdisjoint(stems)})


def judged(result: SearchResult, question: str, *, first: int = FIRST, least: float = LEAST) -> SearchResult:
    """``result`` with the best sentence of each passage, and with its facts marked as relevant or not.

    What another relevant fact says too, in the same place and with as many words or more, is not relevant beside that:
    a sentence is often a statement and a triple.
    """
    lines = [_lines(passage) for passage in result.passages[:_MOST]]
    asked = _asked(question, [line.stems for each in lines for line in each])
    best = [_best(each, passage.title, asked) for each, passage in zip(lines, result.passages, strict=False)]
    passages = [replace(each, sentence=quote) for each, quote in zip(result.passages, best, strict=False)]
    relevant = [fact for fact in result.facts if _is_relevant(fact, passages[:first], asked, least)]
    shown = _said_once(relevant)
    facts = tuple(replace(fact, relevant=fact.id in shown) for fact in result.facts)
    return replace(result, passages=(*passages, *result.passages[_MOST:]), facts=facts)


def _said_once(facts: Sequence[FoundFact]) -> set[str]:
    """The ids of ``facts`` but for those that another says too, which has more words, or as many and stands before."""
    words = {fact.id: _stems(fact.text.replace("_", " ")) for fact in facts}
    shown: dict[str, FoundFact] = {}
    for fact in sorted(facts, key=lambda each: -len(words[each.id])):
        if not any(words[fact.id] <= words[id] and _share_a_place(fact, other) for id, other in shown.items()):
            shown[fact.id] = fact
    return set(shown)


def _share_a_place(fact: FoundFact, other: FoundFact) -> bool:
    return any(
        one.passage == two.passage and one.start < two.end and two.start < one.end
        for one in fact.citations
        for two in other.citations
        if one.found and two.found
    )


def _lines(passage: FoundPassage) -> list[_Line]:
    found = []
    for place in sentences(passage.text):
        words = passage.text[place.start : place.end]
        quote = Quote(words, passage.start + place.start, passage.start + place.end)
        found.append(_Line(quote, _stems(words)))
    return found


def _asked(question: str, found: Sequence[frozenset[str]]) -> _Asked:
    """The question's words, weighted by how few of the sentences that were ``found`` have them."""
    little = LITTLE_IN_GERMAN if has_noun_capitals(question) else ()
    words = {_stems_of(word) for word in WORD.findall(question) if word.casefold() not in little} - {frozenset()}
    having = {word: sum(not word.isdisjoint(stems) for stems in found) for word in words}
    return _Asked({word: math.log((len(found) + 1) / (number + 0.5)) for word, number in having.items()})


def _best(lines: Sequence[_Line], title: str, asked: _Asked) -> Quote | None:
    """The first of those that share most with the question.

    Words of the title count only where nothing else is shared: all of the text is about that ("He died in 1892").
    """
    beside = asked.without(_stems(title))
    counted = beside if any(_worth(line, beside) for line in lines) else asked
    best = max(lines, key=lambda line: _worth(line, counted), default=None)
    return best.quote if best and _worth(best, counted) > 0 else None


def _worth(line: _Line, asked: _Asked) -> float:
    is_sentence = line.quote.text.rstrip(_CLOSERS).endswith(tuple(_ENDS))
    return asked.share(line.stems) * (1 if is_sentence else _HEADING)


def _is_relevant(fact: FoundFact, first: Sequence[FoundPassage], asked: _Asked, least: float) -> bool:
    """What has no place, as facts that a model noted, cannot be judged and stays."""
    if not fact.citations:
        return True
    return asked.share(_stems(fact.text)) >= least and any(_states(passage, fact) for passage in first)


def _states(passage: FoundPassage, fact: FoundFact) -> bool:
    """Whether the best sentence of ``passage`` states ``fact``."""
    quote = passage.sentence
    places = [each for each in fact.citations if each.found and each.passage == passage.id]
    return quote is not None and any(each.start < quote.end and quote.start < each.end for each in places)


def _stems(text: str) -> frozenset[str]:
    return frozenset().union(*map(_stems_of, set(WORD.findall(text))))


@lru_cache(maxsize=65536)
def _stems_of(word: str) -> frozenset[str]:
    """The stem of a word and the families that it belongs to; nothing for a word that says nothing by itself."""
    plain = word.casefold()
    if plain in LITTLE and plain not in LITTLE_IN_GERMAN:
        return frozenset()
    root = stem(plain)
    return frozenset({root, *families().keys.get(root, ())})
