"""The command ``browser``: Neo4j Browser on the graph, connected, styled, and with a guide to it."""

from __future__ import annotations

import webbrowser
from contextlib import closing
from typing import Annotated

import typer

from kgplatform.cli_base import note, open_at
from kgplatform.cli_options import Home

Port = Annotated[
    int | None, typer.Option("--port", min=0, max=65535, help="0 takes any that is free; else 8601 or the next.")
]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Print the address, and open nothing.")]


def browser(port: Port = None, no_open: NoOpen = False, home: Home = None) -> None:
    """Open Neo4j Browser, connected, with the graph's colours, the saved queries and a guide; until Ctrl-C."""
    from kgplatform.browser.program import open_program
    from kgplatform.browser.running import announced
    from kgplatform.browser.serving import BrowserServer, listen_as_localhost
    from kgplatform.browser.site import Tickets, make_browser_app

    with open_at(home) as graph, closing(open_program(graph.settings, note)) as program:
        sockets, address = listen_as_localhost(port)
        tickets = Tickets(lambda ticket: note(f"It was opened. For another window: {address}/start/{ticket}"))
        first = f"{address}/start/{tickets.good}"
        with announced(graph.settings, graph.store.connection, address):
            print(f"Neo4j Browser is at {first} (Ctrl-C ends it).", flush=True)
            if not no_open and not webbrowser.open(first):
                note("No web browser could be opened here: open that address by hand.")
            BrowserServer(make_browser_app(graph, program, tickets)).run(sockets)
