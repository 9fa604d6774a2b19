"""How soon stopped work ends."""

import threading
import time
from collections.abc import Callable
from typing import Any

import neo4j
import pytest
from conftest import ROOT
from data_sets import Place
from graphs import new_graph
from measure import percentile
from simulated_readers import reply
from stopped import LONG, Silent
from tables import Section, Table

from kgplatform import KnowledgeGraph
from kgplatform.concurrency.threads import Stop
from kgplatform.errors import StoppedError
from kgplatform.models.chat import Ledger
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.neo4j.store import Store

EXAMPLES = ROOT / "examples"
QUESTION = "Who was Wildman Whitehouse, and what did Samuel Morse do?"
READERS: dict[str, tuple[dict[str, Any], int]] = {
    "retrieve": ({}, 1),
    "youtu": ({}, 2),
    "graphreader": ({"nodes": 3}, 3),
    "longagent": ({"member_tokens": 256}, 4),
}
"""Options, and the request to the model at which the reader is stopped."""
REPEATS = 5
ENDLESS = "UNWIND range(1, 1000000000000) AS x WITH x WHERE x < 0 RETURN count(x)"


def test_stop(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("stop", "Stopping: how soon work ends")
    model = Silent(reply)
    with model.server, new_graph(place, "stop", embedder="hash:64", openai_base_url=model.server.base_url) as opened:
        chat = OpenAIChat(opened.settings, Ledger(), None)
        graph = KnowledgeGraph(opened.store, opened.settings, embedder=opened.embedder, chat=chat)
        graph.ingest(sorted((EXAMPLES / "corpus").glob("*.txt")), extractor="local")
        ended = {name: _readers(graph, model, name, *how) for name, how in READERS.items()}
        chat.close()
        ended["a user's statement that computes"] = _statements(opened.store)
        ended["a transaction that waits for a lock"] = _locks(opened.store)
    worst = max(max(each) for each in ended.values())
    found.add("the longest time from the stop to the end", 1000 * worst, "ms", at_most=1000)
    rows = [(name, f"{1000 * percentile(each, 50):.0f}", f"{1000 * max(each):.0f}") for name, each in ended.items()]
    found.tables.append(Table(f"Milliseconds from the stop to the end, of {REPEATS}", ("", "median", "longest"), rows))


def _ended(work: Callable[[Stop], object], begun: Callable[[], None]) -> float:
    """Seconds from the stop of ``work``, once it has ``begun``, to its end."""
    stop, ended = Stop(), list[float]()

    def run() -> None:
        with pytest.raises(StoppedError):
            work(stop)
        ended.append(time.perf_counter())

    thread = threading.Thread(target=run)
    thread.start()
    begun()
    started = time.perf_counter()
    stop.set()
    thread.join(LONG)
    return ended[0] - started


def _readers(graph: KnowledgeGraph, model: Silent, reader: str, options: dict[str, Any], number: int) -> list[float]:
    seconds = []
    for _ in range(REPEATS):
        model.silent_from(number)
        seconds.append(_ended(lambda stop: graph.ask(QUESTION, reader, stop=stop, **options), model.wait))
    return seconds


def _statements(store: Store) -> list[float]:
    def work(stop: Stop) -> object:
        return store.within(stop).run_statement(ENDLESS, {}, write=False, timeout=LONG, limit=1)

    with _other(store) as other:
        return [_ended(work, lambda: _wait_for(other, "Running", "1000000000000")) for _ in range(REPEATS)]


def _locks(store: Store) -> list[float]:
    def work(stop: Stop) -> object:
        return store.within(stop).write(("ingest/set_graph_state", {"state": {"chunkTokens": 3}}))

    with _other(store) as holder, _other(store) as other, holder.begin_transaction() as holding:
        holding.run("MATCH (g:Graph) SET g.chunkTokens = 2").consume()
        return [_ended(work, lambda: _wait_for(other, "Blocked", "Graph")) for _ in range(REPEATS)]


def _other(store: Store) -> neo4j.Session:
    with store.lend_driver("the benchmark") as driver:
        return driver.session()


def _wait_for(session: neo4j.Session, status: str, words: str) -> None:
    """Until a transaction whose statement has ``words`` is in ``status``."""
    statement = (
        "SHOW TRANSACTIONS YIELD currentQuery, status WHERE status STARTS WITH $status RETURN currentQuery AS said"
    )
    while not any(words in each["said"] for each in session.run(statement, status=status)):
        pass
