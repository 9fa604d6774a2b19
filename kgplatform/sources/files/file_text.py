"""What a reader of a file gives: its text, where in the file each part of that stands, and tables as lines of text.

Parsers of other people raise errors of every kind on damaged files; each is called inside ``parsing``, which turns
whatever comes out into a ``DocumentError``.

A table has one line a row, and in each row the heading of every column before its value, so that a passage that has
some rows of a long table, or a search that finds one row, knows what its cells are:

    lines([["Team", "Cups"], ["Montréal", "24"]], first=True)    # ["Team: Montréal | Cups: 24"]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

from kgplatform.errors import DocumentError
from kgplatform.records import Location, MetadataValue
from kgplatform.text import clipped, tidy


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


_LINE = re.compile(r"\S.*")
_LONGEST_LABEL = 100


def by_line(text: str) -> tuple[Location, ...]:
    """The lines of a text that have something in them, "line 12"; none where that is only one."""
    found: list[Location] = []
    number = before = 0
    for line in _LINE.finditer(text):
        number, before = number + text.count("\n", before, line.start()), line.start()
        found.append(Location(f"line {number + 1}", line.start(), line.end()))
    return tuple(found) if len(found) > 1 else ()


def by_heading(text: str, headings: Iterable[str], title: str | None) -> tuple[Location, ...]:
    """What stands below each of ``headings``, which are lines of ``text``, and what before them, "beginning". None
    where the ``title`` is the only one."""
    names = {tidy(each) for each in headings} - {tidy(title or "")}
    found = [line for line in _LINE.finditer(text) if line[0].strip() in names]
    if not found:
        return ()
    starts = [(line.start(), clipped(line[0], _LONGEST_LABEL)) for line in found]
    if text[: starts[0][0]].strip():
        starts.insert(0, (0, "beginning"))
    return tuple(Location(label, start, end) for (start, label), (end, _) in pairwise([*starts, (len(text), "")]))


Row = Sequence[str]

_LONGEST_HEADING = 100
_NUMBER = re.compile(r"[^\w]*\d[\d\s.,:/%()+-]*(?:[kKmM]|bn)?[^\w]*")
_DIGIT = re.compile(r"\d")
LOOKED_AT = 200
"""Rows that say whether the first of them is headings."""
MOST_TITLES = 5
"""So many lines may stand over the headings of a table."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_SURE_ROWS = 3
"""So many numbers below a word tell a heading where a table has two columns, which may as well be names and values.

Two are enough, if they are no years: names and values have dates.
"""
_ANY_YEAR = re.compile(r"(?:1\d|20)\d\d")


def has_headings(rows: Sequence[Row], *, by_custom: bool = False) -> bool:
    """Whether the first row looks like the headings of the others: short words, all different, over other things.

    A table of two columns may be one of names and values, whose first row is like the others: there a column of
    numbers, or of cells with digits, must speak for it, if not a custom does, as in files of separated values. Headings
    that are alike, such as "Change" behind each of several columns, are taken for such over numbers alone.
    """
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    first = [tidy(cell) for cell in rows[0]]
    filled = [cell for cell in first if cell]
    if any(len(cell) > _LONGEST_HEADING or (is_number(cell) and not _YEAR.fullmatch(cell)) for cell in filled):
        return False
    if len(filled) < 2 or 2 * len(filled) < len(first):
        return False
    below = [[tidy(row[at]) for row in rows[1:] if at < len(row) and row[at].strip()] for at in range(len(first))]
    if any(heading and heading in cells for heading, cells in zip(first, below, strict=True)):
        return False
    if len(set(map(str.casefold, filled))) < len(filled):
        numeric = sum(1 for cells in below if len(cells) > 1 and all(map(is_number, cells)))
        return 2 * numeric >= len(first)
    if by_custom or len(first) > 2:
        return True
    for heading, cells in zip(first, below, strict=True):  # a heading is of another kind than the cells below it
        if len(cells) >= _SURE_ROWS:
            tells = all(map(_DIGIT.search, cells)) and not _DIGIT.search(heading)
        else:
            tells = len(cells) > 1 and all(map(is_number, cells)) and not all(map(_ANY_YEAR.fullmatch, cells))
        if tells:
            return True
    return False


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, as it is written in tables: with a sign, a currency, a percentage."""
    return _NUMBER.fullmatch(cell) is not None


def lines(rows: Sequence[Row], *, first: bool | None = None) -> list[str]:
    """A line for each row that says something. ``first``: whether the first row is headings; None to look."""
    has = has_headings(rows) if first is None else first
    if not has or len(rows) < 2:
        return [line for row in rows if (line := row_line((), row))]
    below = [line for row in rows[1:] if (line := row_line(rows[0], row))]
    return below or [row_line((), rows[0])]


def row_line(headings: Row, row: Row) -> str:
    """The cells of ``row`` that are not empty, in one line, each behind its heading if there are such."""
    return " | ".join(
        f"{heading}: {value}" if (heading := tidy(headings[at]) if at < len(headings) else "") else value
        for at, cell in enumerate(row)
        if (value := tidy(cell))
    )
