"""The rows of a user's statement, with values as JSON can hold them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import neo4j

from kgplatform.neo4j.values import plain


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a user's statement. ``truncated`` if the row limit cut them; ``counters`` are what it changed."""

    columns: tuple[str, ...]
    rows: list[list[Any]]
    truncated: bool
    counters: dict[str, int]

    @classmethod
    def of(cls, result: neo4j.Result, limit: int) -> Table:
        """The first ``limit`` rows of ``result``, which is consumed."""
        columns = tuple(result.keys())
        rows = [[plain(value) for value in record.values()] for record in islice(result, limit)]
        truncated = result.peek() is not None
        counters = result.consume().counters
        changes = {name: count for name, count in vars(counters).items() if type(count) is int and count}
        return cls(columns, rows, truncated, changes)
