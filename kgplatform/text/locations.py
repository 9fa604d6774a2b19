"""What people call the places of a document: "page 3", "slides 2–4", "Budget!A2:F20", "chapter 2 · The Whale".

label_of_span(["slide 2", "slide 3", "slide 4"])    # "slides 2–4"
cited({"document": …, "start": 7, "page": 3, …})    # a citation: of a graph made before there were labels, "page 3"
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from kgplatform.records import Citation, FoundPassage, Location

_PAGE = re.compile(r"page (\d+)")
_COUNTED = re.compile(r"([^\W\d_]+) (\d+)")
_PLAIN_SHEET = re.compile(r"[^\W\d][\w.]*")
_CELL = re.compile(r"[A-Z]{1,3}\d+|R\d*|C\d*|R\d*C\d*", re.I)
_CELLS = re.compile(r"(.*!)([A-Z]+\d+)(?::([A-Z]+\d+))?", re.S)


def page_label(number: int) -> str:
    """What a page is called: those of a PDF count from 1."""
    return f"page {number}"


def sheet_label(name: str) -> str:
    """A sheet as Excel has it before its cells: in quotes, unless it is a plain word that cannot be a cell's name."""
    if _PLAIN_SHEET.fullmatch(name) and not _CELL.fullmatch(name):
        return name
    return "'{}'".format(name.replace("'", "''"))


def page_of(label: str | None) -> int | None:
    """The page that ``label`` names; None for slides, sheets and the like."""
    found = _PAGE.fullmatch(label or "")
    return int(found[1]) if found else None


def within(locations: Sequence[Location], start: int, end: int) -> list[Location]:
    """Those of ``locations``, which are in order, that have some of the characters ``[start, end)``."""
    first = max(0, bisect_right(locations, start, key=lambda each: each.start) - 1)
    stop = max(first + 1, bisect_right(locations, end - 1, key=lambda each: each.start))
    return list(locations[first:stop])


def label_of_span(labels: Sequence[str]) -> str | None:
    """One label for what stands in several places that follow each other; None for none."""
    if not labels or labels[0] == labels[-1]:
        return labels[0] if labels else None
    first, last = labels[0], labels[-1]
    counted = _COUNTED.fullmatch(first), _COUNTED.fullmatch(last)
    if counted[0] and counted[1] and counted[0][1] == counted[1][1]:
        return f"{counted[0][1]}s {counted[0][2]}–{counted[1][2]}"
    cells = _CELLS.fullmatch(first), _CELLS.fullmatch(last)
    if cells[0] and cells[1] and cells[0][1] == cells[1][1]:
        return f"{cells[0][1]}{cells[0][2]}:{cells[1][3] or cells[1][2]}"
    return f"{first} – {last}"


def location_at(passage: FoundPassage, start: int) -> str | None:
    """The label of the document's character ``start``, which is in ``passage``."""
    before = bisect_right(passage.locations, start, key=lambda each: each[0])
    return passage.locations[before - 1][1] if before else passage.location


def citation_of(passage: FoundPassage, start: int, end: int, *, found: bool = True) -> Citation:
    """The citation of the document's characters ``[start, end)``, which are in ``passage``."""
    label = location_at(passage, start)
    page = page_of(label) or passage.page
    return Citation(passage.document, passage.title, start, end, page, passage.id, found, label)


def cited(row: Mapping[str, Any]) -> Citation:
    """A citation as a statement returns it: its fields by name."""
    return Citation(**with_location(row))


def with_location(row: Mapping[str, Any]) -> dict[str, Any]:
    """``row`` with a ``page`` that is that of its ``location``, or a location that is that of its page."""
    label, page = row["location"], row["page"]
    if label is None and page is not None:
        return {**row, "location": page_label(page)}
    return {**row, "page": page_of(label) or page}
