"""How soon stopped work ends, and what being able to stop costs work that nobody stops."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import neo4j
import openai
import pytest
from data_sets import Place
from measure import percentile
from tables import Section, Table

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.stopping import NEVER, Stop
from kgplatform.errors import StoppedError
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Store
from kgplatform.query import load_query
from kgplatform.settings import load_settings
from kgplatform.testing import Fault, OpenAIServer

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from simulated_readers import reply  # noqa: E402 - it lies beside the other tests
from stopped import LONG, Silent  # noqa: E402 - as above

EXAMPLES = ROOT.parent / "examples"
QUESTION = "Who was Wildman Whitehouse, and what did Samuel Morse do?"
READERS: dict[str, tuple[dict[str, Any], int]] = {
    "retrieve": ({}, 1),
    "youtu": ({}, 2),
    "graphreader": ({"nodes": 3}, 3),
    "longagent": ({"member_tokens": 256}, 4),
}
"""Options, and the request to the model at which the reader is stopped."""
TURNS = 80
REPEATS = 5
ENDLESS = "UNWIND range(1, 1000000000000) AS x WITH x WHERE x < 0 RETURN count(x)"
SLOWER_LIMIT = 1.25


@pytest.fixture
def opened(place: Place) -> Iterator[Store]:
    """An empty database of its own."""
    server = LocalNeo4j(load_settings(home=place.folder / "stop", neo4j_jars=place.jars))
    try:
        with Store(server.up()) as store:
            yield store
    finally:
        server.down()


def test_stop(section: Callable[[str, str], Section], opened: Store) -> None:
    found = section("stop", "Stopping: how soon work ends")
    model = Silent(reply)
    with model.server:
        settings = load_settings(openai_base_url=model.server.base_url, chat_model="tiny", embedder="hash:64")
        chat = OpenAIChat(settings, Ledger(), None)
        graph = KnowledgeGraph(opened, settings, embedder=HashEmbedder(64), chat=chat)
        graph.ingest(sorted((EXAMPLES / "corpus").glob("*.txt")), extractor="local")
        ended = {name: _readers(graph, model, name, *how) for name, how in READERS.items()}
        chat.close()
    ended["a user's statement that computes"] = _statements(opened)
    ended["a transaction that waits for a lock"] = _locks(opened)
    worst = max(max(each) for each in ended.values())
    found.add("the longest time from the stop to the end", 1000 * worst, "ms", at_most=1000)
    rows = [(name, f"{1000 * percentile(each, 50):.0f}", f"{1000 * max(each):.0f}") for name, each in ended.items()]
    found.tables.append(Table(f"Milliseconds from the stop to the end, of {REPEATS}", ("", "median", "longest"), rows))


def test_costs(section: Callable[[str, str], Section], opened: Store) -> None:
    _costs(section("stop_costs", "Stopping: what it costs work that nobody stops"), opened)


# --------------------------------------------------------------------------------------------------- how soon it ends


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


# ------------------------------------------------------------------------------------------------------ what it costs


def _costs(found: Section, store: Store) -> None:
    """A model that answers at once shows what a request costs here; one that takes 100 ms, what that means."""
    number = count()
    for delay in (0.0, 0.1):
        with OpenAIServer(lambda messages: "Hi.", faults=lambda request, delay=delay: Fault.slow(delay)) as server:
            chat = OpenAIChat(load_settings(openai_base_url=server.base_url, chat_model="tiny"), Ledger(), None)
            client = openai.OpenAI(api_key="none", base_url=server.base_url, max_retries=0)

            def ours(stop: Stop, chat: OpenAIChat = chat) -> None:
                chat.within(stop=stop).send([{"role": "user", "content": f"Hello {next(number)}"}], stage="s")

            def theirs(client: openai.OpenAI = client) -> None:
                said = [{"role": "user", "content": f"Hello {next(number)}"}]
                body = {"model": "tiny", "messages": said, "temperature": 0}
                client.post("/chat/completions", body=body, cast_to=object)

            for threads in (1, 8):
                _compare(found, f"a call of a model of {1000 * delay:.0f} ms, {threads} at once", theirs, ours, threads)
            chat.close()
            client.close()
    _compare(
        found,
        "a statement",
        lambda: _read_managed(store),
        lambda stop: store.within(stop).read("explore/has_documents"),
        1,
    )


def _compare(
    found: Section, what: str, theirs: Callable[[], None], ours: Callable[[Stop], object], threads: int
) -> None:
    """Medians of the three ways by turns, one piece of work each, so that all see the same load of the machine."""

    ways: list[Callable[[], object]] = [theirs, lambda: ours(NEVER), lambda: ours(Stop())]

    def turns(_: int) -> list[list[float]]:
        return [[_seconds(way) for way in ways] for _ in range(TURNS // threads)]

    for way in ways:
        way()
    with ThreadPoolExecutor(threads) as pool:
        rows = [row for each in pool.map(turns, range(threads)) for row in each]
    base, plain, with_stop = (percentile(list(each), 50) for each in zip(*rows, strict=True))
    found.add(f"{what}, compared with the library's own", plain / base, "times", at_most=SLOWER_LIMIT)
    found.add(f"{what} that can be stopped, likewise", with_stop / base, "times")
    found.notes.append(f"{what}: {1000 * base:.2f} ms by the library (median of {len(rows)}).")


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _read_managed(store: Store) -> None:
    text = load_query("explore/has_documents").text

    def work(transaction: neo4j.ManagedTransaction) -> list[dict[str, Any]]:
        result = transaction.run(text, {})
        columns = result.keys()
        return [dict(zip(columns, each.values(), strict=True)) for each in result]

    with store.lend_driver("the benchmark") as driver:
        manager = driver.execute_query_bookmark_manager
        with driver.session(default_access_mode=neo4j.READ_ACCESS, bookmark_manager=manager) as session:
            session.execute_read(work)
