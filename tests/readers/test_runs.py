"""Runs at the same time on one graph share its connections and its models, and nothing else."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import opened, wipe
from simulated_readers import reply
from statements import chain, ingest
from stopped import LONG

from kgplatform import trace
from kgplatform.client import KnowledgeGraph
from kgplatform.errors import BudgetError, InputError
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.neo4j.store import Connection, Store
from kgplatform.readers.readers import READERS
from kgplatform.records import Answer, QueryRun, Step, Usage
from kgplatform.search.evidence import Evidence
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer

RUNS = [
    *(("Who taught Birch?", "retrieve"), ("Who taught Cedar, and who taught Birch?", "youtu")),
    *(("Who was taught by Alder?", "graphreader"), ("Whom did Birch teach?", "longagent")),
    ("Who taught whom?", "chunknotes"),
]


@pytest.fixture(scope="module")
def graph(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """One graph, which is only read, with one model, which keeps no answers: each run pays for its own."""
    folder = tmp_path_factory.mktemp("runs")
    with OpenAIServer(reply) as server, Store(neo4j_server) as store:
        wipe(store)
        settings = load_settings(home=folder, openai_base_url=server.base_url, embedder="hash:64")
        chat = OpenAIChat(settings, Ledger(), None)
        graph = KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=chat)
        ingest(graph, folder, chain("Alder", "Birch", "Cedar", "Dogwood"))
        yield graph
        chat.close()


def told(answer: Answer) -> list[tuple[str, Usage]]:
    return [(step.name, step.usage) for step in answer.trace]


def test_each_counts_what_it_spends_itself_and_hears_its_own_steps(graph: KnowledgeGraph) -> None:
    chat = graph.language_model
    assert isinstance(chat, OpenAIChat)
    before = chat._ledger.total
    alone = [graph.ask(*each) for each in RUNS]
    assert all(each.usage.calls for each in alone)
    heard: list[list[Step]] = [[] for _ in RUNS]
    with ThreadPoolExecutor(len(RUNS)) as pool:
        works = [pool.submit(graph.ask, *run, on_step=steps.append) for run, steps in zip(RUNS, heard, strict=True)]
        together = [work.result() for work in works]
    for answer, expected, steps in zip(together, alone, heard, strict=True):
        assert (answer.text, answer.usage, told(answer)) == (expected.text, expected.usage, told(expected))
        assert {(step.path, step.name) for step in steps} == {(step.path, step.name) for step in answer.trace}
    assert chat._ledger.total == sum((each.usage for each in [*alone, *together]), before)
    assert graph.ledger.total == Usage(), "the chat that was given has another ledger"


def test_a_part_of_the_work_has_the_runs_in_it(graph: KnowledgeGraph) -> None:
    first, second = graph.within(), graph.within()
    answers = [first.ask(*RUNS[0]), first.ask(*RUNS[1]), second.ask(*RUNS[2])]
    assert first.ledger.total == answers[0].usage + answers[1].usage
    assert second.ledger.total == answers[2].usage


def test_who_traces_is_told_what_is_begun_there_in_all_threads_and_nothing_else(graph: KnowledgeGraph) -> None:
    others, over = threading.Event(), threading.Event()

    def another() -> None:
        while not over.is_set():
            graph.stats()
            others.set()

    ran: list[QueryRun] = []
    with ThreadPoolExecutor(1) as pool:
        pool.submit(another)
        assert others.wait(LONG)
        with trace(ran.append):
            answer = graph.ask(*RUNS[2])
        over.set()
    names = [run.name for step in answer.trace for run in step.queries]
    led_there = [run.name for run in ran if run.name.startswith("search/") and "single_" not in run.name]
    assert sorted(led_there) == sorted(names), "what other passages say of the answer is no step to it"
    assert "explore/relationship_counts" not in {run.name for run in ran}


# Other graphs, which replace that one.


def test_a_budget_is_that_of_all_runs_together(store: Store, tmp_path: Path) -> None:
    with OpenAIServer(reply) as server:
        with_budget = opened(store, tmp_path, openai_base_url=server.base_url, token_budget=1500)
        ingest(with_budget, tmp_path, chain("Alder", "Birch", "Cedar", "Dogwood"))
        with pytest.raises(BudgetError, match="1,500 tokens"):
            for number in range(20):
                with_budget.within().ask(f"Who taught Birch, and who taught number {number}?")
        assert with_budget.ledger.total.input_tokens + with_budget.ledger.total.output_tokens >= 1500


Shared = tuple[KnowledgeGraph, OpenAIServer]

# Both tell of the same people, so that every walk leads from one to the other; a word of each tells whose it is.
COPPER = (
    "Cyrus Field founded the Copper Telegraph Company. Samuel Morse advised Cyrus Field about copper. "
    "William Thomson measured the copper of Samuel Morse. Cyrus Field met William Thomson over copper."
)
ZINC = (
    "Cyrus Field founded the Zinc Telegraph Company. Samuel Morse warned Cyrus Field about zinc. "
    "Charles Bright weighed the zinc of Samuel Morse. Charles Bright met William Thomson over zinc."
)
QUESTION = "Which company did Cyrus Field found, and what did Samuel Morse say of it?"
ONLY = {"metal": "copper"}


@pytest.fixture
def shared(store: Store, tmp_path: Path) -> Iterator[Shared]:
    """A graph of two documents, with facts and gists, and a model whose every request is kept."""
    with OpenAIServer(reply) as server:
        settings = load_settings(home=tmp_path, openai_base_url=server.base_url, embedder="hash:64")
        chat = OpenAIChat(settings, Ledger(), None)
        graph = KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=chat)
        graph.ingest(
            [
                {"id": "1", "title": "One", "text": COPPER, "metal": "copper"},
                {"id": "2", "title": "Two", "text": ZINC, "metal": "zinc"},
            ],
            extractor="local",
            facts=True,
        )
        graph.gist()
        yield graph, server
        chat.close()


def prompts(server: OpenAIServer, since: int = 0) -> str:
    return "\n".join(str(request.body) for request in server.requests_to("/chat/completions")[since:]).lower()


def test_no_word_of_other_documents_reaches_the_model(shared: Shared) -> None:
    graph, server = shared
    before = len(server.requests_to("/chat/completions"))
    for reader in (each.name for each in READERS if not each.whole_graph):
        since = len(server.requests_to("/chat/completions"))
        answer = graph.ask(QUESTION, reader, where=ONLY)
        assert "copper" in prompts(server, since), reader
        shown = [*answer.evidence.passages, *(place for fact in answer.evidence.facts for place in fact.citations)]
        assert {each.title for each in (*shown, *answer.citations)} == {"One"}, reader
    assert "zinc" not in prompts(server, before)
    graph.ask(QUESTION, "graphreader")
    assert "zinc" in prompts(server, before), "it is as near to the question"
    kept = Evidence(graph.store, graph.embedder, [info.id for info in graph.documents()][:1])
    with pytest.raises(InputError, match="Communities are about all documents and cannot"):
        kept.groups(QUESTION)
    with pytest.raises(InputError, match="A statement is about all documents"):
        kept.statements(QUESTION)
