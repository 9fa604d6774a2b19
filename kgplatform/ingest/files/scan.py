"""Scans: pictures of text, read by OCR where the extra ``ocr`` is installed.

RapidOCR runs on onnxruntime, and its models are in its wheel: nothing is downloaded.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import TYPE_CHECKING, Any, BinaryIO

from kgplatform.errors import DocumentError
from kgplatform.ingest.decode import HEAD_BYTES, foreign_format
from kgplatform.ingest.files.file_text import FileText, Parts, parsing
from kgplatform.locations import page_label

if TYPE_CHECKING:
    from PIL.Image import Image

TO_INSTALL = "to read scans, run pip install 'kgplatform[ocr]'"
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
        texts = [words_in(each) for each in ImageSequence.Iterator(image)]
    if not any(texts):
        raise DocumentError(path, "an image in which no text was found")
    parts = Parts()
    for number, text in enumerate(texts, start=1):
        parts.add(text, page_label(number))
    return parts.found() if len(texts) > 1 else FileText(parts.text)


def words_in(image: Image) -> str:
    """What is written in ``image``, line by line; lines that are far apart are paragraphs of their own."""
    import numpy

    picture = image.convert("RGB")
    picture.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    found = _engine()(numpy.asarray(picture)[:, :, ::-1])
    if found.txts is None:
        return ""
    boxes = zip(found.boxes, found.txts, found.scores, strict=True)
    sure = [(box, text) for box, text, score in boxes if score >= _LEAST_SURE]
    return "\n".join(_lines(sure))


def _lines(found: list[tuple[Any, str]]) -> list[str]:
    """The texts in reading order: boxes at one height are one line, and a wide gap below it is a blank line."""
    placed = sorted((float(min(box[:, 1])), float(max(box[:, 1])), float(min(box[:, 0])), text) for box, text in found)
    rows: list[list[tuple[float, float, float, str]]] = []
    for each in placed:
        if rows and (each[0] + each[1]) / 2 < max(bottom for _, bottom, _, _ in rows[-1][:1]):
            rows[-1].append(each)
        else:
            rows.append([each])
    lines, last = [], None
    for row in rows:
        top, bottom = row[0][0], row[0][1]
        if last is not None and top - last > bottom - top:
            lines.append("")
        lines.append(" ".join(text for _, _, _, text in sorted(row, key=lambda each: each[2])))
        last = bottom
    return lines


@lru_cache(maxsize=1)
def _engine() -> Any:
    """Loaded once in a process, in a second or more. It has one thread: others may be at work beside it."""
    from rapidocr import RapidOCR  # type: ignore[import-not-found]  # an extra

    engine = RapidOCR(params={"Global.log_level": "critical", "EngineConfig.onnxruntime.intra_op_num_threads": 1})
    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    return engine
