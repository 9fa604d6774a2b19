"""Fixtures: the explorer in a real Chromium, on a real server, over a real graph; only the language model is simulated.

    pytest_plugins = ["explorer_page"]

    def test_…(page: Page, explorer: str) -> None:
        page.goto(explorer)

No ``conftest.py``: a second one would take the place of the first, from which other tests import names.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from explorer_steps import WAIT
from playwright.sync_api import Browser, Page
from web_server import served

from kgplatform.client import KnowledgeGraph

pytest_plugins = ["sample_server"]


@pytest.fixture(scope="module")
def explorer(address: str) -> str:
    """The address of the explorer of the sample corpus, with the simulated language model."""
    return address


@pytest.fixture
def empty_explorer(kg: KnowledgeGraph) -> Iterator[str]:
    """The explorer of an empty graph, without a model. Ask for it before ``page``, which then closes first."""
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
