"""Graphs of any size whose communities are known, made with numpy alone."""

from __future__ import annotations

import numpy as np

from kgplatform.tree.entity_graph import EntityGraph, Floats, Indices

DIMENSION = 384
MEMBERS = 50
STATEMENTS = 3
INSIDE = 0.7
NOISE = 1.2
_RELATIONS = 200
_AT_ONCE = 50_000


def planted(size: int, seed: int = 1) -> tuple[EntityGraph, Indices]:
    """A graph of ``size`` entities in communities of about ``MEMBERS``, and (n,) the community of each.

    Vectors are a theme of the community's and ``NOISE`` times as much of their own: the cosine of two members is 0.4.
    There are ``STATEMENTS`` for each entity, of which ``INSIDE`` join members and the others anybody.
    """
    rng = np.random.default_rng(seed)
    count = max(1, size // MEMBERS)
    groups = rng.integers(count, size=size)
    heads = rng.integers(size, size=STATEMENTS * size)
    tails = np.where(rng.random(len(heads)) < INSIDE, _fellows(groups, heads, rng), rng.integers(size, size=len(heads)))
    ids = [f"{number:08}" for number in range(size)]
    graph = EntityGraph(
        ids=ids,
        names=ids,
        types=[None] * size,
        vectors=_vectors(groups, count, rng),
        heads=heads,
        tails=tails,
        relations=rng.integers(_RELATIONS, size=len(heads)),
        relation_names=[f"relation {number}" for number in range(_RELATIONS)],
    )
    return graph, groups


def _vectors(groups: Indices, count: int, rng: np.random.Generator) -> Floats:
    themes = rng.standard_normal((count, DIMENSION), dtype=np.float32)
    vectors = np.empty((len(groups), DIMENSION), np.float32)
    for begin in range(0, len(groups), _AT_ONCE):
        chosen = groups[begin : begin + _AT_ONCE]
        part = themes[chosen] + NOISE * rng.standard_normal((len(chosen), DIMENSION), dtype=np.float32)
        vectors[begin : begin + _AT_ONCE] = part / np.linalg.norm(part, axis=1, keepdims=True)
    return vectors


def _fellows(groups: Indices, rows: Indices, rng: np.random.Generator) -> Indices:
    """For each of ``rows`` some entity of the same community."""
    order = np.argsort(groups, kind="stable")
    ends = np.searchsorted(groups[order], [groups[rows], groups[rows] + 1])
    return order[ends[0] + (rng.random(len(rows)) * (ends[1] - ends[0])).astype(np.int64)]
