"""The reader of the page code.md, added to the list as the page says, and asked through every door."""

import importlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from command_line import Run
from doc_pages import blocks, page
from explorer_steps import WAIT
from mcp_talk import talk
from playwright.sync_api import Page, expect

from kgplatform.client import KnowledgeGraph
from kgplatform.interfaces.mcp.app import make_server
from kgplatform.readers.readers import READERS

pytest_plugins = ["explorer_page", "command_line"]

QUESTION = "Whom did Cyrus Field ask about the floor of the Atlantic?"


@pytest.fixture(scope="module", autouse=True)
def bestfact(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One folder, one line."""
    source = next(block for block in blocks(page("code.md"), "python") if "READER" in block)
    folder = tmp_path_factory.mktemp("readers")
    (folder / "bestfact").mkdir()
    (folder / "bestfact" / "reader.py").write_text(source, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        made = importlib.import_module("bestfact.reader")
    READERS.append(made.READER)
    yield
    READERS.remove(made.READER)


def test_the_command_line(sample: KnowledgeGraph, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    done = run("ask", QUESTION, "--reader", "bestfact", "--top-k", "2", "--option", "places=1", "--json")
    answer = done.document
    assert (answer["reader"], len(answer["citations"]), len(answer["evidence"]["facts"])) == ("bestfact", 1, 2)
    done = run("ask", QUESTION, "--reader", "bestfact", "--option", "places=11")
    assert (done.code, done.err) == (2, "kgplatform: places must be at most 10.\n")
    told = " ".join(run("ask", "--reader", "bestfact", "--help").out.split())
    assert "places: the most places that are cited (1 to 10); by default 3." in told
    assert "bestfact: mode, top_k, places" in " ".join(run("ask", "--help").out.split())


def test_http(client: httpx.Client) -> None:
    about = client.get("/api/about").json()["readers"][-1]
    assert (about["name"], about["about"]) == ("bestfact", "The nearest fact, without a model.")
    assert about["needs_model"] is False
    options = {each["name"]: each for each in about["options"]}
    assert [*options] == ["mode", "top_k", "places"]
    told = {"type": "integer", "default": 3, "least": 1, "most": 10, "help": "the most places that are cited"}
    assert options["places"].items() >= told.items()
    body = {"question": QUESTION, "reader": "bestfact", "options": {"places": 1, "top_k": None}}
    told = client.post("/api/ask", json=body).json()
    assert (told["reader"], len(told["citations"])) == ("bestfact", 1)
    assert told["text"] == told["evidence"]["facts"][0]["text"]


def test_mcp(sample: KnowledgeGraph) -> None:
    async def work(client: Any) -> tuple[Any, ...]:
        (tool,) = [each for each in (await client.list_tools()).tools if each.name == "ask"]
        asked = {"question": QUESTION, "reader": "bestfact"}
        told = await client.call_tool("ask", {**asked, "options": {"places": 1}})
        return tool, told

    tool, told = talk(make_server(sample), work)
    reader, options = (tool.input_schema["properties"][name] for name in ("reader", "options"))
    assert "bestfact" in reader["enum"]
    assert "bestfact: The nearest fact, without a model." in reader["description"]
    assert "bestfact: mode, top_k, places." in options["description"]
    assert len(told.structured_content["citations"]) == 1


@pytest.mark.chromium
def test_the_explorer(page: Page, explorer: str) -> None:
    page.goto(explorer)
    page.get_by_label("Reader", exact=True).select_option("bestfact")
    page.locator("summary", has_text="Options").click()
    places = page.get_by_label("Places")
    expect(places).to_have_value("3")
    expect(places).to_have_accessible_description("the most places that are cited (1 to 10)")
    places.fill("1")
    page.get_by_label("Question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.get_by_role("article", name="Answer")).to_be_visible(timeout=WAIT)
    expect(page.locator("#announcer")).to_contain_text("The answer is there, with 1 citation:")
