"""Neo4j Browser: the jar that Neo4j distributes it in, and which ``kgplatform browser`` runs for a home folder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kgplatform.concurrency.files import write_atomically
from kgplatform.neo4j.config import install
from kgplatform.neo4j.process import loaded, process_mark
from kgplatform.neo4j.store import Connection
from kgplatform.settings import Settings

_FILE = "browser.json"


def browser_jar(settings: Settings, report: Callable[[str], None]) -> Path:
    """The jar, fetched if it was never installed here. Raises ``ServerError``."""
    (jar,) = install(settings.jar_folder, report, only="neo4j-browser")
    return jar


@contextmanager
def announced_browser(settings: Settings, connection: Connection, address: str) -> Iterator[None]:
    """Say, in a small file while the block lasts, that the Browser of this graph is served at ``address`` from here."""
    file = settings.home_folder / _FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    said = {"address": address, "graph": connection.uri, "pid": os.getpid(), "began": process_mark(os.getpid())}
    write_atomically(file, json.dumps(said).encode())
    try:
        yield
    finally:
        if (loaded(dict[str, Any], file) or {}).get("pid") == os.getpid():  # else another one has taken over
            file.unlink(missing_ok=True)


def browser_url_of(settings: Settings, connection: Connection) -> str | None:
    """Where a person opens Neo4j Browser on this graph: ``kgplatform browser`` if it runs, else the server's own. None
    for a given server without the former: where that has its Browser is not known."""
    said = loaded(dict[str, Any], settings.home_folder / _FILE) or {}
    pid = said.get("pid")
    lives = isinstance(pid, int) and process_mark(pid) == said.get("began")
    if lives and said.get("graph") == connection.uri:
        return str(said["address"])
    return connection.browser_url
