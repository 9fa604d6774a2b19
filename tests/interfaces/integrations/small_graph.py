"""A few short texts whose passages, entities and facts are known."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import emptied

from kgplatform.client import KnowledgeGraph
from kgplatform.neo4j.store import Connection

TEXTS = {
    "The Marigold": "The Marigold was a paddle steamer. Ida Fenn designed the Marigold, which laid the harbour cable.",
    "Ida Fenn": "Ida Fenn was born in Dunmouth in 1841. She drew all her plans in a shop at the quay.",
    "Dunmouth": "Dunmouth is a fishing town. Its harbour froze in the winter of 1880.",
}
RECORDED = [
    {
        "document": "The Marigold",
        "entities": [{"name": "Ida Fenn", "type": "Person"}, {"name": "Marigold", "type": "Product"}],
        "triples": [
            {
                "subject": "Ida Fenn",
                "predicate": "designed",
                "object": "Marigold",
                "quote": "Ida Fenn designed the Marigold",
            }
        ],
        "facts": [{"text": "The Marigold laid the harbour cable.", "key_elements": ["Marigold", "harbour cable"]}],
    },
    {
        "document": "Ida Fenn",
        "entities": [{"name": "Ida Fenn", "type": "Person"}, {"name": "Dunmouth", "type": "Place"}],
        "triples": [{"subject": "Ida Fenn", "predicate": "born in", "object": "Dunmouth", "quote": "born in Dunmouth"}],
        "attributes": [{"entity": "Ida Fenn", "key": "birth year", "value": "1841", "quote": "in 1841"}],
    },
    {"document": "Dunmouth", "entities": [{"name": "Dunmouth", "type": "Place"}]},
]
QUESTION = "Who designed the Marigold?"


def ingest(graph: KnowledgeGraph, folder: Path) -> KnowledgeGraph:
    """Bring the texts into ``graph``."""
    corpus, recorded = folder / "texts.json", folder / "recorded.jsonl"
    corpus.write_text(json.dumps([{"title": title, "text": text} for title, text in TEXTS.items()]), "utf-8")
    recorded.write_text("".join(json.dumps(each) + "\n" for each in RECORDED), "utf-8")
    graph.ingest(corpus, recorded=recorded, mode="flexible")
    return graph


@pytest.fixture(scope="module")
def graph(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """A graph of the texts. Tests that write come after those that read it, and have graphs of their own. No model."""
    folder = tmp_path_factory.mktemp("graph")
    with emptied(neo4j_server, folder / "home") as graph:
        yield ingest(graph, folder)
