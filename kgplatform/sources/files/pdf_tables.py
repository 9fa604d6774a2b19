"""Tables of a PDF that have ruling lines: each row a line with the headings of its columns, as in all other formats.

The text of a page stays as PDFium has it, letter for letter. Only the letters within a table are put in the order of
its cells, where the first of them stands. What is no table after all, such as a chart, stays as it was.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, islice, pairwise
from math import pi
from typing import TYPE_CHECKING, Any

from kgplatform.sources.files.ruled import (
    BROKEN,
    Grid,
    Headings,
    Letter,
    Row,
    Stroke,
    grids,
    rows_of,
    table_lines,
    touch,
)

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


_MOST_LOOKED_AT = 40_000
"""Objects and pieces of paths of a page. With more it is a map, or made to take time; pages with tables had 6,000."""
_DEEPEST = 8
"""Forms within forms that are looked into."""
_WHITE = 250
"""Of 255: nobody sees a box that is filled so."""

Matrix = tuple[float, float, float, float, float, float]
"""As PDF has it: x becomes ``a x + c y + e`` and y ``b x + d y + f``."""
_UPRIGHT: Matrix = (1, 0, 0, 1, 0, 0)
_TURNED: dict[int, Matrix] = {1: (0, 1, -1, 0, 0, 0), 2: (-1, 0, 0, -1, 0, 0), 3: (0, -1, 1, 0, 0, 0)}
"""What is seen of text that runs down, to the left, or up, by who turns the page to read it."""
_SAMPLED = 40
_THICKEST = 3
"""Points of a line; what is thicker is a ground."""


def view_of(page: pypdfium2.PdfPage, letters: pypdfium2.PdfTextPage) -> Matrix:
    """From places in the file to places on the page as it is turned to read most of its text."""
    from pypdfium2 import raw

    number = letters.count_chars()
    sampled = range(0, number, max(1, number // _SAMPLED))
    angles = [angle for at in sampled if (angle := raw.FPDFText_GetCharAngle(letters, at)) >= 0]
    ways = [round(angle / (pi / 2)) % 4 for angle in angles]
    way = max(set(ways), key=ways.count, default=0)
    if way == 2 and page.get_rotation() != 180:  # mirrored letters are told as upside down
        return _UPRIGHT
    return _TURNED.get(way, _UPRIGHT)


def moved(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    """The point ``(x, y)`` by ``matrix``."""
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def strokes(page: pypdfium2.PdfPage, view: Matrix) -> list[Stroke]:
    """The straight lines that are drawn; none where there is too much on the page to look at."""
    from pypdfium2 import raw

    held = raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject
    found = list(islice(_of_objects(raw, page.raw, held, view, _DEEPEST), _MOST_LOOKED_AT + 1))
    return [each for each in found if each is not None] if len(found) <= _MOST_LOOKED_AT else []


def _of_objects(
    raw: Any, holder: Any, held: tuple[Callable[..., int], Callable[..., Any]], view: Matrix, deeper: int
) -> Iterator[Stroke | None]:
    """The strokes of a page or form, and None for all else. ``held``: what counts its objects, and gives each."""
    count, get = held
    for at in range(count(holder)):
        each = get(holder, at)
        kind = raw.FPDFPageObj_GetType(each)
        if kind == raw.FPDF_PAGEOBJ_PATH and _is_seen(raw, each):
            yield from _of_path(raw, each, _within(raw, each, view))
        elif kind == raw.FPDF_PAGEOBJ_FORM and deeper:
            inner = raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject
            yield from _of_objects(raw, each, inner, _within(raw, each, view), deeper - 1)
        yield None


def _within(raw: Any, each: Any, view: Matrix) -> Matrix:
    """From places within an object to places on the page."""
    own = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(each, own)
    a, b, c, d, _, _ = view
    return (
        *(a * own.a + c * own.b, b * own.a + d * own.b),
        *(a * own.c + c * own.d, b * own.c + d * own.d),
        *moved(view, own.e, own.f),
    )


def _is_seen(raw: Any, path: Any) -> bool:
    """Whether a path has lines, or is filled with anything but white."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, fill, stroke)
    if stroke.value or not fill.value:
        return bool(stroke.value)
    red, green, blue, opacity = (ctypes.c_uint() for _ in range(4))
    raw.FPDFPageObj_GetFillColor(path, red, green, blue, opacity)
    return opacity.value > 0 and min(red.value, green.value, blue.value) < _WHITE


def _is_ground(raw: Any, path: Any) -> bool:
    """Whether a path is a ground without lines around it, and no rule that is drawn as a thin box."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, fill, stroke)
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    raw.FPDFPageObj_GetBounds(path, left, bottom, right, top)
    return not stroke.value and min(right.value - left.value, top.value - bottom.value) > _THICKEST


def _of_path(raw: Any, path: Any, matrix: Matrix) -> Iterator[Stroke | None]:
    is_ground = _is_ground(raw, path)
    x, y = ctypes.c_float(), ctypes.c_float()
    last = first = (0.0, 0.0)
    for number in range(raw.FPDFPath_CountSegments(path)):
        segment = raw.FPDFPath_GetPathSegment(path, number)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point, kind = moved(matrix, x.value, y.value), raw.FPDFPathSegment_GetType(segment)
        first = point if kind == raw.FPDF_SEGMENT_MOVETO else first
        yield Stroke(*last, *point, is_ground) if kind == raw.FPDF_SEGMENT_LINETO else None
        last = point
        if raw.FPDFPathSegment_GetClose(segment):
            yield Stroke(*last, *first, is_ground)
            last = first
