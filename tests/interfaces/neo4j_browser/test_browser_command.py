"""The command ``kgplatform browser`` as a process: what it prints, what it opens, how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from kgplatform.neo4j.store import Connection, Store

_COMMAND = [sys.executable, "-m", "kgplatform.interfaces.cli.main", "browser", "--port", "0"]


@pytest.fixture
def environment(neo4j_server: Connection, store: Store, tmp_path: Path) -> dict[str, str]:
    """The test run's server as a given one, for the password is nowhere but there."""
    ours = {
        "NEO4J_URI": neo4j_server.uri,
        "NEO4J_PASSWORD": neo4j_server.password,
        "KGPLATFORM_HOME": str(tmp_path / "home"),
    }
    return {**os.environ, **ours}


@contextmanager
def running(environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the address that it printed."""
    started = subprocess.Popen(_COMMAND, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert started.stdout
        line = started.stdout.readline()
        assert line.startswith("Neo4j Browser is at http://localhost:"), line + started.stderr.read()
        yield started, line.split()[4]
    finally:
        started.kill()
        started.communicate()


def test_it_opens_the_address_serves_until_it_is_told_to_end_and_leaves_nothing(
    environment: dict[str, str], neo4j_server: Connection, tmp_path: Path
) -> None:
    home, pipe, opener = Path(environment["KGPLATFORM_HOME"]), tmp_path / "opened", tmp_path / "open-it"
    os.mkfifo(pipe)
    opener.write_text(f'#!/bin/sh\nprintf %s "$1" > {pipe}\n')
    opener.chmod(0o700)
    with running({**environment, "BROWSER": f"{opener} %s &"}) as (process, address):
        assert pipe.read_text() == address
        assert neo4j_server.password in httpx.get(address, timeout=60).text
        base = address.partition("/start/")[0]
        assert httpx.get(f"{base}/", timeout=60).status_code == 200
        assert (home / "browser.json").exists()
        command = Path(f"/proc/{process.pid}/cmdline")
        assert not command.exists() or neo4j_server.password.encode() not in command.read_bytes()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
    assert (process.returncode, out) == (0, "")
    assert "Opened. For another window: http://localhost:" in err
    assert neo4j_server.password not in err
    assert not (home / "browser.json").exists()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(base.rpartition(":")[2]))) != 0
