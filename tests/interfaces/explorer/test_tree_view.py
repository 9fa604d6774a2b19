"""The tree's picture, in a real Chromium: how it unfolds, and how keys walk through it."""

from typing import Any

import pytest
from drawings import ODD_NAMES
from playwright.sync_api import Locator, Page, expect

pytest_plugins = ["explorer_page", "drawing_page"]

_PLANT = """async (below) => {
  const { TreeView } = await import("/tree/tree-view.js");
  window.asked = [];
  window.told = [];
  window.failing = new Set();
  const load = async (id, skip, limit) => {
    asked.push(id);
    if (failing.has(id)) throw new Error("The server is gone.");
    return (below[id ?? ""] ?? []).slice(skip, skip + limit);
  };
  window.tree = new TreeView(document.getElementById("box"), { load, onSelect: (node) => told.push(node.id) });
}"""


def leaf(name: str, children: int = 0, **other: Any) -> dict[str, Any]:
    """A TreeNode, as the server gives it. Its id is its name."""
    given = {"id": name, "name": name, "summary": "", "kind": "Community", "size": 9, "depth": 0, "score": None}
    return given | {"children": children} | other


def plant(page: Page, below: dict[str, list[dict[str, Any]]]) -> None:
    page.evaluate(_PLANT, below)
    page.locator("[role=treeitem]").first.wait_for()


def small_tree() -> dict[str, list[dict[str, Any]]]:
    return {
        "": [leaf("Engines", 3), leaf("Poets"), leaf("Places", 1)],
        "Engines": [leaf("Steam", 1), leaf("Ada", 1, kind="Entity", summary="Person"), leaf("Pumps", kind="Keyword")],
        "Steam": [leaf("Watt", kind="Entity", summary="Person")],
        "Ada": [leaf("born", kind="Attribute", summary="1815", size=0)],
        "Places": [leaf("London", kind="Entity", summary="Place")],
    }


def item(page: Page, name: str) -> Locator:
    return page.locator(f'[role=treeitem][data-id="{name}"]')


def press(page: Page, name: str) -> None:
    item(page, name).locator("text").first.click()


def names(page: Page) -> list[str]:
    """What is seen, from top to bottom as a screen reader comes to it."""
    found: list[str] = page.locator("[role=treeitem]").evaluate_all("items => items.map((item) => item.dataset.id)")
    return found


def focused(page: Page) -> str:
    found: str = page.evaluate("document.activeElement.dataset.id ?? ''")
    return found


def test_it_begins_with_the_outermost_loads_what_is_opened_and_says_what_it_is(box: Page) -> None:
    plant(box, small_tree())
    assert names(box) == ["Engines", "Poets", "Places"]
    assert box.evaluate("asked") == [None]
    press(box, "Engines")
    steam = item(box, "Steam")
    expect(steam).to_be_visible()
    assert names(box) == ["Engines", "Steam", "Ada", "Pumps", "Poets", "Places"]
    assert (box.evaluate("asked"), box.evaluate("told")) == ([None, "Engines"], ["Engines"])
    for name, value in (("level", "2"), ("posinset", "1"), ("setsize", "3"), ("expanded", "false")):
        assert steam.get_attribute(f"aria-{name}") == value
    assert item(box, "Engines").get_attribute("aria-expanded") == "true"
    assert item(box, "Pumps").get_attribute("aria-expanded") is None
    assert steam.locator("xpath=..").get_attribute("role") == "group"
    assert steam.locator("xpath=../..").get_attribute("data-id") == "Engines"
    assert item(box, "Ada").get_attribute("aria-label") == "Ada, entity, 9 facts"
    expect(box.get_by_role("tree")).to_have_count(1)
    assert box.locator("[role=treeitem][tabindex='0']").count() == 1
    press(box, "Engines")
    expect(steam).to_have_count(0)
    press(box, "Engines")
    expect(steam).to_be_visible()
    assert box.evaluate("asked") == [None, "Engines"], "what was loaded once is kept"
    box.evaluate("tree.refresh()")
    expect(steam).to_have_count(0)
    assert box.evaluate("asked") == [None, "Engines", None], "all is folded, and asked for anew"


def test_keys_walk_through_it_and_letters_find_names(box: Page) -> None:
    plant(box, small_tree())
    item(box, "Engines").focus()
    walked = []
    for way in ("Right", "Right", "Down", "Right", "Right", "Left", "Left", "Left"):
        key = f"Arrow{way}"
        before = box.locator("[role=treeitem]").count()
        opens = item(box, focused(box)).get_attribute("aria-expanded") == ("false" if key == "ArrowRight" else "true")
        box.keyboard.press(key)
        if opens and key in ("ArrowRight", "ArrowLeft"):
            expect(box.locator("[role=treeitem]")).not_to_have_count(before)
        walked.append(focused(box))
    assert walked == ["Engines", "Steam", "Ada", "Ada", "born", "Ada", "Ada", "Engines"]
    for key, there in (("End", "Places"), ("ArrowDown", "Places"), ("ArrowUp", "Poets"), ("Home", "Engines")):
        box.keyboard.press(key)
        assert focused(box) == there
    box.keyboard.press("Enter")
    assert box.evaluate("told") == ["Engines"]
    assert item(box, "Engines").get_attribute("aria-selected") == "true"
    light = item(box, "Places").locator("text").first.get_attribute("fill")
    box.evaluate("tree.setTheme('dark')")
    assert focused(box) == "Engines", "the keyboard stays when the theme changes"
    assert item(box, "Places").locator("text").first.get_attribute("fill") != light
    typed = """keys => keys.forEach((key) =>
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })))"""
    for keys, there in (("pl", "Places"), ("x", "Engines")):
        box.keyboard.press("Home")
        box.evaluate("tree.typed.at = -Infinity")
        box.evaluate(typed, list(keys))
        assert focused(box) == there
    box.keyboard.press("*")
    expect(item(box, "London")).to_be_visible()


def test_many_children_come_in_pages(box: Page) -> None:
    below = {"": [leaf("All", 250)], "All": [leaf(f"Member {at}", kind="Entity") for at in range(250)]}
    plant(box, below)
    item(box, "All").focus()
    box.keyboard.press("ArrowRight")
    offer = box.locator("[role=treeitem]").filter(has_text="Show 100 more of 150")
    expect(offer).to_have_count(2)  # itself, and the one that it is in
    assert box.locator("[role=treeitem]").count() == 102
    box.keyboard.press("End")
    box.keyboard.press("Enter")
    expect(box.locator("[role=treeitem]")).to_have_count(202)
    assert focused(box) == "Member 100", "the first of the new ones"
    box.keyboard.press("End")
    assert box.evaluate("document.activeElement.getAttribute('aria-label')") == "Show 50 more of 50"
    box.keyboard.press("Enter")
    expect(box.locator("[role=treeitem]")).to_have_count(251)
    assert box.evaluate("asked") == [None, "All", "All", "All"], "each page when it is wanted"
    assert box.evaluate("tree.refresh().then(() => tree.reveal(['All', 'Member 249']))")
    expect(item(box, "Member 249")).to_be_focused()
    assert box.evaluate("told.at(-1)") == "Member 249"
    assert not box.evaluate("tree.reveal(['All', 'nobody'])")


def test_what_cannot_be_loaded_is_tried_again(box: Page) -> None:
    plant(box, small_tree())
    box.evaluate("failing.add('Engines')")
    item(box, "Engines").focus()
    box.keyboard.press("ArrowRight")
    line = box.get_by_text("Not loaded. Try again")
    expect(line).to_be_visible()
    expect(box.get_by_text("The server is gone.")).to_have_count(1)
    box.evaluate("failing.clear()")
    line.click()
    expect(item(box, "Steam")).to_be_visible()
    assert focused(box) == "Steam"


def test_it_is_panned_and_zoomed(box: Page) -> None:
    plant(box, {"": [leaf(f"Community {at}") for at in range(60)]})
    first = item(box, "Community 0").locator("text").first
    start = first.bounding_box()
    box.mouse.move(600, 300)
    box.mouse.wheel(0, 120)
    box.wait_for_function(
        "([y]) => document.querySelector('[role=treeitem] text').getBoundingClientRect().y < y", arg=[start["y"]]
    )
    assert first.bounding_box()["y"] == pytest.approx(start["y"] - 120)
    box.mouse.down()
    box.mouse.move(620, 350, steps=4)
    box.mouse.up()
    box.wait_for_function(
        "([y]) => document.querySelector('[role=treeitem] text').getBoundingClientRect().y > y", arg=[start["y"] - 90]
    )
    assert first.bounding_box()["x"] == pytest.approx(start["x"] + 20)
    assert box.evaluate("told") == []
    item(box, "Community 0").focus()
    box.keyboard.press("+")
    box.wait_for_function("() => document.querySelector('svg > g').getAttribute('transform').endsWith('scale(1.4)')")
    box.keyboard.press("End")
    box.wait_for_function("() => document.activeElement.getBoundingClientRect().bottom <= 612")


def test_odd_names_are_only_names(box: Page) -> None:
    plant(box, {"": [leaf(name, id=f"n{at}", summary=name) for at, name in enumerate(ODD_NAMES)]})
    assert box.locator("#box img, #box script").count() == 0
    assert item(box, "n0").locator("text").first.text_content() == "<img src=xonerror=alert(1)>"
    assert item(box, "n0").locator("title").text_content() == "\n".join([ODD_NAMES[0]] * 2)
    widths = box.locator("[role=treeitem] text").evaluate_all("all => all.map((text) => text.getBBox().width)")
    assert max(widths) < 260
