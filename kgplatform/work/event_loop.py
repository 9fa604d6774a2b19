"""An asyncio loop on a thread of its own, for requests that must end where they wait.

    loop = LoopThread(at_end=client.close)
    answer = loop.result(client.post(...), stop)     # from any thread; the stop or Ctrl-C breaks the request off
    loop.close()

A thread that waits for a socket cannot be woken; a task can be cancelled, and closes its connection as it goes.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from kgplatform.work.stopping import Stop

T = TypeVar("T")
Works = weakref.WeakSet[Coroutine[Any, Any, Any]]


class LoopThread:
    """Runs coroutines for other threads, all on one thread, which ends with ``close`` and with the process.

    ``at_end`` is awaited last, when what was under way is cancelled.
    """

    def __init__(self, at_end: Callable[[], Awaitable[None]]) -> None:
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._works: Works = weakref.WeakSet()
        self._closed = False
        self._lock = threading.Lock()
        given = (self._started, self._works, at_end)
        self._thread = threading.Thread(target=_serve, args=given, name="model-requests", daemon=True)
        self._thread.start()

    def result(self, work: Coroutine[Any, Any, T], stop: Stop) -> T:
        """What ``work`` returns or raises. It is cancelled where ``stop`` is set, or the caller is interrupted.

        Raises ``concurrent.futures.CancelledError`` if the loop is closed before.
        """
        loop = self._started.result()[0]
        with self._lock:
            if self._closed:
                work.close()
                raise CancelledError
            self._works.add(work)
            future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return stop.result_of(future)
        finally:
            future.cancel()  # without effect on one that is done

    def close(self, *, wait: bool = True) -> None:
        """Cancel what is under way and end the thread. A second time does nothing."""
        loop, over = self._started.result()
        with self._lock:  # what came before is a task when the loop gets to this, and is cancelled with the others
            if not self._closed:
                self._closed = True
                loop.call_soon_threadsafe(over.set)
        if wait:
            self._thread.join()


def _serve(
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]],
    works: Works,
    at_end: Callable[[], Awaitable[None]],
) -> None:
    """What the thread does; it knows nothing of the object that began it, which may go at any time."""

    async def until_over() -> None:
        over = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), over))
        await over.wait()
        # Not the tasks that these have begun: who began them ends them, after they have started.
        under_way = [task for task in asyncio.all_tasks() if task.get_coro() in works]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await at_end()

    asyncio.run(until_over())
