"""Several pieces of work at the same time, each of which can be stopped by another thread, wherever it waits.

    stop = Stop()
    graph.within(stop).ask(...)        # in the thread that works
    stop.set()                         # in any other: the work ends with StoppedError within a second

Whatever belongs to the work is handed its ``Stop``: a view of the store and of the models for this piece of work has
it, and waits by its means: ``sleep`` for a time, ``result_of`` for another thread, ``check`` between two steps,
``ending`` round a wait that somebody else must end. What nobody can stop is given ``NEVER``.

Short work is better done by few threads, also where many ask for it: a thread takes longer to begin than a small graph
to answer, and all of them wait for the one that holds the interpreter. So a store has one pool for all its searches.
"""

from __future__ import annotations

import asyncio
import heapq
import queue
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from kgplatform.concurrency.spans import carried
from kgplatform.errors import BudgetError, ModelError, StoppedError

T = TypeVar("T")
E = TypeVar("E")

_PAUSE = 0.05
"""Seconds between a stop and the first try to end what waits, and between two tries: most waits end by themselves."""


class Stop:
    """The wish that some work ends. Set once, by any thread; it stays set."""

    can_be_set = True
    """Whether the work must be ready to end. It takes a little more where it must."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set: Future[None] = Future()
        self._calls: dict[object, Callable[[], None]] = {}

    @property
    def is_set(self) -> bool:
        """Whether the work must end."""
        return self._set.done()

    def set(self) -> None:
        """End the work. Returns at once, and does nothing the second time."""
        with self._lock:
            if self.is_set:
                return
            self._set.set_result(None)
            calls = list(self._calls.values())
        for call in calls:
            call()

    def check(self) -> None:
        """Raise ``StoppedError`` if the work must end."""
        if self.is_set:
            raise StoppedError

    def sleep(self, seconds: float) -> None:
        """Like ``time.sleep``; raises ``StoppedError`` as soon as the work must end."""
        wait([self._set], seconds)
        self.check()

    def result_of(self, future: Future[T]) -> T:
        """Like ``future.result()``; raises ``StoppedError`` as soon as the work must end. ``future`` continues."""
        waited: list[Future[Any]] = [future, self._set]
        wait(waited, return_when=FIRST_COMPLETED)
        self.check()
        return future.result()

    @contextmanager
    def calling(self, call: Callable[[], None]) -> Iterator[None]:
        """Inside of it, ``call`` is called as the stop is set, by the thread that sets it; at once where it is.
        ``call`` must return at once, and raise nothing."""
        key = object()
        with self._lock:
            self._calls[key] = call
            late = self.is_set
        try:
            if late:
                call()
            yield
        finally:
            with self._lock:
                del self._calls[key]

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """For a wait that only somebody else can end: once the work must end, ``end`` is called until it has.

        It is called in a thread of its own, since who stops the work must not wait, and again and again, since what it
        must end may be about to begin. It must not raise.
        """
        over = threading.Event()
        begun: list[threading.Thread] = []

        def until_over() -> None:
            while not over.wait(_PAUSE):
                end()

        def begin() -> None:
            thread = threading.Thread(target=until_over, name="ending", daemon=True)
            thread.start()
            begun.append(thread)

        try:
            with self.calling(begin):
                yield
        finally:
            over.set()
            for thread in begun:
                thread.join()

    @contextmanager
    def part(self) -> Iterator[Stop]:
        """A stop for a part of the work: set with this one, and by itself without it."""
        part = Stop()
        with self.calling(part.set):
            yield part


class _Never(Stop):
    """A stop that is never set; nothing is done for it."""

    can_be_set = False

    def set(self) -> None:
        raise TypeError("NEVER cannot be set; give the work a Stop of its own.")

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def result_of(self, future: Future[T]) -> T:
        return future.result()

    @contextmanager
    def calling(self, call: Callable[[], None]) -> Iterator[None]:
        yield

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        yield


NEVER: Stop = _Never()
"""The stop of work that nobody can stop."""


def side_by_side(works: Sequence[Callable[[], T]], most: int) -> list[T]:
    """The results of ``works`` in order, at most ``most`` of them made at once. The first error is raised: nothing new
    begins then, and what is running is waited for, since it may be paid for."""
    with pool_of(max(1, min(most, len(works)))) as pool:
        futures = [pool.submit(carried(work)) for work in works]
        return [future.result() for future in futures]


@contextmanager
def pool_of(threads: int) -> Iterator[ThreadPoolExecutor]:
    """A pool whose work is waited for at its end; after an error nothing new begins in it. Ctrl-C does not wait: what
    is running may wait itself for a model that never answers."""
    pool = ThreadPoolExecutor(threads)
    try:
        yield pool
    except BaseException as error:  # whatever it is, nothing new begins, and it is raised
        pool.shutdown(wait=not isinstance(error, KeyboardInterrupt), cancel_futures=True)
        raise
    pool.shutdown()


def short_works(works: Sequence[Callable[[], T]], pool: ThreadPoolExecutor) -> list[T]:
    """The results of ``works`` in order, made in this thread and in those of ``pool``, which many may share.

    What no other thread has begun by then is done here: nothing waits for a thread, also where works have works of
    their own. The first error is raised when all that has begun is over.
    """
    futures = [pool.submit(carried(work)) for work in works[1:]]
    try:
        results = [work() for work in works[:1]]
        for work, future in zip(works[1:], futures, strict=True):
            results.append(work() if future.cancel() else future.result())
        return results
    finally:
        begun = [future for future in futures if not future.cancel()]
        wait(begun)


def in_background(work: Callable[[], T], name: str) -> Future[T]:
    """What ``work`` returns or raises, made in a thread of its own, which keeps no process from ending."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  # whatever it is, who waits is to raise it
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


MOST_FAILURES = 10
"""Failures in a row after which a model is asked no more: its server is down, it cannot, or a setting is wrong."""


class Breaker:
    """Ends work whose model fails throughout. ``broke`` says why it did, '' before. Several threads may tell it.

    ``what`` is worked on, such as "passages", and ``done`` what was: "read".
    """

    def __init__(self, what: str, done: str) -> None:
        self.broke = ""
        self._what = what
        self._done = done
        self._in_a_row = 0
        self._lock = threading.Lock()

    def worked(self) -> None:
        """The model did what it was asked for."""
        with self._lock:
            self._in_a_row = 0

    def failed(self, error: object) -> None:
        """It did not."""
        with self._lock:
            self._in_a_row += 1
            if self._in_a_row == MOST_FAILURES and not self.broke:
                self.broke = (
                    f"{MOST_FAILURES} {self._what} in a row failed, the last: {error} What was {self._done} is kept; "
                    "fix that and run the same command again."
                )


@dataclass(frozen=True, slots=True)
class Work:
    """One piece. ``order``: those with a lower one go first, then those that were there first.

    ``done`` gets what ``call`` returned, ``failed`` the ``ModelError`` that it raised; both return the work that
    follows. After a ``BudgetError`` neither is called, and nothing new begins. ``asks``: it asks a model.
    """

    order: int
    call: Callable[[], Any]
    done: Callable[[Any], Iterable[Work]]
    failed: Callable[[ModelError], Iterable[Work]]
    asks: bool = True


def run_works(works: Iterable[Work], at_once: int, breaker: Breaker | None = None) -> str:
    """Do ``works`` and all that follows from them; returns why that stopped early, or ''.

    What is running when the budget is used up, or the ``breaker`` breaks, is paid for, and taken. Other errors than
    ``ModelError`` are raised.
    """
    number, stopped = count(), ""
    ready = [(work.order, next(number), work) for work in works]
    heapq.heapify(ready)
    under_way: dict[Future[Any], Work] = {}
    with pool_of(at_once) as pool:
        while under_way or (ready and not stopped):
            while ready and not stopped and len(under_way) < at_once:
                work = heapq.heappop(ready)[2]
                under_way[pool.submit(work.call)] = work
            finished, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in sorted(finished, key=list(under_way).index):
                work = under_way.pop(future)
                try:
                    result = future.result()
                except BudgetError as error:
                    stopped = stopped or str(error)
                    continue
                except ModelError as error:
                    if breaker:
                        breaker.failed(error)
                    following = work.failed(error)
                else:
                    if breaker and work.asks:
                        breaker.worked()
                    following = work.done(result)
                stopped = stopped or (breaker.broke if breaker else "")
                for each in following:
                    heapq.heappush(ready, (each.order, next(number), each))
    return stopped


Works = weakref.WeakSet[Coroutine[Any, Any, Any]]


class LoopThread:
    """Runs coroutines for other threads, all on one thread, which ends with ``close`` and with the process.

    ``at_end`` is awaited last, when what was running is cancelled.
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
        """What ``work`` returns or raises. It is cancelled where ``stop`` is set, or the caller is interrupted. Raises
        ``concurrent.futures.CancelledError`` if the loop is closed before."""
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
        """Cancel what is running and end the thread. A second time does nothing."""
        loop, over = self._started.result()
        with self._lock:  # what came before is a task when the loop gets to this, and is cancelled with the others
            if not self._closed:
                self._closed = True
                loop.call_soon_threadsafe(over.set)
        if wait:
            self._thread.join()


def _unless_left(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Logs a fault of the loop, but not the failure of work that its caller no longer waits for."""
    if not isinstance(context.get("future"), asyncio.Task):
        loop.default_exception_handler(context)


def _serve(
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]],
    works: Works,
    at_end: Callable[[], Awaitable[None]],
) -> None:
    """What the thread does; it knows nothing of the object that began it, which may go at any time."""

    async def until_over() -> None:
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        loop.set_exception_handler(_unless_left)
        started.set_result((loop, over))
        await over.wait()
        # Not the tasks that these have begun: who began them ends them, after they have started.
        under_way = [task for task in asyncio.all_tasks() if task.get_coro() in works]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await at_end()

    asyncio.run(until_over())


def heard(call: Callable[[Callable[[E], None], Stop], T], stop: Stop) -> Iterator[E | T]:
    """What ``call(hear, stop)`` says through ``hear``, then what it returns; what it raises is raised here.

    The call begins with the first event that is asked for. Closing the iterator stops it, as ``stop``
    does, and waits for its end.

    for event in heard(lambda hear, stop: graph.ask(question, on_step=hear, stop=stop), stop):
        …                                     # each that ``hear`` was called with, and at last the result
    """
    events: queue.SimpleQueue[tuple[str, E | T | BaseException]] = queue.SimpleQueue()

    with stop.part() as ended:

        def run() -> None:
            try:
                events.put(("end", call(lambda event: events.put(("event", event)), ended)))
            except BaseException as error:  # noqa: BLE001 -- whatever it is, it is raised where it is heard
                events.put(("error", error))

        thread = threading.Thread(target=run, name="heard", daemon=True)
        thread.start()
        try:
            while True:
                kind, value = events.get()
                if isinstance(value, BaseException):
                    raise value
                yield value
                if kind == "end":
                    return
        finally:
            ended.set()
            thread.join()
