"""The program files of the managed Neo4j: fetched once into one folder that all homes share.

The lock file beside this module names every jar.
"""

from __future__ import annotations

from pathlib import Path

from kgplatform.concurrency.maven import FetchError, Jar, Report, fetch, read_lock
from kgplatform.errors import ServerError

VERSION = "5.26.30"
_LOCK_FILE = Path(__file__).with_name(f"neo4j-{VERSION}.lock")


def locked_jars() -> list[Jar]:
    """Every jar of the server, in the order of the class path."""
    return read_lock(_LOCK_FILE)


def install(folder: Path, report: Report, *, recheck: bool = False, only: str = "") -> list[Path]:
    """Make sure that every jar, or that of the artifact ``only``, lies whole in ``folder``; return them in the order of
    the class path.

    ``recheck`` reads every file again even if nothing seems to have changed. Raises ``ServerError``.
    """
    jars = [jar for jar in locked_jars() if only in ("", jar.artifact)]
    try:
        return fetch(folder, jars, f"Neo4j {VERSION}", report, recheck=recheck)
    except FetchError as error:
        raise ServerError(str(error)) from error
