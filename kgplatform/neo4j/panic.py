"""A server that lives but cannot work: what it says then, and what people can do about it.

After an error of its disk Neo4j refuses all work until it is started again, a panic in its own words.
"""

from __future__ import annotations

import re

from kgplatform.errors import ServerError

_PANIC = re.compile(r"needs to be restarted|Could not append transaction|TransactionLogError")
_DISK = re.compile(r"No space left on device|Disk quota exceeded|not enough space|Read-only file system")


def has_panicked(error: Exception) -> bool:
    """Whether ``error`` says that the database has stopped working."""
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
