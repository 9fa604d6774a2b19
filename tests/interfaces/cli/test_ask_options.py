"""The options of ``kgplatform ask``: each reaches the reader that has it; the help has all of them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from corpora import FIELD, put

from kgplatform.client import KnowledgeGraph
from kgplatform.interfaces.cli import main as cli
from kgplatform.neo4j.store import Connection
from kgplatform.readers import readers
from kgplatform.readers.readers import READERS, find, options_for
from kgplatform.readers.run import Run
from kgplatform.records import Answer, SearchResult, Usage

LINES = {
    "readagent": {
        "--mode open --option lookup=sequential --option pages=3 --option interim=true --document field": {
            **{"mode": "open", "lookup": "sequential", "pages": 3, "interim": True},
        },
        "--option by_importance=true --option choices=1866 --option choices=1867 --option window_tokens=3000": {
            **{"by_importance": True, "choices": ("1866", "1867"), "window_tokens": 3000},
        },
        "--option preset=paper --answer-style phrase": {"preset": "paper", "answer_style": "phrase"},
    },
    "longagent": {
        "--option member_tokens=none --option member_model=small --option members=retrieved:3": {
            **{"member_tokens": None, "member_model": "small", "members": "retrieved:3"},
        },
    },
    "youtu": {
        "--top-k 3 --option agent=false --option without=path": {"top_k": 3, "agent": False, "without": ("path",)},
    },
    "cypher": {"--option timeout=2.5": {"timeout": 2.5}},
}
"""Lines of the command by reader, with the values that they stand for: of each type, with and without a flag."""


def ask(monkeypatch: pytest.MonkeyPatch, *words: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["kgplatform", "ask", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code


def test_options_reach_their_reader_with_their_values(
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
    got: list[object] = []

    def answer(question: str, run: Run, options: object) -> Answer:
        got.append(options)
        return Answer(question, "any", None, (), SearchResult(question, (), (), 0.0), (), Usage(), "")

    monkeypatch.setattr(readers, "READERS", [replace(each, answer=answer) for each in READERS])
    for reader, lines in LINES.items():
        for line, values in lines.items():
            assert ask(monkeypatch, "Who?", "--reader", reader, *line.split()) in (0, None), capsys.readouterr().err
            chosen = {"documents": (document.id,)} if "--document" in line else {}
            assert got.pop() == options_for(reader, values | chosen)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--reader graphreader --nodes 3", "Write --option nodes=VALUE in place of --nodes."),
        ("--reader youtu --no-agent", "Write --option agent=false in place of --no-agent."),
        ("--reader graphreader --option nodes=many", "nodes=many cannot be used: it must be a whole number."),
        ("--option nodes=3", "The reader retrieve has no option nodes. Leave it out, or use the reader graphreader."),
        ("--reader graphreader --top-k 3", "The reader graphreader has no option --top-k."),
        ("--option top_k", "--option 'top_k' is not NAME=VALUE."),
    ],
)
def test_an_option_that_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, told: str
) -> None:
    assert ask(monkeypatch, "Who?", *line.split()) == 2
    assert told in capsys.readouterr().err


def test_the_help_has_the_options_of_all_readers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(monkeypatch, "--help")
    shown = capsys.readouterr().out
    assert all(f"{option.name} (" in shown for reader in READERS for option in find(reader.name).options)
