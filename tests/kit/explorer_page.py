"""Fixtures: the explorer in a real Chromium, on a real server, over a real graph; only the language model is simulated.

    pytest_plugins = ["explorer_page"]

    def test_…(page: Page, explorer: str) -> None:
        page.goto(explorer)

No ``conftest.py``: a second one would take the place of the first, from which other tests import names.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from explorer_steps import WAIT
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, WebError
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
    kg.parts.close()


@pytest.fixture
def allowed_errors() -> list[str]:
    """Parts of what the browser's console may say in a test that brings a fault about."""
    return []


@pytest.fixture(scope="module")
def profile(chromium: Browser) -> Iterator[BrowserContext]:
    """Whose cache and process the pages of a module's tests share: to begin anew is half the work of a small page."""
    with _profile(chromium) as profile:
        profile.new_page()  # the process ends with its last page
        yield profile


@pytest.fixture
def page(profile: BrowserContext, allowed_errors: list[str]) -> Iterator[Page]:
    """A page, 1280 by 800, of a browser that knows nothing yet. A fault of the page, or in its console, fails the test.

    What earlier pages left is taken back here, but for a clock: who installs one asks for ``lone_page``.
    """
    profile.clear_permissions()
    control = profile.new_cdp_session(profile.pages[0])
    control.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})  # without a page for each origin
    control.detach()
    with _watched_page(profile, allowed_errors) as page:
        yield page


@pytest.fixture
def lone_page(chromium: Browser, allowed_errors: list[str]) -> Iterator[Page]:
    """The same, and no other test has its profile."""
    with _profile(chromium) as profile, _watched_page(profile, allowed_errors) as page:
        yield page


@contextmanager
def _profile(chromium: Browser) -> Iterator[BrowserContext]:
    profile = chromium.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    profile.set_default_timeout(WAIT)
    yield profile
    profile.close()


@contextmanager
def _watched_page(profile: BrowserContext, allowed_errors: list[str]) -> Iterator[Page]:
    faults: list[str] = []

    def note_error(error: WebError) -> None:
        faults.append(str(error.error))

    def note_message(message: ConsoleMessage) -> None:
        if message.type == "error":
            faults.append(message.text)

    profile.on("weberror", note_error)
    profile.on("console", note_message)
    before = profile.pages
    yield profile.new_page()
    for page in profile.pages:
        if page not in before:  # it, or opened by it
            page.close()
    profile.remove_listener("weberror", note_error)
    profile.remove_listener("console", note_message)
    assert [fault for fault in faults if not any(part in fault for part in allowed_errors)] == []
