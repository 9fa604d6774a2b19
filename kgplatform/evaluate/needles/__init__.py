"""Synthetic tasks for readers of long texts: needles in haystacks, keys and numbers in noise, dictionaries, lists.

    from kgplatform.evaluate.needles import DEPTHS, LENGTHS, grid, single_needle, write_tasks

    write_tasks("needles.jsonl", grid(single_needle, LENGTHS, DEPTHS, samples=10))

No model is needed, and the same seed gives the same text, to the letter. docs/how-to/needle-tasks.md tells more.
"""

from __future__ import annotations

from kgplatform.evaluate.needles.haystack import (
    DEPTH_PAIRS,
    DEPTHS,
    LENGTHS,
    Needle,
    Needles,
    NeedleTask,
    even,
    grid,
    write_tasks,
)
from kgplatform.evaluate.needles.needles import (
    RANKS,
    hidden_number,
    key_value,
    math_find,
    multi_needle,
    pass_key,
    single_needle,
)

__all__ = [
    "DEPTHS",
    "DEPTH_PAIRS",
    "LENGTHS",
    "RANKS",
    "Needle",
    "NeedleTask",
    "Needles",
    "even",
    "grid",
    "hidden_number",
    "key_value",
    "math_find",
    "multi_needle",
    "pass_key",
    "single_needle",
    "write_tasks",
]
