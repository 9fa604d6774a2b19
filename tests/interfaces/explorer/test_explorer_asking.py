"""Ask, follow a citation, replay the steps, talk on: the whole way, in real Chromium; Markdown that runs nothing."""

import json
import re
from urllib.parse import unquote

import pytest
from explorer_steps import CLOSING, NOTHING, USAGE, answer_with, answering, ask, put, search
from model_by_prompt import Prompt
from playwright.sync_api import Page, expect
from simulated_readers import reply

from kgplatform.client import KnowledgeGraph
from kgplatform.prompt import Messages
from kgplatform.testing import Fault

pytest_plugins = ["explorer_page"]

CAPTAIN = "Who was the captain of the Great Eastern?"


def test_an_answer_leads_to_the_words_that_support_it_and_the_graph_stands_beside_them(
    page: Page, explorer: str
) -> None:
    page.goto(explorer)
    ask(page, CAPTAIN)
    answer, mark = page.get_by_role("article", name="Answer"), page.locator("mark")
    citation = answer.get_by_role("button", name="Citation 1:")
    expect(answer).to_contain_text("James Anderson")
    expect(page.locator("#announcer")).to_contain_text("The answer is there, with 1 citation")
    citation.click()
    expect(mark).to_have_text(re.compile(r"James Anderson,\s+a\s+captain"))
    expect(mark).to_be_in_viewport()
    expect(mark).to_be_focused()
    assert "doc=" in page.url and "at=" in page.url
    page.go_back()
    expect(mark).to_be_hidden()
    expect(citation).to_be_focused()
    citation.click()
    expect(mark).to_be_visible()
    page.get_by_role("button", name="Graph", exact=True).click()
    expect(mark).to_be_hidden()
    citation.click()
    expect(mark).to_be_focused()
    for name in ("Width of the view", "Width of the graph"):
        border = page.get_by_role("separator", name=name)
        before, was = border.get_attribute("aria-valuenow"), (border.bounding_box() or {})["x"]
        border.focus()
        page.keyboard.press("ArrowLeft")
        expect(border).to_have_attribute("aria-valuenow", str(int(before or 0) - 2))
        assert (border.bounding_box() or {})["x"] < was
    page.reload()
    expect(page.get_by_role("separator", name="Width of the view")).to_have_attribute("aria-valuenow", "40")
    expect(mark).to_be_visible()
    expect(page.locator(".canvas")).to_be_visible()
    expect(page.get_by_role("button", name="Both")).to_have_attribute("aria-pressed", "true")


def test_a_link_to_a_place_in_a_document(page: Page, explorer: str, sample: KnowledgeGraph) -> None:
    """Offsets count characters, as Python does: a document with letters outside of the basic plane tells."""
    info = next(each for each in sample.documents() if each.title == "Gutta-percha, the coat of the cables")
    text = sample.look.document(info.id).text
    start = text.index("Faraday")
    page.goto(f"{explorer}/#/documents?doc={info.id}&at={start}-{start + 7}")
    expect(page.locator("mark")).to_have_text("Faraday")
    expect(page.locator("mark")).to_be_in_viewport()
    page.get_by_role("button", name="Close the document").click()
    expect(page.locator(".graph-title")).to_contain_text("entities")


def test_an_earlier_conversation_comes_back(page: Page, explorer: str) -> None:
    page.goto(f"{explorer}/#/ask?q=Who+led+it%3F&reader=youtu")
    expect(page.get_by_role("textbox", name="Question")).to_have_value("Who led it?")
    expect(page.get_by_label("Reader", exact=True)).to_have_value("youtu")
    expect(page.get_by_text("Ready to ask")).to_be_visible()  # a link holds a question and does not ask it
    ask(page, CAPTAIN)
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_role("textbox", name="Question")).to_be_focused()
    ask(page, "Who was Cyrus Field?")
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("Cyrus Field")
    page.go_back()
    page.go_back()
    expect(answer).to_contain_text("James Anderson")
    page.get_by_role("link", name="Schema").click()
    expect(page.get_by_role("heading", name="Entity types")).to_be_visible()
    page.get_by_role("link", name="Ask", exact=True).click()
    expect(answer).to_contain_text("James Anderson")
    assert "talk=" in page.url


def test_leaving_a_question_that_is_not_answered_yet(page: Page, explorer: str) -> None:
    """The page is so busy that the way back overtakes what the browser has to tell of the way there."""
    page.goto(explorer)
    ask(page, CAPTAIN)
    page.get_by_role("button", name="New conversation").click()
    page.route("**/api/ask", lambda route: None)
    page.get_by_role("textbox", name="Question").fill("Who was Cyrus Field?")
    page.evaluate("""() => {
        document.querySelector("form.ask-form").requestSubmit();
        history.go(-2);
        for (const until = performance.now() + 500; performance.now() < until;);
    }""")
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("James Anderson")
    page.evaluate("new Promise((done) => setTimeout(done))")  # the end of the other one has been told by now
    expect(page.get_by_text("Stopped.")).to_have_count(0)
    page.go_forward()
    page.go_forward()
    expect(page.get_by_text("Stopped.")).to_be_visible()
    expect(page.get_by_role("button", name="Ask again")).to_be_visible()


MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>[1] [link](javascript:alert(3))"


def test_markup_that_a_model_writes_stays_text(page: Page, explorer: str, allowed_errors: list[str]) -> None:
    allowed_errors.append("status of 404")  # no document has this id
    step = {"name": MARKUP, "detail": MARKUP, "reply": MARKUP, "prompt": MARKUP, "usage": USAGE, "seconds": 0.1}
    step |= {"path": 1, "statements": [{"number": 1, "name": MARKUP, "rows": 1, "seconds": 0.1, "text": MARKUP}]}
    place = {"document": MARKUP, "title": MARKUP, "start": 0, "end": 1, "page": None, "passage": "c", "found": True}
    passage = {"id": "c", "document": MARKUP, "title": MARKUP, "start": 0, "end": 9, "page": None, "text": MARKUP}
    evidence = NOTHING | {"passages": [passage | {"routes": [MARKUP], "copies": [place]}]}
    answer = {"reader": MARKUP, "text": MARKUP, "note": MARKUP, "seconds": 1, "run": MARKUP}
    answer |= {"citations": [place], "trace": [step], "evidence": evidence}
    answer_with(page, answer, ("step", {"number": 1, "step": step}))
    opened: list[str] = []
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    page.goto(explorer)
    ask(page, MARKUP)
    page.locator(".step-head").click()
    expect(page.locator(".step-body")).to_contain_text(MARKUP)
    expect(page.locator(".answer-text")).to_contain_text("<img src=x onerror=alert(1)><script>alert(2)</script>")
    page.locator(".passage .place").first.focus()
    assert page.locator("#panel img, #panel script, #panel a[href^=javascript]").count() == 0
    assert opened == []


def test_the_walk_is_replayed_on_the_graph(lone_page: Page, explorer: str) -> None:
    page = lone_page
    page.clock.install()
    page.goto(explorer)
    ask(page, "Which ship laid the cable of 1866?", "graphreader")
    steps = page.locator(".step")
    expect(page.get_by_role("group", name="Replay")).to_be_visible()
    assert steps.count() > 5
    page.get_by_role("button", name="Next step").click()
    expect(steps.nth(0)).to_have_attribute("aria-current", "step")
    page.get_by_label("Speed of the replay").select_option("4")
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)  # else the replay may end before it is paused
    page.get_by_role("button", name="Replay on the graph").click()
    expect(steps.nth(1)).to_have_attribute("aria-current", "step")
    page.clock.run_for(350)
    expect(steps.nth(2)).to_have_attribute("aria-current", "step")
    page.get_by_role("button", name="Pause").click()
    page.clock.resume()
    expect(page.locator(".step[aria-current]")).to_have_count(1)
    page.get_by_role("slider", name="Step shown on the graph").fill("5")
    expect(steps.nth(4)).to_have_attribute("aria-current", "step")
    expect(page.get_by_text("5 / ")).to_be_visible()
    expect(page.get_by_role("group", name=re.compile("Types in the picture"))).to_contain_text("Person")


def test_an_answer_and_its_statements_are_copied_whole(page: Page, explorer: str) -> None:
    page.goto(explorer)
    ask(page, CAPTAIN)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer = page.get_by_role("article", name="Answer")
    answer.get_by_role("button", name="Copy").click()
    expect(answer.get_by_role("button", name="Copied")).to_be_visible()
    text, _, sources = page.evaluate("navigator.clipboard.readText()").partition("\n\n[1] ")
    assert "[1]" in text and "file:///" in sources
    page.locator(".step-head").first.click()
    statement = page.locator(".statements > li").filter(has=page.get_by_text("search/triple", exact=True))
    cypher = statement.locator(".cypher")
    expect(cypher).to_contain_text("db.index.vector.queryNodes('fact_embedding', $k + 100, $vector)")
    expect(cypher).to_contain_text("characters, all copied")
    assert all("\n" not in text for text in cypher.locator(".cy-text").all_inner_texts()), (
        "a vector that is cut colours no more"
    )
    assert "RETURN" in cypher.locator(".cy-word").all_inner_texts()
    statement.get_by_role("button", name="Copy").click()
    expect(statement.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(":param vector => [") and copied.rstrip().endswith(";")
    assert "…" not in copied, "what is copied is whole"
    link = page.locator(".statements > li").filter(has=page.get_by_text("search/entity", exact=True))
    address = unquote(link.get_by_role("link", name="Neo4j Browser").get_attribute("href") or "")
    assert "WHERE e.key IN ['" in address and ":param" not in address, "one statement, its values in it, is drawn"


OF_NEO4J_BROWSER = ["Failed to load resource", "net::ERR", "Manifest", "Refused to", "Content Security Policy"]


def test_no_character_breaks_the_link_to_neo4j_browser(
    page: Page, explorer: str, sample: KnowledgeGraph, allowed_errors: list[str]
) -> None:
    statement = "MATCH (n:Entity&!Fact) RETURN n.name, 'a & b # c %26 + d' AS text /* ?arg=x */"
    allowed_errors += OF_NEO4J_BROWSER
    page.goto(f"{explorer}/#/cypher")
    page.get_by_label("Statement").fill(statement)
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Neo4j Browser").click()
    editor = opened.value.locator(".view-lines").first
    expect(editor).to_contain_text("RETURN", timeout=60_000)
    written = (editor.text_content() or "").replace("\u00a0", " ")
    told = written.replace("\\u0026", "&").replace("\\u0023", "#")
    assert told == statement
    assert sample.cypher(written).rows == sample.cypher(statement).rows, "Cypher reads the escapes as the characters"


def test_search_alone_shows_best_sentences_and_folds_away_what_is_off_the_question(
    page: Page, explorer: str, sample: KnowledgeGraph, allowed_errors: list[str]
) -> None:
    question = "Who designed the Great Eastern?"
    found = sample.search(question)
    quote = found.passages[0].sentence
    assert quote is not None
    page.goto(explorer)
    page.get_by_label("Reader", exact=True).select_option(label="Search only, no answer")
    search(page, question, "all")
    evidence = page.get_by_role("region", name="Evidence")
    expect(evidence.locator("li.passage p").first).to_have_text(quote.text)
    relevant = [fact for fact in found.facts if fact.relevant]
    assert 0 < len(relevant) < len(found.facts)
    hidden = evidence.locator("details", has_text="less relevant fact")
    expect(hidden.locator("summary")).to_contain_text(str(len(found.facts) - len(relevant)))
    expect(hidden.locator("li").first).to_be_hidden()
    evidence.locator("li.passage button").first.click()
    expect(page.locator("mark")).to_contain_text(quote.text[:20])
    page.locator("summary", has_text="Only documents with").click()
    page.get_by_label("Metadata").select_option("subject")
    page.get_by_label("Value").select_option("people (1)")
    expect(page.locator("summary", has_text="Only documents with subject people")).to_be_visible()
    search(page, CAPTAIN, "all")
    expect(evidence).to_have_count(2)
    kept = evidence.last.locator("li.passage > button.place")
    expect(kept.first).to_be_visible()
    assert all(each.startswith("Cyrus Field, ") for each in kept.all_text_contents())
    allowed_errors.append("status of 400")
    page.get_by_label("And that fit").fill("subject = people or or")
    search(page, CAPTAIN, "all")
    expect(page.get_by_text("The condition cannot be read at or (character ")).to_be_visible()


def test_options_of_a_reader(page: Page, explorer: str) -> None:
    page.goto(explorer)
    page.get_by_label("Reader", exact=True).select_option("graphreader")
    page.locator("summary", has_text="Options").click()
    page.get_by_role("spinbutton", name="nodes", exact=True).fill("1")
    page.get_by_label("Keep the answer in the graph").check()
    put(page, "Who was Cyrus Field?")
    page.get_by_role("article", name="Answer").wait_for()
    assert page.get_by_text("path 1").count() > 0
    assert page.get_by_text("path 2").count() == 0, "one node is one path"
    page.get_by_role("link", name="saved run").click()
    expect(page.get_by_role("heading", name="Who was Cyrus Field?")).to_be_visible()
    page.get_by_role("button", name="Next step").click()
    expect(page.locator(".step").first).to_have_attribute("aria-current", "step")
    expect(page.get_by_role("button", name=re.compile("^Citation 1"))).to_be_visible()
    page.get_by_role("link", name="All runs").click()
    expect(page.get_by_role("link", name=re.compile("Who was Cyrus Field")).first).to_be_visible()


def test_two_readers_side_by_side(page: Page, explorer: str) -> None:
    page.goto(f"{explorer}/#/compare")
    page.get_by_role("combobox", name="Second reader").select_option("youtu")
    put(page, CAPTAIN)
    expect(page.get_by_role("article", name="Answer")).to_have_count(2)
    expect(page.get_by_role("row", name=re.compile("Tokens"))).to_be_visible()
    expect(page.get_by_role("columnheader", name="Deep (Youtu-GraphRAG)")).to_be_visible()
    shared = page.locator(".shared")
    expect(shared).to_contain_text("found by both")
    assert re.match(r"[1-9]\d* passages? found by both", shared.inner_text())
    page.get_by_role("region", name="First reader").get_by_role("button", name="Citation 1:").click()
    expect(page.locator("mark")).to_be_in_viewport()


def test_stopping_a_reader(page: Page, sample: KnowledgeGraph, allowed_errors: list[str]) -> None:
    """Its model never answers, so that it cannot end before it is stopped."""
    allowed_errors += CLOSING
    with answering(sample, reply, faults=lambda request: Fault.hang()) as address:
        page.goto(address)
        page.get_by_label("Reader", exact=True).select_option("longagent")
        put(page, "Which of the companies was the first to fail, and why?")
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_text("Stopped.")).to_be_visible()
        expect(page.get_by_role("button", name="Ask again")).to_be_visible()


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
    with answering(sample, lambda messages: written, faults=lambda request: Fault.slowly(0.2)) as address:
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
    expect(page.get_by_role("article", name="Answer")).to_have_count(2)
    assert [turn.asked for turn in thread.turns] == [CAPTAIN, "Which cable did he lay?"]
    sample.remove_thread(thread.id)
