"""PDFs for tests of what reads them."""

import io
from contextlib import closing

from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas


def pdf(pages: list[str | None], title: str = "", **options: object) -> bytes:
    """A PDF; None is a page with a picture and no text."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, **options)  # type: ignore[arg-type]  # reportlab's options
    canvas.setTitle(title)
    for text in pages:
        if text is None:
            canvas.drawImage(ImageReader(_picture()), 0, 0, 300, 300)
        else:
            for row, line in enumerate(text.split("\n")):
                canvas.drawString(72, 750 - 14 * row, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def typeset(lines: list[str], gap: float = 2.5) -> bytes:
    """A page as TeX writes it: each word is placed by itself, ``gap`` points behind the one before, without a space."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    canvas.setFont("Times-Roman", 10)
    for row, line in enumerate(lines):
        across = 72.0
        for word in line.split():
            canvas.drawString(across, 700 - 12 * row, word)
            across += canvas.stringWidth(word, "Times-Roman", 10) + gap
    canvas.save()
    return buffer.getvalue()


def ruled(pages: list[list[list[str]]], *, tall: int = 0, upwards: bool = False) -> bytes:
    """A PDF with a ruled table on each page, a list for each row, and a line of text before and behind it.

    ``tall``: the first cell of the second row goes on over so many rows more. ``upwards``: its text runs up.
    """
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(800, 800))
    for rows in pages:
        canvas.transform(*((0, 1, -1, 0, 800, 0) if upwards else (1, 0, 0, 1, 0, 0)))
        canvas.drawString(72, 750, "Before.")
        low = 700 - 20 * len(rows)
        for row in range(len(rows) + 1):
            canvas.line(172 if 1 < row <= 1 + tall else 72, 700 - 20 * row, 72 + 100 * len(rows[0]), 700 - 20 * row)
        for column in range(len(rows[0]) + 1):
            canvas.line(72 + 100 * column, 700, 72 + 100 * column, low)
        for at, row_cells in enumerate(rows):
            for column, cell in enumerate(row_cells):
                canvas.drawString(76 + 100 * column, 686 - 20 * at, cell)
        canvas.drawString(72, low - 30, "Behind.")
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def scanned(text: str) -> bytes:
    """A PDF with a picture of a page of ``text`` and no text layer."""
    import pypdfium2

    with closing(pypdfium2.PdfDocument(pdf([text]))) as printed:
        picture = printed[0].render(scale=2).to_pil()
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    canvas.drawImage(ImageReader(picture), 0, 0, *A4)
    canvas.save()
    return buffer.getvalue()


def tiff(pages: int) -> bytes:
    """A TIFF file of so many white pages."""
    from PIL import Image

    buffer = io.BytesIO()
    white = [Image.new("1", (40, 40), 1) for _ in range(pages)]
    white[0].save(buffer, "TIFF", save_all=True, append_images=white[1:])
    return buffer.getvalue()


def _picture() -> io.BytesIO:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (40, 40), (200, 10, 10)).save(buffer, "PNG")
    buffer.seek(0)
    return buffer
