"""OpenDocument: texts (ODT), and presentations (ODP) slide by slide. Tables are lines, notes follow their text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from kgplatform.ingest.files.archive import core_title, opened, read_xml
from kgplatform.ingest.files.file_text import FileText, Parts
from kgplatform.ingest.files.table import lines

if TYPE_CHECKING:
    from lxml import etree  # type: ignore[import-untyped]  # publishes no types

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
            yield from _paragraph(element)
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


def _paragraph(paragraph: etree._Element) -> Iterator[str]:
    """Its text, and then that of its footnotes and of the boxes that are anchored in it."""
    inner: list[etree._Element] = []
    if text := "".join(_pieces(paragraph, inner)).strip():
        yield text
    for each in inner:
        yield from _blocks(each)


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
