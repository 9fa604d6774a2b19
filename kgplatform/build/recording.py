"""Which files are ingested with which recording: an open-IE file holds its passages too, and may stand for both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kgplatform.build.extract import Extractor
from kgplatform.build.extract.recorded_file import is_open_ie
from kgplatform.errors import InputError


def with_recording(
    paths: str | Path | Sequence[str | Path], recorded: str | Path | None, extractor: str | Extractor | None
) -> tuple[list[str | Path], str | Path | None]:
    """The files to ingest and their recording; each stands for the other where one open-IE file is all there is."""
    files = [paths] if isinstance(paths, str | Path) else list(paths)
    if recorded is not None and not files:
        if not is_open_ie(Path(recorded)) and Path(recorded).is_file():
            raise InputError(f"{recorded} records what other files say. Name those files too.")
        return [recorded], recorded
    if recorded is None and extractor in (None, "recorded") and len(files) == 1 and is_open_ie(Path(files[0])):
        return files, files[0]
    return files, recorded
