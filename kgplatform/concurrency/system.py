"""What differs between Linux, macOS and Windows, and stands nowhere else: locks, files, processes, bounds of a child.

The names of POSIX that Windows lacks are looked up here; where one is missing, something else does the work.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import unquote_to_bytes

fcntl: Any = None
resource: Any = None
with suppress(ImportError):  # Windows
    fcntl, resource = import_module("fcntl"), import_module("resource")

BINARY = getattr(os, "O_BINARY", 0)
"""A flag of ``os.open``: Windows else writes line ends of its own."""
NO_TIME = 78
"""The status by which a child ends itself that took too long, where no signal of the kernel does."""
NOT_IN_NAMES = '<>:"|?*' if os.name == "nt" else ""
"""What no file may have in its name; on Windows what stands behind a colon would even be hidden."""
_PROC = Path("/proc")
_LOOK_SECONDS = 0.1
_CRASHED = 0xC0000000
"""From here on a status on Windows is an exception that nobody caught."""


# --------------------------------------------------------------------------------------------------------------- files


def lock(file: TextIO, *, wait: bool = False) -> bool:
    """Lock ``file`` against all other processes and threads until it is closed; False if another has it."""
    from filelock import lock_descriptor

    return lock_descriptor(file.fileno(), blocking=wait)


def is_locked(path: Path) -> bool:
    """Whether another process, of another machine too, has the lock on ``path`` that Java's programs take."""
    try:
        with path.open("r+b") as file:
            if fcntl is None:
                file.read(1)  # Windows refuses it
            else:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return True
        raise
    return False


def is_open_to_others(mode: int) -> bool:
    """Whether others than the owner can read a file of that mode. Windows has lists of rights instead."""
    return os.name == "posix" and bool(mode & 0o077)


def path_of(uri: str) -> Path:
    """Of a file, from its URI."""
    if os.name == "posix":
        return Path(os.fsdecode(unquote_to_bytes(uri.removeprefix("file://"))))
    from urllib.request import url2pathname

    return Path(url2pathname(uri.removeprefix("file:")))


def speak_utf8() -> None:
    """Have standard input and output take every sign. On Windows files and pipes have a code page, which lacks most;
    elsewhere somebody chose the encoding, and what it lacks becomes "?"."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
            is_code_page = os.name == "nt" and not stream.isatty()
            stream.reconfigure(encoding="utf-8" if is_code_page else None, errors="replace")


# ----------------------------------------------------------------------------------------------------------- processes


def own_session() -> dict[str, Any]:
    """Arguments of ``Popen`` by which Ctrl-C is for this process, and not for the one that it starts."""
    if os.name == "posix":
        return {"start_new_session": True}
    return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}


def take_address(listener: socket.socket) -> None:
    """Let ``listener`` have its port although connections of the last one there still end, and let nobody share it."""
    if os.name == "posix":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    else:  # where that would let two servers have one port
        listener.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR), 1)


def end_process(pid: int, *, at_once: bool = False) -> None:
    """Ask a process to end; or end it ``at_once``, as Windows always does. Raises ``OSError`` where it cannot be."""
    os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM) if at_once else signal.SIGTERM)


def process_mark(pid: int) -> str | None:
    """What tells a process from all others that ever have its pid: when it began. None if it is gone or a zombie."""
    return _mark_from_proc(pid) if (_PROC / "self" / "stat").exists() else _mark_elsewhere(pid)


def own_mark() -> str:
    """What tells this process from all others of all machines."""
    return "|".join((machine(), str(os.getpid()), process_mark(os.getpid()) or ""))


def is_gone(mark: str) -> bool:
    """Whether ``mark``, an ``own_mark`` and whatever follows it, is of a process of this machine that is no more."""
    where, process, began, *_ = mark.split("|")
    return where == machine() and process_mark(int(process)) != (began or None)


def _mark_from_proc(pid: int) -> str | None:
    """On Linux: ticks since the machine started. A time of the day would change with the clock."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
        boot = (_PROC / "sys/kernel/random/boot_id").read_text("utf-8").strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *numbers = stat.rpartition(")")[2].split()
    return None if state in "ZX" else f"{boot} {numbers[18]}"


def _mark_elsewhere(pid: int) -> str | None:
    import psutil  # type: ignore[import-untyped]  # it ships no types

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else f"{process.create_time():.2f}"
    except psutil.NoSuchProcess:
        return None


def machine() -> str:
    """Where the ids of processes mean the same: this host, and on Linux the namespace: containers may share a name."""
    try:
        namespace = str((_PROC / "self" / "ns" / "pid").readlink())
    except OSError:
        namespace = ""
    return f"{socket.gethostname()} {namespace}".rstrip()


# ------------------------------------------------------------------------------------------------ the bounds of a child


def bound_memory(most: int) -> None:
    """Let the kernel refuse this process more than so many bytes, where it can; and let it leave no dump of them."""
    if resource is not None:
        with suppress(OSError, ValueError):  # a lower limit that is set from outside holds
            resource.setrlimit(resource.RLIMIT_DATA, (most, resource.getrlimit(resource.RLIMIT_DATA)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def held_memory() -> int:
    """The bytes of memory that this process holds."""
    import psutil

    return int(psutil.Process().memory_info().rss)


_ON_THE_WALL = 20
"""A parser in Rust that is refused memory may wait for a lock that it has, with Python's lock in its hands."""


class StepClock:
    """Ends this process where one step of its work takes so many ``seconds`` of the processor.

    The kernel does, whatever the code is in; on Windows a thread, which waits for C code that keeps Python's lock.
    A step that waits for ever takes no processor: the kernel ends it after ``_ON_THE_WALL`` times as long by the clock.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends: float | None = None
        if not hasattr(signal, "setitimer"):
            threading.Thread(target=self._look, daemon=True).start()

    def start(self) -> None:
        """A step begins."""
        self._set_timers(self._seconds)
        self._ends = time.process_time() + self._seconds

    def stop(self) -> None:
        """No step is under way."""
        self._set_timers(0)
        self._ends = None

    def _set_timers(self, seconds: float) -> None:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, seconds)
            signal.setitimer(signal.ITIMER_REAL, _ON_THE_WALL * seconds)

    def _look(self) -> None:
        while (ends := self._ends) is None or time.process_time() < ends:
            time.sleep(_LOOK_SECONDS)
        os._exit(NO_TIME)


def ended_by(status: int) -> str:
    """What ended a child: "time", the name of the signal or exception by which it crashed, or nothing."""
    if status == NO_TIME:
        return "time"
    if status < 0:
        by = signal.Signals(-status).name
        return "time" if by in ("SIGPROF", "SIGALRM") else by
    return f"{status:#x}" if sys.platform == "win32" and status >= _CRASHED else ""
