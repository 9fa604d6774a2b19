"""Types that passages propose for the schema: nodes in the graph, of which an ingest reads what it is asked about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpora import difference, put, put_jsonl
from graph_state import snapshot

from kgplatform import IngestReport
from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store, trace
from kgplatform.records import QueryRun
from kgplatform.settings import load_settings

Proposals = Sequence[tuple[str, str]]


def graph(store: Store, tmp_path: Path, support: int = 2) -> KnowledgeGraph:
    settings = load_settings(home=tmp_path / "home", embedder="hash:64", expansion_support=support)
    return KnowledgeGraph(store, settings, embedder=HashEmbedder(64))


def ingest(kg: KnowledgeGraph, folder: Path, **documents: Proposals) -> IngestReport:
    """Documents of one passage each, which propose types by kind and name."""
    files = put(folder, {f"{name}.txt": f"The vessel {name} sailed." for name in documents})
    lines = [{"document": f"{name}.txt", "proposals": [*map(_said, told)]} for name, told in documents.items()]
    return kg.ingest(files, recorded=put_jsonl(folder / "told.jsonl", lines), mode="flexible")


def _said(proposal: tuple[str, str]) -> dict[str, Any]:
    kind, name = proposal
    return {"kind": kind, "name": name, "confidence": 0.95, "example": "sailed"}


def proposed(kg: KnowledgeGraph) -> list[list[Any]]:
    return kg.cypher(
        "MATCH (c:Chunk)-[p:PROPOSED]->(t:ProposedType) "
        "RETURN t.kind, t.name, p.words AS words, c.name ORDER BY t.name, c.name, words"
    ).rows


def test_what_is_proposed_is_in_the_graph_and_goes_with_its_passage(store: Store, tmp_path: Path) -> None:
    kg = graph(store, tmp_path)
    ingest(kg, tmp_path, kate=[("relation", "towed by"), ("entity", "Vessel")], petrel=[("relation", "towedBy")])
    assert proposed(kg) == [
        ["relation", "towedby", "towed by", "kate · 1"],
        ["relation", "towedby", "towedBy", "petrel · 1"],
        ["entity", "vessel", "Vessel", "kate · 1"],
    ]
    kg.remove(["kate"])
    assert proposed(kg) == [["relation", "towedby", "towedBy", "petrel · 1"]]
    kg.remove(["petrel"])
    assert kg.cypher("MATCH (t:ProposedType) RETURN t").rows == []


def test_a_type_gets_its_support_over_several_ingests_and_loses_it(store: Store, tmp_path: Path) -> None:
    kg = graph(store, tmp_path)
    assert ingest(kg, tmp_path, kate=[("relation", "towed by")]).expansions == []
    (expansion,) = ingest(kg, tmp_path, petrel=[("relation", "towedBy")]).expansions
    assert (expansion.kind, expansion.name, expansion.count) == ("relation", "towed by", 2)
    kg.remove(["petrel"])
    shown = kg.schema()
    assert shown is not None
    assert shown.expansions == ()


def test_one_proposal_of_a_passage_under_each_of_its_words(store: Store, tmp_path: Path) -> None:
    kg = graph(store, tmp_path)
    names = ("towed by", "towed  by", "towedBy", "x" * 200, "12")
    ingest(kg, tmp_path, kate=[("relation", name) for name in names])
    assert [words for _, _, words, _ in proposed(kg)] == ["towed by", "towedBy"]


def test_one_document_more_reads_the_types_that_it_proposes(store: Store, tmp_path: Path) -> None:
    """Of the whims of others nothing is read; of types with support all."""
    kg = graph(store, tmp_path)
    whims = {f"ship{number}": [("entity", f"Whim{number}"), ("entity", f"Fad{number // 2}")] for number in range(20)}
    ingest(kg, tmp_path, **whims, kate=[("entity", "Vessel")])
    read: list[QueryRun] = []
    with trace(read.append):
        report = ingest(kg, tmp_path, petrel=[("entity", "vessel"), ("entity", "Island")])
    assert {each.name.casefold() for each in report.expansions} == {*(f"fad{number}" for number in range(10)), "vessel"}
    rows = sum(run.rows for run in read if run.name == "ingest/proposals")
    assert rows == 20 + 1 + 22, "types with support, twice, and the other proposals of a type that gets it now"


def test_an_older_graph_gets_its_proposals_with_the_next_change(store: Store, tmp_path: Path) -> None:
    """A removal from it keeps what others propose."""
    kg = graph(store, tmp_path)
    ingest(kg, tmp_path, **TOWED)
    wanted = snapshot(store)
    make_older(kg, TOWED)
    ingest(kg, tmp_path, **TOWED)
    assert difference(snapshot(store), wanted) == []
    documents = TOWED | {"slow": []}
    ingest(kg, tmp_path, **documents)
    make_older(kg, documents)
    kg.remove(["slow"])
    shown = kg.schema()
    assert shown is not None
    assert [each.name for each in shown.expansions] == ["towed by"]


TOWED: dict[str, Proposals] = {
    "kate": [("relation", "towed by"), ("entity", "Vessel")],
    "petrel": [("relation", "towedBy")],
}


def make_older(kg: KnowledgeGraph, documents: dict[str, Proposals]) -> None:
    """The graph as format 2 had it: each passage with what it proposed as JSON."""
    for name, told in documents.items():
        kg.cypher(
            "MATCH (c:Chunk {name: $name}) SET c.proposals = $proposals",
            {"name": f"{name} · 1", "proposals": json.dumps([*map(_said, told)]) if told else None},
            write=True,
        )
    kg.cypher("MATCH (t:ProposedType) DETACH DELETE t", write=True)
    kg.cypher("MATCH (g:Graph) SET g.format = 2", write=True)
