"""Tables of a PDF that have ruling lines: each row a line with the headings of its columns, as in all other formats.

The text of a page stays as PDFium has it, letter for letter. Only the letters within a table are put in the order of
its cells, where the first of them stands. What is no table after all, such as a chart, stays as it was.

Lines that cross, or nearly, belong together. Their places make rows and columns; where a line is missing between two
fields of these, the fields are one cell. Places are in points, from the lower left corner of the page as it is seen.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import compress, islice, pairwise
from math import pi
from typing import TYPE_CHECKING, Any, NamedTuple

from kgplatform.sources.files.file_text import LOOKED_AT, MOST_TITLES, has_headings, is_number
from kgplatform.text import tidy

if TYPE_CHECKING:
    import pypdfium2  # type: ignore[import-untyped]  # publishes no types
    from pypdfium2 import PdfMatrix

_MOST_BETWEEN = 300
"""Letters, of running heads and the like, that stand between two parts of a table that goes on on the next page."""

_LAST_CONTROL = 31
"""PDFium's own marks are no letters."""
_CUT_WORDS = 2
"""A grid whose border goes through so many words is a drawing."""


class PdfTables:
    """Lays the tables of one page after the other out: one that goes on has the headings that it began with."""

    _before: Headings = ()

    def laid_out(self, page: pypdfium2.PdfPage, letters: pypdfium2.PdfTextPage, text: str) -> str:
        """``text``, which ``letters`` have, with the tables of ``page`` in lines."""
        before, self._before = self._before, ()
        view = view_of(page, letters)
        drawn = _strokes(page, view)
        held: list[Letter] = []
        for some in ([each for each in drawn if not each.of_ground], drawn):  # grounds, where lines make no table
            if found := grids(some):
                held = held or _letters(page, letters, text, view)
                if tables := _tables(found, held, text):
                    return self._joined(text, tables, before)
        return text

    def _joined(self, text: str, tables: Mapping[int, Rows], before: Headings) -> str:
        """The page. ``tables``: by the number of a letter, the table that it stands in."""
        told: list[int] = []
        outside, joined, gap = 0, "", ""
        headings: Headings = ()
        for table, piece in _pieces(text, tables):
            if table is None:
                joined += gap + piece
                outside, gap = outside + len(piece), "\n\n"
            elif id(table) in told:
                gap = "\n"
            else:
                lines, headings = table_lines(table, () if told or outside > _MOST_BETWEEN else before)
                joined += ("\n\n" if joined else "") + "\n".join(lines)
                told.append(id(table))
                outside, gap = 0, "\n\n"
        self._before = headings if outside <= _MOST_BETWEEN else ()
        return joined


def _pieces(text: str, tables: Mapping[int, Rows]) -> Iterator[tuple[Rows | None, str]]:
    """The text in pieces that stand in one table, or in none; white space goes with what is before it."""
    last: Rows | None = None
    start = 0
    for at, letter in enumerate(text):
        if (table := tables.get(at)) is not last and not letter.isspace() and letter not in BROKEN:
            yield from [(last, piece)] if (piece := text[start:at].strip()) else []
            last, start = table, at
    yield from [(last, piece)] if (piece := text[start:].strip()) else []


def _tables(found: Sequence[Grid], held: Sequence[Letter], text: str) -> dict[int, Rows]:
    """By the number of each letter that stands in a table, that table."""
    tables: dict[int, Rows] = {}
    for grid in found:
        inside = [each.at not in tables and grid.holds(each) for each in held]
        cut = [at for at, pair in enumerate(pairwise(held)) if inside[at] != inside[at + 1] and touch(*pair)]
        if len(cut) < _CUT_WORDS:
            for last in cut:  # the border cuts something off of a word, which goes in
                step, at = (1, last) if inside[last] else (-1, last + 1)
                while 0 <= at + step < len(held) and touch(held[min(at, at + step)], held[max(at, at + step)]):
                    at += step
                    inside[at] = True
            letters = list(compress(held, inside))
            if rows := rows_of(grid, letters, text):
                tables |= dict.fromkeys((each.at for each in letters), rows)
    return tables


def _letters(page: pypdfium2.PdfPage, letters: pypdfium2.PdfTextPage, text: str, view: PdfMatrix) -> list[Letter]:
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
        x, y = view.on_point(left.value, bottom.value)
        to_x, to_y = view.on_point(right.value, top.value)
        raw.FPDFText_GetCharOrigin(letters, index, left, bottom)
        foot = view.on_point(left.value, bottom.value)[1]
        found.append(Letter(at, min(x, to_x), max(x, to_x), (y + to_y) / 2, foot))
        at, letter = next(wanted, (0, ""))
    return [] if letter else found


_MOST_LOOKED_AT = 40_000
"""Objects and pieces of paths of a page. With more it is a map, or made to take time; pages with tables had 6,000."""
_DEEPEST = 9
"""So deep are forms within forms looked into."""
_WHITE = 250
"""Of 255: nobody sees a box that is filled so."""

_TURNED = {1: (0, 1, -1, 0), 2: (-1, 0, 0, -1), 3: (0, -1, 1, 0)}
"""What is seen of text that runs down, to the left, or up, by who turns the page to read it."""
_SAMPLED = 40
_THICKEST = 3
"""Points of a line; what is thicker is a ground."""


def view_of(page: pypdfium2.PdfPage, letters: pypdfium2.PdfTextPage) -> PdfMatrix:
    """From places in the file to places on the page as it is turned to read most of its text."""
    from pypdfium2 import PdfMatrix, raw

    number = letters.count_chars()
    sampled = range(0, number, max(1, number // _SAMPLED))
    angles = [angle for at in sampled if (angle := raw.FPDFText_GetCharAngle(letters, at)) >= 0]
    ways = [round(angle / (pi / 2)) % 4 for angle in angles]
    way = max(set(ways), key=ways.count, default=0)
    is_mirrored = way == 2 and page.get_rotation() != 180  # such letters are told as upside down
    return PdfMatrix(*(() if is_mirrored else _TURNED.get(way, ())))


def _strokes(page: pypdfium2.PdfPage, view: PdfMatrix) -> list[Stroke]:
    """The lines across and down that are drawn; none where there is too much on the page to look at."""
    from pypdfium2 import PdfiumError

    try:
        found = list(islice(_looked_at(page, view), _MOST_LOOKED_AT + 1))
    except PdfiumError:  # the page has its text all the same
        return []
    return [each for each in found if each is not None] if len(found) <= _MOST_LOOKED_AT else []


def _looked_at(page: pypdfium2.PdfPage, view: PdfMatrix) -> Iterator[Stroke | None]:
    """The strokes of a page and of the forms in it, and None for all else."""
    from pypdfium2 import raw

    views = [view]
    for each in page.get_objects(max_depth=_DEEPEST):
        if each.type == raw.FPDF_PAGEOBJ_FORM:
            views[each.level + 1 :] = [each.get_matrix().multiply(views[each.level])]
        elif each.type == raw.FPDF_PAGEOBJ_PATH and (is_ground := _is_ground(raw, each.raw)) is not None:
            yield from _of_path(raw, each.raw, each.get_matrix().multiply(views[each.level]), is_ground)
        yield None


def _is_ground(raw: Any, path: Any) -> bool | None:
    """Whether a path is a ground without lines around it, and no rule that is drawn as a thin box. None for one that
    nobody sees: it has no lines, and no filling but white."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, fill, stroke)
    if stroke.value:
        return False
    red, green, blue, opacity = (ctypes.c_uint() for _ in range(4))
    raw.FPDFPageObj_GetFillColor(path, red, green, blue, opacity)
    if not fill.value or not opacity.value or min(red.value, green.value, blue.value) >= _WHITE:
        return None
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    raw.FPDFPageObj_GetBounds(path, left, bottom, right, top)
    return min(right.value - left.value, top.value - bottom.value) > _THICKEST


def _of_path(raw: Any, path: Any, matrix: PdfMatrix, is_ground: bool) -> Iterator[Stroke | None]:
    x, y = ctypes.c_float(), ctypes.c_float()
    last = first = (0.0, 0.0)
    for number in range(raw.FPDFPath_CountSegments(path)):
        segment = raw.FPDFPath_GetPathSegment(path, number)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point, kind = matrix.on_point(x.value, y.value), raw.FPDFPathSegment_GetType(segment)
        first = point if kind == raw.FPDF_SEGMENT_MOVETO else first
        yield _stroke(last, point, is_ground) if kind == raw.FPDF_SEGMENT_LINETO else None
        last = point
        if raw.FPDFPathSegment_GetClose(segment):
            yield _stroke(last, first, is_ground)
            last = first


class Stroke(NamedTuple):
    """A line that stands at ``at`` and goes from ``start`` to ``end`` along the other axis.

    ``of_ground``: it is the edge of a coloured ground, and no line that is drawn.
    """

    is_across: bool
    at: float
    start: float
    end: float
    of_ground: bool = False


def _stroke(one: tuple[float, float], other: tuple[float, float], of_ground: bool) -> Stroke | None:
    """The line between two points; None for one that is askew."""
    (left, right), (low, high) = map(sorted, zip(one, other, strict=True))
    if high - low < 1 < right - left:
        return Stroke(True, (low + high) / 2, left, right, of_ground)
    return Stroke(False, (left + right) / 2, low, high, of_ground) if right - left < 1 < high - low else None


_NEAR = 3.0
"""Points: lines this near are one, and so are the ends of lines that do not quite meet."""
_SHORTEST = 4.0
"""Points: what is shorter is a letter drawn by strokes, a dash or a tick."""
_MOST_LINES = 1000
"""Lines of a page, once those in a row are joined: with more it is a drawing."""
_MOST_FIELDS = 20_000
_MOST_GRIDS = 50


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

    def holds(self, letter: Letter) -> bool:
        """Whether a letter is inside."""
        is_across = self.columns[0] <= letter.across < self.columns[-1]
        return is_across and self.rows[-1] < letter.middle <= self.rows[0]

    def cell(self, letter: Letter) -> int:
        """The cell that a letter is in, or nearest to."""
        column = bisect_right(self.columns, letter.across) - 1
        row = bisect_right(self.rows, -letter.middle, key=lambda each: -each) - 1
        return self.cells[max(0, min(row, len(self.rows) - 2))][max(0, min(column, len(self.columns) - 2))]

    def askew(self) -> set[int]:
        """The cells that are no rectangles: lines that make such are a drawing."""
        places: dict[int, list[tuple[int, int]]] = {}
        for row, cells in enumerate(self.cells):
            for column, cell in enumerate(cells):
                places.setdefault(cell, []).append((row, column))
        spans = {cell: [max(each) - min(each) + 1 for each in zip(*held, strict=True)] for cell, held in places.items()}
        return {cell for cell, (height, width) in spans.items() if height * width > len(places[cell])}


def grids(strokes: Sequence[Stroke]) -> list[Grid]:
    """The tables that ``strokes`` make, from the top of the page; none where there are too many."""
    across, down = (_joined([each for each in strokes if each.is_across is way]) for way in (True, False))
    if not (len(across) > 1 and len(down) > 1 and len(across) + len(down) <= _MOST_LINES):
        return []
    found = [_grid(*group) for group in _crossing(across, down)]
    usable = [each for each in found if each is not None]
    usable.sort(key=lambda each: (-each.rows[0], each.columns[0]))
    return usable if len(usable) <= _MOST_GRIDS else []


def _joined(lines: list[Stroke]) -> list[Stroke]:
    """Lines that stand at nearly one place are at the same, and one where they touch."""
    placed: list[list[Stroke]] = []
    for line in sorted(lines, key=lambda each: each.at):
        if placed and line.at - placed[-1][0].at <= _NEAR:
            placed[-1].append(line)
        else:
            placed.append([line])
    joined: list[Stroke] = []
    for group in placed:
        at = sum(each.at for each in group) / len(group)
        spans: list[tuple[float, float]] = []
        for line in sorted(group, key=lambda each: each.start):
            if spans and line.start <= spans[-1][1] + _NEAR:
                spans[-1] = spans[-1][0], max(spans[-1][1], line.end)
            else:
                spans.append((line.start, line.end))
        joined += [Stroke(group[0].is_across, at, start, end) for start, end in spans if end - start >= _SHORTEST]
    return joined


def _crossing(across: list[Stroke], down: list[Stroke]) -> list[tuple[list[Stroke], list[Stroke]]]:
    """The lines in groups whose members cross each other, directly or by others."""
    groups = Groups(len(across) + len(down))
    places = [each.at for each in down]
    for number, line in enumerate(across):
        first, stop = bisect_left(places, line.start - _NEAR), bisect_right(places, line.end + _NEAR)
        for other in range(first, stop):
            if down[other].start - _NEAR <= line.at <= down[other].end + _NEAR:
                groups.join(number, len(across) + other)
    members: dict[int, tuple[list[Stroke], list[Stroke]]] = {}
    for number, line in enumerate((*across, *down)):
        members.setdefault(groups.of(number), ([], []))[number >= len(across)].append(line)
    return list(members.values())


def _grid(across: list[Stroke], down: list[Stroke]) -> Grid | None:
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


def _parted(lines: Sequence[Stroke], start: float, end: float) -> bool:
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
Rows = list[Row]
Headings = Sequence[Cell]
Words = list[tuple[float, str]]
"""The words of a cell: the foot of each line, and what it says."""


def rows_of(grid: Grid, letters: Sequence[Letter], text: str) -> Rows:
    """The rows of ``grid`` with the ``letters`` of ``text`` in them; none where it is no table. A table has two rows of
    several cells, and most of its rows are such, or most of what it says stands in them."""
    whole, askew = Groups(1 + max(map(max, grid.cells))), grid.askew()
    for before, letter in pairwise(letters):
        if touch(before, letter):  # a word goes on from one cell to the next
            whole.join(grid.cell(before), grid.cell(letter))
    held: dict[int, list[Letter]] = {}
    for letter in letters:
        held.setdefault(whole.of(grid.cell(letter)), []).append(letter)
    words = {cell: _words(inside, text) for cell, inside in held.items()}
    cells = [[whole.of(cell) for cell in line] for line in grid.cells]
    lasts = {cell: number for number, line in enumerate(cells) for cell in line}
    rows: Rows = []
    crowded = sum(1 for each in letters if grid.cell(each) in askew)
    above: Set[int] = frozenset()
    for number, line in enumerate(cells):
        own = {cell for cell in line if cell not in above and lasts[cell] == number}
        filled = [words[cell] for cell in sorted(own) if cell in words]
        times, beside = _rows_within(filled)
        crowded += beside
        for at in range(times):
            begun = above if at == 0 else above | (set(line) - own)
            said = {
                cell: _said(words[cell], at if times > 1 and cell in own else None) for cell in line if cell in words
            }
            rows.append([_placed(span, said, begun) for span in _spans(grid, line)])
        above = set(line)
    rows = [row for row in rows if any(each.text and not each.again for each in row)]
    several = [row for row in rows if sum(1 for each in row if each.text) > 1]
    told, in_rows = (sum(len(each.text) for row in some for each in row if not each.again) for some in (rows, several))
    is_most = 2 * in_rows > told or 2 * len(several) > len(rows)
    return rows if len(several) > 1 and is_most and 3 * crowded < told else []


def _placed(span: tuple[float, float, int], said: Mapping[int, str], begun: Set[int]) -> Cell:
    """A cell of a row. What was ``begun`` above is said again if it is short."""
    left, right, cell = span
    text, again = said.get(cell, ""), cell in begun
    return Cell(left, right, "" if again and len(text) > _LONGEST_REPEATED else text, again)


def _words(letters: Sequence[Letter], text: str) -> Words:
    """The lines of a cell, of ``letters`` that are in the order of ``text``."""
    words: Words = []
    last = -1
    for letter in letters:
        goes_on = BROKEN.issuperset(text[last + 1 : letter.at])  # and so it does where nothing stands between
        if not words or not goes_on and abs(letter.foot - words[-1][0]) > _ONE_LINE:
            words.append((letter.foot, ""))
        foot, said = words[-1]
        words[-1] = foot, f"{said}{text[letter.at]}" if goes_on else f"{said} {text[letter.at]}"
        last = letter.at
    return words


def _rows_within(filled: Sequence[Words]) -> tuple[int, int]:
    """How many rows of a table stand between two lines: several, if all cells have as many lines, most of numbers. And
    the letters of one whose cells have several lines side by side, as columns do where no line parts the rows."""
    is_even = len(filled) > 1 and all(  # at the same heights
        len(words) == len(filled[0])
        and all(abs(one - other) < _ONE_LINE for (one, _), (other, _) in zip(words, filled[0], strict=True))
        for words in filled
    )
    if not is_even:
        return 1, 0
    numeric = sum(1 for words in filled for _, line in words if is_number(tidy(line)))
    count = len(filled[0])
    if count > 1 and 2 * numeric >= count * (len(filled) - 1):
        return count, 0
    return 1, sum(len(line) for words in filled for _, line in words) if count >= _CROWDED else 0


def _spans(grid: Grid, row: Sequence[int]) -> list[tuple[float, float, int]]:
    """From where to where each cell of a row goes."""
    spans: list[tuple[float, float, int]] = []
    for (left, right), cell in zip(pairwise(grid.columns), row, strict=True):
        if spans and spans[-1][2] == cell:
            spans[-1] = spans[-1][0], right, cell
        elif all(each[2] != cell for each in spans):
            spans.append((left, right, cell))
    return spans


def _said(words: Words, line: int | None) -> str:
    """The words of a cell, or of one of its lines."""
    return " ".join(" ".join(said for _, said in (words if line is None else [words[line]])).split())


def table_lines(rows: Sequence[Row], before: Headings = ()) -> tuple[list[str], Headings]:
    """A line for each row but the headings, and the headings. ``before``: those of a table that may go on here."""
    titles = next((at for at, row in enumerate(rows[:MOST_TITLES]) if len(_filled(row)) > 1), 0)
    body, heads = rows[titles:], _head_rows(rows[titles:])
    headings: list[Cell] = []
    for below in body[heads - 1]:  # the headings over each other that stand over it, in one
        over = (each for row in body[:heads] if (each := _over(row, below)) is not None)
        headings.append(Cell(below.left, below.right, " ".join(dict.fromkeys(each.text for each in over if each.text))))
    is_whole = all(any(each.text in heading.text for heading in headings) for row in body[:heads] for each in row)
    same = sum(1 for one, other in zip(before, headings, strict=False) if one.text == other.text)
    goes_on = 0 < len(before) == len(body[0]) and all(
        abs(one.left - other.left) < _SLACK and abs(one.right - other.right) < _SLACK
        for one, other in zip(before, body[0], strict=True)
    )
    if goes_on and heads == 1 and 2 * same < len(before):  # no page repeats most of the headings
        headings, heads = list(before), 0
    else:
        columns = zip(*(_values(headings, row) for row in (headings, *body[heads:LOOKED_AT])), strict=True)
        filled = list(zip(*(each for each in columns if any(each)), strict=True))
        if not is_whole or not has_headings(filled):
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
        over = ((_over(rows[number - 1], each), each) for each in others)
        below = [each for cell, each in over if cell and cell.right - cell.left > each.right - each.left + _SLACK]
        if again <= len(others) and not (len(below) > 1 and 2 * len(below) >= len(others)):
            break
        number += 1
    return number


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


def _line(headings: Headings, row: Sequence[Cell]) -> str:
    """A row with its headings; one that has a single cell over several columns is a remark, and has none."""
    filled = _filled(row)
    if len(filled) == 1 and len(row) < len(headings):
        headings = ()
    named = ((over.text if (over := _over(headings, each)) is not None else "", each.text) for each in filled)
    return " | ".join(f"{heading}: {text}" if heading else text for heading, text in named)
