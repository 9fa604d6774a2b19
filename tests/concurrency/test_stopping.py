"""Work that is stopped from outside ends where it waits, and leaves nothing behind."""

import asyncio
import gc
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import neo4j
import pytest
from simulated_readers import reply
from stopped import LONG, Silent, Working, threads, until

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.threads import NEVER, Breaker, LoopThread, Stop, Work, run_works, short_works, side_by_side
from kgplatform.errors import ModelError, StoppedError
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder, OpenAIEmbedder
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.neo4j.store import Connection, Store
from kgplatform.records import Usage
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import Fault, OpenAIServer

HELLO = [{"role": "user", "content": "Hello"}]
ENDLESS = "UNWIND range(1, 1000000000000) AS x WITH x WHERE x < 0 RETURN count(x)"


class TestStop:
    def test_a_part_is_stopped_with_the_whole_and_not_the_whole_with_a_part(self) -> None:
        whole = Stop()
        with whole.part() as one, whole.part() as other:
            one.set()
            assert [whole.is_set, one.is_set, other.is_set] == [False, True, False]
            whole.set()
            with pytest.raises(StoppedError):
                other.check()
        with whole.part() as late:
            assert late.is_set

    def test_what_ends_a_wait_is_called_until_it_has_ended(self) -> None:
        times: list[int] = []
        over = threading.Event()

        def end() -> None:
            times.append(1)
            if len(times) == 3:  # what it is to end began late
                over.set()

        def work(stop: Stop) -> None:
            with stop.ending(end):
                over.wait()

        before = threads()
        working = Working(work)
        assert working.stopped() is None
        assert len(times) >= 3
        assert threads() <= before

    def test_side_by_side_results_come_in_order_and_the_first_error_is_raised(self) -> None:
        assert side_by_side([partial(pow, 2, each) for each in range(20)], 4) == [2**each for each in range(20)]
        assert side_by_side([], 4) == []
        done: list[int] = []

        def fail() -> None:
            raise LookupError("first")

        def work() -> None:
            time.sleep(0.05)  # this thread learns of the error meanwhile
            done.append(1)

        with pytest.raises(LookupError, match="first"):
            side_by_side([fail, *[work] * 50], 1)
        assert len(done) < 50


class TestLoop:
    def test_closing_leaves_no_task_that_never_began(self) -> None:
        """A task that its own library has begun, a moment before, is that library's to end."""

        async def nothing() -> None: ...

        async def work() -> None:
            here = asyncio.get_running_loop()
            turn = here.create_future()
            here.call_soon(turn.set_result, None)  # the work goes on just before the loop learns of its end
            loop.close(wait=False)
            await turn
            async with anyio.create_task_group() as group:
                group.start_soon(anyio.sleep, LONG)

        loop, before = LoopThread(nothing), threads()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with pytest.raises(CancelledError):
                loop.result(work(), NEVER)
            loop.close()
            gc.collect()
        assert [str(each.message) for each in told if "never awaited" in str(each.message)] == []
        assert len({each for each in before - threads() if each.name == "model-requests"}) >= 1
        with pytest.raises(CancelledError):
            loop.result(nothing(), NEVER)

    def test_a_failure_that_nobody_waits_for_is_not_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        """Logged, it would reach people as a traceback, at whatever moment Python collects the task."""

        async def nothing() -> None: ...

        begun, whole = threading.Event(), Stop()

        async def work() -> None:
            begun.set()
            try:
                await asyncio.sleep(LONG)
            except asyncio.CancelledError:
                raise LookupError from None

        def stop_once_begun() -> None:
            begun.wait()
            whole.set()

        loop = LoopThread(nothing)
        stopper = threading.Thread(target=stop_once_begun)
        stopper.start()
        with pytest.raises(StoppedError):
            loop.result(work(), whole)
        stopper.join()
        loop.close()
        gc.collect()
        assert caplog.text == ""


@pytest.fixture
def silent() -> Iterator[Silent]:
    model = Silent(lambda messages: "Hi.")
    with model.server:
        yield model


def settings_for(address: str, **more: Any) -> Settings:
    return load_settings(openai_base_url=address, chat_model="tiny", **more)


@pytest.fixture
def chat(silent: Silent, tmp_path: Path) -> Iterator[OpenAIChat]:
    chat = OpenAIChat(settings_for(silent.server.base_url, concurrency=2), Ledger(), tmp_path)
    yield chat
    chat.close()


def asked(chat: OpenAIChat, text: str = "Hello", stop: Stop | None = None) -> str:
    """The reply to ``text``, in a request that could be broken off."""
    return chat.within(stop=stop or Stop()).send([{"role": "user", "content": text}], stage="s").text


class TestModel:
    def test_a_request_without_an_answer_is_broken_off(self, silent: Silent, chat: OpenAIChat) -> None:
        before = threads()
        silent.silent_from(1)
        working = Working(lambda stop: asked(chat, stop=stop))
        silent.wait()
        assert silent.connections() == 1
        assert isinstance(working.stopped(), StoppedError)
        until(lambda: silent.connections() == 0)
        silent.silent_from(None)
        assert asked(chat) == "Hi."
        chat.close()
        assert threads() <= before
        assert silent.connections() == 0

    def test_closing_ends_requests_under_way_and_the_next_one_opens_anew(
        self, silent: Silent, chat: OpenAIChat
    ) -> None:
        silent.silent_from(1)
        working = Working(lambda stop: asked(chat, stop=stop))
        silent.wait()
        chat.close()
        assert "was closed in stage s; ask again" in str(working.ended())
        silent.silent_from(None)
        assert asked(chat) == "Hi."

    def test_a_chat_that_nobody_closed_leaves_no_thread(self, silent: Silent) -> None:
        before = threads()
        chat = OpenAIChat(settings_for(silent.server.base_url), Ledger(), None)
        assert asked(chat) == "Hi."
        assert threads() > before
        del chat
        gc.collect()
        until(lambda: threads() <= before)
        assert silent.connections() == 0

    def test_who_waits_for_a_slot_goes_and_the_slot_is_the_next_ones(self, silent: Silent, chat: OpenAIChat) -> None:
        silent.silent_from(1)
        first, second = (Working(partial(asked, chat, text)) for text in "ab")
        until(lambda: len(silent.server.requests) == 2)
        third = Working(partial(asked, chat, "c"))
        assert isinstance(third.stopped(), StoppedError)
        fourth = Working(partial(asked, chat, "d"))
        silent.silent_from(None)
        assert isinstance(first.stopped(), StoppedError)
        assert fourth.ended() is None
        assert fourth.result == "Hi."
        assert isinstance(second.stopped(), StoppedError)
        assert [asked(chat, text) for text in "ef"] == ["Hi.", "Hi."]
        assert {each.body["messages"][0]["content"] for each in silent.server.requests} == set("abdef")

    @pytest.mark.parametrize(
        "fault", [Fault.refuse(500, "oops"), Fault.rate_limit(after=250)], ids=["backoff", "pause"]
    )
    def test_who_waits_to_try_again_goes(self, fault: Fault) -> None:
        with OpenAIServer(lambda messages: "Hi.", faults=lambda request: fault) as server:
            chat = OpenAIChat(settings_for(server.base_url), Ledger(), None, backoff=250)
            working = Working(lambda stop: asked(chat, stop=stop))
            until(lambda: len(server.requests) == 1)
            assert isinstance(working.stopped(), StoppedError)
            assert len(server.requests) == 1
            chat.close()

    @pytest.mark.parametrize("fault", [Fault.refuse(500, "oops"), Fault.no_choices(), Fault.slow(30)], ids=str)
    def test_what_goes_wrong_is_said_alike_whether_or_not_it_can_be_stopped(self, fault: Fault) -> None:
        said = []
        with OpenAIServer(lambda messages: "Hi.", faults=lambda request: fault) as server:
            patience = 0.3 if fault.delay else LONG  # on a busy machine an answer at once may take a second
            settings = settings_for(server.base_url, model_retries=1, model_timeout=patience)
            chat = OpenAIChat(settings, Ledger(), None, backoff=0)
            for send in (lambda: asked(chat), lambda: chat.send(HELLO, stage="s")):
                with pytest.raises(ModelError) as caught:
                    send()
                said.append((type(caught.value), str(caught.value), len(server.requests)))
            chat.close()
        assert said[0][:2] == said[1][:2]
        assert 2 * said[0][2] == said[1][2]

    def test_who_waits_for_anothers_call_goes_and_the_other_is_not_harmed(self) -> None:
        may_answer = threading.Event()

        def answer(messages: object) -> str:
            may_answer.wait()
            return "Hi."

        with OpenAIServer(answer) as server:
            chat = OpenAIChat(settings_for(server.base_url), Ledger(), None)
            payer = Working(lambda stop: asked(chat, stop=stop))
            until(lambda: len(server.requests) == 1)
            waiter = Working(lambda stop: asked(chat, stop=stop))
            assert isinstance(waiter.stopped(), StoppedError)
            may_answer.set()
            assert (payer.ended(), payer.result) == (None, "Hi.")
            assert len(server.requests) == 1
            chat.close()

    def test_where_the_payer_goes_another_pays(self, silent: Silent, chat: OpenAIChat) -> None:
        silent.silent_from(1)
        payer = Working(lambda stop: asked(chat, stop=stop))
        silent.wait()
        waiting, late = threading.Semaphore(0), threading.Event()

        class Waiting(Stop):
            """Says that it has found the payer's call, and the last thread learns late that the payer has gone."""

            def result_of(self, future: Future[Any]) -> Any:
                waiting.release()
                shared = super().result_of(future)
                if self is stops[-1]:
                    late.wait()
                return shared

        stops = [Waiting() for _ in range(3)]
        others = [Working(lambda _, stop=stop: chat.within(stop=stop).send(HELLO, stage="s")) for stop in stops]
        for _ in others:
            waiting.acquire()
        silent.silent_from(None)
        assert isinstance(payer.stopped(), StoppedError)
        assert [each.ended() for each in others[:-1]] == [None] * 2
        late.set()
        assert others[-1].ended() is None
        assert sorted(each.result.usage.calls for each in others) == [0, 0, 1]
        assert {each.result.text for each in others} == {"Hi."}
        assert len(silent.server.requests) == 2
        assert chat._ledger.total == Usage(calls=1, input_tokens=1, output_tokens=2, cached_calls=2)

    def test_embedding_in_batches_is_broken_off(self, silent: Silent) -> None:
        before = threads()
        embedder = OpenAIEmbedder("m", settings_for(silent.server.base_url), Ledger(), batch=2)
        silent.silent_from(3)
        working = Working(lambda stop: embedder.within(stop=stop).embed([f"text {each}" for each in range(20)]))
        silent.wait()
        assert isinstance(working.stopped(), StoppedError)
        embedder.close()
        assert threads() <= before
        assert silent.connections() == 0


@pytest.fixture
def other(neo4j_server: Connection) -> Iterator[neo4j.Session]:
    """A session of somebody else."""
    auth = (neo4j_server.username, neo4j_server.password)
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=auth) as driver, driver.session() as session:
        yield session


def running(other: neo4j.Session, words: str) -> list[str]:
    """The transactions that run a statement with ``words``, and what they are doing."""
    shown = other.run("SHOW TRANSACTIONS YIELD currentQuery, status")
    return [
        each["status"] for each in shown if words in (each["currentQuery"] or "") and "SHOW" not in each["currentQuery"]
    ]


class TestStatements:
    def test_a_users_statement_ends_on_the_server(self, store: Store, other: neo4j.Session) -> None:
        before = threads()
        working = Working(
            lambda stop: store.within(stop).run_statement(ENDLESS, {}, write=False, timeout=LONG, limit=1)
        )
        until(lambda: running(other, "1000000000000") == ["Running"])
        assert isinstance(working.stopped(), StoppedError)
        assert running(other, "1000000000000") == []
        assert threads() <= before
        assert store.run_statement("RETURN 1 AS n", {}, write=False, timeout=10, limit=1).rows == [[1]]

    def test_a_transaction_that_waits_for_a_lock_ends_and_is_not_tried_again(
        self, store: Store, other: neo4j.Session
    ) -> None:
        state = ("ingest/set_graph_state", {"state": {"chunkTokens": 1}})
        store.write(state)
        with other.begin_transaction() as holding:
            holding.run("MATCH (g:Graph) SET g.chunkTokens = 2").consume()
            working = Working(
                lambda stop: store.within(stop).write(("ingest/set_graph_state", {"state": {"chunkTokens": 3}}))
            )
            with other_session(store) as watching:
                until(lambda: any("Blocked" in each for each in running(watching, "Graph {")))
                assert isinstance(working.stopped(), StoppedError)
                assert not any("Blocked" in each for each in running(watching, "Graph {"))
            holding.rollback()
        kept = store.run_statement("MATCH (g:Graph) RETURN g.chunkTokens", {}, write=False, timeout=10, limit=1)
        assert kept.rows == [[1]]

    def test_nothing_begins_after_a_stop(self, store: Store) -> None:
        stop = Stop()
        stop.set()
        stopped = store.within(stop)
        works: list[Callable[[], object]] = [
            lambda: stopped.read("explore/has_documents"),
            lambda: stopped.write(("ingest/set_graph_state", {"state": {"mode": "strict"}})),
            lambda: stopped.define("neo4j/schema/await_indexes", seconds=1),
            lambda: stopped.run_statement("CREATE (:Note)", {}, write=True, timeout=10, limit=1),
        ]
        for work in works:
            with pytest.raises(StoppedError):
                work()
        assert store.read("explore/node_counts") == []

    def test_waiting_for_a_server_that_is_not_there(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # nobody listens
            store = Store(Connection(f"bolt://127.0.0.1:{taken.getsockname()[1]}", "neo4j", "password"))
            working = Working(lambda stop: store.within(stop).read("explore/has_documents"))
            assert isinstance(working.stopped(), StoppedError)
            store.close()


def other_session(store: Store) -> Any:
    with store.lend_driver("a test") as driver:
        return driver.session()


def texts(folder: Path) -> Path:
    folder.mkdir()
    for number in range(1, 7):
        (folder / f"{number}.txt").write_text(f"Ada Lovelace met Charles Babbage in room {number}. He lived in London.")
    return folder


@pytest.fixture
def built(store: Store, tmp_path: Path) -> Iterator[tuple[KnowledgeGraph, Silent]]:
    """A graph with a model that reads one passage at a time and keeps no answers; nothing is in it."""
    model = Silent(reply)
    with model.server:
        settings = settings_for(model.server.base_url, home=tmp_path / "home", concurrency=1)
        chat = OpenAIChat(settings, Ledger(), None)
        yield KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=chat), model
        chat.close()


class TestBuilding:
    def test_an_ingest_keeps_what_was_read_and_goes_on_there(
        self, built: tuple[KnowledgeGraph, Silent], tmp_path: Path
    ) -> None:
        graph, model = built
        folder, before = texts(tmp_path / "texts"), threads()
        model.silent_from(4)
        working = Working(lambda stop: graph.within(stop).ingest(folder, extractor="llm"))
        model.wait()
        assert isinstance(working.stopped(), StoppedError)
        until(lambda: model.connections() == 0)
        assert {each.name for each in threads() - before} <= {"model-requests", "asyncio_0"}, "those of the chat"
        model.silent_from(None)
        report = graph.ingest(folder, extractor="llm")
        assert (report.extracted, report.passages) == (3, 6)

    def test_naming_communities_and_gists(self, built: tuple[KnowledgeGraph, Silent], tmp_path: Path) -> None:
        graph, model = built
        graph.ingest(texts(tmp_path / "texts"), extractor="local")
        model.silent_from(1)
        working = Working(lambda stop: graph.within(stop).build_tree())
        model.wait()
        assert isinstance(working.stopped(), StoppedError)
        model.silent_from(None)
        report = graph.build_tree()
        assert report.named_by_model > 0
        assert report.stopped == ""

        model.silent_from(4)
        working = Working(lambda stop: graph.within(stop).gist())
        model.wait()
        assert isinstance(working.stopped(), StoppedError)
        model.silent_from(None)
        written = graph.gist()
        assert (written.written, written.complete_documents) == (3, 6)

    def test_embedding_on_this_machine_ends_between_two_batches(self) -> None:
        from kgplatform.models.embed import LocalEmbedder

        stop = Stop()
        embedder = LocalEmbedder("bge-small-en-v1.5-q", load_settings(), batch=1)
        assert len(embedder.embed(["one", "two"])) == 2
        stop.set()
        with pytest.raises(StoppedError):
            embedder.within(stop=stop).embed(["one text", "another text of more words"])


class Log:
    """Pieces of work by name, and what became of them."""

    def __init__(self, fails: dict[str, Exception] | None = None) -> None:
        self.fails = fails or {}
        self.done: list[str] = []

    def work(self, name: str, order: int = 0, following: Iterable[Work] = ()) -> Work:
        def call() -> str:
            if name in self.fails:
                raise self.fails[name]
            return name

        def failed(error: ModelError) -> Iterable[Work]:
            self.done.append(f"{name}: {error}")
            return following

        def done(result: str) -> Iterable[Work]:
            self.done.append(result)
            return following

        return Work(order, call, done, failed)


def test_lower_orders_go_first_and_what_follows_is_done() -> None:
    log = Log()
    works = [log.work("open", 2), log.work("gist", 1, [log.work("later", 1)]), log.work("pause", 0)]
    assert run_works(works, 1) == ""
    assert log.done == ["pause", "gist", "later", "open"]
    assert run_works([], 3) == ""


def test_a_model_that_fails_throughout_is_asked_no_more() -> None:
    """What is under way is taken; work that asks no model says nothing about it."""
    log = Log({str(number): ModelError("No answer.") for number in range(3, 30)})
    works = [replace(log.work(str(number)), asks=number < 30) for number in (*range(8), 30, *range(8, 30))]
    said = run_works(works, 2, Breaker("pages", "made"))
    assert said.startswith("10 pages in a row failed, the last: No answer. What was made is kept; fix that and run")
    assert {each for each in log.done if ": " not in each} == {"0", "1", "2", "30"}
    failed = len(log.done) - 4
    assert 10 <= failed <= 12, "the other thread may be one work ahead at both ends"


def test_a_model_that_fails_now_and_then_is_asked_on() -> None:
    log = Log({str(number): ModelError("No answer.") for number in range(0, 40, 2)})
    assert run_works([log.work(str(number)) for number in range(40)], 1, Breaker("pages", "made")) == ""
    assert len(log.done) == 40


def test_other_errors_are_raised() -> None:
    log = Log({"b": ZeroDivisionError("a fault")})
    with pytest.raises(ZeroDivisionError, match="a fault"):
        run_works([log.work("a"), log.work("b"), log.work("c")], 2)


def nested(pool: ThreadPoolExecutor, depth: int) -> int:
    """How many ends a tree has whose every knot is four short works."""
    return sum(short_works([partial(nested, pool, depth - 1)] * 4, pool)) if depth else 1


def test_works_within_works_end_with_a_single_thread_for_all() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert nested(pool, 4) == 4**4


def test_results_are_in_order() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert short_works([lambda number=number: number for number in range(20)], pool) == list(range(20))
        assert short_works([], pool) == []


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_is_raised_when_all_that_has_begun_is_over(failing: int) -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def fails() -> None:
        begun.wait()
        threading.Timer(0.05, may_end.set).start()
        raise LookupError("no")

    def lasts() -> None:
        begun.set()
        may_end.wait()
        ended.set()

    works = [fails, lasts] if failing == 0 else [lasts, fails]
    with ThreadPoolExecutor(2) as pool, pytest.raises(LookupError):
        try:
            short_works(works, pool)
        finally:
            assert ended.is_set()
