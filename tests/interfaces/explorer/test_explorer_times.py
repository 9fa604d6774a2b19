"""What was so when, in the page: the timeline of an entity, the year of the picture, contradictions side by side."""

import re
from pathlib import Path
from typing import Any

import pytest
from corpora import put_jsonl
from explorer_steps import answer_with, faults_on, put
from playwright.sync_api import Page, expect

from kgplatform.client import KnowledgeGraph
from kgplatform.extract.schema import Schema
from kgplatform.shown import plain

pytest_plugins = ["explorer_page"]

SCHEMA = Schema.from_dict(
    {
        "name": "works",
        "entities": ["Person", "Place", "Organization"],
        "relations": {"led_by": {"single": True}, "born_in": {"single": True}, "owned_by": "", "located_in": ""},
    }
)
STATED = {
    "The bridge works": [
        ("Halden Bridge Works (HBW)", "located_in", "Halden", ""),
        ("Halden Bridge Works", "led_by", "Edith Marlow", "from 1842 to 1856"),
    ],
    "Edith Marlow": [("Edith Marlow", "born_in", "Leeds", "")],
    "Tobias Crane": [("Halden Bridge Works", "led_by", "Tobias Crane", "from 1857 to 1866")],
    "Northern Railway": [("Halden Bridge Works", "owned_by", "Northern Railway", "since March 1866")],
    "A history of Halden": [
        ("Halden Bridge Works", "led_by", "Rolf Dahl", "from 1860 until 1880"),
        ("HBW", "owned_by", "Ada Holt", ""),
        ("Edith Marlow", "born_in", "Halden", ""),
    ],
}
PLACES = {"Halden", "Leeds"}
WORKS = "Halden Bridge Works"


@pytest.fixture
def works(kg: KnowledgeGraph, tmp_path: Path) -> KnowledgeGraph:
    """Five documents about who led the works, and when; two of them disagree."""
    rows, texts = [], []
    for title, facts in STATED.items():
        quotes = [
            f"{one} was {what.replace('_', ' ')} {other} {when}".rstrip() + "." for one, what, other, when in facts
        ]
        stated = zip(quotes, [(one.removesuffix(" (HBW)"), *rest) for one, *rest in facts], strict=True)
        row: dict[str, Any] = {"document": title, "entities": [], "triples": []}
        for quote, (one, what, other, _) in stated:
            row["triples"].append({"subject": one, "predicate": what, "object": other, "quote": quote})
        names = {name for each in row["triples"] for name in (each["subject"], each["object"])}
        names |= {"HBW"} if "(HBW)" in quotes[0] else set()
        kinds = {
            name: "Place" if name in PLACES else "Organization" if name in (WORKS, "HBW") else "Person"
            for name in names
        }
        row["entities"] = [{"name": name, "type": kind} for name, kind in sorted(kinds.items())]
        rows.append(row)
        texts.append({"text": " ".join(quotes), "title": title, "id": title})
    kg.ingest(texts, recorded=put_jsonl(tmp_path / "said.jsonl", rows), schema=SCHEMA)
    return kg


def id_of(kg: KnowledgeGraph, name: str) -> str:
    return next(each.id for each in kg.look.find(name) if each.name == name)


def test_conflicts_side_by_side_until_one_side_is_not_so(
    works: KnowledgeGraph, empty_explorer: str, page: Page
) -> None:
    assert len(works.conflicts()) == 2
    page.goto(f"{empty_explorer}/#/graph")
    page.get_by_role("link", name="Conflicts").click()
    pairs = page.locator(".conflicts > li")
    expect(pairs).to_have_count(2)
    born, led = pairs.nth(0), pairs.filter(has_text="Tobias Crane")
    expect(born.get_by_role("heading", level=2)).to_have_text("Edith Marlow · born in")
    expect(born.locator("mark")).to_have_text([re.compile("born in Leeds"), re.compile("born in Halden")])
    expect(born.get_by_text("No time is said.")).to_have_count(2)
    expect(led.locator(".when")).to_have_text(["1857–1866", "1860–1880"])
    assert faults_on(page) == []
    led.locator(".place").nth(1).click()
    expect(page.locator(".document-text mark")).to_contain_text("Rolf Dahl from 1860")
    facts = page.locator(".document-facts summary")
    expect(facts).to_have_text("3 facts stated here")
    led.get_by_role("button", name=re.compile("^Not so: .*Rolf Dahl")).click()
    expect(pairs).to_have_count(1)
    expect(facts).to_have_text("2 facts stated here")
    page.set_viewport_size({"width": 360, "height": 640})
    assert page.evaluate("panel.scrollWidth - panel.clientWidth") == 0
    works.correct.drop(works.conflicts()[0].facts[0].id)
    page.goto(f"{empty_explorer}/#/graph")
    page.get_by_role("link", name="Conflicts").click()
    expect(page.locator(".empty")).to_contain_text("“single: true”")


def test_an_answer_says_what_another_passage_says(works: KnowledgeGraph, empty_explorer: str, page: Page) -> None:
    led = next(each for each in works.conflicts() if "Crane" in each.facts[0].text)
    cited = plain(led.facts[0].citations[0])
    answer = {"text": "Tobias Crane [1].", "question": "", "note": "", "citations": [cited], "statements": []}
    page.goto(empty_explorer)
    later = {**plain(led), "since": "1860-01-01"}
    answers = page.get_by_role("article", name="Answer")
    sides = (([], None), (None, None), ([later], "Since 1860-01-01, another"), ([plain(led)], "Another"))
    for number, (disputes, said) in enumerate(sides, start=1):
        answer_with(page, {**answer, "sufficient": True, "disputes": disputes})
        put(page, "Who led it in 1861?")
        expect(answers).to_have_count(number)
        told = [f"{said} passage says: {led.facts[1].text}"] if said else []
        expect(answers.last.get_by_text("passage says:")).to_have_text(told)
        page.unroute("**/api/ask")
        if said == "Another":
            expect(answers.last.locator(".disputes mark")).to_contain_text("Rolf Dahl")
            assert faults_on(page) == []
            for at, name in enumerate(("Rolf Dahl", "Tobias Crane")):
                answers.last.locator(".disputes .place").nth(at).click()
                expect(page.locator(".document-text mark")).to_contain_text(name)


def test_the_timeline_of_an_entity_and_the_year_of_the_picture(
    works: KnowledgeGraph, empty_explorer: str, page: Page
) -> None:
    id_ = id_of(works, WORKS)
    page.goto(f"{empty_explorer}/#/graph?page={id_}")
    when = page.locator("section", has=page.get_by_role("heading", name="When", exact=True))
    times = ["1842–1856", "1857–1866", "1860–1880", "since 1866-03"]
    expect(when.locator("li > .when")).to_have_text(times)
    expect(when.locator("rect")).to_have_count(len(times))
    expect(when).to_contain_text("Of 1 more fact no time is said.")
    alike = page.locator("section", has=page.get_by_role("heading", name="Likely the same")).locator("li")
    expect(alike).to_contain_text("The one is short for the other")
    expect(alike.locator("mark")).to_have_text("HBW")
    assert faults_on(page) == []
    bar = page.locator(".time-bar")
    expect(bar).to_be_hidden()
    page.get_by_role("button", name="At a time").click()
    slider = bar.get_by_label("Year")
    expect(slider).to_have_value("1880")
    for year, said in (("1842", "1 line so then"), ("1857", "1 line so then"), ("1863", "2 lines so then")):
        slider.fill(year)
        expect(bar).to_contain_text(said)
    expect(bar).to_contain_text("2 of other times hidden · 4 dashed: no time is said")
    assert "time=1863" in page.url
    assert faults_on(page) == []
    page.reload()
    expect(bar).to_contain_text("2 lines so then")
    page.get_by_role("button", name="At a time").click()
    expect(bar).to_be_hidden()
    article = page.get_by_role("article", name=WORKS)
    article.get_by_role("button", name="Add a fact").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("What it is about")).to_have_value(WORKS)
    dialog.get_by_label("What it is about").fill("Tobias Crane")
    expect(dialog.locator("option[value='Tobias Crane']")).to_have_count(1)
    dialog.get_by_label("Relation or attribute").fill("born_in")
    dialog.get_by_label("What it leads to").fill("Leeds")
    page.keyboard.press("Enter")
    expect(page.locator("#done")).to_contain_text("Tobias Crane born_in Leeds")
