"""The options of ``kgplatform ask``: each reaches the reader that has it, and its help says which that is."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from conftest import wipe
from corpora import FIELD, OTHERS, RECORDING, put, put_jsonl
from graphreader_runs import final, go, plan, proposals, step
from model_by_prompt import Line, Model
from readagent_runs import chosen, page, pages, said
from written_pages import define_pages, write_pages

from kgplatform.client import KnowledgeGraph
from kgplatform.interfaces.cli import main as cli
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.readers import readers
from kgplatform.readers.readers import READERS, find, names, options_for
from kgplatform.readers.run import Run
from kgplatform.records import Answer, SearchResult, Usage
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer

ASK = ["kgplatform", "ask", "Who founded it?", "--json"]


def test_the_help_names_the_readers_that_have_an_option() -> None:
    command = typer.main.get_command(cli.app).commands["ask"]  # type: ignore[attr-defined]  # it is a group
    helps = {each.name: each.help for each in command.params if each.param_type_name == "option"}
    for name in ("mode", "answer_style"):
        assert all(name in {each.name for each in reader.options} for reader in READERS)
        assert "all readers" in helps[name]
    options = {reader.name: {each.name for each in reader.options} - {"mode", "answer_style"} for reader in READERS}
    asked = {name.removeprefix("no_"): said for name, said in helps.items()}
    assert len(asked.keys() & set().union(*options.values())) >= 30
    for name in asked.keys() & set().union(*options.values()):
        owners = {reader for reader in options if name in options[reader]}
        said = asked[name]
        assert {reader for reader in options if re.search(rf"\b{reader}\b", said)} == owners, name
    assert all(reader in helps["reader"] for reader in names())


NOTHING: dict[str, Line] = {
    "graphreader/plan": plan("Find it."),
    "graphreader/nodes": proposals({"John Pender": 90, "Stockbridge": 80}),
    "graphreader/facts": step("stop_and_read_neighbor"),
    "graphreader/neighbours": go(),
    "graphreader/answer": final("", sufficient=False),
    "cypher/write": '{"statement": "MATCH (e:Entity) RETURN e.name AS name ORDER BY name", "parameters": {}}',
    "cypher/answer": '{"sufficient": false, "answer": ""}',
    "readers/answer": '{"answer": "", "sufficient": false}',
    "chunk_notes": '{"answer": "", "sufficient": false, "notes": ""}',
    "lookup": pages(0),
    "lookup_ordered": pages(0),
    "next": lambda prompt: page(1 if "already: Page 0" in prompt.user else 0),
    "readagent/answer": said("", sufficient=False),
    "choose": chosen("A"),
    "instruct": '{"type": "instruction", "content": "Say who founded it."}',
    "decide": '{"type": "answer", "content": "Cyrus Field"}',
    "member": '{"mentioned": true, "content": "Cyrus Field", "sentences": []}',
}
"""Ends every walk at once, and answers nothing."""


@pytest.fixture(scope="module")
def library(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Connection:
    """A server that has three documents, with a page of each."""
    folder, texts = tmp_path_factory.mktemp("library"), FIELD | OTHERS
    with Store(neo4j_server) as store:
        wipe(store)
        kg = KnowledgeGraph(store, load_settings(home=folder, embedder="hash:64"), embedder=HashEmbedder(64))
        kg.ingest(put(folder / "texts", texts), recorded=put_jsonl(folder / "recording.jsonl", RECORDING))
        define_pages(store)
        for name, text in texts.items():
            write_pages(store, Path(name).stem, [(text, f"About the {name}.")])
    return neo4j_server


@pytest.mark.parametrize(
    ("options", "prompts"),
    [
        ("--reader graphreader --nodes 2", ["plan", "nodes", *(["facts", "neighbours"] * 2), "answer"]),
        ("--reader graphreader --nodes 1 --no-plan", ["nodes", "facts", "neighbours", "answer"]),
        ("--reader graphreader --nodes 1 --calls 1", ["plan", "nodes", "facts", "answer"]),
        ("--reader graphreader --nodes 1 --random-nodes 7 --calls 1", ["plan", "facts", "answer"]),
        (
            "--reader graphreader --nodes 1 --candidates 3 --window-tokens 2500 --calls 1",
            ["plan", "nodes", "facts", "answer"],
        ),
        ("--reader chunkread", ["answer"]),
        ("--reader chunknotes --calls 2 --preset paper", ["chunk_notes"]),
        ("--reader fulltext --window-tokens 1000", ["answer"]),
        ("--reader fulltext --from-end --document letter", ["answer"]),
        ("--reader readagent", ["lookup", "answer"]),
        ("--reader readagent --lookup sequential --pages 2 --interim", ["next", "answer"] * 2),
        ("--reader readagent --by-importance --choice Field --choice Pender", ["lookup_ordered", "choose"]),
        ("--reader readagent --lookup dense --pages 1 --document letter", ["answer"]),
        ("--reader cypher --rows 1 --timeout 20 --repairs 0", ["write", "answer"]),
        ("--reader longagent --document letter", ["instruct", "member", "decide"]),
        ("--reader longagent --members retrieved:2", ["instruct", "member", "decide"]),
    ],
)
def test_options_reach_their_reader(
    library: Connection,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: str,
    prompts: list[str],
) -> None:
    model = Model(NOTHING)
    with OpenAIServer(model) as server:
        for name, value in (
            ("NEO4J_URI", library.uri),
            ("NEO4J_PASSWORD", library.password),
            ("OPENAI_BASE_URL", server.base_url),
            ("KGPLATFORM_EMBEDDER", "hash:64"),
        ):
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", [*ASK, *options.split()])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code in (0, None)
    done = json.loads(capsys.readouterr().out)
    assert sorted(model.kinds) == sorted(prompts)
    assert done["reader"] == options.split()[1]


LINES = {
    "readagent": (
        (
            "--mode open --lookup sequential --pages 3 --interim --document field --window-tokens 3000",
            {"mode": "open", "lookup": "sequential", "pages": 3, "interim": True, "window_tokens": 3000},
        ),
        ("--by-importance --choice Field --choice Pender", {"by_importance": True, "choices": ("Field", "Pender")}),
        ("--preset paper --answer-style phrase", {"preset": "paper", "answer_style": "phrase"}),
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
        ("--preset paper --answer-style phrase", {"preset": "paper", "answer_style": "phrase"}),
    ),
    "cypher": (
        (
            "--mode open --rows 7 --timeout 2.5 --repairs 3 --answer-style report",
            {"mode": "open", "rows": 7, "timeout": 2.5, "repairs": 3, "answer_style": "report"},
        ),
    ),
    "fulltext": (
        (
            "--mode open --from-end --document field --window-tokens 3000",
            {"mode": "open", "from_end": True, "window_tokens": 3000},
        ),
        ("--preset paper --answer-style phrase", {"preset": "paper", "answer_style": "phrase"}),
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
            assert "search/triple" in asked
            assert not asked & {"search/facts_of_entities", "search/steps"}
        else:
            assert 'Unknown route "paths". Did you mean path?' in printed.err
