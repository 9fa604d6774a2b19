"""What is paid for is kept at once: a file of JSON lines that only grows, and that survives `kill -9` and a full disk.

    with Journal(folder / "answers.jsonl") as journal:
        done = {record["key"] for record in journal.records}
        journal.add({"key": key, "text": "…"})

One process at a time writes a journal (``evaluate`` locks its folder); threads may add at once.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgplatform.concurrency.files import claim, write_atomically
from kgplatform.concurrency.system import BINARY
from kgplatform.errors import InputError, KgError
from kgplatform.text import counted

if TYPE_CHECKING:
    from typing_extensions import Self

_LOCK = ".lock"
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Journal:
    """Records on disk, one a line, readable by the owner alone. ``noun`` is what one of them is called in sentences.

    ``records``: those that were there when it was opened, in their order. A last line that was not finished is cut
    off the file. ``faults``: a sentence for each earlier line that cannot be read; it is skipped, and stays in the
    file. Raises ``InputError`` where the file cannot be opened.
    """

    def __init__(self, path: Path, noun: str = "answer") -> None:
        self.path = path
        self.faults: tuple[str, ...] = ()
        self._noun = noun
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | BINARY, 0o600)
        except OSError as error:
            raise InputError(f"{path} cannot be opened: {error.strerror or error}.") from error
        try:
            self.records = self._read()
        except BaseException:  # whatever it is, the file is closed first
            self.close()
            raise
        self._kept = len(self.records)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take_in(self, use: Callable[[dict[str, Any]], object]) -> None:
        """Hand the records that were there to ``use``, in their order; one that it cannot use is a fault."""
        for record in self.records:
            try:
                use(record)
            except (AttributeError, KeyError, TypeError, ValueError):
                self.faults += (f"{self.path}: a line is not a {self._noun}; it is left out.",)

    def add(self, record: Mapping[str, Any]) -> None:
        """Write ``record`` and have it on the disk before this returns. Raises ``KgError`` where that fails."""
        line = json.dumps(record).encode() + b"\n"  # in ASCII: half a surrogate pair has no other form
        with self._lock:
            size = os.fstat(self._file).st_size
            try:
                if os.write(self._file, line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(self._file)
            except OSError as error:
                with suppress(OSError):  # where half a line stays, the next opening says so, or cuts it off
                    os.ftruncate(self._file, size)
                kept = f"{counted(self._kept, self._noun)} {'is' if self._kept == 1 else 'are'} kept"
                raise _unwritten(self.path, error, kept) from error
            self._kept += 1

    def close(self) -> None:
        """Close the file. A second time does nothing."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _read(self) -> list[dict[str, Any]]:
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        lines = content[:end].split(b"\n")[:-1]
        found: list[dict[str, Any] | None] = []
        for line in lines:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            found.append(record if isinstance(record, dict) else None)
        if found and found[-1] is None and lines[-1]:  # such as zeros, which a machine that lost its power leaves
            end -= len(lines.pop()) + 1
            found.pop()
        if end < len(content):
            os.ftruncate(self._file, end)
        self.faults = tuple(
            f"{self.path}, line {number}: this is not a valid {self._noun}; it is left out."
            for number, (line, record) in enumerate(zip(lines, found, strict=True), 1)
            if record is None and line
        )
        return [record for record in found if record is not None]


def write_whole(path: Path, content: bytes, *, mode: int = 0o600, kept: str = "All answers are kept") -> None:
    """Write ``content`` to ``path``: all of it, or the file is as it was; its folder is made if need be. Raises
    ``KgError`` where that fails, which says what is ``kept`` nevertheless."""
    try:
        path.parent.mkdir(mode=0o700 if mode == 0o600 else 0o777, parents=True, exist_ok=True)
        write_atomically(path, content, mode=mode)
    except OSError as error:
        raise _unwritten(path, error, kept) from error


def _unwritten(path: Path, error: OSError, kept: str) -> KgError:
    if error.errno in _NO_SPACE:
        why, what = f"No space is left for {path}", "free some space"
    else:
        why, what = f"{path} cannot be written: {error.strerror or error}", "fix that"
    return KgError(f"{why}. {kept}; {what} and run the same command again.")


def read_bytes(path: Path, what: str = "") -> bytes:
    """What is in a file. Raises ``InputError`` where it cannot be read; ``what`` says what it is: "The prices in"."""
    try:
        return path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{what} {path} cannot be read: {reason}.".lstrip()) from error


@contextmanager
def claimed(folder: Path, option: str = "out") -> Iterator[None]:
    """``folder``, made if need be, for this process alone; free again when it ends, however it ends. Raises
    ``InputError`` where another has it, or where it cannot be made; ``option`` names another folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = claim(folder / _LOCK)
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be used: {error.strerror or error}.") from error
    if file is None:
        raise InputError(
            f"Another evaluation is using {folder}. Wait for its end, or choose another {option}=FOLDER.", option
        )
    with file:
        yield
