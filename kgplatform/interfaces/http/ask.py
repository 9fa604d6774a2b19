"""The endpoints that answer: searches, readers' answers with their steps as they happen, and users' statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from kgplatform.client import KnowledgeGraph, check_options
from kgplatform.conversation import ask_on
from kgplatform.errors import InputError, StatementError
from kgplatform.interfaces.http.failures import errors
from kgplatform.interfaces.http.parts import Parts, Served
from kgplatform.interfaces.http.streams import STREAM, STREAMED, Ask, answer_json, asked, stream
from kgplatform.readers.run import Hear, Tell
from kgplatform.readers.thread import Exchange
from kgplatform.records import Answer

router = APIRouter(prefix="/api", tags=["ask"])

LONGEST_QUESTION = 20_000
WHERE = "Only documents with this metadata: each name with a value, or with a list of alternatives."
VERIFY = "Have the model check each statement; `supported` tells whether the cited sentences support it."
_LONGEST_STATEMENT = 100_000
_LONGEST_ANSWER = 100_000
_MOST_EARLIER = 50


class SearchBody(BaseModel):
    """A search."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=LONGEST_QUESTION)
    route: str = Field("all", description="One of the routes of /api/about.")
    top_k: int = Field(10, ge=1, le=1000, description="Number of passages and facts.")
    where: dict[str, Any] = Field({}, description=WHERE)


class EarlierTurn(BaseModel):
    """A question that was asked before, as it stands alone, and its answer."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=LONGEST_QUESTION)
    answer: str | None = Field(None, max_length=_LONGEST_ANSWER)


class AskBody(BaseModel):
    """A question, and the reader that answers it."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=LONGEST_QUESTION)
    reader: str | None = Field(None, description="One of the readers of /api/about; default: the first.")
    options: dict[str, Any] = Field({}, description="Options of the reader (see /api/about); null: the default.")
    where: dict[str, Any] = Field({}, description=WHERE)
    keep: bool = Field(False, description="Save the run in the graph.")
    verify: bool = Field(False, description=VERIFY)
    earlier: list[EarlierTurn] = Field(
        [],
        max_length=_MOST_EARLIER,
        description="Earlier questions, the latest last; the question may refer to them.",
    )


class CypherBody(BaseModel):
    """A read-only Cypher statement."""

    model_config = ConfigDict(extra="forbid")

    statement: str = Field(max_length=_LONGEST_STATEMENT)
    parameters: dict[str, Any] = {}
    limit: int | None = Field(None, ge=1, le=10_000, description="Most rows; default: 1,000.")
    timeout: float | None = Field(None, ge=0.001, le=600, description="Seconds; default: 30.")


@router.post("/search", summary="The passages and facts nearest to a question", responses=errors(400))
async def search(body: SearchBody, request: Request, parts: Served) -> Response:
    """Calls no language model. Each fact comes with the places that state it."""
    return await parts.workers.answer(
        request, lambda graph: graph.search(body.question, route=body.route, top_k=body.top_k, where=body.where)
    )


@router.post(
    "/ask",
    summary="An answer that cites sentences, or its steps as they happen",
    responses=STREAMED | errors(400, 403, 429, 502),
)
async def ask(body: AskBody, request: Request, parts: Served) -> Response:
    """With `Accept: text/event-stream`: an event `step` for each step of the reader; `text` while an answer is being
    written, in which `text` replaces all characters of the answer so far from `start` on; then `answer`, whose text
    has its citations and replaces what was written, or `error`.

    The reader stops when the client disconnects. Without a language model, the answer is the evidence. With `earlier`
    turns, the model first makes a question of it that stands alone: the answer's `question` and `note` say which.
    """
    if body.keep:
        parts.refuse_change()
    check_options(body.reader, body.options)  # before a stream begins, which could not answer 400

    def answer(graph: KnowledgeGraph, on_step: Tell | None = None, on_text: Hear | None = None) -> Answer:
        earlier = [Exchange(turn.question, turn.answer) for turn in body.earlier]
        how = {name: getattr(body, name) for name in ("options", "where", "keep", "verify")}
        return ask_on(graph, body.question, earlier, body.reader, **how, on_step=on_step, on_text=on_text)

    return await answered(request, parts, answer, answer_json)


async def answered(request: Request, parts: Parts, ask: Ask, shown: Callable[[Answer], dict[str, Any]]) -> Response:
    """What ``ask`` answers, as ``shown``; a stream of events where the request accepts one."""
    if STREAM in request.headers.get("accept", ""):
        parts.workers.check_asks()
        return stream(asked(parts.workers, ask, shown), parts.limits)
    return await parts.workers.answer(request, lambda graph: shown(ask(graph)), kind="asks")


@router.post("/cypher", summary="The rows of a read-only Cypher statement", responses=errors(400))
async def cypher(body: CypherBody, request: Request, parts: Served) -> Response:
    """Statements that write, load files, administer the database or could outlast their time-out are refused."""
    return await parts.workers.answer(request, lambda graph: _rows(graph, body), kind="statements")


def _rows(graph: KnowledgeGraph, body: CypherBody) -> dict[str, Any]:
    try:
        table = graph.cypher(body.statement, body.parameters, guarded=True, limit=body.limit, timeout=body.timeout)
    except StatementError as error:  # the statement is the client's
        raise InputError(str(error)) from error
    except RecursionError as error:
        raise InputError("A parameter or the result is nested too deeply.") from error
    return {"columns": table.columns, "rows": table.rows, "truncated": table.truncated}
