"""Neo4j Browser as a person meets it: real Chromium, the real Browser, a real graph."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browser_server import Site, browser_site
from conftest import EXAMPLES, ROOT, emptied
from test_browser_site import hostile_graph
from watching_proxy import watching_proxy

from kgplatform.client import KnowledgeGraph
from kgplatform.interfaces.neo4j_browser.site import browser_link, with_values
from kgplatform.interfaces.neo4j_browser.style import KINDS, color_of
from kgplatform.neo4j.store import Connection

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

_SLOW = 90_000
"""Milliseconds that Chromium may take for anything on a busy machine."""
_CHROMIUMS_OWN = "content-autofill.googleapis.com:443"
"""Chromium's form filling asks there about any page with a form, whatever the page's policy is."""
_FIRST_SLIDE = "What is in it"
_CONNECTION = """() => {
    const kept = localStorage["neo4j.connections"];
    return JSON.parse(kept).connectionsById["$$discovery"].password;
}"""
"""The password that Browser keeps for the next tab: as it starts it takes that out for a while."""


@pytest.fixture(scope="module")
def graph(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """Some of the sample corpus, with its tree."""
    with emptied(neo4j_server, tmp_path_factory.mktemp("browser")) as graph:
        files = sorted((EXAMPLES / "corpus").iterdir())[:8]
        graph.ingest(files, recorded=EXAMPLES / "extraction.jsonl")
        graph.build_tree()
        yield graph


@pytest.fixture(scope="module")
def site(graph: KnowledgeGraph) -> Iterator[Site]:
    """The site on it."""
    with browser_site(graph) as site:
        yield site


@contextmanager
def profile(chromium: Browser, **options: Any) -> Iterator[BrowserContext]:
    """A profile of its own. An alert in it fails the test: somebody's text was run."""
    context = chromium.new_context(viewport={"width": 1500, "height": 950}, **options)
    context.set_default_timeout(_SLOW)
    alerts: list[str] = []
    context.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    yield context
    context.close()
    assert alerts == []


def opened(window: BrowserContext, site: Site) -> Page:
    """Neo4j Browser, connected, with its guide."""
    page = window.new_page()
    page.goto(site.start)
    page.get_by_text(_FIRST_SLIDE, exact=True).wait_for()
    wait_until_connected(page)
    return page


def wait_until_connected(page: Page) -> None:
    """Browser names the server in its title then."""
    page.wait_for_function("() => document.title.includes('@')")


def run_in(page: Page) -> None:
    """Run what a link puts into the editor, as soon as it is there: Browser does that after it has connected.

    Its two frames of welcome come by themselves, and would otherwise come above the frame of what is run.
    """
    wait_until_connected(page)
    page.get_by_test_id("frame").nth(1).wait_for()
    page.get_by_test_id("activeEditor").get_by_text("RETURN").first.wait_for()
    page.get_by_test_id("editor-Run").click()


def nodes_drawn(page: Page) -> dict[str, str]:
    """The captions of the nodes of the newest frame, as far as they are shown, with the colours of their discs."""
    frame = page.get_by_test_id("frame").first
    frame.locator("g.node").first.wait_for()
    nodes = frame.locator("g.node").evaluate_all(
        "nodes => nodes.map(node => ["
        "[...node.querySelectorAll('text.caption')].map(line => line.textContent).join(' '), "
        "node.querySelector('circle.b-outline').getAttribute('fill')])"
    )
    return {" ".join(caption.split()): color for caption, color in nodes}


def favourite(page: Page, title: str) -> None:
    """Click a saved query of our folder, and run it, when the editor has it: else there would be nothing to run."""
    page.get_by_test_id("navigationFavorites").click()
    folder = page.get_by_text("kgplatform", exact=True)
    folder.click()
    page.get_by_text(title).first.click()
    page.get_by_test_id("activeEditor").get_by_text(title).first.wait_for()
    page.get_by_test_id("editor-Run").click()


def test_it_draws_in_our_colours_and_runs_what_links_bring_and_nothing_leaves_this_machine(
    chromium: Browser, site: Site, graph: KnowledgeGraph
) -> None:
    through = {"bypass": "localhost,127.0.0.1,[::1]"}
    with watching_proxy() as (proxy, asked), profile(chromium, proxy={"server": proxy, **through}) as context:
        page = opened(context, site)
        assert "start" not in page.url
        favourite(page, "What joins two entities")
        drawn = nodes_drawn(page)
        types = {row["name"]: row["type"] for row in graph.store.read("explore/highlights/entities", limit=1000)}
        shown = {caption: color for caption, color in drawn.items() if caption in types}
        assert shown
        assert {caption: color_of(types[caption]) for caption in shown} == shown
        assert [color for caption, color in drawn.items() if caption not in types and color == KINDS["Fact"]]

        (first, *_) = graph.store.read("explore/highlights/entities", limit=1)
        statement = "MATCH (e:Entity&!Chunk {id: $id}) // #1 & more\nWHERE e.name <> $no RETURN e"
        written = with_values(statement, {"id": first["id"], "no": "a & b #'\\\"`+%"})
        page.wait_for_function(_CONNECTION)
        tab = context.new_page()
        tab.goto(browser_link(f"{site.address}/browser/", written))
        run_in(tab)
        assert nodes_drawn(tab) == {first["name"]: color_of(first["type"])}

        assert set(asked) <= {_CHROMIUMS_OWN}
        page.goto("http://outside.example/")
        assert "http://outside.example/" in asked, "so it would have been seen"


_BY_HAND = {"color": "#123456", "border-color": "#000000", "text-color-internal": "#FFFFFF"}
_CHANGED = "// The knowledge tree from the top\nRETURN 'changed by hand'"
_MINE = {"id": "mine", "content": "// Mine\nRETURN 1", "folder": "my-folder"}
_GONE = """() => {
    const written = JSON.parse(localStorage["kgplatform.written"]);
    written.style["node.Gone"] = {color: "#1"};
    localStorage["kgplatform.written"] = JSON.stringify(written);
}"""
"""As if an older release had written a style that this one has not."""

Stored = dict[str, Any]


def started(window: BrowserContext, site: Site) -> Page:
    """After a start, a page of its address on which no Browser runs: it would write its own state over a change."""
    page = opened(window, site)
    page.goto(f"{site.address}/manifest.json")
    return page


def stored(page: Page, name: str) -> Any:
    return json.loads(page.evaluate("name => localStorage.getItem('neo4j.' + name)", name))


def change(page: Page, name: str, how: Callable[[Any], Any]) -> None:
    store = "([name, value]) => localStorage.setItem('neo4j.' + name, JSON.stringify(value))"
    page.evaluate(store, [name, how(stored(page, name))])


def documents_by_hand(documents: list[Stored]) -> list[Stored]:
    """One of our favourites is deleted, one changed, one's own added."""
    rest = [each for each in documents if each.get("id") != "kgplatform-walk"]
    return [*({**each, "content": _CHANGED} if each.get("id") == "kgplatform-tree" else each for each in rest), _MINE]


def style_by_hand(sheet: Stored) -> Stored:
    """One of our rules is deleted, one changed, one's own added, and one there that an older release wrote."""
    rest = {name: rule for name, rule in sheet.items() if name != "node.Place"}
    return {**rest, "node.Person": _BY_HAND, "node.Mine": _BY_HAND, "node.Gone": {"color": "#1"}}


def test_what_is_ones_own_stays(chromium: Browser, site: Site) -> None:
    """Favourites, folders and style, at the next start; what is no longer ours goes. Usage is not reported."""
    with profile(chromium) as context:
        page = started(context, site)
        change(page, "documents", documents_by_hand)
        change(page, "folders", lambda folders: [*folders, {"id": "my-folder", "name": "Mine"}])
        change(page, "grass", style_by_hand)
        page.evaluate(_GONE)
        again = started(context, site)
        settings, documents, folders, style = (
            stored(again, name) for name in ("settings", "documents", "folders", "grass")
        )
    assert (settings["allowUserStats"], settings["allowCrashReports"]) == (False, False)
    kept = {each["id"]: each for each in documents if "id" in each}
    assert kept["mine"] == _MINE
    assert [each["id"].startswith("kgplatform-") for each in kept.values() if each["content"] == _CHANGED] == [False]
    assert kept["kgplatform-tree"]["content"] == (ROOT / "cypher/saved/tree.cypher").read_text().strip()
    assert "kgplatform-walk" in kept
    assert {"my-folder", "kgplatform"} <= {each["id"] for each in folders}
    assert (style["node.Person"], style["node.Mine"]) == (_BY_HAND, _BY_HAND)
    assert style["node.Place"]["color"] == color_of("Place")
    order = list(style)
    assert order.index("node.Entity") < order.index("node.Person")
    assert "node.Gone" not in style


def test_names_of_a_document_are_run_by_nobody(chromium: Browser, kg: KnowledgeGraph, tmp_path: Path) -> None:
    hostile_graph(kg, tmp_path)
    before = kg.stats()
    with browser_site(kg) as site, profile(chromium) as window:
        page = opened(window, site)
        for title in ("Documents", "Entities", "Relations", "Facts and their evidence"):
            page.get_by_test_id("guideNextSlide").click()
            page.locator("h3:visible", has_text=title).wait_for()
            arrows = page.locator("pre.runnable:visible .fa-play-circle-o")
            frames = page.get_by_test_id("frameCommand")
            for number in range(min(arrows.count(), 2)):
                ran = frames.count()
                arrows.nth(number).click()
                frames.nth(ran).wait_for()
        assert page.locator("script:not([src])").count() == 0
        assert page.locator("img[src=x]").count() == 0
        told = " ".join(page.locator("li").all_text_contents())
    assert before.nodes == kg.stats().nodes
    assert before.relationships == kg.stats().relationships
    assert re.search("<script>|<img|DETACH DELETE", told)
