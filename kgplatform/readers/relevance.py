"""What of the evidence speaks to the question: of each passage one sentence, and some of the facts; and whether any
passage does.

    result = judged(result, "Who founded the Atlantic Telegraph Company?", embedder.name)
    result.passages[0].sentence.text, [fact.text for fact in result.facts if fact.relevant]
    result.passages[0].relevance, result.fits        # 0.93, True

Sentences and facts are judged by words alone: that takes a few milliseconds, works with any embedding model, and finds
more of the sentences that support an answer than cosines do. How relevant a passage is needs its cosine too, whose
scale is the embedding model's: other models than those measured give None, and so do questions and texts in other
languages than English. The thresholds are calibrated in docs/explanation/retrieval.md. All this decides what people are
shown, never the order, nor what a language model reads.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from kgplatform.records import Answer, FoundFact, FoundPassage, Quote, SearchResult
from kgplatform.text.languages import ENGLISH, language_of, stems
from kgplatform.text.sentences import FULL_ENDS, SPACED_ENDS, sentences

FIRST = 2
"""A fact is shown if the best sentence of one of so many passages states it."""
LEAST = 0.2
"""And if it has so much of the question, each word by its weight."""
_RELEVANCE = {"local:bge-small-en-v1.5-q": (-17.1, 21.9, 3.6), "local:all-MiniLM-L6-v2": (-6.5, 6.7, 5.3)}
"""Of an embedder: intercept, weight of the cosine, and of the share of the question in the passage's best sentence and
its title, of a logistic regression. ``make bench ONLY=fits`` fits and measures those of the default."""
FITS = 0.06
"""From this relevance on a passage may well hold what is asked: 19 of 20 questions of MuSiQue have one."""
FITS_IF_HELD, FITS_IF_MISSING = 0.04, 0.5
"""The same where passages have all that the question names, and where none has some of it."""
_HEADING = 0.5
"""What counts of a line without an end mark: a heading has the words, the sentence below it says something."""
_MOST = 100  # passages that are looked at; a reader may have read thousands
_ENDS = SPACED_ENDS + FULL_ENDS
_CLOSERS = "\"'”’»)]*_"


@dataclass(frozen=True, slots=True)
class _Line:
    """A sentence of a document, and the stems in it."""

    quote: Quote
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """The words of a question, as stems, with their weights: rare ones tell more than frequent ones."""

    weights: dict[str, float]

    @classmethod
    def among(cls, question: str, found: Sequence[frozenset[str]]) -> Asked:
        """The words of ``question``, weighted by how few of the texts that were ``found`` (their stems) have them."""
        having = {word: sum(word in stems for stems in found) for word in stems_of(question)}
        return cls({word: math.log((len(found) + 1) / (number + 0.5)) for word, number in having.items()})

    def share(self, stems: Collection[str]) -> float:
        """How much of the question is in ``stems``, from 0 to 1."""
        shared = sum(weight for word, weight in self.weights.items() if word in stems)
        return shared / (sum(self.weights.values()) or 1.0)

    def without(self, stems: Collection[str]) -> Asked:
        """What else is asked."""
        return Asked({word: weight for word, weight in self.weights.items() if word not in stems})


@lru_cache(maxsize=65536)
def stems_of(text: str, language: str = "") -> frozenset[str]:
    """The stems of the telling words of ``text``, in its ``language``, which is found if it is not named."""
    return frozenset(stems(text, language or language_of(text) or ENGLISH))


def judged(
    result: SearchResult, question: str, embedder: str = "", *, first: int = FIRST, least: float = LEAST
) -> SearchResult:
    """``result`` with the best sentence of each passage, and with its facts marked as relevant or not; if ``embedder``
    is a calibrated one, with how relevant each passage is, its cosine being that with ``question``.

    What another relevant fact says too, in the same place and with as many words or more, is not relevant beside that:
    a sentence is often a statement and a triple.
    """
    lines = [_lines(passage) for passage in result.passages[:_MOST]]
    asked = Asked.among(question, [line.stems for each in lines for line in each])
    passages = []
    for passage, each in zip(result.passages, lines, strict=False):
        # Its first sentence that shares most with the question. Words of the title count only where nothing else is
        # shared: all of the text is about that ("He died in 1892").
        beside = asked.without(stems_of(passage.title))
        counted = beside if any(_worth(line, beside) for line in each) else asked
        best = max(each, key=partial(_worth, asked=counted), default=None)
        passages.append(replace(passage, sentence=best.quote if best and _worth(best, counted) > 0 else None))
    fits: bool | None = None
    if embedder in _RELEVANCE and language_of(question) in ("", ENGLISH):  # as the calibration is
        least_relevance = FITS if result.missing is None else FITS_IF_MISSING if result.missing else FITS_IF_HELD
        for place, share in enumerate(_shares(lines, passages, asked)):
            if (cosine := passages[place].cosine) is not None:
                relevance = round(relevance_of(cosine, share, embedder), 3)
                passages[place] = replace(passages[place], relevance=relevance)
                # The cosine of what has no meaning, "asdf qwerty", is not low: a word must be shared.
                fits = bool(fits) or (relevance >= least_relevance and share > 0)
    relevant = [fact for fact in result.facts if _is_relevant(fact, passages[:first], asked, least)]
    shown = _said_once(relevant)
    facts = tuple(replace(fact, relevant=fact.id in shown) for fact in result.facts)
    return replace(result, passages=(*passages, *result.passages[_MOST:]), facts=facts, fits=fits)


def shares(result: SearchResult, question: str) -> list[float]:
    """Of each passage, how much of ``question`` its best sentence has together with the title: what ``judged`` weighs
    beside the cosine."""
    lines = [_lines(passage) for passage in result.passages[:_MOST]]
    return _shares(lines, result.passages, Asked.among(question, [line.stems for each in lines for line in each]))


def judged_answer(answer: Answer, embedder: str) -> Answer:
    """``answer`` with its evidence judged. How relevant passages are is known of a search alone, without a model: a
    reader searches for parts of the question too, and their cosines are with those."""
    searched = embedder if answer.text is None else ""
    return replace(answer, evidence=judged(answer.evidence, answer.question, searched))


def _said_once(facts: Sequence[FoundFact]) -> set[str]:
    """The ids of ``facts`` but for those that another says too, which has more words, or as many and stands before."""
    words = {fact.id: stems_of(fact.text.replace("_", " ")) for fact in facts}
    shown: dict[str, FoundFact] = {}
    for fact in sorted(facts, key=lambda each: -len(words[each.id])):
        is_said = any(
            one.passage == two.passage and one.start < two.end and two.start < one.end
            for id, other in shown.items()
            if words[fact.id] <= words[id]
            for one in fact.citations
            for two in other.citations
            if one.found and two.found
        )
        if not is_said:
            shown[fact.id] = fact
    return set(shown)


def _lines(passage: FoundPassage) -> list[_Line]:
    found, language = [], language_of(passage.text)
    for place in sentences(passage.text):
        words = passage.text[place.start : place.end]
        start = passage.start + place.start
        quote = Quote(words, start, passage.start + place.end, passage.location_at(start))
        found.append(_Line(quote, stems_of(words, language)))
    return found


def _shares(lines: Sequence[Sequence[_Line]], passages: Sequence[FoundPassage], asked: Asked) -> list[float]:
    titles = [stems_of(each.title) for each in passages]
    return [
        max((asked.share(line.stems | title) for line in each), default=0.0)
        for each, title in zip(lines, titles, strict=False)
    ]


def relevance_of(cosine: float, share: float, embedder: str) -> float:
    """The probability that a passage holds what is asked, from its cosine and share of the question (``shares``)."""
    intercept, of_cosine, of_share = _RELEVANCE[embedder]
    return 1 / (1 + math.exp(-intercept - of_cosine * cosine - of_share * share))


def _worth(line: _Line, asked: Asked) -> float:
    is_sentence = line.quote.text.rstrip(_CLOSERS).endswith(tuple(_ENDS))
    return asked.share(line.stems) * (1 if is_sentence else _HEADING)


def _is_relevant(fact: FoundFact, first: Sequence[FoundPassage], asked: Asked, least: float) -> bool:
    """Whether it has ``least`` of the question and the best sentence of one of the ``first`` passages states it. What
    has no place, as facts that a model noted, cannot be judged and stays."""
    if not fact.citations:
        return True
    return asked.share(stems_of(fact.text)) >= least and any(
        place.found
        and place.passage == passage.id
        and passage.sentence is not None
        and (place.start < passage.sentence.end and passage.sentence.start < place.end)
        for passage in first
        for place in fact.citations
    )
