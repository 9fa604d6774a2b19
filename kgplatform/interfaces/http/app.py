"""The HTTP interface over one graph.

    app = make_app(connect())           # an ASGI application; `kgplatform serve` runs it with uvicorn

Each endpoint calls the client. This package decides who is let in, how much work runs at once, and when it is stopped.
``examples.json`` has an example for each endpoint, recorded over the sample corpus by ``make examples``; a test
compares them with today's answers.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio.to_thread
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, Field
from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import RedirectResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgplatform.client import KnowledgeGraph
from kgplatform.interfaces.http import ask, browse, changes, openai
from kgplatform.interfaces.http.failures import HANDLERS, Reporting, errors, log
from kgplatform.interfaces.http.jobs import Jobs
from kgplatform.interfaces.http.parts import Limits, Parts, Workers
from kgplatform.interfaces.uploads import Uploads
from kgplatform.interfaces.web_server import API, LOOPBACK, Guard, QuietServer

EXAMPLES = Path(__file__).with_name("examples.json")
EXPLORER = Path(__file__).parent.parent / "explorer"
CONTENT_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_TAGS = {
    "about": "What the server can do and what the graph holds.",
    "documents": "Documents: upload, list, read, remove.",
    "corrections": "What people corrected by hand, and likely duplicates.",
    "ask": "Search, ask a reader, run a statement.",
    "chat": "The same in the protocol of OpenAI's chat clients.",
    "graph": "Nodes, neighbours and the map.",
    "tree": "The knowledge tree and its communities.",
    "runs": "Saved runs of readers.",
    "models": "The language model and the embedding model.",
    "threads": "Questions and their follow-ups.",
    "jobs": "Long-running work: its progress, and stopping it.",
}
ELSEWHERE = "Requests from other sites are refused. --cors ORIGIN allows one."
_PACKED = 1000
"""Bytes from which an answer is compressed."""
_GRACE = 10
"""Seconds that running requests have to finish when the server shuts down."""


class ErrorText(BaseModel):
    """The kind of an error, and a sentence that says what is wrong and what to do."""

    kind: str
    message: str
    code: str | None = Field(
        None, description="Error code, if the message names a command: your program can word the error itself."
    )
    parameters: dict[str, str] | None = Field(None, description="Values that the message of this code contains.")
    evidence: dict[str, Any] | None = Field(
        None, description="If a reader failed in /api/ask: what it had found, in the form of /api/search."
    )


class ErrorBody(BaseModel):
    """The body of every error."""

    error: ErrorText


def make_app(
    graph: KnowledgeGraph,
    *,
    token: str | None = None,
    hosts: Collection[str] | None = LOOPBACK,
    origins: Collection[str] = (),
    read_only: bool = False,
    limits: Limits = Limits(),  # noqa: B008 - frozen: one serves all
) -> FastAPI:
    """The application. The caller closes the graph, after the application has shut down.

    ``token``: what every request below ``/api`` and ``/v1`` must send. ``hosts``: names by which clients may reach it,
    by default those of loopback; None allows all, which is safe only with a token. ``origins``: other sites whose pages
    may use it. ``read_only``: uploads, removals, building the tree and saving runs are refused.
    """
    app = FastAPI(
        title="kgplatform",
        version=version("kgplatform"),
        description="Turns documents into a Neo4j knowledge graph, and answers questions from it, citing its sources.",
        openapi_url="/api/openapi.json",
        openapi_tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
        docs_url=None,  # FastAPI's own pages load their scripts from a CDN
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        exception_handlers=HANDLERS,
        responses={401: errors(401)[401] | {"model": ErrorBody}, **errors(400, 408, 413, 422, 503)},
    )
    app.state.parts = _parts(graph, limits, read_only=read_only, token_needed=token is not None)
    for module in (browse, ask, changes, openai):
        app.include_router(module.router)
    add_examples(app)
    add_explorer(app)
    # Each wraps those above it.
    app.add_middleware(GZipMiddleware, minimum_size=_PACKED, compresslevel=1)
    app.add_middleware(
        Guard,
        hosts=hosts,
        origins=origins,
        token=token,
        most=limits.body,
        most_at={"/api/documents": limits.upload},
        idle=limits.idle,
        elsewhere=ELSEWHERE,
    )
    app.add_middleware(Reporting)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Accept"],
        )
    app.add_middleware(SafeHeaders, shared=bool(origins))
    return app


def _parts(graph: KnowledgeGraph, limits: Limits, *, read_only: bool, token_needed: bool) -> Parts:
    uploads = Uploads(graph.settings.home_folder, shares_graph=graph.settings.neo4j_uri is not None)
    server, place = f"{socket.gethostname()}, process {os.getpid()}", ""
    try:
        place = "" if read_only else uploads.place()
    except OSError as error:  # then no upload is taken; jobs without files run all the same
        log.warning("uploads cannot be kept in %s: %s", uploads.folder, error.strerror or error)
    queue = graph.jobs(place, server, limits.lease)
    jobs = Jobs(graph, uploads, queue, changes.WORKS, waiting=limits.waiting_jobs, at_once=limits.jobs)
    workers = Workers(graph, limits.asks, limits.uploads)
    return Parts(graph, limits, read_only, token_needed, workers, jobs, uploads)


class AppServer(QuietServer):
    """The server of ``make_app``, which stops running work as soon as it is told to end."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__(app, grace=_GRACE, lifespan=True)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Work first: then streams end by themselves, and uvicorn need not wait for them."""
        await close(self._app)
        await super().shutdown(sockets)


async def close(app: FastAPI) -> None:
    """Stop all running work, and wait until it has ended. What jobs have done is kept, and they wait for a server."""
    parts: Parts = app.state.parts
    parts.workers.close()
    await anyio.to_thread.run_sync(parts.jobs.close)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    parts: Parts = app.state.parts
    if not parts.read_only:
        await anyio.to_thread.run_sync(parts.jobs.start)
    yield
    await close(app)


def add_examples(app: FastAPI) -> None:
    """Have the OpenAPI description of ``app`` show ``examples.json``."""
    without = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            description = without()
            # Of each: what was ``sent``, and by media type what was ``answered``.
            for endpoint, example in json.loads(EXAMPLES.read_text("utf-8")).items():
                method, _, path = endpoint.partition(" ")
                operation = description["paths"][path][method.lower()]
                if "sent" in example:
                    (content,) = operation["requestBody"]["content"].values()
                    content["example"] = example["sent"]
                status = next(code for code in operation["responses"] if code.startswith("2"))
                contents = operation["responses"][status]["content"]
                for media_type, answer in example["answered"].items():
                    contents.setdefault(media_type, {})["example"] = answer
        return without()

    app.openapi = openapi  # type: ignore[method-assign]  # the way that FastAPI documents


def add_explorer(app: FastAPI) -> None:
    """The explorer's files, at ``/`` and ``/static`` of ``app``; ``/docs`` leads to its page on this interface."""
    files = ExplorerFiles(directory=EXPLORER)

    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return await files.get_response("index.html", request.scope)

    @app.get("/docs", include_in_schema=False)
    async def reference() -> Response:
        return RedirectResponse("./#/http")

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        return Response(status_code=204)

    app.mount("/static", files, name="static")


class ExplorerFiles(StaticFiles):
    """Files that a browser caches; each time it asks whether they have changed (ETag)."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """See ``StaticFiles``."""
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


@dataclass(frozen=True, slots=True, eq=False)
class SafeHeaders:
    """Middleware: headers that restrict what a browser does with a response. ``shared``: with other sites' pages."""

    app: ASGIApp
    shared: bool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        # Origins that were allowed read our answers; without any, no other site may embed them, not even as an image.
        own = {} if self.shared else {"Cross-Origin-Resource-Policy": "same-origin"}

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS | own)
                if scope["path"].startswith(API):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, with_headers)
