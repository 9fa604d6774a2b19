"""Files that are made to take a parser's time or memory; ``write`` makes one of each kind in a folder."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path


def write(folder: Path, size: int) -> list[str]:
    """The names of the files, each of ``size`` bytes before it is packed, but for those whose names say another."""
    for name, make in _FILES.items():
        (folder / name).write_bytes(make(size))
    return [*_FILES]


def _times(unit: str, size: int) -> bytes:
    return (unit * (size // len(unit))).encode()


def _page(body: bytes) -> bytes:
    return b"<!doctype html><html><title>A page</title><body><p>It says something.</p>%s</body></html>" % body


def _attributes(size: int) -> bytes:
    return _page(b"<p %s>End</p>" % b" ".join(b'a%d="b"' % number for number in range(size // 10)))


def docx(paragraphs: Iterator[bytes]) -> bytes:
    """A Word document of ``paragraphs`` in XML."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("word/document.xml", "w", force_zip64=True) as part,
    ):
        part.write(b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>')
        for paragraph in paragraphs:
            part.write(paragraph)
        part.write(b"</w:body></w:document>")
    return buffer.getvalue()


def _paragraphs(size: int) -> Iterator[bytes]:
    block = b"".join(b"<w:p><w:r><w:t>%x</w:t></w:r></w:p>" % (number * number) for number in range(25_000))
    return (block for _ in range(size // len(block)))


_SAYS = b"BT /F 12 Tf 100 700 Td (A page.) Tj ET "
_USES = b"/Resources << /Font << /F 5 0 R >> /XObject << /X %d 0 R >> >>"


def _pdf(content: Iterable[bytes], pages: int, forms: Sequence[bytes] = ()) -> bytes:
    """``forms``: the contents of forms, of which each may draw the next as X, and the page the first."""
    packer = zlib.compressobj(1)
    packed = b"".join(map(packer.compress, content)) + packer.flush()
    kids = b"3 0 R " * pages
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, kids),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R %s >>" % (_USES % 6),
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *(
            b"<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] %s /Length %d >>\nstream\n%s\nendstream"
            % (_USES % number, len(form), form)
            for number, form in enumerate(forms, start=7)
        ),
    )
    file, places = bytearray(b"%PDF-1.4\n"), []
    for number, each in enumerate(objects, start=1):
        places.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    start = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1) + b"".join(
        b"%010d 00000 n \n" % place for place in places
    )
    return bytes(file + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(places) + 1, start))


def _line(text_size: int) -> bytes:
    lines = ({"title": "Good", "text": "A good line."}, {"title": "Long", "text": "x " * (text_size // 2)})
    return b"\n".join(json.dumps(each).encode() for each in (*lines, {"title": "Last", "text": "The last line."}))


_FILES: dict[str, Callable[[int], bytes]] = {
    "attributes.html": _attributes,
    "bars.html": lambda size: _page(_times("| ", size) + b"x"),
    "cells.html": lambda size: _page(b"<table><tr>%s<td>x</table>" % _times("<td></td>", size)),
    "nested.html": lambda size: _page(_times("<div>", size) + b"Deep down.<p>And on."),
    "angles.md": lambda size: _times("<", size),
    "tags.md": lambda size: _times("<a ", size),
    "blanks.md": lambda size: b"x" + _times(" ", size) + b"x",
    "links.md": lambda size: _times("[a](", size),
    "stars.md": lambda size: _times("*a_ ", size),
    "xml of 60 MB.docx": lambda _: docx(_paragraphs(60_000_000)),
    "xml of 500 MB.docx": lambda _: docx(_paragraphs(500_000_000)),
    "operators of 60 MB.pdf": lambda _: _pdf(repeat(b"0 0 m 1 1 l S\n" * 1000, 4_300), 1),
    "a page 100,000 times.pdf": lambda _: _pdf([_SAYS], 100_000),
    "a million forms.pdf": lambda _: _pdf([_SAYS, b"/X Do " * 10], 1, [*([b"/X Do " * 10] * 5), _SAYS]),
    "stream of 500 MB.pdf": lambda _: _pdf(chain(repeat(b" " * 1_000_000, 500), [_SAYS]), 1),
    "line of 200 MB.jsonl": lambda _: _line(200_000_000),
    "deep.json": lambda size: _times("[", size) + _times("]", size),
    "no break.txt": lambda size: _times("x", size),
    "dots.txt": lambda size: _times(".", size),
    "hyphens.txt": lambda size: _times("-", size),
    "marks.txt": lambda size: _times("e\u0301\u0323", size // 2),
}
