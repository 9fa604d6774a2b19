"""What a server searches by itself before anybody asks."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from conftest import DIMENSION
from numpy.typing import NDArray

from kgplatform import KnowledgeGraph
from kgplatform.interfaces.cli import serve
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


def test_it_searches_and_ends_by_itself_or_with_the_server(
    kg: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(serve, "_SEARCHES", 9)

    def asked(counting: Counting, ends: Callable[[], None] = _end) -> int:
        kg.embedder = counting
        with warming_up(kg):
            ends()
        assert not _running()
        return counting.asked

    assert asked(Counting("hash:64")) == 0, "an empty graph is not searched"
    (tmp_path / "note.md").write_text("Ada Lovelace worked with Charles Babbage.", "utf-8")
    kg.embedder = HashEmbedder(DIMENSION)
    kg.ingest(tmp_path / "note.md", extractor="local")
    assert asked(Counting("hash:64")) == 9
    assert asked(Counting("hash:64", pause=0.2), lambda: None) < 9, "who ends the server does not wait"
    assert asked(Counting("openai:text-embedding-3-small")) == 0, "nothing is embedded that costs money"
    asked(Counting("hash:64", dimension=2 * DIMENSION))
    (told,) = [each.getMessage() for each in caplog.records if each.name == warming_up.__module__]
    assert told.startswith("The graph could not be searched yet")
