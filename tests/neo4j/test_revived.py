"""A managed server that ends by itself is started again, by whoever meets it first, and not for ever."""

import os
import shlex
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import httpx
import pytest
from conftest import end_server
from stopped import until
from web_server import client_of

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, ServerError, StatementError
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.memory import unbounded
from kgplatform.neo4j.process import Strikes
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Store
from kgplatform.settings import load_settings

pytestmark = pytest.mark.killed

AGAIN = "The database stopped while the statement was running. The server was restarted: run the statement again."


ENDLESS = "UNWIND range(1, 10000) AS a UNWIND range(1, 10000) AS b UNWIND range(1, 10000) AS c RETURN sum(a * b % c)"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the server that is killed."""
    return tmp_path_factory.mktemp("revived")


@pytest.fixture(scope="module")
def server(home: Path, quick_java: Path) -> Iterator[LocalNeo4j]:
    """It."""
    settings = load_settings(home=home, neo4j_heap="256m", neo4j_page_cache="32m")
    java = home / "java"  # as a server of one's own is, without bounds
    java.write_text(
        f"""#!/bin/sh
case " $* " in *" --console-mode "*) set -- "$@" -c db.memory.transaction.max=0;; esac
exec {shlex.quote(str(quick_java))} "$@"
""",
        "utf-8",
    )
    java.chmod(0o755)
    server = LocalNeo4j(settings, java=java)
    yield server
    end_server(server)


@pytest.fixture
def kg(server: LocalNeo4j, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeGraph]:
    """A graph whose server may be killed at once again."""
    monkeypatch.setattr("kgplatform.neo4j.server._REVIVED_AGAIN", 0.0)
    settings = load_settings(home=home, embedder="hash:64")
    with KnowledgeGraph(Store(server.up(), server.revive), settings, embedder=HashEmbedder(64)) as graph:
        yield graph


def kill(server: LocalNeo4j) -> int:
    """Kill it as if its memory had run out; returns which process it was."""
    pid = server.status().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):  # a thread that looks for jobs may have met it, and started the next one
        os.waitpid(pid, 0)
    return pid


def ended_with(kg: KnowledgeGraph, server: LocalNeo4j, client: httpx.Client, statement: str) -> tuple[int, str]:
    """The answer to a ``statement`` that runs for long, during which the server is killed."""
    told: list[httpx.Response] = []
    shown = (
        "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery ENDS WITH 'RETURN sum(a * b % c)' "
        "RETURN count(*) AS number"
    )
    running = Thread(target=lambda: told.append(client.post("/api/cypher", json={"statement": statement})))
    running.start()
    with kg.store.lend_driver("the test") as driver:
        until(lambda: driver.execute_query(shown).records[0]["number"] > 0)
    kill(server)
    running.join()
    return told[0].status_code, told[0].json()["error"]["message"]


def test_what_ended_the_server_twice_is_refused_and_keeps_it_from_nobody(
    kg: KnowledgeGraph, server: LocalNeo4j, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever opens the graph, in whatever spelling; what ends well is forgiven. No statement is run again."""
    monkeypatch.setattr("kgplatform.neo4j.server._REVIVED_AGAIN", 3600.0)
    worse = ENDLESS.replace("AS c", "AS c WITH a, b, c")
    with client_of(kg) as client:
        for _ in range(2):
            assert ended_with(kg, server, client, worse) == (503, AGAIN)
            assert client.get("/api/documents").status_code == 200
            assert client.post("/api/cypher", json={"statement": "RETURN 1 AS x"}).json()["rows"] == [[1]]
    with Store(server.up()) as other, pytest.raises(InputError, match="has ended the database twice"):
        other.run_statement(worse.lower() + "  // x", {}, write=False, timeout=1, limit=1)
    other_words = ENDLESS.replace("10000", "10")
    assert len(kg.cypher(other_words).rows) == 1
    strikes = Strikes(server.status().home)
    for life in ("one", "one", "two"):
        strikes.refuse(other_words)
        strikes.add(other_words, life)
    with pytest.raises(InputError, match="refused for a day"):
        kg.cypher(other_words)
    strikes.forgive(other_words)
    assert len(kg.cypher(other_words).rows) == 1


def test_one_that_hangs_is_started_again(
    kg: KnowledgeGraph, server: LocalNeo4j, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgplatform.neo4j.store._GRACE", 0.5)
    monkeypatch.setattr("kgplatform.neo4j.store._HUNG", 0.5)
    pid = server.status().pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(ServerError) as caught:
        kg.cypher("RETURN 1", timeout=0.5)
    assert str(caught.value) == AGAIN.replace("stopped", "stopped responding")
    assert kg.cypher("RETURN 1").rows == [[1]]


def test_a_statement_that_nothing_ends_ends_with_the_server(
    kg: KnowledgeGraph, server: LocalNeo4j, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgplatform.neo4j.store._GRACE", 1.0)
    monkeypatch.setattr("kgplatform.neo4j.store._LONGEST", 1.0)
    before = server.status().pid
    statement = "RETURN reduce(n = 0, x IN range(1, $n) | n + x % 7)"
    kg.cypher(statement, {"n": 10})  # planned: where planning takes the time, Neo4j does end it
    with pytest.raises(StatementError, match="did not finish within 2 s, and Neo4j cannot cancel it: the server"):
        kg.cypher(statement, {"n": 1_000_000_000}, timeout=2)
    assert server.status().pid != before
    assert kg.cypher("RETURN 1").rows == [[1]]


def test_missing_bounds_are_said(kg: KnowledgeGraph) -> None:
    assert unbounded(kg.store) == (
        "The server does not set db.memory.transaction.max: one statement can use up its memory and stop it "
        "(docs/how-to/own-neo4j.md)."
    )


def test_reading_and_writing_go_on_but_twice_within_a_minute_is_left_to_people(
    kg: KnowledgeGraph, server: LocalNeo4j, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so is one that a person has stopped."""
    kg.cypher("CREATE (:Kept {n: 1})", write=True)
    before = kill(server)
    kg.store.write(("ingest/set_graph_state", {"state": {"embeddingModel": "hash:64"}}))
    assert kg.state()["embeddingModel"] == "hash:64"
    assert server.status().pid != before
    assert kg.cypher("MATCH (k:Kept) RETURN k.n").rows == [[1]]
    kill(server)
    monkeypatch.setattr("kgplatform.neo4j.server._REVIVED_AGAIN", 3600.0)
    for _ in range(2):
        with pytest.raises(ServerError, match="Neo4j stopped twice within a minute and is not restarted"):
            kg.documents()
    assert not server.status().running and server.connection() is None
    server.down()
    with pytest.raises(ServerError, match="The database does not answer"):
        kg.cypher("RETURN 1")
