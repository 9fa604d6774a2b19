"""The order in which the lines of a scanned page are read: from the top, and in columns of prose one after the other.

Boxes side by side are one line, as in a form or a receipt, unless they make columns of four lines of prose or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LEAST_LINES = 4
_SLACK = 0.5
"""Of a line's height: so far two columns may overlap."""
_PROSE = 15
"""Letters that a line of a column has on average; with less it is a column of a table."""


@dataclass(frozen=True, slots=True)
class Box:
    """Words where they stand, in pixels from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float
    text: str


Row = list[Box]


def read_in_order(boxes: Sequence[Box]) -> str:
    """The text of ``boxes``, a line for each; where more than a line's height is free, a paragraph ends."""
    return "\n\n".join("\n".join(_lines(block)) for block in _blocks(_rows(boxes)) if block)


def _rows(boxes: Sequence[Box]) -> list[Row]:
    """Boxes at one height, from the top, each row from the left."""
    rows: list[Row] = []
    for box in sorted(boxes, key=lambda each: (each.top, each.left)):
        middle = (box.top + box.bottom) / 2
        if rows and middle < min(each.bottom for each in rows[-1]):
            rows[-1].append(box)
        else:
            rows.append([box])
    return [sorted(row, key=lambda each: each.left) for row in rows]


def _blocks(rows: list[Row]) -> Iterator[list[Row]]:
    """Runs of rows that are read one after the other; a column of prose is one."""
    at, plain = 0, list[Row]()
    while at < len(rows):
        stop, columns = _columns(rows, at)
        if columns:
            yield plain
            yield from columns
            at, plain = stop, []
        else:
            plain.append(rows[at])
            at += 1
    yield plain


def _columns(rows: list[Row], start: int) -> tuple[int, list[list[Row]]]:
    """The columns that begin at row ``start`` and the row where they end; none where there are none."""
    cover: list[tuple[float, float]] = []
    best: tuple[int, list[tuple[float, float]]] = (start, [])
    for stop in range(start, len(rows)):
        cover = _covered([*cover, *map(_span, rows[stop])])
        if len(cover) < max(2, len(best[1])):  # something stands across columns
            break
        best = stop + 1, cover
    stop, spans = best
    boxes = [box for row in rows[start:stop] for box in row]
    found = [_rows([box for box in boxes if left <= _span(box)[0] <= right]) for left, right in spans]
    columns = [column for column in found if len(column) >= _LEAST_LINES]  # and the rest is specks
    is_prose = all(_mean_length(column) >= _PROSE for column in columns)
    return stop, found if len(columns) > 1 and is_prose else []


def _span(box: Box) -> tuple[float, float]:
    """From its left to its right, less a little: the page may stand askew."""
    slack = min(_SLACK * (box.bottom - box.top), (box.right - box.left) / 2)
    return box.left + slack, box.right - slack


def _covered(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The union of ``spans``."""
    union: list[tuple[float, float]] = []
    for left, right in sorted(spans):
        if union and left <= union[-1][1]:
            union[-1] = union[-1][0], max(union[-1][1], right)
        else:
            union.append((left, right))
    return union


def _mean_length(column: list[Row]) -> float:
    return sum(len(box.text) for row in column for box in row) / len(column)


def _lines(rows: list[Row]) -> Iterator[str]:
    last: Box | None = None
    for row in rows:
        first = row[0]
        if last is not None and first.top - last.bottom > last.bottom - last.top:
            yield ""
        yield " ".join(box.text for box in row)
        last = first
