"""Long work on the graph, one job after the other in a thread of its own: ingests, and building the tree.

A job continues when its client disconnects. What it has done is kept when it, or the server, is stopped.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from kgplatform.doors.http.failures import busy, error_of, not_found, report_fault
from kgplatform.errors import InputError, KgError, StoppedError
from kgplatform.records import Progress
from kgplatform.work.stopping import Stop

log = logging.getLogger("kgplatform.doors.http")

JobKind = Literal["ingest", "tree"]
State = Literal["waiting", "running", "done", "failed", "stopped"]
JobWork = Callable[[Stop, Progress], dict[str, Any]]
"""Works until it is stopped, reports its progress, and returns its report."""

_KEPT = 100
"""Jobs that are remembered after their end."""
_ENDS = ("done", "failed", "stopped")


@dataclass(frozen=True, slots=True)
class Job:
    """A job as clients see it: ``done`` of ``total`` in its ``stage``; ``seconds`` since it began to run.

    ``files``: the names of an upload. ``report``: of the ingest or the tree, once it is done.
    """

    id: str
    kind: JobKind
    state: State = "waiting"
    stage: str = ""
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    files: tuple[str, ...] = ()
    report: dict[str, Any] | None = None
    error: dict[str, str] | None = None

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self.state in _ENDS


class _Held:
    """A job with its work, what to drop if it never begins, its stop and its clock."""

    def __init__(self, job: Job, work: JobWork, drop: Callable[[], None]) -> None:
        self.job = job
        self.work = work
        self.drop = drop
        self.stop = Stop()
        self.started = 0.0

    def told(self) -> Job:
        job = self.job  # which may be another a moment later
        return replace(job, seconds=round(time.monotonic() - self.started, 3)) if job.state == "running" else job

    def update(self, **changes: Any) -> None:
        self.job = replace(self.job, **changes)


class Jobs:
    """The jobs of one graph. ``waiting``: how many may wait for their turn."""

    def __init__(self, waiting: int) -> None:
        self._most_waiting = waiting
        self._held: dict[str, _Held] = {}
        self._pool = ThreadPoolExecutor(1, "kgplatform-jobs")
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._closed = False

    def add(self, kind: JobKind, work: JobWork, *, files: tuple[str, ...] = (), drop: Callable[[], None]) -> Job:
        """Queue ``work``; ``drop`` is called if it never begins. Raises ``HttpRequestError`` if too many wait."""
        held = _Held(Job(uuid.uuid4().hex, kind, files=files), work, drop)
        with self._lock:
            self._check()
            self._held[held.job.id] = held
            self._forget_oldest()
            self._pool.submit(self._run, held)
        return held.told()

    def check(self) -> None:
        """Raise ``HttpRequestError`` (429) if too many wait."""
        with self._lock:
            self._check()

    def _check(self) -> None:
        if self._closed or sum(not held.job.ended for held in self._held.values()) > self._most_waiting:
            raise busy("Too many jobs are waiting. Try again when one of them has ended.")

    def all(self) -> tuple[Job, ...]:
        """The jobs that are remembered, the latest first."""
        with self._lock:
            return tuple(held.told() for held in reversed(self._held.values()))

    def get(self, id: str) -> Job:
        """The job as it is now. Raises ``HttpRequestError`` (404) for an unknown id."""
        return self._find(id).told()

    def stop(self, id: str) -> Job:
        """End the job, keeping what it has done. One that is waiting never begins."""
        held = self._find(id)
        held.stop.set()
        with self._lock:
            waited = held.job.state == "waiting"
            if waited:
                held.update(state="stopped")
        if waited:
            held.drop()
        return held.told()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No job runs inside. Raises ``HttpRequestError`` (409) if one is running."""
        if not self._writing.acquire(blocking=False):
            raise busy("A job is writing to the graph. Wait for its end, or stop it.", 409)
        try:
            yield
        finally:
            self._writing.release()

    def close(self) -> None:
        """Stop all jobs, and wait until the last has ended."""
        with self._lock:
            self._closed = True
            jobs = [held.job for held in self._held.values()]
        for job in jobs:
            if not job.ended:
                self.stop(job.id)
        self._pool.shutdown()

    def _find(self, id: str) -> _Held:
        with self._lock:
            if id not in self._held:
                raise not_found(InputError("Unknown job. GET /api/jobs lists the jobs that the server remembers."))
            return self._held[id]

    def _forget_oldest(self) -> None:
        ended = [id for id, held in self._held.items() if held.job.ended]
        for id in ended[: max(0, len(self._held) - _KEPT)]:
            del self._held[id]

    def _run(self, held: _Held) -> None:
        with self._lock:
            if held.job.state != "waiting":
                return
            held.started = time.monotonic()
            held.update(state="running")

        def progress(stage: str, done: int, total: int) -> None:
            held.stop.check()
            held.update(stage=stage, done=done, total=total)

        end: dict[str, Any]
        try:
            with self._writing:
                end = {"report": held.work(held.stop, progress), "state": "done"}
        except StoppedError:
            end = {"state": "stopped"}
        except KgError as error:
            end = {"state": "failed", "error": error_of(error)}
        except Exception as error:  # noqa: BLE001 - one job's error must not end those after it
            report_fault(error)
            end = {"state": "failed", "error": error_of(error)}
        seconds = round(time.monotonic() - held.started, 3)
        held.update(**end, seconds=seconds)
        log.info("job %s %s: %s after %.1f s", held.job.kind, held.job.id, held.job.state, seconds)
