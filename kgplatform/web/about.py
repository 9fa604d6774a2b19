"""What a client must know before it asks: whether the server lives, and what it can do."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request, Response

from kgplatform.browser.running import browser_url_of
from kgplatform.build.schema import shipped_schemas
from kgplatform.readers.choose import READERS
from kgplatform.retrieve.search import SEARCHES
from kgplatform.web import examples
from kgplatform.web.options import options_of
from kgplatform.web.parts import Parts, Served, says

router = APIRouter(prefix="/api", tags=["about"])

ABOUT_READERS = {
    "retrieve": "One search, one answer.",
    "youtu": "Takes the question apart by the schema, searches for each part along all routes, and reflects.",
    "graphreader": "Makes a plan and walks over the graph, node by node, with a notebook.",
    "readagent": "Answers from gists of pages, after the pages that matter are read again. Needs `kgplatform gist`.",
    "longagent": "A team reads all of it, a part each; a leader asks, and conflicts are put to the test.",
    "cypher": "Writes a Cypher statement, and answers from its rows.",
    "fulltext": "To compare with: the beginning of the text, as far as the window holds it.",
    "chunkread": "To compare with: passage after passage, until one answers.",
    "chunknotes": "To compare with: passage after passage, with notes carried on.",
}


@router.get("/health", summary="Whether the server and its database live", responses=says(examples.HEALTH))
async def health(request: Request, parts: Served) -> Response:
    """Answers 503 where the database does not."""

    def look() -> dict[str, str]:
        return {"status": "ok", "version": version("kgplatform"), "neo4j": parts.graph.store.check()}

    return await parts.running.answer(request, look)


@router.get("/about", summary="Readers with their options, routes, schemas, models", responses=says(examples.ABOUT))
async def about(request: Request, parts: Served) -> Response:
    """What this server can do, and what its graph holds; enough to draw a form for every reader."""
    return await parts.running.answer(request, lambda: _about(parts))


@router.get("/stats", summary="Counts of the graph", responses=says(examples.STATS))
async def stats(request: Request, parts: Served) -> Response:
    """Nodes by label, relationships by type, and key elements with their neighbours and facts."""
    return await parts.running.answer(request, parts.graph.stats)


@router.get("/schema", summary="The schema with its expansions", responses=says(examples.SCHEMA))
async def schema(request: Request, parts: Served) -> Response:
    """The schema of the last ingest, and the types that were added to it since; null before the first."""

    def look() -> dict[str, Any]:
        found = parts.graph.schema()
        if found is None:
            return {"schema": None, "expansions": []}
        return {"schema": found.schema.to_dict(), "expansions": found.expansions}

    return await parts.running.answer(request, look)


def _about(parts: Parts) -> dict[str, Any]:
    graph = parts.graph
    nodes = {row["label"]: row["count"] for row in graph.store.read("client/node_counts")}
    return {
        "version": version("kgplatform"),
        "readers": [_about_reader(name) for name in READERS],
        "routes": SEARCHES,
        "schemas": schema_names(parts),
        "model": graph.chat.model if graph.chat is not None else None,
        "embedder": graph.embedder.name,
        "browser_url": browser_url_of(graph.settings, graph.store.connection),
        "documents": nodes.get("Document", 0),
        "entities": nodes.get("Entity", 0),
        "has_tree": nodes.get("Community", 0) > 0,
        "types": graph.look.types(),
        "token_needed": parts.token_needed,
        "read_only": parts.read_only,
    }


def _about_reader(name: str) -> dict[str, Any]:
    # Each of them gives the evidence of a search where there is no model; only this one does all of its work then.
    needs_model = name != "retrieve"
    return {"name": name, "about": ABOUT_READERS[name], "needs_model": needs_model, "options": options_of(name)}


def schema_names(parts: Parts) -> list[str]:
    """The schemas that an upload may name: those that come along, and the graph's own. No path: it is the server's."""
    shipped = shipped_schemas()
    found = parts.graph.schema()
    return shipped if found is None or found.schema.name in shipped else [*shipped, found.schema.name]
