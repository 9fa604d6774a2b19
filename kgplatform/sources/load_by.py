"""Files that are parsed within bounds, or by workers, and texts that these cut, in the order of the files.

Text and JSON are parsed here. Each worker has the rest parsed within bounds, by a child process of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import lru_cache
from pathlib import Path

from kgplatform.concurrency.bounded import BoundedCalls
from kgplatform.concurrency.open_workers import bounded_calls
from kgplatform.concurrency.stopping import NEVER, Stop
from kgplatform.concurrency.workers import Workers
from kgplatform.records import Document, Passage, SkippedFile
from kgplatform.settings import Settings
from kgplatform.sources.corpus_file import Fields
from kgplatform.sources.cut import cut_document
from kgplatform.sources.files.reader import PARSED
from kgplatform.sources.load import find_files, load, load_file

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
    workers: Workers, paths: Sequence[str | Path], fields: Fields, calls: BoundedCalls, stop: Stop
) -> Iterator[Document | SkippedFile]:
    """What ``load`` gives, parsed by ``workers``, within bounds like those of ``calls``, or by ``calls``.

    Files are read here: other machines need not see them.
    """
    bounds = calls.seconds, calls.megabytes
    ahead: deque[tuple[Path, int, Future[Loaded] | None]] = deque()
    held = 0
    for path in find_files(paths):
        content = _content(path) if path.suffix.lower() in PARSED else None
        sent = None if content is None else workers.submit(parse, (path, content, *bounds))
        ahead.append((path, len(content or b""), sent))
        held += ahead[-1][1]
        while len(ahead) > _AHEAD * workers.number or held > _BYTES_AHEAD:
            held -= ahead[0][1]
            yield from _taken(*ahead.popleft(), fields, calls, stop)
    for each in ahead:
        yield from _taken(*each, fields, calls, stop)


def parse(file: tuple[Path, bytes, float, int]) -> Loaded:
    """In a worker: what a file says, by its path and content, within so many seconds and megabytes."""
    path, content, *bounds = file
    return list(load_file(path, content, calls=_calls(*bounds)))


@lru_cache(maxsize=1)
def _calls(seconds: float, megabytes: int) -> BoundedCalls:
    """Made once in a worker, and ended with it."""
    return BoundedCalls(seconds, megabytes)


def cut_by(
    workers: Workers, items: Iterable[Document | SkippedFile], max_tokens: int, stop: Stop
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


def _content(path: Path) -> bytes | None:
    """None where it cannot be read: whoever loads it then says why."""
    try:
        return path.read_bytes() if path.is_file() and path.stat().st_size <= _BYTES_AHEAD else None
    except OSError:
        return None


def _taken(
    path: Path, _size: int, sent: Future[Loaded] | None, fields: Fields, calls: BoundedCalls, stop: Stop
) -> Iterator[Document | SkippedFile]:
    if sent is None:
        return load_file(path, fields=fields, calls=calls)
    found: Loaded = stop.result_of(sent)
    return iter(found)
