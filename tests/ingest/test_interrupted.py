"""``kill -9`` at any moment, and the same command again: the graph of a run that nothing disturbed.

A process of its own does the work, and kills itself at a given point: after the n-th run of a statement, that is
inside of its transaction, or at the n-th progress call of a stage. Small batches give every stage several transactions.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import _OURS as OURS
from conftest import wipe
from corpora import difference, extracted, invented
from graph_state import snapshot

from kgplatform.client import KnowledgeGraph
from kgplatform.ingest import extract_pass as reading
from kgplatform.ingest import pipeline, settle
from kgplatform.models.chat import Ledger, make_chat
from kgplatform.models.hash_embedder import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer

pytestmark = pytest.mark.killed

DRIVER = """
import json, os, signal, sys
from kgplatform import trace
from kgplatform.ingest import pipeline
from kgplatform.ingest import extract_pass as reading
from kgplatform.ingest import settle
from kgplatform.client import open_graph
from kgplatform.settings import load_settings
pipeline._LAY_PASSAGES, reading._COMMIT_ROWS, settle._BATCH = 40, 150, 30

def run(name, number, command, arguments, environment):
    os.environ.update(environment)
    seen = 0
    def count(what):
        nonlocal seen
        seen += what == name
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)
    def progress(stage, done, total):
        count(stage)
    with open_graph(load_settings()) as graph, trace(lambda executed: count(executed.name)):
        if command == "remove":
            graph.remove(arguments)
        elif command == "reembed":
            graph.reembed(progress=progress)
        elif command == "facts":
            graph.ingest(facts=True, progress=progress)
        else:
            graph.ingest(arguments, extractor=command, progress=progress)

for line in sys.stdin:
    child = os.fork()
    if not child:
        run(**json.loads(line))
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
"""
"""Forks a process for every line that it reads, so that the modules are loaded once, and prints how each ended."""

FILES = 60
# In the order in which an ingest comes by; each run starts from what the killed ones before it left.
KILLS = [
    ("ingest/set_graph_state", 1),  # the graph does not know its embedding model yet
    ("ingest/next_passages", 2),  # documents and passages written, and lost with their transaction
    ("ingest/mentions", 2),
    ("ingest/passage_states", 3),
    ("extracting", 30),
    ("ingest/element_names", 1),
    ("embedding entities", 1),
    ("ingest/embed", 2),
    ("embedding facts", 2),
    ("ingest/same_as", 1),
    ("ingest/settled", 2),
]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the driver, so that the runs in this process go the same ways."""
    monkeypatch.setattr(pipeline, "_LAY_PASSAGES", 40)
    monkeypatch.setattr(reading, "_COMMIT_ROWS", 150)
    monkeypatch.setattr(settle, "_BATCH", 30)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        env=environment,
        cwd=tmp_path_factory.mktemp("driver"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def killed(neo4j_server: Connection, tmp_path: Path, driver: subprocess.Popen[str]) -> Callable[..., None]:
    """Runs a command in a process of its own that dies at the given point, and makes sure that it did."""

    def run(point: tuple[str, int], command: str, *arguments: str, **environment: str) -> None:
        given = {
            "NEO4J_URI": neo4j_server.uri,
            "NEO4J_USERNAME": neo4j_server.username,
            "NEO4J_PASSWORD": neo4j_server.password,
            "KGPLATFORM_HOME": str(tmp_path / "home"),
            "KGPLATFORM_EMBEDDER": "hash:64",
            "KGPLATFORM_PASSAGE_TOKENS": "40",
            **environment,
        }
        order = {"name": point[0], "number": point[1], "command": command, "arguments": arguments, "environment": given}
        assert driver.stdin is not None
        assert driver.stdout is not None
        print(json.dumps(order), file=driver.stdin, flush=True)
        assert os.WTERMSIG(int(driver.stdout.readline())) == signal.SIGKILL, f"{point} was not reached"

    return run


def opened(store: Store, home: Path, dimension: int = 64, **more: Any) -> KnowledgeGraph:
    settings = load_settings(home=home, passage_tokens=40, embedder=f"hash:{dimension}", **more)
    ledger = Ledger()
    graph = KnowledgeGraph(store, settings, embedder=HashEmbedder(dimension), chat=make_chat(settings, ledger))
    graph.ledger = ledger
    return graph


def test_killed_anywhere_and_run_again(store: Store, tmp_path: Path, killed: Callable[..., None]) -> None:
    files = invented(tmp_path / "notes", FILES)
    kg = opened(store, tmp_path / "home")
    undisturbed = kg.ingest(files, extractor="local")
    wanted = snapshot(store)
    wipe(store)
    for point in KILLS:
        killed(point, "local", str(tmp_path / "notes"))
    report = kg.ingest(files, extractor="local")
    assert difference(snapshot(store), wanted) == []
    assert (report.passages, report.extracted, report.complete) == (undisturbed.passages, 0, True)
    for count in ("kept", "mapped", "dropped", "off_schema", "statements_found", "statements_not_found", "duplicates"):
        assert getattr(report, count) == getattr(undisturbed, count), count
    assert kg.search("Who founded Kestrel Lines?").passages


def test_a_change_that_was_killed(store: Store, tmp_path: Path, killed: Callable[..., None]) -> None:
    """Old content goes and new content comes in several transactions; then a removal is killed, too."""
    files = invented(tmp_path / "notes", 8)
    kg = opened(store, tmp_path / "home")
    for file in files[:4]:
        file.write_text(file.read_text().replace("Kestrel", "Falcon").replace("Petrel", "Gannet"))
    kg.ingest(files[:6], extractor="local")
    remaining = snapshot(store)
    wipe(store)
    invented(tmp_path / "notes", 8)
    kg.ingest(files, extractor="local")
    for file in files[:4]:
        file.write_text(file.read_text().replace("Kestrel", "Falcon").replace("Petrel", "Gannet"))
    folder = str(tmp_path / "notes")
    for point in [
        ("ingest/remove_facts", 1),
        ("ingest/passages", 1),
        ("ingest/triples", 1),
        ("ingest/element_names", 1),
    ]:
        killed(point, "local", folder)
    for point in [("ingest/remove_mentions", 1), ("ingest/embed_elements", 1), ("ingest/remove_documents", 1)]:
        killed(point, "remove", files[6].as_uri(), files[7].as_uri())
    kg.remove([files[6].as_uri(), files[7].as_uri()])
    assert difference(snapshot(store), remaining) == []


def test_a_killed_reembedding(store: Store, tmp_path: Path, killed: Callable[..., None]) -> None:
    files = invented(tmp_path / "notes", 4)
    opened(store, tmp_path / "home", 32).ingest(files, extractor="local")
    wanted = snapshot(store)
    wipe(store)
    opened(store, tmp_path / "home").ingest(files, extractor="local")
    kg = opened(store, tmp_path / "home", 32)
    for point in [("ingest/unembed", 1), ("embedding facts", 1)]:
        killed(point, "reembed", KGPLATFORM_EMBEDDER="hash:32")
    kg.reembed()
    assert difference(snapshot(store), wanted) == []


def sentences_as_facts(messages: Messages) -> str:
    """One fact a sentence; its key elements are its words with a capital, and some verbs."""
    text = "\n".join(messages[1]["content"].split("\n")[2:-1]).replace("\n", " ")
    lines = []
    for each in filter(None, (part.strip(" .") for part in text.split(". "))):
        told = [word for word in each.replace(",", "").split() if word[0].isupper() or word in ("works", "founded")]
        lines.append(f"{len(lines) + 1}. {each}. | {' | '.join(told)}")
    return "\n".join(lines)


def test_a_killed_pass_for_facts(store: Store, tmp_path: Path, killed: Callable[..., None]) -> None:
    files = invented(tmp_path / "notes", 20)
    with OpenAIServer(sentences_as_facts) as server:
        kg = opened(store, tmp_path / "other", openai_base_url=server.base_url)
        kg.ingest(files, extractor="local", facts=True)
        wanted = snapshot(store)
        wipe(store)
        kg = opened(store, tmp_path / "home", openai_base_url=server.base_url)
        kg.ingest(files, extractor="local")
        asked = len(server.requests)
        points = [
            ("ingest/remove_atomic_facts", 1),
            ("ingest/recount_statements", 1),
            ("reading facts", 50),
            ("embedding elements", 1),
            ("ingest/write_form_pairs", 1),
            ("ingest/write_forms", 1),
            ("ingest/settled", 1),
        ]
        for point in points:
            killed(point, "facts", OPENAI_BASE_URL=server.base_url)
        report = kg.ingest(facts=True)
    assert (report.facts_read, report.complete) == (0, True), "all were committed before the last of the kills"
    assert len(server.requests) - asked <= 60 + 2 * 8, "only what was under way is asked for again"
    assert difference(snapshot(store), wanted) == []


def test_no_answer_is_paid_for_twice(store: Store, tmp_path: Path, killed: Callable[..., None]) -> None:
    """Only what was under way at the moment of the kill may be asked for again: nobody has its answer."""
    files = invented(tmp_path / "notes", 30)
    with OpenAIServer(extracted) as server:
        kg = opened(store, tmp_path / "other", openai_base_url=server.base_url)
        undisturbed = kg.ingest(files, extractor="llm")
        wanted = snapshot(store)
        wipe(store)
    assert [each.name for each in undisturbed.expansions] == ["Vessel"], "the schema grows on the way"
    lock, prompts = threading.Lock(), Counter[str]()

    def counted(messages: Messages) -> str:
        with lock:
            prompts[json.dumps(messages)] += 1
        return extracted(messages)

    with OpenAIServer(counted) as server:
        environment = {"OPENAI_BASE_URL": server.base_url, "KGPLATFORM_CONCURRENCY": "4"}
        folder = str(tmp_path / "notes")
        killed(("extracting", 30), "llm", folder, **environment)
        killed(("extracting", 70), "llm", folder, **environment)
        again = sum(prompts.values()) - len(prompts)
        assert again <= 4
        kg = opened(store, tmp_path / "home", openai_base_url=server.base_url, concurrency=4)
        report = kg.ingest(files, extractor="llm")
        assert report.complete
        assert len(prompts) == undisturbed.passages == 90
        assert sum(prompts.values()) - len(prompts) <= 8
        asked = sum(prompts.values())
        assert kg.ingest(files, extractor="llm").extracted == 0
        assert sum(prompts.values()) == asked
    assert report.expansions == undisturbed.expansions
    assert difference(snapshot(store), wanted) == []


def test_answers_that_were_kept_are_not_asked_for_again(
    store: Store, tmp_path: Path, killed: Callable[..., None]
) -> None:
    """Killed when all have answered and before any of it is committed: the cache on disk has everything."""
    files = invented(tmp_path / "notes", 10)
    with OpenAIServer(extracted) as server:
        environment = {"OPENAI_BASE_URL": server.base_url}
        kg = opened(store, tmp_path / "home", openai_base_url=server.base_url)
        killed(("extracting", 30), "llm", str(tmp_path / "notes"), **environment)
        assert len(server.requests) == 30
        assert kg.ingest(files, extractor="llm").complete
        assert len(server.requests) == 30
        used = kg.ledger.by_stage()["extract"]
        assert (used.calls, used.input_tokens, used.output_tokens) == (0, 0, 0)
        assert used.cached_calls > 0
