"""What every model behind an HTTP server has: its connections, what counts its tokens, and what ends its waits."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import TypeVar

from kgplatform.models.chat import Ledger
from kgplatform.models.wire import Wire
from kgplatform.records import Usage
from kgplatform.settings import Settings
from kgplatform.work.stopping import NEVER, Stop

S = TypeVar("S", bound="ServedModel")


class ServedModel:
    """What every model behind an HTTP server has: its connections, what counts its tokens, and what ends its waits.

    ``backoff``, ``clock`` and ``sleep``: the pace of its retries, see ``Wire``.
    """

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        *,
        backoff: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self._ledger = ledger
        self._meters: tuple[Ledger, ...] = ()
        self._stop = NEVER
        self._wire = Wire(settings, backoff=backoff, clock=clock, sleep=sleep)

    def within(self: S, *, meter: Ledger | None = None, stop: Stop | None = None) -> S:
        """See ``Metered.within``."""
        view = copy.copy(self)
        view._meters = (*self._meters, meter) if meter else self._meters
        view._stop = stop or self._stop
        return view

    def close(self) -> None:
        """Close the connections to the server."""
        self._wire.close()

    def _count(self, stage: str, usage: Usage, worth: Usage | None = None) -> None:
        for ledger in (self._ledger, *self._meters):
            ledger.add(stage, usage, worth)
