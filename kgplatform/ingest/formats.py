"""Readers of document formats: each takes an open file and returns its readable text.

Parsers of other people raise errors of every kind on damaged files; each is called inside ``_parser``, which turns
whatever comes out into a ``DocumentError``.
"""

from __future__ import annotations

import io
import json
import re
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO
from xml.etree import ElementTree

from kgplatform.errors import DocumentError
from kgplatform.ingest.decode import decode
from kgplatform.ingest.html_text import html_tree, main_text
from kgplatform.neo4j.metadata import flat
from kgplatform.records import MetadataValue, PageSpan
from kgplatform.text import tidy

if TYPE_CHECKING:
    import pypdfium2  # type: ignore[import-untyped]  # publishes no types
    from markdown_it.token import Token

# The parsers took a third of the start of every command, so they are imported where a file needs them.


@dataclass(frozen=True, slots=True)
class FileText:
    """What a reader found. ``faults`` are parts of the file, such as pages, that could not be read. ``metadata``: what
    the file says of itself."""

    text: str
    title: str | None = None
    pages: tuple[PageSpan, ...] = ()
    faults: tuple[str, ...] = ()
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict, hash=False)


@contextmanager
def _parser(path: str, reason: str) -> Iterator[None]:
    try:
        yield
    except (DocumentError, MemoryError):
        raise
    except Exception as error:  # a damaged file makes a foreign parser raise anything at all
        raise DocumentError(path, reason) from error


_UNUSABLE = re.compile("[\0\ud800-\udfff]")
_LINE_END = re.compile("\r\n?")


def clean(text: str) -> str:
    """``text`` with line ends as ``\\n``, and without what no database stores: NUL and lone surrogates."""
    return _UNUSABLE.sub("", _LINE_END.sub("\n", text))


_FIELD = re.compile(r"[A-Za-z][\w-]*:(?=\s|$)")
_LONGEST_HEAD = 5000


def read_text(path: str, stream: BinaryIO) -> FileText:
    """Plain text in any encoding."""
    text = clean(decode(path, stream.read()))
    if not text.strip():
        raise DocumentError(path, "has no text, only white space")
    return FileText(text, _title_field(text[:_LONGEST_HEAD]))


def _title_field(text: str) -> str | None:
    """What ``Title:`` says among the fields that a text begins with, as a PEP does (RFC 822 has them so)."""
    fields = re.split(r"\n(?![^\S\n])", text.partition("\n\n")[0].lstrip())
    if len(fields) < 2 or not all(map(_FIELD.match, fields)):
        return None
    return next((field[6:] for field in fields if field[:6].lower() == "title:"), None)


_FRONT_MATTER = re.compile(r"(---|\+\+\+)[^\S\n]*\n(?=[\w\"'-]+\s*[:=])(.*?\n)(?:\1|\.\.\.)[^\S\n]*(?:\n|$)", re.S)
_TAG = re.compile(r"<!--.*?(?:-->|$)|<(?:script|style)\b.*?(?:</|$)|<[^<>]*>", re.S | re.I)
_FRONT_TITLE = re.compile(r"^title[^\S\n]*[:=](.*)$", re.M | re.I)


def read_markdown(path: str, stream: BinaryIO) -> FileText:
    """Markdown as it reads: no marks, no link targets, no front matter; headings are paragraphs."""
    return _markdown(path, clean(decode(path, stream.read())))


def read_notebook(path: str, stream: BinaryIO) -> FileText:
    """The cells of a Jupyter notebook, without what they printed."""
    with _parser(path, "damaged notebook: save it again from Jupyter"):
        found = json.loads(decode(path, stream.read()))
        cells = (
            found["cells"] if "cells" in found else [each for sheet in found["worksheets"] for each in sheet["cells"]]
        )
        said = [(each["cell_type"], "".join(each.get("source", each.get("input", "")))) for each in cells]
    parts = [f"{_FENCE}\n{text}\n{_FENCE}" if kind == "code" else text for kind, text in said if kind != "raw"]
    return _markdown(path, clean("\n\n".join(parts)))


_FENCE = "~" * 32


def _markdown(path: str, source: str) -> FileText:
    from markdown_it import MarkdownIt

    front = _FRONT_MATTER.match(source)
    with _parser(path, "Markdown that cannot be parsed: save it as plain text"):
        tokens = MarkdownIt("commonmark").enable("table").parse(source[front.end() :] if front else source)
        said = _FRONT_TITLE.search(front[2]) if front else None
        headings = (tokens[at + 1] for at, token in enumerate(tokens) if token.type == "heading_open")
        stated = _unquoted(said[1].strip()) if said else ""
        title = stated or next((_inline(heading.children) for heading in headings), None)
        return FileText(clean(_render(tokens)), title, metadata=_said_in_front(front[2]) if front else {})


def _said_in_front(source: str) -> dict[str, MetadataValue]:
    """What YAML front matter says beside the title; nothing where it is not YAML."""
    import yaml

    try:
        said = yaml.safe_load(source)
    except (yaml.YAMLError, ValueError, RecursionError):  # an impossible date is a ValueError
        return {}
    if not isinstance(said, dict):
        return {}
    return flat({name: value for name, value in said.items() if str(name).lower() != "title"})[0]


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _render(tokens: list[Token]) -> str:
    """The text of the blocks: one blank line between blocks, one line end between list items and table rows."""
    parts: list[str] = []
    bullets: list[str] = []
    for token in tokens:
        if token.type == "inline":
            parts.append(_inline(token.children))
        elif token.type in ("fence", "code_block"):
            parts.append(token.content.rstrip("\n") + "\n\n")
        elif token.type == "html_block":
            parts.append(tidy(_TAG.sub(" ", token.content)) + "\n\n")
        elif token.type in ("paragraph_close", "heading_close", "table_close"):
            parts.append("\n" if token.hidden else "\n\n")
        elif token.type in ("th_close", "td_close"):
            parts.append(" | ")
        elif token.type == "tr_close":
            parts[-1] = "\n"
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            bullets.append("- " if token.type[0] == "b" else "")
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            bullets.pop()
            parts.append("" if bullets else "\n")
        elif token.type == "list_item_open":
            parts.append("  " * (len(bullets) - 1) + (bullets[-1] or f"{token.info}{token.markup} "))
    return re.sub(r"\n{3,}", "\n\n", "".join(parts)).strip()


def _inline(children: list[Token] | None) -> str:
    parts = []
    for child in children or []:
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type == "softbreak":
            parts.append(" ")
        elif child.type == "hardbreak":
            parts.append("\n")
        elif child.type == "image":
            parts.append(_inline(child.children))
    return "".join(parts)


def read_html(path: str, stream: BinaryIO) -> FileText:
    """The main text of a page; if it has none, all that is visible."""
    source = clean(decode(path, stream.read(), html=True)).encode()
    with _parser(path, "HTML that cannot be parsed: save the page again"):
        page = html_tree(source)
        if page is None:
            return FileText("")
        titles = [tidy("".join(element.itertext())) for element in page.iter("title", "h1")]
        return FileText(clean(main_text(page)), next(filter(None, titles), None))


_MEANINGLESS_TITLE = re.compile(
    r"(?:untitled|unspecified|anonymous|microsoft word|document\d*$|title$|print|slide \d|\S+\.\w{2,5}$)",
    re.I,
)


def read_pdf(path: str, stream: BinaryIO) -> FileText:
    """The text layer of a PDF, page by page; the pages are apart by a blank line.

    Pages that cannot be read or are scans are ``faults`` if others have text.
    """
    import pypdfium2

    with _PDFIUM, _parser(path, "damaged PDF: open it in a PDF viewer and save it again"):
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
        raise DocumentError(path, "damaged PDF: no page can be read" if damaged else "has no text layer: run OCR first")
    text, pages = _join_pages(texts)
    return FileText(text, title, pages, tuple(faults))


_PDFIUM = threading.Lock()
"""PDFium may be called by one thread at a time only."""
_SCAN = "is a scan without text layer: run OCR to get it too"
_DAMAGED = "is damaged and cannot be read"
_BROKEN_WORD = re.compile("[\x02\ufffe]")
"""PDFium's signs where a line ends inside a word with a hyphen: the word goes on behind it."""


def _page_texts(reader: pypdfium2.PdfDocument) -> tuple[list[str], list[str]]:
    from pypdfium2 import PdfiumError

    texts, faults = [], []
    for number in range(1, len(reader) + 1):
        text = ""
        try:
            with closing(reader[number - 1]) as page:
                with closing(page.get_textpage()) as found:
                    text = clean(_BROKEN_WORD.sub("", found.get_text_bounded())).strip()
                if not text and _has_image(page):
                    faults.append(f"page {number} {_SCAN}")
        except PdfiumError:
            faults.append(f"page {number} {_DAMAGED}")
        texts.append(text)
    return texts, faults


def _has_image(page: pypdfium2.PdfPage) -> bool:
    import pypdfium2

    return next(page.get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]), None) is not None


def _join_pages(texts: list[str]) -> tuple[str, tuple[PageSpan, ...]]:
    pages, start = [], 0
    for number, text in enumerate(texts, start=1):
        if text:
            pages.append(PageSpan(number, start, start + len(text)))
            start += len(text) + 2
    return "\n\n".join(text for text in texts if text), tuple(pages)


def _pdf_title(reader: pypdfium2.PdfDocument) -> str | None:
    """The title in the metadata, unless it is what programs write there: a file name, "Microsoft Word - …"."""
    title = tidy(clean(reader.get_metadata_value("Title")))
    letters = sum(character.isalpha() for character in title)
    usable = letters >= 3 and len(title) <= 200 and not _MEANINGLESS_TITLE.match(title.lstrip("("))
    return title if usable else None


_MAX_UNPACKED_BYTES = 1 << 30
_MAX_RATIO = 200
_OFFICE_PARTS = (
    ("word/document.xml", ""),
    ("ppt/presentation.xml", "a PowerPoint presentation"),
    ("xl/workbook.xml", "an Excel workbook"),
    ("xl/workbook.bin", "an Excel workbook"),
    ("META-INF/container.xml", "an e-book (EPUB)"),
    ("content.xml", "an OpenDocument file"),
    ("META-INF/MANIFEST.MF", "a Java archive"),
)
_TITLE_TAG = "{http://purl.org/dc/elements/1.1/}title"


def read_docx(path: str, stream: BinaryIO) -> FileText:
    """The paragraphs of a Word document, apart by blank lines. Other ZIP files are refused by what they are."""
    import mammoth  # type: ignore[import-untyped]  # publishes no types

    with _parser(path, "damaged DOCX or ZIP file: open it in Word and save it again"):
        with zipfile.ZipFile(stream) as archive:
            _refuse_other_zip(path, archive)
            title = _core_title(archive)
            text = mammoth.extract_raw_text(_without_style_sheets(archive)).value
        return FileText(clean(text).strip(), title)


def _refuse_other_zip(path: str, archive: zipfile.ZipFile) -> None:
    names = set(archive.namelist())
    noun = next((noun for part, noun in _OFFICE_PARTS if part in names), "an archive (ZIP)")
    if noun:
        raise DocumentError(path, f"format not supported: {noun}")
    unpacked = sum(part.file_size for part in archive.infolist())
    packed = sum(part.compress_size for part in archive.infolist())
    if unpacked > _MAX_UNPACKED_BYTES or (unpacked > _MAX_UNPACKED_BYTES >> 4 and unpacked > _MAX_RATIO * packed):
        raise DocumentError(path, f"unpacks to {unpacked >> 20} MB, which no document does: refused")


def _without_style_sheets(archive: zipfile.ZipFile) -> BinaryIO:
    """The parts that may hold text. Word writes hundreds of styles, which take mammoth longer than all the rest."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w") as target:
        for part in archive.namelist():
            if part.endswith((".xml", ".rels")) and PurePosixPath(part).name != "styles.xml":
                target.writestr(part, archive.read(part))
    kept.seek(0)
    return kept


def _core_title(archive: zipfile.ZipFile) -> str | None:
    try:
        return ElementTree.fromstring(archive.read("docProps/core.xml")).findtext(_TITLE_TAG)
    except (KeyError, ElementTree.ParseError, zipfile.BadZipFile):
        return None


def refuse_ole(path: str, stream: BinaryIO) -> FileText:
    """Name what an OLE container holds: the names of its streams are UTF-16 in its directory."""
    data = stream.read()
    kinds = (
        ("EncryptedPackage", "password-protected Office document: remove its password first"),
        ("WordDocument", "old Word format (.doc): save it as .docx"),
        ("Workbook", "format not supported: an old Excel workbook"),
        ("PowerPoint Document", "format not supported: an old PowerPoint presentation"),
    )
    found = (reason for name, reason in kinds if name.encode("utf-16-le") in data)
    raise DocumentError(path, next(found, "format not supported: an old Office file"))
