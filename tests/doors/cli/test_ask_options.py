"""The options of ``kgplatform ask``: each reaches the reader that has it, and its help says which that is."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from corpora import FIELD, OTHERS, RECORDING, put, put_jsonl
from written_pages import define_pages, write_pages

from kgplatform.client import KnowledgeGraph
from kgplatform.doors.cli import main as cli
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.readers import readers
from kgplatform.readers.readers import READERS, find, names, options_for
from kgplatform.readers.run import Run
from kgplatform.records import Answer, SearchResult, Usage
from kgplatform.testing import OpenAIServer

ASK = ["kgplatform", "ask", "Who founded it?", "--json"]


def test_the_help_names_the_readers_that_have_an_option() -> None:
    command = typer.main.get_command(cli.app).commands["ask"]  # type: ignore[attr-defined]  # it is a group
    helps = {each.name: each.help for each in command.params if each.param_type_name == "option"}
    options = {reader.name: {each.name for each in reader.options} - {"mode"} for reader in READERS}
    asked = {name.removeprefix("no_"): said for name, said in helps.items()}
    assert len(asked.keys() & set().union(*options.values())) >= 30
    for name in asked.keys() & set().union(*options.values()):
        owners = {reader for reader in options if name in options[reader]}
        said = asked[name]
        assert {reader for reader in options if re.search(rf"\b{reader}\b", said)} == owners, name
    assert all(reader in helps["reader"] for reader in names())


def model(messages: Messages) -> str:
    """Ends every walk at once, and answers nothing."""
    system = messages[0]["content"]
    if system.startswith("You choose where"):
        return "Node: John Pender, Score: 90\nNode: Stockbridge, Score: 80"
    if system.startswith("You read the atomic facts"):
        return "Updated Notebook: Nothing.\nChosen Action: stop_and_read_neighbor()"
    if system.startswith("You write one Cypher statement"):
        return '{"statement": "MATCH (e:Entity) RETURN e.name AS name ORDER BY name", "parameters": {}}'
    if system.startswith("You answer a question from the rows"):
        return '{"sufficient": false, "answer": ""}'
    if system.startswith("You read a long text"):
        return "[unanswerable]"
    if system.startswith("You remember"):
        return "Page 1" if "these): Page 0" in messages[1]["content"] else "Page 0"
    if system.startswith("You lead a team of readers, and write"):
        return '{"type": "instruction", "content": "Say who founded it."}'
    if system.startswith("You lead a team of readers, and decide"):
        return '{"type": "answer", "content": "Cyrus Field"}'
    if system.startswith("You are an experienced reader"):
        return '{"type": "response", "content": "Cyrus Field"}'
    return "Rationale: none.\nChosen Action: termination()\nFinal answer: The documents do not say."


@pytest.mark.parametrize(
    ("options", "prompts"),
    [
        ("--reader graphreader --nodes 2", ["plan", "nodes", *(["facts", "neighbours"] * 2), "answer"]),
        ("--reader graphreader --nodes 1 --no-plan", ["nodes", "facts", "neighbours", "answer"]),
        ("--reader graphreader --nodes 1 --calls 1", ["plan", "nodes", "facts", "answer"]),
        ("--reader graphreader --nodes 1 --random-nodes 7 --calls 1", ["plan", "facts", "answer"]),
        (
            "--reader graphreader --nodes 1 --prefilter 3 --window-tokens 2000 --calls 1",
            ["plan", "nodes", "facts", "answer"],
        ),
        ("--reader chunkread", ["chunk"] * 3),
        ("--reader chunknotes --calls 2", ["chunk"] * 2),
        ("--reader fulltext --window-tokens 1000", ["full"]),
        ("--reader fulltext --from-end --document letter", ["full"]),
        ("--reader readagent", ["look up", "remembered"]),
        ("--reader readagent --lookup sequential --pages 2 --interim", ["next", "remembered"] * 2),
        ("--reader readagent --by-importance --choice Field --choice Pender", ["ordered", *(["choice"] * 2)]),
        ("--reader readagent --lookup dense --pages 1 --document letter", ["remembered"]),
        ("--reader cypher --rows 1 --timeout 20 --repairs 0", ["write", "rows"]),
        ("--reader longagent --document letter", ["instruct", "member", "decide"]),
        ("--reader longagent --members retrieved:2", ["instruct", "member", "member", "decide"]),
    ],
)
def test_options_reach_their_reader(
    kg: KnowledgeGraph,
    store: Store,
    neo4j_server: Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: str,
    prompts: list[str],
) -> None:
    texts = FIELD | OTHERS
    kg.ingest(put(tmp_path / "texts", texts), recorded=put_jsonl(tmp_path / "recording.jsonl", RECORDING))
    define_pages(store)
    for name, text in texts.items():
        write_pages(store, Path(name).stem, [(text, f"About the {name}.")])
    with OpenAIServer(model) as server:
        for name, value in (
            ("NEO4J_URI", neo4j_server.uri),
            ("NEO4J_PASSWORD", neo4j_server.password),
            ("OPENAI_BASE_URL", server.base_url),
            ("KGPLATFORM_EMBEDDER", "hash:64"),
        ):
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", [*ASK, *options.split()])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code in (0, None)
        starts = [each.body["messages"][0]["content"] for each in server.requests if "messages" in each.body]
    done = json.loads(capsys.readouterr().out)
    kinds = {
        "You plan": "plan",
        "You choose where": "nodes",
        "You read the atomic": "facts",
        "You choose the next": "neighbours",
        "You answer a question from notebooks": "answer",
        "You write one Cypher": "write",
        "You answer a question from the rows": "rows",
        "You read a long": "chunk",
        "You answer a question from one": "full",
        "You remember a text by its gists: each": "look up",
        "You remember a text by its gists, under": "next",
        "You remember a long text": "ordered",
        "You answer a question about a text that you remember": "remembered",
        "You choose the right answer": "choice",
        "You lead a team of readers, and write": "instruct",
        "You lead a team of readers, and decide": "decide",
        "You are an experienced reader": "member",
    }
    sent = [next(kind for start, kind in kinds.items() if text.startswith(start)) for text in starts]
    assert sorted(sent) == sorted(prompts)
    assert done["reader"] == options.split()[1]


LINES = {
    "readagent": (
        (
            "--mode open --lookup sequential --pages 3 --interim --document field --window-tokens 3000",
            {"mode": "open", "lookup": "sequential", "pages": 3, "interim": True, "window_tokens": 3000},
        ),
        ("--by-importance --choice Field --choice Pender", {"by_importance": True, "choices": ("Field", "Pender")}),
    ),
    "longagent": (
        (
            "--mode open --document field --member-tokens 70 --member-model small --rounds 2 --window-tokens 3000",
            {"mode": "open", "member_tokens": 70, "member_model": "small", "rounds": 2, "window_tokens": 3000},
        ),
        (
            "--members retrieved:3 --task kv --conflict once --seed 7",
            {"members": "retrieved:3", "task": "kv", "conflict": "once", "seed": 7},
        ),
    ),
    "cypher": (
        (
            "--mode open --rows 7 --timeout 2.5 --repairs 3",
            {"mode": "open", "rows": 7, "timeout": 2.5, "repairs": 3},
        ),
    ),
    "fulltext": (
        (
            "--mode open --from-end --document field --window-tokens 3000",
            {"mode": "open", "from_end": True, "window_tokens": 3000},
        ),
    ),
}
"""Lines of the command with every option of these readers, and the values that they stand for."""


def test_every_option_reaches_its_reader_with_its_value(
    kg: KnowledgeGraph,
    neo4j_server: Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kg.ingest(put(tmp_path / "texts", FIELD), extractor="local")
    (document,) = kg.documents()
    monkeypatch.setenv("NEO4J_URI", neo4j_server.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", neo4j_server.password)
    monkeypatch.setenv("KGPLATFORM_EMBEDDER", "hash:64")
    for reader, lines in LINES.items():
        got: list[object] = []

        def answer(question: str, run: Run, options: object, reader: str = reader, got: list[object] = got) -> Answer:
            got.append(options)
            return Answer(question, reader, None, (), SearchResult(question, (), (), 0.0), (), Usage(), "")

        others = [each for each in READERS if each.name != reader]
        monkeypatch.setattr(readers, "READERS", [*others, replace(find(reader), answer=answer)])
        for line, _ in lines:
            monkeypatch.setattr(sys, "argv", [*ASK, "--reader", reader, *line.split()])
            with pytest.raises(SystemExit) as ended:
                cli.main()
            assert ended.value.code in (0, None), capsys.readouterr().err
        wanted = [values | ({"documents": (document.id,)} if "--document" in line else {}) for line, values in lines]
        assert got == [options_for(reader, values) for values in wanted]
        assert {name for values in wanted for name in values} == {each.name for each in find(reader).options}


def test_routes_that_youtu_goes_without(
    kg: KnowledgeGraph,
    neo4j_server: Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kg.ingest(put(tmp_path / "texts", FIELD), extractor="local")
    monkeypatch.setenv("NEO4J_URI", neo4j_server.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", neo4j_server.password)
    monkeypatch.setenv("KGPLATFORM_EMBEDDER", "hash:64")
    for routes, kept in ((("entity", "path"), True), (("passage", "paths"), False)):
        monkeypatch.setattr(
            sys, "argv", [*ASK, "--trace", "--reader", "youtu", *(f"--without={route}" for route in routes)]
        )
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        assert (ended.value.code in (0, None)) is kept
        if kept:
            asked = {run["name"] for step in json.loads(printed.out)["trace"] for run in step["queries"]}
            assert "retrieve/triple" in asked
            assert not asked & {"retrieve/named_entities", "retrieve/steps"}
        else:
            assert 'Unknown route "paths". Did you mean path?' in printed.err
