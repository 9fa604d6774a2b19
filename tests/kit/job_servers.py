"""What tests of jobs share: the graph of a server with a home of its own, and a server that can be killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conftest import variables

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import load_settings

_SERVER = """
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


@contextmanager
def graph_at(connection: Connection, home: Path, model: str) -> Iterator[KnowledgeGraph]:
    """The graph as a server sees it whose home is ``home``, with the language model at ``model``."""
    settings = load_settings(home=home, embedder="hash:64", openai_base_url=model, model_retries=0)
    with Store(connection) as store, KnowledgeGraph(store, settings, embedder=HashEmbedder(64)) as graph:
        yield graph


@contextmanager
def server_process(
    connection: Connection, home: Path, model: str, lease: float
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The same in a process of its own, which is killed at the latest at the end; and its address."""
    ours = {**variables(connection), "OPENAI_BASE_URL": model, "KGPLATFORM_HOME": str(home)}
    ours["KGPLATFORM_EMBEDDER"] = "hash:64"
    command = [sys.executable, "-c", _SERVER, str(lease)]
    with subprocess.Popen(command, env=os.environ | ours, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()
