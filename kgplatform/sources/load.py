"""Files and folders into documents, one at a time; what cannot be read is reported, and the rest is read.

Text and JSON are parsed here, all else within bounds, by a child process. Workers, if there are any, parse files and
cut texts; what they give comes in the order of the files.
"""

from __future__ import annotations

import hashlib
import heapq
import os
import re
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BufferedReader, BytesIO, IOBase
from itertools import groupby
from pathlib import Path
from typing import Any

from kgplatform.concurrency import plug_ins
from kgplatform.concurrency.system import path_of
from kgplatform.concurrency.threads import NEVER, Stop
from kgplatform.concurrency.workers import BoundedCalls, ExceededError, LocalWorkers, bounded_calls
from kgplatform.errors import DocumentError, InputError, SettingError
from kgplatform.records import Document, MetadataValue, Passage, SkippedFile
from kgplatform.settings import Settings
from kgplatform.shown import given_name
from kgplatform.sources.corpus_file import (
    HARMLESS_BYTES,
    ITEM_READERS,
    USUAL,
    CorpusItem,
    Fields,
    ItemOrFault,
    as_name,
    has_lines,
    read_json,
    read_jsonl,
    why_beyond,
)
from kgplatform.sources.cut import cut_document
from kgplatform.sources.decode import HEAD_BYTES, decode
from kgplatform.sources.files.file_text import FileText, clean
from kgplatform.sources.files.plain import read_text, said_in
from kgplatform.sources.files.reader import PARSED, TEXTS, reader_for
from kgplatform.text import node_id, tidy

_SERVER = "neo4j"
_OF_A_HOME = (_SERVER, "llm-cache", "browser.json")
"""What a home folder has of its own."""
_WORDS_OF_A_NAME = 3
"""What has more, and is no file, may be meant as a text."""
WORD_GAPS = re.compile(r"_+|(?<=[^\W\d_])[-+]+(?=[^\W\d_])")
"""What stands between the words of a file's name."""


@dataclass(frozen=True)
class CutShort(SkippedFile):
    """A file of whose documents some were not read: what the graph has of it stays. ``source``: its URI."""

    source: str = ""


def find_files(paths: Sequence[str | Path]) -> Iterator[Path]:
    """The files that ``paths`` name, and those in the folders that they name, sorted and each once.

    Hidden files and folders, and what a home folder has of its own, are left out unless named themselves; metadata
    beside what they are of (``described``) unless named alone. What links lead to again is found once, in its own place
    where that is among the folders. Folders that cannot be opened are among the result, so that ``load`` reports them.
    Raises ``DocumentError`` at once for a path that does not exist.
    """
    entered: set[str] = set()
    given = sorted((_path(each) for each in path_list(paths)), key=lambda each: each[0].is_symlink())
    roots = tuple(f"{os.path.realpath(path).rstrip(os.sep)}{os.sep}" for path, is_folder in given if is_folder)
    walks = [_walk(path, entered, roots) if is_folder else iter([path]) for path, is_folder in given]
    named = {path for path, _ in given}
    found = (path for path, _ in groupby(heapq.merge(*walks)))
    return (path for path in found if (of := _described_by(path)) is None or (path in named and of not in named))


def path_list(paths: str | Path | Iterable[str | Path]) -> list[str | Path]:
    """One path or several, as a list. Raises ``InputError`` for what is none, such as an open file."""
    if isinstance(paths, str | Path):
        return [paths]
    is_several = isinstance(paths, Iterable) and not isinstance(paths, Mapping | IOBase | bytes)
    found: list[Any] = list(paths) if is_several else [paths]
    for each in found:
        if not isinstance(each, str | Path):
            raise InputError(f"Give paths of files and folders, not a value of type {type(each).__name__}.")
    return found


def named_folders(paths: Sequence[str | Path]) -> Iterator[tuple[Path, bool]]:
    """The folders among ``paths``, each with whether there is no file in it."""
    folders = (path for path, is_folder in map(_path, paths) if is_folder)
    return ((folder, next(_walk(folder, set(), ()), None) is None) for folder in folders)


def _path(given: str | Path) -> tuple[Path, bool]:
    """``given`` from the root, and whether it is a folder."""
    if isinstance(given, str) and not given.strip():
        raise InputError("A path is empty. Name a file or a folder; `.` is the current folder.")
    path = Path(given).expanduser()
    # Links are kept as they are; ``..`` after a link only the file system can resolve.
    path = path.resolve() if ".." in path.parts else path.absolute()
    try:
        return path, stat.S_ISDIR(path.lstat().st_mode) or path.is_dir()
    except (OSError, ValueError) as error:
        why = "permission denied" if isinstance(error, PermissionError) else "no such file or folder"
        if isinstance(given, str) and len(given.split()) > _WORDS_OF_A_NAME and Path(given).name == given:
            why += "; to ingest a text, use kgplatform.Text(text) in Python"
        raise DocumentError(str(given), why) from error


def _walk(folder: Path, entered: set[str], roots: Sequence[str]) -> Iterator[Path]:
    """The files below ``folder``, in the order of paths. The names in one folder are held, and those in its parents."""
    open_folders = [_entries(folder, entered, roots)]
    while open_folders:
        path, is_folder = next(open_folders[-1], (None, False))
        if path is None:
            open_folders.pop()
        elif is_folder:
            open_folders.append(_entries(path, entered, roots))
        else:
            yield path


def _entries(folder: Path, entered: set[str], roots: Sequence[str]) -> Iterator[tuple[Path | None, bool]]:
    """What is in ``folder`` and whether it is a folder; the folder itself, as a file, if it cannot be opened."""
    real = os.path.realpath(folder)
    if real in entered:
        return
    entered.add(real)
    try:
        with os.scandir(folder) as found:
            shown = [each for each in found if not each.name.startswith(".")]
            entries = sorted((each.name, each.is_dir()) for each in shown if not _is_again(each, real, entered, roots))
    except OSError:
        yield folder, False
        return
    left_out = _OF_A_HOME if _is_home(folder) else ()
    for name, is_folder in entries:
        if name not in left_out:
            yield folder / name, is_folder


def _is_again(entry: os.DirEntry[str], folder: str, entered: set[str], roots: Sequence[str]) -> bool:
    """Whether a link leads to what is found below ``roots`` in any case, or to a file that another link led to.
    ``folder``: where the entry is in truth."""
    real = os.path.realpath(entry.path) if entry.is_symlink() else f"{folder.rstrip(os.sep)}{os.sep}{entry.name}"
    if any(real.startswith(root) and f"{os.sep}." not in real[len(root) - 1 :] for root in roots):
        return entry.is_symlink() and os.access(real, os.F_OK)
    is_known = real in entered
    if entry.is_file():
        entered.add(real)
    return is_known


def _is_home(folder: Path) -> bool:
    try:
        if not (folder / _SERVER).is_dir():
            return False
        from kgplatform.neo4j.config import has_store  # it takes a tenth of a second to load

        return has_store(folder / _SERVER)
    except OSError:  # it cannot be entered: of somebody else
        return False


def load(
    paths: Sequence[str | Path], calls: BoundedCalls | None = None, fields: Fields = USUAL
) -> Iterator[Document | SkippedFile]:
    """The documents in ``paths``, read one file at a time in sorted order.

    A file, or a page, item or line of one, that cannot be used is a ``SkippedFile``. A file with some bad pages gives
    both: the document and a ``SkippedFile`` for each page that it lacks. ``calls``: parse within their bounds what is
    not harmless. ``fields``: what JSON files call texts and titles. Raises ``DocumentError`` at once for a path that
    does not exist.
    """
    files = find_files(paths)
    return described(result for path in files for result in load_file(path, calls=calls, fields=fields))


def load_file(
    path: Path, content: bytes | None = None, fields: Fields = USUAL, calls: BoundedCalls | None = None
) -> Iterator[Document | SkippedFile]:
    """What ``load`` gives of one file. ``content``: what it holds, where the file itself is out of reach."""
    shown = _shown(path)
    try:
        if content is None:
            entry = path.stat()
            if not stat.S_ISREG(entry.st_mode) and not path.is_dir():
                raise DocumentError(shown, "not a regular file")
        size = entry.st_size if content is None else len(content)
        with path.open("rb") if content is None else _stream(content) as stream:
            head, suffix = stream.peek()[:HEAD_BYTES], path.suffix.lower()
            is_plugged_in = bool(head) and plug_ins.is_installed("loader", suffix)
            reader = loader_of(suffix) if is_plugged_in else reader_for(shown, head, suffix)
            read_members = ITEM_READERS.get(suffix) if reader is read_text else None
            is_small = size <= HARMLESS_BYTES or (read_members is read_jsonl and has_lines(head))
            if calls is None or (reader is read_text and is_small):
                read_from, faults = stream, tuple[str, ...]()
                if (fields.encoding and reader in TEXTS) or read_members is read_json or (read_members and is_small):
                    decoded = decode(shown, stream.read(), encoding=fields.encoding)
                    read_from, faults = _stream(decoded.text.encode()), decoded.faults
                yield from (SkippedFile(shown, fault, in_part=True) for fault in faults)
                found = read_members(shown, read_from, fields, calls) if read_members else reader(shown, read_from)
                if isinstance(found, FileText):
                    if not found.text.strip():
                        raise DocumentError(shown, "has no readable text")
                    source = path.as_uri()
                    yield _document(as_name(found.title) or _readable_stem(path), source, source, found)
                    yield from (SkippedFile(shown, fault, in_part=True) for fault in found.faults)
                else:
                    yield from _members(path, shown, found)
                return
        yield from _bounded(calls, path, content, fields)
    except DocumentError as error:
        yield SkippedFile(shown, error.reason)
    except FileNotFoundError:
        yield SkippedFile(shown, "a link to a file that does not exist" if path.is_symlink() else "no longer there")
    except OSError as error:
        yield SkippedFile(shown, f"cannot be read: {(error.strerror or 'unknown error').lower()}")


def _shown(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "replace")


def _bounded(
    calls: BoundedCalls, path: Path, content: bytes | None, fields: Fields
) -> Iterator[Document | SkippedFile]:
    """What ``load_file`` gives within the bounds of ``calls``, and which of them it went beyond."""
    has_documents = False
    try:
        for found in calls.each(load_file, path, content, fields):
            has_documents |= isinstance(found, Document)
            yield found
    except ExceededError as error:
        shown, reason = _shown(path), why_beyond(error, calls)
        cut = CutShort(shown, f"the rest of it {reason}", source=path.as_uri())
        yield cut if has_documents else SkippedFile(shown, reason)


def _stream(content: bytes) -> BufferedReader:
    raw: Any = BytesIO(content)  # typeshed wants a stream of files
    return BufferedReader(raw)


def _members(path: Path, shown: str, items: Iterator[ItemOrFault]) -> Iterator[Document | SkippedFile]:
    source, stem = path.as_uri(), _readable_stem(path)
    for item in items:
        if isinstance(item, CorpusItem):
            name = item.title or f"{stem} {item.number}"
            yield _document(
                name, f"{source}#{item.fragment}", source, FileText(item.text, None, item.locations, (), item.metadata)
            )
            yield from (SkippedFile(shown, fault, in_part=True) for fault in item.faults)
        else:
            yield CutShort(shown, item, source=source)


def _document(name: str, uri: str, source: str, reading: FileText) -> Document:
    digest = hashlib.sha256(reading.text.encode()).hexdigest()
    return Document(
        node_id("document", uri), name, uri, source, reading.text, digest, reading.locations, reading.metadata
    )


def _readable_stem(path: Path) -> str:
    """The file's name without its suffix, as words: ``annual_report-2020.txt`` is "annual report-2020"."""
    stem = given_name(os.fsencode(path.stem).decode("utf-8", "replace"))  # of what was fetched too: "annual%20report"
    return tidy(WORD_GAPS.sub(" ", stem)) or stem


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


_SIDECARS = (".meta.yaml", ".meta.yml")
_LARGEST_SIDECAR = 1_000_000
_FOLDERS = 1024
"""Whose metadata are kept at hand."""

_Said = tuple[str, Mapping[str, MetadataValue]]
"""A title, or "", and metadata."""


def _described_by(path: Path) -> Path | None:
    """What the metadata in ``path`` are of, as it stands beside that; None for other files."""
    ending = next((each for each in _SIDECARS if path.name.endswith(each) and path.name != each), None)
    of = path.with_name(path.name.removesuffix(ending)) if ending else None
    return of if of is not None and os.access(of, os.F_OK) else None


def described(items: Iterable[Document | SkippedFile]) -> Iterator[Document | SkippedFile]:
    """``items`` with the times of their files, and the metadata that stand beside what they are of: ``NAME.meta.yaml``
    next to a file or a folder NAME, a folder's being of all below it. What is said of a file itself comes before what
    its own text says, and that before what is said of its folders, the nearest first. What of that cannot be read is
    told once.
    """
    faults: list[SkippedFile] = []
    told: set[Path] = set()

    @lru_cache(_FOLDERS)
    def named(folder: Path) -> frozenset[str]:
        try:
            return frozenset(each.name for each in folder.iterdir() if each.name.endswith(_SIDECARS))
        except OSError:
            return frozenset()

    @lru_cache(_FOLDERS)
    def beside(path: Path) -> _Said:
        ending = next((each for each in _SIDECARS if path.name + each in named(path.parent)), None)
        if ending is None:
            return "", {}
        file = path.with_name(path.name + ending)
        shown = os.fsencode(file).decode("utf-8", "replace")
        try:
            about = file.stat()
            if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST_SIDECAR:
                raise DocumentError(
                    shown, f"is no file of at most {_LARGEST_SIDECAR:,} bytes: no metadata are read from it"
                )
            title, metadata, wrong = said_in(decode(shown, file.read_bytes()).text, "it", 1)
        except OSError as error:
            title, metadata, wrong = "", {}, (f"cannot be read: {(error.strerror or 'unknown error').lower()}",)
        except DocumentError as error:
            title, metadata, wrong = "", {}, (error.reason,)
        if not (title or metadata or wrong):
            wrong = ("it has no lines like `author: Jules Verne`",)
        faults.extend(SkippedFile(shown, fault, in_part=True) for fault in wrong if file not in told)
        told.add(file)
        return title, metadata

    @lru_cache(_FOLDERS)
    def of_folders(folder: Path) -> Mapping[str, MetadataValue]:
        above = [beside(each)[1] for each in (folder, *folder.parents) if each.name]
        return {name: value for metadata in reversed(above) for name, value in metadata.items()}

    changed = lru_cache(1)(_modified)  # a file has many items, one after the other

    for item in items:
        if isinstance(item, Document) and item.source.startswith("file:"):
            path = path_of(item.source)
            item = replace(item, modified=changed(path))
            (title, own), around = beside(path), of_folders(path.parent)
            yield from faults
            faults.clear()
            if title or own or around:
                # A title is that of the one document that a file is, not of each item of a list.
                name = title if title and item.uri == item.source else item.title
                metadata = {**around, **item.metadata, **own}
                item = replace(item, title=name, metadata=dict(sorted(metadata.items())))
        yield item


def _modified(path: Path) -> str:
    with suppress(OSError, OverflowError, ValueError):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(path.stat().st_mtime))
    return ""


_AHEAD = 4
"""Files for each worker that may wait to be parsed, or to be taken."""
_BYTES_AHEAD = 100_000_000
_CUT_AT_ONCE = 100_000
"""Characters of documents that are sent together to be cut, if not one alone has more."""

Loaded = list[Document | SkippedFile]
CutDocument = tuple[Document, list[Passage]]


def load_within(
    settings: Settings, paths: Sequence[str | Path], stop: Stop = NEVER
) -> Iterator[Document | SkippedFile]:
    """``load`` within the bounds, and by the keys, of ``settings``."""
    with bounded_calls(settings, stop) as calls:
        yield from load(paths, calls, Fields.of(settings))


def load_by(
    workers: LocalWorkers, paths: Sequence[str | Path], fields: Fields, calls: BoundedCalls, stop: Stop
) -> Iterator[Document | SkippedFile]:
    """What ``load`` gives, parsed by ``workers``, within bounds like those of ``calls``, or by ``calls``. Files are
    read here: other machines need not see them."""
    bounds = calls.seconds, calls.megabytes
    ahead: deque[tuple[Path, int, Future[Loaded] | None]] = deque()
    held = 0
    for path in find_files(paths):
        content = None
        with suppress(OSError):  # what cannot be read is loaded here, which says why
            if path.suffix.lower() in PARSED and path.is_file() and path.stat().st_size <= _BYTES_AHEAD:
                content = path.read_bytes()
        sent = None if content is None else workers.submit(parse, (path, content, fields, *bounds))
        ahead.append((path, len(content or b""), sent))
        held += ahead[-1][1]
        while len(ahead) > _AHEAD * workers.number or held > _BYTES_AHEAD:
            held -= ahead[0][1]
            yield from _taken(*ahead.popleft(), fields, calls, stop)
    for each in ahead:
        yield from _taken(*each, fields, calls, stop)


def parse(file: tuple[Path, bytes, Fields, float, int]) -> Loaded:
    """In a worker: what a file says, by its path and content, within so many seconds and megabytes."""
    path, content, fields, seconds, megabytes = file
    return list(load_file(path, content, fields, _calls(seconds, megabytes)))


@lru_cache(maxsize=1)
def _calls(seconds: float, megabytes: int) -> BoundedCalls:
    """Made once in a worker, and ended with it."""
    return BoundedCalls(seconds, megabytes)


def cut_by(
    workers: LocalWorkers, items: Iterable[Document | SkippedFile], max_tokens: int, stop: Stop
) -> Iterator[CutDocument | SkippedFile]:
    """``items`` in order, each document with its passages, cut by ``workers``."""
    ahead: deque[tuple[Loaded, Future[list[list[Passage]]]]] = deque()
    for some in _together(items):
        documents = [each for each in some if isinstance(each, Document)]
        ahead.append((some, workers.submit(cut, (documents, max_tokens))))
        if len(ahead) > _AHEAD * workers.number:
            yield from _with_passages(*ahead.popleft(), stop)
    for each in ahead:
        yield from _with_passages(*each, stop)


def cut(share: tuple[list[Document], int]) -> list[list[Passage]]:
    """In a worker: the passages of each document, of so many tokens at most."""
    documents, max_tokens = share
    return [cut_document(each, max_tokens) for each in documents]


def _together(items: Iterable[Document | SkippedFile]) -> Iterator[Loaded]:
    some: Loaded = []
    characters = 0
    for item in items:
        some.append(item)
        characters += len(item.text) if isinstance(item, Document) else 0
        if characters >= _CUT_AT_ONCE:
            yield some
            some, characters = [], 0
    if some:
        yield some


def _with_passages(some: Loaded, sent: Future[list[list[Passage]]], stop: Stop) -> Iterator[CutDocument | SkippedFile]:
    found: list[list[Passage]] = stop.result_of(sent)
    passages = iter(found)
    return ((each, next(passages)) if isinstance(each, Document) else each for each in some)


def _taken(
    path: Path, _size: int, sent: Future[Loaded] | None, fields: Fields, calls: BoundedCalls, stop: Stop
) -> Iterator[Document | SkippedFile]:
    if sent is None:
        return load_file(path, fields=fields, calls=calls)
    found: Loaded = stop.result_of(sent)
    return iter(found)
