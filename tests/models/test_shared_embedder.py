"""A model on the machines of a cluster: the same vectors, in the order of the texts."""

from __future__ import annotations

import numpy as np
import pytest

from kgplatform.concurrency.stopping import NEVER
from kgplatform.concurrency.workers import LocalWorkers, Workers
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder, LocalEmbedder, SharedEmbedder, make_embedder, shared
from kgplatform.settings import Settings, load_settings

TEXTS = [f"River {number} flows through {number * 7} towns" + " and on" * (number % 9) for number in range(101)]


@pytest.fixture
def settings() -> Settings:
    return load_settings(embedder="local:bge-small-en-v1.5-q", ray="local")


def same(workers: Workers, settings: Settings) -> None:
    inner = make_embedder(settings, Ledger())
    embedder = shared(inner, settings, workers, NEVER)
    assert isinstance(embedder, SharedEmbedder)
    assert (embedder.name, embedder.dimension) == (inner.name, inner.dimension)
    for texts in (TEXTS, TEXTS[:3], []):
        np.testing.assert_allclose(embedder.embed(texts), inner.embed(texts), atol=1e-5)


def test_shares_are_put_together_in_order(settings: Settings) -> None:
    with LocalWorkers(2) as workers:
        same(workers, settings)


def test_a_ray_cluster_embeds(settings: Settings) -> None:
    pytest.importorskip("ray")
    from kgplatform.concurrency.workers import RayWorkers

    with RayWorkers("local") as workers:
        same(workers, settings)
        assert workers.number >= 1
        with pytest.raises(RuntimeError, match="has no len"):
            workers.submit(len, 7).result(60)


def test_only_a_model_that_runs_here_is_shared_and_only_with_other_machines(settings: Settings) -> None:
    here, words = LocalEmbedder("all-MiniLM-L6-v2", settings), HashEmbedder(64)
    with LocalWorkers(2) as workers:
        assert shared(here, load_settings(workers=2), workers, NEVER) is here
        assert shared(here, settings, None, NEVER) is here
        assert shared(words, settings, workers, NEVER) is words
