"""Long work on the graph: ingests, and building the tree. The jobs are in the graph; a few at a time are run here.

A job continues when its client disconnects. When this server ends, its jobs wait for the next one, or for another
server of the graph; what they have done is kept.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.threads import Stop
from kgplatform.errors import InputError, KgError, StoppedError, StoreError
from kgplatform.explore.jobs import GATE, Claim, Files, Job, JobQueue, Load, State
from kgplatform.interfaces.http.failures import busy, error_of, not_found, report_fault
from kgplatform.interfaces.uploads import Uploads, end_abandoned
from kgplatform.records import Progress
from kgplatform.shown import given_name

log = logging.getLogger("kgplatform.interfaces.http")

_TOO_MANY = "Too many jobs are waiting. Try again when one of them has finished."
_TRIES = 5
"""How often a job is begun whose servers all died."""
_BEATS = 15
"""Signs of life in the time of a lease."""
_LOOK_EVERY = 1.0
"""Seconds between two looks for work that another server has left or was given."""
_SWEEP_EVERY = 10.0
"""Seconds between two looks for files that no job needs."""


@dataclass(frozen=True, slots=True)
class Work:
    """What jobs of one kind do.

    ``run`` works on the graph until that is stopped, reports its progress, and returns its report. ``finish`` removes
    what a job leaves behind that will not run again; its report is None where it was stopped or failed. ``alone``: no
    other job may run beside it, on any server.
    """

    run: Callable[[KnowledgeGraph, Uploads, Claim, Progress], dict[str, Any]]
    finish: Callable[[KnowledgeGraph, Uploads, Claim, dict[str, Any] | None], None] = lambda *_: None
    alone: bool = False


class _Running:
    """A job that runs here, with its stop. ``lost``: somebody else holds it; ``stopped``: by a client."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.stop = Stop()
        self.started = time.monotonic() - claim.job.seconds
        self.progress = ("", 0, 0)
        self.heard = time.monotonic()
        self.lost = False
        self.stopped = threading.Event()
        if claim.stopping:
            self.stopped.set()

    def told(self) -> Job:
        stage, done, total = self.progress
        seconds = round(time.monotonic() - self.started, 3)
        return replace(self.claim.job, state="running", stage=stage, done=done, total=total, seconds=seconds, note="")

    def report(self, stage: str, done: int, total: int) -> None:
        self.stop.check()
        self.progress = (stage, done, total)


class Jobs:
    """Runs the jobs of ``queue``, up to ``at_once`` of them side by side. ``waiting``: how many more may wait."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        uploads: Uploads,
        queue: JobQueue,
        works: Mapping[str, Work],
        *,
        waiting: int,
        at_once: int,
    ) -> None:
        self._at = graph, uploads
        self.queue = queue
        self._works = works
        self._most = at_once + waiting
        self._at_once = at_once
        self._running: dict[str, _Running] = {}
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._waiting = Stop()
        """Of who looks for jobs: to close must not take as long as a database that is gone is waited for."""

    def start(self) -> None:
        """Remove what an earlier server left that no job needs, and begin to look for jobs."""
        self._sweep()
        self._spawn(self._look, "kgplatform-jobs")

    def add(self, kind: str, parameters: dict[str, Any], files: Files | None = None) -> Job:
        """Queue a job. Raises ``HttpRequestError`` if too many wait."""
        job = None
        if not self._closed.is_set():
            alone = self._works[kind].alone
            job = self.queue.add(kind, parameters, alone=alone, most=self._most, files=files)
        if job is None:
            raise busy(_TOO_MANY)
        self._wake.set()
        return _as_given(job)

    def check(self) -> Load:
        """What waits and runs. Raises ``HttpRequestError`` (429) if too many do."""
        load = self.queue.load()
        if self._closed.is_set() or load.jobs >= self._most:
            raise busy(_TOO_MANY)
        return load

    @property
    def is_busy(self) -> bool:
        """Whether any runs here."""
        return bool(self._running)

    def all(self) -> list[Job]:
        """The jobs that are remembered, the latest first."""
        return [self._now(job) for job in self.queue.all()]

    def get(self, id: str) -> Job:
        """The job as it is now. Raises ``HttpRequestError`` (404) for an unknown id."""
        with self._lock:
            held = self._running.get(id)
        if held is not None:
            return _as_given(held.told())
        if (job := self.queue.get(id)) is None:
            raise not_found(InputError("Unknown job. GET /api/jobs lists all known jobs."))
        return self._now(job)

    def stop(self, id: str) -> Job:
        """End the job, keeping what it has done. One that is waiting never begins."""
        job = self.queue.stop(id)
        with self._lock:
            held = self._running.get(id)
        if held is not None:
            held.stopped.set()
            held.stop.set()
        elif job is not None and job.ended:
            self._sweep()
        return self.get(id)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No job runs inside, on any server. Raises ``HttpRequestError`` (409) if one is running."""
        lease = self.queue.hold_gate()
        if lease is None:
            raise busy("A job is writing to the graph. Wait until it finishes, or stop it.", 409)
        with self._beating(lambda: self.queue.beat(GATE, lease)):
            try:
                yield
            finally:
                self.queue.leave_gate(lease)
                self._wake.set()

    def close(self) -> None:
        """Stop all work here, and wait until it has ended; the jobs wait for another server, or for the next one."""
        with self._lock:
            self._closed.set()
            running = list(self._running.values())
        self._waiting.set()
        for held in running:
            held.stop.set()
        self._wake.set()
        while self._threads:
            self._threads.pop(0).join()  # first who begins the others

    def _now(self, job: Job) -> Job:
        """What runs here is known better than the graph knows it, and has ended only when its files are gone."""
        with self._lock:
            held = self._running.get(job.id)
        return _as_given(held.told() if held is not None else job)

    def _look(self) -> None:
        swept, queue = time.monotonic(), self.queue.within(self._waiting)
        while not self._closed.is_set():
            try:
                while not self._closed.is_set() and len(self._running) < self._at_once:  # as many as can run now
                    if (claim := queue.claim()) is None:
                        break
                    held = _Running(claim)
                    with self._lock:
                        self._running[claim.job.id] = held
                        if self._closed.is_set():
                            held.stop.set()
                    self._spawn(partial(self._run, held), "kgplatform-job")
                if time.monotonic() - swept > _SWEEP_EVERY:
                    self._sweep()
                    swept = time.monotonic()
            except StoppedError:
                return
            except KgError as error:  # the database may come back
                log.warning("cannot accept jobs: %s", error)
            except Exception as error:  # noqa: BLE001 - whatever it is, the jobs that come must not wait for ever
                report_fault(error)
            self._wake.wait(min(_LOOK_EVERY, self.queue.lease / _BEATS))
            self._wake.clear()

    def _sweep(self) -> None:
        graph, uploads = self._at
        end_abandoned(graph.within(self._waiting), uploads)

    def _spawn(self, work: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=work, name=name)
        self._threads = [each for each in self._threads if each.is_alive()]
        self._threads.append(thread)
        thread.start()

    def _run(self, held: _Running) -> None:
        claim = held.claim
        try:
            with self._beating(lambda: self._beat(held)):
                self._work(held)
        except StoreError as error:  # its lease runs out, and it is taken up again
            log.warning("job %s %s is left: %s", claim.job.kind, claim.job.id, error)
        except Exception as error:  # noqa: BLE001 - whatever it is, its client must learn that it is over
            report_fault(error)
            try:
                if self.queue.note_outcome(claim, "failed", None, error_of(error)):
                    self.queue.end(claim)
            except StoreError as also:
                log.warning("job %s %s is left: %s", claim.job.kind, claim.job.id, also)
        finally:
            with self._lock:
                del self._running[claim.job.id]
            self._wake.set()

    def _work(self, held: _Running) -> None:
        """Run a job, note how it came out, remove what it leaves behind, and end it, in this order. Whoever takes it up
        after a crash goes on from there."""
        claim = held.claim
        work = self._works[claim.job.kind]
        state, report, error = claim.outcome, claim.job.report, claim.job.error
        if state is None:
            try:
                state, report, error = self._outcome(held, work)
            except StoppedError:  # this server ends, or holds the job no longer
                if not held.lost:
                    self.queue.release(claim)
                return
            self.queue.beat(claim.job.id, claim.lease, *held.progress)  # how far it came: the last beat knew less
            if not self.queue.note_outcome(claim, state, report, error):
                return
        work.finish(*self._at, claim, report)
        self.queue.end(claim)
        log.info("job %s %s: %s after %.1f s", claim.job.kind, claim.job.id, state, time.monotonic() - held.started)

    def _outcome(self, held: _Running, work: Work) -> tuple[State, dict[str, Any] | None, dict[str, Any] | None]:
        """Raises ``StoppedError`` where the job was not stopped for good."""
        if held.stopped.is_set():
            return "stopped", None, None
        if held.claim.tries > _TRIES:
            sentence = f"Gave up after {_TRIES} attempts: the server died each time."
            return "failed", None, {"kind": "ServerError", "message": sentence}
        try:
            graph, uploads = self._at
            return "done", work.run(graph.within(held.stop), uploads, held.claim, held.report), None
        except StoppedError:
            if held.lost or not held.stopped.is_set():
                raise
            return "stopped", None, None
        except KgError as error:
            return "failed", None, error_of(error)
        except Exception as error:  # noqa: BLE001 - one job's error must not end those after it
            report_fault(error)
            return "failed", None, error_of(error)

    def _beat(self, held: _Running) -> None:
        """Where no beat gets through, another server may take the job once its lease has run out."""
        try:
            stopping = self.queue.beat(held.claim.job.id, held.claim.lease, *held.progress)
            held.heard = time.monotonic()
        except StoreError:
            if time.monotonic() - held.heard < self.queue.lease:
                raise
            stopping = None
        if stopping is None:
            held.lost = True
        elif stopping:
            held.stopped.set()
        if stopping is not False:
            held.stop.set()

    @contextmanager
    def _beating(self, beat: Callable[[], object]) -> Iterator[None]:
        """Inside, ``beat`` is called again and again, so that the lease does not run out."""
        over = threading.Event()

        def until_over() -> None:
            while not over.wait(self.queue.lease / _BEATS):
                try:
                    beat()
                except StoreError as error:
                    log.warning("cannot renew the lease of a job: %s", error)

        thread = threading.Thread(target=until_over, name="kgplatform-job-beat")
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _as_given(job: Job) -> Job:
    """The job with its files under the names that the client gave them."""
    return replace(job, files=tuple(map(given_name, job.files)))
