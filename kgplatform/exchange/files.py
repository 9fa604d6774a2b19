"""Which format a file has, and writing a file or a folder whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kgplatform.errors import InputError
from kgplatform.exchange.csv_folder import files_of
from kgplatform.text import did_you_mean

SUFFIXES = {"jsonl": ".jsonl", "graphml": ".graphml", "cypher": ".cypher", "csv": ""}
"""Of the formats. CSV is a folder."""
_BLOCK = 2**20


def chosen_format(path: Path, asked: str | None) -> str:
    """The format of ``path``: the one that was asked for, else by its suffix; a folder is CSV."""
    if asked is not None:
        if asked not in SUFFIXES:
            raise InputError(
                f"There is no format {asked!r}; there are {', '.join(SUFFIXES)}.{did_you_mean(asked, SUFFIXES)}"
            )
        return asked
    by_suffix = {suffix: name for name, suffix in SUFFIXES.items()}
    found = "csv" if path.is_dir() else by_suffix.get(path.suffix.lower())
    if found is None:
        raise InputError(
            f"The name {path.name} does not say the format: end it in .jsonl, .graphml or .cypher, or in nothing for a "
            "folder of CSV files, or give --format."
        )
    return found


@contextlib.contextmanager
def whole(target: Path, *, is_folder: bool) -> Iterator[Path]:
    """A folder beside ``target`` to work in. What then lies in it as ``made`` takes the place of ``target``.

    Whatever goes wrong, ``target`` stays as it was, and the folder is gone. Raises ``InputError`` where nothing can be
    written, or a folder is there already and is not empty.
    """
    if is_folder and target.is_dir() and any(target.iterdir()):
        raise InputError(f"{target} is not empty. Name a folder that is new, or empty.")
    if target.is_dir() != is_folder and target.exists():
        raise InputError(f"{target} is {'no' if is_folder else 'a'} folder. Name another place to export to.")
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name[:100]}.", dir=target.parent))
    except OSError as error:
        raise InputError(f"Nothing can be written into {target.parent}: {error.strerror or error}.") from error
    try:
        yield folder
        _flush(folder / "made")
        # A folder takes the place of an empty one, a file that of any file.
        (folder / "made").replace(target)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _flush(made: Path) -> None:
    """Its bytes are on the disk before it gets its name: a machine that stops leaves no half of it."""
    for path in sorted(made.iterdir()) if made.is_dir() else [made]:
        with path.open("rb") as stream:
            os.fsync(stream.fileno())


def digest_of(path: Path, format_: str) -> str:
    """SHA-256 over all that an import of ``path`` reads: the same for the same graph."""
    digest = hashlib.sha256(format_.encode())
    for each in files_of(path) if format_ == "csv" else [path]:
        with each.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()
