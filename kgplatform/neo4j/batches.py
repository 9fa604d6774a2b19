"""Rows in batches, each for one statement. Without the driver, which takes half a second to load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

BATCH_ROWS = 1000


def batches(rows: Sequence[T], size: int = BATCH_ROWS) -> Iterator[Sequence[T]]:
    """``rows`` in slices of ``size``."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
