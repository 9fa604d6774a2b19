"""The documentation as `make docs` builds it: every page is in it, and reading it fetches nothing from anywhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from doc_pages import DOCS, page

from kgplatform.client import KnowledgeGraph

if TYPE_CHECKING:
    from playwright.sync_api import Browser


class Addresses(HTMLParser):
    """What a browser fetches by itself as it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and given.get("rel") in ("canonical", "next", "prev"):
            return
        self.found += [given[name] or "" for name in ("src", "srcset") if name in given]
        if tag == "link":
            self.found.append(given.get("href") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages, built as `make docs` does: a warning fails it."""
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", DOCS / "site" / "mkdocs.yml", "--site-dir", out],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def test_every_page_is_built_and_reached(site: Path) -> None:
    wanted = {page.relative_to(DOCS).with_suffix(".html").as_posix() for page in DOCS.rglob("*.md")}
    assert {page.relative_to(site).as_posix() for page in site.rglob("*.html")} - {"404.html"} == wanted
    nav = yaml.dump(yaml.safe_load((DOCS / "site" / "mkdocs.yml").read_text("utf-8"))["nav"])
    assert [page for page in wanted if page.replace(".html", ".md") not in nav] == []


def test_pages_fetch_nothing_from_elsewhere(site: Path) -> None:
    for built in site.rglob("*.html"):
        addresses = Addresses()
        addresses.feed(built.read_text("utf-8"))
        for address in addresses.found:
            assert not re.match(r"(?:https?:)?//", address), (built.name, address)
            local = address.partition("?")[0].partition("#")[0]
            assert address.startswith("data:") or built.name == "404.html" or (built.parent / local).exists(), address
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(?:https?:)?//", sheet.read_text("utf-8"))


def test_it_is_searched_from_the_disk(site: Path, chromium: Browser) -> None:
    """`make docs` leaves files, and a page that lies on a disk may start no worker."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        page.goto(next(site.rglob("graphreader.html")).as_uri())
        page.get_by_role("textbox", name="Search").press_sequentially("neo4j-admin")
        page.locator(".md-search-result__link[href*='export.html']").first.wait_for()
    finally:
        context.close()


def test_the_python_reference_has_the_public_methods(site: Path) -> None:
    page = next(site.rglob("python.html")).read_text("utf-8")
    public = [name for name in vars(KnowledgeGraph) if not name.startswith("_")]
    assert [name for name in public if f'id="kgplatform.client.KnowledgeGraph.{name}"' not in page] == []


def test_the_graph_picture_shows_what_the_tables_say() -> None:
    picture = (DOCS / "images" / "graph-model.svg").read_text("utf-8")
    tables = page("graph-model.md")
    shown = set(re.findall(r">([A-Z]\w+)</text>", picture)) | set(re.findall(r">([A-Z]+_[A-Z]+)\b", picture))
    assert len(shown) > 25
    assert [name for name in sorted(shown) if name not in tables] == []
    nodes = set(re.findall(r"^\| `(\w+)`", tables, re.M)) - {"Graph"}
    assert [name for name in sorted(nodes) if name not in shown] == []
