"""Neo4j Browser at our own address: its files from the jar, the graph's style and guide, and a page that connects it.

The password is on one page only, ``/start/…``, whose address is random and works once.
"""

from __future__ import annotations

import hmac
import json
import mimetypes
import secrets
import zipfile
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote, urlsplit

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import KgError, ServerError
from kgplatform.interfaces.neo4j_browser.guide import FOLDER, favorites, guide
from kgplatform.interfaces.neo4j_browser.style import as_grass, sheet_for
from kgplatform.interfaces.web_server import LOOPBACK, Guard, QuietServer

_BOOT = Path(__file__).with_name("boot.js")
_POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self'; manifest-src 'self'; "
    "connect-src 'self' {servers}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_START = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>Neo4j Browser</title>
<p>Opening Neo4j Browser …</p><noscript>It needs JavaScript.</noscript>
<script type="application/json" id="seed">{seed}</script><script src="../boot.js" type="module"></script>
"""
_INSIDE = "browser/"
"""Where the files lie in the jar."""
_TYPES = {".js": "text/javascript", ".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf"}
_GRACE = 5
"""Seconds that a running request has to finish. A guide to a large graph takes one."""
_USED = "This address was already used: it works once. kgplatform browser has printed a new one.\n"


class BrowserProgram:
    """Neo4j Browser's own files, read from its jar by their paths. Nothing is unpacked.

    Reading is safe from several threads. Raises ``ServerError`` for a jar that cannot be read.
    """

    def __init__(self, jar: Path) -> None:
        try:
            self._jar = zipfile.ZipFile(jar)
        except (OSError, zipfile.BadZipFile) as error:
            raise ServerError(f"Neo4j Browser cannot be read from {jar}: {error}.") from error
        self._names = frozenset(self._jar.namelist())

    def close(self) -> None:
        """Close the jar."""
        self._jar.close()

    def read(self, path: str) -> bytes | None:
        """The file at ``path``, such as ``index.html``; None if there is none."""
        name = _INSIDE + path
        return self._jar.read(name) if name in self._names and not name.endswith("/") else None


class Tickets:
    """Random addresses that work once each. ``told`` gets a new one whenever one is used."""

    def __init__(self, told: Callable[[str], None] = lambda ticket: None) -> None:
        self._told = told
        self._lock = Lock()
        self._good = secrets.token_urlsafe(32)

    @property
    def good(self) -> str:
        """The one that is not used yet."""
        return self._good

    def take(self, ticket: str) -> bool:
        """Whether ``ticket`` was good; it is used up now."""
        with self._lock:
            if not hmac.compare_digest(ticket.encode(), self._good.encode()):
                return False
            self._good = secrets.token_urlsafe(32)
        self._told(self._good)
        return True


def make_browser_app(graph: KnowledgeGraph, program: BrowserProgram, tickets: Tickets) -> Starlette:
    """An ASGI app: ``/`` is Neo4j Browser, ``/start/TICKET`` connects it; ``/guide.html`` and ``/style.grass``.

    It answers only to this machine's names. The Browser in it can reach the graph's server and nothing else.
    """
    site = _Site(graph, program, tickets)
    return Starlette(
        routes=[
            Route("/start/{ticket}", site.start),
            Route("/boot.js", site.boot),
            Route("/guide.html", site.guide),
            Route("/style.grass", site.grass),
            Route("/{path:path}", site.file),
        ],
        middleware=[Middleware(Guard, hosts=LOOPBACK)],
        exception_handlers={
            KgError: lambda _, error: PlainTextResponse(f"{error}\n", 503, {"Cache-Control": "no-store"})
        },
    )


class BrowserServer(QuietServer):
    """The server of ``make_browser_app``."""

    def __init__(self, app: Starlette) -> None:
        super().__init__(app, grace=_GRACE, lifespan=False)


class _Site:
    """The pages. Each shows the graph as it is when it is asked for."""

    def __init__(self, graph: KnowledgeGraph, program: BrowserProgram, tickets: Tickets) -> None:
        self._graph = graph
        self._program = program
        self._tickets = tickets
        policy = _POLICY.format(servers=" ".join(reachable_from(graph.connection.uri)))
        self._headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
        }

    def start(self, request: Request) -> Response:
        """The page that fills the Browser's storage."""
        # Prefetching, or asking only for the head, must not use up the address.
        if request.method != "GET" or "prefetch" in request.headers.get("sec-purpose", ""):
            return Response(status_code=503, headers=self._fresh)
        if elsewhere := self._as_localhost(request):
            return elsewhere
        if not self._tickets.take(request.path_params["ticket"]):
            return PlainTextResponse(_USED, 403, self._fresh)
        seed = json.dumps(self._seed(str(request.base_url)), ensure_ascii=True).replace("<", "\\u003c")
        return HTMLResponse(_START.format(seed=seed), headers=self._fresh)

    def boot(self, request: Request) -> Response:
        """The script of that page."""
        return Response(_BOOT.read_bytes(), media_type="text/javascript", headers=self._fresh)

    def guide(self, request: Request) -> Response:
        """The guide to the graph as it is now."""
        return HTMLResponse(guide(self._graph.look), headers=self._fresh)

    def grass(self, request: Request) -> Response:
        """The style alone, for the command ``:style`` of any Neo4j Browser."""
        return PlainTextResponse(as_grass(sheet_for(self._types())), headers=self._fresh)

    def file(self, request: Request) -> Response:
        """A file of Neo4j Browser. Its page is at ``/``, where it also asks for the database's address."""
        if elsewhere := self._as_localhost(request):
            return elsewhere
        path = request.path_params["path"]
        if path in ("browser", "browser/"):  # its address on Neo4j's own server; a fragment is kept
            return RedirectResponse("/", headers=self._headers)
        if not path and "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"bolt_direct": for_browsers(self._graph.connection.uri)}, headers=self._fresh)
        path = path or "index.html"
        content = self._program.read(path)
        if content is None:
            return PlainTextResponse("Not found\n", 404, self._headers)
        lasting = "-" in path and path.endswith(".js")  # these files have a hash in their names
        caching = {"Cache-Control": "max-age=31536000, immutable" if lasting else "no-cache"}
        kind = _TYPES.get(Path(path).suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"
        return Response(content, headers=self._headers | caching, media_type=kind)

    def _as_localhost(self, request: Request) -> Response | None:
        """To the one host name that Browser loads guides from, and by which the page's storage is kept."""
        if request.url.hostname == "localhost":
            return None
        return RedirectResponse(str(request.url.replace(hostname="localhost")), headers=self._fresh)

    @property
    def _fresh(self) -> dict[str, str]:
        return self._headers | {"Cache-Control": "no-store"}

    def _seed(self, base: str) -> dict[str, Any]:
        """What ``boot.js`` stores, and the address that it opens then."""
        known = self._graph.connection
        connection = {"host": for_browsers(known.uri), "requestedUseDb": known.database}
        connection |= {"username": known.username, "password": known.password}
        return {
            "favorites": favorites(),
            "folder": FOLDER,
            "style": sheet_for(self._types()),
            "connection": {name: value for name, value in connection.items() if value},
            "next": f"../?cmd=guide&arg={quote(base + 'guide.html', safe=':/')}",
        }

    def _types(self) -> set[str]:
        """Types of the schema and types in use: a graph may have some that its schema does not."""
        schema = self._graph.schema()
        return set(self._graph.look.types()) | {type_.name for type_ in (schema.schema.entities if schema else ())}


def for_browsers(uri: str) -> str:
    """``uri`` as a web browser can use it: the browser decides which certificates to trust, not ``+ssc``."""
    return uri.replace("+ssc://", "+s://", 1)


def reachable_from(uri: str) -> list[str]:
    """What a page that talks to the server at ``uri`` may reach, for a Content-Security-Policy."""
    parts = urlsplit(uri)
    web, socket = ("https", "wss") if "+s" in parts.scheme else ("http", "ws")
    host = parts.hostname or "localhost"
    # A cluster names its members only when asked, and a policy cannot name addresses like [::1].
    if parts.scheme.startswith("neo4j") or ":" in host:
        return [f"{web}:", f"{socket}:"]
    return [f"{scheme}://{host}:{parts.port or 7687}" for scheme in (web, socket)]
