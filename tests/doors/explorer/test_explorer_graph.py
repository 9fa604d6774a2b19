"""The graph on the stage: find, expand, read the card, hide a type; and the tree, the schema and Cypher beside it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from kgplatform.client import KnowledgeGraph

pytest_plugins = ["explorer_page"]


def test_find_a_node_read_its_card_and_expand_it(page: Page, explorer: str) -> None:
    page.goto(f"{explorer}/#/graph")
    expect(page.get_by_text(re.compile(r"All \d+ entities"))).to_be_visible()
    page.get_by_role("combobox", name="Find in the graph").fill("cyrus fi")
    page.get_by_role("option", name="Cyrus Field Person", exact=True).click()
    card = page.get_by_role("complementary", name="The chosen node")
    expect(card.get_by_role("heading", name="Cyrus Field", exact=True)).to_be_visible()
    expect(card).to_contain_text("facts about it")
    assert "node=" in page.url
    card.get_by_role("button", name="Expand").click()
    expect(page.locator(".graph-title")).to_contain_text(re.compile(r"[1-9]\d* neighbours? of Cyrus Field added"))
    card.locator("button.place").first.click()
    expect(page.locator("mark")).to_be_focused()


def test_enter_takes_what_was_typed_and_not_what_was_found_before(page: Page, explorer: str) -> None:
    page.goto(f"{explorer}/#/graph")
    box = page.get_by_role("combobox", name="Find in the graph")
    box.fill("sam")
    expect(page.get_by_role("option").first).to_be_visible()
    box.press_sequentially("uel canning")
    box.press("Enter")
    card = page.get_by_role("complementary", name="The chosen node")
    expect(card.get_by_role("heading", name="Samuel Canning", exact=True)).to_be_visible()


def test_a_link_to_a_node(page: Page, explorer: str, sample: KnowledgeGraph) -> None:
    node = sample.look.find("Robert Halpin")[0]
    page.goto(f"{explorer}/#/graph?node={node.id}")
    card = page.get_by_role("complementary", name="The chosen node")
    expect(card.get_by_role("heading", name=node.name, exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    assert "node=" not in page.url


def test_the_legend_hides_a_type(page: Page, explorer: str) -> None:
    page.goto(f"{explorer}/#/graph")
    people = page.get_by_role("button", name=re.compile(r"^Person \d+"))
    expect(people).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Nodes in the picture").fill("person")
    expect(page.locator(".node-row").first).to_contain_text("Person")
    people.click()
    expect(people).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".node-row", has_text="Person")).to_have_count(0)
    people.click()
    expect(page.locator(".node-row").first).to_contain_text("Person")


def test_the_legend_covers_nothing_and_holds_for_one_picture(page: Page, explorer: str) -> None:
    page.goto(f"{explorer}/#/graph")
    drawn(page)
    picture, legend = page.locator(".canvas").bounding_box(), page.locator(".legend").bounding_box()
    assert picture and legend and picture["y"] + picture["height"] <= legend["y"]
    before = page.evaluate("document.querySelector('canvas').toDataURL()")
    page.get_by_role("button", name=re.compile(r"^Person \d+")).click()
    page.wait_for_function("before => document.querySelector('canvas').toDataURL() !== before", arg=before)
    page.get_by_role("main").get_by_role("button", name="Whole graph").click()
    expect(page.get_by_role("button", name=re.compile(r"^Person \d+"))).to_have_attribute("aria-pressed", "true")
    drawn(page)
    assert page.evaluate("document.querySelector('canvas').toDataURL()") == before, "all types are there again"


def drawn(page: Page) -> None:
    expect(page.locator(".graph-title")).to_contain_text(re.compile(r"All \d+ entities"))
    expect(page.locator(".canvas")).to_have_attribute("aria-busy", "false")


def test_a_line_leads_to_the_words_that_state_it(page: Page, explorer: str) -> None:
    page.goto(f"{explorer}/#/cypher")
    page.get_by_label("Statement").fill(
        "MATCH (s:Entity)-[r]->(o:Entity) WHERE r.fact IS NOT NULL AND COUNT { (s)--(o) } = 1 "
        "RETURN s, o ORDER BY s.name, o.name LIMIT 1"
    )
    page.keyboard.press("Control+Enter")
    expect(page.locator(".graph-title")).to_contain_text("Nodes of the result: 2")
    expect(page.locator(".canvas")).to_have_attribute("aria-busy", "false")
    page.locator("canvas").click()
    card = page.get_by_role("complementary", name="The chosen node")
    expect(card.get_by_role("heading", name="Where it is stated")).to_be_visible()
    card.locator("button.place").first.click()
    expect(page.locator("mark")).to_be_focused()


def test_the_card_of_a_document_opens_it(page: Page, explorer: str) -> None:
    page.goto(explorer)
    page.get_by_role("combobox", name="Find in the graph").fill("Expedition of 1865")
    page.get_by_role("option", name="Expedition of 1865 Document").click()
    page.get_by_role("complementary", name="The chosen node").get_by_role("button", name="Open").click()
    expect(page.locator(".document-text")).to_contain_text("Great Eastern")


def test_a_card_with_many_facts_shows_the_first_and_then_all(page: Page, explorer: str, sample: KnowledgeGraph) -> None:
    node = sample.look.find("Great Eastern")[0]
    page.goto(f"{explorer}/#/graph?node={node.id}")
    card = page.get_by_role("complementary", name="The chosen node")
    expect(card.locator(".facts > li")).to_have_count(8)
    more = card.get_by_role("button", name=re.compile(r"^Show \d+ more$"))
    rest = int(re.sub(r"\D", "", more.inner_text()))
    more.click()
    expect(card.locator(".facts > li")).to_have_count(8 + rest)
    expect(card.locator(".facts > li").nth(8).locator("button").first).to_be_focused()
    expect(more).to_have_count(0)


def test_a_node_that_is_not_there_is_said_beside_the_whole_graph(
    page: Page, explorer: str, allowed_errors: list[str]
) -> None:
    allowed_errors.append("status of 404")
    page.goto(f"{explorer}/#/graph?node=nobody")
    drawn(page)
    expect(page.get_by_role("complementary", name="The chosen node")).to_contain_text("There is no node 'nobody'")


def test_a_node_is_taken_out_of_the_picture(page: Page, explorer: str, sample: KnowledgeGraph) -> None:
    before = sample.stats().nodes
    page.goto(f"{explorer}/#/graph")
    page.get_by_label("Nodes in the picture").fill("Robert Halpin")
    page.locator(".node-row").first.click()
    page.get_by_role("complementary", name="The chosen node").get_by_role("button", name="Hide").click()
    expect(page.locator(".node-row")).to_have_count(0)
    assert sample.stats().nodes == before, "the graph keeps it"


def test_the_tree_unfolds_to_a_keyword(page: Page, explorer: str) -> None:
    page.goto(f"{explorer}/#/tree")
    first = page.get_by_role("treeitem").first
    first.wait_for()
    first.focus()
    page.keyboard.press("ArrowRight")
    expect(first).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Show in the graph").click()
    expect(page.get_by_role("complementary", name="The chosen node")).to_be_visible()


def test_the_schema_with_counts(page: Page, explorer: str, sample: KnowledgeGraph) -> None:
    page.goto(f"{explorer}/#/schema")
    expect(page.get_by_role("heading", name="Entity types")).to_be_visible()
    people = sample.stats().nodes["Person"]
    expect(page.locator("dt", has_text="Person").first).to_have_text(f"Person{people}")


def test_cypher_shows_rows_and_draws_nodes(page: Page, explorer: str) -> None:
    page.goto(f"{explorer}/#/cypher")
    page.get_by_label("Statement").fill("MATCH (e:Person {name: $name}) RETURN e, e.name AS name")
    page.locator("summary", has_text="Parameters").click()
    page.get_by_label("As JSON").fill('{"name": "Cyrus Field"}')
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("cell", name="Cyrus Field").last).to_be_visible()
    expect(page.locator(".graph-title")).to_contain_text("Nodes of the result: 1")


def test_cypher_that_would_write_is_refused(page: Page, explorer: str, allowed_errors: list[str]) -> None:
    allowed_errors.append("status of 400")
    page.goto(f"{explorer}/#/cypher")
    page.get_by_label("Statement").fill("MATCH (n) DETACH DELETE n")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
