"""PDF: the text layer, page by page, with its ruled tables; of pages without one, what OCR finds if it is installed."""

from __future__ import annotations

import re
import threading
from contextlib import closing
from typing import TYPE_CHECKING, BinaryIO

from kgplatform.concurrency.workers import renew
from kgplatform.errors import DocumentError
from kgplatform.sources.files.file_text import FileText, Parts, clean, parsing
from kgplatform.sources.files.pdf_tables import BROKEN, PdfTables
from kgplatform.sources.files.scan import MOST_SCANS, can_read_scans, to_read_scans, words_in
from kgplatform.text import tidy
from kgplatform.text.locations import page_label

if TYPE_CHECKING:
    import pypdfium2  # type: ignore[import-untyped]  # publishes no types

_MEANINGLESS_TITLE = re.compile(
    r"(?:untitled|unspecified|anonymous|microsoft word|document\d*$|title$|print|slide \d|\S+\.\w{2,5}$)", re.I
)


def read_pdf(path: str, stream: BinaryIO) -> FileText:
    """The text of a PDF, page by page; the pages are apart by a blank line.

    Pages that cannot be read, or are scans where no OCR is installed, are ``faults`` if others have text.
    """
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
            title = _pdf_title(reader)
    if not any(texts):
        damaged = any(_DAMAGED in fault for fault in faults)
        why = "is a scan in which no text was found" if can_read_scans() else _UNREAD_SCAN.format(to_read_scans())
        raise DocumentError(path, "damaged PDF: no page can be read" if damaged else why)
    parts = Parts()
    for number, text in enumerate(texts, start=1):
        parts.add(text, page_label(number))
    return parts.found(title, tuple(faults))


_PDFIUM = threading.Lock()
"""PDFium may be called by one thread at a time only."""
_DPI = 200
_LONGEST_SIDE = 4000
"""Pixels of a rendered page: some are metres long."""
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


def _pdf_title(reader: pypdfium2.PdfDocument) -> str | None:
    """The title in the metadata, unless it is what programs write there: a file name, "Microsoft Word - …"."""
    title = tidy(clean(reader.get_metadata_value("Title")))
    letters = sum(character.isalpha() for character in title)
    usable = letters >= 3 and len(title) <= 200 and not _MEANINGLESS_TITLE.match(title.lstrip("("))
    return title if usable else None
