"""What a route found, before the words are looked up: scores by id."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """Scores of passages and facts by id (higher is better), and the routes that found each."""

    passages: dict[str, float] = field(default_factory=dict)
    facts: dict[str, float] = field(default_factory=dict)
    passage_routes: dict[str, set[str]] = field(default_factory=dict)
    fact_routes: dict[str, set[str]] = field(default_factory=dict)


def best(scores: Mapping[str, float], count: int) -> list[str]:
    """The ``count`` best ids; equal scores in the order of their ids."""
    return sorted(scores, key=lambda each: (-scores[each], each))[:count]


def keep_best(scores: dict[str, float], ids: Iterable[str], score: float) -> None:
    """Note ``score`` for each of ``ids``, unless it has a better one."""
    for each in ids:
        if score > scores.get(each, float("-inf")):
            scores[each] = score


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """The results of ``works``, run at the same time, in order; tracers see the statements of all of them."""
    with ThreadPoolExecutor(len(works)) as pool:
        futures = [pool.submit(contextvars.copy_context().run, work) for work in works]
        return [future.result() for future in futures]
