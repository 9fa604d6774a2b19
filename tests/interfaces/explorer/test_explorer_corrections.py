"""What people correct in the page: the dialog, facts that are not so, likely duplicates by keyboard, and undoing."""

import re

from explorer_steps import faults_on
from playwright.sync_api import Page, expect
from read_sentences import SentenceReader

from kgplatform.client import KnowledgeGraph
from kgplatform.sources.objects import Text

pytest_plugins = ["explorer_page"]

TEXTS = (
    '"Cyrus Field" (Person) praised "Dmitri Mendeleev" (Person).',
    '"C. W. Field" (Person) knows "Samuel Morse" (Person). "Samuel Morse" (Person) saw "Mendeleev, Dmitri" (Person).',
    '"Cyrus Field" (Person) has the born [1819].',
)


def read_into(kg: KnowledgeGraph) -> None:
    texts = [Text(text, f"Note {number}", id=f"note-{number}") for number, text in enumerate(TEXTS)]
    kg.ingest(texts, extractor=SentenceReader(), schema="general")


def test_an_entity_is_merged_a_fact_added_another_dropped_and_all_of_it_undone(
    empty_explorer: str, page: Page, kg: KnowledgeGraph, allowed_errors: list[str]
) -> None:
    allowed_errors.append("status of 400")
    read_into(kg)
    node = next(each for each in kg.look.find("C. W. Field") if each.name == "C. W. Field")
    page.goto(f"{empty_explorer}/#/graph?page={node.id}&node={node.id}")
    dialog, told = page.get_by_role("dialog"), page.locator("#done")
    card = page.get_by_role("complementary", name="The chosen node")
    card.get_by_role("button", name="Correct…").click()
    what = dialog.get_by_label("What is to be corrected")
    expect(what).to_be_focused()
    what.select_option("A fact is missing")
    assert faults_on(page, "dialog") == []
    what.select_option("It is the same as another")
    dialog.get_by_label("The other one").fill("Nobody")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("No entity is called 'Nobody'")
    dialog.get_by_label("The other one").fill("Cyrus")
    expect(dialog.locator("datalist option").first).to_have_attribute("value", "Cyrus Field")
    dialog.get_by_label("The other one").fill("Cyrus Field")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(told).to_contain_text("C. W. Field (Person) is Cyrus Field (Person), in 1 passage.")
    article = page.get_by_role("article", name="Cyrus Field")
    expect(article.get_by_role("heading", name="knows")).to_be_visible()
    expect(card.get_by_role("heading", name="Cyrus Field", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(f"page=(?!{node.id})"))
    article.get_by_role("button", name="Add a fact").click()
    dialog.get_by_label("Relation or attribute").fill("motto")
    dialog.get_by_label("What it leads to").fill("Never give up")
    dialog.get_by_label("a value").check()
    page.keyboard.press("Enter")
    by_hand = article.locator("li", has_text="Never give up").locator(".place.by-hand")
    expect(by_hand).to_have_text(re.compile("^Added by .+ on "))
    article.get_by_role("button", name=re.compile("^Not so: .*knows Samuel Morse")).first.click()
    expect(article.get_by_role("heading", name="knows")).to_have_count(0)
    expect(told).to_contain_text("Not so: ")
    assert faults_on(page) == []
    told.get_by_role("button", name="Undo").click()
    expect(article.get_by_role("heading", name="knows")).to_be_visible()
    page.keyboard.press("u")
    expect(by_hand).to_have_count(0)
    page.keyboard.press("u")
    expect(told).to_contain_text("Undone: C. W. Field (Person) is Cyrus Field (Person)")
    expect(article.get_by_role("heading", name="knows")).to_have_count(0)
    assert kg.correct.all() == ()


def test_likely_duplicates_are_decided_by_keyboard_and_undone(
    empty_explorer: str, page: Page, kg: KnowledgeGraph
) -> None:
    read_into(kg)
    before = kg.correct.duplicates()
    assert before
    page.goto(f"{empty_explorer}/#/graph")
    page.get_by_role("link", name="Duplicates and corrections").click()
    pairs, made = page.locator(".pair"), page.locator(".correction")
    expect(pairs).to_have_count(len(before))
    expect(pairs.first).to_be_focused()
    expect(pairs.first).to_contain_text(before[0].names[0])
    assert faults_on(page) == []
    page.keyboard.press("ArrowRight")
    card = page.get_by_role("complementary", name="The chosen node")
    expect(card.get_by_role("heading", name=before[0].names[1], exact=True)).to_be_visible()
    for key, text in (("r", "are two"), ("a", ") is ")):
        expect(pairs.first).to_be_focused()
        page.keyboard.press(key)
        expect(made).to_contain_text([text])
        expect(pairs).to_have_count(len(before) - 1)
        page.keyboard.press("u")
        expect(made).to_have_count(0)
        expect(pairs).to_have_count(len(before))
    assert kg.correct.duplicates() == before
    page.set_viewport_size({"width": 360, "height": 640})
    assert page.evaluate("panel.scrollWidth - panel.clientWidth") == 0
