"""Work that can be stopped from outside, by another thread, wherever it waits.

    stop = Stop()
    with stoppable(stop):              # in the thread that works
        ...
    stop.set()                         # in any other: the work ends with StoppedError within a second

What waits asks here: ``sleep`` for a time, ``result_of`` for another thread, ``check_stopped`` between two pieces of
work, ``ended_by`` round waits that somebody else must end. Threads that run in a copy of the context are stopped
with it. Stops nest: each of those round a piece of work ends it.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeVar

from kgplatform.errors import StoppedError

T = TypeVar("T")

_PAUSE = 0.05
"""Seconds between a stop and the first try to end what waits, and between two tries: most waits end by themselves."""


class Stop:
    """The wish that some work ends. Set once, by any thread; it stays set."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set: Future[None] = Future()
        self._calls: dict[object, Callable[[], None]] = {}

    @property
    def is_set(self) -> bool:
        """Whether the work is to end."""
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

    @contextlib.contextmanager
    def calling(self, call: Callable[[], None]) -> Iterator[None]:
        """Inside of it, ``call`` is called as the stop is set, by the thread that sets it; at once where it is.

        ``call`` must return at once, and raise nothing.
        """
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


_stops: contextvars.ContextVar[tuple[Stop, ...]] = contextvars.ContextVar("stops", default=())


@contextlib.contextmanager
def stoppable(stop: Stop | None) -> Iterator[None]:
    """What is done inside of it, in this context and in copies of it, ends when ``stop`` is set, if there is one."""
    token = _stops.set((*_stops.get(), stop) if stop else _stops.get())
    try:
        yield
    finally:
        _stops.reset(token)


@contextlib.contextmanager
def unstoppable() -> Iterator[None]:
    """What is done inside of it goes on to its end, whatever is stopped round it."""
    token = _stops.set(())
    try:
        yield
    finally:
        _stops.reset(token)


def is_stopped() -> bool:
    """Whether what this context works on is to end."""
    return any(stop.is_set for stop in _stops.get())


def check_stopped() -> None:
    """Raise ``StoppedError`` if what this context works on is to end."""
    if is_stopped():
        raise StoppedError


def sleep(seconds: float) -> None:
    """Like ``time.sleep``; raises ``StoppedError`` as soon as the work is to end."""
    if stops := _stops.get():
        wait([stop._set for stop in stops], seconds, FIRST_COMPLETED)
        check_stopped()
    else:
        time.sleep(seconds)


def result_of(future: Future[T]) -> T:
    """Like ``future.result()``; raises ``StoppedError`` as soon as the work is to end. ``future`` itself goes on."""
    if stops := _stops.get():
        waited: list[Future[Any]] = [future, *(stop._set for stop in stops)]
        wait(waited, return_when=FIRST_COMPLETED)
        check_stopped()
    return future.result()


@contextlib.contextmanager
def ended_by(end: Callable[[], None]) -> Iterator[None]:
    """For a wait that only somebody else can end: once it is to end, ``end`` is called until it has.

    It is called in a thread of its own, since who stops the work must not wait, and again and again, since what it is
    to end may be about to begin. It must not raise.
    """
    ending = _Ending(end)
    with contextlib.ExitStack() as stack:
        stack.callback(ending.close)
        for stop in _stops.get():
            stack.enter_context(stop.calling(ending.begin))
        yield


class _Ending:
    def __init__(self, end: Callable[[], None]) -> None:
        self._end = end
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        with self._lock:
            if self._thread is None and not self._over.is_set():
                self._thread = threading.Thread(target=self._until_over, name="ending", daemon=True)
                self._thread.start()

    def close(self) -> None:
        with self._lock:
            self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _until_over(self) -> None:
        while not self._over.wait(_PAUSE):
            self._end()


def can_be_stopped() -> bool:
    """Whether there is a stop round what this context works on."""
    return bool(_stops.get())
