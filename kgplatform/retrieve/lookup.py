"""Ids into evidence: the words of what was found, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence

from kgplatform.records import Citation, FoundFact, Passage
from kgplatform.retrieve.found import Found, at_once, best
from kgplatform.store import Store

CITATIONS = 20
"""Most places that are named for one fact."""


def look_up(store: Store, found: Found, top_k: int) -> tuple[tuple[Passage, ...], tuple[FoundFact, ...]]:
    """The ``top_k`` best passages and facts of ``found``, best first, with their citations."""
    passages, facts = at_once(lambda: _passages(store, found, top_k), lambda: _facts(store, found, top_k))
    return passages, facts


def passages_by_id(store: Store, ids: Sequence[str]) -> dict[str, Passage]:
    """Passages as the store has them now, by id; without scores."""
    rows = store.read("retrieve/passage_details", ids=list(ids))
    return {row["id"]: Passage(**row, score=0.0, routes=()) for row in rows}


def _passages(store: Store, found: Found, top_k: int) -> tuple[Passage, ...]:
    ids = best(found.passages, top_k)
    rows = {row["id"]: row for row in store.read("retrieve/passage_details", ids=ids)}
    return tuple(
        Passage(**rows[each], score=round(found.passages[each], 6), routes=_sorted(found.passage_routes, each))
        for each in ids
        if each in rows
    )


def _facts(store: Store, found: Found, top_k: int) -> tuple[FoundFact, ...]:
    ids = best(found.facts, top_k)
    rows = {row["id"]: row for row in store.read("retrieve/fact_details", ids=ids, places=CITATIONS)}
    return tuple(
        FoundFact(
            id=each,
            text=rows[each]["text"],
            score=round(found.facts[each], 6),
            routes=_sorted(found.fact_routes, each),
            citations=tuple(Citation(**place) for place in rows[each]["places"]),
        )
        for each in ids
        if each in rows
    )


def _sorted(routes: dict[str, set[str]], each: str) -> tuple[str, ...]:
    return tuple(sorted(routes.get(each, ())))
