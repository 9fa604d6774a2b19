"""Files that are made to take a parser's time or memory; ``write`` makes them in a folder."""

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path

from campaigns import WHOLE


def write(folder: Path, size: int) -> list[str]:
    """The names of the files, each of ``size`` bytes before it is packed, but for those whose names say another.

    A few of each kind; all of them in ``make bench ONLY=faults``.
    """
    names = [name for name in _FILES if name in _USUAL or os.environ.get(WHOLE) == "1"]
    for name in names:
        (folder / name).write_bytes(_FILES[name](size))
    return names


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


def zipped(parts: dict[str, bytes | Iterable[bytes]]) -> bytes:
    """An archive of ``parts`` by their names, each as it is or in pieces."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            with archive.open(name, "w") as part:
                for piece in [content] if isinstance(content, bytes) else content:
                    part.write(piece)
    return buffer.getvalue()


_LAUGHS = b"<!DOCTYPE x [<!ENTITY a0 'ha'>%s]>" % b"".join(
    b"<!ENTITY a%d '%s'>" % (number, b"&a%d;" % (number - 1) * 10) for number in range(1, 10)
)
_OFFICE = b"http://schemas.openxmlformats.org/"
_RELATED = _OFFICE + b"officeDocument/2006/relationships"
_OPEN = b"urn:oasis:names:tc:opendocument:xmlns:"


def slides(slide: bytes | Iterable[bytes], target: bytes = b"slides/slide1.xml") -> bytes:
    """A presentation of one ``slide`` in XML."""
    return zipped(
        {
            "ppt/presentation.xml": b'<p:p xmlns:p="%spresentationml/2006/main" xmlns:r="%s"><p:sldId r:id="a"/></p:p>'
            % (_OFFICE, _RELATED),
            "ppt/_rels/presentation.xml.rels": b'<R><R Id="a" Type="%s/slide" Target="%s"/></R>' % (_RELATED, target),
            "ppt/slides/slide1.xml": slide,
        }
    )


def workbook(sheet: bytes | Iterable[bytes]) -> bytes:
    """A workbook of one ``sheet`` in XML."""
    main, package = _OFFICE + b"spreadsheetml/2006/main", _OFFICE + b"package/2006/"
    book = b'<workbook xmlns="%s" xmlns:r="%s"><sheets><sheet name="A" sheetId="1" r:id="a"/></sheets></workbook>'
    first = b'<Relationship Id="a" Type="%s/officeDocument" Target="xl/workbook.xml"/>' % _RELATED
    link = b'<Relationship Id="a" Type="%s/worksheet" Target="worksheets/sheet1.xml"/>' % _RELATED
    return zipped(
        {
            "[Content_Types].xml": b'<Types xmlns="%scontent-types"/>' % package,
            "_rels/.rels": b'<Relationships xmlns="%srelationships">%s</Relationships>' % (package, first),
            "xl/workbook.xml": book % (main, _RELATED),
            "xl/_rels/workbook.xml.rels": b'<Relationships xmlns="%srelationships">%s</Relationships>'
            % (package, link),
            "xl/worksheets/sheet1.xml": sheet,
        }
    )


def sheet(rows: Iterable[bytes]) -> Iterable[bytes]:
    """A sheet of ``rows`` in XML, which says that it has a million columns."""
    begin = b'<worksheet xmlns="%sspreadsheetml/2006/main"><dimension ref="A1:BDWGN9"/><sheetData>' % _OFFICE
    return chain([begin], rows, [b"</sheetData></worksheet>"])


def _cells(*places: bytes) -> Iterable[bytes]:
    return sheet(b'<row><c r="%s"><v>1</v></c></row>' % place for place in places)


def open_document(kind: str, body: bytes | Iterable[bytes]) -> bytes:
    """An OpenDocument file with ``body`` in XML."""
    names = b" ".join(b'xmlns:%s="%s%s:1.0"' % (name[:2], _OPEN, name) for name in (b"office", b"text", b"table"))
    begin = b"<of:c %s><of:body>" % names
    pieces = [body] if isinstance(body, bytes) else body
    mimetype = f"application/vnd.oasis.opendocument.{kind}".encode()
    return zipped({"mimetype": mimetype, "content.xml": chain([begin], pieces, [b"</of:body></of:c>"])})


def open_workbook(rows: int, columns: int) -> bytes:
    """A workbook (ODS) of one cell that says it is in so many ``rows`` and ``columns``."""
    names = b" ".join(b'xmlns:%s="%s%s:1.0"' % (name, _OPEN, name) for name in (b"office", b"text", b"table"))
    body = (
        b'<office:c %s><office:body><office:spreadsheet><table:table table:name="A"><table:table-row '
        b'table:number-rows-repeated="%d"><table:table-cell office:value-type="string" '
        b'table:number-columns-repeated="%d"><text:p>x</text:p></table:table-cell></table:table-row></table:table>'
        b"</office:spreadsheet></office:body></office:c>"
    )
    mimetype = b"application/vnd.oasis.opendocument.spreadsheet"
    manifest = b'<manifest:manifest xmlns:manifest="%smanifest:1.0"/>' % _OPEN
    content = body % (names, rows, columns)
    return zipped({"mimetype": mimetype, "content.xml": content, "META-INF/manifest.xml": manifest})


def _mail(body: bytes) -> bytes:
    return b"From: a@example.org\nSubject: A mail\nMIME-Version: 1.0\n" + body


def _nested_mail(depth: int) -> bytes:
    parts = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (at, at) for at in range(depth))
    return _mail(parts + b"Content-Type: text/plain\n\nDeep down.\n")


def _mails_in_mails(depth: int) -> bytes:
    attached = b"Content-Type: message/rfc822\nContent-Disposition: attachment\n\n"
    return attached.join([b"Subject: A mail\n"] * depth) + b"\nIn."


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
    "cells.html": lambda size: _page(b"<table><tr>%s<td>x</table>" % _times("<td></td>", size)),
    "nested.html": lambda size: _page(_times("<div>", size) + b"Deep down.<p>And on."),
    "angles.md": lambda size: _times("<", size),
    "blanks.md": lambda size: b"x" + _times(" ", size) + b"x",
    "xml of 200 MB.docx": lambda _: docx(_paragraphs(200_000_000)),
    "operators of 60 MB.pdf": lambda _: _pdf(repeat(b"0 0 m 1 1 l S\n" * 1000, 4_300), 1),
    "a page 100,000 times.pdf": lambda _: _pdf([_SAYS], 100_000),
    "a million forms.pdf": lambda _: _pdf([_SAYS, b"/X Do " * 10], 1, [*([b"/X Do " * 10] * 5), _SAYS]),
    "stream of 500 MB.pdf": lambda _: _pdf(chain(repeat(b" " * 1_000_000, 500), [_SAYS]), 1),
    "laughs.docx": lambda _: zipped({"word/document.xml": _LAUGHS + b"<w>&a9;</w>"}),
    "laughs.pptx": lambda _: slides(_LAUGHS + b"<w>&a9;</w>"),
    "laughs.xlsx": lambda _: workbook(_LAUGHS + b"<w>&a9;</w>"),
    "paths.pptx": lambda _: slides(b"<a/>", b"../../../../../../etc/passwd"),
    "nested.pptx": lambda size: slides(b"<a>" * (size // 7) + b"</a>" * (size // 7)),
    "corners.xlsx": lambda _: workbook(_cells(b"A1", b"XFD1048576")),
    "sheet of 250 MB.xlsx": lambda _: workbook(
        sheet(repeat(b'<row><c t="str"><v>%s</v></c></row>' % (b"x" * 987), 250_000))
    ),
    "cells.ods": lambda _: open_workbook(1_048_576, 16_384),
    "columns.ods": lambda _: open_workbook(1, 1_000_000_000),
    "paragraphs of 250 MB.odt": lambda _: open_document("text", repeat(b"<te:p>It says so.</te:p>" * 1000, 10_500)),
    "slide of 100 MB.pptx": lambda _: slides(repeat(b"<a>It says so.</a>" * 1000, 5_400)),
    "spans.html": lambda size: _page(
        b"<table><tr>%s%s</table>"
        % (_times("<th rowspan=9999 colspan=999>x", size // 2), _times("<tr><th>x<th>y", size // 2))
    ),
    "quotes.csv": lambda size: b"a,b\n" + _times('"x\n', size),
    "columns.csv": lambda size: _times("a,", size // 2) + b"\n" + _times("b,", size // 2),
    "lists.rst": lambda size: b"".join(b"  " * at + b"- x\n\n" for at in range(int(size**0.5))),
    "roles.rst": lambda size: b"".join(b":role%d:`x` " % at for at in range(size // 14)),
    "parts.eml": lambda size: _nested_mail(size // 60),
    "mails.eml": lambda size: _mails_in_mails(size // 80),
    "braces.rtf": lambda size: b"{\\rtf1 " + _times("{", size) + b"x",
    "cues.vtt": lambda size: _times("00:01.000 --> ", size),
    "line of 110 MB.jsonl": lambda _: _line(110_000_000),
    "deep.json": lambda size: _times("[", size) + _times("]", size),
    "no break.txt": lambda size: _times("x", size),
    "marks.txt": lambda size: _times("e\u0301\u0323", size // 2),
}
_USUAL = (
    *("cells.html", "nested.html", "blanks.md", "xml of 200 MB.docx", "operators of 60 MB.pdf", "a million forms.pdf"),
    *("laughs.xlsx", "paths.pptx", "corners.xlsx", "cells.ods", "quotes.csv", "lists.rst", "mails.eml", "braces.rtf"),
    *("laughs.docx", "cues.vtt", "line of 110 MB.jsonl", "deep.json", "no break.txt", "marks.txt"),
)
"""Of each format and each kind of attack one or two."""
