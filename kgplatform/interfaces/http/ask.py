"""The endpoints that answer: searches, users' statements, and questions, with the readers' steps as they happen.

What is asked in a thread is kept in the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from kgplatform.client import KnowledgeGraph, check_options, follow_up
from kgplatform.errors import InputError, StatementError
from kgplatform.interfaces.http.failures import errors
from kgplatform.interfaces.http.parts import Id, Parts, Sent, Served, look_at
from kgplatform.interfaces.http.streams import STREAM, STREAMED, Asked, answer_events, answer_json, stream
from kgplatform.readers.run import Hear, Tell
from kgplatform.readers.thread import Exchange
from kgplatform.records import Answer

router = APIRouter(prefix="/api")

_LONGEST_QUESTION = 20_000
_WHERE = "Only documents with this metadata: each name with a value, or with a list of alternatives."
_VERIFY = "Have the model check each statement; `supported` tells whether the cited sentences support it."
_LONGEST_STATEMENT = 100_000
_LONGEST_ANSWER = 100_000
_MOST_EARLIER = 50


class SearchBody(Sent):
    """A search."""

    question: str = Field(max_length=_LONGEST_QUESTION)
    route: str = Field("all", description="One of the routes of /api/about.")
    top_k: int = Field(10, ge=1, le=1000, description="Number of passages and facts.")
    where: dict[str, Any] = Field({}, description=_WHERE)


class EarlierTurn(Sent):
    """A question that was asked before, as it stands alone, and its answer."""

    question: str = Field(max_length=_LONGEST_QUESTION)
    answer: str | None = Field(None, max_length=_LONGEST_ANSWER)


class TurnBody(Sent):
    """A question of a thread, and the reader that answers it."""

    question: str = Field(max_length=_LONGEST_QUESTION)
    reader: str | None = Field(None, description="One of the readers of /api/about; default: the first.")
    options: dict[str, Any] = Field({}, description="Options of the reader (see /api/about); null: the default.")
    where: dict[str, Any] = Field({}, description=_WHERE)
    verify: bool = Field(False, description=_VERIFY)


class AskBody(TurnBody):
    """A question, and the reader that answers it."""

    keep: bool = Field(False, description="Save the run in the graph.")
    earlier: list[EarlierTurn] = Field(
        [], max_length=_MOST_EARLIER, description="Earlier questions, the latest last; the question may refer to them."
    )


class CypherBody(Sent):
    """A read-only Cypher statement."""

    statement: str = Field(max_length=_LONGEST_STATEMENT)
    parameters: dict[str, Any] = {}
    limit: int | None = Field(None, ge=1, le=10_000, description="Most rows; default: 1,000.")
    timeout: float | None = Field(None, ge=0.001, le=600, description="Seconds; default: 30.")


@router.post("/search", tags=["ask"], summary="The passages and facts nearest to a question", responses=errors(400))
async def search(body: SearchBody, request: Request, parts: Served) -> Response:
    """Calls no language model. Each fact comes with the places that state it."""
    return await parts.workers.answer(
        request, lambda graph: graph.search(body.question, route=body.route, top_k=body.top_k, where=body.where)
    )


_ANSWERS = STREAMED | errors(400, 403, 429, 502)
_ASK = "An answer that cites sentences, or its steps as they happen"


@router.post("/ask", tags=["ask"], summary=_ASK, responses=_ANSWERS)
async def ask(body: AskBody, request: Request, parts: Served) -> Response:
    """With `Accept: text/event-stream`: an event `step` for each step of the reader; `text` while an answer is being
    written, in which `text` replaces all characters of the answer so far from `start` on; then `answer`, whose text
    has its citations and replaces what was written, or `error`.

    The reader stops when the client disconnects. Without a language model, the answer is the evidence. With `earlier`
    turns, the model first makes a question of it that stands alone: the answer's `question` and `note` say which.
    """
    if body.keep:
        parts.refuse_change()

    def answer(graph: KnowledgeGraph, on_step: Tell | None = None, on_text: Hear | None = None) -> dict[str, Any]:
        earlier = [Exchange(turn.question, turn.answer) for turn in body.earlier]
        alone, whole = follow_up(graph, body.question, earlier, on_step)
        return answer_json(whole(_ask(graph.ask, alone, body, keep=body.keep, on_step=on_step, on_text=on_text)))

    return await _answered(body, request, parts, answer)


@router.post("/threads", tags=["threads"], summary="The first question of a new thread", responses=_ANSWERS)
async def begin(body: TurnBody, request: Request, parts: Served) -> Response:
    """Answers as `/api/ask` does, steps and text included; `thread` in the answer is the id to ask on with."""
    parts.refuse_change()
    return await _asked_in(None, body, request, parts)


@router.post("/threads/{id}", tags=["threads"], summary="A follow-up question", responses=_ANSWERS | errors(404))
async def ask_on(id: Id, body: TurnBody, request: Request, parts: Served) -> Response:
    """It may refer to what was asked before. In the answer, `asked` is what was sent and `question` what the reader
    was asked; `note` says so where they differ."""
    parts.refuse_change()
    await look_at(request, parts, lambda graph: graph.look.thread(id))
    return await _asked_in(id, body, request, parts)


async def _asked_in(id: str | None, body: TurnBody, request: Request, parts: Parts) -> Response:
    def answer(graph: KnowledgeGraph, on_step: Tell | None = None, on_text: Hear | None = None) -> dict[str, Any]:
        thread, keep_failed = graph.chat(id), id is not None  # else nobody is told its id
        answered = _ask(thread.ask, body.question, body, on_step=on_step, on_text=on_text, keep_failed=keep_failed)
        return answer_json(answered) | {"thread": thread.id, "asked": body.question}

    return await _answered(body, request, parts, answer)


def _ask(ask: Callable[..., Answer], question: str, body: TurnBody, **more: Any) -> Answer:
    """What ``ask``, of a graph or of a thread, answers to ``question`` where it is asked as ``body`` says."""
    return ask(question, body.reader, options=body.options, where=body.where, verify=body.verify, **more)


async def _answered(body: TurnBody, request: Request, parts: Parts, answer: Asked) -> Response:
    """What ``answer`` gives; a stream of events where the request accepts one."""
    check_options(body.reader, body.options)  # before a stream begins, which could not answer 400
    if STREAM in request.headers.get("accept", ""):
        parts.workers.check_asks()
        return stream(answer_events(parts.workers, answer), parts.limits)
    return await parts.workers.answer(request, answer, kind="asks")


@router.get("/threads", tags=["threads"], summary="Threads of questions")
async def threads(request: Request, parts: Served, limit: Annotated[int, Query(ge=1, le=1000)] = 50) -> Response:
    """That which was asked in last first, each with its first question."""
    return await parts.workers.answer(request, lambda graph: {"threads": graph.look.threads(limit)})


@router.get("/threads/{id}", tags=["threads"], summary="A thread with its questions and answers", responses=errors(404))
async def thread(id: Id, request: Request, parts: Served) -> Response:
    """In order, each with what its answer cites; null stands for what is no longer in the graph."""
    return await look_at(request, parts, lambda graph: {"id": id, "turns": graph.look.thread(id)})


@router.delete("/threads/{id}", tags=["threads"], summary="Remove a thread", responses=errors(403, 404))
async def remove(id: Id, request: Request, parts: Served) -> Response:
    """Its saved runs go with it."""
    parts.refuse_change()

    def remove(graph: KnowledgeGraph) -> dict[str, str]:
        graph.remove_thread(id)
        return {"removed": id}

    return await look_at(request, parts, remove)


@router.post("/cypher", tags=["ask"], summary="The rows of a read-only Cypher statement", responses=errors(400))
async def cypher(body: CypherBody, request: Request, parts: Served) -> Response:
    """Statements that write, load files, administer the database or could outlast their time-out are refused."""

    def rows(graph: KnowledgeGraph) -> dict[str, Any]:
        try:
            table = graph.cypher(body.statement, body.parameters, guarded=True, limit=body.limit, timeout=body.timeout)
        except StatementError as error:  # the statement is the client's
            raise InputError(str(error)) from error
        except RecursionError as error:
            raise InputError("A parameter or the result is nested too deeply.") from error
        return {"columns": table.columns, "rows": table.rows, "truncated": table.truncated, "notes": table.notes}

    return await parts.workers.answer(request, rows, kind="statements")
