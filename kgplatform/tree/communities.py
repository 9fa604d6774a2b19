"""Communities as the tree has them: known by their members, each with its members in the order of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgplatform.text import node_id
from kgplatform.tree.entity_graph import EntityGraph, Floats, Indices
from kgplatform.tree.paper import member_scores

KEYWORDS = 5
"""Keywords of a community: its members with the highest scores (paper, section 3.2)."""


@dataclass(frozen=True, slots=True, eq=False)
class Community:
    """One community. ``members``: positions, the centre first, then by ``scores``, which fall; ``parent``: an id.

    ``id`` follows from the depth and the members: the same members are the same community, whenever it was found.
    """

    id: str
    depth: int
    parent: str | None
    members: Indices
    scores: Floats

    @property
    def size(self) -> int:
        """How many entities are in it."""
        return len(self.members)

    def keywords(self, graph: EntityGraph) -> dict[str, tuple[int, float]]:
        """Position and score of the entities that stand for it, by the keywords' ids; none for one that is alone."""
        if self.size < 2:
            return {}
        best = zip(self.members[:KEYWORDS].tolist(), self.scores[:KEYWORDS].tolist(), strict=True)
        return {node_id("keyword", self.id, graph.ids[each]): (each, round(score, 4)) for each, score in best}


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """All communities, parents before their parts. ``leaves``: (n,) of each entity the position of its deepest one.

    ``scores``: (n,) of each entity in that one.
    """

    communities: list[Community]
    leaves: Indices
    scores: Floats


def tree_of(graph: EntityGraph, levels: Sequence[Indices]) -> Tree:
    """The tree of ``levels``: for each depth (n,) communities, -1 where the one above is not divided."""
    communities: list[Community] = []
    leaves = np.zeros(graph.size, np.int64)
    scores = np.zeros(graph.size, np.float32)
    above = np.full(graph.size, -1, np.int64)
    for depth, labels in enumerate(levels):
        phi, groups = _ranked(graph, labels, above)
        found = np.full(graph.size, -1, np.int64)
        for members in groups:
            parent = communities[above[members[0]]].id if depth else None
            identity = node_id("community", depth, *(graph.ids[member] for member in np.sort(members)))
            found[members] = len(communities)
            communities.append(Community(identity, depth, parent, members, phi[members]))
        inside = found >= 0
        leaves[inside], scores[inside] = found[inside], phi[inside]
        above = found
    return Tree(communities, leaves, scores)


def _ranked(graph: EntityGraph, labels: Indices, above: Indices) -> tuple[Floats, list[Indices]]:
    """The scores of all entities, and the members of each community of one depth, the best first."""
    inside = labels >= 0
    # Those whose community is not divided here are scored with it, and then left out: scores want whole partitions.
    _, whole = np.unique(np.where(inside, labels, labels.max(initial=-1) + 2 + above), return_inverse=True)
    found = member_scores(graph, whole)
    phi = found.phi.round(4)
    is_center = np.zeros(graph.size, np.bool_)
    is_center[found.centers] = True
    chosen = np.flatnonzero(inside)
    order = chosen[np.lexsort((chosen, -phi[chosen], ~is_center[chosen], labels[chosen]))]
    cuts = np.flatnonzero(np.diff(labels[order])) + 1
    return phi, np.split(order, cuts) if len(order) else []
