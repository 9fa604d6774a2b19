"""Keyboard alone, narrow screens, a server that goes away, a token, a model or a job that fails, and what Axe finds."""

import json
import re
from urllib.parse import parse_qs, urlsplit

from explorer_steps import CLOSING, answering, ask, faults_on, put
from playwright.sync_api import Page, Route, expect
from simulated_readers import reply
from web_server import served

from kgplatform.client import KnowledgeGraph
from kgplatform.testing import Fault, OpenAIServer
from kgplatform.testing.openai_server import RecordedRequest

pytest_plugins = ["explorer_page"]

VIEWS = ("ask", "graph", "tree", "documents", "compare", "runs", "schema", "cypher", "models")


def go_to(page: Page, explorer: str, view: str) -> None:
    """Open a view, and wait until the one that was open before is gone."""
    page.goto(f"{explorer}/#/{view}")
    expect(page.locator(f"nav a[href='#/{view}'][aria-current=page]")).to_have_count(1)
    expect(page.locator("#panel .view")).to_be_visible()


def test_axe_finds_no_fault(page: Page, explorer: str) -> None:
    """On each view, and on what comes on top of one."""
    faults = {}
    for view in VIEWS:
        go_to(page, explorer, view)
        expect(page.locator(".loading")).to_have_count(0)
        page.evaluate("document.querySelectorAll('.view details').forEach((part) => (part.open = true))")
        faults[view] = faults_on(page)
    page.get_by_role("button", name="Test the connection").click()  # the models were the last view
    expect(page.locator(".works")).to_contain_text("It answered “ready” after")
    expect(page.get_by_role("row", name=re.compile("^testing"))).to_be_visible()
    faults["tested"] = faults_on(page, "#panel")
    page.goto(f"{explorer}/#/ask")
    ask(page, "Who was the captain of the Great Eastern?")
    page.locator(".step-head").first.click()
    faults["answer"] = faults_on(page)
    page.get_by_role("button", name="Citation 1:").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    peek = page.get_by_role("tooltip")
    expect(peek).to_contain_text(re.compile("…[\\s\\S]*James Anderson, a captain"))
    faults["peek"] = faults_on(page, ".peek")
    page.keyboard.press("Escape")
    expect(peek).to_be_hidden()
    page.get_by_role("button", name="Citation 1:").click()
    expect(page.locator("mark")).to_be_focused()
    faults["document"] = faults_on(page)
    page.keyboard.press("Escape")
    page.get_by_role("combobox", name="Find in the graph").fill("cyrus")
    page.get_by_role("listbox", name="Nodes found").get_by_role("option").first.wait_for()
    faults["found"] = faults_on(page, "#stage")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Expand").wait_for()
    faults["card"] = faults_on(page, "#stage")
    page.get_by_role("link", name="As a page").click()
    page.get_by_role("article", name="Cyrus Field").wait_for()
    faults["page"] = faults_on(page)
    page.get_by_role("button", name="Keys").click()
    faults["keys"] = faults_on(page, "dialog")
    assert {place: found for place, found in faults.items() if found} == {}


def test_the_whole_way_by_keyboard(page: Page, explorer: str) -> None:
    page.goto(explorer)
    expect(page.get_by_role("textbox", name="Question")).to_be_focused()
    page.evaluate("document.activeElement.blur()")
    page.evaluate("document.getElementById('skip').focus()")
    expect(page.get_by_role("link", name="Go to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_role("textbox", name="Question")).to_be_focused()
    page.keyboard.type("Who was the captain of the Great Eastern?")
    page.keyboard.press("Enter")
    page.get_by_role("article", name="Answer").wait_for()
    tab_to(page, "Citation 1: Expedition of 1865")
    page.keyboard.press("Enter")
    expect(page.locator("mark")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Citation 1:")).to_be_focused()
    page.keyboard.press("]")
    expect(page.locator(".step").first).to_have_attribute("aria-current", "step")
    page.keyboard.press("2")
    expect(page.get_by_role("heading", name="Graph")).to_be_visible()
    page.keyboard.press("f")
    page.keyboard.type("cyrus field")
    page.get_by_role("listbox", name="Nodes found").get_by_role("option").first.wait_for()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Cyrus Field", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def tab_to(page: Page, label: str, most: int = 60) -> None:
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == label:
            return
    raise AssertionError(f"{most} times Tab do not lead to {label}")


def test_single_keys_can_be_turned_off_and_colours_turned_dark(page: Page, explorer: str) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(explorer)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "light", "the choice is kept"
    page.get_by_role("button", name="Keys").click()
    page.get_by_label("Single keys work outside of text fields").uncheck()
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("2")
    page.keyboard.press("/")
    expect(page.locator("main")).to_be_focused()


def test_on_a_narrow_screen_nothing_is_cut_off_and_the_words_are_reached(page: Page, explorer: str) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    for view in VIEWS:
        go_to(page, explorer, view)
        widths = page.evaluate("[document.documentElement.scrollWidth, panel.scrollWidth - panel.clientWidth]")
        assert widths == [360, 0], view
    page.goto(explorer)
    ask(page, "Who was the captain of the Great Eastern?")
    assert page.evaluate("panel.scrollWidth - panel.clientWidth") == 0
    page.get_by_role("button", name="Citation 1:").click()
    expect(page.locator("mark")).to_be_in_viewport()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("article", name="Answer")).to_be_visible()
    page.get_by_role("button", name="Citation 1:").click()
    expect(page.locator("mark")).to_be_focused()
    page.get_by_role("button", name="Back").click()
    page.locator("#stage-button").click()
    expect(page.get_by_role("combobox", name="Find in the graph")).to_be_visible()


def test_a_server_that_goes_and_comes_back(lone_page: Page, sample: KnowledgeGraph, allowed_errors: list[str]) -> None:
    allowed_errors += CLOSING
    page = lone_page
    page.clock.install()
    with served(sample) as address:
        page.goto(address)
        expect(page.locator(".view")).to_be_visible()
    put(page, "Who was Cyrus Field?")
    banner = page.locator(".banner")
    expect(banner).to_contain_text("The server does not answer")
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)  # else the page may try by itself before the click
    with served(sample, port=int(address.rpartition(":")[2])):
        banner.get_by_role("button", name="Try now").click()
        expect(banner).to_have_count(0)
        page.clock.resume()
        page.get_by_role("main").get_by_role("button", name="Try again").click()
        expect(page.get_by_role("article", name="Answer")).to_contain_text("Cyrus Field")


def test_a_view_that_could_not_be_loaded_keeps_nobody_from_the_others(
    page: Page, explorer: str, allowed_errors: list[str]
) -> None:
    allowed_errors += ["net::ERR", "dynamically imported module"]
    page.goto(explorer)
    expect(page.get_by_role("heading", name="Ask", exact=True).last).to_be_visible()
    page.route("**/schema-view.js", lambda route: route.abort())
    page.get_by_role("link", name="Schema").click()
    expect(page.get_by_text("This part of the page could not be loaded")).to_be_visible()
    page.get_by_role("link", name="Ask", exact=True).click()
    expect(page.get_by_role("heading", name="Ask", exact=True).last).to_be_visible()
    page.get_by_role("link", name="Schema").click()
    expect(page.get_by_text("This part of the page could not be loaded")).to_be_visible()
    page.unroute("**/schema-view.js")
    page.get_by_role("main").get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Entity types")).to_be_visible()


def test_two_tries_at_once_begin_once(page: Page, explorer: str, allowed_errors: list[str]) -> None:
    allowed_errors.append("net::ERR")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.route("**/api/about", lambda route: route.abort())
    page.goto(explorer)
    again = page.get_by_role("main").get_by_role("button", name="Try again")
    again.wait_for()
    page.unroute("**/api/about")
    again.click()
    expect(page.locator(".graph-title")).to_contain_text("entities")
    page.get_by_role("link", name="Schema").click()
    expect(page.get_by_role("heading", name="Entity types")).to_be_visible()
    assert [url.rsplit("/", 1)[1] for url in asked].count("schema") == 1


def test_a_token_is_asked_for_once(page: Page, sample: KnowledgeGraph, allowed_errors: list[str]) -> None:
    allowed_errors += ["status of 401", *CLOSING]
    with served(sample, token="a-token-of-24-characters") as address:
        page.goto(address)
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Token").fill("not that one")
        dialog.get_by_role("button", name="Go on").click()
        expect(dialog).to_contain_text("That token is wrong.")
        dialog.get_by_label("Token").fill("a-token-of-24-characters")
        dialog.get_by_role("button", name="Go on").click()
        expect(page.get_by_role("heading", name="Ask", exact=True).last).to_be_visible()
        ask(page, "Who was Cyrus Field?")
        page.reload()
        expect(page.get_by_role("textbox", name="Question")).to_be_visible()
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert "a-token" not in page.url


def test_a_model_that_fails_is_said_and_can_be_asked_again(
    page: Page, sample: KnowledgeGraph, allowed_errors: list[str]
) -> None:
    allowed_errors += CLOSING
    refusals = [Fault.refuse(401, "The model is on holiday.")]

    def once(request: RecordedRequest) -> Fault | None:
        return refusals.pop() if refusals and request.method == "POST" else None

    with answering(sample, reply, faults=once, model_retries=0) as address:
        page.goto(address)
        put(page, "Who was Cyrus Field?")
        expect(page.get_by_role("alert")).to_contain_text("holiday")
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("article", name="Answer")).to_contain_text("Cyrus Field")
        refusals += [Fault.refuse(401, "Still on holiday.")] * 2  # to make it stand alone, and to answer it
        put(page, "And who was his brother?")
        expect(page.get_by_role("alert")).to_contain_text("Still on holiday")
        expect(page.get_by_text("This was found until then:")).to_be_visible()
        page.get_by_role("region", name="Evidence").locator(".passage .place").first.click()
        expect(page.locator("mark")).to_be_visible()
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("article", name="Answer")).to_have_count(2)


def test_a_read_only_server_offers_no_change(page: Page, sample: KnowledgeGraph, allowed_errors: list[str]) -> None:
    allowed_errors += CLOSING
    with served(sample, read_only=True) as address:
        page.goto(f"{address}/#/documents")
        expect(page.get_by_text("This server is read-only")).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("Remove|Add to|tree"))).to_have_count(0)
        page.goto(f"{address}/#/graph?page={sample.look.find('Cyrus Field')[0].id}")
        expect(page.get_by_role("article", name="Cyrus Field")).to_contain_text("Also stated")
        expect(page.get_by_role("button", name=re.compile("Correct|Not so|Add a fact"))).to_have_count(0)


def test_more_of_a_text_comes_once(page: Page, explorer: str) -> None:
    text = "".join(f"Sentence {number}. " for number in range(2000))

    def answer(route: Route) -> None:
        asked = parse_qs(urlsplit(route.request.url).query)
        start, end = (min(int(asked[name][0]), len(text)) for name in ("start", "end"))
        told = {"id": "long", "title": "Long", "uri": "file:///Long.txt", "source": "", "characters": len(text)}
        route.fulfill(json=told | {"start": start, "end": end, "text": text[start:end], "facts": []})

    page.route("**/api/documents/long?*", answer)
    page.goto(f"{explorer}/#/documents?doc=long")
    page.get_by_role("button", name="Show more").evaluate("button => (button.click(), button.click())")
    shown = page.locator(".document-text")
    expect(shown).to_have_text(text[:16_000].strip(), use_inner_text=False)
    expect(page.get_by_role("region", name="Text of Long")).to_be_focused()


JOB = {"id": "job", "kind": "ingest", "done": 0, "total": 0, "seconds": 1, "files": ["Ship.txt"]}
JOB |= {"report": None, "error": None}


def test_a_job_that_waits_and_one_that_the_server_no_longer_knows(
    page: Page, explorer: str, allowed_errors: list[str]
) -> None:
    allowed_errors.append("status of 404")
    waiting = JOB | {"id": "left", "state": "waiting", "stage": "", "note": "Its files lie on another machine."}
    gone = JOB | {"id": "gone", "kind": "tree", "state": "running", "stage": "communities", "done": 1, "total": 9}
    told = f"event: progress\ndata: {json.dumps(waiting)}\n\n"
    page.route("**/api/jobs", lambda route: route.fulfill(json={"jobs": [waiting, gone]}))
    page.route("**/api/jobs/left/events", lambda route: route.fulfill(content_type="text/event-stream", body=told))
    page.goto(f"{explorer}/#/documents")
    expect(page.get_by_role("article", name="Reading documents")).to_contain_text("Its files lie on another machine.")
    expect(page.get_by_role("article", name="Building the tree")).to_contain_text("The server has forgotten this job")
    page.get_by_role("button", name="Dismiss this report").click()
    expect(page.get_by_role("article", name="Building the tree")).to_have_count(0)


def test_a_model_is_connected_in_the_page(empty_explorer: str, page: Page) -> None:
    with OpenAIServer(lambda messages: "ready", models=("large", "small")) as model:
        page.goto(f"{empty_explorer}/#/ask")
        page.get_by_role("link", name="Connect a model").click()
        page.get_by_label("Address of the server").fill(model.base_url)
        page.get_by_label("Key", exact=True).fill("sk-secret")
        page.get_by_role("button", name="List its models").click()
        expect(page.locator(".entry-form")).to_contain_text("It has 2 models: large, small")
        expect(page.get_by_label("Model", exact=True)).to_have_value("large")
        page.get_by_label("Model", exact=True).fill("small")
        assert faults_on(page) == []
        page.get_by_role("button", name="Connect").click()
        expect(page.locator(".works")).to_contain_text("Connected. It answered “ready”")
        expect(page.locator("#status")).to_contain_text("small")
        assert "sk-secret" not in page.content()
