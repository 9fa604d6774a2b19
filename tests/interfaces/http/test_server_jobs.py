"""Jobs of servers that share a graph: they outlive their server, run side by side, and end with a sentence."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import variables
from simulated_readers import reply
from stopped import Silent, until
from web_answers import upload, wait_for
from web_server import client_of

from kgplatform.client import KnowledgeGraph
from kgplatform.explore.jobs import JobQueue
from kgplatform.interfaces.http import changes
from kgplatform.interfaces.http.failures import FAULT
from kgplatform.interfaces.http.parts import Limits
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import load_settings

FIELD = b"Cyrus Field founded the Atlantic Telegraph Company in London."
SHIP = b"The Great Eastern laid the cable of 1866."
ONE = Limits(jobs=1)
SERVER = """
import sys
from kgplatform.client import open_graph
from kgplatform.interfaces.http.app import AppServer, make_app
from kgplatform.interfaces.http.parts import Limits
from kgplatform.interfaces.web_server import address_of, listen
from kgplatform.settings import load_settings

with listen("127.0.0.1", 0) as listening, open_graph(load_settings()) as graph:
    print(address_of(listening), flush=True)
    AppServer(make_app(graph, limits=Limits(lease=float(sys.argv[1])))).run([listening])
"""


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
    settings = load_settings(home=tmp_path / "home", embedder="hash:64", openai_base_url=address, model_retries=0)
    with Store(neo4j_server) as own, KnowledgeGraph(own, settings, embedder=HashEmbedder(64)) as graph:
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


@pytest.mark.killed
def test_the_job_of_a_killed_server_is_taken_up(graph: KnowledgeGraph, neo4j_server: Connection, model: Silent) -> None:
    home = graph.settings.home_folder
    ours = {"OPENAI_BASE_URL": model.server.base_url, "KGPLATFORM_HOME": str(home), "KGPLATFORM_EMBEDDER": "hash:64"}
    environment = os.environ | variables(neo4j_server) | ours
    command = [sys.executable, "-c", SERVER, "2"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            with httpx.Client(base_url=process.stdout.readline().strip(), timeout=60) as client:
                job = sent(client, "field.txt")
            model.wait()
        finally:
            process.kill()
    model.silent_from(None)
    with client_of(graph, limits=Limits(lease=2)) as client:
        end = wait_for(client, job)
    assert (end["state"], end["report"]["extracted"]) == ("done", 1)
    assert [each.name for each in (home / "uploads").iterdir()] == ["field.txt"]


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


def test_a_job_whose_servers_all_died_is_given_up(graph: KnowledgeGraph, model: Silent) -> None:
    with client_of(graph) as client:
        job = sent(client, "field.txt")
        model.wait()
    place = (graph.settings.home_folder / "uploads.id").read_text().split()[0]
    for _ in range(5):
        assert JobQueue(graph.store, place, "one that died", 0).claim() is not None
    with client_of(graph) as client:
        end = wait_for(client, job)
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
