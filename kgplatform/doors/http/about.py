"""What a client must know before it asks: whether the server lives, and what it can do."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request, Response

from kgplatform.client import KnowledgeGraph
from kgplatform.doors.http.parts import Parts, Served
from kgplatform.neo4j.browser import browser_url_of
from kgplatform.readers.reader import Reader
from kgplatform.readers.readers import READERS
from kgplatform.retrieve.search import SEARCHES

router = APIRouter(prefix="/api", tags=["about"])


@router.get("/health", summary="Whether the server and its database live")
async def health(request: Request, parts: Served) -> Response:
    """Answers 503 where the database does not."""

    def look(graph: KnowledgeGraph) -> dict[str, str]:
        return {"status": "ok", "version": version("kgplatform"), "neo4j": graph.check()}

    return await parts.workers.answer(request, look)


@router.get("/about", summary="Readers with their options, routes, schemas, models")
async def about(request: Request, parts: Served) -> Response:
    """What this server can do, and what its graph holds; enough to draw a form for every reader."""
    return await parts.workers.answer(request, lambda graph: _about(graph, parts))


@router.get("/stats", summary="Counts of the graph")
async def stats(request: Request, parts: Served) -> Response:
    """Nodes by label, relationships by type, and key elements with their neighbours and facts."""
    return await parts.workers.answer(request, lambda graph: graph.stats())


@router.get("/schema", summary="The schema with its expansions")
async def schema(request: Request, parts: Served) -> Response:
    """The schema of the last ingest, and the types that were added to it since; null before the first."""

    def look(graph: KnowledgeGraph) -> dict[str, Any]:
        found = graph.schema()
        if found is None:
            return {"schema": None, "expansions": []}
        return {"schema": found.schema.to_dict(), "expansions": found.expansions}

    return await parts.workers.answer(request, look)


def _about(graph: KnowledgeGraph, parts: Parts) -> dict[str, Any]:
    nodes = graph.look.counts()
    return {
        "version": version("kgplatform"),
        "readers": [_about_reader(reader) for reader in READERS],
        "routes": SEARCHES,
        "schemas": list(graph.schemas()),
        "model": graph.chat.model if graph.chat is not None else None,
        "embedder": graph.embedder.name,
        "browser_url": browser_url_of(graph.settings, graph.connection),
        "documents": nodes.get("Document", 0),
        "entities": nodes.get("Entity", 0),
        "has_tree": nodes.get("Community", 0) > 0,
        "types": graph.look.types(),
        "token_needed": parts.token_needed,
        "read_only": parts.read_only,
    }


def _about_reader(reader: Reader) -> dict[str, Any]:
    # Each of them gives the evidence of a search where there is no model, but not all do all of their work then.
    return {
        "name": reader.name,
        "about": reader.about,
        "needs_model": reader.needs_model,
        "options": reader.options,
    }
