"""What the endpoints share: the graph, what is under way on it, and how much is allowed."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from kgplatform.client import KnowledgeGraph
from kgplatform.doors.guard import MEGABYTE
from kgplatform.doors.http.errors import RefusedError
from kgplatform.doors.http.jobs import Jobs
from kgplatform.doors.http.workers import Workers
from kgplatform.doors.uploads import Uploads


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a client may send or ask for at once: sizes in bytes, times in seconds.

    ``upload``: one; ``uploads``: all together that arrive, or wait until they are ingested. ``asks``: questions that
    are answered at once; one more is refused. ``idle``: how long nothing may come of a request that is not whole.
    ``stall``: how long a client that reads a stream may leave it full before its reader is stopped. ``ping``: how often
    an idle stream says that it lives.
    """

    upload: int = 100 * MEGABYTE
    uploads: int = 500 * MEGABYTE
    files: int = 200
    body: int = MEGABYTE
    asks: int = 64
    waiting_jobs: int = 20
    idle: float = 30.0
    stall: float = 15.0
    ping: float = 5.0


class Quota:
    """``most`` bytes for all uploads that arrive or wait to be ingested. Safe from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._reserved = 0
        self._lock = threading.Lock()

    def reserve(self, count: int) -> ExitStack:
        """Reserve ``count`` bytes until the stack that is returned is closed. Raises ``RefusedError`` (429) where they
        do not fit now; the rest of the body need not be read then."""
        with self._lock:
            if self._reserved + count > self._most:
                sentence = (
                    f"Other uploads arrive, or wait for their turn: at most {self._most:,} bytes of all together are "
                    "kept. Try again when one of them has ended."
                )
                raise RefusedError(429, "BusyError", sentence, {"Retry-After": "10", "Connection": "close"})
            self._reserved += count
        reserved = ExitStack()
        reserved.callback(self._give_back, count)
        return reserved

    def _give_back(self, count: int) -> None:
        with self._lock:
            self._reserved -= count


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one application. ``read_only``: nothing may change the graph."""

    graph: KnowledgeGraph
    limits: Limits
    read_only: bool
    token_needed: bool
    workers: Workers
    jobs: Jobs
    uploads: Uploads
    quota: Quota

    def refuse_change(self) -> None:
        """Raise ``RefusedError`` (403) where nothing may be changed."""
        if self.read_only:
            raise RefusedError(403, "ReadOnlyError", "This server only reads: it was started with --read-only.")


def _parts_of(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


Served = Annotated[Parts, Depends(_parts_of)]
"""The parts, as an argument of an endpoint."""
