"""Uploads, the jobs that ingest them, removals, and the tree, over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from simulated_readers import reply
from web_answers import error, events, upload, wait_for
from web_server import client_of

from kgplatform.client import KnowledgeGraph
from kgplatform.hash_embedder import HashEmbedder
from kgplatform.settings import load_settings
from kgplatform.store import Store
from kgplatform.testing import Fault, OpenAIServer
from kgplatform.web.limits import Limits

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
    with OpenAIServer(reply, faults=lambda request: Fault.hang()) as model:
        settings = load_settings(home=tmp_path / "slow", embedder="hash:64", openai_base_url=model.base_url)
        with KnowledgeGraph(store, settings, embedder=HashEmbedder(64)) as graph:
            yield graph


def started(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 202, response.text
    return dict(response.json()["job"])


def names(client: httpx.Client) -> list[str]:
    return [each["name"] for each in client.get("/api/documents").json()["documents"]]


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
    assert end["report"]["skipped"] == [{"path": "empty.txt", "reason": "empty file"}]
    assert end["seconds"] > 0
    assert client.get(f"/api/jobs/{job['id']}").json() == end
    assert client.get("/api/jobs").json() == {"jobs": [end]}
    assert names(client) == ["field", "ship"]
    assert sorted(path.name for path in folder.iterdir()) == ["field.txt", "ship.txt"], "what was skipped is not kept"


def test_the_same_name_is_the_same_document(client: httpx.Client, folder: Path) -> None:
    wait_for(client, started(upload(client, ("field.txt", FIELD))))
    (before,) = client.get("/api/documents").json()["documents"]
    end = wait_for(client, started(upload(client, ("x/field.txt", FIELD + b" He lived in New York."))))
    assert (end["report"]["added"], end["report"]["changed"]) == (0, 1)
    (after,) = client.get("/api/documents").json()["documents"]
    assert (after["id"], after["uri"]) == (before["id"], before["uri"])
    assert after["characters"] > before["characters"]
    end = wait_for(client, started(upload(client, ("field.txt", FIELD + b" He lived in New York."))))
    assert end["report"]["unchanged"] == 1


def test_an_upload_that_nothing_came_of_leaves_the_earlier_one(client: httpx.Client, folder: Path) -> None:
    wait_for(client, started(upload(client, ("field.txt", FIELD))))
    end = wait_for(client, started(upload(client, ("field.txt", b""), ("ship.txt", SHIP))))
    assert (end["state"], end["report"]["skipped"]) == ("done", [{"path": "field.txt", "reason": "empty file"}])
    assert names(client) == ["field", "ship"]
    assert (folder / "field.txt").read_bytes() == FIELD
    failed = wait_for(client, started(upload(client, ("field.txt", SHIP), extractor="llm")))
    assert failed["state"] == "failed", "there is no model"
    assert (folder / "field.txt").read_bytes() == FIELD
    assert sorted(path.name for path in folder.iterdir()) == ["field.txt", "ship.txt"]


def test_a_document_goes_with_its_upload(client: httpx.Client, folder: Path) -> None:
    wait_for(client, started(upload(client, ("field.txt", FIELD), ("ship.txt", SHIP))))
    (field, _) = client.get("/api/documents").json()["documents"]
    removed = client.delete(f"/api/documents/{field['id']}").json()["removed"]
    assert [each["name"] for each in removed] == ["field"]
    assert names(client) == ["ship"]
    assert [path.name for path in folder.iterdir()] == ["ship.txt"]
    error(client.delete(f"/api/documents/{field['id']}"), 404, "NotFoundError")
    error(client.delete("/api/documents/ship"), 404, "NotFoundError")
    corpus = b'{"title": "One", "text": "Ada met Bob."}\n{"title": "Two", "text": "Bob met Eve."}\n'
    wait_for(client, started(upload(client, ("corpus.jsonl", corpus))))
    one = next(each for each in client.get("/api/documents").json()["documents"] if each["name"] == "One")
    assert client.delete(f"/api/documents/{one['id']}").status_code == 200
    assert (folder / "corpus.jsonl").exists(), "another document still comes from it"


def test_files_of_the_server_are_left_alone(client: httpx.Client, kg: KnowledgeGraph, tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_bytes(FIELD)
    kg.ingest(own, extractor="local")
    (document,) = client.get("/api/documents").json()["documents"]
    assert client.delete(f"/api/documents/{document['id']}").status_code == 200
    assert own.exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"schema": "/etc/passwd"},
        {"schema": "../../general"},
        {"schema": "nothing"},
        {"extractor": "magic"},
        {"mode": "loose"},
        {"facts": "perhaps"},
        {"recorded": "/etc/passwd"},
        {"extractor": "llm"},
    ],
)
def test_fields_that_cannot_be_used(client: httpx.Client, folder: Path, fields: dict[str, str]) -> None:
    response = upload(client, ("field.txt", FIELD), **fields)
    if fields == {"extractor": "llm"}:  # whether there is a model is known when the job runs
        end = wait_for(client, started(response))
        assert (end["state"], end["error"]["kind"]) == ("failed", "SettingError")
    else:
        error(response, 400, "InputError")
    assert names(client) == []
    assert not folder.exists() or not list(folder.iterdir())


def test_forms_that_are_none(client: httpx.Client) -> None:
    error(client.post("/api/documents", json={}), 400, "InputError")
    error(client.post("/api/documents", data={"schema": "general"}, files={"other": ("a", b"x")}), 400, "InputError")
    header = {"content-type": "multipart/form-data; boundary=x"}
    for body in (b"", b"--x", b"--x\r\n\r\nno\r\n--x--\r\n"):
        assert client.post("/api/documents", content=body, headers=header).status_code == 400
    assert (
        client.post("/api/documents", content=b"x", headers={"content-type": "multipart/form-data"}).status_code == 400
    )
    for name in ("..", "/"):
        error(upload(client, (name, FIELD)), 400, "InputError")
    error(upload(client, ("a.txt", FIELD), ("A.txt", SHIP)), 400, "InputError")


def test_the_tree_is_a_job(client: httpx.Client, kg: KnowledgeGraph) -> None:
    end = wait_for(client, started(client.post("/api/tree", json={})))
    assert (end["state"], end["error"]["kind"]) == ("failed", "InputError")
    wait_for(client, started(upload(client, ("field.txt", FIELD), ("ship.txt", SHIP))))
    end = wait_for(client, started(client.post("/api/tree", json={"method": "louvain"})))
    assert (end["kind"], end["state"]) == ("tree", "done")
    assert end["report"]["communities"] == len(client.get("/api/communities").json()["nodes"]) > 0
    end = wait_for(client, started(client.post("/api/tree", json={"method": "magic"})))
    assert (end["state"], end["error"]["kind"]) == ("failed", "InputError")


def test_jobs_wait_and_can_be_stopped(slow: KnowledgeGraph) -> None:
    with client_of(slow, limits=Limits(waiting_jobs=1)) as client:
        first = started(upload(client, ("field.txt", FIELD), extractor="llm"))
        with client.stream("GET", f"/api/jobs/{first['id']}/events") as response:
            next(job for _, job in events(response) if job["stage"] == "documents")
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
        assert names(client) == ["field"], "what was done is kept, and what waited did not begin"
        end = wait_for(client, started(upload(client, ("field.txt", FIELD))))
        assert (end["state"], end["report"]["complete"]) == ("done", True)
        assert client.delete(f"/api/jobs/{first['id']}").json()["job"]["state"] == "stopped", "once more is no harm"


def test_a_server_that_closes_stops_its_jobs(slow: KnowledgeGraph) -> None:
    before = set(threading.enumerate())
    with client_of(slow) as client:
        first = started(upload(client, ("field.txt", FIELD), extractor="llm"))
        started(upload(client, ("ship.txt", SHIP)))
        with client.stream("GET", f"/api/jobs/{first['id']}/events") as response:
            next(job for _, job in events(response) if job["stage"] == "documents")
    assert [info.name for info in slow.documents()] == ["field"]
    assert not list((slow.settings.home_folder / "uploads").glob(".*")), "nothing is left put aside"
    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert not [name for name in left if "job" in name or "AnyIO" in name]


def test_asking_while_an_ingest_runs(slow: KnowledgeGraph) -> None:
    with client_of(slow) as client:
        wait_for(client, started(upload(client, ("ship.txt", SHIP))))
        job = started(upload(client, ("field.txt", FIELD), extractor="llm"))
        with client.stream("GET", f"/api/jobs/{job['id']}/events") as response:
            next(told for _, told in events(response) if told["stage"] == "documents")
            found = client.post("/api/search", json={"question": "What laid the cable?", "route": "passage"})
            assert found.json()["passages"][0]["title"] == "ship"
        client.delete(f"/api/jobs/{job['id']}")
        assert wait_for(client, job)["state"] == "stopped"
