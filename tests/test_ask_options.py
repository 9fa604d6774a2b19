"""The options of ``kgplatform ask``: each reaches the reader that has it, and its help says which that is."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import typer
from corpora import FIELD, OTHERS, RECORDING, put, put_jsonl

from kgplatform import cli
from kgplatform.client import KnowledgeGraph
from kgplatform.prompt import Messages
from kgplatform.readers.choose import OPTIONS, READERS
from kgplatform.store import Connection
from kgplatform.testing import OpenAIServer


def test_the_help_names_the_readers_that_have_an_option() -> None:
    command = typer.main.get_command(cli.app).commands["ask"]  # type: ignore[attr-defined]  # it is a group
    helps = {each.name: each.help for each in command.params if each.param_type_name == "option"}
    names = {reader: {each.name for each in fields(OPTIONS[reader])} - {"mode"} for reader in READERS}
    asked = {name.removeprefix("no_"): said for name, said in helps.items()}
    assert len(asked.keys() & set().union(*names.values())) >= 11
    for name in asked.keys() & set().union(*names.values()):
        owners = {reader for reader in READERS if name in names[reader]}
        said = asked[name].partition("; else")[0]
        assert {reader for reader in READERS if re.search(rf"\b{reader}\b", said)} == owners, name
    assert all(reader in helps["reader"] for reader in READERS)


def model(messages: Messages) -> str:
    """Ends every walk at once, and answers nothing."""
    system = messages[0]["content"]
    if system.startswith("You choose where"):
        return "Node: John Pender, Score: 90\nNode: Stockbridge, Score: 80"
    if system.startswith("You read the atomic facts"):
        return "Updated Notebook: Nothing.\nChosen Action: stop_and_read_neighbor()"
    if system.startswith("You read a long text"):
        return "[unanswerable]"
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
    ],
)
def test_options_reach_their_reader(
    kg: KnowledgeGraph,
    neo4j_server: Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: str,
    prompts: list[str],
) -> None:
    kg.ingest(put(tmp_path / "texts", FIELD | OTHERS), recorded=put_jsonl(tmp_path / "recording.jsonl", RECORDING))
    with OpenAIServer(model) as server:
        for name, value in (
            ("NEO4J_URI", neo4j_server.uri),
            ("NEO4J_PASSWORD", neo4j_server.password),
            ("OPENAI_BASE_URL", server.base_url),
            ("KGPLATFORM_EMBEDDER", "hash:64"),
        ):
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["kgplatform", "ask", "Who founded it?", "--json", *options.split()])
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
        "You read a long": "chunk",
        "You answer a question from one": "full",
    }
    sent = [next(kind for start, kind in kinds.items() if text.startswith(start)) for text in starts]
    assert sorted(sent) == sorted(prompts)
    assert done["reader"] == options.split()[1]
