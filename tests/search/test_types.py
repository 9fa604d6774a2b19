"""Facts by the types that a question involves; passages stay whatever their facts are."""

from pathlib import Path

import pytest
from corpora import put, put_jsonl
from statements import ingest

from kgplatform.client import KnowledgeGraph
from kgplatform.records import SearchResult
from kgplatform.search.evidence import Evidence

STATEMENTS = [
    *(("Ada Norrby", "born in", "Cádiz"), ("Ada Norrby", "works for", "Kestrel Lines")),
    *(("Kestrel Lines", "located in", "Brest"), ("Ada Norrby", "painted", "the blue door")),
    ("the red door", "hangs beside", "the blue door"),
]
TYPES = {"Ada Norrby": "Person", "Kestrel Lines": "Organization", "Cádiz": "Place", "Brest": "Place"}
QUESTION = "Where was Ada Norrby of Kestrel Lines born, and who painted the blue door?"


@pytest.fixture(scope="module")
def evidence(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    ingest(shared_kg, tmp_path_factory.mktemp("texts"), STATEMENTS, TYPES)
    return Evidence(shared_kg.store, shared_kg.embedder)


def said(result: SearchResult) -> set[str]:
    return {each.citations[0].title for each in result.facts}


@pytest.mark.parametrize("route", ["all", "triple"])
@pytest.mark.parametrize(
    ("types", "kept"),
    [
        (("Born In", "works-for"), {"000", "001", "003", "004"}),
        (("organization",), {"001", "002", "003", "004"}),
        (("Person", "born_in"), {"000", "003", "004"}),
        (("Volcano", "erupted"), {"000", "001", "002", "003", "004"}),
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


def test_entities_of_one_name_are_one_in_the_walk(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """One passage tells what she is, another only names her: that makes two entities of one name."""
    files = {"salt.txt": "Salt Road was begun by Ada Brook.", "ada.txt": "Ada Brook studied ferns."}
    files |= {f"{number:02}.txt": f"Road {number} was begun in that year." for number in range(60)}
    lines = [
        {"document": "salt.txt", "entities": [{"name": "Salt Road"}, {"name": "Ada Brook"}]},
        {"document": "ada.txt", "entities": [{"name": "Ada Brook", "type": "Person"}]},
    ]
    kg.ingest(put(tmp_path, files), recorded=put_jsonl(tmp_path / "recorded.jsonl", lines), mode="flexible")
    assert len(kg.cypher("MATCH (e:Entity {key: 'ada brook'}) RETURN e").rows) == 2
    found = kg.search("Who had the Salt Road begun?", top_k=5)
    assert "ada" in [passage.title for passage in found.passages]
