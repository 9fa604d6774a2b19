"""Traces: what ``ask --trace`` prints can be pasted and gives the same rows; what ``--keep`` writes can be read."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import emptied
from corpora import FIELD, OTHERS, RECORDING, put, put_jsonl
from graph_state import snapshot
from graphreader_runs import walk
from model_by_prompt import Prompt
from youtu_runs import concludes, filled, looks_for, plan, says

from kgplatform.client import KnowledgeGraph
from kgplatform.explore.runs import keep_run
from kgplatform.interfaces.cli.show.answers import show_run
from kgplatform.interfaces.cli.show.reports import show_calls
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, trace
from kgplatform.prompt import Messages
from kgplatform.query import load_query, parameter_line, pasteable
from kgplatform.records import Answer, QueryRun, Step, Usage
from kgplatform.testing import ScriptedChat

pytestmark = pytest.mark.indexes

QUESTION = "Where was the founder of the Atlantic Telegraph Company born?"
HEADING = re.compile(r"// (\d+)\. ([\w/]+): ")
PARAMETER = re.compile(r":param (\w+) => (.+);")
NASTY = 'O\'Hara \\ `x` "y"; // no comment\n/* none */ $k {a: 1} \u2028\x07 [bold]人 😀 :param k => 1;'
AFTERWARDS = {"search/single_facts", "search/single_values", "search/told_of"}
"""What other passages say of an answer is no step to it."""


def model(messages: Messages) -> str:
    """Takes the question apart, asks one new query, and cites the passage that names the place."""
    prompt = Prompt(messages)
    if prompt.kind == "decompose":
        return plan(
            "Who founded the Atlantic Telegraph Company?",
            "Where was #1 born?",
            nodes=["Person", "Place"],
            relations=["founded", "born_in"],
        )
    if prompt.kind == "fill_in":
        return filled("Cyrus Field")
    if prompt.kind == "reflect":
        known = "birthplace of Cyrus Field" in prompt.user
        return concludes("Stockbridge") if known else looks_for("the birthplace of Cyrus Field")
    return says("In Stockbridge", "Cyrus Field was born in Stockbridge")(prompt)


def three_documents(kg: KnowledgeGraph, folder: Path) -> KnowledgeGraph:
    """Bring them into the empty graph."""
    kg.ingest(put(folder / "texts", FIELD | OTHERS), recorded=put_jsonl(folder / "recording.jsonl", RECORDING))
    return kg


@pytest.fixture(scope="module")
def letters(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """Three documents, without a language model. Tests that write come after those that read it, and have their own."""
    folder = tmp_path_factory.mktemp("letters")
    with emptied(neo4j_server, folder / "home") as graph:
        yield three_documents(graph, folder)


@pytest.fixture
def graph(kg: KnowledgeGraph, tmp_path: Path) -> KnowledgeGraph:
    """The same, for a test that writes."""
    return three_documents(kg, tmp_path)


def with_model(graph: KnowledgeGraph, chat: ScriptedChat | None = None) -> KnowledgeGraph:
    """``graph`` with a scripted model."""
    return KnowledgeGraph(graph.store, graph.settings, embedder=HashEmbedder(64), chat=chat or ScriptedChat(model))


def rows_of(kg: KnowledgeGraph, statement: str, parameters: dict[str, Any]) -> list[list[Any]]:
    return kg.cypher(statement, parameters, limit=100_000).rows


def pasted(kg: KnowledgeGraph, text: str) -> list[tuple[int, str, str, list[list[Any]]]]:
    """What comes of pasting ``text`` from top to bottom: number, name, statement and rows of each statement."""
    parameters: dict[str, Any] = {}
    found = []
    for block in re.split(r"\n(?=// \d+\. )", text)[1:]:
        heading, *lines = block.rstrip("\n").split("\n")
        number, name = HEADING.match(heading).groups()  # type: ignore[union-attr]  # a failure is a failed test
        for line in [line for line in lines if line.startswith(":")]:
            key, value = PARAMETER.fullmatch(line).groups()  # type: ignore[union-attr]  # likewise
            parameters[key] = rows_of(kg, f"RETURN {value} AS value", {})[0][0]
        statement = "\n".join(line for line in lines if not line.startswith(":"))
        assert statement.endswith(";")
        statement = statement.removesuffix(";")
        found.append((int(number), name, statement, rows_of(kg, statement, parameters)))
    return found


def count(name: str, rows: list[list[Any]]) -> int:
    """How many rows the statement ``name`` found: some return them as one list of lists."""
    return len(rows[0][0]) if load_query(name).each else len(rows)


@pytest.mark.parametrize("reader", ["retrieve", "youtu"])
def test_every_printed_statement_gives_the_same_rows(
    letters: KnowledgeGraph, reader: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """However narrow the terminal is. Nothing is written of an answer that is not to be kept."""
    monkeypatch.setenv("COLUMNS", "40")
    before = snapshot(letters.store)
    ran: list[QueryRun] = []
    with trace(ran.append):
        answer = with_model(letters).ask(QUESTION, reader, top_k=3)
    assert (answer.text, answer.run) == ("In Stockbridge [1]", None)
    assert snapshot(letters.store) == before
    told = [run for step in answer.trace for run in step.queries]
    searched = {run.name for run in ran if run.name.startswith("search/")} - AFTERWARDS
    assert searched == {run.name for run in told}
    show_run(answer, as_json=False, trace=True)
    out = capsys.readouterr().out
    again = pasted(letters, out[out.index("\nStatements\n") :])
    expected = pasteable(told)
    assert reader != "retrieve" or sum(len(each.vectors) for each in expected) == 1, "a shared vector is printed once"
    assert [number for number, *_ in again] == list(range(1, len(expected) + 1))
    for (_, name, statement, rows), each in zip(again, expected, strict=True):
        assert (name, statement) == (each.run.name, each.run.statement)
        assert rows == rows_of(letters, each.run.statement, each.run.parameters)
        assert count(name, rows) == each.run.rows
    assert any(rows for *_, rows in again)


def test_a_walk_is_printed_path_by_path_with_its_function_calls(
    letters: KnowledgeGraph, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = walk(letters, QUESTION, "John Pender", "Stockbridge")
    show_run(answer, as_json=False, trace=True)
    steps, _, statements = capsys.readouterr().out.partition("\nSteps\n")[2].partition("\nStatements\n")
    lines = steps.splitlines()
    paths = ["Path 1: from John Pender", "Path 2: from Stockbridge", "All paths"]
    assert [line for line in lines if re.match("Path|All", line)] == paths
    assert len([line for line in lines if re.match(r" +\d+\. .+?  ", line)]) == len(answer.trace)
    assert "     facts 2 (33%): read_chunk 2 (100%)" in lines
    again = pasted(letters, f"\n{statements}")
    assert [(name, count(name, rows)) for _, name, _, rows in again] == [
        (each.run.name, each.run.rows) for each in pasteable([run for step in answer.trace for run in step.queries])
    ]


def test_terminal_codes_and_markup_in_a_trace_are_text(
    capsys: pytest.CaptureFixture[str], letters: KnowledgeGraph
) -> None:
    run = QueryRun("search/passage", "RETURN $text AS text", {"text": NASTY}, 1, 0.1)
    step = Step("search", "a\x1b[31mred [bold]b", 0.1, prompt="readers/answer", reply="[link=x]y\x1b]8", queries=(run,))
    evidence = letters.search("Cyrus Field")
    show_run(Answer(NASTY, "retrieve", "yes", (), evidence, (step,), Usage()), as_json=False, trace=True)
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "[bold]b" in out
    assert "[link=x]y" in out
    assert pasted(letters, out)[0][3] == [[NASTY]]


def test_a_parameter_line_gives_the_value_back(letters: KnowledgeGraph) -> None:
    for value in (
        *(NASTY, "", "\\u0041", "\ud7ff\U000e0001"),
        *(5, -5, 0, 2**62, 0.25, -0.5, 0.0, 1e-300, 1.5e300, 0.1, 12.5, True, None),
        *([], [[1, "a"], []], {"a": 1, "b c`d": ["x", {"y": None}]}, [{"id": "x;", "vector": [0.5, 1e-7]}]),
    ):
        line = parameter_line("p", value)
        assert "\n" not in line
        written = PARAMETER.fullmatch(line)
        assert written is not None
        assert not written[2].startswith("{"), "Neo4j Browser reads no map after the arrow"
        back = rows_of(letters, f"RETURN {written[2]} AS value", {})[0][0]
        assert back == value
        assert type(back) is type(value)


def test_json_has_the_trace_as_data(letters: KnowledgeGraph, capsys: pytest.CaptureFixture[str]) -> None:
    chat = ScriptedChat(model)
    answer = with_model(letters, chat).ask(QUESTION, "youtu")
    assert "financed" in chat.calls[0].messages[1]["content"], "youtu knows what was added to the schema"
    show_run(answer, as_json=True, trace=True)
    steps = json.loads(capsys.readouterr().out)["trace"]
    runs = [run for step in steps for run in step["queries"]]
    assert [run["parameters"] for run in runs] == [run.parameters for step in answer.trace for run in step.queries]
    show_run(answer, as_json=True, trace=False)
    assert json.loads(capsys.readouterr().out)["trace"] == [{**step, "queries": []} for step in steps]


def test_a_kept_run_holds_its_steps_and_their_evidence_and_stays_without_its_documents(graph: KnowledgeGraph) -> None:
    reading = with_model(graph)
    answer = reading.ask(QUESTION, "youtu", keep=True)
    run = rows_of(reading, "MATCH (r:Run) RETURN properties(r)", {})[0][0]
    assert re.match(r"\d{4}-\d\d-\d\dT", run.pop("at"))
    assert run.pop("seconds") > 0
    assert [each["text"] for each in json.loads(run.pop("restsOn"))] == [each.text for each in answer.citations]
    assert run.pop("foundThen")
    assert run == {
        "id": answer.run,
        "name": "Where was the founder of the Atlantic Telegraph Company bor…",
        "question": QUESTION,
        "reader": "youtu",
        "answer": answer.text,
        "note": answer.note,
        "model": reading.model_name,
        "calls": answer.usage.calls,
        "inputTokens": answer.usage.input_tokens,
        "outputTokens": answer.usage.output_tokens,
        "countNames": [],
        "counts": [],
        "statements": run["statements"],
        "sufficient": True,
        "askedWith": '{"as_of": null, "options": {}, "where": null}',
    }
    assert [each["citations"] for each in json.loads(run["statements"])] == [[1]]
    steps = rows_of(reading, "MATCH (:Run)-[:HAS_STEP]->(s) RETURN properties(s) ORDER BY s.index", {})
    assert [each["index"] for (each,) in steps] == list(range(1, len(answer.trace) + 1))
    for (kept,), step in zip(steps, answer.trace, strict=True):
        assert (kept["name"], kept["detail"], kept["reply"], kept["path"]) == (step.name, step.detail, step.reply, 0)
        assert kept.get("prompt") == step.prompt
        wanted = pasteable(step.queries)
        assert "\n".join(kept["statements"]) == "\n".join(each.text for each in wanted)
    order = (
        "MATCH path = (:Step {index: 1})-[:NEXT_STEP*]->(last) WHERE NOT (last)-[:NEXT_STEP]->() RETURN length(path)"
    )
    assert rows_of(reading, order, {}) == [[len(steps) - 1]]
    evidence = "MATCH (s:Step)-[f:FOUND]->(e:$($label)) RETURN s.index, e.id ORDER BY s.index, f.rank"
    for label, name in (("Fact", "facts"), ("Chunk", "passages")):
        found = [[n, each] for n, step in enumerate(answer.trace, 1) for each in getattr(step, name)]
        assert rows_of(reading, evidence, {"label": label}) == found
    cited = rows_of(reading, "MATCH (:Run)-[c:CITES]->(k:Chunk) RETURN c.number, c.start, c.end, k.id", {})
    assert cited == [[n, each.start, each.end, each.passage] for n, each in enumerate(answer.citations, 1)]
    assert cited
    words = "MATCH (r:Run)-[:HAS_STEP]->(s) RETURN r.answer, s.detail, s.reply, s.statements ORDER BY s.index"
    before = rows_of(reading, words, {})
    reading.remove([info.id for info in reading.documents()])
    assert rows_of(reading, words, {}) == before
    assert before[0][0] == answer.text
    assert rows_of(reading, "MATCH ()-[r:FOUND|CITES]->() RETURN count(r)", {}) == [[0]]


def test_the_function_calls_of_kept_walks_are_counted(
    graph: KnowledgeGraph, capsys: pytest.CaptureFixture[str]
) -> None:
    assert graph.stats().calls is None
    graph.ask(QUESTION, keep=True)
    assert graph.stats().calls is None, "other readers call no functions"
    walk(graph, QUESTION, "John Pender", "Stockbridge", keep=True)
    other = walk(graph, QUESTION, "John Pender")
    more = {"facts.stop_and_read_neighbor": 1, "neighbours.read_neighbor_node": 1}
    keep_run(graph.store, replace(other, counts=other.counts | more), None, 1.0)
    calls = graph.stats().calls
    assert calls is not None
    assert (calls.runs, calls.paths, calls.calls, calls.per_run, calls.per_path) == (2, 3, 11, 5.5, 3.67)
    assert [(each.stage, each.calls, each.share) for each in calls.stages] == [
        *(("facts", 4, 0.3636), ("chunk", 3, 0.2727), ("neighbours", 4, 0.3636))
    ]
    functions = {(at.stage, each.name): (each.calls, each.share) for at in calls.stages for each in at.functions}
    assert functions == {
        **{("facts", "read_chunk"): (3, 0.75), ("facts", "stop_and_read_neighbor"): (1, 0.25)},
        **{("chunk", "search_more"): (3, 1.0), ("neighbours", "termination"): (3, 0.75)},
        ("neighbours", "read_neighbor_node"): (1, 0.25),
    }
    show_calls(calls)
    assert "     facts 4 (36%): read_chunk 3 (75%), stop_and_read_neighbor 1 (25%)\n" in capsys.readouterr().out


def test_without_a_model_the_search_is_kept(graph: KnowledgeGraph, capsys: pytest.CaptureFixture[str]) -> None:
    """Also in a graph from before there were runs. The statement that is printed of it shows it. A run is an event, and
    its words are data.
    """
    for name in ("run_id", "step_id"):
        graph.store.run_statement(f"DROP CONSTRAINT {name} IF EXISTS", {}, write=True, timeout=30, limit=1)
    answer = graph.ask(QUESTION, keep=True)
    assert answer.text is None
    assert {"run_id", "step_id"} <= {row[0] for row in rows_of(graph, "SHOW CONSTRAINTS YIELD name RETURN name", {})}
    show_run(answer, as_json=False, trace=False)
    _, _, statement = capsys.readouterr().out.partition("paste:\n")
    shown = rows_of(graph, statement.strip().removesuffix(";"), {})
    assert {path["nodes"][0]["properties"]["id"] for path, *_ in shown} == {answer.run}
    kept = rows_of(graph, "MATCH (r:Run)-[:HAS_STEP]->(s) RETURN r.answer, s.name, COUNT { (s)-[:FOUND]->() }", {})
    assert kept == [[None, "search", len(answer.evidence.facts) + len(answer.evidence.passages)]]
    counts = graph.stats()
    assert (counts.nodes["Run"], counts.nodes["Step"], counts.relationships["HAS_STEP"]) == (1, 1, 1)
    answers = [answer, *(graph.ask(NASTY, keep=True) for _ in range(2))]
    asked = rows_of(graph, "MATCH (r:Run) RETURN r.id, r.question", {})
    assert sorted(asked) == sorted([answer.run, answer.question] for answer in answers)
    assert "bold" in answers[1].question
