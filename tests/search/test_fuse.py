"""The scoring of a neighbourhood, on graphs small enough to reckon by hand."""

from dataclasses import replace

import numpy as np
import pytest

from kgplatform.search import fuse as scoring
from kgplatform.search.fuse import Neighbourhood, best_first, fuse


def pairs(*rows: tuple[int, int]) -> np.ndarray:
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def neighbourhood(
    cosine: list[float],
    *,
    bm25: list[float] | None = None,
    named: list[int] | None = None,
    titles: list[int] | None = None,
    entity_passages: list[int] | None = None,
    entity_titles: list[int] | None = None,
    entity_named: list[bool] | None = None,
    fact_cosine: list[float] | None = None,
    fact_entities: np.ndarray | None = None,
    mentions: np.ndarray | None = None,
    relations: np.ndarray | None = None,
    same_as: np.ndarray | None = None,
) -> Neighbourhood:
    """``named``: the numbers of titles that the question names, -1 for other passages."""
    entities, facts = entity_passages or [], fact_cosine or []
    in_question = named or [-1] * len(cosine)
    none = pairs()
    return Neighbourhood(
        passage_ids=[f"p{position}" for position in range(len(cosine))],
        passage_cosine=np.array(cosine, dtype=np.float64),
        passage_bm25=np.array(bm25 or [0.0] * len(cosine), dtype=np.float64),
        passage_title=np.array(titles or in_question, dtype=np.int64),
        passage_named=np.array(in_question, dtype=np.int64) >= 0,
        entity_ids=[f"e{position}" for position in range(len(entities))],
        entity_passages=np.array(entities, dtype=np.int64),
        entity_title=np.array(entity_titles or [-1] * len(entities), dtype=np.int64),
        entity_named=np.array(entity_named or [False] * len(entities), dtype=np.bool_),
        fact_ids=[f"f{position}" for position in range(len(facts))],
        fact_cosine=np.array(facts, dtype=np.float64),
        fact_seed=np.ones(len(facts), dtype=np.bool_),
        fact_entities=none if fact_entities is None else fact_entities,
        mentions=none if mentions is None else mentions,
        relations=none if relations is None else relations,
        same_as=none if same_as is None else same_as,
        passage_total=100,
    )


CHAIN = neighbourhood([0.8, np.nan, 0.3], entity_passages=[2, 1], mentions=pairs((0, 0), (1, 0), (2, 1)))
"""p0 and p1 share e0; p2 stands apart with e1. Only p0 is like the question."""


def random_graph(seed: int, size: int = 300) -> Neighbourhood:
    random = np.random.default_rng(seed)
    cosine = random.uniform(0, 1, size)
    cosine[random.uniform(size=size) < 0.5] = np.nan
    return neighbourhood(
        list(cosine),
        bm25=list(random.uniform(0, 20, size)),
        named=list(random.integers(-1, 3, size)),
        entity_passages=list(random.integers(1, 50, size)),
        entity_titles=list(random.integers(-1, 3, size)),
        fact_cosine=list(random.uniform(0, 1, 50)),
        fact_entities=np.stack([random.integers(0, 50, 120), random.integers(0, size, 120)], axis=1),
        mentions=random.integers(0, size, (900, 2)),
        relations=random.integers(0, size, (300, 2)),
        same_as=random.integers(0, size, (40, 2)),
    )


def test_a_neighbour_of_the_best_passage_beats_an_unrelated_passage() -> None:
    scores = fuse(CHAIN)
    assert best_first(scores.passages, CHAIN.passage_ids) == [0, 1, 2]
    assert scores.entities[0] > scores.entities[1]


def test_same_input_same_output_whatever_the_order_of_edges() -> None:
    graph = random_graph(0)
    shuffled = replace(graph, mentions=graph.mentions[::-1].copy(), relations=graph.relations[::-1].copy())
    first, again, other = fuse(graph), fuse(graph), fuse(shuffled)
    assert (first.passages == again.passages).all()
    assert (first.passages == other.passages).all()
    assert (first.entities == other.entities).all()


def test_ties_are_broken_by_id() -> None:
    assert best_first(np.array([0.5, 0.5, 0.9, 0.5]), ["c", "a", "z", "b"]) == [2, 1, 3, 0]


def test_a_named_document_gets_mass_and_its_best_passage_most() -> None:
    plain = neighbourhood([0.6, 0.1, 0.2], entity_passages=[1, 1, 1], mentions=pairs((0, 0), (1, 1), (2, 2)))
    named = replace(plain, passage_title=np.array([-1, 7, 7]), passage_named=np.array([False, True, True]))
    before, after = fuse(plain).passages, fuse(named).passages
    assert after[2] - before[2] > 0.2
    assert after[2] > after[1]


def test_a_near_fact_moves_its_entities_and_their_passages() -> None:
    graph = neighbourhood(
        [0.5, np.nan, np.nan],
        entity_passages=[1, 1, 1],
        fact_cosine=[0.9, 0.1],
        fact_entities=pairs((0, 1), (1, 2)),
        mentions=pairs((0, 0), (1, 1), (2, 2)),
    )
    scores = fuse(graph)
    assert scores.passages[1] > scores.passages[2]
    assert scores.facts[0] > scores.facts[1]


def test_bm25_decides_between_equal_cosines() -> None:
    scores = fuse(neighbourhood([0.5, 0.5, 0.4], bm25=[1.0, 8.0, 0.0]))
    assert best_first(scores.passages, ["a", "b", "c"]) == [1, 0, 2]


def test_a_rare_entity_that_the_question_names_leads_to_its_passage() -> None:
    graph = neighbourhood([0.8, 0.3, 0.3], entity_passages=[1], entity_named=[True], mentions=pairs((2, 0)))
    assert best_first(fuse(graph).passages, graph.passage_ids) == [0, 2, 1]
    two = neighbourhood([0.8], entity_passages=[1, 4], entity_named=[True, True], mentions=pairs((0, 0), (0, 1)))
    rare, common = fuse(two).entities
    assert rare > common, "the rarer of two gets more"


def test_a_passage_that_names_a_title_leads_to_that_document() -> None:
    """p0 mentions e0, which p1 to p3 mention as well; p2 is of the document that is called so."""
    graph = neighbourhood(
        [0.8, 0.3, 0.3, 0.3],
        titles=[1, 2, 3, 4],
        entity_passages=[4],
        entity_titles=[3],
        mentions=pairs((0, 0), (1, 0), (2, 0), (3, 0)),
    )
    assert best_first(fuse(graph).passages, graph.passage_ids)[:2] == [0, 2]


def test_the_best_passage_of_a_title_stands_before_its_others() -> None:
    alone = neighbourhood([0.8, 0.7, 0.7], titles=[1, 2, 3])
    twice = replace(alone, passage_title=np.array([1, 1, 3]))
    unknown = replace(alone, passage_title=np.array([-1, -1, 3]))
    whole = 1 + scoring.SIMILARITY_WEIGHT
    assert best_first(fuse(twice).passages, twice.passage_ids) == [0, 2, 1]
    assert (fuse(alone).passages - fuse(twice).passages)[1] == pytest.approx(scoring.AGAIN / whole)
    assert (fuse(unknown).passages == fuse(alone).passages).all()


def test_scores_do_not_depend_on_how_far_a_models_cosines_lie_apart() -> None:
    graph = replace(random_graph(0), passage_bm25=np.zeros(300))
    known = graph.passage_cosine[~np.isnan(graph.passage_cosine)]
    graph = replace(graph, passage_cosine=graph.passage_cosine / np.sort(known)[-50:].std() * 0.068)
    for scale in (0.4, 2.0):
        other = replace(graph, passage_cosine=graph.passage_cosine * scale, fact_cosine=graph.fact_cosine * scale)
        assert fuse(other).passages == pytest.approx(fuse(graph).passages)
