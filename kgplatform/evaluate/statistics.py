"""How sure a mean is, and whether two setups differ: bootstrap intervals and paired tests over the same questions.

    estimate([1.0, 0.0, 1.0])                                  # Estimate(mean=0.667, low=0.0, high=1.0, count=3)
    compare({"q1": 1.0, "q2": 0.0}, {"q1": 0.0, "q2": 0.0})    # Comparison(difference=0.5, …, p=1.0, count=2)

Everything is drawn with a seed: the same scores give the same figures, in whatever order they come.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgplatform.evaluate.results import Estimate, Pair

RESAMPLES = 10_000
_INTERVAL = (0.025, 0.975)
_DRAWN_AT_ONCE = 2_000_000
"""Draws that are held in memory together."""

_CLOSE = 1e-9
"""Sums that are nearer to each other are equal: their terms were added in another order."""

_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Comparison:
    """Mean of first minus second over ``count`` questions, its 95 % interval, and the ``p`` of a two-sided test."""

    difference: float
    low: float
    high: float
    p: float
    count: int


def estimate(values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Estimate:
    """The mean with its 95 % interval by the percentile bootstrap (Efron and Tibshirani 1993, chapter 13).

    Values that are all the same, and one value alone, have no spread to draw from: then both bounds are the mean, which
    says nothing of how sure it is. Raises ``ValueError`` without values.
    """
    mean, low, high = _interval(values, seed, resamples)
    return Estimate(mean, low, high, len(values))


def compare(
    first: Mapping[str, float], second: Mapping[str, float], *, seed: int = 0, resamples: int = RESAMPLES
) -> Comparison:
    """Two setups' scores, by question, over the questions that both have. Raises ``ValueError`` if there are none.

    The interval is bootstrapped over the questions. The test is McNemar's, exact, where all scores are 0 or 1; else
    the paired permutation test, which turns the signs of the differences: all ways, or ``resamples`` of them.
    """
    common = sorted(first.keys() & second.keys())
    differences = [first[each] - second[each] for each in common]
    mean, low, high = _interval(differences, seed, resamples)
    if all(scores[each] in (0, 1) for scores in (first, second) for each in common):
        p = _mcnemar(differences.count(1), differences.count(-1))
    else:
        p = _sign_flip(differences, seed, resamples)
    return Comparison(mean, low, high, p, len(common))


def pairs(metric: str, by_setup: Mapping[str, Mapping[str, float]]) -> tuple[Pair, ...]:
    """Every two setups compared, in the order given, the p values adjusted for their number (Holm 1979).

    ``by_setup``: for each setup its scores by question. Setups without a question in common are not compared.
    """
    named = [
        (first, second, compare(by_setup[first], by_setup[second]))
        for first, second in combinations(by_setup, 2)
        if by_setup[first].keys() & by_setup[second].keys()
    ]
    adjusted = holm([each.p for _, _, each in named])
    return tuple(
        Pair(metric, first, second, each.difference, each.low, each.high, each.p, adjusted_p, each.count)
        for (first, second, each), adjusted_p in zip(named, adjusted, strict=True)
    )


def holm(ps: Sequence[float]) -> list[float]:
    """Each p value times the number of those that are not smaller, no less than a smaller one's, at most 1."""
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, at in enumerate(sorted(range(len(ps)), key=lambda at: (ps[at], at))):
        highest = max(highest, min(1.0, ps[at] * (len(ps) - rank)))
        adjusted[at] = highest
    return adjusted


def _interval(values: Sequence[float], seed: int, resamples: int) -> tuple[float, float, float]:
    """Mean, lower and upper bound. Values are drawn in order of size, so that their own order is of no consequence."""
    if not values:
        raise ValueError("there is nothing to estimate from")
    mean = math.fsum(values) / len(values)
    if min(values) == max(values):
        return float(values[0]), float(values[0]), float(values[0])
    means = _resampled_means(np.sort(np.asarray(values, np.float64)), seed, resamples)
    low, high = (round(float(bound), _DECIMALS) for bound in np.quantile(means, _INTERVAL))
    return mean, min(low, mean), max(high, mean)


def _resampled_means(values: NDArray[np.float64], seed: int, resamples: int) -> NDArray[np.float64]:
    """The means of ``resamples`` draws with replacement, each as large as ``values``; drawn in blocks."""
    rng = np.random.default_rng(seed)
    rows = max(1, _DRAWN_AT_ONCE // len(values))
    blocks = [
        values[rng.integers(len(values), size=(min(rows, resamples - done), len(values)), dtype=np.int32)].mean(axis=1)
        for done in range(0, resamples, rows)
    ]
    return np.concatenate(blocks)


def _mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p of so many questions that only one of the two got right (McNemar 1947)."""
    discordant = only_first + only_second
    tail = sum(math.comb(discordant, k) for k in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / (1 << discordant))


def _sign_flip(differences: Sequence[float], seed: int, resamples: int) -> float:
    """The share of ways to turn signs that give a sum at least as far from 0 (Fisher 1935).

    Of drawn ways the one that is there counts as one more, so that p is never 0 (Phipson and Smyth 2010).
    """
    sizes = np.sort(np.abs(np.asarray([each for each in differences if each], np.float64)))
    least = abs(math.fsum(differences)) - _CLOSE
    if 2 ** len(sizes) <= resamples:
        ways = np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes)) & 1
        return float(np.mean(_far(ways, sizes, least)))
    rng = np.random.default_rng(seed)
    rows = max(1, _DRAWN_AT_ONCE // len(sizes))
    far = sum(
        int(_far(rng.integers(2, size=(min(rows, resamples - done), len(sizes)), dtype=np.int8), sizes, least).sum())
        for done in range(0, resamples, rows)
    )
    return (far + 1) / (resamples + 1)


def _far(ways: NDArray[Any], sizes: NDArray[np.float64], least: float) -> NDArray[np.bool_]:
    """Of each way, a row of 0 and 1 for minus and plus, whether its sum is ``least`` away from 0."""
    sums: NDArray[np.float64] = ((2 * ways - 1) * sizes).sum(axis=1)
    return np.abs(sums) >= least
