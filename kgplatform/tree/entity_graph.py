"""The entities of a graph as arrays: what community detection works on. No database here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class EntityGraph:
    """n entities, known by their position in ``ids``, which is sorted; m statements about them.

    ``vectors``: (n, d) float32, rows of length 1: the entities' names. ``heads``, ``tails``: (m,) positions;
    a tail of -1 is an attribute's value, not an entity. ``relations``: (m,) positions in ``relation_names``: the
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


_Hashes = NDArray[np.uint64]
_OUT, _IN = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def signatures(graph: EntityGraph) -> Indices:
    """(n,) numbers, each a hash of the entity's name and of its facts: the relation, the other end, the direction.

    A fact's hashes are added up, so that their order is of no account. Vectors have no part in it: they follow from
    the name.
    """
    ends, relations = _hashes(graph.ids), _hashes(graph.relation_names)[graph.relations]
    joins = graph.tails >= 0
    said = graph.heads, relations, np.where(joins, ends[graph.tails], np.uint64(0))
    heard = graph.tails[joins], relations[joins], ends[graph.heads][joins]
    return _signed(graph.names, said, heard)


Said = tuple[Sequence[int], Sequence[str], Sequence[str | None]]
"""Facts as the entities at one end see them: their positions, the relations, the ids at the other end (None: a value).
"""


def signatures_of(names: Sequence[str], said: Said, heard: Said) -> Indices:
    """``signatures`` of entities whose facts lead out of the graph: as their subjects, and as their objects."""
    sides = []
    for rows, what, who in (said, heard):
        ends = _hashes([end or "" for end in who])
        ends[[end is None for end in who]] = 0
        sides.append((np.array(rows, np.int64), _hashes(what), ends))
    return _signed(names, *sides)


def _signed(names: Sequence[str], *sides: tuple[Indices, _Hashes, _Hashes]) -> Indices:
    total = np.zeros(len(names), np.uint64)
    for (rows, relations, ends), direction in zip(sides, (_OUT, _IN), strict=True):
        np.add.at(total, rows, _mixed(relations + _mixed(ends + direction)))
    return _mixed(total + _hashes(names)).view(np.int64)


def _hashes(texts: Sequence[str]) -> _Hashes:
    digests = (blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(digests), np.dtype("<u8")).astype(np.uint64)


def _mixed(values: _Hashes) -> _Hashes:
    """The finishing step of SplitMix64 (Steele, Lea and Flood, 2014): every bit of a value depends on all its bits."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))
