"""Writing a file of JSON lines: all of it, or the file is as it was."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from kgplatform.errors import InputError
from kgplatform.evaluate.question import DataSet


def write_corpus(dataset: DataSet, file: Path) -> Path:
    """Write the corpus of ``dataset`` for ``ingest``, an object with title and text a line; returns ``file``.

    The file is written whole or not at all. Raises ``InputError`` where that fails.
    """
    return write_lines(file, ({"title": each.title, "text": each.text} for each in dataset.corpus))


def write_lines(file: Path, values: Iterable[dict[str, Any]]) -> Path:
    """Write one JSON object a line. Raises ``InputError`` where that fails."""
    temporary = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=file.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            for each in values:
                stream.write(json.dumps(each, ensure_ascii=False) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(file)
    except OSError as error:
        with suppress(OSError):
            Path(temporary).unlink()
        raise InputError(f"{file} cannot be written: {(error.strerror or str(error)).lower()}.") from error
    return file
