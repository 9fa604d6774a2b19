"""Statements whose words no passage has are kept and counted, and stay out of searches and prompts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpora import put, put_jsonl

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.settings import load_settings
from kgplatform.testing import ScriptedChat

PEOPLE = [{"name": "Ada Lovelace", "type": "Person"}, {"name": "London", "type": "Place"}]
ROUTES = ("all", "triple", "entity", "path")
BORN = {"subject": "Ada Lovelace", "predicate": "born_in", "object": "London"}


def line(document: str, *triples: dict[str, str]) -> dict[str, Any]:
    return {"document": document, "entities": PEOPLE, "triples": list(triples)}


@pytest.fixture
def told(kg: KnowledgeGraph, tmp_path: Path) -> KnowledgeGraph:
    """A triple that the title alone names both ends of."""
    files = put(tmp_path, {"Ada Lovelace in London.txt": "The programs that she wrote were the first of their kind."})
    recorded = put_jsonl(tmp_path / "r.jsonl", [line("Ada Lovelace in London.txt", BORN)])
    report = kg.ingest(files, recorded=recorded)
    assert (report.statements_found, report.statements_not_found) == (0, 1)
    return kg


def test_no_search_shows_them_until_a_passage_says_so(told: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    assert told.cypher("MATCH (f:Fact) RETURN f.text").rows == [["Ada Lovelace born in London"]]
    for route in ROUTES:
        found = told.search("Where was Ada Lovelace born?", route=route)
        assert (found.facts, found.paths) == ((), ()), route
    assert store.read("search/node_facts", node="London", vector=[0.0] * 64, count=5, documents=None) == []
    files = put(tmp_path / "more", {"life.txt": "Ada Lovelace was born in London, in December 1815."})
    told.ingest(files, recorded=put_jsonl(tmp_path / "s.jsonl", [line("life.txt", BORN)]))
    for route in ROUTES:
        found = told.search("Where was Ada Lovelace born?", route=route)
        assert [fact.text for fact in found.facts] == ["Ada Lovelace born in London"], route


def test_what_a_model_invents_stays_out_and_is_counted(store: Store, tmp_path: Path) -> None:
    """The prompt's own example among it, copied back."""
    text = "Ada Lovelace was born in London in 1815, and he who knew her wrote that it was true of all her friends."
    names = ["Ada Lovelace", "London", "John Smith", "he", "true", "...", text + text, "Odo Brandt", "Lindau"]
    said = {
        "entities": [{"name": name, "type": "Person" if name != "London" else "Place"} for name in names],
        "triples": [["Ada Lovelace", "born_in", "London"], ["Odo Brandt", "born_in", "Lindau"]],
        "attributes": [{"entity": "John Smith", "key": "birth date", "value": "1815"}],
    }
    settings = load_settings(home=tmp_path / "home", embedder="hash:64")
    chat = ScriptedChat([json.dumps(said)])
    kg = KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=chat)
    report = kg.ingest(put(tmp_path, {"life.txt": text}))
    assert (report.extractor, report.unnamed) == ("llm", 7)
    assert [row[0] for row in kg.cypher("MATCH (e:Entity) RETURN e.name ORDER BY e.name").rows] == names[:2]
    assert kg.cypher("MATCH (f:Fact) RETURN f.text").rows == [["Ada Lovelace born in London"]]
