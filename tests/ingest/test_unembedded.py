"""Texts that the embedding model has no vector for: named, kept, found by words, and tried again."""

from pathlib import Path

import numpy as np
import pytest
from corpora import FIELD, OTHERS, RECORDING, difference, put, put_jsonl
from graph_state import snapshot

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, ModelError
from kgplatform.models.embed import HashEmbedder
from kgplatform.models.own import FunctionEmbedder

BAD = ("pender", "famous")


def test_they_cost_themselves_alone_and_are_tried_again(kg: KnowledgeGraph, tmp_path: Path) -> None:
    files, recorded = put(tmp_path / "texts", FIELD | OTHERS), put_jsonl(tmp_path / "rec.jsonl", RECORDING)
    kg.ingest(files, recorded=recorded)
    kg.build_tree()
    wanted = snapshot(kg.store)
    kg.remove([each.id for each in kg.documents()])
    is_whole = False

    def embed(texts: list[str]) -> object:
        if not is_whole and any("works for" in text for text in texts):
            raise ValueError("this is too much")
        vectors = HashEmbedder(64).embed(texts)
        bad = [not is_whole and any(word in text.lower() for word in BAD) for text in texts]
        return np.where(np.array(bad)[:, None], np.nan, vectors)

    again = KnowledgeGraph(kg.store, kg.settings, embedder=FunctionEmbedder(embed, kg.embedder.name))
    for _ in range(2):
        report = again.ingest(files, recorded=recorded)
        assert {each.kind for each in report.unembedded} == {"passages", "facts", "entities", "elements"}
        assert all(
            any(word in each.name.lower() for word in BAD) or each.kind == "passages" for each in report.unembedded
        )
        assert all("finite" in each.reason or "too much" in each.reason for each in report.unembedded)
        assert not report.complete
    tree = again.build_tree()
    assert not any("interrupted" in note for note in tree.notes)
    assert any(note.startswith("Without a vector: John Pender") for note in tree.notes)
    found = again.search("Who financed a cable to Ireland?", route="bm25").passages
    assert "Pender" in found[0].text, "by its words"
    assert again.search("Who founded the company?").passages
    with pytest.raises(ModelError, match="finite"):
        again.search("Where is Pender?", route="dense")
    is_whole = True
    report = again.ingest(files, recorded=recorded)
    assert report.complete
    assert report.settled
    assert not report.unembedded
    again.build_tree(rebuild=True)
    assert difference(wanted, snapshot(kg.store)) == []


def test_vectors_that_cannot_be_indexed_are_told_before_any_work(kg: KnowledgeGraph, tmp_path: Path) -> None:
    files = put(tmp_path / "texts", FIELD)
    with pytest.raises(InputError, match=r"5,000 numbers.*at most 4,096"):
        KnowledgeGraph(kg.store, kg.settings, embedder=HashEmbedder(5000)).ingest(files, extractor="local")
    assert not kg.documents()
