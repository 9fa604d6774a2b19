"""The HTTP interface with fifty questions at a time: how long each waits, what the server holds, and how soon a reader
whose client has gone is given up.

The language model is simulated and answers at once: what is measured is the platform's own part. Clients, server and
model share the machine's cores.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

import httpx
import psutil
from conftest import ROOT
from data_sets import Place
from graphs import new_graph
from measure import MEGABYTE
from simulated_readers import reply
from tables import Section

from kgplatform.testing import Fault, OpenAIServer
from kgplatform.testing.openai_server import RecordedRequest

CLIENTS = 50
ROUNDS = {"retrieve": 4, "youtu": 1}
ALONE = 20
GONE = 10
_QUESTION = "Whom did Cyrus Field ask about the floor of the Atlantic?"


def test_serve(place: Place, section: Callable[[str, str], Section]) -> None:
    """The sample corpus, the server in a process of its own."""
    found = section("serve", "Fifty questions at a time over HTTP")
    hangs = threading.Event()

    def fault(_: RecordedRequest) -> Fault | None:
        return Fault.hang() if hangs.is_set() else None

    with OpenAIServer(reply, faults=fault) as model, new_graph(place, "serve", embedder="hash:64") as graph:
        graph.ingest(ROOT / "examples" / "corpus", recorded=ROOT / "examples" / "extraction.jsonl")
        rows = graph.cypher("MATCH (e:Entity) RETURN e.name ORDER BY e.name LIMIT 50").rows
        questions = [f"What is said of {row[0]}?" for row in rows]
        with _served(place, graph.settings.home_folder, model.base_url) as (process, address):
            for reader, rounds in ROUNDS.items():
                _ask_alone(found, address, reader, questions)
                _ask_all(found, address, process, reader, questions, rounds)
            hangs.set()
            waits = [_left_alone(address, process, number) for number in range(GONE)]
            hangs.clear()
    found.add("stop after a client has gone: median", 1000 * median(waits), "ms")
    found.add("stop after a client has gone: longest", 1000 * max(waits), "ms", at_most=1000)


@contextmanager
def _served(place: Place, home: Path, model: str) -> Iterator[tuple[psutil.Process, str]]:
    given = {"KGPLATFORM_HOME": home, "KGPLATFORM_EMBEDDER": "hash:64", "OPENAI_BASE_URL": model}
    given |= {"KGPLATFORM_NEO4J_JARS": place.jars, "KGPLATFORM_CONCURRENCY": CLIENTS}
    environment = {**os.environ, **{name: str(value) for name, value in given.items()}}
    command = [sys.executable, "-m", "kgplatform.interfaces.cli.main", "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as serving:
        assert serving.stdout is not None
        try:
            yield psutil.Process(serving.pid), serving.stdout.readline().split()[4]
        finally:
            serving.terminate()


def _ask_alone(found: Section, address: str, reader: str, questions: list[str]) -> None:
    """One client, so that the others find a database that has its plans; its later half says what one answer takes."""
    seconds: list[float] = []
    with httpx.Client(base_url=address, timeout=300) as http:
        for question in questions[:ALONE]:
            started = time.perf_counter()
            http.post("/api/ask", json={"question": f"{question} (asked alone)", "reader": reader})
            seconds.append(time.perf_counter() - started)
    found.add(f"{reader}: median of one answer, alone", median(seconds[ALONE // 2 :]) * 1000, "ms")


def _ask_all(
    found: Section, address: str, process: psutil.Process, reader: str, questions: list[str], rounds: int
) -> None:
    """Every client asks one question after the other; none is asked twice, so that no reply comes from the cache."""
    seconds: list[float] = []
    failed = 0

    def client(number: int) -> None:
        nonlocal failed
        with httpx.Client(base_url=address, timeout=300) as http:
            for turn in range(rounds):
                question = f"{questions[number]} (asked {turn})"
                started = time.perf_counter()
                answer = http.post("/api/ask", json={"question": question, "reader": reader})
                seconds.append(time.perf_counter() - started)
                failed += answer.status_code != 200 or answer.json()["question"] != question

    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(client, range(CLIENTS)))
    taken = time.perf_counter() - started
    cuts = quantiles(seconds, n=100)
    found.add(f"{reader}: questions that failed or were mixed up", failed, exactly=0)
    found.add(f"{reader}: p95 of one answer, {CLIENTS} at a time", cuts[94], "s")
    found.add(f"{reader}: memory of the server afterwards", process.memory_info().rss / MEGABYTE, "MB")
    found.add(f"{reader}: answers a second", len(seconds) / taken, "/s")


def _left_alone(address: str, process: psutil.Process, number: int) -> float:
    """Seconds from the moment when a client goes until the server's connection to the model is closed."""
    idle = len(_connections(process))
    body = {"question": f"{_QUESTION} ({number})", "reader": "retrieve"}
    headers = {"Accept": "text/event-stream"}
    with httpx.stream("POST", f"{address}/api/ask", json=body, headers=headers, timeout=60) as response:
        lines = response.iter_lines()
        while not json.loads(_data(lines))["step"]["name"].startswith("search"):
            pass
        end = time.perf_counter() + 30
        while len(_connections(process)) <= idle + 1 and time.perf_counter() < end:
            pass
    started = time.perf_counter()
    while len(_connections(process)) > idle:
        assert time.perf_counter() - started < 30, "the reader was not stopped"
    return time.perf_counter() - started


def _data(lines: Iterator[str]) -> str:
    return next(line.removeprefix("data: ") for line in lines if line.startswith("data: "))


def _connections(process: psutil.Process) -> list[object]:
    return [each for each in process.net_connections("tcp") if each.status == psutil.CONN_ESTABLISHED]
