"""What a server searches by itself before anybody asks."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from conftest import DIMENSION
from numpy.typing import NDArray

from kgplatform import KnowledgeGraph
from kgplatform.interfaces.cli.serve import warming_up
from kgplatform.models.embed import HashEmbedder


def _running() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "warm-up"]


@dataclass
class Counting:
    """Vectors by hashing, under another name; counts how often it is asked, and may dawdle."""

    name: str
    pause: float = 0.0
    dimension: int = DIMENSION
    asked: int = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder``."""
        self.asked += 1
        time.sleep(self.pause)
        return HashEmbedder(self.dimension).embed(texts)


def _end(of: float = 30.0) -> None:
    end = time.monotonic() + of
    while _running() and time.monotonic() < end:
        time.sleep(0.02)
    assert not _running()


@pytest.fixture
def filled(kg: KnowledgeGraph, tmp_path: Path) -> KnowledgeGraph:
    """One document, embedded by hashing."""
    note = tmp_path / "note.md"
    note.write_text("Ada Lovelace worked with Charles Babbage.", "utf-8")
    kg.ingest(note, extractor="local")
    return kg


def test_it_searches_and_ends_by_itself(filled: KnowledgeGraph) -> None:
    filled.embedder = counting = Counting("hash:64")
    with warming_up(filled):
        _end()
    assert counting.asked == 40


def test_who_ends_the_server_does_not_wait(filled: KnowledgeGraph) -> None:
    filled.embedder = counting = Counting("hash:64", pause=0.2)
    with warming_up(filled):
        assert _running()
    assert not _running()
    assert counting.asked < 40


def test_nothing_is_embedded_that_costs_money(filled: KnowledgeGraph) -> None:
    filled.embedder = counting = Counting("openai:text-embedding-3-small")
    with warming_up(filled):
        _end()
    assert counting.asked == 0


def test_an_empty_graph_is_not_searched(kg: KnowledgeGraph) -> None:
    kg.embedder = counting = Counting("hash:64")
    with warming_up(kg):
        _end()
    assert counting.asked == 0


def test_what_fails_is_told_once(filled: KnowledgeGraph, caplog: pytest.LogCaptureFixture) -> None:
    filled.embedder = Counting("hash:64", dimension=2 * DIMENSION)
    with warming_up(filled):
        _end()
    assert [record.getMessage()[:34] for record in caplog.records] == ["The graph could not be searched ye"]
