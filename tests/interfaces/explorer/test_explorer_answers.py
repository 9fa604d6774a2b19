"""Answers in the explorer: written as they come, as Markdown that runs nothing, and asked on."""

from __future__ import annotations

import json
import re

import pytest
from explorer_steps import CLOSING, answer_with, answering, ask, put
from model_by_prompt import Prompt
from playwright.sync_api import Page, expect
from simulated_readers import reply

from kgplatform.client import KnowledgeGraph
from kgplatform.prompt import Messages
from kgplatform.testing import Fault

pytest_plugins = ["explorer_page"]

CAPTAIN = "Who was the captain of the Great Eastern?"
DRAWN = """async ([text, cited]) => {
    const { markdown } = await import("/static/shared/markdown.js");
    const place = document.createElement("div");
    const mark = (n) => Object.assign(document.createElement("b"), { textContent: n });
    place.append(...markdown(text, (n) => (n <= cited ? mark(n) : null)));
    return place.innerHTML;
}"""
TIMED = """async (text) => {
    const { markdown } = await import("/static/shared/markdown.js");
    const started = performance.now();
    markdown(text);
    return performance.now() - started;
}"""
LINK = '<a href="https://a.example/b" title="https://a.example/b" target="_blank" rel="noopener noreferrer">a</a>'
TABLE = (
    '<div class="table-box"><table><thead><tr><th>Ship</th><th>Year</th></tr></thead>'
    "<tbody><tr><td>Agamemnon</td><td>1858 <b>1</b></td></tr></tbody></table></div>"
)


MARKDOWN = (
    ("One [1].\nTwo [3].\n\nThree.", "<p>One <b>1</b>.\nTwo [3].</p><p>Three.</p>"),
    ("# A\n### B *c*\nd", "<h3>A</h3><h5>B <em>c</em></h5><p>d</p>"),
    (
        "**a *b* c** __d__ _e_ 2*3*4 snake_case_name",
        "<p><strong>a <em>b</em> c</strong> <strong>d</strong> <em>e</em> 2*3*4 snake_case_name</p>",
    ),  # fmt: skip
    ("- a\n- b\n  - c [1]\n\n- d", "<ul><li>a</li><li>b<ul><li>c <b>1</b></li></ul></li><li>d</li></ul>"),
    ("3. a\n4. b\n\nc", '<ol start="3"><li>a</li><li>b</li></ol><p>c</p>'),
    ("> a\n> - b\n\nc", "<blockquote><p>a</p><ul><li>b</li></ul></blockquote><p>c</p>"),
    (
        "```cypher\nRETURN '<b>' [1]\n```\n`x < y`",
        "<pre><code>RETURN '&lt;b&gt;' [1]</code></pre><p><code>x &lt; y</code></p>",
    ),  # fmt: skip
    ("| Ship | Year |\n|---|:-:|\n| Agamemnon | 1858 [1] |", TABLE),
    ("[a](https://a.example/b)", f"<p>{LINK}</p>"),
    ("**not ended\n```\nneither", "<p>**not ended</p><pre><code>neither</code></pre>"),
    ("", ""),
)


def test_markdown_of_any_kind_and_length(page: Page, explorer: str) -> None:
    page.goto(explorer)
    for text, drawn in MARKDOWN:
        assert page.evaluate(DRAWN, [text, 1]) == drawn
    for piece in ("*", "_a", "`", "[", "> ", "- ", "|-", "**a ", "[a](", "\\"):
        assert page.evaluate(TIMED, piece * 10_000) < 4000, piece


TABLE_PARTS = ("table", "thead", "tbody", "tr", "th", "td")
HOSTILE = [
    "<script>window.ran = 1</script>",
    '<img src=x onerror="window.ran = 1">',
    "[a](javascript:window.ran=1)",
    "[a](&#106;avascript:window.ran=1)",
    "[a](java\tscript:window.ran=1)",
    "[a](\x01javascript:window.ran=1)",
    "[a](data:text/html,<script>window.ran=1</script>)",
    "[a](file:///etc/passwd)",
    "[a](//evil.example/x)",
    "![a](https://evil.example/track.png)",
    '[a](https://a.example/"onmouseover="window.ran=1)',
    "[<img src=x onerror=window.ran=1>](https://a.example/)",
    "`<script>window.ran = 1</script>`",
    "```html\n<script>window.ran = 1</script>\n```",
    "| <img src=x onerror=window.ran=1> | b |\n|---|---|\n| [x](javascript:window.ran=1) | ok |",
    "> <iframe srcdoc='<script>parent.ran=1</script>'></iframe>",
    "# <style>* { display: none }</style>",
    "<a href=javascript:window.ran=1>x</a> <https://a.example/> <javascript:window.ran=1>",
    "[a]: javascript:window.ran=1\n\n[a]",
]


def test_hostile_markdown_runs_nothing(page: Page, explorer: str) -> None:
    text = "\n\n".join(HOSTILE)
    answer_with(page, {"text": text, "note": text, "citations": []}, ("text", {"start": 0, "text": text}))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.goto(explorer)
    ask(page, "Who?")
    drawn = page.locator(".answer-text")
    for link in drawn.locator("a").all():
        assert re.match(r"https://a\.example/", link.get_attribute("href") or "")
        assert link.get_attribute("rel") == "noopener noreferrer"
    assert drawn.locator("a").count() == 2
    names = drawn.locator("*").evaluate_all("all => [...new Set(all.map((each) => each.localName))].sort()")
    assert {*names} <= {"p", "h3", "code", "pre", "blockquote", "a", "div", *TABLE_PARTS}
    attributes = drawn.locator("*").evaluate_all("all => [...new Set(all.flatMap((each) => each.getAttributeNames()))]")
    assert set(attributes) <= {"class", "href", "title", "target", "rel"}
    expect(drawn).to_contain_text("<script>window.ran = 1</script>")
    assert page.evaluate("window.ran") is None
    assert not [url for url in asked if "evil" in url or "track" in url]


def test_an_answer_appears_while_it_is_written(page: Page, sample: KnowledgeGraph, allowed_errors: list[str]) -> None:
    allowed_errors += CLOSING
    said = "## The captain\n\nIt was **James Anderson** 😀 [1], says the report. [2]"
    cited = [{"passage": 1, "quote": "no such words"}]
    written = json.dumps({"sufficient": True, "answer": said, "citations": cited})
    with answering(sample, lambda messages: written, faults=lambda request: Fault.slowly(0.4)) as address:
        page.goto(address)
        page.get_by_label("Reader", exact=True).select_option("retrieve")
        put(page, CAPTAIN)
        waiting = page.locator(".waiting .answer-text")
        expect(waiting.get_by_role("heading", name="The captain")).to_be_visible()
        expect(page.get_by_text("A draft:")).to_be_visible()
        expect(waiting.locator("strong")).to_have_text("James Anderson")
        answer = page.get_by_role("article", name="Answer")
        answer.wait_for()
        expect(waiting).to_have_count(0)
        expect(answer).not_to_contain_text("[2]")


def _marked(messages: Messages) -> str:
    """A statement with a name and a year that the cited sentence does not have, and one that is right."""
    prompt = Prompt(messages)
    if prompt.name == "readers/verify":
        return json.dumps({"supported": [False, True]})
    if prompt.name != "readers/answer":
        return reply(messages)
    at = prompt.number_of("James Anderson, a captain")
    said = f"James Anderson of Kingston was her captain in 1847 [{at}]. He was a captain of the Cunard line [{at}]."
    return json.dumps({"evidence": [at], "answer": said, "sufficient": True})


def test_what_is_marked_in_an_answer_and_the_cited_sentence(
    page: Page, sample: KnowledgeGraph, allowed_errors: list[str]
) -> None:
    allowed_errors += CLOSING
    marks = [
        "not in the cited text: Kingston, 1847",
        "the model finds this not supported by its citation",
        "the model finds this supported by its citation",
    ]
    with answering(sample, _marked) as address:
        page.goto(address)
        page.locator("summary", has_text="Options").click()
        page.get_by_label("Have the model verify").check()
        page.get_by_label("Keep the answer in the graph").check()
        page.locator("summary", has_text="Options").click()
        ask(page, CAPTAIN)
        answer = page.get_by_role("article", name="Answer")
        assert sorted(answer.locator(".mark").all_inner_texts()) == sorted(marks)
        assert "James Anderson, a captain" in answer.locator(".citations").inner_text()
        answer.get_by_role("button", name="Citation 1:").first.hover()
        sentence = page.locator(".peek mark")
        expect(sentence).to_contain_text("James Anderson")
        around = page.locator(".peek p").inner_text()
        assert len(around) > len(sentence.inner_text()) + 20, "the sentence stands in its passage"
        page.get_by_role("link", name="saved run").click()
        expect(page.get_by_role("heading", name=CAPTAIN, level=1)).to_be_visible()
        assert sorted(answer.locator(".mark").all_inner_texts()) == sorted(marks), "a kept answer shows the same"
        answer.get_by_role("button", name="Citation 1:").first.click()
        expect(page.locator("mark")).to_contain_text("James Anderson")


def test_an_answer_that_cites_nothing(page: Page, sample: KnowledgeGraph, allowed_errors: list[str]) -> None:
    allowed_errors += CLOSING
    said: dict[str, object] = {"answer": "It was James Anderson.", "sufficient": True}
    with answering(sample, lambda messages: json.dumps(said)) as address:
        page.goto(address)
        ask(page, CAPTAIN)
        expect(page.locator(".answer .status")).to_have_text("Not cited")
        said |= {"answer": "", "sufficient": False}
        page.get_by_role("button", name="New conversation").click()
        ask(page, "Who was the owner of the Great Eastern?")
        expect(page.locator(".answer .status")).to_have_text("No answer found")


def test_a_conversation(page: Page, explorer: str, sample: KnowledgeGraph) -> None:
    page.goto(explorer)
    ask(page, CAPTAIN)
    question = page.get_by_role("textbox", name="Question")
    expect(question).to_have_value("")
    put(page, "Which cable did he lay?")
    answers = page.get_by_role("article", name="Answer")
    expect(answers).to_have_count(2)
    expect(answers.last).to_contain_text("Asked as: Which cable did James Anderson lay?")
    expect(page.locator(".turn").last.locator(".step-name").first).to_have_text("stand alone")
    assert sample.look.threads() == (), "only the browser remembers it"
    answers.first.get_by_role("button", name="Citation 1:").click()
    expect(page.locator("mark")).to_be_visible()
    page.keyboard.press("Escape")
    page.reload()
    expect(answers).to_have_count(2)
    expect(page.locator(".graph-title")).to_have_text("Quick answer: what it looked at")
    page.get_by_role("button", name="New conversation").click()
    earlier = page.get_by_role("region", name="Earlier conversations")
    expect(earlier).to_contain_text("2 questions")
    earlier.get_by_role("link", name=CAPTAIN).click()
    expect(answers).to_have_count(2)
    page.get_by_role("button", name="New conversation").click()
    earlier.get_by_role("button", name="Forget").click()
    expect(earlier).to_have_count(0)


def test_a_conversation_that_the_graph_keeps(page: Page, explorer: str, sample: KnowledgeGraph) -> None:
    thread = sample.chat()
    thread.ask(CAPTAIN)
    page.goto(f"{explorer}/#/runs")
    page.get_by_role("link", name=re.compile(f"^{re.escape(CAPTAIN)} ?1 question")).click()
    expect(page.get_by_text("This conversation is kept in the graph.")).to_be_visible()
    put(page, "Which cable did he lay?")
    answers = page.get_by_role("article", name="Answer")
    expect(answers).to_have_count(2)
    expect(answers.last).to_contain_text("Asked as: Which cable did James Anderson lay?")
    assert [turn.asked for turn in thread.turns] == [CAPTAIN, "Which cable did he lay?"]
    sample.remove_thread(thread.id)
