"""Servers that a test starts in homes of its own, small ones, and notes to see what they keep.

pytest_plugins = ["own_servers"]
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import end_server

from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import Settings, load_settings

Make = Callable[..., LocalNeo4j]


def small(home: Path, **more: Any) -> Settings:
    """Settings of a small server in ``home``."""
    return load_settings(**{"home": home, "neo4j_heap": "256m", "neo4j_page_cache": "32m", **more})


@pytest.fixture
def make(tmp_path: Path, quick_java: Path) -> Iterator[Make]:
    """Build a server, by default in this test's home; whatever runs at the end is stopped."""

    def build(home: Path = tmp_path / "home", report: Any = lambda line: None, **more: Any) -> LocalNeo4j:
        java = more.pop("java", quick_java)
        server = LocalNeo4j(small(home, **more), report, java=java)
        built.append(server)
        return server

    built: list[LocalNeo4j] = []
    yield build
    for server in built:
        end_server(server)


def keep(connection: Connection, *texts: str) -> None:
    """Write a note for each of ``texts``, in one transaction."""
    statement = "UNWIND $texts AS text CREATE (:Note {text: text})"
    with Store(connection) as store:
        store.run_statement(statement, {"texts": texts}, write=True, timeout=60, limit=1)


def notes(connection: Connection) -> list[str]:
    """All notes, in order."""
    statement = "MATCH (n:Note) RETURN n.text ORDER BY n.text"
    with Store(connection) as store:
        return [text for (text,) in store.run_statement(statement, {}, write=False, timeout=60, limit=10**6).rows]
