"""One real Neo4j for each worker of the run, wiped between tests; no test reaches any other network than loopback."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from quick_java import made_quick

from kgplatform.client import KnowledgeGraph
from kgplatform.ingest.graph_state import define_indexes, define_keys, drop_vector_indexes
from kgplatform.models.embed import HashEmbedder
from kgplatform.models.onnx_encoder import OWN_MODELS, fetch_weights
from kgplatform.neo4j.process import RECORD, Ports, load_record, stop
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import ScriptedChat

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
_SERVERS = "TESTS_OF_KGPLATFORM_SERVERS"
"""Names the folder with the homes of the run's servers."""
_MEMORY = Path("/dev/shm")  # a disk in memory, where Linux has one
_ROOM = 2_000_000_000
"""Bytes that must be free there for the data of the run's servers."""

# Where Neo4j's program files lie, for the processes that tests start as well.
STATE = ROOT / ".kgplatform"
os.environ.setdefault("KGPLATFORM_NEO4J_JARS", str(STATE / "jars"))
JARS = Path(os.environ["KGPLATFORM_NEO4J_JARS"])

# A run that a shell starts in the background ignores Ctrl-C, and so would every process that tests start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test asserts a time: an example that takes long on a busy machine is no failure. Who wants more of them says so.
hypothesis.settings.register_profile("untimed", deadline=None, max_examples=50)
hypothesis.settings.load_profile("untimed")


def pytest_configure(config: pytest.Config) -> None:
    """The folder of the whole run's servers: its workers, which are processes of this one, find it by its name."""
    if not hasattr(config, "workerinput"):
        memory = _MEMORY if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM else None
        os.environ[_SERVERS] = tempfile.mkdtemp(prefix="kgplatform-tests-", dir=memory)


def pytest_unconfigure(config: pytest.Config) -> None:
    """A worker that is ended by Ctrl-C leaves its server behind."""
    if not hasattr(config, "workerinput"):
        servers = Path(os.environ.pop(_SERVERS))
        for home in servers.iterdir():
            end_server(LocalNeo4j(load_settings(home=home)))
        shutil.rmtree(servers)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What asks for Chromium is marked so.

    Files that take long come first, so that no worker is left with one at the end; and those that change indexes, after
    which a server plans every statement anew.
    """
    for item in items:
        if isinstance(item, pytest.Function) and "chromium" in item.fixturenames:
            item.add_marker("chromium")
    first = {item.path for item in items if any(map(item.get_closest_marker, ("killed", "long", "indexes")))}
    items.sort(key=lambda item: item.path not in first)


@pytest.fixture(scope="session", autouse=True)
def own_environment() -> Iterator[None]:
    """No setting of the person who runs the tests."""
    with pytest.MonkeyPatch.context() as patched:
        for name in list(os.environ):
            if name.startswith(_OURS) and not name.startswith(_OF_THE_RUN):
                patched.delenv(name)
        yield


@pytest.fixture(scope="session", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """Else every HTTP client reads all that the system trusts, 25 ms, though no server of the tests has one."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
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
def quick_java(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Java for servers of tests."""
    home = Path(tempfile.mkdtemp(dir=os.environ[_SERVERS]))
    settings = load_settings(home=home)
    return made_quick(tmp_path_factory.mktemp("java"), STATE / "java", settings)


@pytest.fixture(scope="session", autouse=True)
def embedding_weights() -> None:
    """Fetched before the first test, for whom the network is out of reach."""
    for model in OWN_MODELS:
        fetch_weights(model, JARS, print)


@pytest.fixture(scope="session", autouse=True)
def usual_ports() -> Iterator[Ports]:
    """Where this process looks for free ports first: else all that start servers at a time would take one another's."""
    with ExitStack() as held, pytest.MonkeyPatch.context() as patch:
        ports = Ports(*(held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(2)))
        held.close()
        patch.setattr("kgplatform.neo4j.server._USUAL_PORTS", ports)
        yield ports


@pytest.fixture(scope="session")
def neo4j_server(quick_java: Path) -> Iterator[Connection]:
    """The worker's own server: started once, stopped at the end. Its data lies in memory where there is room."""
    home = Path(tempfile.mkdtemp(dir=os.environ[_SERVERS]))
    server = LocalNeo4j(load_settings(home=home), java=quick_java)
    try:
        connection = server.up()
        with Store(connection) as store:
            define_all(store)
        yield connection
    finally:
        end_server(server)


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


def opened(store: Store, home: Path, chat: ScriptedChat | None = None, **more: Any) -> KnowledgeGraph:
    """The same, whatever is in ``store``, with ``more`` settings, and perhaps a language model."""
    settings = load_settings(home=home, embedder=f"hash:{DIMENSION}", **more)
    return KnowledgeGraph(store, settings, embedder=HashEmbedder(DIMENSION), chat=chat)


@contextmanager
def emptied(connection: Connection, home: Path, **more: Any) -> Iterator[KnowledgeGraph]:
    """The same for the tests of a module, with a home of its own, and ``more`` that a graph takes, such as a model."""
    with Store(connection) as store:
        wipe(store)
        settings = load_settings(home=home, embedder=f"hash:{DIMENSION}")
        yield KnowledgeGraph(store, settings, embedder=HashEmbedder(DIMENSION), **more)


def variables(connection: Connection) -> dict[str, str]:
    """The environment variables that name a server, and an embedder without a model."""
    return {
        "NEO4J_URI": connection.uri,
        "NEO4J_USERNAME": connection.username,
        "NEO4J_PASSWORD": connection.password,
        "KGPLATFORM_EMBEDDER": f"hash:{DIMENSION}",
    }


@pytest.fixture
def at_server(neo4j_server: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the run's server, whatever is in it."""
    for name, value in variables(neo4j_server).items():
        monkeypatch.setenv(name, value)


def settings_at(connection: Connection, home: Path, **more: Any) -> Settings:
    """Settings that name the server."""
    given = {"neo4j_uri": connection.uri, "neo4j_username": connection.username, "neo4j_password": connection.password}
    return load_settings(home=home, embedder=f"hash:{DIMENSION}", **given, **more)


@pytest.fixture(scope="module")
def shared_kg(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """As ``kg``, but one for the tests of a module that only read: they stand before those that ask for an empty one,
    which shares the database.
    """
    with emptied(neo4j_server, tmp_path_factory.mktemp("shared")) as graph:
        yield graph


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A real Chromium, that of the system; Playwright downloads none. No call of it leaves the machine.

    Best without its windows, where the system has it so: a page costs it a fifth less work.
    """
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.fail(f"none of {', '.join(names)} is on the PATH; `make test` does without a browser")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_CHROMIUM)
        yield browser
        browser.close()


def wipe(store: Store) -> None:
    """Remove all nodes; make the vector indexes anew if any is of another dimension than those of most tests.

    Else they stay: whenever an index comes or goes, Neo4j plans every statement anew.
    """
    with store.lend_driver("the tests") as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
    if any(row["dimension"] != DIMENSION for row in store.read("ingest/vector_dimensions")):
        drop_vector_indexes(store)
        define_all(store)


def end_server(server: LocalNeo4j) -> None:
    """End it at once: nobody needs what it would still write, and to stop in order takes it seconds."""
    record = load_record(server.status().home / RECORD)
    if record is not None:
        stop(record, at_once=True)


def define_all(store: Store) -> None:
    """Every constraint and index, as of a graph with a tree and with gists."""
    define_keys(store)
    define_indexes(store, DIMENSION, ("community", "page"))
