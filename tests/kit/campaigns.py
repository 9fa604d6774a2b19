"""Long lists of attacks: a part of each in the tests, all of it in ``make bench ONLY=faults``."""

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
WHOLE = "KGPLATFORM_BENCH_WHOLE"
"""Set to 1 for all of them."""


def more(*cases: T) -> Sequence[T]:
    """``cases``, beside others of their kinds, which the tests do with."""
    return cases if os.environ.get(WHOLE) == "1" else ()


def sampled(cases: Sequence[T]) -> Sequence[T]:
    """Every fourth of ``cases``, or all of them where that is asked for."""
    return cases if os.environ.get(WHOLE) == "1" else cases[::4]
