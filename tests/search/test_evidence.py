"""What readers are given: results with the statements that ran for them."""

from pathlib import Path

import pytest
from statements import chain, ingest

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.query import load_query
from kgplatform.search.evidence import Evidence, Retrieved

QUESTION = "Who taught Birch?"


@pytest.fixture(scope="module")
def evidence(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    ingest(shared_kg, tmp_path_factory.mktemp("texts"), [*chain("Alder", "Birch", "Cedar"), ("Dogwood", "met", "Elm")])
    return Evidence(shared_kg.store, shared_kg.embedder)


def names(found: Retrieved) -> list[str]:
    return [each.name for each in found.queries]


def test_every_statement_is_told_also_those_that_run_at_once(evidence: Evidence) -> None:
    found = evidence.search(QUESTION)
    told = set(names(found))
    expected = ("words", "passage", "triple", "entity", "neighbourhood", "steps", "passage_details", "fact_details")
    assert told >= {f"search/{each}" for each in expected}
    assert all(each.statement == load_query(each.name).text and each.seconds > 0 for each in found.queries)
    assert "birch" in found.queries[0].parameters["names"]
    assert found.queries[1].parameters["vector"]


@pytest.mark.parametrize(
    ("left_out", "statement"),
    [
        ("passage", "search/passage"),
        ("triple", "search/triple"),
        ("entity", "search/facts_of_entities"),
        ("path", "search/steps"),
    ],
)
def test_a_route_that_is_left_out_asks_nothing(evidence: Evidence, left_out: str, statement: str) -> None:
    found = evidence.search(QUESTION, without=(left_out,))
    assert statement not in names(found)
    assert all(left_out not in each.routes for each in (*found.result.passages, *found.result.facts))
    assert found.result.passages


def test_what_cannot_be_asked(evidence: Evidence) -> None:
    with pytest.raises(InputError, match='Unknown route "comunity".*Did you mean community'):
        evidence.search(QUESTION, without=("comunity",))
    with pytest.raises(InputError, match="Did you mean path"):
        evidence.search(QUESTION, route="paths")
    with pytest.raises(InputError, match="question is empty"):
        evidence.search("?")


def test_all_routes_know_an_entity_by_its_meaning(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """Its name stands in no question of these, and its facts say nothing of the question's other words."""
    ingest(kg, tmp_path, [("Royal Oak Company of Brewers", "owns", f"Vat {n}") for n in range(3)])
    found = Evidence(kg.store, kg.embedder).search("Which company is of brewers, of oak and royal?")
    assert all("entity" in fact.routes for fact in found.result.facts)
    assert "search/facts_of_entities" in names(found)
    without = Evidence(kg.store, kg.embedder).search("Which company is of brewers, of oak?", without=("entity",))
    assert not any("entity" in fact.routes for fact in without.result.facts)
