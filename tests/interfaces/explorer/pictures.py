"""Takes the pictures of docs/reference/explorer.md again, in real Chromium over the sample corpus:

.venv/bin/python -m pytest tests/interfaces/explorer/pictures.py
"""

from collections.abc import Iterator
from itertools import cycle, islice

import pytest
from conftest import ROOT
from explorer_steps import ask
from playwright.sync_api import Page, expect
from simulated_readers import reply

from kgplatform.client import KnowledgeGraph
from kgplatform.testing import OpenAIServer

pytest_plugins = ["explorer_page"]

IMAGES = ROOT / "docs" / "images"
QUESTION = "Who designed the Great Eastern?"
OF_THE_TUTORIAL = "Whom did Cyrus Field ask about the floor of the Atlantic?"
WARM = 40
"""Searches after which the times of steps are those of a server that has run for a while."""


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    """The simulated language model, which the page calls by that name: no picture may seem to be a real model's."""
    with pytest.MonkeyPatch.context() as patch, OpenAIServer(reply) as server:
        patch.setenv("KGPLATFORM_CHAT_MODEL", "simulated")
        yield server


def test_pictures(page: Page, explorer: str, sample: KnowledgeGraph) -> None:
    for document in islice(cycle(sample.documents()), WARM):
        sample.search(document.title)
    page.goto(explorer)
    ask(page, QUESTION, "youtu")
    expect(page.get_by_text("20 documents · simulated")).to_be_visible()
    expect(page.locator(".graph-title")).to_contain_text("Deep (Youtu-GraphRAG): what it looked at")
    expect(page.locator(".legend-key", has_text="Passage")).to_be_visible()
    page.wait_for_timeout(2_000)  # the picture of the graph comes to rest
    page.screenshot(path=IMAGES / "explorer-ask.png")
    page.get_by_role("button", name="New conversation").click()
    ask(page, OF_THE_TUTORIAL, "youtu")
    page.wait_for_timeout(2_000)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("t")
    page.get_by_role("button", name="Citation 1:").click()
    expect(page.locator("mark")).to_be_in_viewport()
    page.wait_for_timeout(500)
    page.screenshot(path=IMAGES / "explorer-citation.png")
