"""Questions: searches, readers' answers with their steps as they happen, and statements of the user's own."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from kgplatform.client import KnowledgeGraph
from kgplatform.doors.http.openapi import STREAM, STREAMED, errors
from kgplatform.doors.http.parts import Served
from kgplatform.doors.http.streams import answer_json, asked, stream
from kgplatform.errors import InputError, StatementError
from kgplatform.readers.readers import names, options_for

router = APIRouter(prefix="/api", tags=["ask"])

_LONGEST_QUESTION = 20_000
_LONGEST_STATEMENT = 100_000


class SearchBody(BaseModel):
    """What is searched for, and how."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=_LONGEST_QUESTION)
    route: str = Field("all", description="One of the routes of /api/about.")
    top_k: int = Field(10, ge=1, le=1000, description="How many passages and facts.")


class AskBody(BaseModel):
    """A question, who answers it, and how."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=_LONGEST_QUESTION)
    reader: str | None = Field(None, description="One of the readers of /api/about; else the first of them.")
    options: dict[str, Any] = Field({}, description="Options of the reader; null stands for the default.")
    keep: bool = Field(False, description="Keep the run in the graph.")


class CypherBody(BaseModel):
    """A statement that reads."""

    model_config = ConfigDict(extra="forbid")

    statement: str = Field(max_length=_LONGEST_STATEMENT)
    parameters: dict[str, Any] = {}
    limit: int | None = Field(None, ge=1, le=10_000, description="Most rows; else KGPLATFORM_CYPHER_LIMIT.")
    timeout: float | None = Field(None, ge=0.001, le=600, description="Most seconds; else KGPLATFORM_CYPHER_TIMEOUT.")


@router.post("/search", summary="Passages and facts nearest to a question", responses=errors(400))
async def search(body: SearchBody, request: Request, parts: Served) -> Response:
    """No language model is called. Facts come with the places that state them."""
    return await parts.workers.answer(
        request, lambda graph: graph.search(body.question, route=body.route, top_k=body.top_k)
    )


@router.post(
    "/ask",
    summary="An answer with checked citations, or its steps as they happen",
    responses=STREAMED | errors(400, 403, 429, 502),
)
async def ask(body: AskBody, request: Request, parts: Served) -> Response:
    """With `Accept: text/event-stream` an event `step` for each step of the reader, then `answer` or `error`.

    A client that goes away stops its reader. Without a language model, the evidence is the answer.
    """
    if body.keep:
        parts.refuse_change()
    chosen = _options(body)
    given = {"question": body.question, "reader": body.reader, "keep": body.keep, **chosen}
    if STREAM in request.headers.get("accept", ""):
        parts.workers.check_asks()
        return stream(asked(parts.workers, lambda graph, tell: graph.ask(**given, on_step=tell)), parts.limits)
    return await parts.workers.answer_ask(request, lambda graph: answer_json(graph.ask(**given)))


@router.post("/cypher", summary="Rows of a statement that reads", responses=errors(400))
async def cypher(body: CypherBody, request: Request, parts: Served) -> Response:
    """Whatever writes, loads files, administrates, or goes on beyond its time-out is refused before it runs."""
    return await parts.workers.answer(request, lambda graph: _rows(graph, body), kind="statements")


def _options(body: AskBody) -> dict[str, Any]:
    given = {name: value for name, value in body.options.items() if value is not None}
    options_for(
        body.reader or names()[0], given
    )  # refuses here what ``ask`` would not take, and what it would take for its own
    return given


def _rows(graph: KnowledgeGraph, body: CypherBody) -> dict[str, Any]:
    try:
        table = graph.cypher(body.statement, body.parameters, guarded=True, limit=body.limit, timeout=body.timeout)
    except StatementError as error:  # the statement is the client's
        raise InputError(str(error)) from error
    except RecursionError as error:
        raise InputError("A parameter or a result is nested too deeply.") from error
    return {"columns": table.columns, "rows": table.rows, "truncated": table.truncated}
