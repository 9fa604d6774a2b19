"""PDF: the text layer, page by page, with its ruled tables; and scans, pictures of text, as pages or as files.

Scans are read by OCR where the extra ``ocr`` is installed. RapidOCR runs on onnxruntime; its models are in its wheel:
nothing is downloaded.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from kgplatform.concurrency.workers import renew
from kgplatform.errors import DocumentError, to_install
from kgplatform.records import page_label
from kgplatform.sources.decode import HEAD_BYTES, foreign_format
from kgplatform.sources.files.file_text import FileText, Parts, clean, parsing
from kgplatform.sources.files.pdf_tables import BROKEN, PdfTables
from kgplatform.text import tidy

if TYPE_CHECKING:
    import pypdfium2  # type: ignore[import-untyped]  # publishes no types
    from PIL.Image import Image


MOST_SCANS = 500
"""Pages of one file that are read by OCR, which takes seconds for each."""
_LEAST_SURE = 0.5
_MOST_PIXELS = 100_000_000
_LONGEST_SIDE = 4000
"""Pixels; a larger picture is made smaller, which its letters survive: A4 at 300 dpi has 3,508. Some pages of PDFs are
metres long."""


@lru_cache(maxsize=1)
def to_read_scans() -> str:
    """What to do where no scan can be read."""
    return f"to read scans, run {to_install('ocr')}"


def can_read_scans() -> bool:
    """Whether the extra is installed."""
    from importlib.util import find_spec

    return find_spec("rapidocr") is not None


def read_image(path: str, stream: BinaryIO) -> FileText:
    """The words in a picture; a TIFF file may have several pages."""
    if not can_read_scans():
        raise DocumentError(path, f"{foreign_format(stream.read(HEAD_BYTES))}; {to_read_scans()}")
    from PIL import Image, ImageSequence

    Image.MAX_IMAGE_PIXELS = _MOST_PIXELS
    with parsing(path, "damaged image, or one that is too large: save it again"), Image.open(stream) as image:
        pages = ImageSequence.Iterator(image)
        texts = []
        for page in islice(pages, MOST_SCANS):
            renew()
            texts.append(words_in(page))
        has_more = next(pages, None) is not None
    if not any(texts):
        raise DocumentError(path, "an image in which no text was found")
    parts = Parts()
    for number, text in enumerate(texts, start=1):
        parts.add(text, page_label(number))
    if len(texts) == 1:
        return FileText(parts.text)
    fault = f"has more than {MOST_SCANS} pages, and no more are read: split it"
    return parts.found(faults=(fault,) if has_more else ())


def words_in(image: Image) -> str:
    """What is written in ``image``, line by line; lines that are far apart are paragraphs of their own."""
    import numpy

    picture = image.convert("RGB")
    picture.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    found = _engine()(numpy.asarray(picture)[:, :, ::-1])
    if found.txts is None:
        return ""
    boxes = []
    for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        if score >= _LEAST_SURE:
            (left, top), (right, bottom) = corners.min(0).tolist(), corners.max(0).tolist()
            boxes.append(Box(left, top, right, bottom, text))
    return read_in_order(boxes)


@lru_cache(maxsize=1)
def _engine() -> Any:
    """Loaded once in a process, in a second or more. It has one thread: others may be at work beside it."""
    from rapidocr import RapidOCR

    engine = RapidOCR(params={"Global.log_level": "critical", "EngineConfig.onnxruntime.intra_op_num_threads": 1})
    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    return engine


_LEAST_LINES = 4
"""Of prose in each column: boxes side by side are else one line, as in a form or a receipt."""
_SLACK = 0.5
"""Of a line's height: so far two columns may overlap."""
_PROSE = 15
"""Letters that a line of a column has on average; with less it is a column of a table."""


@dataclass(frozen=True, slots=True)
class Box:
    """Words where they stand, in pixels from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float
    text: str


Row = list[Box]


def read_in_order(boxes: Sequence[Box]) -> str:
    """The text of ``boxes``, a line for each; where more than a line's height is free, a paragraph ends."""
    return "\n\n".join("\n".join(_lines(block)) for block in _blocks(_rows(boxes)) if block)


def _rows(boxes: Sequence[Box]) -> list[Row]:
    """Boxes at one height, from the top, each row from the left."""
    rows: list[Row] = []
    for box in sorted(boxes, key=lambda each: (each.top, each.left)):
        middle = (box.top + box.bottom) / 2
        if rows and middle < min(each.bottom for each in rows[-1]):
            rows[-1].append(box)
        else:
            rows.append([box])
    return [sorted(row, key=lambda each: each.left) for row in rows]


def _blocks(rows: list[Row]) -> Iterator[list[Row]]:
    """Runs of rows that are read one after the other; a column of prose is one."""
    at, plain = 0, list[Row]()
    while at < len(rows):
        stop, columns = _columns(rows, at)
        if columns:
            yield plain
            yield from columns
            at, plain = stop, []
        else:
            plain.append(rows[at])
            at += 1
    yield plain


def _columns(rows: list[Row], start: int) -> tuple[int, list[list[Row]]]:
    """The columns that begin at row ``start`` and the row where they end; none where there are none."""
    cover: list[tuple[float, float]] = []
    best: tuple[int, list[tuple[float, float]]] = (start, [])
    for stop in range(start, len(rows)):
        cover = _covered([*cover, *map(_span, rows[stop])])
        if len(cover) < max(2, len(best[1])):  # something stands across columns
            break
        best = stop + 1, cover
    stop, spans = best
    boxes = [box for row in rows[start:stop] for box in row]
    found = [_rows([box for box in boxes if left <= _span(box)[0] <= right]) for left, right in spans]
    columns = [column for column in found if len(column) >= _LEAST_LINES]  # and the rest is specks
    is_prose = all(sum(len(box.text) for row in each for box in row) >= _PROSE * len(each) for each in columns)
    return stop, found if len(columns) > 1 and is_prose else []


def _span(box: Box) -> tuple[float, float]:
    """From its left to its right, less a little: the page may stand askew."""
    slack = min(_SLACK * (box.bottom - box.top), (box.right - box.left) / 2)
    return box.left + slack, box.right - slack


def _covered(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The union of ``spans``."""
    union: list[tuple[float, float]] = []
    for left, right in sorted(spans):
        if union and left <= union[-1][1]:
            union[-1] = union[-1][0], max(union[-1][1], right)
        else:
            union.append((left, right))
    return union


def _lines(rows: list[Row]) -> Iterator[str]:
    last: Box | None = None
    for row in rows:
        first = row[0]
        if last is not None and first.top - last.bottom > last.bottom - last.top:
            yield ""
        yield " ".join(box.text for box in row)
        last = first


_MEANINGLESS_TITLE = re.compile(
    r"(?:untitled|unspecified|anonymous|microsoft word|document\d*$|title$|print|slide \d|\S+\.\w{2,5}$)", re.I
)


def read_pdf(path: str, stream: BinaryIO) -> FileText:
    """The text of a PDF, page by page; the pages are apart by a blank line. Pages that cannot be read, or are scans
    where no OCR is installed, are ``faults`` if others have text."""
    import pypdfium2

    with _PDFIUM, parsing(path, "damaged PDF: open it in a PDF viewer and save it again"):
        try:
            reader = pypdfium2.PdfDocument(stream)
        except pypdfium2.PdfiumError as error:
            if error.err_code != pypdfium2.raw.FPDF_ERR_PASSWORD:
                raise
            raise DocumentError(path, "encrypted PDF: remove its password first") from error
        with closing(reader):
            texts, faults = _page_texts(reader)
            title = tidy(clean(reader.get_metadata_value("Title")))
    # Programs write other things there: a file name, "Microsoft Word - …".
    letters = sum(character.isalpha() for character in title)
    is_title = letters >= 3 and len(title) <= 200 and not _MEANINGLESS_TITLE.match(title.lstrip("("))
    if not any(texts):
        damaged = any(_DAMAGED in fault for fault in faults)
        why = "is a scan in which no text was found" if can_read_scans() else _UNREAD_SCAN.format(to_read_scans())
        raise DocumentError(path, "damaged PDF: no page can be read" if damaged else why)
    parts = Parts()
    for number, text in enumerate(texts, start=1):
        parts.add(text, page_label(number))
    return parts.found(title if is_title else None, tuple(faults))


_PDFIUM = threading.Lock()
"""PDFium may be called by one thread at a time only."""
_DPI = 200
_TOO_MANY = f"is a scan, and only {MOST_SCANS} in a file are read: split it"
_DAMAGED = "is damaged and cannot be read"
_UNREAD_SCAN = "is a scan, without text: {}"
_BROKEN_WORD = re.compile(f"[{''.join(BROKEN)}]")


def _page_texts(reader: pypdfium2.PdfDocument) -> tuple[list[str], list[str]]:
    from pypdfium2 import PdfiumError, raw

    texts, faults, scans, tables = [], [], 0, PdfTables()
    for number in range(1, len(reader) + 1):
        text = ""
        try:
            with closing(reader[number - 1]) as page:
                with closing(page.get_textpage()) as found:
                    laid_out = tables.laid_out(page, found, found.get_text_bounded())
                    text = clean(_BROKEN_WORD.sub("", laid_out)).strip()
                images = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE])
                if not text and next(images, None) is not None:
                    scans += 1
                    text, fault = _read_scan(page) if scans <= MOST_SCANS else ("", _TOO_MANY)
                    faults += [f"page {number} {fault}"] * bool(fault)
        except PdfiumError:
            faults.append(f"page {number} {_DAMAGED}")
        texts.append(text)
    return texts, faults


def _read_scan(page: pypdfium2.PdfPage) -> tuple[str, str]:
    """What OCR finds on a page, and why nothing."""
    if not can_read_scans():
        return "", _UNREAD_SCAN.format(to_read_scans())
    renew()
    scale = min(_DPI / 72, _LONGEST_SIDE / max(*page.get_size(), 1))
    return words_in(page.render(scale=scale).to_pil()), ""
