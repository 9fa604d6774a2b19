"""Passages that a run reads, marked in the graph: another run waits for them rather than paying for them again.

with Claims(store) as claims:
    mine = claims.take(["2f6d…", "9a01…"])      # the others were read by somebody else meanwhile

A claim lasts a minute and is renewed while the run lives; one of a process of this machine that is gone is over.
"""

from __future__ import annotations

import threading
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from kgplatform.errors import StoreError
from kgplatform.neo4j.process import is_gone, own_mark
from kgplatform.neo4j.store import Row, Store
from kgplatform.work.stopping import NEVER

_SECONDS = 60
_RENEWED_EVERY = 15.0
_LOOKED_EVERY = 0.5
_HELD = 16
"""Takes whose passages may not be written yet: they are committed a few at a time, in order."""

RELEASED: Row = {"claimedBy": None, "claimedUntil": None}
"""The properties of a passage that nobody reads any more."""


class Claims:
    """The claims of one run, which a thread renews. A context manager: at its end they are given back."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lasting = store.within(NEVER)
        self._run = f"{own_mark()}|{uuid.uuid4().hex}"
        self._held: deque[list[str]] = deque(maxlen=_HELD)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="renewing claims", daemon=True)

    def __enter__(self) -> Claims:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        # Of a database that is gone nothing can be given back: the claims run out.
        with suppress(StoreError):
            for passages in self._held:
                self._lasting.write(("ingest/release_claims", {"passages": passages, "run": self._run}))

    def take(self, passages: Sequence[str], make_room: Callable[[], bool]) -> frozenset[str]:
        """Those of ``passages`` that this run is to read. Waits while another run reads any of them.

        ``make_room`` is called meanwhile, and says if others may have changed the graph since.
        """
        wanted, mine, gone = sorted(passages), set[str](), list[str]()
        while wanted:
            asked = {"passages": wanted, "run": self._run, "gone": gone, "seconds": _SECONDS}
            (rows,) = self._store.write(("ingest/claim", asked))
            mine.update(row["id"] for row in rows if not row["done"] and row["holder"] == self._run)
            others = [row for row in rows if not row["done"] and row["holder"] != self._run]
            wanted = [row["id"] for row in others]
            gone = sorted({row["holder"] for row in others if is_gone(row["holder"])})
            if wanted and not gone:
                self._store.stop.sleep(_LOOKED_EVERY)
                if make_room():
                    wanted = sorted(passages)
                    mine.clear()
        self._held.append(sorted(mine))
        return frozenset(mine)

    def _renew(self) -> None:
        while not self._over.wait(_RENEWED_EVERY):
            with suppress(StoreError):  # the run itself says what is wrong with the database
                for passages in self._held.copy():
                    asked = {"passages": passages, "run": self._run, "seconds": _SECONDS}
                    self._lasting.write(("ingest/renew_claims", asked))
