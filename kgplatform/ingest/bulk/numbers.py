"""Numbers in place of ids: the importer takes them as they are, and would have to sort and look up anything else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Numbers:
    """The nodes of a kind, numbered from ``first`` on in the order of their ids. 16 bytes a node are held."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._count = 0
        self._parts: list[bytes] = []
        self._ids: NDArray[np.bytes_] | None = None

    @property
    def end(self) -> int:
        """The first number after them."""
        return self._first + self._count

    def add(self, ids: Sequence[str]) -> int:
        """Add nodes with ids above those before, in order; returns the number of the first of them."""
        self._parts.append(bytes.fromhex("".join(ids)))
        self._count += len(ids)
        return self.end - len(ids)

    def of(self, ids: Sequence[str]) -> list[int]:
        """The numbers of nodes, in any order, once all are added. Raises ``KeyError`` if one is not among them."""
        if not ids:
            return []
        if self._ids is None:
            self._ids, self._parts = _as_array(b"".join(self._parts)), []
        wanted = _as_array(bytes.fromhex("".join(ids)))
        places = np.minimum(np.searchsorted(self._ids, wanted), max(0, self._count - 1))
        if not self._count or not np.array_equal(self._ids[places], wanted):
            raise KeyError("A relationship leads to a node that was not written.")
        found: list[int] = (places + self._first).tolist()
        return found


def _as_array(ids: bytes) -> NDArray[np.bytes_]:
    return np.frombuffer(ids, "S16")
