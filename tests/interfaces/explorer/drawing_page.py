"""Fixture: a page with nothing but an empty box, which gets the explorer's own files under the server's own policy.

pytest_plugins = ["explorer_page", "drawing_page"]

def test_…(box: Page) -> None:
    draw(box, {"nodes": […], "edges": […]})
"""

import mimetypes
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from drawings import ADDRESS, FILES
from playwright.sync_api import Page, Route

from kgplatform.interfaces.http.app import CONTENT_POLICY

_PAGE = (
    "<!doctype html><html lang=en><head><title>Drawing</title><link rel=stylesheet href=/box.css></head>"
    "<body><main id=box></main></body></html>"
)
_STYLE = (
    "body { margin: 0; font: 14px sans-serif }"
    "#box { position: absolute; left: 20px; top: 10px; width: 900px; height: 600px }"
)


def _answer(route: Route) -> None:
    path = urlsplit(route.request.url).path
    file = FILES / path.removeprefix("/")
    if path == "/":
        route.fulfill(body=_PAGE, content_type="text/html", headers={"Content-Security-Policy": CONTENT_POLICY})
    elif path == "/box.css":
        route.fulfill(body=_STYLE, content_type="text/css")
    elif file.is_file():
        route.fulfill(body=file.read_bytes(), content_type=mimetypes.guess_type(file.name)[0])
    else:
        route.fulfill(status=204)


@pytest.fixture
def box(page: Page) -> Iterator[Page]:
    """The page. A dialog that opens on it fails the test: names are data."""
    opened: list[str] = []
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    page.route(f"{ADDRESS}/**", _answer)
    page.goto(f"{ADDRESS}/")
    yield page
    assert opened == []
