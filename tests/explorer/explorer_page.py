"""Fixtures: the explorer in a real Chromium, on a real server, over a real graph; only the language model is simulated.

pytest_plugins = ["explorer_page"]

def test_…(page: Page, explorer: str) -> None:
    page.goto(explorer)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES, wipe
from playwright.sync_api import Browser, Page, expect
from simulated_readers import reply
from web_server import served

from kgplatform.client import KnowledgeGraph
from kgplatform.hash_embedder import HashEmbedder
from kgplatform.settings import load_settings
from kgplatform.store import Connection, Store
from kgplatform.testing import OpenAIServer

WAIT = 60_000
"""Milliseconds until a thing that does not come is a fault. The machine may be busy."""
expect.set_options(timeout=WAIT)


def opened(store: Store, home: Path, **settings: Any) -> KnowledgeGraph:
    """A graph over ``store``, with ``settings`` beside a deterministic embedder."""
    return KnowledgeGraph(store, load_settings(home=home, embedder="hash:64", **settings), embedder=HashEmbedder(64))


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    """The simulated language model, which plays every reader's prompts."""
    with OpenAIServer(reply) as server:
        yield server


@pytest.fixture(scope="module")
def sample(
    neo4j_server: Connection, model: OpenAIServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeGraph]:
    """The sample corpus with its tree."""
    home = tmp_path_factory.mktemp("explored")
    with Store(neo4j_server) as store:
        wipe(store)
        graph = opened(store, home, openai_base_url=model.base_url, model_retries=0)
        graph.ingest(EXAMPLES / "corpus", recorded=EXAMPLES / "extraction.jsonl")
        graph.build_tree()
        yield graph


@pytest.fixture(scope="module")
def explorer(sample: KnowledgeGraph) -> Iterator[str]:
    """The address of the explorer of the sample corpus."""
    with served(sample) as address:
        yield address


@pytest.fixture
def empty_explorer(kg: KnowledgeGraph) -> Iterator[str]:
    """The address of the explorer of an empty graph, without a language model."""
    with served(kg) as address:
        yield address


@pytest.fixture
def allowed_errors() -> list[str]:
    """Parts of what the browser's console may say in a test that brings a fault about."""
    return []


@pytest.fixture
def page(chromium: Browser, allowed_errors: list[str]) -> Iterator[Page]:
    """A page of its own context, 1280 by 800. A fault of the page fails the test, and so does one in its console."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(WAIT)
    faults: list[str] = []
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page = context.new_page()
    yield page
    context.close()
    assert [fault for fault in faults if not any(part in fault for part in allowed_errors)] == []


def ask(page: Page, question: str, reader: str = "retrieve") -> None:
    """Ask, and wait for the answer."""
    page.get_by_label("Reader", exact=True).select_option(reader)
    page.get_by_role("textbox", name="Question").fill(question)
    page.keyboard.press("Enter")
    page.get_by_role("article", name="Answer").wait_for()
