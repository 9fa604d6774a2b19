"""Files that are gone, whose documents the graph still has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kgplatform.concurrency.system import path_of
from kgplatform.errors import InputError
from kgplatform.ingest.write import remove
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import GoneFile, Progress
from kgplatform.sources.load import named_folders

_COPIES = 100
"""Files with one text, the first by name, among which the likeliest new name is looked for."""


def check_prune(store: Store, paths: Sequence[str | Path]) -> None:
    """Raise ``InputError`` where a folder has no file at all, but the graph has documents of it.

    More often than not its disk is not mounted, and what a model read of them was paid for.
    """
    for folder, is_empty in named_folders(paths):
        if is_empty and store.read("ingest/files_beneath", folder=_beneath(folder)):
            raise InputError(
                f"{folder} has no files, but the graph has documents from it. To remove them, run `kgplatform remove "
                f"{folder}`."
            )


def gone_files(store: Store, paths: Sequence[str | Path], *, prune: bool, progress: Progress) -> list[GoneFile]:
    """The files beneath the folders of ``paths`` that are gone; with ``prune``, their documents are removed."""
    rows = _gone(store, paths)
    sources = [row["source"] for row in rows]
    texts = {row["sha256"] for row in rows}
    asked = {"texts": sorted(texts), "gone": sources, "most": _COPIES}
    same = store.read("ingest/files_with_texts", **asked) if rows else []
    elsewhere = {row["sha256"]: row["sources"] for row in same}
    for number, source in enumerate(sources if prune else (), start=1):
        documents = store.read("ingest/documents_of_file", source=source)
        ids = [row["id"] for row in documents]
        remove(store, [passage for row in documents for passage in row["passages"]], ids, ids)
        progress("removing files that are gone", number, len(sources))
    return [
        GoneFile(
            _shown(row["source"]),
            row["documents"],
            _nearest(row["source"], elsewhere.get(row["sha256"], ())),
            removed=prune,
        )
        for row in rows
    ]


def _nearest(gone: str, sources: Sequence[str]) -> str | None:
    """Of the files with the same text that which changed last beside the one that is gone: it was renamed, mostly."""

    def near(source: str) -> tuple[int, float]:
        shared = os.path.commonprefix([source, gone]).rpartition("/")[0]
        try:
            return len(shared), path_of(source).stat().st_ctime
        except OSError:
            return len(shared), 0.0

    return _shown(max(sources, key=near)) if sources else None


def _gone(store: Store, paths: Sequence[str | Path]) -> list[Row]:
    folders = [folder for folder, _ in named_folders(paths)]
    known = {row["source"] for folder in folders for row in store.read("ingest/files_beneath", folder=_beneath(folder))}
    gone = sorted(source for source in known if _is_gone(source))
    return sorted(store.read("ingest/gone_files", sources=gone), key=lambda row: str(row["source"])) if gone else []


def _beneath(folder: Path) -> str:
    return folder.as_uri().rstrip("/") + "/"


def _shown(source: str) -> str:
    return os.fsencode(path_of(source)).decode("utf-8", "replace")


def _is_gone(source: str) -> bool:
    """Where a folder cannot be entered, or a server does not answer, nobody knows."""
    try:
        path_of(source).stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
