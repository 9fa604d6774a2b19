"""Every reader tells its steps as they happen, ends where it is stopped, and stands a model that errs."""

import json
import random
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import neo4j
import pytest
from conftest import EXAMPLES, wipe
from simulated_readers import reply
from stopped import Silent, Working, threads, until

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.threads import Stop
from kgplatform.errors import ModelError, StoppedError
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.readers.readers import names
from kgplatform.records import Step
from kgplatform.settings import load_settings
from kgplatform.testing import Fault, OpenAIServer

QUESTION = "Who designed the ship that laid the Atlantic cable of 1866, and who paid for it?"
RUNS: list[tuple[str, dict[str, Any], int]] = [
    *(("retrieve", {}, 1), ("youtu", {}, 2), ("graphreader", {"nodes": 3}, 4)),
    *(("readagent", {"lookup": "parallel"}, 2), ("readagent", {"lookup": "sequential", "interim": True}, 3)),
    *(("longagent", {"member_tokens": 512}, 5), ("global", {"part_tokens": 1500}, 3), ("fulltext", {}, 1)),
    *(("chunkread", {"calls": 4, "preset": "paper"}, 1), ("chunknotes", {"calls": 4, "preset": "paper"}, 1)),
    ("cypher", {}, 2),
]
"""Readers with options, and the request to the model at which they are stopped; each sends as many."""
every_run = pytest.mark.parametrize(
    ("reader", "options", "request_number"), RUNS, ids=lambda each: each if isinstance(each, str) else ""
)


class Told:
    """What is told, which nobody may do while another does."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._busy = threading.Lock()

    def __call__(self, step: Step) -> None:
        assert self._busy.acquire(blocking=False)
        self.steps.append(step)
        self._busy.release()


@pytest.fixture(scope="module")
def opened(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Silent]]:
    """The graph of the examples with gists and a tree, and the model that wrote and named them."""
    model = Silent(reply)
    with model.server, Store(neo4j_server) as store:
        wipe(store)
        with asking(store, model) as graph:
            graph.ingest(EXAMPLES / "corpus", recorded=EXAMPLES / "extraction.jsonl")
            graph.build_tree()
            graph.gist()
        yield store, model


@contextmanager
def asking(store: Store, model: Silent) -> Iterator[KnowledgeGraph]:
    """The graph with a chat that keeps no answers."""
    settings = load_settings(openai_base_url=model.server.base_url, chat_model="tiny", embedder="hash:64")
    chat = OpenAIChat(settings, Ledger(), None)
    try:
        yield KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=chat)
    finally:
        chat.close()


@pytest.fixture
def graph(opened: tuple[Store, Silent]) -> Iterator[KnowledgeGraph]:
    opened[1].silent_from(None)
    with asking(*opened) as graph:
        yield graph


def by_path(steps: Sequence[Step]) -> dict[int, list[Step]]:
    found: dict[int, list[Step]] = defaultdict(list)
    for step in steps:
        found[step.path].append(step)
    return found


def test_every_reader_is_among_those_here() -> None:
    assert set(names()) == {reader for reader, _, _ in RUNS}


@every_run
def test_what_is_told_is_the_trace(
    graph: KnowledgeGraph, reader: str, options: dict[str, Any], request_number: int
) -> None:
    told = Told()
    answer = graph.ask(QUESTION, reader, on_step=told, **options)
    assert answer.usage.calls >= request_number
    compare(told.steps, answer.trace)


def compare(told: Sequence[Step], trace: Sequence[Step]) -> None:
    heard, written = by_path(told), by_path(trace)
    assert heard.keys() == written.keys()
    for path, steps in written.items():
        assert [step.name for step in heard[path]] == [step.name for step in steps]
        for said, kept in zip(heard[path], steps, strict=True):
            assert kept.detail.startswith(said.detail)
            assert (said.reply, said.queries, said.facts, said.passages) == (
                kept.reply,
                kept.queries,
                kept.facts,
                kept.passages,
            )
            assert (said.elements, said.pages, said.usage) == (kept.elements, kept.pages, kept.usage)


def test_the_one_step_without_a_model_is_told_too(opened: tuple[Store, Silent]) -> None:
    graph = KnowledgeGraph(opened[0], load_settings(embedder="hash:64"), embedder=HashEmbedder(64))
    for reader in names():
        told = Told()
        answer = graph.ask(QUESTION, reader, on_step=told)
        assert len(told.steps) == 1, reader
        compare(told.steps, answer.trace)


@pytest.mark.parametrize(
    ("reader", "options"), [("retrieve", {}), ("graphreader", {"nodes": 3}), ("longagent", {"member_tokens": 512})]
)
def test_who_listens_may_end_a_run_by_an_error_or_stop_it(
    graph: KnowledgeGraph, reader: str, options: dict[str, Any]
) -> None:
    """One whose steps follow each other, and two that do much at a time: the error may be raised in any thread."""
    for error in (LookupError("enough"), ModelError("enough")):
        heard: list[Step] = []

        def listen(step: Step, heard: list[Step] = heard, error: Exception = error) -> None:
            heard.append(step)
            if step.path or reader == "retrieve":
                raise error

        with pytest.raises(type(error), match="enough"):
            graph.ask(QUESTION, reader, on_step=listen, **options)
        assert len(heard) <= 3

    stop, told = Stop(), list[str]()

    def stops(step: Step) -> None:
        told.append(step.name)
        stop.set()

    with pytest.raises(StoppedError, match="The work was stopped"):
        graph.ask(QUESTION, reader, on_step=stops, stop=stop, **options)
    assert len(told) == 1


@every_run
def test_a_run_that_waits_for_the_model_is_stopped_and_leaves_nothing(
    opened: tuple[Store, Silent], neo4j_server: Connection, reader: str, options: dict[str, Any], request_number: int
) -> None:
    """Also where several of its threads wait; another run at the same time, on the same graph, is not harmed."""
    store, model = opened
    before = threads()
    with asking(store, model) as graph:
        model.silent_from(request_number)
        working = Working(lambda stop: graph.ask(QUESTION, reader, stop=stop, **options))
        model.wait()
        model.silent_from(None)
        other = Working(lambda stop: graph.ask("Who was Cyrus Field?", "youtu", stop=stop))
        assert isinstance(working.stopped(), StoppedError)
        assert other.ended() is None
        assert other.result.usage.calls > 0
    # The store stays open, and with it the threads of its searches, which it starts as they are needed.
    until(lambda: all(thread.name.startswith("searching") for thread in threads() - before))
    assert model.connections() == 0
    assert transactions(neo4j_server) == 0


def transactions(server: Connection) -> int:
    """How many there are on the server, but the one that counts."""
    auth = (server.username, server.password)
    with neo4j.GraphDatabase.driver(server.uri, auth=auth) as driver, driver.session() as session:
        return len(list(session.run("SHOW TRANSACTIONS YIELD currentQuery"))) - 1


FORMS: Sequence[Callable[[str], str | Fault]] = (
    lambda form: f"Sure! Here is my reply:\n\n```json\n{form}\n```\n\nI hope this helps.",
    lambda form: form.replace("{", "{,", 1).removesuffix("}"),
    json.dumps,
    lambda form: Fault.length_limit(form[: len(form) * 2 // 3]),
    lambda form: "",
    lambda form: "I am sorry, but I cannot help with that.",
)
"""What goes wrong with the form of a reply."""
SLIPS: Sequence[Callable[[str | float], object]] = (
    lambda said: "none",
    lambda said: "" if isinstance(said, str) else 0,
    lambda said: re.sub(r"\d+(\.\d+)?", "77.3", said) if isinstance(said, str) else 77,
    lambda said: re.sub(r" ?\[[\d.]+\]", "", said) if isinstance(said, str) else said,
    lambda said: re.sub(r"\b[A-Z]\w+", "Nemo", said) if isinstance(said, str) else said,
)
"""And with all that it says: nothing, numbers that were not shown, none at all, names that nobody has."""
MOST_CALLS = 400


class Erring:
    """Replies as ``simulated_readers`` do, of which each errs with the same chance."""

    def __init__(self, errs: float) -> None:
        self.errs = errs
        self.sent: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, messages: Messages) -> str | Fault:
        key, right = json.dumps(messages), reply(messages)
        with self._lock:
            self.sent[key] += 1
            chance = random.Random(f"{self.sent[key]}/{key}")
        if chance.random() >= self.errs:
            return right
        if chance.random() < 0.5:
            return chance.choice(FORMS)(right)
        return json.dumps(slipped(json.loads(right), chance.choice(SLIPS)))


def slipped(said: Any, slip: Callable[[str | float], object]) -> Any:
    if isinstance(said, dict):
        return {key: slipped(each, slip) for key, each in said.items()}
    if isinstance(said, list):
        return [slipped(each, slip) for each in said]
    return said if isinstance(said, bool) else slip(said)


@every_run
def test_a_model_that_errs_leads_to_an_end_and_nothing_that_it_invents_is_cited_without_a_mark(
    opened: tuple[Store, Silent], tmp_path: Path, reader: str, options: dict[str, Any], request_number: int
) -> None:
    for errs in (0.3, 1.0):
        model = Erring(errs)
        with OpenAIServer(model) as server:
            home = tmp_path / str(errs)
            settings = load_settings(home=home, openai_base_url=server.base_url, embedder="hash:64")
            graph = KnowledgeGraph(opened[0], settings, embedder=HashEmbedder(64))
            try:
                said = graph.ask(QUESTION, reader, **options).statements
            except ModelError as error:
                said = ()
                assert "cannot be used" in str(error) or "gave no answer" in str(error)
        invented = [each for each in said if "Nemo" in each.text and each.citations and each.compared]
        assert all(each.unread for each in invented)
        assert 0 < model.sent.total() <= MOST_CALLS
