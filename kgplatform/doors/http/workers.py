"""Work that clients wait for, done by pools of threads: it ends when its client goes away, or when the server closes.

Everything here is called in the event loop's thread; only the work itself runs in others.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Literal, TypeVar

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from kgplatform.client import KnowledgeGraph
from kgplatform.doors.encoding import encode
from kgplatform.doors.guard import Json
from kgplatform.doors.http.errors import busy
from kgplatform.errors import StoppedError
from kgplatform.work.stopping import Stop

T = TypeVar("T")

Work = Callable[[KnowledgeGraph], object]
"""What is done for a client, with the graph that is its own for that."""

Kind = Literal["asks", "reads", "statements"]
"""Questions; what else reads the graph; and the user's own statements, which may take long and must not hold up the
rest. Each has threads of its own."""
_THREADS = {"reads": 32, "statements": 8}


class Workers:
    """The pools of threads, and what is under way on ``graph``. ``asks`` questions at most are answered at once."""

    def __init__(self, graph: KnowledgeGraph, asks: int) -> None:
        self._graph = graph
        self.closing = False
        self._asks = asks
        self._asking = 0
        self._stops: set[Stop] = set()
        self._threads: dict[Kind, anyio.CapacityLimiter] = {}

    def close(self) -> None:
        """Stop all of it; nothing more is begun."""
        self.closing = True
        for stop in self._stops:
            stop.set()

    @contextlib.contextmanager
    def asking(self) -> Iterator[Stop]:
        """One more question, which its ``Stop`` ends. Raises ``RefusedError`` where there are as many as may be."""
        self.check_asks()
        self._asking += 1
        try:
            with self._stop() as stop:
                yield stop
        finally:
            self._asking -= 1

    def check_asks(self) -> None:
        """Raise ``RefusedError`` (429) where no more questions are taken."""
        if self._asking >= self._asks:
            raise busy(f"{self._asks} questions are being answered. Ask again in a moment.")

    async def answer_ask(self, request: Request, work: Work) -> Response:
        """What ``work`` says to a question, as JSON; it is stopped when the client goes."""
        with self.asking() as stop:
            return await self._answer(request, work, stop, "asks")

    async def answer(self, request: Request, work: Work, *, kind: Kind = "reads", status: int = 200) -> Response:
        """What ``work`` returns, as JSON; it is stopped when the client goes."""
        with self._stop() as stop:
            return await self._answer(request, work, stop, kind, status)

    async def in_thread(self, work: Callable[[KnowledgeGraph], T], stop: Stop, kind: Kind = "asks") -> T:
        """What ``work`` makes of the graph, in a thread of those for its ``kind``, until ``stop`` is set."""
        limiter = self._threads.setdefault(kind, anyio.CapacityLimiter(_THREADS.get(kind, self._asks)))
        return await anyio.to_thread.run_sync(work, self._graph.within(stop), limiter=limiter)

    async def _answer(self, request: Request, work: Work, stop: Stop, kind: Kind, status: int = 200) -> Response:
        watch = asyncio.create_task(_stop_when_gone(request, stop))
        try:
            return Json(await self.in_thread(lambda graph: encode(work(graph)), stop, kind), status)
        finally:
            watch.cancel()

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


async def _stop_when_gone(request: Request, stop: Stop) -> None:
    """Set ``stop`` when the client has gone. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    stop.set()
