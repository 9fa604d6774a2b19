"""What a route found, before the words are looked up: scores by id."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from kgplatform.records import FoundCommunity, QueryRun
from kgplatform.side_by_side import short_works, side_by_side
from kgplatform.store import Row, Store, trace

T = TypeVar("T")

_RANK_SHIFT = 60
"""Of reciprocal rank fusion: how little the first ranks differ (Cormack et al. 2009)."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A fact that leads on to the entity ``next``; ``forward`` if that is its object. ``chunks`` state the fact."""

    fact: str
    cosine: float
    predicate: str
    forward: bool
    next: str
    next_name: str
    chunks: tuple[str, ...]


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

    ``paths`` and ``communities``, best first, are what led there.
    """

    passages: dict[str, float] = field(default_factory=dict)
    facts: dict[str, float] = field(default_factory=dict)
    passage_routes: dict[str, set[str]] = field(default_factory=dict)
    fact_routes: dict[str, set[str]] = field(default_factory=dict)
    paths: Sequence[Path] = ()
    communities: Sequence[FoundCommunity] = ()


def facts_found(rows: Iterable[Row], route: str) -> Found:
    """Scores of rows with an id, a cosine and chunks; a passage scores as the best fact that it states."""
    facts: dict[str, float] = {}
    passages: dict[str, float] = {}
    for row in rows:
        keep_best(facts, [row["id"]], row["cosine"])
        keep_best(passages, row["chunks"], row["cosine"])
    return Found(passages, facts, {each: {route} for each in passages}, {each: {route} for each in facts})


def rank_scores(rankings: Iterable[Sequence[str]]) -> dict[str, float]:
    """Reciprocal rank fusion: ids that stand high in several rankings have more, in the order in which they come up."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, each in enumerate(ranking, start=1):
            scores[each] = scores.get(each, 0.0) + 1 / (_RANK_SHIFT + rank)
    return scores


def best(scores: Mapping[str, float], count: int) -> list[str]:
    """The ``count`` best ids; equal scores in the order of their ids."""
    return sorted(scores, key=lambda each: (-scores[each], each))[:count]


def keep_best(scores: dict[str, float], ids: Iterable[str], score: float) -> None:
    """Note ``score`` for each of ``ids``, unless it has a better one."""
    for each in ids:
        if score > scores.get(each, float("-inf")):
            scores[each] = score


def traced_read(store: Store, statement: str, **parameters: object) -> tuple[list[Row], tuple[QueryRun, ...]]:
    """The rows of ``statement``, and the run of it, for the trace of a reader."""
    runs: list[QueryRun] = []
    with trace(runs.append):
        rows = store.read(statement, **parameters)
    return rows, tuple(runs)


_turn: contextvars.ContextVar[tuple[int, ...]] = contextvars.ContextVar("turn", default=(0,))


def turn() -> tuple[int, ...]:
    """Whose turn it is in this context: sorts what ``at_once`` does side by side in the order of its ``works``."""
    return _turn.get()


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """The results of ``works``, run at the same time, in order; tracers see the statements of all of them."""
    return _in_turns(works, lambda ordered: side_by_side(ordered, len(ordered)))


def read_at_once(*works: Callable[[], Any]) -> list[Any]:
    """``at_once`` for works that only read from the store: threads are shared with others who do (``short_works``)."""
    return _in_turns(works, short_works)


def _in_turns(works: Sequence[Callable[[], Any]], run: Callable[[Sequence[Callable[[], Any]]], list[Any]]) -> list[Any]:
    *before, now = _turn.get()
    ordered = [partial(_context((*before, now, place, 0)).run, work) for place, work in enumerate(works)]
    results = run(ordered)
    _turn.set((*before, now + 1))
    return results


def _context(turn: tuple[int, ...]) -> contextvars.Context:
    """A copy of this context in which it is ``turn``."""
    context = contextvars.copy_context()
    context.run(_turn.set, turn)
    return context
