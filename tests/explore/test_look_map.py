"""The map: every entity is in its disc, discs lie inside of discs, what belongs together is; and the same each time."""

from collections import Counter, defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from large_graph import invented, write_large_graph

from kgplatform.client import KnowledgeGraph
from kgplatform.explore.info import GraphMap
from kgplatform.explore.map import map_of

Entities = list[list[Any]]


def entities(count: int, pairs: set[tuple[int, int]], communities: list[str | None] | None = None) -> Entities:
    """As ``cypher/explore/map.cypher`` gives them."""
    facts = Counter(end for pair in pairs for end in set(pair))
    others: dict[int, list[list[Any]]] = defaultdict(list)
    for subject, other in pairs:
        others[subject].append([f"e{other}", [["1842-01-01" if subject % 2 else None, None]]])
    inside = communities or [None] * count
    return [[f"e{n}", f"E {n}", "Person", facts[n], inside[n], others[n], []] for n in range(count)]


def holders(drawn: GraphMap, row: int) -> list[int]:
    """The discs that an entity lies in, the innermost first."""
    found, disc = [], drawn.inside[row]
    while disc >= 0:
        assert disc not in found, "a disc lies in itself"
        found.append(disc)
        disc = drawn.discs[disc].around
    return found


def test_nothing_to_show_and_an_entity_in_no_disc() -> None:
    drawn = map_of([], [], 0, 0)
    assert (drawn.ids, drawn.inside, drawn.sources, drawn.discs) == ((), (), (), ())
    drawn = map_of(entities(1, set()), [], 1, 0)
    assert (drawn.ids, drawn.inside, drawn.sources, drawn.discs) == (("e0",), (-1,), (), ())


@given(st.integers(1, 90), st.data())
def test_any_graph_has_its_discs(count: int, data: st.DataObject) -> None:
    number = st.integers(0, count - 1)
    pairs = data.draw(st.sets(st.tuples(number, number), max_size=150))
    inside = data.draw(st.lists(st.sampled_from([None, "a", "b", "b1", "b2"]), min_size=count, max_size=count))
    tree = [["a", "A", None, 0], ["b", "B", None, 0], ["b1", "B 1", "b", 1], ["b2", "B 2", "b", 1]]
    given_ = entities(count, pairs, inside)
    drawn = map_of(given_, tree, count, len(pairs))
    assert {frozenset(pair) for pair in zip(drawn.sources, drawn.targets, strict=True)} == {
        frozenset(pair) for pair in pairs if pair[0] != pair[1]
    }
    assert {frozenset((drawn.sources[at], drawn.targets[at])) for at, _ in drawn.times} == {
        frozenset(pair) for pair in pairs if pair[0] != pair[1] and pair[0] % 2
    }
    within = [holders(drawn, row) for row in range(count)]
    assert {disc for those in within for disc in those} == set(range(len(drawn.discs))), "no disc is empty"
    for row, id_ in enumerate(inside):
        ids = [drawn.discs[disc].id for disc in within[row]]
        assert [each for each in ids if each] == ([id_, "b"] if id_ in ("b1", "b2") else [id_] if id_ else [])
    assert map_of(given_, tree, count, len(pairs)) == drawn


def test_thousands_of_pairs_that_nothing_joins() -> None:
    drawn = map_of(entities(3000, {(n, n + 1) for n in range(0, 3000, 2)}), [], 3000, 1500)
    assert drawn.inside[::2] == drawn.inside[1::2]
    assert len(drawn.discs) == len(set(drawn.inside)) == 1500


def test_groups_are_found_where_there_is_no_tree() -> None:
    graph = invented(2000)
    pairs = {(a, b) for a, b in graph.joined.tolist()}
    drawn = map_of(entities(2000, pairs), [], 2000, len(pairs))
    together = [drawn.inside[a] == drawn.inside[b] for a, b in pairs]
    assert sum(together) / len(together) > 0.7, "0.8 of the relations are within a planted community"
    assert max(Counter(drawn.inside).values()) <= 60
    assert 50 < len(drawn.discs) < 150
    assert all(disc.name and not disc.id for disc in drawn.discs)


@pytest.mark.long
def test_many_communities_side_by_side_are_taken_together() -> None:
    """By their links; in discs without a name, at most 60 in each."""
    graph = invented(5000)
    pairs = {(a, b) for a, b in graph.joined.tolist()}
    leaves = [f"c{leaf}" for leaf in graph.leaves.tolist()]
    tree = [[id_, f"C {id_}", None, 0] for id_ in sorted(set(leaves))]
    drawn = map_of(entities(5000, pairs, list(leaves)), tree, 5000, len(pairs))
    assert [disc.id for disc in drawn.discs[: len(tree)]] == [each[0] for each in tree]
    groups = {disc.around for disc in drawn.discs[: len(tree)]}
    assert min(groups) >= len(tree)
    assert {(drawn.discs[each].id, drawn.discs[each].name) for each in groups} == {("", "")}
    assert max(Counter(disc.around for disc in drawn.discs).values()) <= 60
    near = [(holders(drawn, a)[1], holders(drawn, b)[1]) for a, b in pairs]
    assert sum(one == other for one, other in near) / len(near) > 0.9


def test_a_star_of_communities_has_no_parts() -> None:
    hub = ["e0", "E 0", "Person", 2999, "c0", [[f"e{n}", []] for n in range(1, 3000)], []]
    others = [[f"e{n}", f"E {n}", "Person", 1, f"c{1 + n // 3}", [], []] for n in range(1, 3000)]
    drawn = map_of([hub, *others], [[f"c{n}", f"C {n}", None, 0] for n in range(1002)], 3000, 2999)
    assert len(drawn.discs) == 1001, "and the community without entities is left out"
    assert {disc.around for disc in drawn.discs} == {-1}


def test_the_map_of_a_graph(kg: KnowledgeGraph) -> None:
    graph = write_large_graph(kg.store, 250)
    drawn = kg.look.map()
    assert sorted(drawn.names) == sorted(graph.names)
    assert (drawn.total_nodes, drawn.total_edges) == (250, kg.stats().relationships["OBJECT"])
    assert list(drawn.sizes) == sorted(drawn.sizes, reverse=True)
    assert kg.look.map() == drawn
    few = kg.look.map(30)
    assert few.ids == drawn.ids[:30]
    assert few.total_nodes == 250
    assert set(few.sources + few.targets) <= set(range(30))
    assert None not in drawn.communities
    names = {node.name for node in kg.look.communities(1000)}
    assert {disc.name for disc in drawn.discs} == names
    inner = [disc.around for disc in drawn.discs if disc.around >= 0]
    assert inner
    assert {drawn.discs[each].around for each in inner} == {-1}
