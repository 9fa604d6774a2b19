"""The site of ``kgplatform browser`` on a free port, in a thread, for tests that play the web browser."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from stopped import until

from kgplatform.client import KnowledgeGraph
from kgplatform.interfaces.neo4j_browser.site import GRACE, BrowserProgram, Tickets, make_browser_app
from kgplatform.interfaces.web_server import QuietServer, listen_as_localhost
from kgplatform.neo4j.browser import browser_jar


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
    with closing(BrowserProgram(browser_jar(graph.settings, print))) as program:
        sockets, address = listen_as_localhost(0)
        tickets = Tickets()
        server = QuietServer(make_browser_app(graph, program, tickets), grace=GRACE, lifespan=False)
        thread = threading.Thread(target=server.run, kwargs={"sockets": sockets})
        thread.start()
        try:
            until(lambda: server.started)
            yield Site(address, tickets)
        finally:
            server.should_exit = True
            thread.join()
