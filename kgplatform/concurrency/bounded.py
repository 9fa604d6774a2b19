"""A function in a child process, within bounds on processor time and memory: for input that nobody vouches for.

    with BoundedCalls(seconds=60, megabytes=2000) as calls:
        for each in calls.each(function, argument):    # what function(argument) yields
            ...

The child starts with the first call and is used for those that follow. The time is that of one step, from one result to
the next, and the kernel ends the child when it is over, whatever its code is in. So none outlives its parent by more.
A thread of the child looks at its memory, and ends it. What one piece of C code takes at once, only the kernel sees: it
refuses it on Linux; macOS takes the limit and does not enforce it, and on Windows that thread alone looks at both.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any, Literal

from kgplatform.concurrency.stopping import NEVER, Stop
from kgplatform.concurrency.system import StepClock, bound_memory, ended_by, held_memory
from kgplatform.concurrency.workers import ended, pipes_of_child, received, send, started

if TYPE_CHECKING:
    from kgplatform.settings import Settings

_WORN_SHARE = 0.25
"""A child that holds more of its memory after a call ends with it, so that the next has all of it."""
_LOOK_SECONDS = 0.1
_AT_ONCE = 1.25
"""Of the memory that a child may hold, what the kernel lets it have. Python at the very end of it may spin."""
_NO_MEMORY = 77
"""The status by which a child ends that lacks memory: to say more may take some."""
COLLECT_EVERY = 20_000
"""Objects after which a child looks for cycles. Tables are millions of texts that are in none: to look every 700, as
Python does, took a third of the time of a large workbook, and more the larger it was."""

Bound = Literal["seconds", "memory", "crash"]


class ExceededError(Exception):
    """The child ended, by a bound or by itself. ``signal``: the name of that by which it crashed."""

    def __init__(self, bound: Bound, signal: str = "") -> None:
        super().__init__(bound, signal)
        self.bound = bound
        self.signal = signal


class BoundedCalls:
    """Calls of functions in a child process, one after the other. Not thread-safe; setting ``stop`` ends a call."""

    def __init__(self, seconds: float, megabytes: int, stop: Stop = NEVER) -> None:
        self.seconds, self.megabytes = seconds, megabytes
        self._serves = f"from kgplatform.concurrency.bounded import serve; serve({seconds!r}, {megabytes!r})"
        self._child: subprocess.Popen[bytes] | None = None
        self._stop = stop

    def __enter__(self) -> BoundedCalls:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child, if there is one; another call starts another."""
        if self._child is not None:
            ended(self._child)
            self._child = None

    def each(self, function: Callable[..., Iterable[Any]], *arguments: object) -> Iterator[Any]:
        """What ``function``, which stands in a module, yields for ``arguments``, as it comes.

        Raises ``ExceededError`` where the child takes more than it may, or dies; what came before is good. Raises
        ``RuntimeError`` for any other error in the child, and ``StoppedError``.
        """
        sent = pickle.dumps((function, arguments), pickle.HIGHEST_PROTOCOL)
        count = 0
        try:
            for result in self._results(sent):
                count += 1
                yield result
        except ExceededError as error:
            # It may have been killed for the memory of others. What crashes a child crashes the second as well.
            if error.bound != "crash" or count:
                raise
            yield from self._results(sent)

    def _results(self, sent: bytes) -> Iterator[Any]:
        goes_on = False
        self._child = child = self._child or started(self._serves, subprocess.DEVNULL)
        try:
            with self._stop.calling(child.kill):
                assert child.stdin is not None and child.stdout is not None  # both are pipes
                send(child.stdin, sent)
                kind = "result"
                while kind == "result":
                    kind, value = pickle.loads(received(child.stdout))
                    if kind == "result":
                        yield value
                    elif kind == "end":
                        goes_on = value
                    else:
                        raise RuntimeError(f"A child process failed:\n{value}")
        except (OSError, EOFError):
            self._stop.check()
            status = child.wait()
            by = ended_by(status)
            if by:
                raise (ExceededError("seconds") if by == "time" else ExceededError("crash", by)) from None
            if status in (0, _NO_MEMORY):
                raise ExceededError("memory") from None
            raise RuntimeError(f"A child process ended with status {status}.") from None
        finally:
            if not goes_on:  # it is worn or dead, or has more to say of this call
                self.close()


def bounded_calls(settings: Settings, stop: Stop) -> BoundedCalls:
    """Calls within the bounds for one file."""
    return BoundedCalls(settings.file_seconds, settings.file_memory, stop)


def serve(seconds: float, megabytes: int) -> None:
    """In the child: do what comes, one after the other, until no more can."""
    global _clock
    source, sink = pipes_of_child()
    most = megabytes * 1_000_000
    threading.Thread(target=_end_at, args=(most,), daemon=True).start()
    bound_memory(int(_AT_ONCE * most))
    gc.set_threshold(COLLECT_EVERY)
    _clock = StepClock(seconds)
    while True:
        try:
            sent = received(source)
        except EOFError:
            return
        try:
            _do(sent, sink, _clock)
            send(sink, pickle.dumps(("end", held_memory() <= _WORN_SHARE * most)))
        except MemoryError:
            os._exit(_NO_MEMORY)


_clock: StepClock | None = None
"""In the child: the clock of its steps."""


def renew() -> None:
    """In the child: what follows may take the whole time of a step again, as each page of a scan may. Else nothing."""
    if _clock is not None:
        _clock.start()


def _do(sent: bytes, sink: IO[bytes], clock: StepClock) -> None:
    """One call. The clock does not run while the parent is busy with what it got."""
    try:
        clock.start()
        function, arguments = pickle.loads(sent)
        results = iter(function(*arguments))
        while True:
            answer = pickle.dumps(("result", next(results)), pickle.HIGHEST_PROTOCOL)
            clock.stop()
            send(sink, answer)
            clock.start()
    except StopIteration:
        clock.stop()
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 -- whatever it is, who asked is told
        clock.stop()
        send(sink, pickle.dumps(("failure", traceback.format_exc())))


def _end_at(most: int) -> None:
    pause = threading.Event()
    while held_memory() <= most:
        pause.wait(_LOOK_SECONDS)
    os._exit(_NO_MEMORY)
