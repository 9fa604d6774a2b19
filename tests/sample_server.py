"""Fixtures: the sample corpus with its tree, served over HTTP, with a simulated language model behind it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from conftest import EXAMPLES, wipe
from simulated_readers import reply
from web_server import served

from kgplatform.client import KnowledgeGraph
from kgplatform.hash_embedder import HashEmbedder
from kgplatform.settings import load_settings
from kgplatform.store import Connection, Store
from kgplatform.testing import OpenAIServer


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    """The simulated language model, which plays every reader's prompts."""
    with OpenAIServer(reply) as server:
        yield server


@pytest.fixture(scope="module")
def sample(
    neo4j_server: Connection, model: OpenAIServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeGraph]:
    """The sample corpus with its tree. Tests that change it leave it as it was."""
    home = tmp_path_factory.mktemp("served")
    settings = load_settings(home=home, embedder="hash:64", openai_base_url=model.base_url, model_retries=0)
    with Store(neo4j_server) as store:
        wipe(store)
        graph = KnowledgeGraph(store, settings, embedder=HashEmbedder(64))
        graph.ingest(EXAMPLES / "corpus", recorded=EXAMPLES / "extraction.jsonl")
        graph.build_tree()
        yield graph
        graph.close()


@pytest.fixture(scope="module")
def address(sample: KnowledgeGraph) -> Iterator[str]:
    """Where it is served."""
    with served(sample) as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    """A client of it."""
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client
