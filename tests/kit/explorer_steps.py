"""What tests of the explorer do and know, beside the fixtures of ``explorer_page``."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from conftest import opened
from playwright.sync_api import Page, expect
from web_server import served

from kgplatform.client import KnowledgeGraph
from kgplatform.prompt import Messages
from kgplatform.testing import OpenAIServer

WAIT = 60_000
"""Milliseconds until a thing that does not come is a fault. The machine may be busy."""
CLOSING = ["status of 503", "net::ERR"]
"""What the browser's console says of a server that closes while the page is still open."""
USAGE = {"calls": 1, "cached_calls": 0, "input_tokens": 1, "output_tokens": 1}
NOTHING: dict[str, list[Any]] = {"passages": [], "facts": [], "paths": [], "communities": []}
"""Evidence of nothing."""

expect.set_options(timeout=WAIT)


@contextmanager
def answering(
    sample: KnowledgeGraph, model: Callable[[Messages], str], *, faults: Any = (), **settings: Any
) -> Iterator[str]:
    """The address of an explorer of the sample corpus whose language model is ``model``, with its ``faults``."""
    with OpenAIServer(model, faults=faults) as server, TemporaryDirectory() as home:
        graph = opened(sample.store, Path(home), openai_base_url=server.base_url, **settings)
        with served(graph) as address:
            yield address


def answer_with(page: Page, answer: dict[str, Any], *before: tuple[str, Any]) -> None:
    """Answer each question of the page with ``answer``, after the events ``before``: no server is asked."""
    whole = {"reader": "retrieve", "run": None, "usage": USAGE, "trace": [], "evidence": NOTHING} | answer
    told = [*before, ("answer", whole)]
    body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in told)
    page.route("**/api/ask", lambda route: route.fulfill(body=body, content_type="text/event-stream"))


def put(page: Page, question: str) -> None:
    """Put a question, without waiting for its answer."""
    page.get_by_role("textbox", name="Question").fill(question)
    page.keyboard.press("Enter")


def ask(page: Page, question: str, reader: str = "retrieve") -> None:
    """Ask, and wait for the answer."""
    page.get_by_label("Reader", exact=True).select_option(reader)
    put(page, question)
    page.get_by_role("article", name="Answer").wait_for()


_OF_COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules of Axe that see the colours of a page."""


def faults_on(page: Page, part: str = "html") -> list[str]:
    """What Axe finds on the page as it is, or in ``part`` of it; in dark colours, by the rules that see them."""
    light = _violations(page, part)
    page.emulate_media(color_scheme="dark")
    dark = _violations(page, part, runOnly=_OF_COLOURS)
    page.emulate_media(color_scheme="light")
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in (*light, *dark)]


def _violations(page: Page, part: str, **options: object) -> list[Any]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    told = {"resultTypes": ["violations"], **options}
    violations: list[Any] = page.evaluate("told => axe.run(...told).then((found) => found.violations)", [part, told])
    return violations


def search(page: Page, question: str, route: str) -> None:
    """Search by ``route``, where the reader that is chosen only searches."""
    page.get_by_label("Search by").select_option(route)
    page.get_by_role("textbox", name="Question").fill(question)
    page.get_by_role("button", name="Search", exact=True).click()
