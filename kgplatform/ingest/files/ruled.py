"""Tables by their ruling lines: strokes of a page into grids of cells.

    grids([Stroke(0, 0, 9, 0), …])    # one Grid for lines that cross each other

Lines that cross, or nearly, belong together. Their places make rows and columns; where a line is missing between two
fields of these, the fields are one cell. Places are in points, from the lower left corner of the page as it is seen.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_NEAR = 3.0
"""Points: lines this near are one, and so are the ends of lines that do not quite meet."""
_SHORTEST = 4.0
"""Points: what is shorter is a letter drawn by strokes, a dash or a tick."""
_MOST_LINES = 1000
"""Lines of a page, once those in a row are joined: with more it is a drawing."""
_MOST_FIELDS = 20_000
_MOST_GRIDS = 50


@dataclass(frozen=True, slots=True)
class Stroke:
    """A straight line. ``of_ground``: it is the edge of a coloured ground, and no line that is drawn."""

    x: float
    y: float
    to_x: float
    to_y: float
    of_ground: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that stands at ``at`` and goes ``start`` to ``end`` along the other axis."""

    at: float
    start: float
    end: float


class Groups:
    """Numbers that are joined two by two, and the number that stands for all that are joined."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def of(self, number: int) -> int:
        """The number that stands for all that ``number`` is joined with."""
        above = self._above
        while above[number] != number:
            above[number] = number = above[above[number]]
        return number

    def join(self, one: int, other: int) -> None:
        """Join two numbers, with all that each is joined with."""
        self._above[self.of(other)] = self.of(one)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: ``columns`` are the places of its lines from the left, ``rows`` from the top.

    ``cells``: for each row and column the number of the cell that the field is a part of.
    """

    columns: tuple[float, ...]
    rows: tuple[float, ...]
    cells: tuple[tuple[int, ...], ...]

    def field(self, x: float, y: float) -> tuple[int, int] | None:
        """The row and column of a point; None for one outside."""
        column = bisect_right(self.columns, x) - 1
        row = bisect_right(self.rows, -y, key=lambda each: -each) - 1
        inside = 0 <= column < len(self.columns) - 1 and 0 <= row < len(self.rows) - 1
        return (row, column) if inside else None

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """The row and column that a point is in, or nearest to."""
        left, right, top, bottom = self.columns[0], self.columns[-1], self.rows[0], self.rows[-1]
        within = max(left, min(x, (self.columns[-2] + right) / 2)), max((self.rows[-2] + bottom) / 2, min(y, top))
        return self.field(x, y) or self.field(*within) or (0, 0)

    def askew(self) -> set[int]:
        """The cells that are no rectangles: lines that make such are a drawing."""
        places: dict[int, list[tuple[int, int]]] = {}
        for row, cells in enumerate(self.cells):
            for column, cell in enumerate(cells):
                places.setdefault(cell, []).append((row, column))
        spans = {cell: [max(each) - min(each) + 1 for each in zip(*held, strict=True)] for cell, held in places.items()}
        return {cell for cell, (height, width) in spans.items() if height * width > len(places[cell])}


def grids(strokes: Iterable[Stroke]) -> list[Grid]:
    """The tables that ``strokes`` make, from the top of the page; none where there are too many."""
    across, down = _sorted(strokes)
    if not (len(across) > 1 and len(down) > 1 and len(across) + len(down) <= _MOST_LINES):
        return []
    found = [_grid(*group) for group in _crossing(across, down)]
    usable = [each for each in found if each is not None]
    usable.sort(key=lambda each: (-each.rows[0], each.columns[0]))
    return usable if len(usable) <= _MOST_GRIDS else []


def _sorted(strokes: Iterable[Stroke]) -> tuple[list[_Line], list[_Line]]:
    """The lines across and those down; what is askew or short is left out."""
    across, down = [], []
    for each in strokes:
        wide, high = abs(each.to_x - each.x), abs(each.to_y - each.y)
        if high < 1 and wide > 1:
            across.append(_Line((each.y + each.to_y) / 2, min(each.x, each.to_x), max(each.x, each.to_x)))
        elif wide < 1 and high > 1:
            down.append(_Line((each.x + each.to_x) / 2, min(each.y, each.to_y), max(each.y, each.to_y)))
    return _joined(across), _joined(down)


def _joined(lines: list[_Line]) -> list[_Line]:
    """Lines that stand at nearly one place are at the same, and one where they touch."""
    placed: list[list[_Line]] = []
    for line in sorted(lines, key=lambda each: each.at):
        if placed and line.at - placed[-1][0].at <= _NEAR:
            placed[-1].append(line)
        else:
            placed.append([line])
    joined: list[_Line] = []
    for group in placed:
        at = sum(each.at for each in group) / len(group)
        spans: list[tuple[float, float]] = []
        for line in sorted(group, key=lambda each: each.start):
            if spans and line.start <= spans[-1][1] + _NEAR:
                spans[-1] = spans[-1][0], max(spans[-1][1], line.end)
            else:
                spans.append((line.start, line.end))
        joined += [_Line(at, start, end) for start, end in spans if end - start >= _SHORTEST]
    return joined


def _crossing(across: list[_Line], down: list[_Line]) -> list[tuple[list[_Line], list[_Line]]]:
    """The lines in groups whose members cross each other, directly or by others."""
    groups = Groups(len(across) + len(down))
    places = [each.at for each in down]
    for number, line in enumerate(across):
        first, stop = bisect_left(places, line.start - _NEAR), bisect_right(places, line.end + _NEAR)
        for other in range(first, stop):
            if down[other].start - _NEAR <= line.at <= down[other].end + _NEAR:
                groups.join(number, len(across) + other)
    members: dict[int, tuple[list[_Line], list[_Line]]] = {}
    for number, line in enumerate((*across, *down)):
        members.setdefault(groups.of(number), ([], []))[number >= len(across)].append(line)
    return list(members.values())


def _grid(across: list[_Line], down: list[_Line]) -> Grid | None:
    """The cells between lines; None where they make no more than one row or column."""
    columns = sorted({each.at for each in down})
    rows = sorted({each.at for each in across}, reverse=True)
    width, height = len(columns) - 1, len(rows) - 1
    if width < 2 or height < 2 or width * height > _MOST_FIELDS:
        return None
    walls = {at: [each for each in down if each.at == at] for at in columns[1:-1]}
    floors = {at: [each for each in across if each.at == at] for at in rows[1:-1]}
    fields = Groups(width * height)
    for row, (high, low) in enumerate(pairwise(rows)):
        for column, (left, right) in enumerate(pairwise(columns)):
            number = row * width + column
            if column + 1 < width and not _parted(walls[right], low, high):
                fields.join(number, number + 1)
            if row + 1 < height and not _parted(floors[low], left, right):
                fields.join(number, number + width)
    cells = tuple(tuple(fields.of(row * width + column) for column in range(width)) for row in range(height))
    return Grid(tuple(columns), tuple(rows), cells)


def _parted(lines: Sequence[_Line], start: float, end: float) -> bool:
    """Whether one of ``lines`` goes along most of the side from ``start`` to ``end``."""
    return any(min(each.end, end) - max(each.start, start) > (end - start) / 2 for each in lines)
