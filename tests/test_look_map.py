"""The map: every entity has a place, discs do not overlap, what belongs together is near; and the same each time."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from large_graph import invented, write_large_graph

from kgplatform.client import KnowledgeGraph
from kgplatform.look_discs import grouped, pack, taken_together
from kgplatform.look_map import HALF, lay_out
from kgplatform.look_records import GraphMap, MapDisc

Entities = list[list[Any]]


def entities(count: int, pairs: set[tuple[int, int]], communities: list[str | None] | None = None) -> Entities:
    """As ``cypher/look/map.cypher`` gives them."""
    facts = [sum(each in pair for pair in pairs) for each in range(count)]
    return [
        [
            f"e{n}",
            f"E {n}",
            "Person",
            facts[n],
            (communities or [None] * count)[n],
            [f"e{b}" for a, b in pairs if a == n],
        ]
        for n in range(count)
    ]


def places(drawn: GraphMap) -> np.ndarray:
    return np.stack([drawn.x, drawn.y], axis=1).reshape(-1, 2)


def overlaps(discs: list[MapDisc]) -> list[tuple[str, str]]:
    return [
        (a.name, b.name)
        for a, b in itertools.combinations(discs, 2)
        if np.hypot(a.x - b.x, a.y - b.y) < (a.radius + b.radius) * 0.999 - 0.05
    ]


def holds(disc: MapDisc, points: np.ndarray) -> bool:
    return bool((np.hypot(*(points - [disc.x, disc.y]).T) <= disc.radius + 0.05).all())


def test_nothing_to_lay_out() -> None:
    drawn = lay_out([], [], 0, 0)
    assert (drawn.ids, drawn.x, drawn.sources, drawn.discs) == ((), (), (), ())


def test_one_entity_lies_in_the_middle() -> None:
    drawn = lay_out(entities(1, set()), [], 1, 0)
    assert (drawn.ids, drawn.x, drawn.y, drawn.sources) == (("e0",), (0.0,), (0.0,), ())


@given(st.integers(1, 90), st.data())
def test_any_graph_has_its_places(count: int, data: st.DataObject) -> None:
    number = st.integers(0, count - 1)
    pairs = data.draw(st.sets(st.tuples(number, number), max_size=150))
    inside = data.draw(st.lists(st.sampled_from([None, "a", "b", "b1", "b2"]), min_size=count, max_size=count))
    tree = [["a", "A", None, 0], ["b", "B", None, 0], ["b1", "B 1", "b", 1], ["b2", "B 2", "b", 1]]
    given_ = entities(count, pairs, inside)
    drawn = lay_out(given_, tree, count, len(pairs))
    assert np.abs(places(drawn)).max() <= HALF + 0.01
    assert len(set(zip(drawn.x, drawn.y, strict=True))) == count, "no two lie on each other"
    assert {frozenset(pair) for pair in zip(drawn.sources, drawn.targets, strict=True)} == {
        frozenset(pair) for pair in pairs if pair[0] != pair[1]
    }
    tops = [disc for disc in drawn.discs if disc.depth == 0]
    assert overlaps(tops) == []
    assert overlaps([disc for disc in drawn.discs if disc.depth == 1]) == []
    by_id = {disc.id: disc for disc in drawn.discs}
    for id_ in {each for each in inside if each}:
        members = np.array([each == id_ or (id_ == "b" and (each or "").startswith("b")) for each in inside])
        assert holds(by_id[id_], places(drawn)[members])
    assert lay_out(given_, tree, count, len(pairs)) == drawn


def test_thousands_of_pairs_that_nothing_joins() -> None:
    drawn = lay_out(entities(3000, {(n, n + 1) for n in range(0, 3000, 2)}), [], 3000, 1500)
    lengths = np.hypot(*(places(drawn)[list(drawn.sources)] - places(drawn)[list(drawn.targets)]).T)
    assert len(drawn.discs) == 1500
    assert lengths.max() < 60
    assert overlaps(list(drawn.discs[:400])) == []


def test_groups_are_found_where_there_is_no_tree() -> None:
    graph = invented(2000)
    pairs = {(a, b) for a, b in graph.joined.tolist()}
    drawn = lay_out(entities(2000, pairs), [], 2000, len(pairs))
    spots = places(drawn)
    together = np.linalg.norm(spots[graph.joined[:, 0]] - spots[graph.joined[:, 1]], axis=1)
    rng = np.random.default_rng(1)
    anyhow = np.linalg.norm(spots[rng.integers(2000, size=5000)] - spots[rng.integers(2000, size=5000)], axis=1)
    assert np.median(together) < np.median(anyhow) / 4
    assert 30 < len(drawn.discs) < 300


def test_linked_discs_are_packed_near_each_other() -> None:
    links = np.zeros((30, 30))
    for first in range(0, 30, 5):
        links[first : first + 5, first : first + 5] = 1
    spots, radius = pack(np.linspace(1, 2, 30), links)
    apart = np.linalg.norm(spots[:, None] - spots, axis=2)
    radii = np.linspace(1, 2, 30)
    assert (apart + 99 * np.eye(30) >= radii[:, None] + radii - 1e-6).all()
    assert (np.linalg.norm(spots, axis=1) + radii).max() <= radius + 1e-9
    assert (radii**2).sum() / radius**2 > 0.55, "more than half of the circle is covered"
    assert apart[links > 0].mean() < apart[links == 0].mean() * 0.75


def test_a_disc_smaller_than_the_gap_between_two_has_a_place() -> None:
    radii = np.array([100.0, 90.0, 1.0, 0.5, 1.0])
    spots, _ = pack(radii, np.zeros((5, 5)))
    apart = np.linalg.norm(spots[:, None] - spots, axis=2)
    assert (apart + 999 * np.eye(5) >= radii[:, None] + radii - 1e-3).all()


def test_groups_follow_links() -> None:
    ends = np.array([[a, b] for first in (0, 10, 20) for a, b in itertools.combinations(range(first, first + 10), 2)])
    bridges = np.array([[0, 10], [10, 20]])
    weights = np.ones(len(ends) + 2)
    groups = grouped(31, np.concatenate([ends, bridges]), weights)
    assert [len(set(groups[first : first + 10])) for first in (0, 10, 20)] == [1, 1, 1]
    assert len(set(groups)) == 4, "what nothing joins is on its own"
    assert taken_together(30, ends, np.ones(len(ends))).tolist() == [0] * 10 + [1] * 10 + [2] * 10
    assert taken_together(3, np.array([[0, 2]]), np.ones(1)).tolist() == [0, 1, 0]


def test_a_star_of_many_communities_is_taken_together_in_few_rounds() -> None:
    star = np.array([[0, each] for each in range(1, 1000)])
    sizes = np.bincount(taken_together(1000, star, np.ones(999)))
    assert sizes.max() == 10 and len(sizes) == 100
    hub = ["e0", "E 0", "Person", 2999, "c0", [f"e{n}" for n in range(1, 3000)]]
    others = [[f"e{n}", f"E {n}", "Person", 1, f"c{1 + n // 3}", []] for n in range(1, 3000)]
    drawn = lay_out([hub, *others], [[f"c{n}", f"C {n}", None, 0] for n in range(1002)], 3000, 2999)
    assert overlaps(list(drawn.discs[:300])) == []


@pytest.mark.parametrize("tree", [True, False])
def test_the_map_of_a_graph(kg: KnowledgeGraph, tree: bool) -> None:
    graph = write_large_graph(kg.store, 300, tree=tree)
    drawn = kg.look.map()
    assert sorted(drawn.names) == sorted(graph.names)
    assert (drawn.total_nodes, drawn.total_edges) == (300, kg.stats().relationships["OBJECT"])
    assert list(drawn.sizes) == sorted(drawn.sizes, reverse=True)
    assert kg.look.map() == drawn
    few = kg.look.map(50)
    assert few.ids == drawn.ids[:50]
    assert few.total_nodes == 300
    assert set(few.sources + few.targets) <= set(range(50))
    assert (None in drawn.communities) != tree
    if tree:
        names = {node.name for node in kg.look.communities(1000)}
        assert {disc.name for disc in drawn.discs} == names
        assert {disc.depth for disc in drawn.discs} == {0, 1}


def test_the_large_graph_can_be_searched(kg: KnowledgeGraph) -> None:
    graph = write_large_graph(kg.store, 60)
    kg.check_model()
    assert kg.search(f"Who knows {graph.names[0]}?").facts
    found = kg.ask(f"Who knows {graph.names[0]}?")
    assert found.evidence.passages
    assert kg.documents()[0].failed == 0
    text = kg.look.document(kg.documents()[0].id)
    assert all(fact.found for fact in text.facts)
