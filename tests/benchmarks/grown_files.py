"""Files of each format in sizes of one's choice, and by which power of its size a file takes time."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time

import hostile_files
from made_pdf import ruled
from measure import growth

from kgplatform.concurrency.bounded import COLLECT_EVERY
from kgplatform.sources.load import load

_SIZES = (1, 4)
_TIMES = 3
_SAYS = "Ada Lovelace wrote to Charles Babbage about number {}."
MAKERS: Mapping[str, tuple[int, Callable[[int], bytes]]] = {
    "csv": (8_000, lambda size: b"number,name,what\n" + _lines("{0},Ada {0},wrote", size)),
    "tsv": (8_000, lambda size: b"number\tname\twhat\n" + _lines("{0}\tAda {0}\twrote", size)),
    "xlsx": (8_000, lambda size: hostile_files.workbook(hostile_files.sheet(_rows(size)))),
    "ods": (8_000, lambda size: hostile_files.open_workbook(1, 1, "".join(map(_OPEN_ROW.format, range(size))))),
    "odt": (8_000, lambda size: hostile_files.open_document("text", _lines("<te:p>" + _SAYS + "</te:p>", size))),
    "pptx": (8_000, lambda size: hostile_files.slides(_SLIDE + _lines(_SHAPE, size) + b"</p:sld>")),
    "epub": (8_000, lambda size: hostile_files.book(b"<html><body>%s</body></html>" % _lines("<p>" + _SAYS, size))),
    "eml": (8_000, lambda size: b"Subject: A mail\n\n" + _lines("> " + _SAYS + "\n", size)),
    "rst": (1_000, lambda size: _lines(_SAYS + "\n", size)),
    "rtf": (4_000, lambda size: b"{\\rtf1 " + _lines(_SAYS + "\\par", size) + b"}"),
    "vtt": (8_000, lambda size: b"WEBVTT\n\n" + _lines("00:01.000 --> 00:02.000\n" + _SAYS + "\n", size)),
    "pdf": (40, lambda size: ruled([[["Name", "Year", "Cups"], *[["Ada", "1815", "3"]] * 30]] * size)),
}
"""By format how many things a small file has, and what makes one of so many."""
_OPEN_ROW = (
    '<table:table-row><table:table-cell office:value-type="string"><text:p>Ada {}</text:p></table:table-cell>'
    "</table:table-row>"
)
_OFFICE = b"http://schemas.openxmlformats.org/"
_SLIDE = b'<p:sld xmlns:p="%spresentationml/2006/main" xmlns:a="%sdrawingml/2006/main">' % (_OFFICE, _OFFICE)
_SHAPE = "<p:sp><a:p><a:t>" + _SAYS + "</a:t></a:p></p:sp>"


def _lines(line: str, size: int) -> bytes:
    return "".join(line.format(at) + "\n" for at in range(size)).encode()


def _rows(size: int) -> list[bytes]:
    return [b'<row><c t="str"><v>Ada %d</v></c><c><v>%d</v></c></row>' % (at, at) for at in range(size)]


def exponent(suffix: str, folder: Path) -> float:
    """By which power of its size a file of the format takes processor time to read, over a fourfold size.

    It is read in this process, which from here on looks for cycles as seldom as the child of an ingest does.
    """
    gc.set_threshold(COLLECT_EVERY)
    small, make = MAKERS[suffix]
    seconds = []
    for size in _SIZES:
        path = folder / f"grown {size}.{suffix}"
        path.write_bytes(make(small * size))
        seconds.append(min(_took(path) for _ in range(_TIMES)))
    return growth(_SIZES, seconds)


def _took(path: Path) -> float:
    start = process_time()
    assert all(hasattr(each, "text") for each in load([path]))
    return process_time() - start
