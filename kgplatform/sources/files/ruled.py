"""Tables by their ruling lines: strokes of a page into grids of cells, and the letters in these into lines of text.

    found, = grids([Stroke(0, 0, 9, 0), …])          # one Grid for lines that cross each other
    table_lines(rows_of(found, letters, text), ())   # each row with the headings of its columns

Lines that cross, or nearly, belong together. Their places make rows and columns; where a line is missing between two
fields of these, the fields are one cell. Places are in points, from the lower left corner of the page as it is seen.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kgplatform.sources.files.table import LOOKED_AT, MOST_TITLES, has_headings, is_number
from kgplatform.text import tidy

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


_TOUCHING = 2.5
"""Points: letters this near to each other are of one word, and no line parts them."""
_ONE_LINE = 3.0
"""Points: letters whose feet are this near stand in one line."""
_LONGEST_REPEATED = 100
"""Letters: a cell that spans rows is said in each of them, as in HTML, if it is no longer."""
_CROWDED = 3
"""So many lines in each of several cells of a row are rows that no line parts."""
_MOST_HEADS = 4
_SLACK = 6.0
"""Points: so far may the columns of a table that goes on on the next page stand from those before."""
BROKEN = frozenset("\x02\ufffe")
"""PDFium's signs for a hyphen where a word is broken: the word goes on behind it."""


class Letter(NamedTuple):
    """A letter, by its number in the text of the page; its left, right, middle and foot are in points of the page."""

    at: int
    left: float
    right: float
    middle: float
    foot: float

    @property
    def across(self) -> float:
        """Between its left and its right."""
        return (self.left + self.right) / 2


def touch(before: Letter, letter: Letter) -> bool:
    """Whether two letters are neighbours in one word."""
    is_next = letter.at == before.at + 1 and abs(letter.foot - before.foot) < 1
    return is_next and letter.left - before.right < _TOUCHING


class Cell(NamedTuple):
    """What a cell says, and from where to where it goes. ``again``: it began in a row above."""

    left: float
    right: float
    text: str
    again: bool = False


Row = list[Cell]
Headings = Sequence[Cell]


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a cell: a text for each line, and the foot of each."""

    lines: list[str]
    feet: list[float]


def rows_of(grid: Grid, letters: Sequence[Letter], text: str) -> list[Row]:
    """The rows of ``grid`` with the ``letters`` of ``text`` in them; none where it is no table.

    A table has two rows of several cells, and most of its rows are such, or most of what it says stands in them.
    """
    cells, askew = _without_bridges(grid, letters), grid.askew()
    words = {cell: _words(held, text) for cell, held in _by_cell(grid, cells, letters).items()}
    lasts = {cell: number for number, line in enumerate(cells) for cell in line}
    rows: list[Row] = []
    crowded = sum(1 for each in letters if _cell(grid, each) in askew)
    above: Set[int] = frozenset()
    for number, line in enumerate(cells):
        own = {cell for cell in line if cell not in above and lasts[cell] == number}
        filled = [words[cell] for cell in sorted(own) if cell in words]
        times = _rows_within(filled)
        crowded += 0 if times > 1 else _crowded(filled)
        for at in range(times):
            begun = above if at == 0 else above | (set(line) - own)
            said = {
                cell: _said(words[cell], at if times > 1 and cell in own else None) for cell in line if cell in words
            }
            rows.append([_placed(span, said, begun) for span in _spans(grid, line)])
        above = set(line)
    rows = [row for row in rows if any(each.text and not each.again for each in row)]
    return rows if _is_table(rows, crowded) else []


def _placed(span: tuple[float, float, int], said: Mapping[int, str], begun: Set[int]) -> Cell:
    """A cell of a row. What was ``begun`` above is said again if it is short."""
    left, right, cell = span
    text, again = said.get(cell, ""), cell in begun
    return Cell(left, right, "" if again and len(text) > _LONGEST_REPEATED else text, again)


def _is_table(rows: list[Row], crowded: int) -> bool:
    several = [row for row in rows if sum(1 for each in row if each.text) > 1]
    said = sum(len(each.text) for row in rows for each in row if not each.again)
    in_rows = sum(len(each.text) for row in several for each in row if not each.again)
    is_most = 2 * in_rows > said or 2 * len(several) > len(rows)
    return len(several) > 1 and is_most and 3 * crowded < said


def _without_bridges(grid: Grid, letters: Sequence[Letter]) -> list[list[int]]:
    """The cells of ``grid``, joined where a word goes on from one to the next."""
    whole = Groups(1 + max(map(max, grid.cells)))
    for before, letter in pairwise(letters):
        if touch(before, letter):
            whole.join(_cell(grid, before), _cell(grid, letter))
    return [[whole.of(cell) for cell in row] for row in grid.cells]


def _cell(grid: Grid, letter: Letter) -> int:
    row, column = grid.cell(letter.across, letter.middle)
    return grid.cells[row][column]


def _by_cell(grid: Grid, cells: list[list[int]], letters: Sequence[Letter]) -> dict[int, list[Letter]]:
    held: dict[int, list[Letter]] = {}
    for letter in letters:
        row, column = grid.cell(letter.across, letter.middle)
        held.setdefault(cells[row][column], []).append(letter)
    return held


def _words(letters: Sequence[Letter], text: str) -> _Words:
    """The lines of a cell, of ``letters`` that are in the order of ``text``."""
    words = _Words([], [])
    last = -1
    for letter in letters:
        goes_on = BROKEN.issuperset(text[last + 1 : letter.at])  # and so it does where nothing stands between
        if not words.lines or not goes_on and abs(letter.foot - words.feet[-1]) > _ONE_LINE:
            words.lines.append("")
            words.feet.append(letter.foot)
        words.lines[-1] += text[letter.at] if goes_on else f" {text[letter.at]}"
        last = letter.at
    return words


def _rows_within(filled: Sequence[_Words]) -> int:
    """How many rows of a table stand between two lines: several, if all cells have as many lines, most of numbers."""
    if len(filled) < 2 or not _is_even(filled):
        return 1
    numeric = sum(1 for each in filled for line in each.lines if is_number(tidy(line)))
    count = len(filled[0].lines)
    return count if 2 * numeric >= count * (len(filled) - 1) else 1


def _is_even(filled: Sequence[_Words]) -> bool:
    """Whether all of ``filled`` have their lines at the same heights."""
    feet = filled[0].feet
    return all(
        len(each.feet) == len(feet)
        and all(abs(one - other) < _ONE_LINE for one, other in zip(each.feet, feet, strict=True))
        for each in filled
    )


def _crowded(filled: Sequence[_Words]) -> int:
    """The letters of a row whose cells have several lines side by side, as columns do where no line parts the rows."""
    if len(filled) < 2 or len(filled[0].lines) < _CROWDED or not _is_even(filled):
        return 0
    return sum(len(line) for each in filled for line in each.lines)


def _spans(grid: Grid, row: Sequence[int]) -> list[tuple[float, float, int]]:
    """From where to where each cell of a row goes."""
    spans: list[tuple[float, float, int]] = []
    for (left, right), cell in zip(pairwise(grid.columns), row, strict=True):
        if spans and spans[-1][2] == cell:
            spans[-1] = spans[-1][0], right, cell
        elif all(each[2] != cell for each in spans):
            spans.append((left, right, cell))
    return spans


def _said(words: _Words, line: int | None) -> str:
    """The words of a cell, or of one of its lines."""
    return " ".join((" ".join(words.lines) if line is None else words.lines[line]).split())


def table_lines(rows: Sequence[Row], before: Headings = ()) -> tuple[list[str], Headings]:
    """A line for each row but the headings, and the headings. ``before``: those of a table that may go on here."""
    titles = next((at for at, row in enumerate(rows[:MOST_TITLES]) if len(_filled(row)) > 1), 0)
    body, heads = rows[titles:], _head_rows(rows[titles:])
    headings = [_merged(body[:heads], each) for each in body[heads - 1]]
    is_whole = all(any(each.text in heading.text for heading in headings) for row in body[:heads] for each in row)
    if _goes_on(before, body[0]) and heads == 1 and not _are_alike(before, headings):
        headings, heads = list(before), 0
    elif not is_whole or not has_headings(_filled_columns(headings, body[heads:LOOKED_AT])):
        headings, heads = [], 0
    lines = [_line((), row) for row in rows[:titles]] + [_line(headings, row) for row in body[heads:]]
    if heads and not all(map(any, zip(*(_values(headings, row) for row in body[heads:]), strict=True))):
        lines.insert(titles, _line((), headings))  # some are over columns without a value, and would be nowhere
    return lines, headings


def _filled(row: Sequence[Cell]) -> list[Cell]:
    return [each for each in row if each.text]


def _head_rows(rows: Sequence[Row]) -> int:
    """How many rows the headings have: those in which most cells go on from above, or stand below a wider one."""
    number = 1
    while number < min(_MOST_HEADS, len(rows) - 1):
        again = sum(1 for each in rows[number] if each.again)
        others = [each for each in rows[number] if each.text and not each.again]
        below = [
            each for each in others if (over := _over(rows[number - 1], each)) is not None and _is_wider(over, each)
        ]
        if again <= len(others) and not (len(below) > 1 and 2 * len(below) >= len(others)):
            break
        number += 1
    return number


def _is_wider(cell: Cell | None, other: Cell) -> bool:
    return cell is not None and cell.right - cell.left > other.right - other.left + _SLACK


def _merged(rows: Sequence[Row], below: Cell) -> Cell:
    """The headings over each other that stand over ``below``, in one."""
    over = dict.fromkeys(each.text for row in rows if (each := _over(row, below)) is not None and each.text)
    return Cell(below.left, below.right, " ".join(over))


def _over(headings: Sequence[Cell], cell: Cell) -> Cell | None:
    """That of ``headings`` under which most of ``cell`` stands."""
    shared = [(min(each.right, cell.right) - max(each.left, cell.left), each) for each in headings]
    return max(shared, key=lambda each: each[0])[1] if shared and max(each[0] for each in shared) > 0 else None


def _values(headings: Headings, row: Sequence[Cell]) -> list[str]:
    """What ``row`` has under each of ``headings``."""
    found = [""] * len(headings)
    for each in _filled(row):
        for at, heading in enumerate(headings):
            if heading is _over(headings, each):
                found[at] = f"{found[at]} {each.text}".strip()
    return found


def _filled_columns(headings: Headings, rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """The headings, and below them the rows, without the columns in which nothing stands."""
    columns = zip(*(_values(headings, row) for row in (headings, *rows)), strict=True)
    return list(zip(*(each for each in columns if any(each)), strict=True))


def _goes_on(before: Headings, row: Row) -> bool:
    """Whether ``row`` has the columns of ``before``."""
    return 0 < len(before) == len(row) and all(
        abs(one.left - other.left) < _SLACK and abs(one.right - other.right) < _SLACK
        for one, other in zip(before, row, strict=True)
    )


def _are_alike(before: Headings, headings: Headings) -> bool:
    """Whether a page repeats the headings, or most of them."""
    same = sum(1 for one, other in zip(before, headings, strict=True) if one.text == other.text)
    return 2 * same >= len(before)


def _line(headings: Headings, row: Sequence[Cell]) -> str:
    """A row with its headings; one that has a single cell over several columns is a remark, and has none."""
    filled = _filled(row)
    if len(filled) == 1 and len(row) < len(headings):
        headings = ()
    named = ((over.text if (over := _over(headings, each)) is not None else "", each.text) for each in filled)
    return " | ".join(f"{heading}: {text}" if heading else text for heading, text in named)
