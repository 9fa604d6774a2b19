"""Functions in other processes of this machine: in several at once, or in one within bounds.

    with LocalWorkers(2) as workers:
        workers.submit(function, argument).result()

A worker that dies is replaced, and what it was doing is done again. Functions are named, not
sent: they stand in a module that the worker can import; arguments and results are pickled.

    with BoundedCalls(seconds=60, megabytes=2000) as calls:
        for each in calls.each(function, argument):    # what function(argument) yields
            ...

For input that nobody vouches for. The time is that of one step, from one result to the next, and the kernel ends the
child when it is over, whatever its code is in. So none outlives its parent by more. A thread of the child looks at its
memory, and ends it. What one piece of C code takes at once, only the kernel sees: it refuses it on Linux; macOS takes
the limit and does not enforce it, and on Windows that thread alone looks at both.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, Literal

from kgplatform.concurrency.system import StepClock, bound_memory, ended_by, held_memory, own_session
from kgplatform.concurrency.threads import NEVER, Stop
from kgplatform.errors import KgError

if TYPE_CHECKING:
    from kgplatform.settings import Settings


_LENGTH = 8
_DEATHS = 10
"""Workers that die over one piece of work before it is given up: more than chance kills where many are killed."""
_PARENT_SECONDS = 1.0
_IDLE_SECONDS = 30.0
"""A worker with nothing to do for so long ends, and with it what it holds in memory; the next work starts another."""
_READING = "kgplatform.ingest.window"
"""What workers import before anything else: it takes a second, while the first files are loaded."""


@dataclass(slots=True)
class _Task:
    sent: bytes
    future: Future[Any] = field(default_factory=Future)
    deaths: int = 0


class LocalWorkers(AbstractContextManager["LocalWorkers"]):
    """``number`` processes of this machine, each with a thread here that feeds it. They end with this process, however
    it ends, and with the context; what is under way is given up then.

    ``ready``: a module that each imports when it starts, which is now, so that the first work need not wait for it.
    """

    def __init__(self, number: int, ready: str = "") -> None:
        self.number = number
        self._serves = f"from kgplatform.concurrency.workers import serve; serve({ready!r})"
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._over = False
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        self._threads = [threading.Thread(target=self._feed, args=(at,), name=f"worker {at}") for at in range(number)]
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self._over = True
        for _thread in self._threads:
            self._tasks.put(None)
        for child in list(self._children.values()):
            child.kill()
        for thread in self._threads:
            thread.join()

    def submit(self, function: Callable[[Any], Any], argument: Any) -> Future[Any]:
        """What ``function`` makes of ``argument``, in some worker. Raises ``RuntimeError`` for an error in the worker,
        and ``KgError`` if workers die of it."""
        task = _Task(pickle.dumps((function, argument), pickle.HIGHEST_PROTOCOL))
        self._tasks.put(task)
        return task.future

    def _feed(self, at: int) -> None:
        child: subprocess.Popen[bytes] | None = None
        with suppress(OSError):  # if it cannot start now, work tries again, and says so
            child = self._started(at)
        while True:
            try:
                task = self._tasks.get(timeout=_IDLE_SECONDS if child else None)
            except queue.Empty:
                assert child is not None  # without one it waits for as long as it takes
                ended(child)
                child = None
                continue
            if task is None or self._over:
                break
            child = self._carry_out(task, child, at)
        if child is not None:
            ended(child)

    def _carry_out(self, task: _Task, child: subprocess.Popen[bytes] | None, at: int) -> subprocess.Popen[bytes] | None:
        """Have ``child`` do it, or others after it; returns the one that lives, if any does."""
        while not self._over and not task.future.done():
            try:
                child = child or self._started(at)
                assert child.stdin is not None and child.stdout is not None  # both are pipes
                send(child.stdin, task.sent)
                is_result, value = pickle.loads(received(child.stdout))
            except (OSError, EOFError):
                if child is not None:
                    ended(child)
                child = None
                task.deaths += 1
                if task.deaths >= _DEATHS and not self._over:
                    said = f"The same task killed {task.deaths} workers in a row, possibly out of memory."
                    task.future.set_exception(KgError(f"{said} Use fewer workers."))
            else:
                if is_result:
                    task.future.set_result(value)
                else:
                    task.future.set_exception(RuntimeError(f"A worker failed:\n{value}"))
        task.future.cancel()  # where all is over; what is done stays done
        return child

    def _started(self, at: int) -> subprocess.Popen[bytes]:
        child = self._children[at] = started(self._serves)
        if self._over:
            child.kill()
        return child


def started(statement: str, errors: int | None = None) -> subprocess.Popen[bytes]:
    """A process that runs ``statement``, with pipes to it. ``errors``: where its error stream goes; else to ours."""
    # It finds modules where this process does. A folder that is worked in may hold a file called json.py.
    code = f"import sys; sys.path[:] = sys.argv[1:]; {statement}"
    command = [sys.executable, "-c", code, *filter(None, map(str, sys.path)), *([""] if "" in sys.path else [])]
    # A session of its own: Ctrl-C is for this process, which ends it.
    pipe = subprocess.PIPE
    # Parsers in Rust that are refused memory would wait for ever for the memory that a backtrace takes.
    environment = os.environ | {"RUST_BACKTRACE": "0"}
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, env=environment, **own_session())


def send(pipe: IO[bytes], content: bytes) -> None:
    """With its length first: what cannot be unpickled is skipped whole."""
    pipe.write(len(content).to_bytes(_LENGTH, "big"))
    pipe.write(content)
    pipe.flush()


def received(pipe: IO[bytes]) -> bytes:
    """Raises ``EOFError`` if the pipe ends before."""
    length = pipe.read(_LENGTH)
    content = pipe.read(int.from_bytes(length, "big"))
    if len(length) < _LENGTH or len(content) < int.from_bytes(length, "big"):
        raise EOFError
    return content


def ended(child: subprocess.Popen[bytes]) -> None:
    """Kill ``child`` and close its pipes."""
    child.kill()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):  # what was not sent yet is lost anyway
                pipe.close()
    child.wait()


def serve(ready: str) -> None:
    """Import the module ``ready``, if it is named, then do what comes, one after the other, until no more can."""
    source, sink = pipes_of_child()
    if ready:
        import_module(ready)
    while True:
        try:
            sent = received(source)
        except EOFError:
            return
        try:
            function, argument = pickle.loads(sent)
            answer = True, function(argument)
        except Exception:  # noqa: BLE001 -- whatever it is, who asked is told
            answer = False, traceback.format_exc()
        send(sink, pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))


def pipes_of_child() -> tuple[IO[bytes], IO[bytes]]:
    """In a child: what it is sent by, and what it answers by. From here on it ends when its parent is gone."""
    parent = os.getppid()
    ends = (lambda: os.getppid() != parent), _PARENT_SECONDS, 1
    threading.Thread(target=_end_when, args=ends, daemon=True).start()
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the work prints, C libraries among it, is no answer
    return sys.stdin.buffer, sink


def _end_when(is_over: Callable[[], bool], every: float, code: int) -> None:
    """In a thread: look every so many seconds, and end this process with ``code`` when that is so."""
    pause = threading.Event()
    while not is_over():
        pause.wait(every)
    os._exit(code)


def open_workers(settings: Settings) -> LocalWorkers | None:
    """None if this process is to do the work itself."""
    return LocalWorkers(settings.workers, _READING) if settings.workers > 1 else None


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


class BoundedCalls(AbstractContextManager["BoundedCalls"]):
    """Calls of functions in a child process, one after the other. Not thread-safe; setting ``stop`` ends a call.

    The child starts with the first call and is used for those that follow.
    """

    def __init__(self, seconds: float, megabytes: int, stop: Stop = NEVER) -> None:
        self.seconds, self.megabytes = seconds, megabytes
        self._serves = (
            f"from kgplatform.concurrency.workers import serve_within; serve_within({seconds!r}, {megabytes!r})"
        )
        self._child: subprocess.Popen[bytes] | None = None
        self._stop = stop

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


def serve_within(seconds: float, megabytes: int) -> None:
    """In the child: do what comes, one after the other, until no more can."""
    global _clock
    source, sink = pipes_of_child()
    most = megabytes * 1_000_000
    ends = (lambda: held_memory() > most), _LOOK_SECONDS, _NO_MEMORY
    threading.Thread(target=_end_when, args=ends, daemon=True).start()
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
