"""Communities by two perceptions: the paper's definitions by hand, planted partitions, and what must always hold."""

import re
from collections.abc import Sequence
from dataclasses import replace

import igraph
import numpy as np
import pytest
import tree_measures
from hypothesis import example, given
from hypothesis import settings as effort
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from kgplatform.errors import SettingError, to_install
from kgplatform.tree import paper, partition
from kgplatform.tree.entity_graph import EntityGraph, Floats, Indices

METHODS = sorted(partition.METHODS)
WIDTH = 32


def graph_of(
    vectors: Sequence[Sequence[float]] | Floats,
    statements: Sequence[tuple[int, int, int]] = (),
    names: Sequence[str] | None = None,
    relations: int = 3,
) -> EntityGraph:
    """``statements``: (head, relation, tail), the tail -1 for a value."""
    size = len(vectors)
    columns = np.array(sorted(statements), np.int64).reshape(-1, 3)
    return EntityGraph(
        ids=[f"{number:06}" for number in range(size)],
        names=[f"entity {number:06}" for number in range(size)] if names is None else names,
        types=[None] * size,
        vectors=paper.unit_rows(np.array(vectors, np.float32).reshape(size, -1 if size else 4)),
        heads=columns[:, 0],
        tails=columns[:, 2],
        relations=columns[:, 1],
        relation_names=[f"relation {number}" for number in range(relations)],
    )


def relation_vectors(graph: EntityGraph) -> Floats:
    made = np.random.default_rng(5).standard_normal((len(graph.relation_names), graph.vectors.shape[1]))
    return paper.unit_rows(made)


def found_by(method: str, graph: EntityGraph) -> Indices:
    return partition.partition(graph, method, relation_vectors=relation_vectors(graph))


def test_an_entity_is_the_mean_of_its_triples() -> None:
    """0 -r0-> 1, 0 -r1-> 2, 1 -r1-> 2 and 3 alone; every third of the concatenation has length 1."""
    graph = graph_of(np.eye(4), [(0, 0, 1), (0, 1, 2), (1, 1, 2)], relations=2)
    made = paper.represent(graph, np.eye(4, dtype=np.float32)[:2])
    half = np.sqrt(0.5)
    assert made.shape == (4, 12)
    expected = [
        [1, 0, 0, 0, half, half, 0, 0, 0, half, half, 0],
        [0, 1, 0, 0, half, half, 0, 0, half, 0, half, 0],
        [0, 0, 1, 0, 0, 1, 0, 0, half, half, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
    assert made == pytest.approx(np.array(expected), abs=1e-6)


def test_multisets_overlap_by_minima_and_maxima() -> None:
    one, other = (sparse.csr_array(np.array([row, [0, 0, 0]], np.float64)) for row in ([2, 1, 0], [3, 1, 2]))
    assert paper.overlap(one, other) == pytest.approx(np.array([[3 / 6, 0], [0, 0]]))


def test_a_members_score_is_what_the_definition_says() -> None:
    graph = random_graph(40, 90, 8)
    labels = np.arange(40) % 4
    counted = paper.relation_counts(graph)
    together = np.array([counted.toarray()[labels == each].sum(axis=0) for each in range(4)])
    shared = paper.overlap(counted, sparse.csr_array(together))[np.arange(40), labels]
    most = np.array([shared[labels == each].max() for each in range(4)])
    centroids = np.array([graph.vectors[labels == each].mean(axis=0) for each in range(4)])[labels]
    alike = (graph.vectors * centroids).sum(axis=1) / np.linalg.norm(centroids, axis=1)
    for weight in (0.0, 0.3, 1.0):
        found = paper.member_scores(graph, labels, weight=weight)
        assert found.phi == pytest.approx(weight * shared / most[labels] + (1 - weight) * alike, abs=1e-5)


def test_the_centre_has_the_highest_score_then_more_relations_then_the_first_name() -> None:
    same = [[1, 0]] * 4
    told = [(0, 0, -1), (2, 0, -1), (2, 1, -1), (3, 0, -1), (3, 1, -1)]
    labels = np.zeros(4, np.int64)
    named = ["d", "c", "b", "a"]
    assert paper.member_scores(graph_of(same, told, named), labels, weight=0).centers.tolist() == [3]
    assert paper.member_scores(graph_of(same, told, "dcax"), labels, weight=0).centers.tolist() == [2]
    assert paper.member_scores(graph_of(same, told[:1], named), labels, weight=0).centers.tolist() == [0]
    away = graph_of([[1, 0], [1, 0], [1, 0], [0, 1]], told, named)
    assert paper.member_scores(away, labels).centers.tolist() == [2]
    assert paper.member_scores(away, np.array([0, 0, 1, 1])).centers.tolist() == [0, 3]


@pytest.mark.parametrize(
    ("size", "count"), [(0, 0), (1, 1), (2, 1), (3, 1), (4, 2), (15, 2), (95, 9), (2000, 200), (3000, 200)]
)
def test_k_follows_the_papers_formula(size: int, count: int) -> None:
    assert paper.initial_count(size) == count


def test_the_nearest_are_fused_once_a_round_and_never_beyond_the_limit() -> None:
    labels = np.repeat(np.arange(4), [60, 40, 10, 30])
    apart = np.array([[0, 0.1, 0.2, 0.9], [0.1, 0, 0.3, 0.4], [0.2, 0.3, 0, 0.45], [0.9, 0.4, 0.45, 0]])
    assert np.bincount(paper.fuse(labels, apart)).tolist() == [100, 0, 40]
    assert np.bincount(paper.fuse(labels, apart, limit=99)).tolist() == [70, 70]
    assert np.bincount(paper.fuse(labels, np.full((4, 4), 0.5))).tolist() == [60, 40, 10, 30]


def crossed() -> tuple[EntityGraph, Floats, Indices]:
    """Four groups of twelve: two themes, and in each two ways to be told of. Neither says the group alone.

    Every entity has a relation of its own, whose vector is that of its way: the centres share no relation.
    """
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(4), 12)
    theme, telling = groups % 2, groups // 2
    noise = paper.unit_rows(rng.standard_normal((48, WIDTH)))
    vectors = np.sqrt(0.6) * np.eye(WIDTH, dtype=np.float32)[theme] + np.sqrt(0.4) * noise
    graph = graph_of(vectors, [(each, each, -1) for each in range(48)], relations=48)
    return graph, np.eye(WIDTH, dtype=np.float32)[4 + telling], groups


def test_the_paper_finds_groups_that_only_both_perceptions_tell() -> None:
    graph, relations, groups = crossed()
    assert adjusted_rand_score(groups, partition.partition(graph, "paper", relation_vectors=relations)) == 1
    silent = partition.partition(graph, "paper", relation_vectors=np.zeros_like(relations))
    assert adjusted_rand_score(groups, silent) < 0.9
    meaningless = graph_of(np.ones((48, WIDTH)), statements_of(graph), relations=48)
    assert adjusted_rand_score(groups, partition.partition(meaningless, "paper", relation_vectors=relations)) < 0.9


def half_known(count: int = 8, size: int = 30) -> tuple[EntityGraph, Indices]:
    """Half of each group is alike in meaning, and told of nothing; each of the others means nothing and knows one."""
    rng = np.random.default_rng(4)
    groups = np.tile(np.arange(count), size)
    known = np.arange(count * size) < count * size // 2
    noise = paper.unit_rows(rng.standard_normal((count * size, 256)))
    theme = paper.unit_rows(rng.standard_normal((count, 256)))[groups]
    vectors = np.where(known[:, None], theme + 0.3 * noise, noise)
    half = count * size // 2
    return graph_of(vectors, [(half + each, 0, each) for each in range(half)]), groups


def test_the_default_method_finds_groups_that_only_both_layers_tell() -> None:
    graph, groups = half_known()
    assert adjusted_rand_score(groups, partition.partition(graph)) == 1
    assert adjusted_rand_score(groups, partition.partition(graph, "leidenalg")) == 1
    for alone in (tree_measures.by_relations, tree_measures.by_meaning):
        assert adjusted_rand_score(groups, alone(graph)) < 0.6
    untold = graph_of(graph.vectors)
    assert adjusted_rand_score(groups, partition.partition(untold)) < 0.6
    meaningless = graph_of(np.zeros_like(graph.vectors), statements_of(graph))
    assert adjusted_rand_score(groups, partition.partition(meaningless)) < 0.6


def test_communities_are_as_large_in_a_graph_ten_times_as_large() -> None:
    graph, groups = half_known(80)
    assert adjusted_rand_score(groups, partition.partition(graph)) > 0.97


def random_graph(size: int, told: int, seed: int, relations: int = 5) -> EntityGraph:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, size, (told, 2))
    ends[rng.random(told) < 0.2, 1] = -1
    statements = [(head, rng.integers(relations), tail) for head, tail in ends]
    return graph_of(rng.standard_normal((size, WIDTH)), statements, relations=relations)


def statements_of(graph: EntityGraph) -> list[tuple[int, int, int]]:
    return list(zip(graph.heads.tolist(), graph.relations.tolist(), graph.tails.tolist(), strict=True))


@st.composite
def graphs(draw: st.DrawFn) -> EntityGraph:
    """Any small graph: empty, of isolated entities, with vectors that are zero or the same, with loops and repeats."""
    size = draw(st.integers(0, 30))
    kinds = draw(st.lists(st.sampled_from(["zero", "same", "own"]), min_size=size, max_size=size))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    vectors = rng.standard_normal((size, 4))
    for at, kind in enumerate(kinds):
        vectors[at] = {"zero": np.zeros(4), "same": np.ones(4), "own": vectors[at]}[kind]
    place = st.integers(0, max(0, size - 1))
    triple = st.tuples(place, st.integers(0, 2), st.one_of(st.just(-1), place))
    statements = draw(st.lists(triple, max_size=60)) if size else []
    return graph_of(vectors.reshape(size, 4), statements)


@pytest.mark.parametrize("method", METHODS)
@effort(max_examples=15, deadline=None)
@given(graph=graphs(), limit=st.integers(1, 6))
@example(graph=graph_of(np.empty((0, 4))), limit=1)
@example(graph=graph_of([[0, 0, 0, 0]], [(0, 0, 0)]), limit=1)
def test_every_entity_is_in_exactly_one_community(method: str, graph: EntityGraph, limit: int) -> None:
    labels = found_by(method, graph)
    assert labels.shape == (graph.size,)
    assert set(labels.tolist()) == set(range(int(labels.max(initial=-1)) + 1))
    assert found_by(method, graph).tolist() == labels.tolist()
    levels = partition.nest(graph, labels, limit, method, relation_vectors=relation_vectors(graph))
    check_levels(levels, limit)
    scores = paper.member_scores(graph, labels)
    assert np.isfinite(scores.phi).all()
    assert labels[scores.centers].tolist() == list(range(len(scores.centers)))
    measured = tree_measures.measure(graph, labels)
    assert measured.coverage == 1
    assert measured.sizes.sum() == graph.size


def check_levels(levels: list[Indices], limit: int) -> None:
    """A community is divided if, and only if, it is too large; its parts hold all that it holds, and nothing else."""
    for outer, inner in zip(levels, [*levels[1:], np.full_like(levels[0], -1)], strict=True):
        for _, rows in partition.groups(outer):
            parts = set(inner[rows].tolist())
            assert (parts == {-1}) if len(rows) <= limit else (len(parts) > 1 and -1 not in parts)
        for _, rows in partition.groups(inner):
            assert len(set(outer[rows].tolist())) == 1
    assert np.bincount(tree_measures.leaves(levels)).max(initial=0) <= limit


def test_the_papers_method_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "find_spec", lambda name: None)
    told = rf"^The method paper needs scikit-learn\. Run `{re.escape(to_install('scikit-learn'))}`, or choose another "
    with pytest.raises(SettingError, match=told):
        partition.named("paper")
    assert len(found_by(partition.DEFAULT, graph_of(np.eye(4)))) == 4


def test_a_graph_is_divided_alike_whatever_was_drawn_before() -> None:
    graph = random_graph(700, 1500, 2)
    first = partition.partition(graph)
    igraph.Graph.Erdos_Renyi(50, 0.3)
    assert partition.partition(graph).tolist() == first.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_statements_does_not_matter(method: str) -> None:
    graph = random_graph(200, 500, 12)
    order = np.random.default_rng(1).permutation(500)
    rows = {name: getattr(graph, name)[order] for name in ("heads", "tails", "relations")}
    assert found_by(method, replace(graph, **rows)).tolist() == found_by(method, graph).tolist()


def test_new_entities_find_their_communities() -> None:
    graph, groups = half_known()
    new = np.arange(graph.size) % 7 == 3
    labels = partition.partition(graph, start=np.where(new, -1, groups), movable=np.zeros(graph.size, np.bool_))
    assert adjusted_rand_score(groups, labels) == 1
    everything = partition.partition(graph, start=groups, movable=np.ones(graph.size, np.bool_))
    assert everything.tolist() == partition.partition(graph).tolist()


def test_a_large_community_is_divided_along_what_is_inside() -> None:
    graph, groups = half_known()
    levels = partition.nest(graph, np.zeros(graph.size, np.int64))
    check_levels(levels, partition.LIMIT)
    assert len(levels) == 2
    assert adjusted_rand_score(groups, levels[1]) == 1
    assert tree_measures.leaves(levels).tolist() == partition.numbered(levels[1]).tolist()


def test_what_cannot_be_divided_is_halved() -> None:
    same = graph_of(np.ones((130, 4)))
    levels = partition.nest(same, np.zeros(130, np.int64), 50)
    check_levels(levels, 50)
    assert sorted(np.bincount(levels[-1][levels[-1] >= 0]).tolist()) == [32, 32, 33, 33]
    apart = graph_of([[1, 0, 0]] * 4 + [[0.99, 0.1, 0]] * 4)
    halves = partition.nest(apart, np.zeros(8, np.int64), 4)
    assert halves[1].tolist() == [0] * 4 + [1] * 4


def test_a_small_community_joins_the_one_that_it_fits_best() -> None:
    vectors = [[1, 0, 0]] * 3 + [[0, 1, 0]] * 3 + [[0.9, 0.1, 0], [0.1, 0.9, 0], [0.5, 0.5, 0]]
    graph = graph_of(vectors, [(at, int(at > 2), -1) for at in range(6)] + [(8, 1, -1)])
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 3, 4])
    assert partition.joined(graph, labels).tolist() == [0, 0, 0, 1, 1, 1, 0, 1, 1]
    only = np.arange(9) == 7
    assert partition.joined(graph, labels, only).tolist() == [0, 0, 0, 1, 1, 1, 2, 1, 4]
    assert partition.joined(graph, np.arange(9)).tolist() == [0] * 9
    assert partition.joined(graph, np.arange(9), only).tolist() == list(range(9))


def test_keywords_are_different_names() -> None:
    names = ["Led Zeppelin", "Led Zeppelin", "led-zeppelin II", "Zeppelins", "Robert Plant", "UK", "UKIP", "The Who"]
    everyone = partition.Community("c", 1, None, np.arange(len(names)), np.linspace(1, 0.5, len(names)))
    keywords = everyone.keywords(graph_of(np.eye(len(names)), names=names))
    assert [names[at] for at, _ in keywords.values()] == ["Led Zeppelin", "Robert Plant", "UK", "UKIP", "The Who"]
