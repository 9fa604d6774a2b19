"""Facts by the types that a question involves; passages stay whatever their facts are."""

from __future__ import annotations

from pathlib import Path

import pytest
from statements import ingest

from kgplatform.client import KnowledgeGraph
from kgplatform.records import SearchResult
from kgplatform.retrieve.evidence import Evidence

STATEMENTS = [
    ("Ada Norrby", "born in", "Cádiz"),
    ("Ada Norrby", "works for", "Kestrel Lines"),
    ("Kestrel Lines", "located in", "Brest"),
    ("Ada Norrby", "painted", "the blue door"),
    ("the red door", "hangs beside", "the blue door"),
]
TYPES = {"Ada Norrby": "Person", "Kestrel Lines": "Organization", "Cádiz": "Place", "Brest": "Place"}
QUESTION = "Where was Ada Norrby of Kestrel Lines born, and who painted the blue door?"


@pytest.fixture
def evidence(kg: KnowledgeGraph, tmp_path: Path) -> Evidence:
    ingest(kg, tmp_path, STATEMENTS, TYPES)
    return Evidence(kg.store, kg.embedder)


def said(result: SearchResult) -> set[str]:
    return {each.citations[0].title for each in result.facts}


@pytest.mark.parametrize("route", ["all", "triple"])
@pytest.mark.parametrize(
    ("types", "kept"),
    [
        ((), {"000", "001", "002", "003", "004"}),
        (("born_in",), {"000", "003", "004"}),
        (("Born In", "works-for"), {"000", "001", "003", "004"}),
        (("organization",), {"001", "002", "003", "004"}),
        (("Person", "born_in"), {"000", "003", "004"}),
        (("Organization", "located_in"), {"002", "003", "004"}),
        (("Volcano", "erupted"), {"000", "001", "002", "003", "004"}),
        (("Person", "erupted"), {"000", "001", "003", "004"}),
        (("", "-"), {"000", "001", "002", "003", "004"}),
    ],
)
def test_what_stays(evidence: Evidence, route: str, types: tuple[str, ...], kept: set[str]) -> None:
    everything = evidence.search(QUESTION, route=route).result
    found = evidence.search(QUESTION, route=route, types=types).result
    assert said(found) == kept
    assert found.passages == everything.passages


def test_paths_over_other_facts_are_left_out(evidence: Evidence) -> None:
    paths = evidence.search(QUESTION, route="path", types=("born_in",)).result.paths
    assert paths
    assert all("works for" not in fact.text and "located in" not in fact.text for path in paths for fact in path.facts)


def test_facts_of_other_types_make_room_for_more(evidence: Evidence) -> None:
    found = evidence.search(QUESTION, route="triple", top_k=1, types=("located_in", "Organization")).result
    assert len(found.facts) == 1
