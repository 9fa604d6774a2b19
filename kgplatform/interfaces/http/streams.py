"""Streams of server-sent events: the steps of a reader and its answer as they come, and the progress of a job.

A reader stops when its client disconnects, or leaves the stream unread for too long. Nothing else stops then.
"""

from __future__ import annotations

import asyncio
import itertools
import os.path
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import StoppedError
from kgplatform.interfaces.http.failures import HttpRequestError, Responses, error_of, report_fault
from kgplatform.interfaces.http.jobs import Jobs
from kgplatform.interfaces.http.parts import Limits, Workers
from kgplatform.neo4j.pasteable import pasteable
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
_LOOK_EVERY = 0.2
"""Seconds between two looks at a job."""
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
            return _event("answer", ask(graph, tell, hear))
        except Exception as error:  # noqa: BLE001 - whatever it is, the client learns that there is no answer
            told = error_of(error)
            if told["kind"] == "Fault":
                report_fault(error)
            return _event("error", told)

    try:
        with workers.asking() as stop:
            reading = asyncio.create_task(workers.in_thread(last, stop))
            try:
                while True:
                    is_over = reading.done()  # looked at first: then no more steps can come
                    text, step = (written, None) if steps.empty() else steps.get_nowait()
                    if text != sent:
                        yield _event("text", change(sent, text))
                        sent = text
                    if step is not None:
                        yield _event("step", {"number": next(numbers), "step": step_json(step)})
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
        yield _event("error", error_of(error))


def change(before: str, now: str) -> dict[str, Any]:
    """What makes ``now`` of ``before``: ``text`` stands in place of all characters from ``start`` on."""
    start = len(before) if now.startswith(before) else len(os.path.commonprefix([before, now]))
    return {"start": start, "text": now[start:]}


async def job_events(workers: Workers, jobs: Jobs, id: str) -> AsyncIterator[ServerSentEvent]:
    """``progress`` whenever there is news, then ``end``."""
    last = None
    while not workers.closing:
        try:
            job = await workers.look(lambda graph: jobs.get(id))
        except StoppedError:
            return
        if job.ended:
            yield _event("end", job)
            return
        if (news := (job.state, job.stage, job.done)) != last:
            last = news
            yield _event("progress", job)
        await anyio.sleep(_LOOK_EVERY)


def _event(name: str, data: Any) -> ServerSentEvent:
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
