"""What a question names as it was typed, and the places that passages which have it get in a ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgplatform.neo4j.store import Store
from kgplatform.search.found import best
from kgplatform.search.question import Question
from kgplatform.text.exact import Typed
from kgplatform.text.languages import full_text_query

FEW = 3
"""A sign that no more passages have leads to these alone: they come first."""
MOST = 50
"""Passages of a term that are looked at."""
RARE = 10
"""A name that more passages have leads nowhere in particular."""
PLACE = 2
"""The best passage of any other term has this place, or one before it: the third, counted from 0."""


@dataclass(frozen=True, slots=True)
class Term:
    """A phrase of a question, and the passages that have it. ``is_sign``: it has a number, an address or the like."""

    passages: tuple[str, ...]
    is_sign: bool


def held_terms(store: Store, question: Question) -> list[Term]:
    """The longest phrases of what ``question`` names that any passage has as they were typed."""
    runs = [
        {
            (first, last): full_text_query([" ".join(word.spelling for word in run[first:last])])
            for first in range(len(run))
            for last in range(first + 1, len(run) + 1)
        }
        for run in question.terms_typed
    ]
    phrases = sorted({phrase for run in runs for phrase in run.values()})
    rows = store.read("search/exact", phrases=phrases, most=MOST) if phrases else []
    holders = {row["phrase"]: tuple(row["passages"]) for row in rows}
    return [
        term for run, words in zip(runs, question.terms_typed, strict=True) for term in _longest(run, words, holders)
    ]


def _longest(
    run: Mapping[tuple[int, int], str], words: Sequence[Typed], holders: Mapping[str, tuple[str, ...]]
) -> list[Term]:
    taken: set[int] = set()
    terms = []
    for (first, last), phrase in sorted(run.items(), key=lambda item: (item[0][0] - item[0][1], item[0])):
        if (passages := holders.get(phrase)) and taken.isdisjoint(range(first, last)):
            taken.update(range(first, last))
            is_sign = any(word.is_sign for word in words[first:last])
            if is_sign or len(passages) <= RARE:
                terms.append(Term(passages, is_sign))
    return terms


def lifted(scores: Mapping[str, float], terms: Sequence[Term]) -> dict[str, float]:
    """``scores`` of passages, dealt out anew so that those come first which have a sign that few have, and the best
    of each other term among the first three.
    """
    order = best(dict(scores), len(scores))
    place = {id_: number for number, id_ in enumerate(order)}
    signs = [term for term in terms if term.is_sign and len(term.passages) <= FEW]
    having = {id_: sum(id_ in term.passages for term in signs) for term in signs for id_ in term.passages}
    front = sorted(having, key=lambda id_: (-having[id_], place.get(id_, len(place)), id_))
    order = front + [id_ for id_ in order if id_ not in having]
    for term in terms:
        if not {*order[: PLACE + 1], *front}.intersection(term.passages):
            chosen = min(term.passages, key=lambda id_: place.get(id_, len(place)))
            order = [id_ for id_ in order if id_ != chosen]
            order.insert(max(PLACE, len(front)), chosen)
    falling = sorted(scores.values(), reverse=True)
    dealt: dict[str, float] = {}
    above = math.inf
    for number, id_ in enumerate(order):
        score = falling[min(number, len(falling) - 1)] if falling else 0.0
        above = dealt[id_] = min(score, math.nextafter(above, -math.inf))  # of equal ones the ids would decide
    return dealt
