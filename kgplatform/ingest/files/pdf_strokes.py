"""What a page of a PDF draws in straight lines, by PDFium's list of its objects: rules, boxes and their edges."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from itertools import islice
from math import pi
from typing import TYPE_CHECKING, Any

from kgplatform.ingest.files.ruled import Stroke

if TYPE_CHECKING:
    import pypdfium2  # type: ignore[import-untyped]  # publishes no types

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
