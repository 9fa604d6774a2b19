"""The letters of a page within the grids that its ruling lines make, as rows of cells, and these as lines of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kgplatform.ingest.files.ruled import Grid, Groups
from kgplatform.ingest.files.table import LOOKED_AT, MOST_TITLES, has_headings, is_number
from kgplatform.text import tidy

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
