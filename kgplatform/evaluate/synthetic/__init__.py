"""Synthetic tasks for readers of long texts: needles in haystacks, keys and numbers in noise, dictionaries, lists.

    from kgplatform.evaluate.synthetic import LENGTHS, DEPTHS, grid, single_needle, write_tasks

    write_tasks("needles.jsonl", grid(single_needle, LENGTHS, DEPTHS, samples=10))

No model is needed, and the same seed gives the same text, to the letter. docs/needle-tasks.md tells more.
"""

from __future__ import annotations

from kgplatform.evaluate.synthetic.grid import DEPTH_PAIRS, DEPTHS, LENGTHS, even, grid
from kgplatform.evaluate.synthetic.haystack import Needles
from kgplatform.evaluate.synthetic.needle_tasks import multi_needle, single_needle
from kgplatform.evaluate.synthetic.retrieval import RANKS, hidden_number, key_value, math_find, pass_key
from kgplatform.evaluate.synthetic.samples import from_samples
from kgplatform.evaluate.synthetic.task import Needle, NeedleTask
from kgplatform.evaluate.synthetic.task_file import read_tasks, write_tasks

__all__ = [
    "DEPTHS",
    "DEPTH_PAIRS",
    "LENGTHS",
    "RANKS",
    "Needle",
    "NeedleTask",
    "Needles",
    "even",
    "from_samples",
    "grid",
    "hidden_number",
    "key_value",
    "math_find",
    "multi_needle",
    "pass_key",
    "read_tasks",
    "single_needle",
    "write_tasks",
]
