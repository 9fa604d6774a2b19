"""The endpoints that answer: searches, users' statements, and questions, with the readers' steps as they happen.

What is asked in a thread is kept in the graph. A reader stops when its client disconnects, or leaves the stream of
events unread for too long.
"""

from __future__ import annotations

import asyncio
import itertools
import os.path
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from kgplatform.client import KnowledgeGraph, check_options, follow_up
from kgplatform.errors import InputError, StatementError, StoppedError
from kgplatform.interfaces.http.failures import HttpRequestError, Responses, error_of, errors, report_fault
from kgplatform.interfaces.http.parts import Id, Limits, Looked, Parts, Sent, Served, Workers, look_at
from kgplatform.query import pasteable
from kgplatform.readers.run import Hear, Tell
from kgplatform.readers.thread import Exchange
from kgplatform.records import Answer, Step
from kgplatform.shown import as_fields, encode

Asked = Callable[..., dict[str, Any]]
"""Asks a graph; gives the answer, as it is sent. Two more arguments, if there are any, are told steps and text."""

STREAM = "text/event-stream"
STREAMED: Responses = {200: {"description": "Server-sent events.", "content": {STREAM: {}}}}
"""Of an endpoint that answers events, or may."""

_AHEAD = 16
"""Steps that a reader may be ahead of its client; then it waits."""
_TEXT_EVERY = 0.05
"""Seconds between two looks at what a reader does, and two pieces of an answer that is being written."""
_LONGEST_LIST = 32
"""A parameter with more items than this, such as a vector, is left out."""


def stream(events: AsyncIterator[ServerSentEvent], limits: Limits) -> EventSourceResponse:
    """The response that sends ``events``, and now and then a sign of life."""
    return EventSourceResponse(
        events,
        ping=limits.ping,
        ping_message_factory=lambda: ServerSentEvent(comment="ping", sep="\n"),
        send_timeout=limits.stall,
        sep="\n",
    )


async def answer_events(workers: Workers, ask: Asked) -> AsyncIterator[ServerSentEvent]:
    """``step`` for each step of the reader, ``text`` while it writes, then ``answer``, or ``error``."""
    loop, numbers = asyncio.get_running_loop(), itertools.count(1)
    steps: asyncio.Queue[tuple[str, Step]] = asyncio.Queue(_AHEAD)
    written = sent = ""

    def hear(text: str) -> None:  # never waits: a slow client skips what it has no time for
        nonlocal written
        written = text

    def tell(step: Step) -> None:  # waits for a slow client, behind what was written before it
        stop.result_of(asyncio.run_coroutine_threadsafe(steps.put((written, step)), loop))

    def last(graph: KnowledgeGraph) -> ServerSentEvent:
        try:
            return event("answer", ask(graph, tell, hear))
        except Exception as error:  # noqa: BLE001 - whatever it is, the client learns that there is no answer
            told = error_of(error)
            if told["kind"] == "Fault":
                report_fault(error)
            return event("error", told)

    try:
        with workers.asking() as stop:
            reading = asyncio.create_task(workers.in_thread(last, stop))
            try:
                while True:
                    is_over = reading.done()  # looked at first: then no more steps can come
                    text, step = (written, None) if steps.empty() else steps.get_nowait()
                    if text != sent:  # what stands in place of all characters from ``start`` on
                        start = len(sent) if text.startswith(sent) else len(os.path.commonprefix([sent, text]))
                        yield event("text", {"start": start, "text": text[start:]})
                        sent = text
                    if step is not None:
                        yield event("step", {"number": next(numbers), "step": step_json(step)})
                    elif is_over:
                        break
                    else:
                        await asyncio.wait({reading}, timeout=_TEXT_EVERY)
                yield reading.result()
            finally:
                stop.set()
                with anyio.CancelScope(shield=True):
                    await asyncio.wait({reading})
                while not steps.empty():  # what waits for room in it ends too
                    steps.get_nowait()
    except (HttpRequestError, StoppedError) as error:
        yield event("error", error_of(error))


def event(name: str, data: Any) -> ServerSentEvent:
    """``data`` as JSON, sent as ``name``."""
    return ServerSentEvent(encode(data).decode(), event=name, sep="\n")


def step_json(step: Step) -> dict[str, Any]:
    """A ``Step`` with ``statements``: each can be pasted into Neo4j Browser by itself."""
    statements = [
        {
            "number": found.number,
            "name": found.run.name,
            "rows": found.run.rows,
            "seconds": round(found.run.seconds, 4),
            "text": found.alone,
        }
        for found in pasteable(step.queries)
    ]
    queries = [
        as_fields(run)
        | {
            "parameters": {
                name: value
                for name, value in run.parameters.items()
                if not (isinstance(value, list | tuple) and len(value) > _LONGEST_LIST)
            },
            "seconds": round(run.seconds, 4),
        }
        for run in step.queries
    ]
    return as_fields(step) | {"queries": queries, "statements": statements}


def answer_json(answer: Answer) -> dict[str, Any]:
    """An ``Answer`` with its trace in that form."""
    return as_fields(answer) | {"trace": [step_json(step) for step in answer.trace]}


router = APIRouter(prefix="/api")

_LONGEST_QUESTION = 20_000
Where = Annotated[
    dict[str, Any] | list[str | dict[str, Any]] | str,
    Field(description="Only documents with this metadata: a condition, or each name with a value or alternatives."),
]
AsOf = Annotated[
    str | None, Field(max_length=50, description="A year, month or day, 2019-06: facts of other times are left out.")
]
_VERIFY = "Have the model check each statement; `supported` tells whether the cited sentences support it."
_LONGEST_STATEMENT = 100_000
_LONGEST_ANSWER = 100_000
_MOST_EARLIER = 50


class SearchBody(Sent):
    """A search."""

    question: str = Field(max_length=_LONGEST_QUESTION)
    route: str = Field("all", description="One of the routes of /api/about.")
    top_k: int = Field(10, ge=1, le=1000, description="Number of passages and facts.")
    where: Where = {}
    as_of: AsOf = None


class EarlierTurn(Sent):
    """A question that was asked before, as it stands alone, and its answer."""

    question: str = Field(max_length=_LONGEST_QUESTION)
    answer: str | None = Field(None, max_length=_LONGEST_ANSWER)


class TurnBody(Sent):
    """A question of a thread, and the reader that answers it."""

    question: str = Field(max_length=_LONGEST_QUESTION)
    reader: str | None = Field(None, description="One of the readers of /api/about; default: the first.")
    options: dict[str, Any] = Field({}, description="Options of the reader (see /api/about); null: the default.")
    where: Where = {}
    as_of: AsOf = None
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
    asked: dict[str, Any] = {"route": body.route, "top_k": body.top_k, "where": body.where, "as_of": body.as_of}
    return await parts.workers.answer(request, lambda graph: graph.search(body.question, **asked))


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
    only: dict[str, Any] = {"where": body.where, "as_of": body.as_of}
    return ask(question, body.reader, options=body.options, **only, verify=body.verify, **more)


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
async def cypher(body: CypherBody, request: Request, parts: Looked) -> Response:
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
