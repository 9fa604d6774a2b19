"""Questions: searches, readers' answers with their steps as they happen, and statements of the user's own."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from kgplatform.errors import InputError, StatementError
from kgplatform.readers.choose import options_for
from kgplatform.retrieve.statement_refused import why_refused
from kgplatform.web import examples
from kgplatform.web.options import read_options
from kgplatform.web.parts import Parts, Responses, Served, errors, says, streams
from kgplatform.web.steps import answer_json
from kgplatform.web.streams import asked, stream

router = APIRouter(prefix="/api", tags=["ask"])

_STREAM = "text/event-stream"
_ANSWERS: Responses = {
    200: {
        "description": "The answer, or its steps and then the answer.",
        "content": {"application/json": {"example": examples.ANSWER}} | streams(examples.ASK_EVENTS),
    }
}
_LONGEST_QUESTION = 20_000
_LONGEST_STATEMENT = 100_000


class SearchBody(BaseModel):
    """What is searched for, and how."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [examples.SEARCH_BODY]})

    question: str = Field(max_length=_LONGEST_QUESTION)
    route: str = Field("all", description="One of the routes of /api/about.")
    top_k: int = Field(10, ge=1, le=1000, description="How many passages and facts.")


class AskBody(BaseModel):
    """A question, who answers it, and how."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [examples.ASK_BODY]})

    question: str = Field(max_length=_LONGEST_QUESTION)
    reader: str = Field("retrieve", description="One of the readers of /api/about.")
    options: dict[str, Any] = Field({}, description="Options of the reader; null stands for the default.")
    keep: bool = Field(False, description="Keep the run in the graph.")


class CypherBody(BaseModel):
    """A statement that reads."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [examples.CYPHER_BODY]})

    statement: str = Field(max_length=_LONGEST_STATEMENT)
    parameters: dict[str, Any] = {}
    limit: int | None = Field(None, ge=1, le=10_000, description="Most rows; else KGPLATFORM_CYPHER_LIMIT.")
    timeout: float | None = Field(None, ge=0.001, le=600, description="Most seconds; else KGPLATFORM_CYPHER_TIMEOUT.")


@router.post(
    "/search", summary="Passages and facts nearest to a question", responses=says(examples.FOUND) | errors(400)
)
async def search(body: SearchBody, request: Request, parts: Served) -> Response:
    """No language model is called. Facts come with the places that state them."""
    return await parts.running.answer(
        request, lambda: parts.graph.search(body.question, route=body.route, top_k=body.top_k)
    )


@router.post(
    "/ask",
    summary="An answer with checked citations, or its steps as they happen",
    responses=_ANSWERS | errors(400, 403, 429, 502),
)
async def ask(body: AskBody, request: Request, parts: Served) -> Response:
    """With `Accept: text/event-stream` an event `step` for each step of the reader, then `answer` or `error`.

    A client that goes away stops its reader. Without a language model, the evidence is the answer.
    """
    if body.keep:
        parts.refuse_change()
    chosen = _options(body)
    work = partial(parts.graph.ask, body.question, body.reader, keep=body.keep, **chosen)
    if _STREAM in request.headers.get("accept", ""):
        parts.running.check_asks()
        return stream(asked(parts.running, lambda tell, stop: work(on_step=tell, stop=stop)), parts.limits)
    return await parts.running.answer_ask(request, lambda stop: answer_json(work(stop=stop)))


@router.post("/cypher", summary="Rows of a statement that reads", responses=says(examples.ROWS) | errors(400))
async def cypher(body: CypherBody, request: Request, parts: Served) -> Response:
    """Whatever writes, loads files, administrates, or goes on beyond its time-out is refused before it runs."""
    return await parts.running.answer(request, lambda: _rows(parts, body), kind="statements")


def _options(body: AskBody) -> dict[str, Any]:
    given = {name: value for name, value in body.options.items() if value is not None}
    typed = read_options(body.reader, given)
    options_for(body.reader, typed)  # refuses here what ``ask`` would not take, and what it would take for its own
    return typed


def _rows(parts: Parts, body: CypherBody) -> dict[str, Any]:
    if why := why_refused(body.statement):
        raise InputError(f"{why} `kgplatform cypher` runs whatever reads.")
    try:
        table = parts.graph.cypher(body.statement, body.parameters, limit=body.limit, timeout=body.timeout)
    except StatementError as error:  # the statement is the client's
        raise InputError(str(error)) from error
    except RecursionError as error:
        raise InputError("A parameter or a result is nested too deeply.") from error
    return {"columns": table.columns, "rows": table.rows, "truncated": table.truncated}
