"""Statements that cost more than a server has: none ends it, and none keeps it from answering others.

As strangers send them, over HTTP; those that write, as the owner of the graph does. On a server with a small heap.
A few are tried in the tests, all of them in ``make bench ONLY=faults``.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from bombs import BOMBS, ENDING, FILL, Bomb
from campaigns import WHOLE
from conftest import define_all, end_server
from web_server import client_of

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import KgError
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Store
from kgplatform.settings import load_settings

pytestmark = pytest.mark.killed  # a server of its own

TIME = 0.5
"""Seconds that a statement may run."""
PATIENCE = 200.0
"""Seconds in which others must be answered, and a statement end that was told to: the machine may be slow."""
SENTENCE = 500
"""Characters of an answer, the longest."""
USUAL = (
    *("split in a loop", "many splits collected", "everything collected, twice", "a product in order", "quantified"),
    *("brackets", "nested toLower", "wildcards", "as many copies as there may be", "lists in lists, too deep"),
    *("combinations of labels", "labels that are not", "everything planned", "products merged"),
)
"""Of each kind one or two."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the small server."""
    return tmp_path_factory.mktemp("small")


@pytest.fixture(scope="module")
def server(home: Path, quick_java: Path) -> Iterator[LocalNeo4j]:
    """It, with what statements multiply."""
    settings = load_settings(home=home, neo4j_heap="512m", neo4j_page_cache="64m")
    server = LocalNeo4j(settings, java=quick_java)
    with Store(server.up()) as store:
        define_all(store)
        for statement in FILL:
            store.run_statement(statement, {}, write=True, timeout=300, limit=1)
    yield server
    end_server(server)


@pytest.fixture(scope="module")
def kg(server: LocalNeo4j, home: Path) -> Iterator[KnowledgeGraph]:
    """The graph."""
    settings = load_settings(home=home, embedder="hash:64")
    with KnowledgeGraph(Store(server.up(), server.revive), settings, embedder=HashEmbedder(64)) as graph:
        yield graph


@pytest.fixture(scope="module")
def client(kg: KnowledgeGraph) -> Iterator[httpx.Client]:
    """Over HTTP."""
    with client_of(kg) as client:
        yield client


@pytest.fixture(scope="module")
def other(server: LocalNeo4j) -> Iterator[Store]:
    """Somebody else, with connections of their own. What ends the server is not mended for them."""
    with Store(server.up()) as store:
        yield store


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is slow is not started again."""
    for name in ("_HUNG", "_LONGEST"):
        monkeypatch.setattr(f"kgplatform.neo4j.store.{name}", PATIENCE)


RUNNING = "SHOW TRANSACTIONS YIELD currentQuery, metaData RETURN currentQuery, metaData"


def is_well(other: Store) -> bool:
    """Whether others are answered, and nothing of the statement is left, soon. The served graph looks for jobs now and
    then, so one look at which nothing runs is enough."""
    table = other.run_statement("MATCH (d:Dense) RETURN count(d)", {}, write=False, timeout=PATIENCE, limit=1)
    ends = time.monotonic() + PATIENCE
    with other.lend_driver("the tests") as driver:
        while running := [each["currentQuery"] for each in driver.execute_query(RUNNING).records if each["metaData"]]:
            if time.monotonic() > ends:
                pytest.fail(f"still running: {running}")
            time.sleep(0.2)
    return table.rows == [[60]]


TRIED = [bomb for bomb in BOMBS if bomb.name in USUAL or os.environ.get(WHOLE) == "1"]


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("bomb", [bomb for bomb in TRIED if not bomb.write], ids=lambda bomb: bomb.name)
def test_a_strangers_statement(bomb: Bomb, client: httpx.Client, other: Store, server: LocalNeo4j) -> None:
    before = server.status().pid
    try:
        body = {"statement": bomb.statement, "parameters": bomb.parameters, "timeout": TIME, "limit": 10}
        answer = client.post("/api/cypher", json=body, timeout=None)
    except RecursionError:  # no JSON is nested so deeply
        return
    assert answer.status_code in (200, 400, 413, 422), answer.text
    if answer.status_code != 200:
        said = answer.json()["error"]["message"]
        assert len(said) < SENTENCE
        assert "\n" not in said
    assert server.status().pid == before
    assert is_well(other)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("bomb", [bomb for bomb in TRIED if bomb.write], ids=lambda bomb: bomb.name)
def test_an_owners_statement_that_writes(bomb: Bomb, kg: KnowledgeGraph, other: Store, server: LocalNeo4j) -> None:
    before = server.status().pid
    try:
        kg.cypher(bomb.statement, bomb.parameters, write=bomb.write, timeout=TIME, limit=10)
    except KgError as error:
        assert len(str(error)) < SENTENCE
    assert server.status().pid == before
    assert is_well(other)


@pytest.mark.parametrize("bomb", ENDING if os.environ.get(WHOLE) == "1" else ENDING[1:2], ids=lambda bomb: bomb.name)
def test_a_statement_that_may_end_the_server_closes_it_for_nobody(bomb: Bomb, client: httpx.Client) -> None:
    """However often it is sent: it ends, or the server does and is started again; who asks meanwhile waits."""
    body = {"statement": bomb.statement, "parameters": bomb.parameters, "timeout": TIME, "limit": 10}
    for _ in range(3):
        assert client.post("/api/cypher", json=body, timeout=None).status_code in (200, 400, 503)
        assert client.get("/api/documents", timeout=None).status_code == 200
