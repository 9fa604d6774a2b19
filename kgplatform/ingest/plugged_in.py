"""Loaders of other packages: a function for a suffix, from a file's name and its open stream to its text."""

from __future__ import annotations

from collections.abc import Callable
from io import BufferedReader

from kgplatform.errors import DocumentError, SettingError
from kgplatform.ingest.files.file_text import FileText, clean
from kgplatform.work import plug_ins


def loader_of(suffix: str) -> Callable[[str, BufferedReader], FileText]:
    """What reads files with that ``suffix`` (".rst"). It raises ``DocumentError`` for one that it cannot read, and for
    all of them where the package that adds it is broken."""

    def read(path: str, stream: BufferedReader) -> FileText:
        try:
            found = plug_ins.load("loader", suffix)(path, stream)
        except DocumentError:
            raise
        except SettingError as error:
            raise DocumentError(path, str(error).rstrip(".")) from error
        except Exception as error:  # other people's code raises anything at all
            raise DocumentError(path, str(plug_ins.broken("loader", suffix, error)).rstrip(".")) from error
        if isinstance(found, str):
            return FileText(clean(found))
        if not isinstance(found, FileText):
            raise DocumentError(path, f"the loader {suffix} gave a {type(found).__name__} and not a text")
        return FileText(clean(found.text), found.title, found.locations, found.faults, found.metadata)

    return read
