"""What a reader of a file gives: its text, and where in the file each part of that stands.

Parsers of other people raise errors of every kind on damaged files; each is called inside ``parsing``, which turns
whatever comes out into a ``DocumentError``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from kgplatform.errors import DocumentError
from kgplatform.records import Location, MetadataValue


@dataclass(frozen=True, slots=True)
class FileText:
    """What a reader found. ``faults`` are parts of the file, such as pages, that could not be read. ``metadata``: what
    the file says of itself."""

    text: str
    title: str | None = None
    locations: tuple[Location, ...] = ()
    faults: tuple[str, ...] = ()
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict, hash=False)


class Parts:
    """The text of a file, put together of parts that each have a label, such as "slide 3"."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self.locations: list[Location] = []

    def add(self, text: str, label: str, gap: str = "\n\n") -> None:
        """Append ``text`` behind ``gap``; nothing where it is blank."""
        text = clean(text).strip()
        if not text:
            return
        if self._pieces:
            self._pieces.append(gap)
            self._length += len(gap)
        start, self._length = self._length, self._length + len(text)
        self._pieces.append(text)
        if self.locations and self.locations[-1].label == label:
            start = self.locations.pop().start
        self.locations.append(Location(label, start, self._length))

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)

    def found(self, title: str | None = None, faults: tuple[str, ...] = ()) -> FileText:
        """What was put together, as a reader gives it."""
        return FileText(self.text, title, tuple(self.locations), faults)


@contextmanager
def parsing(path: str, reason: str) -> Iterator[None]:
    """Whatever a parser raises becomes a ``DocumentError`` with ``reason``; lack of memory stays what it is."""
    try:
        yield
    except (DocumentError, MemoryError):
        raise
    except BaseException as error:  # a damaged file makes a foreign parser raise anything at all
        if not isinstance(error, Exception) and type(error).__name__ != _PANIC:
            raise
        raise DocumentError(path, reason) from error


_PANIC = "PanicException"
"""What a parser in Rust raises at its wits' end. It is no ``Exception``, and its class can be imported from nowhere."""

_UNUSABLE = re.compile("[\0\ud800-\udfff]")
_LINE_END = re.compile("\r\n?")


def clean(text: str) -> str:
    """``text`` with line ends as ``\\n``, and without what no database stores: NUL and lone surrogates."""
    return _UNUSABLE.sub("", _LINE_END.sub("\n", text))
