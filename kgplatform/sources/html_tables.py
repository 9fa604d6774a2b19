"""The tables of a page of HTML as lines: each row with the headings of its columns, cells over several rows in each.

Tables that only lay a page out, which have no headings or hold other tables, stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from kgplatform.sources.files.table import has_headings, lines
from kgplatform.text import tidy

if TYPE_CHECKING:
    from lxml import etree  # type: ignore[import-untyped]  # publishes no types

_ROWS = ("thead", "tbody", "tfoot")
_CELLS = ("td", "th")
_MOST_SPAN = 1000
_MOST_REPEATED = 20
"""Times as many cells as are written may come of those that span several rows and columns."""
_LONGEST_CELL = 500
"""Letters: with more in one cell a table without headings is a way to lay a page out."""


def lay_out_tables(root: etree._Element, without: Set[etree._Element], *, look: bool = False) -> None:
    """Replace each row of each table below ``root`` that has headings by one cell that says it.

    ``without``: elements that are left out. ``look``: tables whose headings are not marked count as well, as do those
    without any, unless their cells are long.
    """
    for table in [each for each in root.iter("table") if each not in without]:
        if next(table.iterdescendants("table"), None) is None:
            rows = list(_rows(table))
            grid = _grid(rows, without)
            if grid and (said := _said(rows, grid, look=look)) is not None:
                _replace(table, said)


def _rows(table: etree._Element) -> Iterator[etree._Element]:
    for each in table:
        if each.tag == "tr":
            yield each
        elif each.tag in _ROWS:
            yield from (row for row in each if row.tag == "tr")


def _said(rows: list[etree._Element], grid: list[list[str]], *, look: bool) -> list[str] | None:
    """The lines of a table; None if it is to stay as it is."""
    heads = _head_rows(rows)
    if heads and len(grid) > heads:
        merged = [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*grid[:heads], strict=True)]
        return lines([merged, *grid[heads:]], first=True)
    if not look or max(len(cell) for row in grid for cell in row) > _LONGEST_CELL:
        return None
    return lines(grid, first=has_headings(grid))


def _head_rows(rows: list[etree._Element]) -> int:
    """How many rows at the top are headings: those in ``thead``, else a first row of ``th`` alone."""
    marked = sum(1 for row in rows if row.getparent().tag == "thead")
    if marked:
        return marked
    cells = [each.tag for each in rows[0] if each.tag in _CELLS] if rows else []
    return 1 if len(cells) > 1 and set(cells) == {"th"} else 0


def _grid(rows: list[etree._Element], without: Set[etree._Element]) -> list[list[str]]:
    """The texts of all cells, those that span rows or columns in each; empty if that were too many."""
    cells = [[cell for cell in row if cell.tag in _CELLS] for row in rows]
    left = _MOST_REPEATED * sum(map(len, cells)) + _MOST_REPEATED
    held: dict[int, tuple[int, str]] = {}
    grid: list[list[str]] = []
    for row in cells:
        line, held = _line(row, held, without)
        grid.append(line)
        left -= len(line)
        if left < 0:
            return []
    width = max(map(len, grid), default=0)
    if width * len(grid) > left + sum(map(len, grid)):
        return []
    return [row + [""] * (width - len(row)) for row in grid] if width else []


def _line(
    row: list[etree._Element], held: dict[int, tuple[int, str]], without: Set[etree._Element]
) -> tuple[list[str], dict[int, tuple[int, str]]]:
    """The texts of one row. ``held``: by column, for how many rows more a cell from above goes on, and its text."""
    line: list[str] = []
    below = {at: (more - 1, text) for at, (more, text) in held.items() if more > 1}
    for cell in row:
        while len(line) in held:
            line.append(held[len(line)][1])
        text = _text(cell, without)
        for _ in range(_span(cell, "colspan")):
            if _span(cell, "rowspan") > 1:
                below[len(line)] = (_span(cell, "rowspan") - 1, text)
            line.append(text)
    while len(line) in held:
        line.append(held[len(line)][1])
    return line, below


def _span(cell: etree._Element, name: str) -> int:
    said = cell.get(name, "1").strip()
    return max(1, min(int(said), _MOST_SPAN)) if said.isdecimal() and len(said) < 9 else 1


def _text(cell: etree._Element, without: Set[etree._Element]) -> str:
    """All words of a cell on one line."""
    parts: list[str] = []
    waiting: list[etree._Element | str | None] = [*reversed(cell), cell.text] if cell not in without else []
    while waiting:
        each = waiting.pop()
        if each is None or isinstance(each, str):
            parts.append(each or "")
            continue
        waiting.append(each.tail)
        if isinstance(each.tag, str) and each not in without:
            waiting += [" " if each.tag in ("p", "br", "li", "div") else "", *reversed(each), each.text]
    return tidy("".join(parts))


def _replace(table: etree._Element, said: list[str]) -> None:
    caption, tail = table.find("caption"), table.tail
    for child in [each for each in table if each is not caption]:
        table.remove(child)
    table.text, table.tail = None, tail
    for line in said:
        row = table.makeelement("tr")
        cell = table.makeelement("td")
        cell.text = line
        row.append(cell)
        table.append(row)
