"""Routes ``bm25``, ``dense`` and ``hybrid``: passages by their words, by their meaning, and by both."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import put

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder

TEXTS = {
    "kiln.txt": "The kiln at Marsh End fired bricks. Bricks were its trade, and bricks alone.",
    "wharf.txt": "Bricks left from the wharf by barge, with coal, oats and timber for the towns along the river.",
    "choir.txt": "The choir sang every evening in the old chapel above the harbour.",
}


class Blind(HashEmbedder):
    """Everything means the same: what tells passages apart are their words."""

    def embed(self, texts: Sequence[str]) -> Any:
        return np.tile(super().embed(["same"]), (len(texts), 1))


@pytest.fixture(scope="module")
def graph(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    """The three texts."""
    shared_kg.ingest(put(tmp_path_factory.mktemp("texts"), TEXTS), extractor="local")
    return shared_kg


def test_words_alone_rank_and_find(graph: KnowledgeGraph) -> None:
    result = graph.search("Who fired bricks?", route="bm25", top_k=3)
    assert [each.title for each in result.passages] == ["kiln", "wharf"]
    assert all(each.routes == ("bm25",) for each in result.passages)
    assert result.passages[0].score > result.passages[1].score > 0
    assert result.facts == ()
    assert [each.title for each in graph.search("Who fired bricks?", route="bm25", top_k=1).passages] == ["kiln"]
    assert graph.search("xylophone?", route="bm25").passages == ()
    blind = KnowledgeGraph(graph.store, graph.settings, embedder=Blind(64))
    found = blind.search("Who fired bricks?", route="bm25", top_k=3).passages
    assert [(each.id, each.score) for each in found] == [(each.id, each.score) for each in result.passages]


def test_operators_of_lucene_are_words(graph: KnowledgeGraph) -> None:
    found = graph.search('choir AND NOT (sang) +"old chapel" -harbour text:* ~ ^2', route="bm25")
    assert found.passages[0].title == "choir"


def test_meaning_alone_ranks_by_the_cosine_and_all_does_without(graph: KnowledgeGraph) -> None:
    found = graph.search("The choir sang in the chapel", route="dense", top_k=3)
    assert found.passages[0].title == "choir"
    first = found.passages[0]
    vectors = graph.embedder.embed(["The choir sang in the chapel", f"{first.title}\n{first.text}"])
    assert abs(found.passages[0].score - float(vectors[0] @ vectors[1])) < 0.001
    assert found.facts == ()
    assert all(each.routes == ("dense",) for each in found.passages)
    assert len(graph.search("choir", route="dense", top_k=1).passages) == 1
    assert not any("dense" in each.routes for each in graph.search("choir").passages)


def test_words_and_meaning_are_merged_by_the_ranks_alone(graph: KnowledgeGraph) -> None:
    question = "Who fired bricks for the chapel?"
    ranks: dict[str, float] = {}
    for route in ("bm25", "dense"):
        for rank, each in enumerate(graph.search(question, route=route, top_k=50).passages, 1):
            ranks[each.id] = ranks.get(each.id, 0.0) + 1 / (60 + rank)
    found = graph.search(question, route="hybrid", top_k=5).passages
    wanted = sorted(ranks, key=lambda id_: (-ranks[id_], id_))[:5]
    assert [each.id for each in found] == wanted
    assert all(each.routes == ("hybrid",) for each in found)
    assert found[0].score == pytest.approx(ranks[wanted[0]], abs=1e-4)
    assert not any("hybrid" in each.routes for each in graph.search(question).passages)


def test_equal_scores_are_in_the_order_of_their_ids_and_all_does_without(kg: KnowledgeGraph, tmp_path: Path) -> None:
    kg.ingest(put(tmp_path / "same", {f"{n}.txt": f"A barge of {n} bricks." for n in range(9)}), extractor="local")
    found = kg.search("barge", route="bm25", top_k=9).passages
    assert len({each.score for each in found}) == 1
    assert [each.id for each in found] == sorted(each.id for each in found)
    everything = kg.search("barge of bricks", top_k=9)
    assert not any("bm25" in each.routes for each in everything.passages)
    assert len(everything.passages) == 9
