"""Which statements of users have ended the managed server, so that none does so for ever.

    strikes, life = Strikes(home), strikes.life()
    strikes.refuse(statement)       # what has ended it twice: raises ``InputError``
    strikes.add(statement, life)    # the server of then ended while it ran, or had to be ended
    strikes.forgive(statement)      # it has ended well

Nobody can tell which of several statements it was, so all that ran are struck; what has ended well is forgiven.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from kgplatform.concurrency.files import file_lock, write_atomically
from kgplatform.errors import InputError
from kgplatform.neo4j.process import RECORD, ServerRecord, load_record, loaded
from kgplatform.neo4j.statement_guard import tokens_of

_MOST = 2
_SECONDS = 86_400.0
"""For so long a strike counts."""

Struck = dict[str, dict[str, float]]
"""By fingerprints of statements: the lives of the server that they ended, and when."""


class Strikes:
    """Those of the managed server in the folder ``home``, whatever process saw them; None of any other."""

    def __init__(self, home: Path | None = None) -> None:
        if home is None:
            home = Path(os.devnull)  # a folder in which nothing is
        self._file, self._lock, self._record = home / "strikes.json", home / "strikes.lock", home / RECORD

    def life(self) -> str:
        """Which server runs now; empty for none."""
        record = load_record(self._record)
        return life_of(record) if record is not None else ""

    def refuse(self, statement: str) -> None:
        """Raise ``InputError`` for what has ended the server twice."""
        if len(self._read().get(_fingerprint(statement), ())) >= _MOST:
            raise InputError(
                "This statement has ended the database twice, so it is refused for a day: ask for less at once."
            )

    def add(self, statement: str, life: str) -> None:
        """The server ``life`` ended while ``statement`` ran. One that had ended before is no fault of it."""
        if life and self._record.exists():  # else it was stopped on purpose
            self._change(_fingerprint(statement), life)

    def forgive(self, statement: str) -> None:
        """``statement`` has ended, and the server has not."""
        mark = _fingerprint(statement)
        if mark in self._read():
            self._change(mark, None)

    def explain(self, life: str) -> bool:
        """Whether a statement is what ended the server ``life``."""
        return any(life in lives for lives in self._read().values())

    def _read(self) -> Struck:
        since = time.time() - _SECONDS
        found: Struck = loaded(dict, self._file) or {}
        return {mark: lives for mark, lives in found.items() if max(lives.values()) > since}

    def _change(self, mark: str, life: str | None) -> None:
        with suppress(OSError), file_lock(self._lock):  # where nothing can be written, that is said elsewhere
            struck = self._read()
            if life is None:
                struck.pop(mark, None)
            else:
                struck.setdefault(mark, {})[life] = time.time()
            write_atomically(self._file, json.dumps(struck).encode())


def life_of(record: ServerRecord) -> str:
    """What tells a server from those before and after it."""
    return f"{record.pid}|{record.began}"


def _fingerprint(statement: str) -> str:
    """The same for a statement in other white space, letter case or comments."""
    words = "\0".join(token.text.lower() for token in tokens_of(statement))
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
