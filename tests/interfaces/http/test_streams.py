"""Questions over HTTP: steps as they happen, clients that go away, many at once, and a server that closes."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import opened
from longagent_runs import Script, answers, instructs, related, responds
from simulated_readers import reply
from stopped import LONG, Silent, until
from web_answers import QUESTION, error, events
from web_server import client_of, served

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import StoppedError
from kgplatform.interfaces.http.parts import Limits
from kgplatform.interfaces.web_server import PromptProtocol
from kgplatform.records import Answer, Step
from kgplatform.testing import Fault, OpenAIServer

pytest_plugins = ["sample_server"]

STREAM = {"Accept": "text/event-stream"}


@pytest.fixture
def silent() -> Iterator[Silent]:
    """A simulated language model that gives no answer until it is told to."""
    silent = Silent(reply)
    with silent.server:
        silent.silent_from(1)
        yield silent


@pytest.fixture
def stuck(sample: KnowledgeGraph, silent: Silent, tmp_path: Path) -> KnowledgeGraph:
    """The sample graph, with that model."""
    return opened(sample.store, tmp_path / "stuck", openai_base_url=silent.server.base_url)


@pytest.mark.parametrize("reader", ["retrieve", "longagent"])
def test_steps_as_they_happen_then_the_answer(client: httpx.Client, reader: str) -> None:
    with client.stream("POST", "/api/ask", json={"question": QUESTION, "reader": reader}, headers=STREAM) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in response.headers
        told = list(events(response))
    assert {name for name, _ in told[:-1]} <= {"step", "text"}
    assert told[-1][0] == "answer"
    steps, answer = [data for name, data in told if name == "step"], told[-1][1]
    assert [each["number"] for each in steps] == list(range(1, len(steps) + 1))
    assert sorted(each["step"]["name"] for each in steps) == sorted(each["name"] for each in answer["trace"])
    assert all("statements" in each["step"] for each in steps)
    assert answer["question"] == QUESTION


def test_what_fails_is_told(sample: KnowledgeGraph, tmp_path: Path) -> None:
    with (
        OpenAIServer(faults=lambda request: Fault.refuse(400, "No.")) as model,
        client_of(opened(sample.store, tmp_path / "no", openai_base_url=model.base_url)) as client,
    ):
        failed = client.post("/api/ask", json={"question": QUESTION})
        error(failed, 502, "RefusedError")
        with client.stream("POST", "/api/ask", json={"question": QUESTION}, headers=STREAM) as response:
            name, told = list(events(response))[-1]
        assert (name, told["kind"]) == ("error", "RefusedError")
        assert told["evidence"]["passages"] == failed.json()["error"]["evidence"]["passages"] != []
        error(client.post("/api/ask", json={"question": "?", "reader": "no"}, headers=STREAM), 400, "InputError")


def put_together(told: list[tuple[str, Any]]) -> list[str]:
    """What a reader of the stream shows after each event ``text``."""
    shown = [""]
    for name, data in told:
        if name == "text":
            assert set(data) == {"start", "text"}
            assert data["start"] <= len(shown[-1])
            shown.append(shown[-1][: data["start"]] + data["text"])
    return shown[1:]


def test_text_appears_while_it_is_written(sample: KnowledgeGraph, tmp_path: Path) -> None:
    """The last of the text comes before the step that ends it; its citations are in the answer."""
    said = "".join(f"In {1866 + n} the Great Eastern, an “iron ship” 😀, laid the cable [1.1]. " for n in range(12))
    written = json.dumps({"sufficient": True, "answer": said})
    with OpenAIServer(lambda messages: written, faults=lambda request: Fault.slowly(0.01)) as model:
        graph = opened(sample.store, tmp_path, openai_base_url=model.base_url)
        with (
            client_of(graph) as client,
            client.stream("POST", "/api/ask", json={"question": QUESTION}, headers=STREAM) as response,
        ):
            told = list(events(response))
    shown = put_together(told)
    assert 3 <= len(shown) <= 20 * 0.01 * len(written) / 16 + 3, "at most twenty a second"
    assert all(said.startswith(each) for each in shown)
    assert shown[-1] == said
    names = [name for name, _ in told]
    assert names[0] == "step"
    assert "text" not in names[names.index("step", names.index("text")) :]
    assert told[-1][1]["text"] != said


def test_of_what_a_team_s_leader_writes_the_answer_alone_appears(sample: KnowledgeGraph, tmp_path: Path) -> None:
    said = "In 1866 the Great Eastern laid the cable. " * 12
    leader = [instructs("Which ship laid the cable, and when?"), instructs("When did she lay it?"), answers(said)]
    script = Script(leader, lambda prompt: responds("the Great Eastern"), groups=lambda prompt: related())
    with OpenAIServer(script, faults=lambda request: Fault.slowly(0.01)) as model:
        graph = opened(sample.store, tmp_path, openai_base_url=model.base_url)
        asked = {"question": QUESTION, "reader": "longagent"}
        with client_of(graph) as client, client.stream("POST", "/api/ask", json=asked, headers=STREAM) as response:
            told = list(events(response))
    shown = put_together(told)
    assert len(shown) > 2
    assert all(said.startswith(each) for each in shown)
    assert shown[-1] == said
    assert [each.kind for each in script.asked if each.kind in ("instruct", "decide")] == ["instruct", *["decide"] * 2]


def test_who_writes_does_not_wait_for_who_reads(sample: KnowledgeGraph) -> None:
    written, ended = threading.Event(), threading.Event()

    def writes(tell: Callable[[Step], None], hear: Callable[[str], None]) -> Answer:
        for number in range(300):
            hear(f"{number} " * 50_000)
        written.set()
        ended.wait(LONG)
        raise StoppedError

    graph = simulated(sample, writes)
    with (
        client_of(graph, limits=Limits(stall=LONG)) as client,
        socket.create_connection((client.base_url.host, client.base_url.port or 0)) as idle,
    ):
        idle.sendall(raw_request({"question": QUESTION}, STREAM))
        assert written.wait(LONG)
        ended.set()


Said = Callable[[Callable[[Step], None], Callable[[str], None]], Answer]


def simulated(sample: KnowledgeGraph, said: Said) -> KnowledgeGraph:
    """The sample graph with a simulated reader alone: it tells steps and text, or raises."""

    class Simulated(KnowledgeGraph):
        def ask(self, question: str, *_: Any, on_step: Any = None, on_text: Any = None, **__: Any) -> Answer:
            return said(on_step, on_text)

    return Simulated(sample.store, sample.settings, embedder=sample.embedder)


def test_a_fault_of_the_platform_has_no_details(sample: KnowledgeGraph, caplog: pytest.LogCaptureFixture) -> None:
    def fails(*_: object) -> Answer:
        raise ZeroDivisionError("the secret words of a question")

    graph = simulated(sample, fails)
    with client_of(graph) as client:
        told = error(client.post("/api/ask", json={"question": QUESTION}), 500, "Fault")
        assert "ZeroDivision" not in told
        with client.stream("POST", "/api/ask", json={"question": QUESTION}, headers=STREAM) as response:
            assert dict(events(response)) == {"error": {"kind": "Fault", "message": told}}
    assert "ZeroDivisionError at test_streams.py" in caplog.text
    assert "secret words" not in caplog.text
    assert all("\n" not in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize(("reader", "headers"), [("longagent", STREAM), ("youtu", {})])
def test_a_client_that_goes_stops_its_reader(
    stuck: KnowledgeGraph, silent: Silent, reader: str, headers: dict[str, str]
) -> None:
    """With room for one question, the next is taken as soon as the first has been given up."""
    body = {"question": QUESTION, "reader": reader}
    with client_of(stuck, limits=Limits(asks=1)) as client:
        with socket.create_connection((client.base_url.host, client.base_url.port or 0)) as gone:
            gone.sendall(raw_request(body, headers))
            silent.wait()
            busy = client.post("/api/ask", json=body, headers=headers)
            error(busy, 429, "BusyError")
            assert busy.headers["retry-after"] == "2"
            assert client.get("/api/stats").status_code == 200, "all else goes on"
        silent.silent_from(None)
        until(lambda: client.post("/api/ask", json={"question": QUESTION}).status_code == 200)


def raw_request(body: object, headers: dict[str, str]) -> bytes:
    content = json.dumps(body).encode()
    lines = [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join(["POST /api/ask HTTP/1.1", "host: localhost", "content-type: application/json", *lines])
    return f"{head}\r\ncontent-length: {len(content)}\r\n\r\n".encode() + content


def test_a_client_that_does_not_read_stops_its_reader(sample: KnowledgeGraph) -> None:
    """The reader waits for it first: it is never far ahead of what was taken."""
    ended, told = threading.Event(), 0

    def chatters(tell: Callable[[Step], None], _: object) -> Answer:
        nonlocal told
        try:
            while True:
                tell(Step("said", "x" * 200_000, 0.0))
                told += 1
        except StoppedError:
            ended.set()
            raise

    graph = simulated(sample, chatters)
    with client_of(graph, limits=Limits(stall=0.3)) as client:
        with socket.create_connection((client.base_url.host, client.base_url.port or 0)) as idle:
            idle.sendall(raw_request({"question": QUESTION}, STREAM))
            ended.wait()
        assert told < 100
        assert client.get("/api/health").status_code == 200


def test_a_server_that_closes_ends_its_streams(stuck: KnowledgeGraph, silent: Silent) -> None:
    before = set(threading.enumerate())

    def listen(address: str) -> list[str]:
        with httpx.stream("POST", f"{address}/api/ask", json={"question": QUESTION}, headers=STREAM) as response:
            return list(response.iter_lines())

    with ThreadPoolExecutor(1) as pool:
        with served(stuck) as address:
            listening = pool.submit(listen, address)
            silent.wait()
            assert not listening.done()
        assert "event: answer" not in listening.result()

    def ours() -> list[str]:
        left = {thread.name for thread in set(threading.enumerate()) - before}
        return [name for name in left if name.startswith(("AnyIO", "served", "kgplatform-jobs"))]

    until(lambda: not ours())  # a thread of AnyIO is told to end, and not waited for


def test_a_body_that_does_not_come_is_not_waited_for(sample: KnowledgeGraph) -> None:
    with client_of(sample, limits=Limits(idle=0.2)) as client:
        for path, kind in (("search", "application/json"), ("documents", "multipart/form-data; boundary=x")):
            head = (
                f"POST /api/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nContent-Length: 500\r\n\r\n"
            )
            with socket.create_connection((client.base_url.host, client.base_url.port or 0)) as slow:
                slow.sendall(f"{head}--".encode())
                told = b"".join(iter(lambda slow=slow: slow.recv(4096), b""))
            assert told.startswith(b"HTTP/1.1 408 ")
            assert b"The request stalled for 0.2 seconds." in told


def test_a_head_that_does_not_come_is_not_waited_for(
    stuck: KnowledgeGraph, silent: Silent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the first of a connection nor a later one; what is being answered may take its time."""

    def be_patient(seconds: float) -> None:
        monkeypatch.setattr(PromptProtocol, "patience", seconds)

    with client_of(stuck, limits=Limits(ping=0.1)) as client:
        address = (client.base_url.host, client.base_url.port or 0)
        whole = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        for first, begun in ((b"", b""), (b"", b"GET /api/health HTTP/1.1\r\nHost: "), (whole, b"GET")):
            be_patient(LONG if first else 0.5)
            with socket.create_connection(address) as slow:
                slow.sendall(first)
                told = b""
                while first and not told.endswith(b"}"):
                    told += slow.recv(4096)
                be_patient(0.5)
                slow.sendall(begun)
                assert slow.recv(4096) == b""
        be_patient(1)
        with client.stream("POST", "/api/ask", json={"question": QUESTION}, headers=STREAM) as response:
            pings = (line for line in response.iter_lines() if line == ": ping")
            assert len([next(pings) for _ in range(12)]) == 12


@pytest.mark.long
def test_fifty_questions_at_a_time(sample: KnowledgeGraph, address: str) -> None:
    """Half of them as streams, over two readers: each gets what it gets alone, and nothing of another."""
    names = [row[0] for row in sample.cypher("MATCH (e:Entity) RETURN e.name ORDER BY e.name LIMIT 50").rows]
    questions = [f"What is said of {name}?" for name in names]
    assert len(set(questions)) == 50

    def ask(number: int) -> Any:
        body = {"question": questions[number], "reader": "youtu" if number % 5 == 0 else "retrieve"}
        with httpx.Client(base_url=address, timeout=LONG) as client:
            if number % 2:
                return client.post("/api/ask", json=body).json()
            with client.stream("POST", "/api/ask", json=body, headers=STREAM) as response:
                return list(events(response))[-1][1]

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(ask, range(50)))
    assert [each.get("question") for each in answers] == questions
    for number in range(0, 50, 7):
        alone = sample.ask(questions[number], "youtu" if number % 5 == 0 else "retrieve")
        together = answers[number]
        assert together["text"] == alone.text
        assert [each["reply"] for each in together["trace"]] == [each.reply for each in alone.trace]
        assert [each["id"] for each in together["evidence"]["passages"]] == [
            each.id for each in alone.evidence.passages
        ]
        assert together["usage"]["calls"] + together["usage"]["cached_calls"] == alone.usage.cached_calls


def test_a_statement_ends_with_its_client(sample: KnowledgeGraph, address: str) -> None:
    nodes = ", ".join(f"(gone_with_its_client_{number})" for number in range(5))
    endless = f"MATCH {nodes} WHERE gone_with_its_client_0.id > gone_with_its_client_4.id RETURN count(*)"
    body = {"statement": endless, "timeout": 600}
    with httpx.Client(base_url=address) as client, pytest.raises(httpx.ReadTimeout):
        client.post("/api/cypher", json=body, timeout=2)
    with sample.store.lend_driver("look") as driver, driver.session() as session:
        show = "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery STARTS WITH 'MATCH (gone' RETURN currentQuery"
        until(lambda: not list(session.run(show)))
