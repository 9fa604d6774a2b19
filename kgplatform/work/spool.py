"""A list on disk, for what is too long for memory.

with Spool(folder) as spool:
    spool.add(item)
    for item in spool: …
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

from kgplatform.errors import InputError

T = TypeVar("T")


class Spool(Generic[T]):
    """Items in order, in a file without a name: it is gone with this process, however that ends.

    Not thread-safe; nothing may be added while it is read. Raises ``InputError`` if the disk is full.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        # Pickle is safe here: nobody else can open the file.
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 -- closed in close
        self._length = 0

    def __enter__(self) -> Spool[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._length

    def close(self) -> None:
        """Give the file back; what was in it is gone."""
        self._file.close()

    def add(self, item: T) -> None:
        """Append ``item``."""
        try:
            pickle.dump(item, self._file, pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            raise self._full(error) from error
        self._length += 1

    def __iter__(self) -> Iterator[T]:
        try:
            self._file.flush()
        except OSError as error:
            raise self._full(error) from error
        self._file.seek(0)
        for _ in range(self._length):
            yield pickle.load(self._file)

    def _full(self, error: OSError) -> InputError:
        return InputError(
            f"What is to be read does not fit into {self._folder} ({error.strerror}). Free some space there, or name "
            "another home folder."
        )
