"""Results of several questions in one: the parts that a question was taken apart into, each searched on its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, TypeVar

from kgplatform.records import FoundCommunity, FoundFact, FoundPath, Passage, SearchResult

Item = TypeVar("Item", Passage, FoundFact, FoundPath, FoundCommunity)


def round_robin(results: Sequence[SearchResult], top_k: int) -> SearchResult:
    """The best of each result; then as many that several have; then, by turns, the next of each that is not there yet.

    Each part of a question needs its own first passage: a fusion by rank alone would prefer what is mediocre for all
    parts. After the first ones, what two parts have in common is what joins them. It comes once, with its best score
    and all routes that found it. The question is the first one, the seconds are added up.
    """
    return SearchResult(
        question=results[0].question if results else "",
        passages=_routed([each.passages for each in results], top_k),
        facts=_routed([each.facts for each in results], top_k),
        seconds=round(sum(each.seconds for each in results), 4),
        paths=_by_turns([each.paths for each in results], top_k),
        communities=_by_turns([each.communities for each in results], top_k),
    )


def _routed(lists: list[Any], top_k: int) -> tuple[Any, ...]:
    routes: dict[str, set[str]] = {}
    for each in (item for items in lists for item in items):
        routes.setdefault(each.id, set()).update(each.routes)
    return tuple(replace(each, routes=tuple(sorted(routes[each.id]))) for each in _by_turns(lists, top_k))


def _by_turns(lists: Sequence[Sequence[Item]], top_k: int) -> tuple[Item, ...]:
    best: dict[object, Item] = {}
    for each in (item for items in lists for item in items):
        known = best.setdefault(_key(each), each)
        best[_key(each)] = each if each.score > known.score else known
    order = _order([[_key(each) for each in items] for items in lists], top_k)
    return tuple(best[key] for key in order)


def _order(turns: Sequence[Sequence[object]], count: int) -> list[object]:
    """The first of each, as many again that the most lists have, the others by turns."""
    found = Counter(key for keys in turns for key in keys)
    in_turn = dict.fromkeys(key for rank in zip_longest(*turns) for key in rank if key is not None)
    firsts = _deal(turns, (), len(turns))
    shared = sorted((key for key in in_turn if found[key] > 1 and key not in firsts), key=lambda key: -found[key])
    return _deal(turns, [*firsts, *shared[: len(turns)]], count)[:count]


def _deal(turns: Sequence[Sequence[object]], taken: Collection[object], count: int) -> list[object]:
    """Each list in its turn gives its next that is not taken, until there are ``count`` or no more."""
    dealt = dict.fromkeys(taken)
    waiting = [iter(keys) for keys in turns]
    while waiting and len(dealt) < count:
        for keys in list(waiting):
            key = next((each for each in keys if each not in dealt), None)
            if key is None:
                waiting.remove(keys)
            else:
                dealt[key] = None
    return list(dealt)


def _key(item: Passage | FoundFact | FoundPath | FoundCommunity) -> object:
    if isinstance(item, FoundPath):
        facts = tuple(each.id for each in item.facts)
        return min(facts, facts[::-1])
    return item.id
