"""What a route found, scores by id, and what stands behind the ids: words, places, paths."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import (
    Citation,
    FoundCommunity,
    FoundFact,
    FoundPassage,
    FoundPath,
    QueryRun,
    metadata_of,
    with_location,
)

_RANK_SHIFT = 60
"""Of reciprocal rank fusion: how little the first ranks differ (Cormack et al. 2009)."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Hop:
    """A fact that leads on to the entity ``next``; ``forward`` if that is its object. ``passages`` state the fact."""

    fact: str
    cosine: float
    predicate: str
    forward: bool
    next: str
    next_name: str
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A walk over facts that repeats no entity. ``score``: the mean cosine of its facts with the question."""

    start: str
    start_name: str
    hops: tuple[Hop, ...] = ()

    @property
    def entities(self) -> tuple[str, ...]:
        """Their ids, one more than there are hops."""
        return (self.start, *(hop.next for hop in self.hops))

    @property
    def facts(self) -> tuple[str, ...]:
        """Their ids, in the order of the walk."""
        return tuple(hop.fact for hop in self.hops)

    @property
    def end(self) -> str:
        """The id of the last entity."""
        return self.hops[-1].next if self.hops else self.start

    @property
    def score(self) -> float:
        """Higher is better; a start alone has none."""
        return sum(hop.cosine for hop in self.hops) / len(self.hops) if self.hops else 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """Scores of passages and facts by id (higher is better), and the routes that found each.

    ``paths`` and ``communities``, best first, are what led there. ``vector``: the question's. ``cited``: passages
    that are shown as places of facts; None: all. ``missing``: what the question names and no passage has.
    """

    passages: dict[str, float] = field(default_factory=dict)
    facts: dict[str, float] = field(default_factory=dict)
    passage_routes: dict[str, set[str]] = field(default_factory=dict)
    fact_routes: dict[str, set[str]] = field(default_factory=dict)
    paths: Sequence[Path] = ()
    communities: Sequence[FoundCommunity] = ()
    vector: Sequence[float] | None = None
    cited: list[str] | None = None
    missing: tuple[str, ...] | None = None

    @property
    def every_fact(self) -> set[str]:
        """The ids of its facts, and of those of its paths."""
        return {*self.facts, *(fact for path in self.paths for fact in path.facts)}

    def keeping(self, ids: set[str]) -> Found:
        """This with the facts ``ids`` alone, the paths over them, and all its passages."""
        facts = {fact: score for fact, score in self.facts.items() if fact in ids}
        return replace(self, facts=facts, paths=[path for path in self.paths if ids.issuperset(path.facts)])


def facts_found(rows: Iterable[Row], route: str) -> Found:
    """Scores of rows with an id, a cosine and passages; a passage scores as the best fact that it states."""
    rows = list(rows)
    facts = best_scores((row["id"], row["cosine"]) for row in rows)
    passages = best_scores((passage, row["cosine"]) for row in rows for passage in row["passages"])
    return Found(passages, facts, dict.fromkeys(passages, {route}), dict.fromkeys(facts, {route}))


def rank_scores(rankings: Iterable[Sequence[Key]], shift: int = _RANK_SHIFT) -> dict[Key, float]:
    """Reciprocal rank fusion: ids that stand high in several rankings have more, in the order in which they come up.
    ``shift``: with 0 the first place alone counts twice as much as the second."""
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (shift + rank)
    return scores


def best(scores: Mapping[str, float], count: int) -> list[str]:
    """The ``count`` best ids; equal scores in the order of their ids."""
    return sorted(scores, key=lambda item: (-scores[item], item))[:count]


def best_scores(scored: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The best score of each id."""
    scores: dict[str, float] = {}
    for id_, score in scored:
        scores[id_] = max(score, scores.get(id_, float("-inf")))
    return scores


def unscored(row: Row) -> FoundPassage:
    """A passage that no route found."""
    return found_passage(row, 0.0, ())


def found_passage(row: Row, score: float, routes: tuple[str, ...]) -> FoundPassage:
    """A passage as statements return it: its fields by name, where its locations start by themselves, and the metadata
    of its document where they know them."""
    more = {name: value for name, value in with_location(row).items() if name != "locationStarts"}
    labels, starts = row["locations"] or (), row["locationStarts"] or ()
    more["locations"] = tuple(zip(starts, labels, strict=True))
    more["metadata"] = metadata_of(row.get("metadata", ()))
    return FoundPassage(**more, score=score, routes=routes)


def traced_read(store: Store, statement: str, **parameters: object) -> tuple[list[Row], tuple[QueryRun, ...]]:
    """The rows of ``statement``, and the run of it, for the trace of a reader."""
    recording = store.recording()
    return recording.read(statement, **parameters), recording.queries


CITATIONS = 20
"""Most places that are named for one fact."""


def look_up(
    store: Store, found: Found, top_k: int
) -> tuple[tuple[FoundPassage, ...], tuple[FoundFact, ...], tuple[FoundPath, ...]]:
    """The ``top_k`` best passages, facts and paths of ``found``, best first, with their citations."""
    passages, (facts, paths) = store.at_once(
        lambda store: _passages(store, found, top_k), lambda store: _facts_and_paths(store, found, top_k)
    )
    return passages, facts, paths


def part_of(passage: FoundPassage, start: int, end: int) -> FoundPassage:
    """What the characters ``[start, end)`` of its document have of ``passage``."""
    first, last = max(start, passage.start), min(end, passage.end)
    text = passage.text[first - passage.start : last - passage.start]
    return replace(passage, text=text, start=first, end=last)


def passages_by_id(store: Store, ids: Sequence[str]) -> dict[str, FoundPassage]:
    """Passages as the store has them now, by id; without scores."""
    rows = store.read("search/passage_details", ids=list(ids), vector=None)
    return {row["id"]: unscored(row) for row in rows}


def facts_by_id(store: Store, ids: Sequence[str]) -> dict[str, FoundFact]:
    """Facts as the store has them now, by id, with the places that state them; without scores."""
    rows = store.read("search/fact_details", ids=list(ids), places=CITATIONS, passages=None) if ids else []
    return {row["id"]: _fact(row, 0.0, ()) for row in rows}


def _passages(store: Store, found: Found, top_k: int) -> tuple[FoundPassage, ...]:
    ranked = best(found.passages, len(found.passages))
    passages: list[FoundPassage] = []
    for some in batches(ranked, top_k + SPARE):
        rows = {row["id"]: row for row in store.read("search/passage_details", ids=some, vector=found.vector)}
        passages += [
            found_passage(rows[id_], round(found.passages[id_], 6), tuple(sorted(found.passage_routes.get(id_, ()))))
            for id_ in some
            if id_ in rows
        ]
        if len({each.text for each in passages}) >= top_k:
            break
    return distinct(passages, top_k)


def _facts_and_paths(store: Store, found: Found, top_k: int) -> tuple[tuple[FoundFact, ...], tuple[FoundPath, ...]]:
    ids, paths = best(found.facts, top_k), found.paths[:top_k]
    scores = {hop.fact: hop.cosine for path in paths for hop in path.hops} | found.facts
    wanted = list(dict.fromkeys((*ids, *(fact for path in paths for fact in path.facts))))
    rows = store.read("search/fact_details", ids=wanted, places=CITATIONS, passages=found.cited)
    facts = {
        row["id"]: _fact(row, scores[row["id"]], tuple(sorted(found.fact_routes.get(row["id"], ())))) for row in rows
    }
    found_paths = (
        FoundPath(
            entities=path.entities,
            names=(path.start_name, *(hop.next_name for hop in path.hops)),
            predicates=tuple(hop.predicate for hop in path.hops),
            forward=tuple(hop.forward for hop in path.hops),
            facts=tuple(facts[fact] for fact in path.facts),
            score=round(path.score, 6),
        )
        for path in paths
        if all(fact in facts for fact in path.facts)
    )
    return tuple(facts[each] for each in ids if each in facts), tuple(found_paths)


def _fact(row: Row, score: float, routes: tuple[str, ...]) -> FoundFact:
    citations = tuple(map(Citation.of, row["places"]))
    return FoundFact(id=row["id"], text=row["text"], score=round(score, 6), routes=routes, citations=citations)


SPARE = 5
"""Passages beyond those that are asked for, to take the places that become free."""
_LEADER = re.compile(r"(?:\.\s?){4,}|…{2,}")
"""What leads from a heading to the number of its page."""
_LINES = 5
_SHARE = 0.6


def distinct(passages: Sequence[FoundPassage], count: int) -> tuple[FoundPassage, ...]:
    """The first ``count`` texts of ``passages``, in their order; tables of contents, which have the words of every
    question and answer none, last. Copies, as of a file that is there twice, are named by the first of them."""
    same: dict[str, list[FoundPassage]] = {}
    for passage in passages:
        same.setdefault(passage.text, []).append(passage)
    firsts = [with_copies(first, others) for first, *others in same.values()]
    return tuple(sorted(firsts, key=lambda each: is_contents(each.text))[:count])


def with_copies(first: FoundPassage, others: Sequence[FoundPassage]) -> FoundPassage:
    """``first``, which names ``others`` of the same text, and those that these or it named before."""
    places: dict[str, Citation] = {}
    for each in (first, *others):
        own = each.cited(each.start, each.end)
        places |= {place.passage: place for place in (*each.copies, own)}
    del places[first.id]
    return replace(first, copies=tuple(places.values()))


def is_contents(text: str) -> bool:
    """Whether most of ``text`` is a table of contents: lines with leaders to the numbers of pages."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    entries = [line for line in lines if _LEADER.search(line)]
    said, listed = (sum(len(_LEADER.sub("", line)) for line in some) for some in (lines, entries))
    return len(entries) >= _LINES and listed >= _SHARE * said
