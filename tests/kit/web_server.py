"""The HTTP interface over a graph, on a free port of loopback.

The server is the one that ``kgplatform serve`` runs, in a thread.

with served(graph) as address: ...
with client_of(graph) as client: ...
"""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from kgplatform.client import KnowledgeGraph
from kgplatform.interfaces.http.app import AppServer, make_app
from kgplatform.interfaces.web_server import address_of, listen


@contextmanager
def served(graph: KnowledgeGraph, *, port: int = 0, **options: Any) -> Iterator[str]:
    """The address, while it is served; afterwards all of it has ended. ``options`` are those of ``make_app``."""
    with listen("127.0.0.1", port) as listening:
        server = AppServer(make_app(graph, **options))
        thread = threading.Thread(target=server.run, args=([listening],), name="served")
        thread.start()
        try:
            yield address_of(listening)  # connections wait in the socket's queue until it has started
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def client_of(graph: KnowledgeGraph, **options: Any) -> Iterator[httpx.Client]:
    """A client of ``graph``, served with ``options``."""
    with served(graph, **options) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


@contextmanager
def serving(environment: dict[str, str], *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command that serves, in a process that is killed at the latest at the end, and the address that it prints."""
    line = [sys.executable, "-m", "kgplatform.interfaces.cli.main", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(line, env=environment, text=True, start_new_session=True, **pipes)
    try:
        assert process.stdout is not None
        found = re.search(r" is at (http://\S+)", process.stdout.readline())
        assert found, process.communicate()
        yield process, found[1]
    finally:
        process.kill()
        process.communicate()
