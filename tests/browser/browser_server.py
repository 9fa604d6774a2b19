"""The site of ``kgplatform browser`` on a free port, in a thread, for tests that play the web browser."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from conftest import ROOT

from kgplatform.browser.program import open_program
from kgplatform.browser.serving import BrowserServer, listen_as_localhost
from kgplatform.browser.site import Tickets, make_browser_app
from kgplatform.client import KnowledgeGraph

JARS = ROOT / ".kgplatform" / "jars"


@dataclass(frozen=True)
class Site:
    """A site that runs. ``address`` is its URL; each ``start`` is good for one visit."""

    address: str
    tickets: Tickets

    @property
    def start(self) -> str:
        """The address that connects."""
        return f"{self.address}/start/{self.tickets.good}"


@contextmanager
def browser_site(graph: KnowledgeGraph) -> Iterator[Site]:
    """Neo4j Browser on ``graph``."""
    settings = graph.settings.model_copy(update={"neo4j_jars": graph.settings.neo4j_jars or JARS})
    with closing(open_program(settings, print)) as program:
        sockets, address = listen_as_localhost(0)
        tickets = Tickets()
        server = BrowserServer(make_browser_app(graph, program, tickets))
        thread = threading.Thread(target=server.run, kwargs={"sockets": sockets})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield Site(address, tickets)
        finally:
            server.should_exit = True
            thread.join()
