"""Scans: pictures of text, read by OCR where the extra ``ocr`` is installed.

RapidOCR runs on onnxruntime, and its models are in its wheel: nothing is downloaded.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from kgplatform.errors import DocumentError
from kgplatform.ingest.decode import HEAD_BYTES, foreign_format
from kgplatform.ingest.files.file_text import FileText, Parts, parsing
from kgplatform.ingest.files.scan_order import Box, read_in_order
from kgplatform.locations import page_label
from kgplatform.work.bounded import renew

if TYPE_CHECKING:
    from PIL.Image import Image

TO_INSTALL = "to read scans, run pip install 'kgplatform[ocr]'"
MOST_SCANS = 500
"""Pages of one file that are read by OCR, which takes seconds for each."""
_LEAST_SURE = 0.5
_MOST_PIXELS = 100_000_000
_LONGEST_SIDE = 4000
"""Pixels; a larger picture is made smaller, which its letters survive: A4 at 300 dpi has 3,508."""


def can_read_scans() -> bool:
    """Whether the extra is installed."""
    from importlib.util import find_spec

    return find_spec("rapidocr") is not None


def read_image(path: str, stream: BinaryIO) -> FileText:
    """The words in a picture; a TIFF file may have several pages."""
    if not can_read_scans():
        raise DocumentError(path, f"{foreign_format(stream.read(HEAD_BYTES))}; {TO_INSTALL}")
    from PIL import Image, ImageSequence

    Image.MAX_IMAGE_PIXELS = _MOST_PIXELS
    with parsing(path, "damaged image, or one that is too large: save it again"), Image.open(stream) as image:
        pages = ImageSequence.Iterator(image)
        texts = [_page_words(each) for each in islice(pages, MOST_SCANS)]
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


def _page_words(page: Image) -> str:
    """The words of a page, for which the time runs anew."""
    renew()
    return words_in(page)


def words_in(image: Image) -> str:
    """What is written in ``image``, line by line; lines that are far apart are paragraphs of their own."""
    import numpy

    picture = image.convert("RGB")
    picture.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    found = _engine()(numpy.asarray(picture)[:, :, ::-1])
    if found.txts is None:
        return ""
    sure = (each for each in zip(found.boxes, found.txts, found.scores, strict=True) if each[2] >= _LEAST_SURE)
    return read_in_order([_box(corners, text) for corners, text, _ in sure])


def _box(corners: Any, text: str) -> Box:
    (left, top), (right, bottom) = corners.min(0).tolist(), corners.max(0).tolist()
    return Box(left, top, right, bottom, text)


@lru_cache(maxsize=1)
def _engine() -> Any:
    """Loaded once in a process, in a second or more. It has one thread: others may be at work beside it."""
    from rapidocr import RapidOCR

    engine = RapidOCR(params={"Global.log_level": "critical", "EngineConfig.onnxruntime.intra_op_num_threads": 1})
    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    return engine
