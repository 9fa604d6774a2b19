"""The graph on the stage: find, expand, read the card, hide a type; and the tree, the schema and Cypher beside it."""

import re

from playwright.sync_api import Locator, Page, expect
from stopped import until

from kgplatform.client import KnowledgeGraph
from kgplatform.explore.info import MapFilter

pytest_plugins = ["explorer_page"]


def card_of(page: Page) -> Locator:
    return page.get_by_role("complementary", name="The chosen node")


def test_find_a_node_read_its_card_expand_it_and_take_another_out(
    page: Page, explorer: str, sample: KnowledgeGraph
) -> None:
    before = sample.stats().nodes
    page.goto(f"{explorer}/#/graph")
    drawn(page)
    page.get_by_label("Nodes in the picture").fill("Robert Halpin")
    page.locator(".node-row").first.click()
    card_of(page).get_by_role("button", name="Hide").click()
    expect(page.locator(".node-row")).to_have_count(0)
    assert sample.stats().nodes == before, "the graph keeps it"
    box, card = page.get_by_role("combobox", name="Find in the graph"), card_of(page)
    box.fill("sam")
    expect(page.get_by_role("option").first).to_be_visible()
    box.press_sequentially("uel canning")
    box.press("Enter")  # takes what was typed, and not what was found before
    expect(card.get_by_role("heading", name="Samuel Canning", exact=True)).to_be_visible()
    box.fill("cyrus fi")
    page.get_by_role("option", name="Cyrus Field Person", exact=True).click()
    expect(card.get_by_role("heading", name="Cyrus Field", exact=True)).to_be_visible()
    expect(card).to_contain_text("facts about it")
    assert "node=" in page.url
    card.get_by_role("button", name="Expand").click()
    expect(page.locator(".graph-title")).to_contain_text(re.compile(r"[1-9]\d* neighbours? of Cyrus Field added"))
    card.locator("button.place").first.click()
    expect(page.locator("mark")).to_be_focused()


def test_a_link_to_a_node_whose_card_shows_the_first_facts_and_then_all(
    page: Page, explorer: str, sample: KnowledgeGraph, allowed_errors: list[str]
) -> None:
    """And one to a node that is not there is told beside the whole graph."""
    allowed_errors.append("status of 404")
    page.goto(f"{explorer}/#/graph?node=nobody")
    drawn(page)
    card = card_of(page)
    expect(card).to_contain_text("There is no node 'nobody'")
    node = sample.look.find("Great Eastern")[0]
    page.goto(f"{explorer}/#/graph?node={node.id}")
    expect(card.get_by_role("heading", name=node.name, exact=True)).to_be_visible()
    facts, more = card.locator(".facts > li"), card.get_by_role("button", name=re.compile(r"^Show \d+ more$"))
    expect(facts).to_have_count(8)
    rest = int(re.sub(r"\D", "", more.inner_text()))
    more.click()
    expect(facts).to_have_count(8 + rest)
    expect(facts.nth(8).locator("button").first).to_be_focused()
    expect(more).to_have_count(0)
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    assert "node=" not in page.url


def test_the_legend_hides_a_type_of_one_picture_and_covers_nothing(page: Page, explorer: str) -> None:
    page.goto(f"{explorer}/#/graph")
    drawn(page)
    picture, legend = page.locator(".canvas").bounding_box(), page.locator(".legend").bounding_box()
    assert picture and legend and picture["y"] + picture["height"] <= legend["y"]
    before = page.evaluate("document.querySelector('canvas').toDataURL()")
    people, rows = page.get_by_role("button", name=re.compile(r"^Person \d+")), page.locator(".node-row")
    page.get_by_label("Nodes in the picture").fill("person")
    expect(rows.first).to_contain_text("Person")
    people.click()
    expect(people).to_have_attribute("aria-pressed", "false")
    expect(rows.filter(has_text="Person")).to_have_count(0)
    page.wait_for_function("before => document.querySelector('canvas').toDataURL() !== before", arg=before)
    page.get_by_role("main").get_by_role("button", name="Whole graph").click()
    expect(people).to_have_attribute("aria-pressed", "true")
    expect(rows.first).to_contain_text("Person")
    drawn(page)
    assert page.evaluate("document.querySelector('canvas').toDataURL()") == before, "all types are there again"


def drawn(page: Page) -> None:
    expect(page.locator(".graph-title")).to_contain_text(re.compile(r"All \d+ entities"))
    expect(page.locator(".canvas")).to_have_attribute("aria-busy", "false")


def test_an_entity_as_a_page(page: Page, explorer: str, sample: KnowledgeGraph) -> None:
    node = sample.look.find("Cyrus Field")[0]
    page.goto(f"{explorer}/#/graph?page={node.id}")
    entity = page.get_by_role("article", name="Cyrus Field")
    founded = entity.locator("section", has=page.get_by_role("heading", name="Cyrus Field founded …"))
    expect(founded.get_by_role("link", name="Atlantic Telegraph Company")).to_be_visible()
    for sentence in entity.locator("section p.muted").all_inner_texts():
        assert entity.get_by_text(sentence, exact=True).count() == 1, "what is said once is not said again"
    founded.locator("button.place").first.click()
    expect(page.locator("mark")).to_be_focused()
    page.keyboard.press("Escape")
    founded.get_by_role("link", name="Atlantic Telegraph Company").click()
    expect(page.get_by_role("article", name="Atlantic Telegraph Company")).to_contain_text("connections")
    page.go_back()
    expect(founded).to_be_visible()
    page.get_by_role("link", name="All nodes").click()
    expect(page.get_by_role("heading", name="Graph", exact=True)).to_be_visible()


def test_filters_ways_and_scenes_are_addresses(page: Page, explorer: str, sample: KnowledgeGraph) -> None:
    founded = sample.look.map(only=MapFilter(relations=("FOUNDED",)))
    title, rows = page.locator(".graph-title"), page.locator(".node-row")
    page.goto(f"{explorer}/#/graph?relation=FOUNDED")
    expect(title).to_have_text(f"{len(founded.ids)} entities with the relation founded")
    page.get_by_label("Type", exact=True).select_option("Person")
    expect(title).to_contain_text("of type Person, with the relation founded")
    expect(rows).to_have_count(founded.types.count("Person"))
    page.get_by_label("Document", exact=True).fill("Cyrus Field")
    expect(title).to_contain_text("in one document")
    with sample.store.lend_driver("the tests") as driver:
        driver.execute_query("MATCH (d:Document {name: 'Cyrus Field'}) SET d.meta_year = 1870")
        page.goto(f"{explorer}/#/graph?relation=FOUNDED&least=2")
        page.reload()
        page.get_by_label("year", exact=True).fill("1870")
        expect(title).to_contain_text("in documents with year 1870, with 2 facts or more")
        assert "where=" in page.url
        driver.execute_query("MATCH (d:Document) REMOVE d.meta_year")
    page.reload()
    expect(page.get_by_label("year", exact=True)).to_have_value("1870")
    expect(page.get_by_text("Nothing fits the filters")).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    drawn(page)

    page.locator("summary", has_text="Scenes").click()
    page.get_by_role("button", name=re.compile(r"^Place \d+")).click()
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_label("Name of a new scene").fill("Without places")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("main").get_by_role("button", name="Whole graph").click()
    expect(page.get_by_role("button", name=re.compile(r"^Place \d+"))).to_have_attribute("aria-pressed", "true")
    page.get_by_role("link", name="Without places").click()
    expect(page.get_by_role("button", name=re.compile(r"^Place \d+"))).to_have_attribute("aria-pressed", "false")
    assert "view=" in page.url and "hide=Place" in page.url

    page.locator("summary", has_text="Way between two").click()
    for field, name in (("From", "Cyrus Field"), ("To", "Robert Halpin")):
        page.get_by_label(field, exact=True).fill(name)
        page.get_by_label(field, exact=True).press("Tab")
    expect(title).to_have_text("The shortest ways between the two")
    expect(page.locator(".node-row", has_text="Robert Halpin").first).to_be_visible()
    page.reload()
    expect(title).to_have_text("The shortest ways between the two")


def test_the_tree_unfolds_to_a_keyword(page: Page, explorer: str) -> None:
    page.goto(f"{explorer}/#/tree")
    first = page.get_by_role("treeitem").first
    first.wait_for()
    box = page.get_by_role("combobox", name="Find in the tree")
    box.fill("Robert Halpin")
    page.get_by_role("option", name="Robert Halpin Person").click()
    expect(page.locator("[role=treeitem][data-id]:focus")).to_have_attribute("aria-label", re.compile("^Robert Halpin"))
    page.get_by_role("button", name="Fold all").click()
    expect(page.locator("[role=treeitem][aria-expanded=true]")).to_have_count(0)
    first.focus()
    page.keyboard.press("ArrowRight")
    expect(first).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Show in the graph").click()
    expect(card_of(page)).to_be_visible()


def test_the_schema_with_counts(page: Page, explorer: str, sample: KnowledgeGraph, allowed_errors: list[str]) -> None:
    allowed_errors.append("status of 400")
    page.goto(f"{explorer}/#/schema")
    expect(page.get_by_role("heading", name="Entity types")).to_be_visible()
    people = sample.stats().nodes["Person"]
    expect(page.locator("dt", has_text="Person").first).to_have_text(f"Person{people}")
    page.locator("summary", has_text="Edit or upload").click()
    editor = page.get_by_label("The schema as a file")
    expect(editor).to_have_value(re.compile("^name: general"))
    editor.fill("entities: [Ship]\nrelations: {sank: {heads: [Boat]}}")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("alert")).to_contain_text("'Boat', which is not an entity type of the schema")
    page.reload()
    expect(editor).to_have_value(re.compile("Boat")), "nothing that was written is lost"
    editor.fill("name: ships\nentities: [Ship]")
    page.get_by_role("button", name="Use for the next documents").click()
    expect(page.get_by_text("The next documents are read by the schema ships.")).to_be_visible()
    sample.use_schema("general")
    founded = page.get_by_role("link", name=re.compile(r"^founded, \d+ from Person to Organization"))
    founded.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".graph-title")).to_contain_text("with the relation founded")


def test_cypher_shows_rows_and_draws_nodes_and_a_line_leads_to_the_words_that_state_it(
    page: Page, explorer: str, allowed_errors: list[str]
) -> None:
    allowed_errors.append("status of 400")
    page.goto(f"{explorer}/#/cypher")
    page.get_by_label("Statement").fill("MATCH (n) DETACH DELETE n")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Only statements that read can run here.")
    page.get_by_label("Statement").fill("MATCH (e:Person {name: $name}) RETURN e, e.name AS name")
    page.locator("summary", has_text="Parameters").click()
    page.get_by_label("As JSON").fill('{"name": "Cyrus Field"}')
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("cell", name="Cyrus Field").last).to_be_visible()
    expect(page.locator(".graph-title")).to_contain_text("Nodes of the result: 1")
    page.reload()
    expect(page.get_by_label("Statement")).to_have_value(re.compile("name: \\$name"))
    expect(page.get_by_role("cell")).to_have_count(0), "a link runs nothing"
    page.get_by_label("Saved queries").select_option("The most connected entities")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("columnheader", name="passages")).to_be_visible()
    page.locator("summary", has_text="History").click()
    page.locator(".history button", has_text="$name").click()
    expect(page.get_by_label("As JSON")).to_have_value('{"name": "Cyrus Field"}')
    page.get_by_label("As JSON").fill("{}")
    page.get_by_label("Statement").fill(
        "MATCH (s:Entity)-[r]->(o:Entity) WHERE r.fact IS NOT NULL AND COUNT { (s)--(o) } = 1 "
        "RETURN s, o ORDER BY s.name, o.name LIMIT 1"
    )
    page.keyboard.press("Control+Enter")
    expect(page.locator(".graph-title")).to_contain_text("Nodes of the result: 2")
    expect(page.locator(".canvas")).to_have_attribute("aria-busy", "false")
    page.locator("canvas").click()
    card = card_of(page)
    expect(card.get_by_role("heading", name="Where it is stated")).to_be_visible()
    card.locator("button.place").first.click()
    expect(page.locator("mark")).to_be_focused()


def test_a_statement_is_stopped_on_the_server(page: Page, explorer: str, sample: KnowledgeGraph) -> None:
    page.goto(f"{explorer}/#/cypher")
    page.get_by_label("Statement").fill("MATCH (a), (b), (c) WHERE a.id + b.id = c.id RETURN count(*) AS slow")
    page.keyboard.press("Control+Enter")
    running = "SHOW TRANSACTIONS YIELD currentQuery AS q WHERE q ENDS WITH 'AS slow' RETURN q"

    def runs() -> bool:
        with sample.lend_driver("the tests") as driver:
            return bool(driver.execute_query(running).records)

    until(runs)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("Stopped.", exact=True)).to_be_visible()
    until(lambda: not runs())
