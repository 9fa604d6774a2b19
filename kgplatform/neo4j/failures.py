"""The errors of Neo4j and of its driver, in our words."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from neo4j import exceptions as driver_errors

from kgplatform.errors import InputError, ServerError, StatementError, StoreError

_PANIC = re.compile(r"needs to be restarted|Could not append transaction|TransactionLogError")
_DISK = re.compile(r"No space left on device|Disk quota exceeded|not enough space|Read-only file system")


def has_panicked(error: Exception) -> bool:
    """Whether ``error`` says that the database has stopped working: after an error of its disk Neo4j refuses all work
    until it is started again, a panic in its own words."""
    return bool(_PANIC.search(str(error)))


def trouble_of(error: Exception) -> ServerError | None:
    """What ``error``, the driver's, says of the server itself, worded for people; None if it is about the statement."""
    code = str(getattr(error, "code", ""))
    if "ReadOnly" in code:
        return ServerError(
            "The database is read-only. Allow writing (`server.databases.read_only`, or `ALTER DATABASE`), then run "
            "the same command again."
        )
    if code.startswith("Neo.ClientError"):
        return None
    if has_panicked(error):
        return ServerError(
            "The database has stopped working, most likely because its disk is full or cannot be written. Free some "
            "space there, then run the same command again: it restarts the managed server (restart any other "
            "yourself). What was finished is kept."
        )
    if _DISK.search(str(error)):
        return ServerError(
            "The disk of the database is full, or cannot be written. Free some space there, then run the same command "
            "again: what was finished is kept."
        )
    if code.endswith("DatabaseUnavailable"):
        return ServerError(
            "The database is closed. If its server is not still starting, run `kgplatform down`, then the same "
            "command again to see the reason (for your own server, see its log)."
        )
    return None


_TIMED_OUT = ("TransactionTimedOut", "TransactionTimedOutClientConfiguration")
_TOO_LARGE = ("MemoryPoolOutOfMemoryError", "TransactionOutOfMemoryError")
GONE = (driver_errors.ServiceUnavailable, driver_errors.SessionExpired)
"""What is raised where the server does not answer."""


@contextlib.contextmanager
def translated(doing: str) -> Iterator[None]:
    """The driver's errors inside of it are raised as ours, which say what was done (``doing``)."""
    try:
        yield
    except driver_errors.AuthError as error:
        raise ServerError(
            "The database refused the user name or password. Check NEO4J_USERNAME and NEO4J_PASSWORD."
        ) from error
    except GONE as error:
        raise ServerError(
            f"The database does not answer ({doing}): {_first_line(error).rstrip(' :.')}. "
            "Check that it runs, and that NEO4J_URI is its address."
        ) from error
    except driver_errors.Neo4jError as error:
        raise _in_words(error, doing) from error
    except driver_errors.ConfigurationError as error:
        raise ServerError(f"NEO4J_URI cannot be used: {_first_line(error)}") from error
    except driver_errors.DriverError as error:
        raise trouble_of(error) or StoreError(f"Neo4j failed at {doing}: {_first_line(error)}") from error
    except (OverflowError, UnicodeEncodeError) as error:  # from the driver, as it sends
        raise InputError("A parameter has a number or a character that Neo4j cannot hold.") from error


def _in_words(error: driver_errors.Neo4jError, doing: str) -> StoreError:
    kind = (error.code or "").rpartition(".")[2]
    if kind in _TIMED_OUT:
        return StatementError(f"Neo4j stopped {doing} at its timeout: request less at once, or allow more time.")
    if kind in _TOO_LARGE:
        return StatementError(
            f"Neo4j stopped {doing}: it needs more memory than allowed. Request less at once, with LIMIT."
        )
    if kind == "DatabaseNotFound":
        return ServerError(f"Unknown database ({message_of(error)}). Check NEO4J_DATABASE.")
    if trouble := trouble_of(error):
        return trouble
    if isinstance(error, driver_errors.ClientError):
        return StatementError(f"Neo4j cannot run {doing}: {message_of(error)}")
    return StoreError(f"Neo4j failed at {doing}: {_first_line(error)}")


def message_of(error: driver_errors.Neo4jError) -> str:
    """What the server says."""
    return (error.message or str(error)).strip()


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
