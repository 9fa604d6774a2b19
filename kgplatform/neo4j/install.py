"""The program files of the managed Neo4j: fetched once into one folder that all homes share.

The lock file beside this module names every jar. ``complete.json`` in the folder lists the size and the time of every
jar that was checked; while it agrees with the files, nothing is read or fetched again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kgplatform.concurrency.files import write_atomically
from kgplatform.concurrency.maven import FetchError, Jar, Report, alone_in, fetch_all, fetch_one, is_whole, read_lock
from kgplatform.errors import ServerError

VERSION = "5.26.30"
_WHAT = f"Neo4j {VERSION}"
_LOCK_FILE = Path(__file__).with_name(f"neo4j-{VERSION}.lock")


def locked_jars() -> list[Jar]:
    """Every jar of the server, in the order of the class path."""
    return read_lock(_LOCK_FILE)


def install(folder: Path, report: Report, *, recheck: bool = False) -> list[Path]:
    """Make sure that every jar lies whole in ``folder``; return them in the order of the class path.

    ``recheck`` reads every file again even if nothing seems to have changed. Raises ``ServerError``.
    """
    jars = locked_jars()
    if recheck or not _unchanged(folder, jars):
        with _server_errors(), alone_in(folder, _WHAT, report):
            if recheck or not _unchanged(folder, jars):
                _complete(folder, jars, report)
    return [folder / jar.path for jar in jars]


def install_one(folder: Path, artifact: str, report: Report) -> Path:
    """Make sure that the one jar of ``artifact`` lies whole in ``folder``, and return it. Raises ``ServerError``."""
    jar = next(each for each in locked_jars() if each.artifact == artifact)
    with _server_errors():
        return fetch_one(folder, jar, _WHAT, report)


@contextmanager
def _server_errors() -> Iterator[None]:
    try:
        yield
    except FetchError as error:
        raise ServerError(str(error)) from error


def _marks(folder: Path, jars: list[Jar]) -> dict[str, list[int]]:
    """Size and time of change, in whole seconds (image layers keep no finer ones), of every jar that is there."""
    marks = {}
    for jar in jars:
        with suppress(FileNotFoundError):
            stat = (folder / jar.path).stat()
            marks[jar.path] = [stat.st_size, int(stat.st_mtime)]
    return marks


def _unchanged(folder: Path, jars: list[Jar]) -> bool:
    try:
        known = json.loads((folder / "complete.json").read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    return bool(known == _marks(folder, jars)) and len(known) == len(jars)


def _complete(folder: Path, jars: list[Jar], report: Report) -> None:
    wanting = [jar for jar in jars if not is_whole(folder / jar.path, jar)]
    if wanting:
        fetch_all(folder, wanting, _WHAT, report)
    manifest = json.dumps(_marks(folder, jars), indent=0).encode()
    write_atomically(folder / "complete.json", manifest, mode=0o644)
