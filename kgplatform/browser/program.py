"""Neo4j Browser's own files, read out of the jar that Neo4j distributes it in. Nothing is unpacked."""

from __future__ import annotations

import mimetypes
import zipfile
from collections.abc import Callable
from pathlib import Path

from kgplatform.errors import ServerError
from kgplatform.neo4j_install import install_one
from kgplatform.settings import Settings

_INSIDE = "browser/"
_TYPES = {".js": "text/javascript", ".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf"}


class BrowserProgram:
    """The files, by their paths below the Browser's address. Reading is safe from several threads."""

    def __init__(self, jar: Path) -> None:
        try:
            self._jar = zipfile.ZipFile(jar)
        except (OSError, zipfile.BadZipFile) as error:
            raise ServerError(f"Neo4j Browser cannot be read from {jar}: {error}.") from error
        self._names = frozenset(self._jar.namelist())

    def close(self) -> None:
        """Close the jar."""
        self._jar.close()

    def read(self, path: str) -> bytes | None:
        """The file at ``path``, such as ``index.html``; None if there is none."""
        name = _INSIDE + path
        return self._jar.read(name) if name in self._names and not name.endswith("/") else None


def media_type(path: str) -> str:
    """What a web browser is told about the file."""
    return _TYPES.get(Path(path).suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"


def open_program(settings: Settings, report: Callable[[str], None]) -> BrowserProgram:
    """Neo4j Browser as it comes with the managed server, fetched if that was never installed here."""
    return BrowserProgram(install_one(settings.jar_folder, "neo4j-browser", report))
