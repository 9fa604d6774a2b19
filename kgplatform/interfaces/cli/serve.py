"""The commands that run until Ctrl-C: ``serve`` for people and programs, ``mcp`` for language models, ``browser`` for
Neo4j Browser."""

from __future__ import annotations

import gc
import logging
import os
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from kgplatform.concurrency.system import is_open_to_others
from kgplatform.concurrency.threads import Stop
from kgplatform.errors import InputError, KgError, SettingError, StoppedError, to_install
from kgplatform.interfaces.cli.shared import Home, connect_to, note, open_at, settings_of

if TYPE_CHECKING:
    from kgplatform.client import KnowledgeGraph
    from kgplatform.interfaces.http.team.signin import SignIn
    from kgplatform.settings import Settings

_SEARCHES = 40
"""Made by a server itself when it starts: the next ones take about 1.3 times as long as after hundreds.

The first search of a Neo4j that has just started takes four seconds, the thirtieth a tenth of one: statements must be
planned, Java's code compiled, and the embedding model loaded (docs/explanation/decisions.md).
"""
_SHORTEST_TOKEN = 16
_TEAM_GRACE = 10
"""Seconds that requests to workspaces have to finish when the server ends."""
_UPLOADS = 5
"""How many uploads of the largest size may arrive or wait at once."""
_MCP_PORT = 8700

Host = Annotated[
    str,
    typer.Option("--host", help="The address to listen on. If other machines can reach it, --token-file is required."),
]
TokenFile = Annotated[
    Path | None,
    typer.Option("--token-file", help="A file with the token that clients must send; only its owner may read it."),
]


def serve(
    host: Host = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65535, help="The port; 0 takes any free one. Default: 8600, or the next free one."
        ),
    ] = None,
    token_file: TokenFile = None,
    cors: Annotated[
        list[str] | None, typer.Option("--cors", metavar="ORIGIN", help="Allow pages of this site. May be repeated.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse requests that change the graph.")] = False,
    max_upload: Annotated[
        int, typer.Option("--max-upload", min=1, metavar="MB", help="The largest upload in megabytes.")
    ] = 100,
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="N", help="Number of uploads to ingest at once.")] = 2,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the explorer in the web browser.")] = False,
    workspaces: Annotated[
        Path | None, typer.Option("--workspaces", metavar="FOLDER", help="Serve all workspaces of this folder.")
    ] = None,
    address: Annotated[
        str | None, typer.Option("--address", metavar="URL", help="Where people reach the server, if by a proxy.")
    ] = None,
    oidc: Annotated[
        Path | None,
        typer.Option(
            "--oidc", metavar="FILE", help="With --workspaces: have people sign in with this OpenID provider."
        ),
    ] = None,
    home: Home = None,
) -> None:
    """Serve the explorer and the HTTP interface until Ctrl-C."""
    if oidc is not None and workspaces is None:
        raise InputError("--oidc needs --workspaces: people have rights in workspaces.")
    needs_token = workspaces is None or token_file is not None  # else people bring their own
    token = _token_for(host, token_file) if needs_token else None
    origins = [_origin(site, "--cors") for site in cors or ()]
    address = _origin(address, "--address") if address else None
    from kgplatform.interfaces.http.app import AppServer, make_app
    from kgplatform.interfaces.http.parts import Limits
    from kgplatform.interfaces.web_server import LOOPBACK, MEGABYTE, address_of, is_loopback, listen

    _begin_log()
    limits = Limits(upload=max_upload * MEGABYTE, uploads=_UPLOADS * max_upload * MEGABYTE, jobs=jobs)
    with listen(host, port) as listening:
        here, names = address_of(listening), {urlsplit(address).hostname or ""} if address else set()
        hosts = LOOPBACK | {urlsplit(here).netloc.rpartition(":")[0], *names} if is_loopback(host) else None
        who: dict[str, Any] = {"token": token, "hosts": hosts, "origins": origins}
        how = {**who, "read_only": read_only, "limits": limits}
        if workspaces is not None:
            _serve_team(listening, workspaces, settings_of(home), oidc, how, opens=open_browser)
            return
        with connect_to(home) as graph:
            app = make_app(graph, **how)
            _announce("explorer", here, opens=open_browser)
            if advice := graph.server_advice():
                note(advice)
            with warming_up(graph):
                AppServer(app).run([listening])


def _announce(what: str, address: str, *, opens: bool) -> None:
    print(f"The {what} is at {address} (Ctrl-C ends it).", flush=True)
    if opens:
        webbrowser.open(address)


def _begin_log() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("kgplatform.interfaces.http").setLevel(logging.INFO)  # others log each request to the model
    logging.getLogger("neo4j").setLevel(logging.ERROR)  # its warnings quote statements


def _serve_team(
    listening: socket, folder: Path, settings: Settings, oidc: Path | None, how: dict[str, Any], *, opens: bool
) -> None:
    """Serve the workspaces of ``folder``. Raises ``InputError`` where that would let in more than this machine's
    users."""
    from kgplatform.interfaces.http.team.desk import make_desk
    from kgplatform.interfaces.http.team.host import Host, guarded
    from kgplatform.interfaces.http.team.people import PEOPLE_FILE, People
    from kgplatform.interfaces.web_server import QuietServer, address_of
    from kgplatform.workspaces import Workspaces

    workspaces, signin = Workspaces(folder.expanduser().absolute()), _signin(oidc)
    people = People(workspaces.folder / PEOPLE_FILE)
    is_open = how["token"] is None and signin is None and not people.file.exists()
    if is_open and how["hosts"] is None:
        raise InputError(
            "Other machines can reach this server, and nobody has been added to it: add users with `kgplatform "
            "people`, give a token with --token-file, or listen at 127.0.0.1."
        )
    if signin is not None:
        how["sessions"] = lambda headers: signin.person_of(headers, people)
        if how["hosts"] is not None:  # by the name that the provider sends people back to
            how["hosts"] |= {urlsplit(signin.provider.address).hostname or ""}
    team = Host(workspaces, settings, people, desk=partial(make_desk, signin=signin), report=note, **how)
    address = address_of(listening)
    _announce("page of the workspaces", address, opens=opens)
    if is_open:
        note("Whoever can reach it may do everything, until somebody is added with `kgplatform people`.")
    app = guarded(team, how["limits"], how["hosts"], how["origins"])
    QuietServer(app, grace=_TEAM_GRACE, lifespan=True).run([listening])


def _signin(file: Path | None) -> SignIn | None:
    if file is None:
        return None
    try:
        from kgplatform.interfaces.http.team.signin import SignIn, load_provider
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("authlib", "httpx2", "joserfc", "itsdangerous"):
            raise
        raise SettingError(f"Signing in with a provider needs Authlib. Run `{to_install('oidc')}`.") from error
    return SignIn(load_provider(file))


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Use streamable HTTP at /mcp instead of standard input and output.")
    ] = False,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes any free one.")] = _MCP_PORT,
    token_file: TokenFile = None,
    write: Annotated[bool, typer.Option("--write", help="Offer the tools that change the graph.")] = False,
    folders: Annotated[
        list[Path] | None,
        typer.Option(
            "--folder",
            exists=True,
            file_okay=False,
            help="With --write: allow ingesting files in this folder by path. May be repeated.",
        ),
    ] = None,
    max_tokens: Annotated[
        int,
        typer.Option(
            "--max-tokens", min=250, max=100_000, help="Maximum tokens per result if the client gives no number."
        ),
    ] = 4_000,
    home: Home = None,
) -> None:
    """Serve the graph over MCP, read-only unless --write. --host, --port and --token-file are for --http."""
    if folders and not write:
        raise InputError("--folder needs --write: a read-only server ingests nothing.")
    if token_file is not None and not http:
        raise InputError(
            "--token-file needs --http: otherwise the server's only client is the program that started it."
        )
    token = _token_for(host, token_file) if http else None
    try:
        from kgplatform.interfaces.mcp.app import make_server, serve_http
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise SettingError(f"The MCP server needs the package mcp. Run `{to_install('mcp')}`.") from error
    from kgplatform.interfaces.web_server import address_of, is_loopback, listen

    if not http:
        with connect_to(home) as graph, warming_up(graph):
            make_server(graph, write=write, folders=folders or (), most=max_tokens).run("stdio")
        return
    with listen(host, port) as listening, connect_to(home) as graph:
        server = make_server(graph, write=write, folders=folders or (), most=max_tokens)
        note(f"The MCP server is at {address_of(listening)}/mcp (Ctrl-C ends it).")
        with warming_up(graph):
            serve_http(server, listening, token, is_local=is_loopback(host))


def browser(
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65535, help="The port; 0 takes any free one. Default: 8601, or the next free one."
        ),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the address.")] = False,
    home: Home = None,
) -> None:
    """Open Neo4j Browser, connected, with the graph's colours, saved queries and a guide. Runs until Ctrl-C."""
    from kgplatform.interfaces.neo4j_browser.site import GRACE, BrowserProgram, Tickets, make_browser_app
    from kgplatform.interfaces.web_server import QuietServer, listen_as_localhost
    from kgplatform.neo4j.browser import announced_browser, browser_jar

    with open_at(home) as graph, closing(BrowserProgram(browser_jar(graph.settings, note))) as program:
        sockets, address = listen_as_localhost(port)
        tickets = Tickets(lambda ticket: note(f"Opened. For another window: {address}/start/{ticket}"))
        first = f"{address}/start/{tickets.good}"
        with announced_browser(graph.settings, graph.connection, address):
            print(f"Neo4j Browser is at {first} (Ctrl-C ends it).", flush=True)
            if not no_open and not webbrowser.open(first):
                note("Could not open a web browser. Open the address yourself.")
            QuietServer(make_browser_app(graph, program, tickets), grace=GRACE, lifespan=False).run(sockets)


@contextmanager
def warming_up(graph: KnowledgeGraph) -> Iterator[None]:
    """While this is open, search in a thread, unless that costs money; the end does not wait for it."""
    # What was imported stays: Python's collector of cycles need not look through it again, 50 ms each time.
    gc.collect()
    gc.freeze()
    stop = Stop()

    def search() -> None:
        part = graph.within(stop)
        try:
            titles = [row["name"] for row in part.look.highlights(_SEARCHES)["documents"]]
            if titles and part.embedder.name.startswith(("local:", "hash:")):
                for title in islice(cycle(titles), _SEARCHES):
                    part.search(title)
        except StoppedError:
            return
        except KgError as error:  # whoever asks is told the same
            logging.getLogger(__name__).warning("The graph could not be searched yet: %s", error)

    thread = threading.Thread(target=search, name="warm-up")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        gc.unfreeze()


def read_token(file: Path) -> str:
    """The token in ``file``. Raises ``InputError`` if others can read the file, or if the token is unfit."""
    try:
        with file.open(encoding="utf-8") as stream:
            if is_open_to_others(os.fstat(stream.fileno()).st_mode):
                raise InputError(f"Others can read the token file {file}. Run `chmod 600` on it.")
            token = stream.read(10_000).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The token file {file} cannot be read: {error}.") from error
    if len(token) < _SHORTEST_TOKEN or not (token.isascii() and token.isprintable()) or " " in token:
        raise InputError(
            f"The token in {file} must be one line of at least {_SHORTEST_TOKEN} ASCII characters without spaces. "
            "`openssl rand -hex 32` makes one."
        )
    return token


def _token_for(host: str, file: Path | None) -> str | None:
    """The token in ``file``. Raises ``InputError`` if there is none and other machines can reach ``host``."""
    if file is not None:
        return read_token(file)
    from kgplatform.interfaces.web_server import is_loopback

    if not is_loopback(host):
        raise InputError(f"Other machines can reach {host}: give a token with --token-file, or listen at 127.0.0.1.")
    return None


def _origin(given: str, option: str) -> str:
    """``given`` as web browsers send it. Raises ``InputError`` if it is not an origin; "*" is not."""
    try:
        parts = urlsplit(given.rstrip("/"))
        if parts.scheme in ("http", "https") and parts.hostname and not (parts.path or parts.query or parts.username):
            return f"{parts.scheme}://{parts.netloc}".lower()
    except ValueError:  # not an address
        pass
    raise InputError(f"{option} {given!r} is not an origin. Write it as https://example.org, without a path.")
