"""Several workers give the graph that one process gives, whichever of them dies, and nothing is paid for twice."""

import json
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import conftest
import psutil
import pytest
from conftest import wipe
from corpora import difference, extracted, invented
from graph_state import Snapshot, snapshot
from stopped import until

from kgplatform.concurrency import workers as work
from kgplatform.concurrency.workers import LocalWorkers
from kgplatform.errors import InputError, KgError
from kgplatform.extract.schema import Schema
from kgplatform.ingest.pipeline import IngestReport
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.records import Document, ExtractedEntity, Extraction, Passage
from kgplatform.testing import OpenAIServer

opened = partial(conftest.opened, passage_tokens=40)


Undisturbed = tuple[list[Path], IngestReport, Snapshot]


def children() -> list[psutil.Process]:
    """The workers of this process."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # as a zombie is, too
            if "kgplatform.concurrency.workers" in " ".join(child.cmdline()):
                found.append(child)
    return found


@contextmanager
def killing(times: int, seed: int) -> Iterator[list[int]]:
    """Meanwhile, workers are killed at random, at most ``times``; gives the process ids of those that were."""
    over, dead, chance = threading.Event(), list[int](), random.Random(seed)

    def kill() -> None:
        while len(dead) < times and not over.wait(chance.uniform(0.05, 0.6)):
            alive = [each for each in children() if each.pid not in dead]
            if alive:
                chosen = chance.choice(alive)
                chosen.kill()
                dead.append(chosen.pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield dead
    finally:
        over.set()
        thread.join()


@pytest.fixture(scope="module", autouse=True)
def small_windows() -> Iterator[None]:
    """A few notes are more than a window."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kgplatform.ingest.window.WINDOW", 12)
        yield


@pytest.fixture(scope="module")
def undisturbed(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Notes of more than a window; what an ingest of them by a model reports, and its graph."""
    folder = tmp_path_factory.mktemp("undisturbed")
    files = invented(folder / "notes", 6)
    with Store(neo4j_server) as store, OpenAIServer(extracted) as server:
        wipe(store)
        report = opened(store, folder / "home", openai_base_url=server.base_url).ingest(files, extractor="llm")
        assert [each.name for each in report.expansions] == ["Vessel"], "the schema grows on the way"
        return files, report, snapshot(store)


def counting(prompts: Counter[str], seconds: float) -> Callable[[Messages], str]:
    """Answers as ``extracted`` does, each after ``seconds``, and counts the prompts."""
    lock = threading.Lock()

    def answer(messages: Messages) -> str:
        with lock:
            prompts[json.dumps(messages)] += 1
        time.sleep(seconds)
        return extracted(messages)

    return answer


def test_the_graph_is_the_same_with_any_number_of_workers(store: Store, tmp_path: Path) -> None:
    files = invented(tmp_path / "notes", 6)
    graphs = []
    for workers in (1, 2):
        wipe(store)
        report = opened(store, tmp_path / "home", workers=workers).ingest(files, extractor="local")
        assert (report.extracted, report.complete) == (18, True)
        graphs.append(snapshot(store))
    assert difference(*graphs) == []
    assert children() == []


def test_workers_that_are_killed_leave_no_trace_and_pay_for_nothing_twice(
    undisturbed: Undisturbed, store: Store, tmp_path: Path
) -> None:
    """Of what was under way in a worker as it was killed, nobody has the answer."""
    files, wanted_report, wanted = undisturbed
    prompts = Counter[str]()
    with OpenAIServer(counting(prompts, 0.2)) as server, killing(2, seed=19) as dead:
        kg = opened(store, tmp_path / "home", openai_base_url=server.base_url, workers=2, concurrency=2)
        report = kg.ingest(files, extractor="llm")
    assert dead, "some were killed"
    assert (report.complete, report.expansions) == (True, wanted_report.expansions)
    assert difference(snapshot(store), wanted) == []
    assert len(prompts) == wanted_report.passages
    assert sum(prompts.values()) - len(prompts) <= 2 * len(dead), "two are under way in a worker"
    used = kg.ledger.by_stage()["extract"]
    assert used.calls + used.cached_calls == wanted_report.passages
    assert children() == []


def test_a_budget_holds_over_all_workers(undisturbed: Undisturbed, store: Store, tmp_path: Path) -> None:
    """And one process reads what was left; no reply is paid for twice."""
    files, wanted_report, wanted = undisturbed
    half = sum(each.input_tokens + each.output_tokens for each in wanted_report.usage.values()) // 2
    prompts = Counter[str]()
    with OpenAIServer(counting(prompts, 0)) as server:
        model = {"openai_base_url": server.base_url, "concurrency": 1}
        kg = opened(store, tmp_path / "home", token_budget=half, workers=2, **model)
        report = kg.ingest(files, extractor="llm")
        assert "budget" in report.stopped
        assert (0 < report.extracted < report.passages, report.complete, report.failed) == (True, False, [])
        done = kg.cypher("MATCH (c:Chunk {state: 'extracted'}) RETURN count(c)").rows
        assert done == [[report.extracted]]
        used = kg.ledger.total
        assert half <= used.input_tokens + used.output_tokens < 1.5 * half, "two were under way"
        assert opened(store, tmp_path / "home", **model).ingest(files, extractor="llm").complete
    assert prompts.total() == len(prompts) == wanted_report.passages
    assert difference(snapshot(store), wanted) == []


class OfItsOwn:
    """An extractor that a user wrote."""

    name = "of its own"

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        return Extraction(entities=(ExtractedEntity(passage.text.split()[0]),))


def test_an_extractor_that_cannot_be_sent_is_refused_in_one_sentence(store: Store, tmp_path: Path) -> None:
    extractor = OfItsOwn()
    extractor.lock = threading.Lock()  # type: ignore[attr-defined]  # as a connection has one
    with pytest.raises(InputError, match=r"of its own cannot be sent to workers .*Ingest without workers"):
        opened(store, tmp_path, workers=2).ingest(invented(tmp_path / "notes", 3), extractor=extractor)
    assert children() == []


def test_a_worker_outlives_an_error_and_is_replaced_where_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that kills every worker is given up; a worker without work ends, and the next work starts another."""

    def elsewhere(argument: object) -> object:
        return argument

    elsewhere.__module__, elsewhere.__qualname__ = "of_a_notebook", "elsewhere"
    monkeypatch.setitem(sys.modules, "of_a_notebook", SimpleNamespace(elsewhere=elsewhere))
    monkeypatch.setattr(work, "_DEATHS", 2)
    with LocalWorkers(1) as workers:
        for function, argument, error in (
            (len, 7, "object of type 'int' has no len"),
            (elsewhere, 7, "No module named 'of_a_notebook'"),
        ):
            with pytest.raises(RuntimeError, match=rf"A worker failed:\nTraceback[\s\S]*{error}"):
                workers.submit(function, argument).result()
        assert workers.submit(len, "four").result() == 4
        with pytest.raises(KgError, match="The same task killed 2 workers in a row"):
            workers.submit(os._exit, 9).result()
        assert workers.submit(len, "four").result() == 4
    monkeypatch.setattr(work, "_IDLE_SECONDS", 0.1)
    with LocalWorkers(1) as workers:
        first = workers.submit(os.getsid, 0).result()  # of its own session
        until(lambda: not psutil.pid_exists(first))
        assert workers.submit(len, "four").result() == 4


def test_workers_that_cannot_start_are_said_and_nothing_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with LocalWorkers(2) as workers, pytest.raises(KgError, match="The same task killed 10 workers in a row"):
        workers.submit(len, "four").result()


def test_two_ingests_of_the_same_files_pay_once(undisturbed: Undisturbed, store: Store, tmp_path: Path) -> None:
    """Side by side, with caches of their own: what one reads, the other waits for."""
    files, wanted_report, wanted = undisturbed
    prompts, reports = Counter[str](), list[IngestReport]()

    def ingest(home: Path) -> None:
        kg = opened(store, home, openai_base_url=server.base_url, concurrency=4)
        reports.append(kg.ingest(files, extractor="llm"))

    with OpenAIServer(counting(prompts, 0.05)) as server:
        threads = [threading.Thread(target=ingest, args=(tmp_path / name,)) for name in ("two", "three")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(reports) == 2
    assert sum(report.extracted for report in reports) == wanted_report.passages
    assert [report.expansions for report in reports] == [wanted_report.expansions] * 2
    assert prompts.total() == len(prompts) == wanted_report.passages
    assert difference(snapshot(store), wanted) == []
