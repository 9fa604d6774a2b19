"""Work that clients wait for, each piece in a thread: it ends when its client goes away, or when the server closes.

Everything here is called in the event loop's thread; only the work itself runs in others.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, TypeVar

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from kgplatform.errors import StoppedError
from kgplatform.side_by_side import lending
from kgplatform.stopping import Stop, stoppable
from kgplatform.web.encoding import Json, encode
from kgplatform.web.faults import busy

T = TypeVar("T")

Kind = Literal["asks", "reads", "statements"]
"""Questions; what else reads the graph; and the user's own statements, which may take long and must not hold up the
rest. Each has threads of its own."""
_THREADS = {"reads": 32, "statements": 8}
_SEARCHING = 4
"""Threads that all searches share, each beside its own: more fight for the interpreter, and a search has five parts."""


class Running:
    """What is under way. ``asks`` questions at most are answered at once."""

    def __init__(self, asks: int) -> None:
        self.closing = False
        self._asks = asks
        self._asking = 0
        self._stops: set[Stop] = set()
        self._threads: dict[Kind, anyio.CapacityLimiter] = {}
        self._searching = ThreadPoolExecutor(_SEARCHING, "searching")

    def close(self) -> None:
        """Stop all of it; nothing more is begun."""
        self.closing = True
        for stop in self._stops:
            stop.set()

    def end(self) -> None:
        """End the threads, when the last work has ended."""
        self._searching.shutdown()

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

    async def answer_ask(self, request: Request, work: Callable[[Stop], object]) -> Response:
        """What ``work`` says to a question, as JSON; it is stopped when the client goes."""
        with self.asking() as stop:
            return await self._answer(request, lambda: work(stop), stop, "asks")

    async def answer(
        self, request: Request, work: Callable[[], object], *, kind: Kind = "reads", status: int = 200
    ) -> Response:
        """What ``work`` returns, as JSON."""
        with self._stop() as stop:
            return await self._answer(request, work, stop, kind, status)

    async def in_thread(self, work: Callable[[], T], stop: Stop, kind: Kind = "asks") -> T:
        """What ``work`` returns, done in a thread of those for its ``kind``."""
        limiter = self._threads.setdefault(kind, anyio.CapacityLimiter(_THREADS.get(kind, self._asks)))
        with stoppable(stop), lending(self._searching):  # threads run in a copy of this context
            return await anyio.to_thread.run_sync(work, limiter=limiter)

    async def _answer(
        self, request: Request, work: Callable[[], object], stop: Stop, kind: Kind, status: int = 200
    ) -> Response:
        watch = asyncio.create_task(_stop_when_gone(request, stop))
        try:
            return Json(await self.in_thread(lambda: encode(work()), stop, kind), status)
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
