"""An agent over MCP: ten tasks, each in at most six calls of tools, done by Pydantic AI.

A script in place of the model shows what the tools are good for; with ``KGPLATFORM_BENCH_ANSWERS_SERVER``, a llama.cpp
server, that model chooses the calls. The texts are HotpotQA's; a task is done if what is said at its end has the right
words. ``make bench ONLY=agents`` makes the agent's environment below ``.kgplatform/bench`` the first time.
"""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import RESULTS, ROOT
from data_sets import Data, Place, write_corpus
from graphs import MODEL, new_graph
from mcp_talk import served
from peer_environments import NotInstalled, Peer, python_of
from tables import Section, Table

_SERVER = os.environ.get("KGPLATFORM_BENCH_ANSWERS_SERVER", "")
_MAKE = "agents" in os.environ.get("ONLY", "").split()
_AGENT = Peer("Pydantic AI", "pydantic_ai", server=False, packages=("pydantic-ai-slim[mcp,openai]==2.68.0",))
QUESTIONS, MOST, _SHOWN = 14, 6, 120
TASKS = {
    "one fact": ("In which autonomous community does FC Cartagena play?", "Murcia"),
    "two hops": (
        "In what year did the Danish plant ecologist die who assisted the chemist who introduced the concept of pH?",
        "1974",
    ),
    "a comparison": ("Who was born earlier, Simone Bolelli or Caroline Wozniacki?", "Bolelli"),
    "text around a passage": (
        "Who was the youngest person in the Modern Drummer Hall of Fame? Give the date of birth from the beginning of "
        "the document.",
        "1952",
    ),
    "what is known of somebody": (
        "With whom did Tom Hiddleston play? Look at what the graph knows of him.",
        "Rachel Weisz",
    ),
    "a count": ("How many documents does the graph have? Use Cypher.", "{documents}"),
    "one document only": ('From the document titled "Giotto" alone: when did he die?', "1337"),
    "an answer of a reader": ("Let a reader answer: what team did Spyker F1 become at the end of 2007?", "Force India"),
    "a text added, found, removed": (
        'Add the text "The Lantern Society of Porto was founded by Ines Valdar in 1911. Its archive is in Braga." as '
        "The Lantern Society, search for who founded the society, and remove the document again.",
        "Valdar",
    ),
    "a correction, and undone": (
        "Rename the entity Neil Peart to Neil Ellwood Peart, look at it, and undo the correction.",
        "Neil Ellwood Peart, and again Neil Peart",
    ),
}


def test_agents(section: Callable[[str, str], Section], place: Place, data: Data, tmp_path: Path) -> None:
    try:
        python = python_of(_AGENT, RESULTS, make=_MAKE)
    except NotInstalled as missing:
        pytest.skip(f"{_AGENT.name}: {missing}")
    found = section("agents", "An agent over MCP: ten tasks, each in at most six calls")
    asked = data.read("hotpotqa/questions.json")[:QUESTIONS]
    texts = {title: " ".join(sentences) for each in asked for title, sentences in each["context"]}
    corpus = write_corpus(tmp_path / "corpus.json", [{"title": title, "text": text} for title, text in texts.items()])
    with new_graph(place, "agents", embedder=MODEL) as graph:
        graph.ingest(corpus, extractor="local")
        given = {"NEO4J_URI": graph.connection.uri, "NEO4J_PASSWORD": graph.connection.password}
        for name in ("a script", "the small model")[: 2 if _SERVER else 1]:
            with pytest.MonkeyPatch.context() as environment:
                for key, value in given.items():
                    environment.setenv(key, value)
                with served(tmp_path / "log", "--write", "--home", str(graph.settings.home_folder)) as address:
                    records = _run(python, address, _SERVER if name != "a script" else None)
            _report(found, name, records, len(texts))
        assert len(graph.documents()) == len(texts)
    found.notes.append(f"{len(texts)} documents. A call that is refused counts. {_AGENT.name} asks over HTTP.")


def _run(python: Path, address: str, model: str | None) -> list[dict[str, Any]]:
    tasks = [{"name": name, "task": task} for name, (task, _) in TASKS.items()]
    given = json.dumps({"address": address, "most": MOST, "model": model, "tasks": tasks})
    driver = str(ROOT / "tests" / "benchmarks" / "peers" / "agent.py")
    done = subprocess.run([str(python), driver], input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def _report(found: Section, name: str, records: list[dict[str, Any]], documents: int) -> None:
    rows, right = [], 0
    for each in records:
        wanted = TASKS[each["name"]][1].format(documents=documents)
        right += (is_right := wanted in each["said"])
        calls = ", ".join(each["calls"])
        rows.append(
            (each["name"], "yes" if is_right else "no", str(len(each["calls"])), calls, each["said"] or each["fault"])
        )
    found.tables.append(Table(f"Tasks, done by {name}", ("task", "done", "calls", "of", "said, or the fault"), rows))
    found.add(f"tasks done by {name}, of {len(TASKS)}", right, at_least=len(TASKS) if name == "a script" else 0)
