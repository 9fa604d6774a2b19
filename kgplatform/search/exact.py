"""What a question names as it was typed, and the places that passages which have it get in a ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgplatform.neo4j.store import Store
from kgplatform.search.found import best
from kgplatform.search.question import Question
from kgplatform.text.exact import Phrase
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


@dataclass(frozen=True, slots=True)
class Terms:
    """What a question names: the longest phrases that any passage has, and those that none has (``missing``), which is
    None where nothing is named, or the graph is one of an earlier version.
    """

    held: tuple[Term, ...] = ()
    missing: tuple[str, ...] | None = None


def held_terms(store: Store, question: Question) -> Terms:
    """What passages have of the names and signs in ``question``, as they were typed."""
    runs = [[(each, full_text_query([*each.spellings])) for each in run] for run in question.named]
    phrases = sorted({query for run in runs for _, query in run})
    rows = store.read("search/exact", phrases=phrases, most=MOST) if phrases else []
    if not rows:
        return Terms()
    holders = {row["phrase"]: tuple(row["passages"]) for row in rows}
    held: list[Term] = []
    for run in runs:
        counted: list[Phrase] = []  # of phrases inside each other the longest counts
        for phrase, query in run:
            passages = holders[query]
            if passages and all(phrase.end <= other.start or other.end <= phrase.start for other in counted):
                counted.append(phrase)
                held += [Term(passages, phrase.is_sign)] if phrase.is_sign or len(passages) <= RARE else []
    return Terms(tuple(held), tuple(run[0][0].text for run in runs if not holders[run[0][1]]))


def lifted(scores: Mapping[str, float], terms: Sequence[Term]) -> dict[str, float]:
    """``scores`` of passages, dealt out anew so that those come first which have a sign that few have, and the best
    of each other term among the first three.
    """
    if not terms:
        return dict(scores)
    order = best(scores, len(scores))
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
