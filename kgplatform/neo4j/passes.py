"""Passes that write a graph, side by side: each has the turn that it needs, and waits while others have theirs.

    with Pass(store, "ingest", progress) as turn:       # alone: nothing else writes
        lay(turn.store, …)
        turn.share()                                    # beside other passes that share
        for window in windows:
            if turn.others_wait():
                turn.give_way()                         # to those that must be alone for a while
            …
        turn.alone()

A pass is a node of the graph, so that processes on all machines see it, with a sign of life every few seconds. One of a
process of this machine that is gone counts no more, one of another machine after a minute. Each transaction of a pass
looks first whether the pass still counts: what was given up cannot write beside who went on.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Literal

from kgplatform.concurrency.system import is_gone, machine, own_mark
from kgplatform.concurrency.threads import NEVER, Stop
from kgplatform.errors import InputError, KgError, ServerError, StoreError
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import Progress

Turn = Literal["alone", "shared", "beside"]
EXCLUDES: dict[str, tuple[str, ...]] = {
    "ingest": (),
    "remove": (),
    "tree": ("ingest", "tree"),
    "gist": ("gist", "reembed", "import"),
    "reembed": ("ingest", "tree", "gist"),
    "import": ("ingest", "tree", "gist"),
    "copy": (),
    "correct": ("ingest",),
}
"""Kinds of passes, and beside which others they cannot run, not even between two turns of those."""
_DOES = {
    "ingest": "an ingest",
    "remove": "a removal",
    "tree": "building the tree",
    "gist": "writing gists",
    "reembed": "embedding the graph again",
    "import": "an import",
    "copy": "copying a part",
    "correct": "a correction",
}
_open: set[str] = set()
"""The passes of this process."""
_SECONDS = 60
_RENEWED_EVERY = 10.0
_LOOKED_EVERY = 0.3
_LOOKED_AT_LAST = 2.0
"""Seconds between two looks of a pass that has waited for long."""
_PATIENCE = 5.0
"""Seconds that the end of a pass waits for a database that does not answer."""


class Pass:
    """A context manager. ``store``: what the pass is to write with. ``progress`` is told for whom it waits."""

    def __init__(self, store: Store, kind: str, progress: Progress, turn: Turn = "alone") -> None:
        self.id = f"{own_mark()}|{threading.get_ident()}|{uuid.uuid4().hex}"
        self.store = store.fenced(("neo4j/passes/held", {"id": self.id}))
        self._plain = store
        self._lasting = store.within(NEVER)
        self._kind = kind
        self._progress = progress
        self._first = turn
        self._has: Turn | None = None
        self._looked = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="renewing a pass", daemon=True)

    def __enter__(self) -> Pass:
        self._plain.define("neo4j/schema/constraint_write_pass")
        self._thread.start()
        _open.add(self.id)
        try:
            self._ask(self._first)
        except BaseException:  # whatever it is, nobody must wait for this pass
            self._leave()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    def alone(self) -> None:
        """Go on when no other pass has a turn."""
        if self._has != "alone":
            self._ask("alone")

    def share(self, turn: Turn = "shared") -> None:
        """Go on beside other passes that share; ``beside``: beside all but those that exclude this kind."""
        self._has = turn
        self.store.write(("neo4j/passes/give_up", {"id": self.id, "turn": turn}))

    def again(self) -> None:
        """Ask for a turn alone once more: the database is another one, which knows nothing of this pass."""
        self._plain.define("neo4j/schema/constraint_write_pass")
        self._ask("alone")

    def others_wait(self) -> bool:
        """Between two steps of a pass that shares: whether somebody who must be alone waits. Then ``give_way``, when
        all that is read is written."""
        if self._has != "shared" or time.monotonic() - self._looked < _LOOKED_EVERY:
            return False
        self._looked = time.monotonic()
        return bool(self._plain.read("neo4j/passes/waiting", id=self.id)[0]["waits"])

    def give_way(self) -> None:
        """Let those go first who must be alone, and share again after them."""
        self._ask("shared")

    @property
    def is_only(self) -> bool:
        """Whether no other pass is under way."""
        return all(row["id"] == self.id for row in self._plain.read("neo4j/passes/running"))

    def _ask(self, turn: Turn) -> None:
        self._has = None
        began = time.monotonic()
        waits_for = self._asked(turn, ())
        while waits_for:
            gone = [row["id"] for row in waits_for if is_over(row["id"])]
            if not gone:
                self._refuse_itself(waits_for)
                self._progress(f"waiting for {described(waits_for[0])}", 0, 0)
                waited = time.monotonic() - began
                self._plain.stop.sleep(min(_LOOKED_AT_LAST, _LOOKED_EVERY + waited / 20))
            waits_for = self._asked_again(turn, gone, waits_for)
        self._has = turn

    def _asked_again(self, turn: Turn, gone: Sequence[str], before: list[Row]) -> list[Row]:
        """As ``_asked``. One of this machine that this pass waits for may have stopped the server for a while, and have
        made its database anew."""
        is_near = any(row["id"].partition("|")[0] == machine() and not is_over(row["id"]) for row in before)
        try:
            if is_near:
                self._plain.meet_again()
            return self._asked(turn, gone)
        except ServerError:
            if not is_near:
                raise
            return before

    def _asked(self, turn: Turn, gone: Sequence[str]) -> list[Row]:
        asked = {
            "id": self.id,
            "kind": self._kind,
            "who": f"process {os.getpid()} on {socket.gethostname()}",
            "turn": turn,
            "excludes": list(EXCLUDES[self._kind]),
            "gone": list(gone),
            "seconds": _SECONDS,
        }
        (rows,) = self._plain.write(("neo4j/passes/ask", asked))
        return rows

    def _refuse_itself(self, waits_for: Sequence[Row]) -> None:
        """A pass that was begun inside of another one of its thread would wait for ever."""
        own = self.id.rpartition("|")[0]
        if any(row["id"].rpartition("|")[0] == own for row in waits_for):
            raise InputError(
                f"{_capitalised(waits_for[0])} was started by the same thread, which cannot wait for itself: start "
                "this afterwards, or in another thread."
            )

    def _leave(self) -> None:
        self._over.set()
        self._thread.join(_PATIENCE)
        _open.discard(self.id)
        last = Stop()
        timer = threading.Timer(_PATIENCE, last.set)
        timer.start()
        with suppress(KgError):  # a database that is gone forgets the pass after a minute
            self._plain.within(last).write(("neo4j/passes/leave", {"id": self.id}))
        timer.cancel()

    def _renew(self) -> None:
        while not self._over.wait(_RENEWED_EVERY):
            with suppress(KgError):  # the pass itself says what is wrong with the database
                self._lasting.write(("neo4j/passes/renew", {"id": self.id, "seconds": _SECONDS}))


def refuse_meanwhile(store: Store, kinds: Sequence[str]) -> None:
    """Raise ``StoreError`` if a pass of ``kinds`` is under way, but for that which writes with ``store``."""
    for row in _running(store, kinds):
        raise StoreError(f"{_capitalised(row)} is under way. Try again when it has finished.")


def wait_meanwhile(store: Store, kinds: Sequence[str], report: Callable[[str], None]) -> None:
    """Return when no pass of ``kinds`` is under way. ``report`` is told for whom this waits."""
    told = ""
    while running := _running(store, kinds):
        if running[0]["id"] != told:
            report(f"Waiting for {described(running[0])} …")
            told = running[0]["id"]
        store.stop.sleep(_LOOKED_EVERY)


def _running(store: Store, kinds: Sequence[str]) -> list[Row]:
    own = store.fence[1]["id"] if store.fence else ""
    rows = store.read("neo4j/passes/running")
    return [row for row in rows if row["kind"] in kinds and row["id"] != own and not is_over(row["id"])]


def _capitalised(row: Row) -> str:
    words = described(row)
    return words[0].upper() + words[1:]


def described(row: Row) -> str:
    """A pass in words: "an ingest (process 4711 on harbour)"."""
    return f"{_DOES[row['kind']]} ({row['who']})"


def is_over(id: str) -> bool:
    """Whether it is known that a pass was of this process, or of one of this machine, and is over."""
    return is_gone(id) or (id.startswith(f"{own_mark()}|") and id not in _open)
