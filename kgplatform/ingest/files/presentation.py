"""Presentations (PPTX): the text of each slide with its tables, charts, diagrams and notes, "slide 3"."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from kgplatform.ingest.files.archive import core_title, opened, read_xml, related, related_id
from kgplatform.ingest.files.file_text import FileText, Parts
from kgplatform.ingest.files.table import lines

if TYPE_CHECKING:
    from lxml import etree  # type: ignore[import-untyped]  # publishes no types

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SLIDE = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
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
        names = [links[related_id(each)][1] for each in shown.iter(f"{_SLIDE}sldId") if related_id(each) in links]
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
    for paragraph in element.iter(f"{_DRAWING}p"):
        if text := _text(paragraph).strip():
            yield text


def _text(paragraph: etree._Element) -> str:
    breaks = {f"{_DRAWING}br": "\n", f"{_DRAWING}tab": "\t"}
    return "".join(
        each.text or "" if each.tag == f"{_DRAWING}t" else breaks.get(each.tag, "") for each in paragraph.iter()
    )


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
