"""What the endpoints share: the graph, the threads that work on it for clients, and how much is allowed.

Work that a client waits for ends when the client goes away, or when the server shuts down. ``Workers`` is used in the
event loop's thread alone; only the work itself runs in others.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

import anyio
import anyio.to_thread
from fastapi import Depends, Path, Query, Request
from pydantic import BaseModel, ConfigDict, model_validator
from starlette.responses import Response

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.threads import Stop
from kgplatform.errors import InputError, StoppedError
from kgplatform.interfaces.http.failures import HttpRequestError, busy, not_found
from kgplatform.interfaces.http.jobs import Jobs
from kgplatform.interfaces.uploads import Uploads
from kgplatform.interfaces.web_server import MEGABYTE, Json
from kgplatform.shown import encode

T = TypeVar("T")


class Sent(BaseModel):
    """What a request brings: no other fields than these. A field that is null is as if it were not there."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        refuse_half_pairs(given)
        return {name: value for name, value in given.items() if value is not None}


def refuse_half_pairs(given: object) -> None:
    """Raise ``InputError`` where a name or a text in ``given``, which was JSON, is none that can be written."""
    try:
        json.dumps(given, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InputError("A text or a name has half of a surrogate pair, which is no character.") from error
    except RecursionError as error:
        raise InputError("The request is nested too deeply.") from error


GraphWork = Callable[[KnowledgeGraph], object]
"""What is done for one client, with its own view of the graph."""

ThreadsKind = Literal["asks", "reads", "statements", "parts"]
"""Questions; other reads of the graph; users' own statements, and reads of parts, which may have to be made: both may
take long. Each kind has its own threads, so that none holds up the others."""
_THREADS = {"reads": 32, "statements": 8, "parts": 16}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much clients may send or ask for at once: sizes in bytes, times in seconds.

    ``upload``: of one upload; ``uploads``: of all that are arriving or waiting to be ingested. ``files``: in one
    upload. ``body``: of any other request. ``asks``: questions answered at once; more are refused. ``idle``: how long a
    request may stall before it is complete. ``stall``: how long a client may leave its stream unread before its reader
    is stopped. ``ping``: how often an idle stream sends a sign of life. ``jobs``: how many run here side by side;
    ``waiting_jobs``: how many more may wait. ``lease``: how long a server holds a job without a sign of life.
    """

    upload: int = 100 * MEGABYTE
    uploads: int = 500 * MEGABYTE
    files: int = 200
    body: int = MEGABYTE
    asks: int = 64
    waiting_jobs: int = 20
    jobs: int = 2
    lease: float = 30.0
    idle: float = 30.0
    stall: float = 15.0
    ping: float = 5.0


class Workers:
    """The threads that work on ``graph``, and what stops them. At most ``asks`` questions are answered at once, and
    uploads that arrive or wait have at most ``uploads`` bytes."""

    def __init__(self, graph: KnowledgeGraph, asks: int, uploads: int) -> None:
        self._graph = graph
        self.closing = False
        self._asks = asks
        self._asking = 0
        self._uploads = uploads
        self._arriving = 0
        self._making = Stop()
        self._stops: set[Stop] = {self._making}
        self._threads: dict[ThreadsKind, anyio.CapacityLimiter] = {}

    def close(self) -> None:
        """Stop all work; nothing more is started."""
        self.closing = True
        for stop in self._stops:
            stop.set()

    @contextlib.contextmanager
    def asking(self) -> Iterator[Stop]:
        """One more question, which the ``Stop`` ends. Raises ``HttpRequestError`` if there are too many."""
        self.check_asks()
        self._asking += 1
        try:
            with self._stop() as stop:
                yield stop
        finally:
            self._asking -= 1

    def check_asks(self) -> None:
        """Raise ``HttpRequestError`` (429) if no more questions are taken."""
        if self._asking >= self._asks:
            raise busy(f"{self._asks} questions are being answered already. Ask again in a moment.")

    @contextlib.contextmanager
    def arriving(self, count: int, *, kept: int) -> Iterator[None]:
        """An upload of ``count`` bytes arrives inside, beside the ``kept`` ones of jobs. Raises ``HttpRequestError``
        (429) if they do not fit; the rest of the body need not be read then."""
        if kept + self._arriving + count > self._uploads:
            together = f"Too many uploads at once: together they may have {self._uploads:,} bytes."
            again = {"Retry-After": "10", "Connection": "close"}
            raise HttpRequestError(429, "BusyError", f"{together} Try again when one has finished.", again)
        self._arriving += count
        try:
            yield
        finally:
            self._arriving -= count

    async def answer(
        self, request: Request, work: GraphWork, *, kind: ThreadsKind = "reads", status: int = 200
    ) -> Response:
        """What ``work`` returns, as JSON; it is stopped when the client goes away. Where the request has a condition
        (``Looked``), it works on the part of the graph that this names."""
        if where := getattr(request.state, "where", None):
            # It is made to the end though the client goes away: it is kept for the next request.
            work, kind = partial(_in_part, where, work, self._graph.within(self._making)), "parts"

        async def stop_when_gone() -> None:  # the body has been read before
            while (await request.receive())["type"] != "http.disconnect":
                pass
            stop.set()

        with self.asking() if kind == "asks" else self._stop() as stop:
            watch = asyncio.create_task(stop_when_gone())
            try:
                return Json(await self.in_thread(lambda graph: encode(work(graph)), stop, kind), status)
            finally:
                watch.cancel()

    async def look(self, work: Callable[[KnowledgeGraph], T]) -> T:
        """What ``work`` returns, for a request whose body has not been read yet, or whose stream has begun."""
        with self._stop() as stop:
            return await self.in_thread(work, stop, "reads")

    async def in_thread(self, work: Callable[[KnowledgeGraph], T], stop: Stop, kind: ThreadsKind = "asks") -> T:
        """Run ``work`` in a thread for its ``kind``, on the graph, until ``stop`` is set."""
        limiter = self._threads.setdefault(kind, anyio.CapacityLimiter(_THREADS.get(kind, self._asks)))
        return await anyio.to_thread.run_sync(work, self._graph.within(stop), limiter=limiter)

    @contextlib.contextmanager
    def _stop(self) -> Iterator[Stop]:
        stop = Stop()
        self._stops.add(stop)
        try:
            if self.closing:
                raise StoppedError
            yield stop
        finally:
            self._stops.discard(stop)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one application. ``read_only``: requests that change the graph are refused."""

    graph: KnowledgeGraph
    limits: Limits
    read_only: bool
    token_needed: bool
    workers: Workers
    jobs: Jobs
    uploads: Uploads

    def refuse_change(self) -> None:
        """Raise ``HttpRequestError`` (403) if nothing may be changed."""
        if self.read_only:
            raise HttpRequestError(
                403, "ReadOnlyError", "Nothing can be changed here: the server is read-only, or your role is reader."
            )


def _parts_of(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


Served = Annotated[Parts, Depends(_parts_of)]
"""The parts, as an argument of an endpoint."""
_WHERE = (
    "Answer as a graph of the documents with this metadata alone does: `year >= 1869`, or JSON as /api/search takes "
    "it. Several must all hold. That graph takes a while to make the first time."
)


def _looked_at(request: Request, where: Annotated[list[str] | None, Query(description=_WHERE)] = None) -> Parts:
    found = [condition(each) for each in where or ()]
    request.state.where = [one for each in found for one in (each if isinstance(each, list) else [each]) if one]
    return _parts_of(request)


Looked = Annotated[Parts, Depends(_looked_at)]
"""The same, where the endpoint looks at the graph: a request may be about a part of that."""


def condition(text: str) -> Any:
    """The condition that a request's address has: a text, or JSON. Raises ``InputError`` where it cannot be one."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    refuse_half_pairs(found)
    if not isinstance(found, dict | list | str | None):
        raise InputError(f"where={text:.100} cannot be used: give a condition, or a JSON object.")
    return found


def _in_part(where: list[Any], work: GraphWork, whole: KnowledgeGraph, graph: KnowledgeGraph) -> object:
    with whole.part(where) as part:
        return work(part.within(graph.stop))


Id = Annotated[str, Path(max_length=4000)]
"""The id of a node of the graph."""


async def look_at(request: Request, parts: Parts, look: Callable[[KnowledgeGraph], object]) -> Response:
    """What ``look`` finds; 404 for an unknown id."""

    def found(graph: KnowledgeGraph) -> object:
        try:
            return look(graph)
        except InputError as error:
            raise not_found(error) from error

    return await parts.workers.answer(request, found)
