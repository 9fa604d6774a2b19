"""Grids of tasks: every length at every depth, one task at a time, so that nothing is held in memory.

write_tasks("needles.jsonl", grid(single_needle, LENGTHS, DEPTHS, samples=10))       # 1,500 tasks, as in the paper
write_tasks("pairs.jsonl", grid(multi_needle, LENGTHS, DEPTH_PAIRS, samples=10))     # 900
grid(partial(single_needle, haystack=book), even(1_000, 64_000, 7), (0, 0.5, 1))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TypeVar

from kgplatform.errors import InputError
from kgplatform.evaluate.synthetic.task import NeedleTask

Depth = TypeVar("Depth")


def even(least: int, most: int, count: int) -> tuple[int, ...]:
    """``count`` whole numbers at even distances, both ends included.

    >>> even(1_000, 128_000, 3)
    (1000, 64500, 128000)
    """
    if count < 2 or least >= most:
        raise InputError(f"{count} lengths from {least:,} to {most:,} make no grid: ask for two or more, least first.")
    return tuple(least + round(step * (most - least) / (count - 1)) for step in range(count))


LENGTHS = even(1_000, 128_000, 15)
"""LongAgent's: 15 lengths evenly from 1,000 to 128,000 tokens."""

DEPTHS = tuple(step / 9 for step in range(10))
"""LongAgent's for one needle: 10 depths evenly from 0 to 1 (A, appendix A.1)."""

DEPTH_PAIRS = tuple(combinations((0.0, 0.33, 0.66, 1.0), 2))
"""LongAgent's for two needles: the six pairs of 0, 33, 66 and 100 % (A, appendix A.2)."""


def grid(
    make: Callable[[int, Depth, int], NeedleTask],
    lengths: Sequence[int],
    depths: Sequence[Depth],
    samples: int = 1,
    seed: int = 0,
) -> Iterator[NeedleTask]:
    """``samples`` tasks for each length and depth, by length, then depth; ``make`` gets length, depth and a seed.

    The seeds of a cell are ``seed``, ``seed + 1`` and so on; another length or depth draws another needle for them.
    """
    for length in lengths:
        for depth in depths:
            for number in range(samples):
                yield make(length, depth, seed + number)
