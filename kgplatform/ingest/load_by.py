"""Files that workers parse, in the order of the files: PDF, Word and HTML take a processor, text and JSON a disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

from kgplatform.ingest.load import find_files, load_file
from kgplatform.records import Document, SkippedFile
from kgplatform.work.stopping import Stop
from kgplatform.work.workers import Workers

_PARSED = frozenset((".pdf", ".docx", ".html", ".htm", ".xhtml"))
_AHEAD = 4
"""Files for each worker that may wait to be parsed, or to be taken."""
_BYTES_AHEAD = 100_000_000

Loaded = list[Document | SkippedFile]


def load_by(workers: Workers, paths: Sequence[str | Path], stop: Stop) -> Iterator[Document | SkippedFile]:
    """What ``load`` gives, parsed by ``workers``. Files are read here: other machines need not see them."""
    ahead: deque[tuple[Path, int, Future[Loaded] | None]] = deque()
    held = 0
    for path in find_files(paths):
        content = _content(path) if path.suffix.lower() in _PARSED else None
        sent = None if content is None else workers.submit(parse, (path, content))
        ahead.append((path, len(content or b""), sent))
        held += ahead[-1][1]
        while len(ahead) > _AHEAD * workers.number or held > _BYTES_AHEAD:
            held -= ahead[0][1]
            yield from _taken(*ahead.popleft(), stop)
    for each in ahead:
        yield from _taken(*each, stop)


def parse(file: tuple[Path, bytes]) -> Loaded:
    """In a worker: what a file says, by its path and content."""
    return list(load_file(*file))


def _content(path: Path) -> bytes | None:
    """None where it cannot be read: whoever loads it then says why."""
    try:
        return path.read_bytes() if path.is_file() and path.stat().st_size <= _BYTES_AHEAD else None
    except OSError:
        return None


def _taken(path: Path, _size: int, sent: Future[Loaded] | None, stop: Stop) -> Iterator[Document | SkippedFile]:
    if sent is None:
        return load_file(path)
    found: Loaded = stop.result_of(sent)
    return iter(found)
