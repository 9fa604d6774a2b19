"""What differs between the tree that is there and the one that is to be, as rows for ``cypher/build/tree_*``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kgplatform.build.tree.communities import Community, Tree
from kgplatform.build.tree.entity_graph import EntityGraph, Indices
from kgplatform.build.tree.read import StoredTree
from kgplatform.store import Row


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """``new``: communities that are not in the graph; ``gone``: ids of those that only are there.

    ``touched``: those whose size or centre is to be written, new ones included. ``entities``: positions of those whose
    community, score or signature is to be written. ``represented``: the communities whose keywords are.
    """

    new: list[Community]
    gone: list[str]
    touched: list[Community]
    entities: Indices
    represented: list[Community]
    renamed: list[Community]

    @property
    def rows(self) -> int:
        """About how many rows it takes to write them."""
        return len(self.touched) + len(self.gone) + len(self.entities) + 6 * len(self.represented)


def changes(graph: EntityGraph, tree: Tree, stored: StoredTree, signed: Indices) -> Changes:
    """What makes ``tree`` of ``stored``. ``signed``: (n,) the signatures of the entities now."""
    before = stored.communities
    ids = {community.id for community in tree.communities}
    changed = stored.signatures != signed
    new = [each for each in tree.communities if each.id not in before]
    alone = [each for each in tree.communities if each.size == 1 and each.id in before]
    return Changes(
        new=new,
        gone=sorted(before.keys() - ids),
        touched=[each for each in tree.communities if _is_touched(graph, each, stored)],
        entities=_entities(tree, stored, changed),
        represented=[each for each in tree.communities if _is_represented_otherwise(graph, each, stored, changed)],
        renamed=[each for each in alone if changed[each.members[0]]],
    )


def _is_touched(graph: EntityGraph, community: Community, stored: StoredTree) -> bool:
    known = stored.communities.get(community.id)
    if known is None:
        return True
    now = (community.size, graph.ids[community.members[0]], community.parent)
    return now != (known.size, known.center, known.parent)


def _entities(tree: Tree, stored: StoredTree, changed: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Indices:
    leaves = [tree.communities[leaf].id for leaf in tree.leaves.tolist()]
    elsewhere = np.array([leaf != known for leaf, known in zip(leaves, stored.leaves, strict=True)], np.bool_)
    same_score = np.abs(stored.scores - tree.scores) < 5e-5  # nothing is like the score of an entity without one
    return np.flatnonzero(elsewhere | changed | ~same_score)


def _is_represented_otherwise(
    graph: EntityGraph, community: Community, stored: StoredTree, changed: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> bool:
    known = stored.communities.get(community.id)
    keywords = community.keywords(graph)
    if known is None:
        return bool(keywords)
    same = {key: score for key, (_, score) in keywords.items()} == known.keywords
    return not same or any(changed[position] for position, _ in keywords.values())


def parent_rows(found: Changes) -> list[Row]:
    """Rows for ``tree_write_parents``."""
    return [{"id": each.id, "parent": each.parent} for each in found.touched if each.parent is not None]


def member_rows(graph: EntityGraph, tree: Tree, found: Changes, signed: Indices) -> Iterator[Row]:
    """Rows for ``tree_write_members``, one by one: there may be a million."""
    for position in found.entities.tolist():
        yield {
            "id": graph.ids[position],
            "community": tree.communities[tree.leaves[position]].id,
            "score": round(float(tree.scores[position]), 4),
            "signature": int(signed[position]),
        }


def keyword_rows(graph: EntityGraph, found: Changes) -> list[Row]:
    """Rows for ``tree_write_keywords``."""
    return [
        {"id": key, "name": graph.names[position], "score": score, "entity": graph.ids[position], "community": each.id}
        for each in found.represented
        for key, (position, score) in each.keywords(graph).items()
    ]
