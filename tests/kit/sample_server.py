"""Fixtures: the sample corpus with its tree, served over HTTP, with a simulated language model behind it.

A module with a fixture ``sample`` or ``model`` of its own has that served.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from conftest import EXAMPLES, wipe
from graph_state import Snapshot, snapshot
from simulated_readers import reply
from web_server import served

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer

_made: list[Snapshot] = []
"""The sample as it was made."""


@contextmanager
def opened(
    connection: Connection, home: Path, model: OpenAIServer, *, unless: list[Snapshot] | None = None
) -> Iterator[KnowledgeGraph]:
    """An empty graph, ``unless`` it is this one, with ``model`` behind it."""
    settings = load_settings(home=home, embedder="hash:64", openai_base_url=model.base_url, model_retries=0)
    with Store(connection) as store:
        if not unless or unless != [snapshot(store)]:
            wipe(store)
        with KnowledgeGraph(store, settings, embedder=HashEmbedder(64)) as graph:
            yield graph


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    """The simulated language model, which plays every reader's prompts."""
    with OpenAIServer(reply) as server:
        yield server


@pytest.fixture(scope="module")
def sample(
    neo4j_server: Connection, model: OpenAIServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeGraph]:
    """The sample corpus with its tree: that of the module before, if it is there and unchanged. Tests that change it
    leave it as it was.
    """
    with opened(neo4j_server, tmp_path_factory.mktemp("served"), model, unless=_made) as graph:
        if not graph.documents():
            graph.ingest(EXAMPLES / "corpus", recorded=EXAMPLES / "extraction.jsonl")
            graph.build_tree()
            _made[:] = [snapshot(graph.store)]
        yield graph


@pytest.fixture(scope="module")
def address(sample: KnowledgeGraph) -> Iterator[str]:
    """Where it is served."""
    with served(sample) as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    """A client of it."""
    with httpx.Client(base_url=address, timeout=120) as client:
        yield client
