"""Uploads, the jobs that ingest them, removals, and the tree, over HTTP."""

import fcntl
import io
import shutil
import socket
import stat
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import opened
from hypothesis import given
from hypothesis import strategies as st
from model_by_prompt import Prompt
from pytest_httpserver import HTTPServer
from simulated_readers import reply
from stopped import Silent, until
from web_answers import error, events, upload, wait_for
from web_server import client_of

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.explore.jobs import JobQueue
from kgplatform.ingest.graph_state import record_embedder
from kgplatform.interfaces.http import changes
from kgplatform.interfaces.http.failures import FAULT
from kgplatform.interfaces.http.parts import Limits
from kgplatform.interfaces.uploads import Uploads, safe_name
from kgplatform.neo4j.passes import Pass
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.shown import given_name
from kgplatform.sources import web
from kgplatform.testing import Fault, OpenAIServer

FIELD = b"Cyrus Field founded the Atlantic Telegraph Company in London."
SHIP = b"The Great Eastern laid the cable of 1866."


@pytest.fixture
def client(kg: KnowledgeGraph) -> Iterator[httpx.Client]:
    with client_of(kg) as client:
        yield client


@pytest.fixture
def folder(kg: KnowledgeGraph) -> Path:
    return kg.settings.home_folder / "uploads"


@pytest.fixture
def slow(store: Store, tmp_path: Path) -> Iterator[KnowledgeGraph]:
    """A graph whose language model never answers."""
    with (
        OpenAIServer(reply, faults=lambda request: Fault.hang()) as model,
        opened(store, tmp_path / "slow", openai_base_url=model.base_url) as graph,
    ):
        yield graph


def started(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 202, response.text
    return dict(response.json()["job"])


def names(client: httpx.Client) -> list[str]:
    return [each["title"] for each in client.get("/api/documents").json()["documents"]]


def test_an_upload_is_ingested_and_told(client: httpx.Client, folder: Path) -> None:
    job = started(upload(client, ("field.txt", FIELD), ("ship.txt", SHIP), ("empty.txt", b"")))
    assert (job["kind"], job["files"], job["error"]) == ("ingest", ["field.txt", "ship.txt", "empty.txt"], None)
    with client.stream("GET", f"/api/jobs/{job['id']}/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        told = list(events(response))
    assert [name for name, _ in told][-1] == "end"
    assert {name for name, _ in told[:-1]} <= {"progress"}
    end = told[-1][1]
    assert end["state"] == "done"
    assert (end["report"]["added"], end["report"]["complete"]) == (2, True)
    assert end["report"]["skipped"] == [{"path": "empty.txt", "reason": "empty file", "in_part": False}]
    assert end["seconds"] > 0
    assert client.get(f"/api/jobs/{job['id']}").json() == end
    assert client.get("/api/jobs").json() == {"jobs": [end]}
    assert names(client) == ["field", "ship"]
    assert sorted(path.name for path in folder.iterdir()) == ["field.txt", "ship.txt"], "what was skipped is not kept"
    (before, _) = client.get("/api/documents").json()["documents"]
    assert before["metadata"] == {}
    end = wait_for(client, started(upload(client, ("field.txt", FIELD), metadata='{"lab": "7", "year": 1858}')))
    assert (end["report"]["changed"], end["report"]["extracted"]) == (1, 0)
    end = wait_for(client, started(upload(client, ("field.txt", FIELD + b" He lived in New York."))))
    assert (end["report"]["added"], end["report"]["changed"]) == (0, 1), "the same name is the same document"
    (after, _) = client.get("/api/documents").json()["documents"]
    assert (after["id"], after["uri"]) == (before["id"], before["uri"])
    assert after["characters"] > before["characters"]
    assert after["metadata"] == {"lab": "7", "year": 1858}


def test_pages_of_the_web_are_ingested_beside_files(
    client: httpx.Client, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "fetch", partial(web.fetch, allowed=lambda address: str(address) == "127.0.0.1"))
    httpserver.expect_request("/nemo").respond_with_data(
        "<title>Nemo</title><p>Nemo commands.", content_type="text/html"
    )
    address = f"http://127.0.0.1:{httpserver.port}"
    job = client.post("/api/documents", files={"addresses": (None, f"{address}/nemo\n")})
    assert wait_for(client, started(job))["report"]["added"] == 1
    both = client.post("/api/documents", files={"files": ("ship.txt", SHIP), "addresses": (None, f"{address}/nemo")})
    report = wait_for(client, started(both))["report"]
    assert (report["added"], report["unchanged"]) == (1, 1)
    documents = client.get("/api/documents").json()["documents"]
    assert {each["title"]: each["source"] for each in documents}["Nemo"] == f"{address}/nemo"
    gone = wait_for(client, started(client.post("/api/documents", files={"addresses": (None, f"{address}/gone")})))
    assert gone["state"] == "failed" and "status 500" in gone["error"]["message"]
    refused = client.post("/api/documents", files={"addresses": (None, "file:///etc/passwd")})
    assert (refused.status_code, "no address of the web" in refused.text) == (400, True)


def test_a_model_introduces_pasted_texts_and_pages(store: Store, tmp_path: Path) -> None:
    replies = ['{"summary": "Of ships.", "questions": ["Who sails?", "When?"]}', "nothing", "nothing"]

    def say(messages: Messages) -> str:
        is_asked = Prompt(messages).name == "ingest/introduce"
        return replies.pop(0) if is_asked else reply(messages)

    with (
        OpenAIServer(say) as model,
        opened(store, tmp_path, openai_base_url=model.base_url) as graph,
        client_of(graph) as client,
    ):
        plain = wait_for(client, started(upload(client, ("field.txt", FIELD), extractor="llm")))
        local = wait_for(client, started(upload(client, ("field.txt", SHIP), pasted="true", extractor="local")))
        assert plain["report"]["notes"] == local["report"]["notes"] == [] and len(replies) == 3, "not by this extractor"
        pasted = wait_for(client, started(upload(client, ("ship.txt", SHIP), pasted="true", extractor="llm")))
        assert pasted["report"]["notes"] == ["ship: Of ships. You could ask: Who sails? When?"]
        found = client.get("/api/documents").json()["documents"][-1]["id"]
        told = client.get(f"/api/documents/{found}").json()
        assert (told["summary"], told["questions"]) == ("Of ships.", ["Who sails?", "When?"])
        assert client.get("/api/questions").json()["questions"][:2] == ["Who sails?", "When?"]
        again = wait_for(client, started(upload(client, ("ship.txt", SHIP), pasted="true", extractor="llm")))
        assert again["report"]["notes"] == [] and len(replies) == 2, "nothing is asked twice"
        changed = wait_for(
            client, started(upload(client, ("ship.txt", SHIP + b" It is old."), pasted="true", extractor="llm"))
        )
        assert changed["state"] == "done"
        assert changed["report"]["notes"][0].startswith("ship: no summary was written. The language model")


def test_an_upload_that_nothing_came_of_leaves_the_earlier_one(client: httpx.Client, folder: Path) -> None:
    wait_for(client, started(upload(client, ("field.txt", FIELD))))
    end = wait_for(client, started(upload(client, ("field.txt", b""), ("ship.txt", SHIP))))
    assert (end["state"], end["report"]["skipped"]) == (
        "done",
        [{"path": "field.txt", "reason": "empty file", "in_part": False}],
    )
    assert names(client) == ["field", "ship"]
    assert (folder / "field.txt").read_bytes() == FIELD
    failed = wait_for(client, started(upload(client, ("field.txt", SHIP), extractor="llm")))
    assert failed["state"] == "failed", "there is no model"
    assert (folder / "field.txt").read_bytes() == FIELD
    assert sorted(path.name for path in folder.iterdir()) == ["field.txt", "ship.txt"]


def test_a_document_goes_with_its_upload_and_files_of_the_server_stay(
    client: httpx.Client, kg: KnowledgeGraph, folder: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.txt"
    own.write_bytes(FIELD)
    kg.ingest(own, extractor="local")
    (document,) = client.get("/api/documents").json()["documents"]
    assert client.delete(f"/api/documents/{document['id']}").status_code == 200
    assert own.exists()
    wait_for(client, started(upload(client, ("field.txt", FIELD), ("ship.txt", SHIP))))
    (field, _) = client.get("/api/documents").json()["documents"]
    removed = client.delete(f"/api/documents/{field['id']}").json()["removed"]
    assert [each["title"] for each in removed] == ["field"]
    assert names(client) == ["ship"]
    assert [path.name for path in folder.iterdir()] == ["ship.txt"]
    error(client.delete(f"/api/documents/{field['id']}"), 404, "NotFoundError")
    error(client.delete("/api/documents/ship"), 404, "NotFoundError")
    corpus = b'{"title": "One", "text": "Ada met Bob."}\n{"title": "Two", "text": "Bob met Eve."}\n'
    wait_for(client, started(upload(client, ("corpus.jsonl", corpus))))
    one = next(each for each in client.get("/api/documents").json()["documents"] if each["title"] == "One")
    assert client.delete(f"/api/documents/{one['id']}").status_code == 200
    assert (folder / "corpus.jsonl").exists(), "another document still comes from it"


def test_what_cannot_be_used(client: httpx.Client, folder: Path) -> None:
    for fields in (
        *({"schema": each} for each in ("/etc/passwd", "../../general", "nothing")),
        *({"metadata": each} for each in ("cables", "[1]", '{"path": "a"}', '{"deep": {"a": 1}}')),
        *({"extractor": "magic"}, {"mode": "loose"}, {"facts": "perhaps"}, {"recorded": "/etc/passwd"}),
    ):
        error(upload(client, ("field.txt", FIELD), **fields), 400, "InputError")
    # Whether there is a model is known when the job runs.
    end = wait_for(client, started(upload(client, ("field.txt", FIELD), extractor="llm")))
    assert (end["state"], end["error"]["kind"]) == ("failed", "SettingError")
    error(client.post("/api/documents", json={}), 400, "InputError")
    error(client.post("/api/documents", data={"schema": "general"}, files={"other": ("a", b"x")}), 400, "InputError")
    kind = "multipart/form-data"
    for body, header in (
        (b"", f"{kind}; boundary=x"),
        (b"--x\r\n\r\nno\r\n--x--\r\n", f"{kind}; boundary=x"),
        (b"x", kind),
    ):
        assert client.post("/api/documents", content=body, headers={"content-type": header}).status_code == 400
    error(upload(client, ("..", FIELD)), 400, "InputError")
    error(upload(client, ("a.txt", FIELD), ("a.txt", SHIP)), 400, "InputError")
    assert names(client) == []
    assert not folder.exists() or not list(folder.iterdir())


def test_the_tree_is_a_job(client: httpx.Client, kg: KnowledgeGraph) -> None:
    end = wait_for(client, started(client.post("/api/tree", json={})))
    assert (end["state"], end["error"]["kind"]) == ("failed", "InputError")
    wait_for(client, started(upload(client, ("field.txt", FIELD), ("ship.txt", SHIP))))
    end = wait_for(client, started(client.post("/api/tree", json={"method": "paper"})))
    assert (end["kind"], end["state"]) == ("tree", "done")
    assert end["report"]["communities"] == len(client.get("/api/communities").json()["nodes"]) > 0


def test_jobs_wait_and_can_be_stopped(slow: KnowledgeGraph) -> None:
    with client_of(slow, limits=Limits(jobs=1, waiting_jobs=1)) as client:
        wait_for(client, started(upload(client, ("calm.txt", SHIP))))
        first = started(upload(client, ("field.txt", FIELD), extractor="llm"))
        with client.stream("GET", f"/api/jobs/{first['id']}/events") as response:
            next(job for _, job in events(response) if job["stage"] in ("documents", "extracting"))
        found = client.post("/api/search", json={"question": "What laid the cable?", "route": "passage"})
        assert found.json()["passages"][0]["title"] == "calm", "questions are answered while an ingest runs"
        second = started(upload(client, ("ship.txt", SHIP)))
        assert client.get(f"/api/jobs/{second['id']}").json()["state"] == "waiting"
        busy = upload(client, ("more.txt", SHIP))
        error(busy, 429, "BusyError")
        assert busy.headers["retry-after"]
        document = client.get("/api/documents").json()["documents"][0]
        error(client.delete(f"/api/documents/{document['id']}"), 409, "BusyError")
        put_aside = slow.settings.home_folder / "uploads"
        assert len(list(put_aside.glob(".new-*"))) == 2
        assert client.delete(f"/api/jobs/{second['id']}").json()["job"]["state"] == "stopped"
        assert len(list(put_aside.glob(".new-*"))) == 1, "what waited is forgotten at once"
        client.delete(f"/api/jobs/{first['id']}")
        assert wait_for(client, first)["state"] == "stopped"
        assert names(client) == ["calm", "field"], "what was done is kept, and what waited did not begin"
        end = wait_for(client, started(upload(client, ("field.txt", FIELD))))
        assert (end["state"], end["report"]["complete"]) == ("done", True)
        assert client.delete(f"/api/jobs/{first['id']}").json()["job"]["state"] == "stopped", "once more is no harm"


def test_an_upload_while_the_graph_is_embedded_again_waits_as_a_job(client: httpx.Client, kg: KnowledgeGraph) -> None:
    wait_for(client, started(upload(client, ("field.txt", FIELD))))
    with Pass(kg.store, "reembed", lambda stage, done, total: None) as turn:
        record_embedder(turn.store, kg.embedder, reembedding=True)
        job = started(upload(client, ("ship.txt", SHIP)))
        until(lambda: client.get(f"/api/jobs/{job['id']}").json()["stage"].startswith("waiting for embedding"))
        record_embedder(turn.store, kg.embedder, reembedding=False)
    assert wait_for(client, job)["report"]["added"] == 1


def test_all_uploads_together_are_bounded(slow: KnowledgeGraph) -> None:
    """What waits counts until it is ingested or forgotten, what arrives as it comes."""
    with client_of(slow, limits=Limits(upload=3_000, uploads=5_000, jobs=1)) as client:
        first = started(upload(client, ("field.txt", FIELD), extractor="llm"))
        with client.stream("GET", f"/api/jobs/{first['id']}/events") as response:
            next(job for _, job in events(response) if job["stage"] in ("documents", "extracting"))
        waiting = started(upload(client, ("large.txt", b"x " * 1_200)))
        busy = upload(client, ("more.txt", b"x " * 1_200))
        assert "may have 5,000 bytes" in error(busy, 429, "BusyError")
        assert busy.headers["retry-after"]
        header = {"content-type": "multipart/form-data; boundary=x"}
        body = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n' + b"x " * 1_300
        error(client.post("/api/documents", content=iter([body]), headers=header), 429, "BusyError")
        assert client.get("/api/stats").status_code == 200, "all else goes on"
        client.delete(f"/api/jobs/{waiting['id']}")
        again = started(upload(client, ("more.txt", b"x " * 1_200)))
        client.delete(f"/api/jobs/{first['id']}")
        assert wait_for(client, again)["state"] == "done"
        for name in ("even-more.txt", "and-more.txt"):
            assert wait_for(client, started(upload(client, (name, b"x " * 1_200))))["state"] == "done", "it is free"


def test_an_upload_that_breaks_off_takes_no_room(client: httpx.Client, kg: KnowledgeGraph) -> None:
    with client_of(kg, limits=Limits(upload=3_000, uploads=3_000)) as client:
        url = client.base_url
        for _ in range(3):
            with socket.create_connection((url.host, url.port or 0)) as broken:
                head = "POST /api/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2000\r\n"
                broken.sendall(f"{head}Content-Type: multipart/form-data; boundary=x\r\n\r\n".encode() + b"--x" * 600)
        until(lambda: upload(client, ("large.txt", b"x " * 1_200)).status_code == 202)


def test_a_full_queue_reads_no_upload(slow: KnowledgeGraph) -> None:
    with client_of(slow, limits=Limits(jobs=1, waiting_jobs=0)) as client:
        started(upload(client, ("field.txt", FIELD), extractor="llm"))
        with socket.create_connection((client.base_url.host, client.base_url.port or 0)) as eager:
            head = "POST /api/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2000\r\n"
            eager.sendall(f"{head}Content-Type: multipart/form-data; boundary=x\r\n\r\n".encode())
            assert b" 429 " in eager.recv(100), "and nothing of the body has come"


def test_a_disk_that_cannot_be_written_to_is_told(kg: KnowledgeGraph, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("no folder")
    with client_of(kg) as client:
        told = error(upload(client, ("field.txt", FIELD)), 507, "StorageError")
        assert "File exists" in told
        assert str(folder) not in told
        assert client.get("/api/jobs").json() == {"jobs": []}


def abandoned(folder: Path, process: str, names: list[str]) -> Path:
    """What a server leaves that was killed as it had put ``names`` aside."""
    left = folder / f".new-{process}"
    (left / ".earlier").mkdir(parents=True)
    (left / ".claim").write_text("\n".join(names), encoding="utf-8")
    return left


def test_what_a_killed_server_left_is_ended(kg: KnowledgeGraph, folder: Path) -> None:
    """As it would have ended itself: placed and not ingested, an earlier one set aside, and one only put aside."""
    with client_of(kg) as client:
        wait_for(client, started(upload(client, ("field.txt", FIELD), ("ship.txt", SHIP))))
    left = abandoned(folder, "a", ["field.txt", "ship.txt", "new.txt", "late.txt"])
    (folder / "field.txt").rename(left / ".earlier" / "field.txt")
    (folder / "field.txt").write_bytes(b"Never ingested.")
    (folder / "ship.txt").rename(left / ".earlier" / "ship.txt")
    (folder / "new.txt").write_bytes(b"Never ingested either.")
    (left / "late.txt").write_bytes(b"Not even placed.")
    (folder / ".new-older").mkdir()
    with client_of(kg) as client:
        assert client.get("/api/health").status_code == 200
        assert sorted(path.name for path in folder.iterdir()) == ["field.txt", "ship.txt"]
        assert ((folder / "field.txt").read_bytes(), (folder / "ship.txt").read_bytes()) == (FIELD, SHIP)
        assert names(client) == ["field", "ship"]


def test_what_another_server_is_at_stays(slow: KnowledgeGraph) -> None:
    folder = slow.settings.home_folder / "uploads"
    with client_of(slow) as client:
        job = started(upload(client, ("field.txt", FIELD), extractor="llm"))
        with client.stream("GET", f"/api/jobs/{job['id']}/events") as response:
            next(told for _, told in events(response) if told["stage"] in ("documents", "extracting"))
        (under_way,) = folder.glob(".new-*")
        dead = abandoned(folder, "dead", [])
        claimed = abandoned(folder, "claimed", [])
        with (claimed / ".claim").open() as claim:
            fcntl.flock(claim, fcntl.LOCK_EX)
            with client_of(slow) as second:
                assert second.get("/api/health").status_code == 200
                assert (under_way.is_dir(), dead.exists(), claimed.is_dir()) == (True, False, True)
        assert (folder / "field.txt").read_bytes() == FIELD
        client.delete(f"/api/jobs/{job['id']}")
        assert wait_for(client, job)["state"] == "stopped"


ONE = Limits(jobs=1)


@pytest.fixture
def model() -> Iterator[Silent]:
    """A language model that gives no answer as long as it is ``silent_from(1)``."""
    silent = Silent(reply)
    with silent.server:
        silent.silent_from(1)
        yield silent


@pytest.fixture
def graph(store: Store, neo4j_server: Connection, tmp_path: Path, model: Silent) -> Iterator[KnowledgeGraph]:
    """The empty graph."""
    address = model.server.base_url
    with Store(neo4j_server) as own, opened(own, tmp_path / "home", openai_base_url=address, model_retries=0) as graph:
        yield graph


def sent(client: httpx.Client, name: str, content: bytes = FIELD, extractor: str = "llm") -> dict[str, Any]:
    """The job of an upload."""
    response = upload(client, (name, content), extractor=extractor)
    assert response.status_code == 202, response.text
    return dict(response.json()["job"])


def now(client: httpx.Client, job: dict[str, Any]) -> dict[str, Any]:
    return dict(client.get(f"/api/jobs/{job['id']}").json())


def states(client: httpx.Client, *jobs: dict[str, Any]) -> list[str]:
    return [now(client, job)["state"] for job in jobs]


def test_jobs_outlive_their_server(graph: KnowledgeGraph, model: Silent) -> None:
    """Ended as Ctrl-C ends it: what it was at waits for the next one, and so does what came after."""
    before, folder = set(threading.enumerate()), graph.settings.home_folder / "uploads"
    with client_of(graph) as client:
        first = sent(client, "field.txt")
        model.wait()
        again = sent(client, "field.txt", FIELD + b" He lived in New York.")
        assert states(client, first, again) == ["running", "waiting"]
    until(lambda: not [each for each in set(threading.enumerate()) - before if "job" in each.name])
    assert len(list(folder.glob(".new-*"))) == 2, "their files are kept"
    model.silent_from(None)
    with client_of(graph) as client:
        ends = [wait_for(client, job) for job in (first, again)]
        assert [end["state"] for end in ends] == ["done", "done"]
        assert (ends[0]["report"]["passages"], ends[1]["report"]["changed"]) == (1, 1)
        assert ends[0]["done"] == ends[0]["total"] > 0
        assert [each.name for each in folder.iterdir()] == ["field.txt"]
        assert (folder / "field.txt").read_bytes() == FIELD + b" He lived in New York."


def test_servers_share_their_jobs(graph: KnowledgeGraph, model: Silent) -> None:
    with client_of(graph, limits=ONE) as one, client_of(graph, limits=ONE) as other:
        jobs = [sent(one, "field.txt"), sent(one, "ship.txt", SHIP)]
        until(lambda: states(one, *jobs) == ["running", "running"])
        third = sent(other, "more.txt")
        assert states(one, *jobs, third) == ["running", "running", "waiting"], "each runs one"
        for job in jobs:  # one of them is not run by the server that is asked to stop it
            one.delete(f"/api/jobs/{job['id']}")
            assert wait_for(other, job)["state"] == "stopped"
        assert [job["id"] for job in one.get("/api/jobs").json()["jobs"]] == [third["id"], jobs[1]["id"], jobs[0]["id"]]
        other.delete(f"/api/jobs/{third['id']}")
        assert wait_for(one, third)["state"] == "stopped"


def raising(*given: object, **options: object) -> None:
    raise RuntimeError("What Ada wrote.")


def test_whatever_a_job_raises_is_told_in_a_sentence(
    graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with client_of(graph, limits=ONE) as client:
        for place, broken in ((KnowledgeGraph, "ingest"), (changes, "finish_uploads")):
            with monkeypatch.context() as patch:
                patch.setattr(place, broken, raising)
                end = wait_for(client, sent(client, f"{broken}.txt", extractor="local"))
            assert (end["state"], end["report"]) == ("failed", None)
            assert end["error"] == {"kind": "Fault", "message": FAULT}
        assert "RuntimeError at" in caplog.text
        assert "Ada" not in caplog.text
        assert wait_for(client, sent(client, "ship.txt", SHIP, extractor="local"))["state"] == "done", "others go on"


@pytest.mark.parametrize("deaths", [1, 5])
def test_the_job_of_a_server_that_died_is_taken_up_and_after_five_given_up(
    graph: KnowledgeGraph, model: Silent, deaths: int
) -> None:
    with client_of(graph) as client:
        job = sent(client, "field.txt")
        model.wait()
    place = (graph.settings.home_folder / "uploads.id").read_text().split()[0]
    for _ in range(deaths):
        assert JobQueue(graph.store, place, "one that died", 0).claim() is not None
    model.silent_from(None)
    with client_of(graph) as client:
        end = wait_for(client, job)
        if deaths == 1:
            assert (end["state"], end["report"]["extracted"]) == ("done", 1)
        else:
            assert (end["state"], end["error"]["kind"]) == ("failed", "ServerError")
            assert end["error"]["message"].startswith("Gave up after 5 attempts")
        assert [each.name for each in (graph.settings.home_folder / "uploads").iterdir()] == ["field.txt"], "it is laid"


def test_an_outcome_that_was_noted_is_carried_out(graph: KnowledgeGraph, model: Silent) -> None:
    """A server that died as it had ingested, but had not cleaned up: nothing is read again."""
    with client_of(graph) as client:
        job = sent(client, "field.txt")
        model.wait()
    place = (graph.settings.home_folder / "uploads.id").read_text().split()[0]
    dead = JobQueue(graph.store, place, "one that died", 0)
    claim = dead.claim()
    assert claim is not None
    assert dead.note_outcome(claim, "stopped", None, None)
    with client_of(graph) as client:
        assert wait_for(client, job)["state"] == "stopped"
        assert not list((graph.settings.home_folder / "uploads").glob(".new-*"))


# The names under which uploads are kept: whatever a client calls a file, it stays in its folder.


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Report (final).pdf", "Report (final).pdf"),
        ("50% off.txt", "50% off.txt"),
        ("a%2Fb.txt", "a%252Fb.txt"),
        ("2023/Report.md", "2023%2FReport.md"),
        ("../../etc/passwd", "%2E%2E%2F..%2Fetc%2Fpasswd"),
        ("me\\notes.md", "me%5Cnotes.md"),
        (".bashrc", "%2Ebashrc"),
        ("a\x00b\n.txt", "a%00b%0A.txt"),
        ("trailing. . ", "trailing%2E%20%2E%20"),
        ("NUL", "%4EUL"),
        ("\u202egnp.exe.txt", "%E2%80%AEgnp.exe.txt"),
        ("e\u0301.txt", "e\u0301.txt"),
        ("é.txt", "é.txt"),
        ("<img src=x onerror=alert(1)>.md", "<img src=x onerror=alert(1)>.md"),
    ],
)
def test_a_name_is_kept_so_that_it_can_be_shown_as_it_was(name: str, kept: str) -> None:
    assert safe_name(name) == kept
    assert given_name(kept) == name


def test_no_name() -> None:
    for name in ("", "..", "/", "\x00", "\u202e", " . . "):
        with pytest.raises(InputError, match="cannot be a file name"):
            safe_name(name)


def test_a_long_name_stays_the_same_and_its_own() -> None:
    one, other = safe_name("x" * 500 + ".pdf"), safe_name("x" * 501 + ".pdf")
    assert one != other
    assert one == safe_name("x" * 500 + ".pdf")
    assert len(one.encode()) <= 255
    assert given_name(one).endswith("x….pdf")
    assert one.endswith(".pdf")
    assert len(safe_name("ß" * 300 + "." + "y" * 300).encode()) <= 255


@given(st.text(max_size=300))
def test_no_name_leaves_the_folder(name: str) -> None:
    try:
        kept = safe_name(name)
    except InputError:
        return
    assert Path("/folder", kept).parent == Path("/folder")
    assert kept not in (".", "..")
    assert not kept.startswith(".")
    assert "\x00" not in kept
    assert len(kept.encode()) <= 255
    assert given_name(kept) == name or "…" in given_name(kept)


def test_a_copied_home_that_serves_the_same_graph_is_another_place(tmp_path: Path) -> None:
    home = Uploads(tmp_path / "home", shares_graph=True)
    place = home.place()
    assert Uploads(tmp_path / "home", shares_graph=True).place() == place
    shutil.copytree(tmp_path / "home", tmp_path / "copy")
    shutil.copytree(tmp_path / "home", tmp_path / "own-graph")
    other = Uploads(tmp_path / "copy", shares_graph=True).place()
    assert other != place and Uploads(tmp_path / "copy", shares_graph=True).place() == other
    assert Uploads(tmp_path / "own-graph").place() == place  # its graph was copied too, with the jobs in it
    (tmp_path / "home").rename(tmp_path / "renamed")
    assert Uploads(tmp_path / "renamed", shares_graph=True).place() == place
    (tmp_path / "uploads.id").write_text("0123abc")  # of an earlier version
    assert [Uploads(tmp_path, shares_graph=True).place() for _ in range(2)] == ["0123abc", "0123abc"]


def test_a_link_in_the_folder_is_replaced_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    uploads = Uploads(tmp_path / "home")
    uploads.put(uploads.stage([("a.txt", io.BytesIO(b"one"))], "graph"))
    assert stat.S_IMODE(uploads.folder.stat().st_mode) == 0o700
    (uploads.folder / "a.txt").unlink()
    (uploads.folder / "a.txt").symlink_to(secret)
    uploads.put(uploads.stage([("a.txt", io.BytesIO(b"two"))], "graph"))
    assert secret.read_text() == "mine"
    assert (uploads.folder / "a.txt").read_text() == "two"
