"""What can be looked at: documents with their facts, the graph round a node, the map, the tree, kept runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from kgplatform.client import KnowledgeGraph
from kgplatform.doors.http.errors import not_found
from kgplatform.doors.http.openapi import errors
from kgplatform.doors.http.parts import Parts, Served
from kgplatform.errors import InputError

router = APIRouter(prefix="/api")

_LONGEST_TEXT = 1000
_MOST_IDS = 500
_LARGEST_OFFSET = 1_000_000_000

Id = Annotated[str, Path(max_length=4000)]
"""The id of a node of the graph."""


class SubgraphBody(BaseModel):
    """Ids of facts, passages, key elements, entities, communities and pages, as a step or an answer has them."""

    model_config = ConfigDict(extra="forbid")

    ids: list[str] = Field(max_length=_MOST_IDS)


async def _look(request: Request, parts: Parts, look: Callable[[KnowledgeGraph], object]) -> Response:
    """What ``look`` finds; an id that is not in the graph is 404."""

    def found(graph: KnowledgeGraph) -> object:
        try:
            return look(graph)
        except InputError as error:
            raise not_found(error) from error

    return await parts.workers.answer(request, found)


# ----------------------------------------------------------------------------------------------------------- documents


@router.get("/documents", tags=["documents"], summary="The documents")
async def documents(request: Request, parts: Served) -> Response:
    """All documents of the graph, by name."""
    return await parts.workers.answer(request, lambda graph: {"documents": graph.documents()})


@router.get(
    "/documents/{id:path}",
    tags=["documents"],
    summary="A document's text with its facts",
    responses=errors(400, 404),
)
async def document(
    id: Id,
    request: Request,
    parts: Served,
    start: Annotated[int | None, Query(ge=0, le=_LARGEST_OFFSET, description="First character, from 0.")] = None,
    end: Annotated[int | None, Query(ge=0, le=_LARGEST_OFFSET, description="One past the last.")] = None,
) -> Response:
    """The characters from `start` to `end`, and the facts that are stated there. `id` may be the document's URI too."""
    if start is not None and end is not None and start > end:
        raise InputError("`start` must not be behind `end`.")
    return await _look(request, parts, lambda graph: graph.look.document(id, start, end))


# --------------------------------------------------------------------------------------------------------------- graph


@router.get("/graph/map", tags=["graph"], summary="The most connected entities, in discs")
async def graph_map(
    request: Request,
    parts: Served,
    limit: Annotated[int, Query(ge=1, le=50_000, description="How many entities at most.")] = 10_000,
) -> Response:
    """Parallel lists, one place an entity; `sources` and `targets` are places in `ids`."""
    return await parts.workers.answer(request, lambda graph: graph.look.map(limit))


@router.get("/graph/find", tags=["graph"], summary="Nodes by name")
async def find(
    request: Request,
    parts: Served,
    text: Annotated[str, Query(max_length=_LONGEST_TEXT, description="A name, or how it begins.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> Response:
    """Entities, key elements, documents and communities, best first."""
    return await parts.workers.answer(request, lambda graph: {"nodes": graph.look.find(text, limit)})


@router.get("/graph/nodes/{id}", tags=["graph"], summary="All of one node", responses=errors(404))
async def node(id: Id, request: Request, parts: Served) -> Response:
    """Its properties, the facts about it with their places, and its communities."""
    return await _look(request, parts, lambda graph: graph.look.node(id))


@router.get(
    "/graph/neighbours/{id}",
    tags=["graph"],
    summary="A node with its neighbours",
    responses=errors(404),
)
async def neighbours(
    id: Id, request: Request, parts: Served, limit: Annotated[int, Query(ge=1, le=1000)] = 50
) -> Response:
    """The strongest first; `more` says how many were left out."""
    return await _look(request, parts, lambda graph: graph.look.neighbours(id, limit))


@router.post("/graph/subgraph", tags=["graph"], summary="Nodes by id, joined")
async def subgraph(body: SubgraphBody, request: Request, parts: Served) -> Response:
    """The nodes of an answer or a step with the edges among them; ids that are gone are left out."""
    return await parts.workers.answer(request, lambda graph: graph.look.subgraph(body.ids))


# ---------------------------------------------------------------------------------------------------------------- tree


@router.get("/tree", tags=["tree"], summary="A level of the knowledge tree", responses=errors(404))
async def tree(
    request: Request,
    parts: Served,
    parent: Annotated[str | None, Query(max_length=4000, description="A node of the tree; else the top.")] = None,
) -> Response:
    """What is below `parent`: inner communities, keywords and entities of a community, attributes of an entity."""
    return await _look(request, parts, lambda graph: {"nodes": graph.look.tree(parent)})


@router.get("/communities", tags=["tree"], summary="The communities")
async def communities(request: Request, parts: Served, limit: Annotated[int, Query(ge=1, le=10_000)] = 100) -> Response:
    """The largest first, the outermost before those inside them."""
    return await parts.workers.answer(request, lambda graph: {"nodes": graph.look.communities(limit)})


@router.get(
    "/communities/{id}",
    tags=["tree"],
    summary="A community with its members",
    responses=errors(404),
)
async def community(
    id: Id, request: Request, parts: Served, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> Response:
    """Members with the highest scores first."""
    return await _look(
        request,
        parts,
        lambda graph: {"node": graph.look.community(id), "members": graph.look.members(id, limit)},
    )


# ---------------------------------------------------------------------------------------------------------------- runs


@router.get("/runs", tags=["runs"], summary="Kept runs of readers")
async def runs(request: Request, parts: Served, limit: Annotated[int, Query(ge=1, le=1000)] = 50) -> Response:
    """The latest first."""
    return await parts.workers.answer(request, lambda graph: {"runs": graph.look.runs(limit)})


@router.get("/runs/{id}", tags=["runs"], summary="A kept run with its steps", responses=errors(404))
async def run(id: Id, request: Request, parts: Served) -> Response:
    """Each step with what it asked, found and ran."""

    def run_of(graph: KnowledgeGraph) -> object:
        info, steps = graph.look.run(id)
        return {"run": info, "steps": steps, "citations": graph.look.citations(id)}

    return await _look(request, parts, run_of)
