"""Tables of a PDF that have ruling lines: each row a line with the headings of its columns, as in all other formats.

The text of a page stays as PDFium has it, letter for letter. Only the letters within a table are put in the order of
its cells, where the first of them stands. What is no table after all, such as a chart, stays as it was.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from typing import TYPE_CHECKING

from kgplatform.ingest.files.pdf_strokes import Matrix, moved, strokes, view_of
from kgplatform.ingest.files.ruled import Grid, grids
from kgplatform.ingest.files.ruled_text import BROKEN, Headings, Letter, Row, rows_of, table_lines, touch

if TYPE_CHECKING:
    import pypdfium2  # type: ignore[import-untyped]  # publishes no types

_MOST_BETWEEN = 300
"""Letters, of running heads and the like, that stand between two parts of a table that goes on on the next page."""

_LAST_CONTROL = 31
"""PDFium's own marks are no letters."""
_CUT_WORDS = 2
"""A grid whose border goes through so many words is a drawing."""


class PdfTables:
    """Lays the tables of one page after the other out: one that goes on has the headings that it began with."""

    def __init__(self) -> None:
        self._before: Headings = ()

    def laid_out(self, page: pypdfium2.PdfPage, letters: pypdfium2.PdfTextPage, text: str) -> str:
        """``text``, which ``letters`` have, with the tables of ``page`` in lines."""
        before, self._before = self._before, ()
        view = view_of(page, letters)
        drawn = strokes(page, view)
        held: list[Letter] = []
        for some in ([each for each in drawn if not each.of_ground], drawn):  # grounds, where lines make no table
            if found := grids(some):
                held = held or _letters(page, letters, text, view)
                if tables := _tables(found, held, text):
                    return self._joined(text, tables, before)
        return text

    def _joined(self, text: str, tables: Mapping[int, _Table], before: Headings) -> str:
        """The page. ``tables``: by the number of a letter, the table that it stands in."""
        told: list[_Table] = []
        outside, joined, gap = 0, "", ""
        headings: Headings = ()
        for table, piece in _pieces(text, tables):
            if table is None:
                joined += gap + piece
                outside, gap = outside + len(piece), "\n\n"
            elif table in told:
                gap = "\n"
            else:
                lines, headings = table_lines(table.rows, () if told or outside > _MOST_BETWEEN else before)
                joined += ("\n\n" if joined else "") + "\n".join(lines)
                told.append(table)
                outside, gap = 0, "\n\n"
        self._before = headings if outside <= _MOST_BETWEEN else ()
        return joined


def _pieces(text: str, tables: Mapping[int, _Table]) -> Iterator[tuple[_Table | None, str]]:
    """The text in pieces that stand in one table, or in none; white space goes with what is before it."""
    last: _Table | None = None
    start = 0
    for at, letter in enumerate(text):
        if (table := tables.get(at)) is not last and not letter.isspace() and letter not in BROKEN:
            yield from [(last, piece)] if (piece := text[start:at].strip()) else []
            last, start = table, at
    yield from [(last, piece)] if (piece := text[start:].strip()) else []


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    rows: list[Row]


def _tables(found: Sequence[Grid], held: Sequence[Letter], text: str) -> dict[int, _Table]:
    """By the number of each letter that stands in a table, that table."""
    tables: dict[int, _Table] = {}
    for grid in found:
        inside = [each.at not in tables and grid.field(each.across, each.middle) is not None for each in held]
        cut = [at for at, pair in enumerate(pairwise(held)) if inside[at] != inside[at + 1] and touch(*pair)]
        if len(cut) < _CUT_WORDS:
            for at in cut:
                _complete(inside, held, at)
            letters = list(compress(held, inside))
            if rows := rows_of(grid, letters, text):
                tables |= dict.fromkeys((each.at for each in letters), _Table(rows))
    return tables


def _complete(inside: list[bool], held: Sequence[Letter], cut: int) -> None:
    """Bring a word of which the border of a table cuts something off, between letter ``cut`` and the next, into it."""
    step = 1 if inside[cut] else -1
    at = cut if inside[cut] else cut + 1
    while 0 <= at + step < len(held) and touch(*((held[at], held[at + 1]) if step > 0 else (held[at - 1], held[at]))):
        at += step
        inside[at] = True


def _letters(page: pypdfium2.PdfPage, letters: pypdfium2.PdfTextPage, text: str, view: Matrix) -> list[Letter]:
    """Where the letters of ``text`` stand. None where these are not those of the page in their order."""
    from pypdfium2 import raw

    page_left, page_bottom, page_right, page_top = page.get_bbox()
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    wanted = ((at, letter) for at, letter in enumerate(text) if not letter.isspace() and letter not in BROKEN)
    found: list[Letter] = []
    at, letter = next(wanted, (0, ""))
    for index in range(letters.count_chars()):
        code = raw.FPDFText_GetUnicode(letters, index)
        raw.FPDFText_GetCharBox(letters, index, left, right, bottom, top)
        is_hidden = (
            left.value > page_right or right.value < page_left or bottom.value > page_top or top.value < page_bottom
        )
        if is_hidden or code <= _LAST_CONTROL or chr(code).isspace() or chr(code) in BROKEN:
            continue
        if chr(code) != letter:
            return []
        x, y = moved(view, left.value, bottom.value)
        to_x, to_y = moved(view, right.value, top.value)
        raw.FPDFText_GetCharOrigin(letters, index, left, bottom)
        foot = moved(view, left.value, bottom.value)[1]
        found.append(Letter(at, min(x, to_x), max(x, to_x), (y + to_y) / 2, foot))
        at, letter = next(wanted, (0, ""))
    return [] if letter else found
