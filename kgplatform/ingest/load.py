"""Files and folders into documents, one at a time; what cannot be read is reported, and the rest is read.

A JSON or JSONL file holds many documents: a list of ``{"title", "text"}`` objects, one such object, a list of
``{"corpus_name", "context"}``, and open-IE recordings, whose items have ``extracted_…`` too. In JSONL each line is one.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import os
import re
import stat
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kgplatform.errors import DocumentError, InputError
from kgplatform.ingest.decode import (
    HEAD_BYTES,
    decode,
    foreign_format,
    is_html,
    is_json_object,
    is_ole,
    is_pdf,
    is_zip,
    refuse_binary,
)
from kgplatform.ingest.formats import (
    FileText,
    clean,
    read_docx,
    read_html,
    read_markdown,
    read_notebook,
    read_pdf,
    read_text,
    refuse_ole,
)
from kgplatform.records import Document, SkippedFile
from kgplatform.text import LONGEST_NAME, clipped, node_id, tidy
from kgplatform.work.bounded import BoundedCalls, ExceededError

_Reader = Callable[[str, BufferedReader], FileText]

_READERS: dict[str, _Reader] = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), read_markdown),
    **dict.fromkeys((".html", ".htm", ".xhtml"), read_html),
    ".ipynb": read_notebook,
}
PARSED = frozenset((".pdf", ".docx", *_READERS))
"""Suffixes of files that take a processor; text and JSON take a disk."""
HARMLESS_BYTES = 4_000_000
"""Up to so many bytes of plain text or JSON are read here: what reads them takes a time and a memory in proportion to
them, whatever they say, and less than a child costs. All else is parsed within bounds.
"""
# Names that promise a binary format: where the bytes are not of it, the file is damaged, and no text.
_PROMISES = {".pdf": "PDF", ".docx": "DOCX", ".doc": "Word", ".pptx": "PowerPoint", ".xlsx": "Excel", ".epub": "EPUB"}
WORD_GAPS = re.compile(r"_+|(?<=[^\W\d_])[-+]+(?=[^\W\d_])")
"""What stands between the words of a file's name."""


class CutShort(SkippedFile):
    """A file whose first documents were read, and whose rest was not: what the graph has of it stays."""


def find_files(paths: Sequence[str | Path]) -> Iterator[Path]:
    """The files that ``paths`` name, and those in the folders that they name, sorted and each once.

    Hidden files and folders are left out unless named themselves; a folder that links lead to again is entered once.
    Folders that cannot be opened are among the result, so that ``load`` reports them. Raises ``DocumentError`` at once
    for a path that does not exist.
    """
    entered: set[str] = set()
    given = [_path(each) for each in ([paths] if isinstance(paths, (str, Path)) else paths)]
    walks = [_walk(path, entered) if is_folder else iter([path]) for path, is_folder in given]
    return (path for path, _ in groupby(heapq.merge(*walks)))


def named_folders(paths: Sequence[str | Path]) -> Iterator[tuple[Path, bool]]:
    """The folders among ``paths``, each with whether there is no file in it."""
    folders = (path for path, is_folder in map(_path, paths) if is_folder)
    return ((folder, next(_walk(folder, set()), None) is None) for folder in folders)


def _path(given: str | Path) -> tuple[Path, bool]:
    """``given`` from the root, and whether it is a folder."""
    if isinstance(given, str) and not given.strip():
        raise InputError("A path is empty. Name a file or a folder; `.` is the one that you are in.")
    path = Path(given).expanduser()
    # Links are kept as they are; ``..`` after a link only the file system can resolve.
    path = path.resolve() if ".." in path.parts else path.absolute()
    try:
        return path, stat.S_ISDIR(path.lstat().st_mode) or path.is_dir()
    except (OSError, ValueError) as error:
        denied = isinstance(error, PermissionError)
        raise DocumentError(str(given), "permission denied" if denied else "no such file or folder") from error


def _walk(folder: Path, entered: set[str]) -> Iterator[Path]:
    """The files below ``folder``, in the order of paths. The names in one folder are held, and those in its parents."""
    open_folders = [_entries(folder, entered)]
    while open_folders:
        path, is_folder = next(open_folders[-1], (None, False))
        if path is None:
            open_folders.pop()
        elif is_folder:
            open_folders.append(_entries(path, entered))
        else:
            yield path


def _entries(folder: Path, entered: set[str]) -> Iterator[tuple[Path | None, bool]]:
    """What is in ``folder`` and whether it is a folder; the folder itself, as a file, if it cannot be opened."""
    real = os.path.realpath(folder)
    if real in entered:
        return
    entered.add(real)
    try:
        with os.scandir(folder) as found:
            entries = sorted((each.name, each.is_dir()) for each in found if not each.name.startswith("."))
    except OSError:
        yield folder, False
        return
    for name, is_folder in entries:
        yield folder / name, is_folder


def load(paths: Sequence[str | Path], calls: BoundedCalls | None = None) -> Iterator[Document | SkippedFile]:
    """The documents in ``paths``, read one file at a time in sorted order.

    A file, or a page, item or line of one, that cannot be used is a ``SkippedFile``. A file with some bad pages gives
    both: the document and a ``SkippedFile`` for each page that it lacks. ``calls``: parse within their bounds what is
    not harmless. Raises ``DocumentError`` at once for a path that does not exist.
    """
    files = find_files(paths)
    return (result for path in files for result in load_file(path, calls=calls))


def load_file(
    path: Path, content: bytes | None = None, calls: BoundedCalls | None = None
) -> Iterator[Document | SkippedFile]:
    """What ``load`` gives of one file. ``content``: what it holds, where the file itself is out of reach."""
    shown = os.fsencode(path).decode("utf-8", "replace")
    try:
        size = _size(path, shown) if content is None else len(content)
        with path.open("rb") if content is None else _stream(content) as stream:
            head, suffix = stream.peek()[:HEAD_BYTES], path.suffix.lower()
            reader = _reader(shown, head, suffix)
            read_members = _CORPUS_READERS.get(suffix) if reader is read_text else None
            is_small = size <= HARMLESS_BYTES or (read_members is read_jsonl and _has_lines(head))
            if calls is None or (reader is read_text and is_small):
                if read_members is not None:
                    yield from _members(path, shown, read_members(shown, stream, calls))
                else:
                    yield from _whole(path, shown, reader(shown, stream))
                return
        yield from _bounded(calls, path, content, shown)
    except DocumentError as error:
        yield SkippedFile(shown, error.reason)
    except FileNotFoundError:
        yield SkippedFile(shown, "a link to a file that does not exist" if path.is_symlink() else "no longer there")
    except OSError as error:
        yield SkippedFile(shown, f"cannot be read: {(error.strerror or 'unknown error').lower()}")


def _size(path: Path, shown: str) -> int:
    found = path.stat()
    if not stat.S_ISREG(found.st_mode) and not path.is_dir():
        raise DocumentError(shown, "not a regular file")
    return found.st_size


def _bounded(calls: BoundedCalls, path: Path, content: bytes | None, shown: str) -> Iterator[Document | SkippedFile]:
    """What ``load_file`` gives within the bounds of ``calls``, and which of them it went beyond."""
    has_documents = False
    try:
        for found in calls.each(load_file, path, content):
            has_documents |= isinstance(found, Document)
            yield found
    except ExceededError as error:
        reason = _beyond(error, calls)
        yield CutShort(shown, f"the rest of it {reason}") if has_documents else SkippedFile(shown, reason)


def _beyond(error: ExceededError, calls: BoundedCalls) -> str:
    if error.bound == "seconds":
        return f"takes more than {calls.seconds:g} s to parse: raise KGPLATFORM_FILE_SECONDS to read it"
    if error.bound == "memory":
        return f"takes more than {calls.megabytes:,} MB of memory to parse: raise KGPLATFORM_FILE_MEMORY to read it"
    return f"crashed its parser ({error.signal}): save it again from its program, or as plain text"


def _whole(path: Path, shown: str, reading: FileText) -> Iterator[Document | SkippedFile]:
    if not reading.text.strip():
        raise DocumentError(shown, "has no readable text")
    source = path.as_uri()
    yield _document(_name(reading.title) or _readable_stem(path), source, source, reading)
    yield from (SkippedFile(shown, fault) for fault in reading.faults)


def _stream(content: bytes) -> BufferedReader:
    raw: Any = BytesIO(content)  # typeshed wants a stream of files
    return BufferedReader(raw)


def _reader(shown: str, head: bytes, suffix: str) -> _Reader:
    """The reader for what ``head`` starts. Raises ``DocumentError`` for what no reader can use."""
    if not head:
        raise DocumentError(shown, "empty file")
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


def _members(path: Path, shown: str, items: Iterator[ItemOrFault]) -> Iterator[Document | SkippedFile]:
    source, stem = path.as_uri(), _readable_stem(path)
    for item in items:
        if isinstance(item, CorpusItem):
            name = item.title or f"{stem} {item.number}"
            yield _document(name, f"{source}#{item.fragment}", source, FileText(item.text))
        else:
            yield SkippedFile(shown, item)


def _document(name: str, uri: str, source: str, reading: FileText) -> Document:
    digest = hashlib.sha256(reading.text.encode()).hexdigest()
    return Document(node_id("document", uri), name, uri, source, reading.text, digest, reading.pages)


def _name(title: str | None) -> str:
    """``title`` as a name: of a whole text between the marks of a title it is the beginning."""
    return clipped(tidy(clean(title or "")), LONGEST_NAME)


def _readable_stem(path: Path) -> str:
    """The file's name without its suffix, as words: ``annual_report-2020.txt`` is "annual report-2020"."""
    stem = os.fsencode(path.stem).decode("utf-8", "replace")
    return tidy(WORD_GAPS.sub(" ", stem)) or stem


_TEXT_KEYS = ("text", "context")
_TITLE_KEYS = ("title", "corpus_name")
_SHOWN_KEYS = 8
_SHOWN_LENGTH = 40
_LONGEST_LINE = 100_000_000


@dataclass(frozen=True, slots=True)
class CorpusItem:
    """One text of a corpus. ``fragment`` names it within its file, whatever its text: it is the URI's part after #.

    It is the quoted title, with ``;2`` for the second of that title, or ``;17`` for the untitled item 17. A quoted
    title has no semicolon, so that no two items share a fragment.
    """

    title: str
    number: int
    text: str
    fragment: str


ItemOrFault = CorpusItem | str
"""An item, or what is wrong with one, for people: "item 3: has no text"."""


def read_json(path: str, stream: BufferedReader, _calls: BoundedCalls | None = None) -> Iterator[ItemOrFault]:
    """The items of a JSON file, in order. Raises ``DocumentError`` if the file as a whole is not a corpus."""
    text = decode(path, stream.read())
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = text.split("\n")
        if is_json_object(lines[0]):
            return _items("line", _parsed(lines))
        raise DocumentError(path, f"not valid JSON ({_fault(error)})") from error
    values = content if isinstance(content, list) else [content]
    if not any(isinstance(_first(value, _TEXT_KEYS), str) for value in values):
        raise DocumentError(path, _other_shape(content, values))
    return _items("item", enumerate(map(_read_item, values), start=1))


def read_jsonl(path: str, stream: BufferedReader, calls: BoundedCalls | None = None) -> Iterator[ItemOrFault]:
    """The items of a file with one JSON object a line, read line by line; every broken line is reported by its number.

    A file that is called so but holds one JSON list, or is not in UTF-8, is read as a whole. A long line is parsed
    within the bounds of ``calls``.
    """
    if not _has_lines(stream.peek(1)):
        return read_json(path, stream)
    return _items("line", _parsed(_lines(stream), calls))


def _has_lines(head: bytes) -> bool:
    head = head.removeprefix(BOM_UTF8)
    return not head.lstrip().startswith(b"[") and b"\0" not in head


_CORPUS_READERS: dict[str, Callable[[str, BufferedReader, BoundedCalls | None], Iterator[ItemOrFault]]] = {
    ".json": read_json,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
}


@dataclass(frozen=True, slots=True)
class _Item:
    """What is read of one JSON value: its title, and its text or, where that is None, what it is instead."""

    title: str
    text: str | None
    fault: str = ""


def _lines(stream: BufferedReader) -> Iterator[bytes | None]:
    """The lines of ``stream``; None for one that is too long to be held."""
    while line := stream.readline(_LONGEST_LINE):
        is_whole = line.endswith(b"\n") or len(line) < _LONGEST_LINE
        yield line if is_whole else None
        while not is_whole:
            rest = stream.readline(HARMLESS_BYTES)
            is_whole = rest.endswith(b"\n") or not rest


def _parsed(lines: Iterable[str | bytes | None], calls: BoundedCalls | None = None) -> Iterator[tuple[int, _Item]]:
    """``(line number, item)`` of every line that is not blank."""
    for number, line in enumerate(lines, start=1):
        if line is None:
            yield number, _Item("", None, f"longer than {_LONGEST_LINE // 1_000_000} MB: split it into several")
        elif line.strip():
            if calls is None or len(line) <= HARMLESS_BYTES:
                yield number, _read_line(line)[0]
            else:
                yield number, _read_long_line(line, calls)


def _read_line(line: str | bytes) -> tuple[_Item]:
    try:
        return (_read_item(json.loads(line)),)
    except (ValueError, RecursionError) as error:
        return (_Item("", None, f"not valid JSON ({_fault(error)})"),)


def _read_long_line(line: str | bytes, calls: BoundedCalls) -> _Item:
    try:
        (item,) = calls.each(_read_line, line)
    except ExceededError as error:
        return _Item("", None, _beyond(error, calls))
    return item  # type: ignore[no-any-return]  # from another process


def _fault(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[:1].lower()}{error.msg[1:]} in line {error.lineno}, column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return "its text is not UTF-8"
    return "it is nested too deeply" if isinstance(error, RecursionError) else "a number is too long"


def _read_item(value: object) -> _Item:
    title, text = _title(value), _first(value, _TEXT_KEYS)
    if isinstance(text, str):
        return _Item(title, clean(text))
    if _has_text(value):
        return _Item(title, None, f"its text is {described(text)}, and not a string")
    return _Item(title, None, f"expected {{title, text}}, found {described(value)}")


def _items(place: str, items: Iterable[tuple[int, _Item]]) -> Iterator[ItemOrFault]:
    titles: Counter[str] = Counter()
    for number, item in items:
        title, text = item.title, item.text
        titles[title] += 1
        if text is None:
            yield f"{place} {number}: {item.fault}"
        elif not text.strip():
            yield f"{place} {number}: has no text" + (f" ({shown(title)})" if title else "")
        else:
            again = f";{titles[title]}" if titles[title] > 1 else ""
            yield CorpusItem(title, number, text, quote(title, safe="") + again if title else f";{number}")


def _other_shape(content: object, values: Sequence[object]) -> str:
    """What is wrong with a file in which no item has a text."""
    wanted = "expected a list of {title, text}"
    for number, value in enumerate(values, start=1):
        if _has_text(value):
            place = f"item {number}" if isinstance(content, list) else "its object"
            return f"{wanted}, but the text of {place} is {described(_first(value, _TEXT_KEYS))}, and not a string"
    return f"{wanted}, found {described(content)}"


def _has_text(value: object) -> bool:
    return isinstance(value, dict) and any(key in value for key in _TEXT_KEYS)


def _title(value: object) -> str:
    found = _first(value, _TITLE_KEYS)
    is_name = isinstance(found, (str, int, float)) and not isinstance(found, bool)
    return _name(str(found)) if is_name else ""


def _first(value: object, keys: tuple[str, ...]) -> object:
    present = (value[key] for key in keys if key in value) if isinstance(value, dict) else iter(())
    return next(present, None)


def described(value: object) -> str:
    """What a JSON value is, for people: "a list of objects with the keys question, answer"."""
    match value:
        case []:
            return "an empty list"
        case [dict() as first, *_]:
            return f"a list of objects {_keys(first)}"
        case [first, *_]:
            items = "texts" if isinstance(first, str) else "lists" if isinstance(first, list) else "values"
            return f"a list of {items}"
        case dict():
            return f"an object {_keys(value)}"
    return "a text" if isinstance(value, str) else shown(json.dumps(value))


def _keys(value: Mapping[str, object]) -> str:
    more = " …" if len(value) > _SHOWN_KEYS else ""
    return f"with the keys {', '.join(map(shown, list(value)[:_SHOWN_KEYS]))}{more}" if value else "without keys"


def shown(text: str) -> str:
    """``text`` from a file as it may stand in a sentence: one line, short, without control characters."""
    visible = "".join(filter(str.isprintable, tidy(clean(text))))
    return visible if len(visible) <= _SHOWN_LENGTH else f"{visible[: _SHOWN_LENGTH - 1]}…"
