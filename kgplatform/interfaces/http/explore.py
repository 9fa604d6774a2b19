"""The endpoints for a person who explores: an entity as a page, ways, documents by the page, the schema, statements."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from kgplatform.client import KnowledgeGraph
from kgplatform.explore.info import DocumentOrder
from kgplatform.extract.schema import schema_of_text
from kgplatform.interfaces.http.browse import Id, look_at
from kgplatform.interfaces.http.failures import errors
from kgplatform.interfaces.http.parts import Served
from kgplatform.interfaces.saved_queries import saved_about, saved_statement, saved_title
from kgplatform.query import query_names

router = APIRouter(prefix="/api")

_LONGEST_SCHEMA = 200_000


class SchemaBody(BaseModel):
    """A schema file, and whether the next ingest is to use it."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=_LONGEST_SCHEMA, description="YAML, or JSON if `name` ends in .json.")
    name: str = Field("schema.yaml", max_length=200, description="The name of the file.")
    use: bool = Field(False, description="Use it in the next ingest; otherwise it is only checked.")


@router.get("/graph/profile/{id}", tags=["graph"], summary="An entity as a page", responses=errors(404))
async def profile(id: Id, request: Request, parts: Served) -> Response:
    """Its relations by type, attributes, sentences, likely duplicates and sources; each thing is said once."""
    return await look_at(request, parts, lambda graph: graph.look.profile(id))


@router.get("/graph/ways", tags=["graph"], summary="The shortest paths between two entities", responses=errors(404))
async def ways(
    request: Request,
    parts: Served,
    source: Annotated[str, Query(max_length=4000, description="The id of an entity or key element.")],
    target: Annotated[str, Query(max_length=4000, description="The id of another one.")],
    limit: Annotated[int, Query(ge=1, le=20, description="At most this many paths.")] = 3,
) -> Response:
    """The nodes and edges of the ways; none where nothing joins the two."""
    return await look_at(request, parts, lambda graph: graph.look.ways(source, target, limit))


@router.get("/document-page", tags=["documents"], summary="Documents by the page")
async def document_page(
    request: Request,
    parts: Served,
    text: Annotated[str, Query(max_length=1000, description="Part of a title or of a file's address.")] = "",
    sort: DocumentOrder = "title",
    descending: bool = False,
    skip: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=0, le=1000)] = 100,
) -> Response:
    """Each with its facts and failures; `total` is how many there are in all."""
    return await parts.workers.answer(
        request,
        lambda graph: graph.look.document_page(text, sort, descending=descending, skip=skip, limit=limit),
    )


@router.get("/schema/figures", tags=["about"], summary="How much there is of each type of the schema")
async def schema_figures(request: Request, parts: Served) -> Response:
    """Entities by type; relations by type with the types of both ends; the schema as a file that can be edited; and the
    name of the schema that the next ingest uses."""

    def look(graph: KnowledgeGraph) -> object:
        known = graph.schema()
        grown = known and known.schema.with_expansions(known.expansions)
        following = known and (known.chosen or grown)
        return {
            "types": [{"name": name, "count": count} for name, count in graph.look.types().items()],
            "relations": graph.look.relation_figures(),
            "text": following.file_text() if following else "",
            "chosen": known.chosen.name if known and known.chosen else None,
        }

    return await parts.workers.answer(request, look)


@router.post("/schema", tags=["about"], summary="Check a schema, and use it", responses=errors(400, 403))
async def use_schema(body: SchemaBody, request: Request, parts: Served) -> Response:
    """Nothing that was read before is changed: the next ingest uses it, and documents that are read again."""
    if body.use:
        parts.refuse_change()

    def check(graph: KnowledgeGraph) -> object:
        schema = schema_of_text(body.text, body.name)
        if body.use:
            graph.use_schema(schema)
        return {"schema": schema.to_dict(), "used": body.use}

    return await parts.workers.answer(request, check)


@router.get("/saved-queries", tags=["ask"], summary="Statements to begin with")
async def saved_queries() -> dict[str, list[dict[str, str]]]:
    """Those that are Neo4j Browser's favourites: each with its title, what it shows, and its text."""
    told = {"title": saved_title, "about": saved_about, "statement": saved_statement}
    return {"queries": [{key: of(name) for key, of in told.items()} for name in query_names("saved")]}
