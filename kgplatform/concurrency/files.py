"""Files that are written whole or not at all, and locks on files that end with the process that holds them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from kgplatform.concurrency.system import BINARY, lock


def write_atomically(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Write ``content`` to ``path`` so that whoever reads it sees all of it, or the file as it was.

    Raises ``OSError``. By default nobody but the owner can read the file.
    """
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
