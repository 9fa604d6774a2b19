"""The entities of a graph as arrays: what community detection works on. No database here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class EntityGraph:
    """n entities, known by their position in ``ids``, which is sorted; m statements about them.

    ``vectors``: (n, d) float32, rows of length 1: the entities' names. ``heads``, ``tails``: (m,) positions;
    a tail of -1 is an attribute's value, which is no entity. ``relations``: (m,) positions in ``relation_names``: the
    relationship type where the schema has one, else the predicate; an attribute's key for values.
    """

    ids: Sequence[str]
    names: Sequence[str]
    types: Sequence[str | None]
    vectors: Floats
    heads: Indices
    tails: Indices
    relations: Indices
    relation_names: Sequence[str]

    @property
    def size(self) -> int:
        """n, the number of entities."""
        return len(self.ids)
