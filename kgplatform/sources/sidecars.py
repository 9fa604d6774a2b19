"""Metadata beside what they are of: ``NAME.meta.yaml`` next to a file or a folder NAME; a folder's are of all below it.

What is said of the file itself comes before what it says in its own text, and that before what is said of its folders,
the nearest first.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from kgplatform.concurrency.system import path_of
from kgplatform.errors import DocumentError
from kgplatform.records import Document, MetadataValue, SkippedFile
from kgplatform.sources.decode import decode
from kgplatform.sources.files.plain import said_in

ENDINGS = (".meta.yaml", ".meta.yml")
_LARGEST = 1_000_000
_FOLDERS = 1024
"""Whose metadata are kept at hand."""

Said = tuple[str, Mapping[str, MetadataValue]]
"""A title, or "", and metadata."""


def described(items: Iterable[Document | SkippedFile]) -> Iterator[Document | SkippedFile]:
    """``items`` with what stands beside the files of documents. What of that cannot be read is told once."""
    faults: list[SkippedFile] = []

    @lru_cache(_FOLDERS)
    def named(folder: Path) -> frozenset[str]:
        try:
            return frozenset(each.name for each in folder.iterdir() if each.name.endswith(ENDINGS))
        except OSError:
            return frozenset()

    @lru_cache(_FOLDERS)
    def beside(path: Path) -> Said:
        ending = next((each for each in ENDINGS if path.name + each in named(path.parent)), None)
        if ending is None:
            return "", {}
        file = path.with_name(path.name + ending)
        shown = os.fsencode(file).decode("utf-8", "replace")
        try:
            about = file.stat()
            if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST:
                raise DocumentError(shown, f"is no file of at most {_LARGEST:,} bytes: no metadata are read from it")
            title, metadata, wrong = said_in(decode(shown, file.read_bytes()).text, "it", 1)
        except OSError as error:
            title, metadata, wrong = "", {}, (f"cannot be read: {(error.strerror or 'unknown error').lower()}",)
        except DocumentError as error:
            title, metadata, wrong = "", {}, (error.reason,)
        faults.extend(SkippedFile(shown, fault, in_part=True) for fault in wrong)
        return title, metadata

    @lru_cache(_FOLDERS)
    def of_folders(folder: Path) -> Mapping[str, MetadataValue]:
        return {**of_folders(folder.parent), **beside(folder)[1]} if folder.name else {}

    for item in items:
        if isinstance(item, Document) and item.source.startswith("file:"):
            path = path_of(item.source)
            (title, own), around = beside(path), of_folders(path.parent)
            yield from faults
            faults.clear()
            if title or own or around:
                # A title is that of the one document that a file is, not of each item of a list.
                name = title if title and item.uri == item.source else item.title
                metadata = {**around, **item.metadata, **own}
                item = replace(item, title=name, metadata=dict(sorted(metadata.items())))
        yield item
