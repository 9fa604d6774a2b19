"""Work that can be stopped from outside, by another thread, wherever it waits.

    stop = Stop()
    graph.within(stop).ask(...)        # in the thread that works
    stop.set()                         # in any other: the work ends with StoppedError within a second

Whatever belongs to the work is handed its ``Stop``: a view of the store and of the models for this piece of work has
it, and waits by its means: ``sleep`` for a time, ``result_of`` for another thread, ``check`` between two steps,
``ending`` round a wait that somebody else must end. What nobody can stop is given ``NEVER``.
"""

from __future__ import annotations

import contextlib
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

    @contextlib.contextmanager
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

    @contextlib.contextmanager
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

    @contextlib.contextmanager
    def calling(self, call: Callable[[], None]) -> Iterator[None]:
        yield

    @contextlib.contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        yield


NEVER: Stop = _Never()
"""The stop of work that nobody can stop."""
