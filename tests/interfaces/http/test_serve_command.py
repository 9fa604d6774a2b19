"""``kgplatform serve`` as a process: what it says, what it refuses, and how it ends."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from command_line import Run
from conftest import ROOT, variables
from doc_pages import blocks, page
from fastapi import FastAPI
from web_server import serving

from kgplatform.errors import InputError
from kgplatform.interfaces.cli.serve import read_token
from kgplatform.interfaces.web_server import QuietServer, listen
from kgplatform.neo4j.store import Connection, Store

pytest_plugins = ["command_line"]

TOKEN = "a-token-of-good-length"
OTHER_LOOPBACK = "127.0.0.2" if sys.platform == "linux" else "127.0.0.1"


@pytest.fixture
def environment(neo4j_server: Connection, store: Store) -> dict[str, str]:
    """The empty graph of this run, named by the environment."""
    return {**os.environ, **variables(neo4j_server)}


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        *(("--host", host, "--token-file") for host in ("0.0.0.0", "::", "example.org")),
        *(("--cors", origin, "is not an origin") for origin in ("*", "https://example.org/path", "http://[")),
    ],
)
def test_what_is_refused(option: str, value: str, said: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that others can reach without a token, and what is no origin: said by the command line itself."""
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:9")  # what is not refused ends there
    monkeypatch.setenv("NEO4J_PASSWORD", "none")
    done = run("serve", option, value)
    assert (done.code, done.out, said in done.err, "Traceback" in done.err) == (2, "", True, False)


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"127.0.0.1:{port}"):
            listen("127.0.0.1", port)


def test_token_files(tmp_path: Path) -> None:
    file = tmp_path / "token"
    with pytest.raises(InputError, match="cannot be read"):
        read_token(file)
    file.write_text(TOKEN)
    for mode in (0o644, 0o640, 0o604, 0o620):
        file.chmod(mode)
        with pytest.raises(InputError, match="chmod 600"):
            read_token(file)
    file.chmod(0o600)
    assert read_token(file) == TOKEN
    for text in ("short", "two words of a token", "ünicode-is-no-token-here", "a" * 20 + "\nb"):
        file.write_text(text)
        with pytest.raises(InputError, match="at least 16"):
            read_token(file)
    file.write_bytes(b"\xff" * 20)
    with pytest.raises(InputError, match="cannot be read"):
        read_token(file)


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("--host 0.0.0.0 --token-file token --max-upload 20", signal.SIGTERM),
        (f"--port 0 --host {OTHER_LOOPBACK} --cors https://notes.example --read-only --open", signal.SIGINT),
    ],
)
def test_it_serves_and_ends_quietly(environment: dict[str, str], line: str, number: signal.Signals) -> None:
    """A token lets others in; neither it nor what was asked is in the log. All options of the page are in the lines."""
    options = line.split()
    Path("token").write_text(f"{TOKEN}\n")
    Path("token").chmod(0o600)
    with serving(environment | {"BROWSER": "true"}, "serve", *options) as (process, address):
        given = {"host": "graph.example", "authorization": f"Bearer {TOKEN}"} if "--token-file" in options else {}
        with httpx.Client(base_url=address, timeout=60, headers=given) as client:
            assert client.get("/api/health").json()["status"] == "ok"
            assert client.get("/").status_code == 200
            assert client.get("/api/about").status_code == 200
            if given:
                assert httpx.get(f"{address}/api/about", headers={"host": given["host"]}).status_code == 401
            secret = "what-I-would-rather-not-see-in-a-log"
            client.post("/api/search", json={"question": secret})
            client.get("/api/graph/find", params={"text": secret})
            client.get("/api/about%0d%0aforged")
            process.send_signal(number)
            out, err = process.communicate()
    assert process.returncode == 0, err
    assert out == "", "one line, and nothing after it"
    assert "Traceback" not in err
    assert secret not in err
    assert TOKEN not in err
    assert "POST /api/search 400" in err
    assert not [line for line in err.splitlines() if line.startswith("forged")]


def test_a_second_signal_does_not_wait_for_clients_but_ends_the_application_in_order() -> None:
    began, ended = threading.Event(), threading.Event()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        began.set()
        yield
        ended.set()

    with listen("127.0.0.1", 0) as listening:
        server = QuietServer(FastAPI(lifespan=lifespan), grace=300, lifespan=True)
        running = threading.Thread(target=server.run, args=([listening],))
        running.start()
        began.wait()
        with socket.create_connection(listening.getsockname()) as client:
            client.sendall(b"GET / HTTP/1.1\r\n")  # which goes on
            server.handle_exit(signal.SIGTERM, None)
            server.handle_exit(signal.SIGINT, None)
            running.join()
    assert ended.is_set()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_requests_of_the_page(environment: dict[str, str]) -> None:
    """Each block with curl, in order: the documents come in before anybody asks about them."""
    Path("notes.md").write_text("Cyrus Field founded the Atlantic Telegraph Company in London.")
    shutil.copy(ROOT / "examples" / "corpus" / "Expedition_of_1865.pdf", "report.pdf")
    order = ("-F", "api/threads", "api/ask")
    of_page = [each for each in blocks(page("http.md"), "bash") if "curl" in each]
    requests = sorted(of_page, key=lambda each: next((n for n, words in enumerate(order) if words in each), 1))
    assert len(requests) == 5
    with serving(environment, "serve", "--port", "0") as (_, address):
        for block in requests:
            here = block.replace("http://127.0.0.1:8600", address)
            done = subprocess.run(["bash", "-ec", here], capture_output=True, text=True, check=False)
            assert done.returncode == 0
            assert '"error":{' not in done.stdout, done.stdout
            if job := re.search(r'"job":\{"id":"(\w+)"', done.stdout):
                events = httpx.get(f"{address}/api/jobs/{job[1]}/events", timeout=200).text
                assert '"added":2' in events
    assert "event: answer" in done.stdout
