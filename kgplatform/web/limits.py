"""How much a client may send or ask for at once."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes, times in seconds.

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
