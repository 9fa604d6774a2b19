"""Tables as text: one line a row, and in each row the heading of every column before its value.

    lines([["Team", "Cups"], ["Montréal", "24"]], first=True)    # ["Team: Montréal | Cups: 24"]

So a passage that has some rows of a long table, or a search that finds one row, knows what its cells are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgplatform.text import tidy

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
    return any(_tells_heading(heading, cells) for heading, cells in zip(first, below, strict=True))


def _tells_heading(heading: str, cells: Sequence[str]) -> bool:
    """Whether the ``cells`` below a word are of another kind than it."""
    if len(cells) < _SURE_ROWS:
        return len(cells) > 1 and all(map(is_number, cells)) and not all(map(_ANY_YEAR.fullmatch, cells))
    return all(map(_DIGIT.search, cells)) and not _DIGIT.search(heading)


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


def headings_at(rows: Sequence[Row], *, by_custom: bool = False) -> int | None:
    """The index of the row of headings: the first, or one below a title and the like, which fill one cell each."""
    for at, row in enumerate(rows[:MOST_TITLES]):
        if sum(1 for cell in row if cell.strip()) > 1:
            return at if has_headings(rows[at : at + LOOKED_AT], by_custom=by_custom) else None
    return None
