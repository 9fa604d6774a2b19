"""Traces: what ``ask --trace`` prints can be pasted and gives the same rows; what ``--keep`` writes can be read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import FIELD, OTHERS, RECORDING, put, put_jsonl
from graph_state import snapshot
from graphreader_runs import walk
from model_by_prompt import Prompt
from numpy.typing import NDArray
from youtu_runs import concludes, filled, looks_for, plan, says

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.explore.runs import keep_run
from kgplatform.interfaces.cli.show.answers import show_run
from kgplatform.interfaces.cli.show.reports import show_calls
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.pasteable import literal, parameter_line, pasteable
from kgplatform.neo4j.store import Store, trace
from kgplatform.prompt import Messages
from kgplatform.query import load_query
from kgplatform.records import Answer, QueryRun, Step, Usage
from kgplatform.search.question import Question
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer, ScriptedChat

QUESTION = "Where was the founder of the Atlantic Telegraph Company born?"
HEADING = re.compile(r"// (\d+)\. ([\w/]+): ")
PARAMETER = re.compile(r":param (\w+) => (.+);")
NASTY = 'O\'Hara \\ `x` "y"; // no comment\n/* none */ $k {a: 1} \u2028\x07 [bold]人 😀 :param k => 1;'


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


@pytest.fixture
def graph(kg: KnowledgeGraph, tmp_path: Path) -> KnowledgeGraph:
    """Three documents, without a language model."""
    files = put(tmp_path / "texts", FIELD | OTHERS)
    kg.ingest(files, recorded=put_jsonl(tmp_path / "recording.jsonl", RECORDING))
    return kg


@pytest.fixture
def reading(graph: KnowledgeGraph) -> KnowledgeGraph:
    """The same with a scripted model."""
    return KnowledgeGraph(graph.store, graph.settings, embedder=HashEmbedder(64), chat=ScriptedChat(model))


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


# ------------------------------------------------------------------------------------------------------------ printed


@pytest.mark.parametrize("reader", ["retrieve", "youtu"])
def test_every_printed_statement_gives_the_same_rows(
    reading: KnowledgeGraph, reader: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[QueryRun] = []
    with trace(ran.append):
        answer = reading.ask(QUESTION, reader, top_k=3)
    assert answer.text == "In Stockbridge [1]"
    told = [run for step in answer.trace for run in step.queries]
    assert {run.name for run in ran if run.name.startswith("search/")} == {run.name for run in told}
    show_run(answer, as_json=False, trace=True)
    out = capsys.readouterr().out
    again = pasted(reading, out[out.index("\nStatements\n") :])
    expected = pasteable(told)
    assert [number for number, *_ in again] == list(range(1, len(expected) + 1))
    for (_, name, statement, rows), each in zip(again, expected, strict=True):
        assert (name, statement) == (each.run.name, each.run.statement)
        assert rows == rows_of(reading, each.run.statement, each.run.parameters)
        assert count(name, rows) == each.run.rows
    assert any(rows for *_, rows in again)


@pytest.mark.parametrize(("reader", "window"), [("fulltext", 4096), ("chunkread", 1000), ("chunknotes", 1000)])
def test_what_the_readers_of_whole_texts_ran_is_printed_too(
    graph: KnowledgeGraph, reader: str, window: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def born(messages: Messages) -> str:
        said = {"answer": f"In Stockbridge [{Prompt(messages).number_of('born in Stockbridge')}].", "sufficient": True}
        return json.dumps({**said, "notes": ""} if reader == "chunknotes" else said)

    chat = ScriptedChat(born)
    answer = KnowledgeGraph(graph.store, graph.settings, embedder=HashEmbedder(64), chat=chat).ask(
        QUESTION, reader, window_tokens=window, keep=True
    )
    assert answer.text == "In Stockbridge [1]."
    assert [each.text for each in answer.citations] == ["Cyrus Field was born in Stockbridge in 1819."]
    show_run(answer, as_json=False, trace=True)
    out = capsys.readouterr().out
    again = pasted(graph, out[out.index("\nStatements\n") : out.index("\nThe run is saved")])
    told = [run for step in answer.trace for run in step.queries]
    assert [(name, count(name, rows)) for _, name, _, rows in again] == [(run.name, run.rows) for run in told]
    assert again[0][1] == "search/reading_order"
    counted = "" if reader == "fulltext" else "\nread: answerable 1\n"
    assert counted in out
    kept = rows_of(graph, "MATCH (r:Run {id: $run}) RETURN r.countNames, r.counts", {"run": answer.run})
    assert kept == [[list(answer.counts), list(answer.counts.values())]]


def test_a_walk_is_printed_path_by_path_with_its_function_calls(
    graph: KnowledgeGraph, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = walk(graph, QUESTION, "John Pender", "Stockbridge")
    show_run(answer, as_json=False, trace=True)
    steps, _, statements = capsys.readouterr().out.partition("\nSteps\n")[2].partition("\nStatements\n")
    shown = [line for line in steps.splitlines() if line and not line.startswith("     ")]
    assert [re.sub(r"(?<=\w)  .*", "", line) for line in shown[:12]] == [
        *("  1. rational plan", "  2. initial nodes"),
        *("Path 1: from John Pender", "  3. facts → read_chunk"),
        *("  4. chunk → search_more", "  5. neighbours → termination"),
        *("Path 2: from Stockbridge", "  6. facts → read_chunk"),
        *("  7. chunk → search_more", "  8. neighbours → termination"),
        *("All paths", "  9. answer"),
    ]
    ends = steps[steps.index("function calls: ") :].splitlines()
    assert ends == [
        "function calls: 6",
        "     facts 2 (33%): read_chunk 2 (100%)",
        "     chunk 2 (33%): search_more 2 (100%)",
        "     neighbours 2 (33%): termination 2 (100%)",
        "malformed: no action 2",
    ]
    told = [run for step in answer.trace for run in step.queries]
    again = pasted(graph, f"\n{statements}")
    assert [(name, count(name, rows)) for _, name, _, rows in again] == [
        (each.run.name, each.run.rows) for each in pasteable(told)
    ]


def test_the_steps_are_printed_in_order_with_what_they_cost(
    graph: KnowledgeGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with OpenAIServer(model) as server:
        settings = load_settings(home=tmp_path, embedder="hash:64", openai_base_url=server.base_url)
        answer = KnowledgeGraph(graph.store, settings, embedder=HashEmbedder(64)).ask(QUESTION, "youtu")
    show_run(answer, as_json=False, trace=True)
    out = capsys.readouterr().out
    head, _, rest = out.partition("\nSteps\n")
    assert head.startswith("In Stockbridge [1]\n[1] field, characters ")
    steps, _, _ = rest.partition("\nStatements\n")
    lines = steps.splitlines()
    names = [found[1] for line in lines if (found := re.match(r" +\d+\. (.+?)  ", line))]
    assert names == [step.name for step in answer.trace]
    assert names[0] == "decompose"
    assert "     prompt: youtu/decompose" in lines
    assert any(line.startswith('     reply: {"reasoning": "Not all is there."') for line in lines)
    calls, tokens = answer.usage.calls, f"{answer.usage.input_tokens:,} tokens in, {answer.usage.output_tokens:,} out"
    assert calls == len(server.requests_to("/chat/completions")) >= 4
    assert f"{len(names)} steps, {calls} model calls, {tokens}" in lines
    searched = [line for line in lines if line.startswith("     ran statement")]
    assert len(searched) == names.count("search")


def test_a_vector_is_printed_once_for_the_statements_that_share_it(reading: KnowledgeGraph) -> None:
    runs = [run for step in reading.ask(QUESTION, "retrieve").trace for run in step.queries]
    found = pasteable(runs * 2)
    assert len(found) == len({(run.statement, str(run.parameters)) for run in runs})
    assert sum(len(each.vectors) for each in found) == 1
    users = [each for each in found if each.run.parameters.get("vector")]
    assert [each.before for each in users] == [None] + [users[0].number] * (len(users) - 1)
    assert all(each.before is None for each in found if not each.run.parameters.get("vector"))


def test_terminal_codes_and_markup_in_a_trace_are_text(
    capsys: pytest.CaptureFixture[str], graph: KnowledgeGraph
) -> None:
    run = QueryRun("search/passage", "RETURN $text AS text", {"text": NASTY}, 1, 0.1)
    step = Step("search", "a\x1b[31mred [bold]b", 0.1, prompt="readers/answer", reply="[link=x]y\x1b]8", queries=(run,))
    evidence = graph.search("Cyrus Field")
    show_run(Answer(NASTY, "retrieve", "yes", (), evidence, (step,), Usage()), as_json=False, trace=True)
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "[bold]b" in out
    assert "[link=x]y" in out
    assert pasted(graph, out)[0][3] == [[NASTY]]


def test_long_lines_are_not_broken(
    reading: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    show_run(reading.ask(QUESTION), as_json=False, trace=True)
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith(":param vector"))
    assert line.endswith("];")
    assert line.count(",") == 63


def test_a_parameter_line_gives_the_value_back(kg: KnowledgeGraph) -> None:
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
        back = rows_of(kg, f"RETURN {written[2]} AS value", {})[0][0]
        assert back == value
        assert type(back) is type(value)


def test_the_vector_of_a_question_is_printed_exactly_and_compactly() -> None:
    class Dense(HashEmbedder):
        """384 numbers as a language model's: all different from 0."""

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            rows = np.random.default_rng(1).normal(size=(len(texts), 384))
            return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    embedder = Dense(384)
    vector = Question("the cable of 1866", embedder).vector
    assert np.abs(np.array(vector) - embedder.embed(["the cable of 1866"])[0]).max() < 1e-6
    text = literal(vector)
    assert [float(number) for number in text.strip("[]").split(",")] == vector
    assert len(text) < 3600


def test_what_has_no_form_in_cypher_is_refused() -> None:
    with pytest.raises(TypeError, match="bytes"):
        literal(b"x")


def test_json_has_the_trace_as_data(reading: KnowledgeGraph, capsys: pytest.CaptureFixture[str]) -> None:
    answer = reading.ask(QUESTION, "youtu")
    show_run(answer, as_json=True, trace=True)
    steps = json.loads(capsys.readouterr().out)["trace"]
    runs = [run for step in steps for run in step["queries"]]
    assert [run["parameters"] for run in runs] == [run.parameters for step in answer.trace for run in step.queries]
    show_run(answer, as_json=True, trace=False)
    short = json.loads(capsys.readouterr().out)["trace"]
    assert [step.pop("queries") for step in short] == [[] for _ in steps]
    assert [{**step, "queries": []} for step in short] == [{**step, "queries": []} for step in steps]


# --------------------------------------------------------------------------------------------------------------- kept


def test_nothing_is_written_unless_it_is_to_be_kept(reading: KnowledgeGraph) -> None:
    before = snapshot(reading.store)
    for reader in ("retrieve", "youtu"):
        assert reading.ask(QUESTION, reader).run is None
    assert snapshot(reading.store) == before


def test_a_kept_run_holds_its_steps_and_their_evidence(reading: KnowledgeGraph) -> None:
    answer = reading.ask(QUESTION, "youtu", keep=True)
    run = rows_of(reading, "MATCH (r:Run) RETURN properties(r)", {})[0][0]
    assert re.match(r"\d{4}-\d\d-\d\dT", run.pop("at"))
    assert run.pop("seconds") > 0
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


def test_a_kept_walk_is_a_chain_for_each_path_over_the_key_elements(graph: KnowledgeGraph) -> None:
    answer = walk(graph, QUESTION, "John Pender", "Stockbridge", keep=True)
    follows = "MATCH (a:Step)-[:NEXT_STEP]->(b:Step) RETURN a.index, b.index ORDER BY a.index, b.index"
    assert rows_of(graph, follows, {}) == [
        *([1, 2], [2, 3], [2, 6]),
        *([3, 4], [4, 5], [5, 9]),
        *([6, 7], [7, 8], [8, 9]),
    ]
    paths = rows_of(graph, "MATCH (s:Step) RETURN s.index, s.path, s.prompt ORDER BY s.index", {})
    assert paths == [[n, step.path, step.prompt] for n, step in enumerate(answer.trace, start=1)]
    at = rows_of(graph, "MATCH (s:Step)-[:AT]->(k:KeyElement) RETURN s.index, k.id ORDER BY s.index, k.id", {})
    assert at == [[n, each] for n, step in enumerate(answer.trace, start=1) for each in sorted(step.elements)]
    assert {index for index, _ in at} == {3, 5, 6, 8}, "at the facts and at the neighbours of a node"
    drawn = rows_of(graph, load_query("explore/kept_run").text, {"run": answer.run})
    assert len(drawn) == len(answer.trace)
    assert "KeyElement" in str(drawn[2][1])


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
        *(("facts", 4, 0.3636), ("chunk", 3, 0.2727), ("neighbours", 4, 0.3636)),
    ]
    functions = {(at.stage, each.name): (each.calls, each.share) for at in calls.stages for each in at.functions}
    assert functions == {
        ("facts", "read_chunk"): (3, 0.75),
        ("facts", "stop_and_read_neighbor"): (1, 0.25),
        ("chunk", "search_more"): (3, 1.0),
        ("neighbours", "termination"): (3, 0.75),
        ("neighbours", "read_neighbor_node"): (1, 0.25),
    }
    show_calls(calls)
    assert capsys.readouterr().out.splitlines() == [
        "Function calls of 2 saved runs of graphreader with 3 paths: 11, 5.5 per run, 3.67 per path",
        "     facts 4 (36%): read_chunk 3 (75%), stop_and_read_neighbor 1 (25%)",
        "     chunk 3 (27%): search_more 3 (100%)",
        "     neighbours 4 (36%): termination 3 (75%), read_neighbor_node 1 (25%)",
    ]


def test_without_a_model_the_search_is_kept(graph: KnowledgeGraph) -> None:
    answer = graph.ask(QUESTION, keep=True)
    assert answer.text is None
    kept = rows_of(graph, "MATCH (r:Run)-[:HAS_STEP]->(s) RETURN r.answer, s.name, COUNT { (s)-[:FOUND]->() }", {})
    assert kept == [[None, "search", len(answer.evidence.facts) + len(answer.evidence.passages)]]
    counts = graph.stats()
    assert (counts.nodes["Run"], counts.nodes["Step"], counts.relationships["HAS_STEP"]) == (1, 1, 1)


def test_a_run_is_an_event_and_its_words_are_data(graph: KnowledgeGraph) -> None:
    answers = [graph.ask(NASTY, keep=True) for _ in range(2)]
    asked = rows_of(graph, "MATCH (r:Run) RETURN r.id, r.question", {})
    assert sorted(asked) == sorted([answer.run, answer.question] for answer in answers)
    assert "bold" in answers[0].question


def test_a_kept_run_stays_readable_without_its_documents(reading: KnowledgeGraph) -> None:
    answer = reading.ask(QUESTION, "youtu", keep=True)
    words = "MATCH (r:Run)-[:HAS_STEP]->(s) RETURN r.answer, s.detail, s.reply, s.statements ORDER BY s.index"
    before = rows_of(reading, words, {})
    reading.remove([info.id for info in reading.documents()])
    assert rows_of(reading, words, {}) == before
    assert before[0][0] == answer.text
    assert rows_of(reading, "MATCH ()-[r:FOUND|CITES]->() RETURN count(r)", {}) == [[0]]


def test_what_is_printed_of_a_kept_run_shows_it(graph: KnowledgeGraph, capsys: pytest.CaptureFixture[str]) -> None:
    answer = graph.ask(QUESTION, keep=True)
    show_run(answer, as_json=False, trace=False)
    _, _, statement = capsys.readouterr().out.partition("paste:\n")
    rows = rows_of(graph, statement.strip().removesuffix(";"), {})
    assert len(rows) == 1
    assert rows[0][0]["nodes"][0]["properties"]["id"] == answer.run


def test_a_graph_from_before_runs_gets_their_constraints(store: Store, graph: KnowledgeGraph) -> None:
    for name in ("run_id", "step_id"):
        store.run_statement(f"DROP CONSTRAINT {name} IF EXISTS", {}, write=True, timeout=30, limit=1)
    graph.ask(QUESTION, keep=True)
    names = {row[0] for row in rows_of(graph, "SHOW CONSTRAINTS YIELD name RETURN name", {})}
    assert {"run_id", "step_id"} <= names


# ------------------------------------------------------------------------------------------------------------ options


@pytest.mark.parametrize(
    ("reader", "wishes", "said"),
    [
        ("retrieve", {"agent": False}, "The reader retrieve has no option agent."),
        ("retrieve", {"community": False, "schema": False}, "no option community and schema. Leave them out"),
        ("sage", {}, 'Unknown reader "sage". Choose one of retrieve, youtu, graphreader, readagent, longagent, '),
        ("fulltext", {"window_tokens": 5}, "window_tokens must be at least 1,000."),
        ("chunkread", {"random_nodes": 7}, "no option random_nodes. Leave it out, or use the reader graphreader."),
        ("youtu", {"mode": "guess"}, 'Unknown mode "guess". Choose one of reject, open.'),
        ("youtu", {"top_k": 0}, "top_k must be at least 1."),
        ("graphreader", {"random_nodes": 2_000_000}, "random_nodes must be at most 1,000,000."),
        ("retrieve", {"top_k": "many"}, "top_k=many cannot be used: it must be a whole number."),
    ],
)
def test_an_option_that_a_reader_does_not_have_is_refused(
    graph: KnowledgeGraph, reader: str, wishes: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        graph.ask(QUESTION, reader, **wishes)
    assert said in str(caught.value)


def test_youtu_knows_what_was_added_to_the_schema(graph: KnowledgeGraph) -> None:
    chat = ScriptedChat(model)
    KnowledgeGraph(graph.store, graph.settings, embedder=HashEmbedder(64), chat=chat).ask(QUESTION, "youtu")
    assert [each.name for each in graph.schema().expansions] == ["financed"]  # type: ignore[union-attr]  # ingested
    assert "financed" in chat.calls[0].messages[1]["content"]


@pytest.mark.parametrize(("reader", "count"), [("retrieve", 5), ("youtu", 20)])
def test_how_much_is_retrieved_by_default(graph: KnowledgeGraph, tmp_path: Path, reader: str, count: int) -> None:
    graph.ingest(
        put(tmp_path / "more", {f"{n}.txt": f"Note {n} of the cable company." for n in range(25)}), extractor="local"
    )
    assert len(graph.ask("the cable company", reader).evidence.passages) == count
    assert len(graph.ask("the cable company", reader, top_k=4).evidence.passages) == 4
