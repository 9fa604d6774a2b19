"""Workbooks (XLSX, XLSB, XLS, ODS) and tables of separated values (CSV, TSV): each row knows its cells' place.

calamine (Rust) reads all kinds of workbooks, as values: formulas as what they gave when they were saved.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time
from itertools import groupby, islice
from typing import TYPE_CHECKING, BinaryIO

from kgplatform.errors import DocumentError
from kgplatform.sources.decode import decode
from kgplatform.sources.files.archive import opened
from kgplatform.sources.files.file_text import FileText, Parts, clean, headings_at, parsing, row_line
from kgplatform.text.locations import sheet_label

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

_DELIMITERS = ",;\t|"
_MOST_REPEATED = 100_000
"""Cells that a workbook may have beyond one for each of its bytes: in ODS, cells and rows say how often they come."""

Rows = list[tuple[int, list[str]]]
"""Rows with their numbers, from 1."""


def read_workbook(path: str, stream: BinaryIO) -> FileText:
    """The sheets of a workbook, each row a line with the headings of its columns, "Budget!A7:F7"."""
    import python_calamine

    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    if stream.read(2) == b"PK":
        with opened(path, stream) as archive:
            size = sum(part.file_size for part in archive.infolist())
    stream.seek(0)
    with parsing(path, "damaged workbook, or one with too many cells: open it in its program and save it again"):
        try:
            book = python_calamine.CalamineWorkbook.from_filelike(stream)
        except python_calamine.PasswordError as error:
            raise DocumentError(path, "encrypted workbook: remove its password first") from error
        parts, left = Parts(), _MOST_REPEATED + size
        names = [each.name for each in book.sheets_metadata if each.typ == python_calamine.SheetTypeEnum.WorkSheet]
        for name in names:
            sheet = book.get_sheet_by_name(name)
            rows = sheet.to_python(skip_empty_area=True)
            left -= sum(len(row) - row.count("") for row in rows)
            if left < 0:
                raise DocumentError(path, f"repeats its cells more than {_MOST_REPEATED:,} times: refused")
            _add_sheet(parts, sheet, rows, with_name=len(names) > 1)
    return parts.found()


def _add_sheet(parts: Parts, sheet: CalamineSheet, rows: Iterable[Sequence[object]], *, with_name: bool) -> None:
    name, (top, left) = " ".join(sheet.name.split()), sheet.start or (0, 0)
    over = name if with_name else ""
    numbered = enumerate(rows, start=top + 1)
    for block in _blocks((number, [_shown(cell) for cell in row]) for number, row in numbered):
        for number, line, first, last in _block_lines(block):
            cells = f"{_column(left + first)}{number}" + (f":{_column(left + last)}{number}" if last > first else "")
            gap = "\n" if number > block[0][0] else "\n\n"
            parts.add(f"{over}\n\n{line}" if over else line, f"{sheet_label(name)}!{cells}", gap)
            over = ""


def _blocks(rows: Iterator[tuple[int, list[str]]]) -> Iterator[Rows]:
    """Runs of rows without an empty one between them."""
    return (list(block) for is_filled, block in groupby(rows, lambda row: any(row[1])) if is_filled)


def _block_lines(block: Rows) -> Iterator[tuple[int, str, int, int]]:
    """``(row number, line, first column, last column)`` of each row that is no headings."""
    columns = sorted({at for _, row in block for at, cell in enumerate(row) if cell})
    for number, line in _lines([(number, [row[at] for at in columns]) for number, row in block]):
        yield number, line, columns[0], columns[-1]


def _lines(rows: Rows, *, by_custom: bool = False) -> Iterator[tuple[int, str]]:
    """The number and the line of each row that is no headings."""
    head = headings_at([row for _, row in rows], by_custom=by_custom)
    for at, (number, row) in enumerate(rows):
        if at != head:
            yield number, row_line(rows[head][1] if head is not None and at > head else (), row)


def _shown(value: object) -> str:
    """A cell as people write it: whole numbers without a point, dates without midnight."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, datetime | date | time):
        return value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()
    return " ".join(clean(str(value)).split())


def _column(at: int) -> str:
    """The letters of a column, counted from 0: ``AB`` is 27."""
    letters = ""
    while at >= 0:
        at, letter = divmod(at, 26)
        letters, at = chr(65 + letter) + letters, at - 1
    return letters


def read_table(path: str, stream: BinaryIO) -> FileText:
    """A file of comma- or tab-separated values, each row a line with the headings of its columns, "row 7"."""
    source = decode(path, stream.read())
    text = source.text
    if not text.strip():
        raise DocumentError(path, "has no text, only white space")
    with parsing(path, "not a table of separated values: save it as plain text (.txt)"):
        csv.field_size_limit(len(text) + 1)
        found = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=False)
        rows = [(number, row) for number, row in enumerate(found, start=1) if any(cell.strip() for cell in row)]
        parts = Parts()
        for number, line in _lines(rows, by_custom=True):
            parts.add(line, f"row {number}", "\n")
    return parts.found(None, source.faults)


def _delimiter(text: str) -> str:
    """The mark that parts the cells: the one by which most of the first lines have equally many, and more than one."""
    head = list(islice(io.StringIO(text, newline=""), 50))

    def evenness(mark: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(head, delimiter=mark) if row]
        usual = max(set(widths), key=widths.count, default=1)
        return (widths.count(usual) / len(widths) if usual > 1 else 0, usual)

    return max(_DELIMITERS, key=evenness)
