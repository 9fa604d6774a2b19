"""Neo4j Browser at our own address: its files from the jar, the graph's style and guide, and a page that connects it.

The password is on one page only, ``/start/…``, whose address is random and works once.

    browser_link("http://localhost:7474", "MATCH (n) RETURN n LIMIT 5")

Browser reads ``<slide>`` elements from HTML, and runs a ``<pre class="runnable">`` when its arrow is clicked. Names and
texts come from documents: each is escaped for HTML, and for Cypher by ``query.literal``.
"""

from __future__ import annotations

import hmac
import html
import json
import mimetypes
import re
import secrets
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from kgplatform.explore.look import Look
from kgplatform.interfaces.neo4j_browser.style import KINDS, color_of, sheet_for, text_color_on
from kgplatform.interfaces.web_server import LOOPBACK, Guard
from kgplatform.query import literal, load_query, saved_queries
from kgplatform.text import clipped

Row = dict[str, Any]

_FEW = 5
_LONGEST = 160


def guide(look: Look) -> str:
    """The HTML of the guide to the graph as it is now."""
    counts = look.counts()
    if counts.get("Document"):
        found = look.highlights(2 * _FEW)
        few = {kind: rows[:_FEW] for kind, rows in found.items()}
        slides = [
            _overview(counts, look.types()),
            _documents(few["documents"]),
            _entities(few["entities"]),
            _relations(found["relations"]),
            _facts(few["facts"]),
            _communities(few["communities"]),
            _runs(few["runs"]),
            _slide(
                "Saved queries",
                "They are also among your favourites (the star on the left), in the folder kgplatform.",
                statements=[(each.title, each.statement) for each in saved_queries().values()],
            ),
        ]
    else:
        how = (
            "Run kgplatform ingest with a file or folder, then open this guide again with :guide and the same address."
        )
        slides = [_slide("The graph is empty", how)]
    inside = "\n".join(
        f'<slide class="row-fluid">\n<div style="padding: 0 16px">\n{slide}</div>\n</slide>' for slide in slides
    )
    deck = f'<carousel class="deck container-fluid">\n{inside}\n</carousel>'
    return f'<title>Your graph</title>\n<article class="guide">\n{deck}\n</article>\n'


def _slide(title: str, about: str, inside: str = "", statements: Iterable[tuple[str, str]] = ()) -> str:
    """``inside`` is HTML. Each of the ``statements`` stands below what it shows, and runs at a click."""
    runnable = "".join(
        f'<p>{_escaped(shows)}</p>\n<pre class="pre-scrollable code runnable">{_escaped(statement)}</pre>\n'
        for shows, statement in statements
    )
    return f"<h3>{_escaped(title)}</h3>\n<p>{_escaped(about)}</p>\n{inside}{runnable}"


def _overview(counts: dict[str, int], types: dict[str, int]) -> str:
    shown: list[str] = []
    kinds: list[str] = []
    for into, told in (
        (shown, [(name, color_of(name), number) for name, number in list(types.items())[: 4 * _FEW]]),
        (kinds, [(kind, KINDS[kind], counts[kind]) for kind in KINDS if counts.get(kind) and kind != "Entity"]),
    ):
        for name, color, number in told:
            look = f"background: {color}; color: {text_color_on(color)}"
            look += "; border-radius: 10px; padding: 1px 9px; margin: 2px 0"
            into.append(f'<span style="display: inline-block; {look}">{_escaped(name)} {number:,}</span>')
    return _slide(
        "What is in it",
        "Click the arrow of a statement to run it, or the statement itself to edit it first.",
        "<p>Entities, in the colours of their types:</p>\n<p>"
        + ("\n".join(shown) or "none yet")
        + "</p>\n<p>Their sources, and what was built from them:</p>\n<p>"
        + "\n".join(kinds)
        + "</p>\n",
        [("The entities with the most facts", saved_queries()["most_connected"].statement)],
    )


def _documents(rows: Sequence[Row]) -> str:
    shows = "{name}: its passages, and the entities in them"
    states = (f"What it states ({rows[0]['facts']} facts)", _statement("show_document_facts", id=rows[0]["id"]))
    return _slide(
        "Documents",
        "Each is cut into passages (label Chunk), which name entities and state facts. Those with the most facts:",
        _list(_counted(row["name"], row["facts"], "facts") for row in rows),
        [*((shows.format(**row), _statement("show_document", id=row["id"])) for row in rows[:2]), states],
    )


def _entities(rows: Sequence[Row]) -> str:
    about = "The people and things that the documents name. Each node is one name of one type."
    if not rows:
        return _slide("Entities", f"{about} None yet.")
    first = rows[0]
    shown = [(f"Around {_named(row)}", _statement("show_entity", id=row["id"])) for row in rows[:3]]
    shown.append((f"Facts about {first['name']}", _statement("show_entity_facts", id=first["id"])))
    if words := " ".join(re.findall(r"\w+", first["name"].lower())[:2]):
        shown.append(("Entities by a word of their name", _statement("show_names", words=words)))
    return _slide("Entities", about, _list(_counted(_named(row), row["facts"], "facts") for row in rows), shown)


def _relations(rows: Sequence[Row]) -> str:
    return _slide(
        "Relations",
        "Entities that facts connect have a relationship of the relation's own type. Its property weight counts the "
        "facts; fact is the id of one of them.",
        _list(_counted(row["type"], row["count"], "times") for row in rows),
        [(row["type"], _statement("show_relation", type=row["type"])) for row in rows[:3]],
    )


def _facts(rows: Sequence[Row]) -> str:
    return _slide(
        "Facts and their evidence",
        "Each fact records which characters of which passages state it. These are stated by the most passages:",
        _list(_counted(row["text"], row["passages"], "passages") for row in rows),
        [(_short(row["text"]), _statement("show_fact", id=row["id"])) for row in rows[:3]],
    )


def _communities(rows: Sequence[Row]) -> str:
    if not rows:
        how = "There is no tree yet. Run kgplatform tree to group the entities into communities."
        return _slide("The knowledge tree", how)
    shown = [(_short(row["name"]), _statement("show_community", id=row["id"])) for row in rows[:3]]
    return _slide(
        "The knowledge tree",
        "Communities hold the entities that belong together; keywords stand for them.",
        _list(f"{_counted(row['name'], row['size'], 'entities')}. {_escaped(_short(row['summary']))}" for row in rows),
        [*shown, ("The tree from the top", saved_queries()["tree"].statement)],
    )


def _runs(rows: Sequence[Row]) -> str:
    none_yet = "There is no saved run yet. Run kgplatform ask --keep, and see here what the reader did."
    return _slide(
        "Questions that were asked",
        "Saved runs: a reader's steps, with what each found." if rows else none_yet,
        statements=[
            (f"{_short(row['question'])} ({row['reader']}, {row['steps']} steps)", _statement("show_run", id=row["id"]))
            for row in rows
        ],
    )


def _statement(name: str, **values: Any) -> str:
    """A statement of ``cypher/interfaces/neo4j_browser/guide`` with its parameters written out."""
    return with_values(load_query(f"interfaces/neo4j_browser/guide/{name}").text, values)


def _named(row: Row) -> str:
    return f"{row['name']} ({row['type']})" if row["type"] else str(row["name"])


def _list(items: Iterable[str]) -> str:
    """``items`` are HTML."""
    return "<ul>\n" + "".join(f"<li>{item}</li>\n" for item in items) + "</ul>\n"


def _counted(text: str, number: int, of_what: str) -> str:
    return f"{_escaped(_short(text))} <small>({number:,} {of_what})</small>"


def _short(text: str) -> str:
    return clipped(text, _LONGEST)


def _escaped(text: str) -> str:
    """For text and quoted values. Browser removes from a guide whatever looks like ``onclick="…"``, even in text."""
    return html.escape(text).replace("=", "&#61;")


FOLDER = {"id": "kgplatform", "name": "kgplatform"}
"""The folder of the favourites."""

# A text, a quoted name or a comment, where a dollar is not a parameter; or a parameter.
_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|//[^\n]*|/\*.*?\*/|\$(\w+)", re.S)


def browser_link(base: str, statement: str) -> str:
    """The address that opens the Browser at ``base`` with ``statement`` in its editor. The statement is in the
    fragment: no server sees it, logs it, or rejects it as too long."""
    # Browser decodes the address before it looks for the end of an argument, so `&` and `#` would end the statement.
    # Cypher reads them as escapes too.
    kept = statement.replace("&", "\\u0026").replace("#", "\\u0023")
    return f"{base.rstrip('/')}/#?cmd=edit&arg={quote(kept, safe='')}"


def with_values(statement: str, parameters: Mapping[str, Any]) -> str:
    """``statement`` with its parameters written out, so that it stands alone.

    Browser draws the result of a single statement only, not of one that follows ``:param`` lines in the same text.

    >>> with_values("RETURN $x, '$x'", {"x": "it's"})
    "RETURN 'it\\\\'s', '$x'"
    """
    return _TOKEN.sub(lambda found: literal(parameters[found[1]]) if found[1] in parameters else found[0], statement)


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
GRACE = 5
"""Seconds that a running request has to finish when its server ends. A guide to a large graph takes one."""
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
    """Random addresses that work once each; ``good`` is not used yet. ``told`` gets a new one whenever one is used."""

    def __init__(self, told: Callable[[str], None] = lambda ticket: None) -> None:
        self._told = told
        self._lock = Lock()
        self.good = secrets.token_urlsafe(32)

    def take(self, ticket: str) -> bool:
        """Whether ``ticket`` was good; it is used up now."""
        with self._lock:
            if not hmac.compare_digest(ticket.encode(), self.good.encode()):
                return False
            self.good = secrets.token_urlsafe(32)
        self._told(self.good)
        return True


def make_browser_app(graph: KnowledgeGraph, program: BrowserProgram, tickets: Tickets) -> Starlette:
    """An ASGI app: ``/`` is Neo4j Browser, ``/start/TICKET`` connects it; ``/guide.html`` and ``/style.grass``. It
    answers only to this machine's names. The Browser in it can reach the graph's server and nothing else."""
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
        self._fresh = self._headers | {"Cache-Control": "no-store"}

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
        rules = []
        for selector, rule in sheet_for(self._types()).items():
            lines = (f"  {name}: {repr(value) if name == 'caption' else value};\n" for name, value in rule.items())
            rules.append(f"{selector} {{\n{''.join(lines)}}}\n")
        return PlainTextResponse("\n".join(rules), headers=self._fresh)

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

    def _seed(self, base: str) -> dict[str, Any]:
        """What ``boot.js`` stores, and the address that it opens then."""
        known = self._graph.connection
        connection = {"host": for_browsers(known.uri), "requestedUseDb": known.database}
        connection |= {"username": known.username, "password": known.password}
        return {
            "favorites": [  # each file's text, titled by its first line
                {"id": f"kgplatform-{each.name}", "folder": FOLDER["id"], "content": each.text}
                for each in saved_queries().values()
            ],
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
