"""Files that are written whole or not at all, locks on files that end with the process that holds them, and lists on
disk for what is too long for memory: in order, or parted by keys.

    with Spool(folder) as spool:
        spool.add(item)
        for item in spool: …

    with Shards(folder) as shards:
        shards.add("facts", rows, "id")         # ids are hexadecimal digits
        for part in shards.parts("facts"): …    # first the rows whose ids begin with 00, then those with 01

Lists are in a file without a name: it is gone with this process, however that ends. Not thread-safe. Both raise
``InputError`` if the disk is full.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, TextIO, TypeVar

from kgplatform.concurrency.system import BINARY, lock
from kgplatform.errors import InputError


def write_atomically(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Write ``content`` to ``path`` so that whoever reads it sees all of it, or the file as it was. Raises ``OSError``.
    By default nobody but the owner can read the file."""
    # Other processes and threads may write the same file.
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | BINARY, mode), "wb") as file:
            file.write(content)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise


def folder_mark(folder: Path) -> str:
    """What tells a folder from its copies, and is the same by whatever path it is reached: where it is on the disk."""
    found = folder.stat()
    return f"{found.st_dev}:{found.st_ino}"


@contextmanager
def file_lock(path: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold ``path`` against all other processes and threads; ``on_wait`` is called if one of them has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:  # closing it ends the lock
        if not lock(file):
            on_wait()
            lock(file, wait=True)
        yield


def claim(path: Path) -> TextIO | None:
    """``path``, opened at its beginning and locked until it is closed or this process ends; None if another has it."""
    file = path.open("a+", encoding="utf-8")
    if not lock(file):
        file.close()
        return None
    file.seek(0)
    return file


T = TypeVar("T")
F = TypeVar("F", bound="_OnDisk")


class _OnDisk:
    """A context manager of a file in ``folder``."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        # Pickle is safe here: nobody else can open the file.
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 -- closed in close

    def __enter__(self: F) -> F:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back; what was in it is gone."""
        self._file.close()

    @contextmanager
    def _has_room(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(
                f"What is to be read does not fit into {self._folder} ({error.strerror}). Free some space there, or "
                "name another home folder."
            ) from error


class Spool(_OnDisk, Generic[T]):
    """Items in order. Nothing may be added while it is read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, item: T) -> None:
        """Append ``item``."""
        with self._has_room():
            pickle.dump(item, self._file, pickle.HIGHEST_PROTOCOL)
        self._length += 1

    def __iter__(self) -> Iterator[T]:
        with self._has_room():
            self._file.flush()
        self._file.seek(0)
        for _ in range(self._length):
            yield pickle.load(self._file)


_WAITING = 50_000
"""Rows that are held until they are written."""
_PARTS = [f"{number:02x}" for number in range(256)]


class Shards(_OnDisk):
    """Rows of several kinds, parted by their keys: what has the same key is in the same part, and a part fits into
    memory. Rows of a part come in the order in which they were added."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._places: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._waiting: defaultdict[str, defaultdict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
        self._held = 0
        self.size = 0
        """Bytes on disk."""

    def add(self, kind: str, rows: Sequence[dict[str, Any]], key: str, weight: int = 1) -> None:
        """Append ``rows``, parted by the first two digits of their ``key``. ``weight``: as how many one of them counts,
        where it is large."""
        waiting = self._waiting[kind]
        for row in rows:
            waiting[row[key][:2]].append(row)
        self._held += weight * len(rows)
        if self._held >= _WAITING:
            self._write()

    def parts(self, kind: str) -> Iterator[list[Any]]:
        """The rows of ``kind``: 256 lists, some of them empty, in the order of keys."""
        self._write()
        for part in _PARTS:
            rows: list[Any] = []
            for place in self._places[kind, part]:
                self._file.seek(place)
                rows += pickle.load(self._file)
            yield rows

    def _write(self) -> None:
        if not self._held:
            return
        with self._has_room():
            self._file.seek(self.size)
            for kind, parts in self._waiting.items():
                for part, rows in parts.items():
                    self._places[kind, part].append(self.size)
                    self.size += self._file.write(pickle.dumps(rows, pickle.HIGHEST_PROTOCOL))
            self._file.flush()
        self._waiting.clear()
        self._held = 0
