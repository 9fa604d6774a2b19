"""Files in, with progress and a report; files out; and what a hostile file may not do."""

import re
from pathlib import Path

import pytest
from explorer_steps import faults_on, put, search
from playwright.sync_api import Page, expect

from kgplatform.client import KnowledgeGraph

pytest_plugins = ["explorer_page"]

HOSTILE = "<img src=x onerror=alert(1)> was founded by <script>alert(2)</script> in 1912. Ada Lovelace led it."


def upload(page: Page, *files: Path) -> None:
    page.get_by_label(re.compile("Choose files")).set_input_files(files)
    page.get_by_role("button", name="Add to the graph").click()


def test_a_pasted_text_is_a_document(empty_explorer: str, page: Page) -> None:
    page.goto(f"{empty_explorer}/#/documents")
    page.get_by_text("Paste a text, or addresses of web pages").click()
    for title, text in (
        ("", "Halpin: the ship?\n\nRobert Halpin commanded her."),
        ("Второй/текст", "Ada Lovelace wrote."),
    ):
        page.get_by_label("The text, or one address on each line").fill(text)
        page.get_by_label("Title of the text").fill(title)
        assert faults_on(page) == []
        page.get_by_role("button", name="Add to the graph").click()
        expect(page.get_by_label("The text, or one address on each line")).to_have_value("")
    for title in ("Halpin the ship", "Второй текст"):
        expect(page.get_by_role("row", name=title)).to_be_visible()


def test_from_an_empty_graph_to_an_answer(empty_explorer: str, page: Page, tmp_path: Path) -> None:
    for view, title in (("tree", "No documents yet"), ("runs", "No saved runs"), ("graph", "The graph is empty")):
        page.goto(f"{empty_explorer}/#/{view}")
        expect(page.get_by_role("heading", name=title).first).to_be_visible()
    page.goto(f"{empty_explorer}/#/ask")
    expect(page.get_by_role("list", name="Steps")).to_contain_text("The graph is empty.")
    expect(page.locator(".graph-notice")).to_contain_text("empty")
    page.get_by_role("link", name="Add documents").first.click()
    file = tmp_path / "Ship.txt"
    file.write_text("Robert Halpin commanded the Great Eastern. The ship was built by John Scott Russell.\n")
    upload(page, file)
    job = page.get_by_role("article", name="Reading documents")
    expect(job.get_by_role("heading", name="Reading documents: done")).to_be_visible()
    expect(job).to_contain_text("added")
    (told,) = page.evaluate("fetch('api/jobs').then((response) => response.json())")["jobs"]
    assert told["report"]["schema"] == "general"
    number, unit = job.locator("dt:text-is('took') + dd").inner_text().split()
    assert float(number) / (1000 if unit == "ms" else 1) == pytest.approx(told["report"]["seconds"]["total"], rel=0.1)
    expect(page.get_by_role("button", name=re.compile("^Ship"))).to_be_visible()
    expect(page.locator("#status")).to_contain_text("1 document")
    page.get_by_role("button", name="Build the tree").click()
    expect(page.get_by_role("heading", name="Building the tree: done")).to_be_visible()
    page.get_by_role("link", name="Ask", exact=True).click()
    put(page, "Who commanded the Great Eastern?")
    expect(page.get_by_text("No language model is connected, so there is no answer")).to_be_visible()
    page.locator(".passage .place").first.click()
    expect(page.locator(".document-text")).to_contain_text("Robert Halpin commanded the Great Eastern.")


def test_kept_answers_that_changed_are_told_after_a_job_and_among_the_runs(
    empty_explorer: str, page: Page, kg: KnowledgeGraph, tmp_path: Path
) -> None:
    file, question = tmp_path / "Halpin.txt", "Who commanded the Great Eastern?"
    for name in ("Robert Halpin", "<b>James Anderson</b>"):
        file.write_text(f"{name} commanded the Great Eastern, a ship of iron.", "utf-8")
        kg.ingest([file], extractor="local")
        if name == "Robert Halpin":
            kg.ask(question, keep=True)
    told = "Of 1 kept answer, 1 cites a sentence that changed."
    page.goto(f"{empty_explorer}/#/documents")
    other = tmp_path / "Ship.txt"
    other.write_text("The ship was built by John Scott Russell.", "utf-8")
    upload(page, other)
    expect(page.get_by_role("article", name="Reading documents")).to_contain_text(told)
    page.goto(f"{empty_explorer}/#/runs")
    page.get_by_text(told).click()
    expect(page.locator(".then-now > div").nth(0)).to_contain_text("Robert Halpin commanded the Great Eastern")
    expect(page.locator(".then-now > div").nth(1)).to_contain_text("<b>James Anderson</b> commanded")
    assert faults_on(page) == []


def test_the_sample_leads_to_evidence(empty_explorer: str, page: Page, kg: KnowledgeGraph) -> None:
    page.goto(empty_explorer)
    steps = page.get_by_role("list", name="Steps")
    expect(steps).to_contain_text("written by hand")
    assert faults_on(page) == []
    steps.get_by_role("button", name="Load the sample").click()
    expect(steps).to_contain_text("20 documents with 284 entities in the graph.")
    expect(page.get_by_role("article", name="Loading the sample")).to_contain_text("no model read them")
    expect(steps.get_by_role("heading", name="Build the tree (done)")).to_be_visible()
    questions = steps.locator(".suggestion")
    expect(questions).to_have_count(4)
    assert questions.all_inner_texts() == list(kg.look.questions())
    questions.first.click()
    expect(page.get_by_role("article", name="Answer")).to_contain_text("No language model is connected")
    expect(page.get_by_role("region", name="Evidence").locator(".passage").first).to_be_visible()
    expect(page.locator(".asked")).to_have_text(kg.look.questions()[0])


def test_progress_while_documents_are_read_and_what_was_left_out(
    empty_explorer: str, page: Page, tmp_path: Path
) -> None:
    """What came over the wire is kept, since a stage is shown for a moment; the texts take more than one look."""
    page.add_init_script(
        "window.seen = []; new MutationObserver(() => { const stage = document.querySelector('.job-stage');"
        " if (stage?.textContent) window.seen.push(stage.textContent); })"
        ".observe(document, {subtree: true, childList: true, characterData: true});"
    )
    files = [tmp_path / f"Ship {number}.txt" for number in range(12)]
    for number, file in enumerate(files):
        file.write_text(f"Captain {number} commanded the ship Number {number}. " * 500)
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    page.goto(f"{empty_explorer}/#/documents")
    upload(page, tmp_path / "picture.png", *files)
    expect(page.get_by_role("heading", name="Reading documents: done")).to_be_visible()
    seen = page.evaluate("window.seen")
    assert any(re.search(r"\d+ of \d+", text) for text in seen), seen
    expect(page.locator(".problems")).to_contain_text("1 file skipped")
    expect(page.locator(".problems")).to_contain_text("picture.png")


def test_a_document_is_removed_after_a_question(
    empty_explorer: str, page: Page, kg: KnowledgeGraph, tmp_path: Path
) -> None:
    (tmp_path / "note.txt").write_text("Cyrus Field founded the Atlantic Telegraph Company.")
    (tmp_path / "other.txt").write_text("Robert Halpin commanded the Great Eastern. It was built by Scott Russell.")
    kg.ingest([tmp_path / "note.txt", tmp_path / "other.txt"], extractor="local")
    page.goto(f"{empty_explorer}/#/documents")
    names = page.locator(".document-table tbody th")
    expect(names).to_have_text(["note", "other"])
    page.locator(".document-table").get_by_role("button", name=re.compile("^Document")).click()
    expect(names).to_have_text(["other", "note"])
    page.get_by_label("Filter documents").fill("note.t")
    expect(names).to_have_text(["note"])
    page.get_by_label("Filter documents").fill("")
    expect(names).to_have_count(2)
    (tmp_path / "other.txt").write_text("Robert Halpin led it. Robert Halpin commanded the Great Eastern.")
    for name in ("note", "other"):
        page.get_by_label(f"Choose {name}").check()
    page.get_by_role("button", name="Read again").click()
    page.get_by_role("dialog").get_by_role("button", name="Read again").click()
    expect(page.get_by_role("heading", name="Reading documents again: done")).to_be_visible()
    assert "Robert Halpin led it" in kg.look.document(kg.look.document_page("other").documents[0].id).text
    page.get_by_label("Choose other").check()
    page.get_by_role("group", name="The chosen documents").get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    expect(names).to_have_text(["note"])
    page.get_by_role("button", name="Remove note").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert len(kg.documents()) == 1
    page.get_by_role("button", name="Remove note").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_role("heading", name="No documents yet").first).to_be_visible()
    assert kg.documents() == []


@pytest.mark.killed
@pytest.mark.usefixtures("quick_servers")
def test_questions_and_the_map_keep_to_the_documents_that_are_ticked(
    empty_explorer: str, page: Page, kg: KnowledgeGraph, tmp_path: Path
) -> None:
    for name in ("sea/note.txt", "sea/deep (old)/odd & new.txt", "land/note.txt"):
        file = tmp_path / "files" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"Robert Halpin commanded the Great Eastern, as {name} says.")
    kg.ingest(tmp_path / "files", extractor="local")
    page.goto(f"{empty_explorer}/#/documents")
    names = page.locator(".document-table tbody th")
    expect(names).to_have_count(3)
    page.get_by_role("button", name="Folder deep (old)/").click()
    expect(names).to_have_text(["odd & new"])
    page.get_by_label("Filter documents").fill("")
    page.get_by_role("button", name="Folder sea/").click()
    expect(names).to_have_count(2)
    page.get_by_label("Choose all on this page").check()
    with page.expect_response(re.compile(r"api/graph/map\?.*where=")) as drawn:
        page.get_by_role("button", name="Ask about these").click()
    with kg.part("folder = sea") as part:
        assert drawn.value.json()["sizes"] == [*part.look.map().sizes] != [*kg.look.map().sizes]
    expect(page.locator("#status")).to_contain_text("2 of 3 documents")
    limit = page.get_by_role("button", name="Only 2 documents: remove this limit")
    expect(limit).to_be_visible()
    page.get_by_label("Reader", exact=True).select_option(label="Search only, no answer")
    search(page, "Who commanded the Great Eastern?", "all")
    evidence = page.get_by_role("region", name="Evidence")
    expect(evidence.last.locator("li.passage")).to_have_count(2)
    expect(evidence.last).not_to_contain_text("land/note.txt says")
    search(page, "Who commanded the ship?", "all")
    expect(evidence).to_have_count(2)
    expect(evidence.last.locator("li.passage")).to_have_count(2)
    limit.press("Enter")
    expect(limit).to_be_hidden()
    search(page, "Who commanded the Great Eastern?", "all")
    expect(evidence.last.locator("li.passage")).to_have_count(3)


def test_markup_in_documents_stays_text(empty_explorer: str, page: Page, kg: KnowledgeGraph, tmp_path: Path) -> None:
    file = tmp_path / "<img src=x onerror=alert(3)>.txt"
    file.write_text(HOSTILE)
    kg.ingest(file, extractor="local")
    alerts: list[str] = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    for view in ("documents", "graph", "schema", "ask"):
        page.goto(f"{empty_explorer}/#/{view}")
        page.get_by_role("navigation", name="Views").wait_for()
    put(page, "<img src=x onerror=alert(4)> who led it?")
    page.get_by_role("article", name="Answer").wait_for()
    page.goto(f"{empty_explorer}/#/documents")
    page.get_by_role("button", name=re.compile(r"^<img src=x onerror=alert\(3\)>")).click()
    expect(page.locator(".document-text")).to_have_text(HOSTILE)
    for node in kg.look.map().ids:
        page.goto(f"{empty_explorer}/#/graph?node={node}")
        page.get_by_role("complementary", name="The chosen node").get_by_role("button", name="Expand").wait_for()
    assert page.locator("#panel img, #stage img, #panel script, #stage script").count() == 0
    assert alerts == []
