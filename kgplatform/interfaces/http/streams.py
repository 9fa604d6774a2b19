"""Streams of server-sent events: the steps of a reader and its answer as they come, and the progress of a job.

A reader stops when its client disconnects, or leaves the stream unread for too long. Nothing else stops then.
"""

from __future__ import annotations

import asyncio
import itertools
import os.path
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from sse_starlette import EventSourceResponse, ServerSentEvent

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.stopping import Stop
from kgplatform.errors import StoppedError
from kgplatform.interfaces.encoding import encode
from kgplatform.interfaces.http.failures import HttpRequestError, Responses, error_of, report_fault
from kgplatform.interfaces.http.jobs import Jobs
from kgplatform.interfaces.http.parts import Limits, Workers
from kgplatform.neo4j.pasteable import pasteable
from kgplatform.readers.run import Hear, Tell
from kgplatform.records import Answer, QueryRun, Step
from kgplatform.shown import as_fields


class Ask(Protocol):
    """What asks a reader, and has its steps and its text told as they come."""

    def __call__(self, graph: KnowledgeGraph, on_step: Tell | None = None, on_text: Hear | None = None) -> Answer:
        """The answer."""


Shown = Callable[[Answer], dict[str, Any]]
"""How an answer is sent."""
_Last = Callable[[KnowledgeGraph, Tell, Hear], ServerSentEvent]

STREAM = "text/event-stream"
STREAMED: Responses = {200: {"description": "Server-sent events.", "content": {STREAM: {}}}}
"""Of an endpoint that answers events, or may."""

_AHEAD = 16
"""Steps that a reader may be ahead of its client; then it waits."""
_TEXT_EVERY = 0.05
"""Seconds between two pieces of an answer that is being written."""
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


async def asked(workers: Workers, ask: Ask, shown: Shown) -> AsyncIterator[ServerSentEvent]:
    """``step`` for each step of the reader, ``text`` while it writes, then ``answer``, or ``error``."""
    try:
        with workers.asking() as stop:
            sender, receiver = anyio.create_memory_object_stream[ServerSentEvent](_AHEAD)
            reading = asyncio.create_task(_read(workers, partial(_last, ask, shown), stop, sender))
            try:
                async for event in receiver:
                    yield event
            finally:
                stop.set()
                receiver.close()
                with anyio.CancelScope(shield=True):
                    await reading
    except (HttpRequestError, StoppedError) as error:
        yield _event("error", error_of(error))


def _last(ask: Ask, shown: Shown, graph: KnowledgeGraph, on_step: Tell, on_text: Hear) -> ServerSentEvent:
    """The answer, or why there is none: the last event of a stream."""
    try:
        return _event("answer", shown(ask(graph, on_step, on_text)))
    except Exception as error:  # noqa: BLE001 - whatever it is, the client learns that there is no answer
        told = error_of(error)
        if told["kind"] == "Fault":
            report_fault(error)
        return _event("error", told)


async def _read(workers: Workers, ask: _Last, stop: Stop, sender: MemoryObjectSendStream[ServerSentEvent]) -> None:
    """Run the reader, and send its steps, its text and its answer."""
    loop, numbers, written = asyncio.get_running_loop(), itertools.count(1), Written()

    def tell(step: Step) -> None:
        event = _event("step", {"number": next(numbers), "step": step_json(step)})
        try:
            asyncio.run_coroutine_threadsafe(_send_after(written, event, sender), loop).result()
        except anyio.BrokenResourceError:  # nobody listens any more
            raise StoppedError from None

    with sender, suppress(anyio.BrokenResourceError):
        ended = asyncio.Event()
        writing = asyncio.create_task(_send_text(written, sender, ended))
        try:
            last = await workers.in_thread(lambda graph: ask(graph, tell, written.hear), stop)
        finally:
            ended.set()
            await writing
        await sender.send(last)


class Written:
    """The answer so far, as it is written in one thread and sent from another, which may be slower: it skips then."""

    def __init__(self) -> None:
        self._text = self._sent = ""
        self._lock = threading.Lock()

    def hear(self, text: str) -> None:
        """Take in the answer so far, at once."""
        with self._lock:
            self._text = text

    def piece(self) -> dict[str, Any] | None:
        """What changed since the last piece: ``text`` stands in place of all characters from ``start`` on."""
        with self._lock:
            now, before, self._sent = self._text, self._sent, self._text
        if now == before:
            return None
        start = len(before) if now.startswith(before) else len(os.path.commonprefix([before, now]))
        return {"start": start, "text": now[start:]}


async def _send_text(written: Written, sender: MemoryObjectSendStream[ServerSentEvent], ended: asyncio.Event) -> None:
    """Send what is written, now and then, and all of it when it has ``ended``, or until nobody listens."""
    with suppress(anyio.BrokenResourceError):
        while not ended.is_set():
            with anyio.move_on_after(_TEXT_EVERY):
                await ended.wait()
            if piece := written.piece():
                await sender.send(_event("text", piece))


async def _send_after(
    written: Written, event: ServerSentEvent, sender: MemoryObjectSendStream[ServerSentEvent]
) -> None:
    """Send ``event`` behind what was written before it."""
    if piece := written.piece():
        await sender.send(_event("text", piece))
    await sender.send(event)


async def told_job(workers: Workers, jobs: Jobs, id: str) -> AsyncIterator[ServerSentEvent]:
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
    return as_fields(step) | {"queries": [_query_json(run) for run in step.queries], "statements": statements}


def answer_json(answer: Answer) -> dict[str, Any]:
    """An ``Answer`` with its trace in that form."""
    return as_fields(answer) | {"trace": [step_json(step) for step in answer.trace]}


def _query_json(run: QueryRun) -> dict[str, Any]:
    short = {name: value for name, value in run.parameters.items() if not _is_long(value)}
    return as_fields(run) | {"parameters": short, "seconds": round(run.seconds, 4)}


def _is_long(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > _LONGEST_LIST
