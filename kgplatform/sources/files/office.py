"""Presentations (PPTX), texts (DOCX) and workbooks (XLSX, XLSB, XLS) of Microsoft Office, and those of OpenDocument
(ODP, ODT, ODS); and tables of separated values (CSV, TSV).

Of presentations the text of each slide with its tables, charts, diagrams and notes ("slide 3"); of texts paragraphs
apart by blank lines, tables row by row, and notes; of tables rows, each of which knows its cells' place. calamine
(Rust) reads all kinds of workbooks, as values: formulas as what they gave when they were saved.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time
from itertools import groupby, islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from kgplatform.errors import DocumentError
from kgplatform.sources.decode import decode
from kgplatform.sources.files.archive import core_title, opened, read_xml, related
from kgplatform.sources.files.file_text import (
    LOOKED_AT,
    MOST_TITLES,
    FileText,
    Parts,
    by_heading,
    clean,
    has_headings,
    lines,
    parsing,
    row_line,
)
from kgplatform.sources.html_text import headings_of, html_tree, shown_text

if TYPE_CHECKING:
    from lxml import etree  # type: ignore[import-untyped]  # publishes no types

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SLIDE = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_NO_TEXT = frozenset(("sldNum", "dt", "ftr", "hdr", "sldImg"))
"""Placeholders that say the same on every slide."""


def read_presentation(path: str, stream: BinaryIO) -> FileText:
    """The slides in the order in which they are shown."""
    parts = Parts()
    with opened(path, stream) as archive:
        shown = read_xml(path, archive, "ppt/presentation.xml")
        links = related(path, archive, "ppt/presentation.xml")
        ids = [str(each.get(f"{_RELATED}id", "")) for each in shown.iter(f"{_SLIDE}sldId")]
        names = [links[id_][1] for id_ in ids if id_ in links]
        for number, name in enumerate(names, start=1):
            parts.add("\n\n".join(_slide_blocks(path, archive, name)), f"slide {number}")
        title = core_title(path, archive)
    return parts.found(None if title in ("PowerPoint Presentation", "PowerPoint-Präsentation") else title)


def _slide_blocks(path: str, archive: zipfile.ZipFile, part: str) -> Iterator[str]:
    """The paragraphs and tables of a slide, its title first, then what its charts, diagrams and notes say."""
    slide = read_xml(path, archive, part)
    shapes = list(_shapes(slide))
    for shape in sorted(shapes, key=lambda each: _kind(each) not in ("title", "ctrTitle")):
        if _kind(shape) not in _NO_TEXT:
            yield from _tables(shape) if shape.tag == f"{_SLIDE}graphicFrame" else _paragraphs(shape)
    for kind, target in related(path, archive, part).values():
        if kind == "chart":
            yield from _chart(read_xml(path, archive, target))
        elif kind == "diagramData":
            yield from _paragraphs(read_xml(path, archive, target))
        elif kind == "notesSlide":
            notes = [shape for shape in _shapes(read_xml(path, archive, target)) if _kind(shape) not in _NO_TEXT]
            said = "\n\n".join(text for shape in notes for text in _paragraphs(shape))
            yield f"Notes: {said}" if said else ""


def _shapes(slide: etree._Element) -> Iterator[etree._Element]:
    """The shapes with text or tables, in groups too, in their order; of alternatives the first."""
    waiting = [slide]
    while waiting:
        element = waiting.pop()
        if element.tag in (f"{_SLIDE}sp", f"{_SLIDE}graphicFrame"):
            yield element
        elif element.tag != _FALLBACK:
            waiting += reversed(element)


def _kind(shape: etree._Element) -> str:
    """Which placeholder ``shape`` is: "title", "body" …; "" if none."""
    held = next(shape.iter(f"{_SLIDE}ph"), None)
    return "" if held is None else held.get("type", "body")


def _paragraphs(element: etree._Element) -> Iterator[str]:
    breaks = {f"{_DRAWING}br": "\n", f"{_DRAWING}tab": "\t"}
    for paragraph in element.iter(f"{_DRAWING}p"):
        parts = (each.text if each.tag == f"{_DRAWING}t" else breaks.get(each.tag) for each in paragraph.iter())
        if text := "".join(filter(None, parts)).strip():
            yield text


def _tables(frame: etree._Element) -> Iterator[str]:
    for table in frame.iter(f"{_DRAWING}tbl"):
        rows = [
            [" ".join(_paragraphs(cell)) for cell in row.iter(f"{_DRAWING}tc")] for row in table.iter(f"{_DRAWING}tr")
        ]
        style = table.find(f"{_DRAWING}tblPr")
        marked = style is not None and style.get("firstRow") in ("1", "true")
        yield "\n".join(lines(rows, first=True if marked else None))


def _chart(chart: etree._Element) -> Iterator[str]:
    """The title of a chart, and its numbers: a line for each category."""
    for title in chart.iter(f"{_CHART}title"):
        yield " ".join(_paragraphs(title))
    series = list(chart.iter(f"{_CHART}ser"))
    names = [" ".join(_values(each, "tx").values()) for each in series]
    columns = [_values(each, "val") or _values(each, "yVal") for each in series]
    labels = {at: text for each in series for at, text in (_values(each, "cat") or _values(each, "xVal")).items()}
    rows = [[labels.get(at, ""), *(column.get(at, "") for column in columns)] for at in sorted(labels)]
    yield "\n".join(lines([["", *names], *rows], first=True))


def _values(series: etree._Element, role: str) -> dict[int, str]:
    """What a series of a chart has of names ("tx"), categories ("cat") or numbers ("val"), by their index."""
    held = series.find(f"{_CHART}{role}")
    points = () if held is None else held.iter(f"{_CHART}pt")
    found = {int(each.get("idx", 0)): each.findtext(f"{_CHART}v", "") for each in points}
    plain = "" if held is None else held.findtext(f"{_CHART}v", "")
    return found or ({0: plain} if plain else {})


def read_word(path: str, stream: BinaryIO) -> FileText:
    """The text of a Word document, with its tables, footnotes and endnotes."""
    import mammoth  # type: ignore[import-untyped]  # publishes no types

    with opened(path, stream) as archive:
        title = core_title(path, archive)
        # The parts that may hold text. Word writes hundreds of styles, which take mammoth longer than all the rest.
        kept = io.BytesIO()
        with zipfile.ZipFile(kept, "w") as target:
            for part in archive.namelist():
                if part.endswith((".xml", ".rels")) and PurePosixPath(part).name != "styles.xml":
                    target.writestr(part, archive.read(part))
        kept.seek(0)
        page = mammoth.convert_to_html(kept, style_map=_HEADINGS, convert_image=lambda _: []).value
        tree = html_tree(clean(page).encode())
        if tree is None:
            return FileText("", title)
        text = shown_text(tree, all_tables=True)
        return FileText(text, title, by_heading(text, headings_of(tree), title))


_HEADINGS = "\n".join(f"p.Heading{level} => h{level}:fresh" for level in range(1, 7))
"""What Word's own styles for headings become, by their ids, which are the same in most languages."""


_OF = "urn:oasis:names:tc:opendocument:xmlns:"
_TEXT, _TABLE, _OFFICE = f"{{{_OF}text:1.0}}", f"{{{_OF}table:1.0}}", f"{{{_OF}office:1.0}}"
_DRAW, _SHOWN = f"{{{_OF}drawing:1.0}}", f"{{{_OF}presentation:1.0}}"
_PARAGRAPHS = (f"{_TEXT}p", f"{_TEXT}h")
_NOTE = f"{_TEXT}note"
_LEFT_OUT = frozenset((f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}note-citation", f"{_OFFICE}forms"))
_MOST_REPEATED = 1000
"""Cells and spaces say how often they are repeated; more than so many are padding."""


def read_open_text(path: str, stream: BinaryIO) -> FileText:
    """The paragraphs of an OpenDocument text, apart by blank lines."""
    with opened(path, stream) as archive:
        body = read_xml(path, archive, "content.xml").find(f"{_OFFICE}body")
        text = "" if body is None else "\n\n".join(_blocks(body))
        return FileText(text, core_title(path, archive, "meta.xml"))


def read_open_presentation(path: str, stream: BinaryIO) -> FileText:
    """The slides of an OpenDocument presentation, each with its notes."""
    parts = Parts()
    with opened(path, stream) as archive:
        for number, slide in enumerate(read_xml(path, archive, "content.xml").iter(f"{_DRAW}page"), start=1):
            parts.add("\n\n".join(_blocks(slide)), f"slide {number}")
        return parts.found(core_title(path, archive, "meta.xml"))


def _blocks(root: etree._Element) -> Iterator[str]:
    """The paragraphs, headings and tables below ``root`` in their order."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.tag in _PARAGRAPHS:
            inner: list[etree._Element] = []  # its footnotes, and the boxes that are anchored in it
            if text := "".join(_pieces(element, inner)).strip():
                yield text
            for each in inner:
                yield from _blocks(each)
        elif element.tag == f"{_TABLE}table":
            rows = [_cells(row) for row in element.iter(f"{_TABLE}table-row")]
            marked = element.find(f"{_TABLE}table-header-rows") is not None
            if text := "\n".join(lines(rows, first=True if marked else None)):
                yield text
        elif element.tag == f"{_SHOWN}notes":
            if said := "\n\n".join(block for each in element for block in _blocks(each)):
                yield f"Notes: {said}"
        elif element.tag not in _LEFT_OUT:
            waiting += reversed(element)


def _pieces(paragraph: etree._Element, inner: list[etree._Element]) -> Iterator[str]:
    """The words of a paragraph; notes and boxes go to ``inner``."""
    waiting: list[etree._Element | str | None] = [*reversed(paragraph), paragraph.text]
    while waiting:
        each = waiting.pop()
        if each is None or isinstance(each, str):
            yield each or ""
            continue
        waiting.append(each.tail)
        if each.tag == _NOTE or each.tag.startswith(_DRAW):
            inner += each
        elif each.tag == f"{_TEXT}s":
            yield " " * _repeated(each, f"{_TEXT}c")
        elif each.tag in (f"{_TEXT}tab", f"{_TEXT}line-break"):
            yield "\t" if each.tag.endswith("tab") else "\n"
        elif each.tag not in _LEFT_OUT:
            waiting += [*reversed(each), each.text]


def _cells(row: etree._Element) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if cell.tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            text = " ".join(_blocks(cell))
            cells += [text] * _repeated(cell, f"{_TABLE}number-columns-repeated")
    return cells


def _repeated(element: etree._Element, attribute: str) -> int:
    said = element.get(attribute, "1")
    return min(int(said), _MOST_REPEATED) if said.isdecimal() else 1


if TYPE_CHECKING:
    from python_calamine import CalamineSheet

_DELIMITERS = ",;\t|"
_PLAIN_SHEET = re.compile(r"[^\W\d][\w.]*")
_CELL = re.compile(r"[A-Z]{1,3}\d+|R\d*|C\d*|R\d*C\d*", re.I)
_MOST_REPEATED_CELLS = 100_000
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
        parts, left = Parts(), _MOST_REPEATED_CELLS + size
        names = [each.name for each in book.sheets_metadata if each.typ == python_calamine.SheetTypeEnum.WorkSheet]
        for name in names:
            sheet = book.get_sheet_by_name(name)
            rows = sheet.to_python(skip_empty_area=True)
            left -= sum(len(row) - row.count("") for row in rows)
            if left < 0:
                raise DocumentError(path, f"repeats its cells more than {_MOST_REPEATED_CELLS:,} times: refused")
            _add_sheet(parts, sheet, rows, with_name=len(names) > 1)
    return parts.found()


def _add_sheet(parts: Parts, sheet: CalamineSheet, rows: Iterable[Sequence[object]], *, with_name: bool) -> None:
    name, (top, left) = " ".join(sheet.name.split()), sheet.start or (0, 0)
    over = name if with_name else ""
    # As Excel has it before its cells: in quotes, unless it is a plain word that cannot be a cell's name.
    is_plain = _PLAIN_SHEET.fullmatch(name) and not _CELL.fullmatch(name)
    label = name if is_plain else "'{}'".format(name.replace("'", "''"))
    numbered = ((number, [_shown(cell) for cell in row]) for number, row in enumerate(rows, start=top + 1))
    for is_filled, run in groupby(numbered, lambda row: any(row[1])):  # an empty row parts two tables
        block = list(run) if is_filled else []
        columns = sorted({at for _, row in block for at, cell in enumerate(row) if cell})
        for number, line in _lines([(number, [row[at] for at in columns]) for number, row in block]):
            first, last = left + columns[0], left + columns[-1]
            cells = f"{_column(first)}{number}" + (f":{_column(last)}{number}" if last > first else "")
            gap = "\n" if number > block[0][0] else "\n\n"
            parts.add(f"{over}\n\n{line}" if over else line, f"{label}!{cells}", gap)
            over = ""


def _lines(rows: Rows, *, by_custom: bool = False) -> Iterator[tuple[int, str]]:
    """The number and the line of each row that is no headings: those are the first row, or one below a title and the
    like, which fill one cell each."""
    head = None
    for at, (_, row) in enumerate(rows[:MOST_TITLES]):
        if sum(1 for cell in row if cell.strip()) > 1:
            shown = [each for _, each in rows[at : at + LOOKED_AT]]
            head = at if has_headings(shown, by_custom=by_custom) else None
            break
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
