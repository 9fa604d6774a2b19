"""How much of uploads may lie here at once before it is in the graph: what arrives, and what waits for its turn.

with room.share() as share:
    share.take(len(chunk))        # raises where all uploads together would have too much
    share.keep()                  # what was taken stays taken, until share.free()
"""

from __future__ import annotations

import threading

from kgplatform.web.faults import RefusedError


class Room:
    """``most`` bytes for all uploads together. Safe from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0
        self._lock = threading.Lock()

    def share(self) -> Share:
        """What one upload will take of it: nothing yet."""
        return Share(self)

    def check(self, count: int) -> None:
        """Raise ``RefusedError`` (429) where ``count`` bytes more do not fit now."""
        if self._taken + count > self._most:
            raise self._full()

    def _take(self, count: int) -> None:
        with self._lock:
            self.check(count)
            self._taken += count

    def _give_back(self, count: int) -> None:
        with self._lock:
            self._taken -= count

    def _full(self) -> RefusedError:
        sentence = (
            f"Other uploads arrive, or wait for their turn: at most {self._most:,} bytes of all together are kept. "
            "Try again when one of them has ended."
        )
        # The rest of the body is not read.
        return RefusedError(429, "BusyError", sentence, {"Retry-After": "10", "Connection": "close"})


class Share:
    """The bytes of one upload. In a ``with`` block they are given back at its end, unless they are kept."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._taken = 0
        self._is_kept = False
        self._lock = threading.Lock()

    def __enter__(self) -> Share:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._is_kept:
            self.free()

    def take(self, count: int) -> None:
        """``count`` bytes more. Raises ``RefusedError`` (429) where they do not fit now."""
        self._room._take(count)
        self._taken += count

    def keep(self) -> None:
        """Let them be taken until ``free``."""
        self._is_kept = True

    def free(self) -> None:
        """Give all of them back; a second time does nothing."""
        with self._lock:
            taken, self._taken = self._taken, 0
        self._room._give_back(taken)
