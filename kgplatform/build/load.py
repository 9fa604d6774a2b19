"""Files and folders into documents, one at a time; what cannot be read is reported and the rest goes on."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path

from kgplatform.build.content import HEAD_BYTES, foreign_format, is_html, is_ole, is_pdf, is_zip, refuse_binary
from kgplatform.build.corpus import Found, Item, read_json, read_jsonl
from kgplatform.build.formats import (
    Reading,
    clean,
    read_docx,
    read_html,
    read_markdown,
    read_pdf,
    read_text,
    refuse_ole,
)
from kgplatform.errors import DocumentError
from kgplatform.records import Document, SkippedFile
from kgplatform.text import node_id, tidy

_Reader = Callable[[str, BufferedReader], Reading]
_CorpusReader = Callable[[str, BufferedReader], Iterator[Found]]

_READERS: dict[str, _Reader] = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), read_markdown),
    **dict.fromkeys((".html", ".htm", ".xhtml"), read_html),
}
_CORPUS_READERS: dict[str, _CorpusReader] = {".json": read_json, ".jsonl": read_jsonl, ".ndjson": read_jsonl}
# Names that promise a binary format: where the bytes are not of it, the file is damaged, and no text.
_PROMISES = {".pdf": "PDF", ".docx": "DOCX", ".doc": "Word", ".pptx": "PowerPoint", ".xlsx": "Excel", ".epub": "EPUB"}
_WORD_GAPS = re.compile(r"_+|(?<=[^\W\d_])[-+]+(?=[^\W\d_])")


def find_files(paths: Sequence[str | Path]) -> list[Path]:
    """The files that ``paths`` name, and those in the folders that they name, sorted and each once.

    Hidden files and folders are left out unless named themselves; a folder that links lead to again is entered once.
    Folders that cannot be opened are among the result, so that ``load`` reports them. Raises ``DocumentError`` for a
    path that does not exist.
    """
    found: set[Path] = set()
    entered: set[str] = set()
    for given in [paths] if isinstance(paths, (str, Path)) else paths:
        path = _absolute(Path(given).expanduser())
        try:
            is_folder = stat.S_ISDIR(path.lstat().st_mode) or path.is_dir()
        except (OSError, ValueError) as error:
            denied = isinstance(error, PermissionError)
            raise DocumentError(str(given), "permission denied" if denied else "no such file or folder") from error
        found.update(_walk(path, entered) if is_folder else [path])
    return sorted(found)


def _absolute(path: Path) -> Path:
    """``path`` from the root, links kept as they are; ``..`` after a link only the file system can resolve."""
    return path.resolve() if ".." in path.parts else path.absolute()


def _walk(folder: Path, entered: set[str]) -> Iterator[Path]:
    unopened: list[Path] = []
    walk = os.walk(folder, onerror=lambda error: unopened.append(Path(error.filename)), followlinks=True)
    for place, folders, files in walk:
        real = os.path.realpath(place)
        if real in entered:
            folders.clear()
            continue
        entered.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in files if not name.startswith("."))
    yield from unopened


def load(paths: Sequence[str | Path]) -> Iterator[Document | SkippedFile]:
    """The documents in ``paths``, read one file at a time in sorted order.

    A file, or a page, item or line of one, that cannot be used is a ``SkippedFile``. A file with some bad pages gives
    both: the document and a ``SkippedFile`` for each page that it lacks. Raises ``DocumentError`` at once for a path
    that does not exist.
    """
    files = find_files(paths)
    return (result for path in files for result in _load_file(path))


def _load_file(path: Path) -> Iterator[Document | SkippedFile]:
    shown = os.fsencode(path).decode("utf-8", "replace")
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
            raise DocumentError(shown, "not a regular file")
        with path.open("rb") as stream:
            yield from _read(path, shown, stream)
    except DocumentError as error:
        yield SkippedFile(shown, error.reason)
    except FileNotFoundError:
        yield SkippedFile(shown, "a link to a file that does not exist" if path.is_symlink() else "no longer there")
    except OSError as error:
        yield SkippedFile(shown, f"cannot be read: {(error.strerror or 'unknown error').lower()}")


def _read(path: Path, shown: str, stream: BufferedReader) -> Iterator[Document | SkippedFile]:
    head, suffix = stream.peek()[:HEAD_BYTES], path.suffix.lower()
    if not head:
        raise DocumentError(shown, "empty file")
    reader = _reader(shown, head, suffix)
    if reader is read_text and suffix in _CORPUS_READERS:
        yield from _members(path, shown, _CORPUS_READERS[suffix](shown, stream))
        return
    reading = reader(shown, stream)
    if not reading.text.strip():
        raise DocumentError(shown, "has no text, only white space" if reader is read_text else "has no readable text")
    source = path.as_uri()
    yield _document(_name(reading.title) or _readable_stem(path), source, source, reading)
    yield from (SkippedFile(shown, fault) for fault in reading.faults)


def _reader(shown: str, head: bytes, suffix: str) -> _Reader:
    """The reader for what ``head`` starts. Raises ``DocumentError`` for what no reader can use."""
    if is_pdf(head, suffix):
        return read_pdf
    if is_zip(head):
        return read_docx
    if is_ole(head):
        return refuse_ole
    if noun := foreign_format(head):
        raise DocumentError(shown, f"format not supported: {noun}")
    if suffix in _PROMISES:
        raise DocumentError(shown, f"damaged, or not a {_PROMISES[suffix]} file at all: save it again from its program")
    refuse_binary(shown, head)
    if is_html(head) and suffix not in _CORPUS_READERS:
        return read_html
    return _READERS.get(suffix, read_text)


def _members(path: Path, shown: str, items: Iterator[Found]) -> Iterator[Document | SkippedFile]:
    source, stem = path.as_uri(), _readable_stem(path)
    for item in items:
        if isinstance(item, Item):
            name = item.title or f"{stem} {item.number}"
            yield _document(name, f"{source}#{item.fragment}", source, Reading(item.text))
        else:
            yield SkippedFile(shown, item)


def _document(name: str, uri: str, source: str, reading: Reading) -> Document:
    digest = hashlib.sha256(reading.text.encode()).hexdigest()
    return Document(node_id("document", uri), name, uri, source, reading.text, digest, reading.pages)


def _name(title: str | None) -> str:
    return tidy(clean(title or ""))


def _readable_stem(path: Path) -> str:
    """The file's name without its suffix, as words: ``annual_report-2020.txt`` is "annual report-2020"."""
    stem = os.fsencode(path.stem).decode("utf-8", "replace")
    return tidy(_WORD_GAPS.sub(" ", stem)) or stem
