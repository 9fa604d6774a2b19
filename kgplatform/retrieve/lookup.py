"""Ids into evidence: the words of what was found, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence

from kgplatform.records import Citation, FoundFact, FoundPath, Passage
from kgplatform.retrieve.found import Found, Path, best, read_at_once
from kgplatform.store import Row, Store

CITATIONS = 20
"""Most places that are named for one fact."""


def look_up(
    store: Store, found: Found, top_k: int
) -> tuple[tuple[Passage, ...], tuple[FoundFact, ...], tuple[FoundPath, ...]]:
    """The ``top_k`` best passages, facts and paths of ``found``, best first, with their citations."""
    passages, (facts, paths) = read_at_once(
        lambda: _passages(store, found, top_k), lambda: _facts_and_paths(store, found, top_k)
    )
    return passages, facts, paths


def passages_by_id(store: Store, ids: Sequence[str]) -> dict[str, Passage]:
    """Passages as the store has them now, by id; without scores."""
    rows = store.read("retrieve/passage_details", ids=list(ids))
    return {row["id"]: Passage(**row, score=0.0, routes=()) for row in rows}


def facts_by_id(store: Store, ids: Sequence[str]) -> dict[str, FoundFact]:
    """Facts as the store has them now, by id, with the places that state them; without scores."""
    rows = store.read("retrieve/fact_details", ids=list(ids), places=CITATIONS) if ids else []
    return {row["id"]: _fact(row, 0.0, ()) for row in rows}


def _passages(store: Store, found: Found, top_k: int) -> tuple[Passage, ...]:
    ids = best(found.passages, top_k)
    rows = {row["id"]: row for row in store.read("retrieve/passage_details", ids=ids)}
    return tuple(
        Passage(**rows[each], score=round(found.passages[each], 6), routes=_sorted(found.passage_routes, each))
        for each in ids
        if each in rows
    )


def _facts_and_paths(store: Store, found: Found, top_k: int) -> tuple[tuple[FoundFact, ...], tuple[FoundPath, ...]]:
    ids, paths = best(found.facts, top_k), found.paths[:top_k]
    scores = {hop.fact: hop.cosine for path in paths for hop in path.hops} | found.facts
    wanted = list(dict.fromkeys((*ids, *(fact for path in paths for fact in path.facts))))
    rows = store.read("retrieve/fact_details", ids=wanted, places=CITATIONS)
    facts = {row["id"]: _fact(row, scores[row["id"]], _sorted(found.fact_routes, row["id"])) for row in rows}
    whole = (path for path in paths if all(fact in facts for fact in path.facts))
    return tuple(facts[each] for each in ids if each in facts), tuple(_path(each, facts) for each in whole)


def _fact(row: Row, score: float, routes: tuple[str, ...]) -> FoundFact:
    citations = tuple(Citation(**place) for place in row["places"])
    return FoundFact(id=row["id"], text=row["text"], score=round(score, 6), routes=routes, citations=citations)


def _path(path: Path, facts: dict[str, FoundFact]) -> FoundPath:
    return FoundPath(
        entities=path.entities,
        names=(path.start_name, *(hop.next_name for hop in path.hops)),
        predicates=tuple(hop.predicate for hop in path.hops),
        forward=tuple(hop.forward for hop in path.hops),
        facts=tuple(facts[each] for each in path.facts),
        score=round(path.score, 6),
    )


def _sorted(routes: dict[str, set[str]], each: str) -> tuple[str, ...]:
    return tuple(sorted(routes.get(each, ())))
