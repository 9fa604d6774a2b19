"""The HTTP interface over one graph.

    app = make_app(connect())           # an ASGI application; `kgplatform serve` runs it with uvicorn

Each endpoint calls the client; what is decided here is who may come in, how much at once, and when work is given up.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from importlib.metadata import version

import anyio.to_thread
from fastapi import FastAPI
from pydantic import BaseModel
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware

from kgplatform.client import KnowledgeGraph
from kgplatform.doors.guard import LOOPBACK, Guard
from kgplatform.doors.http import about, ask, browse, changes
from kgplatform.doors.http.errors import Reporting, answer_errors
from kgplatform.doors.http.jobs import Jobs
from kgplatform.doors.http.openapi import add_examples, errors
from kgplatform.doors.http.page import SafeHeaders, add_explorer
from kgplatform.doors.http.parts import Limits, Parts, Quota
from kgplatform.doors.http.workers import Workers
from kgplatform.doors.uploads import Uploads, end_abandoned
from kgplatform.doors.web_server import QuietServer

_TAGS = {
    "about": "What the server can do, and what the graph holds.",
    "documents": "Documents: upload, list, read, remove.",
    "ask": "Search, ask a reader, run a statement.",
    "graph": "Nodes, neighbours, and the map.",
    "tree": "The knowledge tree and its communities.",
    "runs": "Kept runs of readers.",
    "jobs": "Long work: how far it is, and how to stop it.",
}
_PACKED = 1000
"""Bytes from which an answer is packed."""
_GRACE = 10
"""Seconds that requests have to end when the server does."""


class ErrorText(BaseModel):
    """The kind of an error, and one sentence that says what to do."""

    kind: str
    message: str


class ErrorBody(BaseModel):
    """What every error is."""

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
    """The application. The graph is the caller's to close, after the application has been shut down.

    ``token``: what every request below ``/api`` must bring. ``hosts``: names by which clients may reach it, by default
    those of loopback, None for all; without a token it must be these. ``origins``: other sites whose pages may use it.
    ``read_only``: uploads, removals, the tree and kept runs are refused.
    """
    app = FastAPI(
        title="kgplatform",
        version=version("kgplatform"),
        description="Documents into a Neo4j knowledge graph, and answers out of it, each tied to its source.",
        openapi_url="/api/openapi.json",
        openapi_tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
        docs_url=None,  # FastAPI's own pages load their scripts from a CDN
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        responses={401: errors(401)[401] | {"model": ErrorBody}, **errors(408, 413, 422, 503)},
    )
    app.state.parts = _parts(graph, limits, read_only=read_only, token_needed=token is not None)
    for module in (about, ask, browse, changes):
        app.include_router(module.router)
    add_examples(app)
    answer_errors(app)
    add_explorer(app)
    # Each stands round those above it.
    app.add_middleware(GZipMiddleware, minimum_size=_PACKED, compresslevel=1)
    app.add_middleware(
        Guard,
        hosts=hosts,
        origins=origins,
        token=token,
        most=limits.body,
        most_at={"/api/documents": limits.upload},
        idle=limits.idle,
        elsewhere="Requests from other sites are refused. --cors ORIGIN allows one.",
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
    return Parts(
        graph=graph,
        limits=limits,
        read_only=read_only,
        token_needed=token_needed,
        workers=Workers(graph, limits.asks),
        jobs=Jobs(limits.waiting_jobs),
        uploads=Uploads(graph.settings.home_folder),
        quota=Quota(limits.uploads),
    )


class AppServer(QuietServer):
    """The server of ``make_app``, which stops what is under way as soon as it is to end."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__(app, grace=_GRACE, lifespan=True)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Work first: streams end by themselves then, and uvicorn need not wait for them."""
        await close(self._app)
        await super().shutdown(sockets)


async def close(app: FastAPI) -> None:
    """Stop all that is under way, and wait for the jobs' end. What they have done is kept."""
    parts: Parts = app.state.parts
    parts.workers.close()
    await anyio.to_thread.run_sync(parts.jobs.close)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    parts: Parts = app.state.parts
    await anyio.to_thread.run_sync(end_abandoned, parts.graph, parts.uploads)
    yield
    await close(app)
