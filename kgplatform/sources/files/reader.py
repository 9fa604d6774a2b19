"""Which reader a file has: its bytes decide and, where they are text, its name."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import PurePath
from typing import BinaryIO

from kgplatform.errors import DocumentError
from kgplatform.sources.corpus_file import ItemOrFault
from kgplatform.sources.decode import HEAD_BYTES, foreign_format, is_html, is_pdf, refuse_binary
from kgplatform.sources.files.book import read_book
from kgplatform.sources.files.file_text import FileText, parsing
from kgplatform.sources.files.mail import MAILBOX, read_mail, read_mailbox, read_outlook, read_web_archive
from kgplatform.sources.files.office import (
    read_open_presentation,
    read_open_text,
    read_presentation,
    read_table,
    read_word,
    read_workbook,
)
from kgplatform.sources.files.pdf import read_image, read_pdf
from kgplatform.sources.files.plain import (
    read_captions,
    read_html,
    read_markdown,
    read_notebook,
    read_restructured,
    read_rich_text,
    read_text,
)

_MOST_DEPTH = 3
"""Mails within mails within mails are read, and no deeper."""

Reader = Callable[..., FileText | Iterator[ItemOrFault]]
"""What a file is read by: it gives one text, or the documents of a file that has many."""

_PROMISES = {
    **{".pdf": "a PDF", ".docx": "a DOCX", ".doc": "a Word", ".pptx": "a PowerPoint", ".epub": "an EPUB"},
    **dict.fromkeys((".xlsx", ".xls", ".xlsb"), "an Excel"),
    **dict.fromkeys((".odt", ".odp", ".ods"), "an OpenDocument"),
    **dict.fromkeys((".jpg", ".jpeg"), "a JPEG"),
    **dict.fromkeys((".tif", ".tiff"), "a TIFF"),
    **{".msg": "an Outlook", ".png": "a PNG"},
}
"""Names that promise a binary format: where the bytes are not of it, the file is damaged, and no text."""

_PARTS: tuple[tuple[str, Callable[[str, BinaryIO], FileText]], ...] = (
    ("word/document.xml", read_word),
    ("ppt/presentation.xml", read_presentation),
    ("xl/workbook.xml", read_workbook),
    ("xl/workbook.bin", read_workbook),
    ("META-INF/container.xml", read_book),
)
_OPEN_DOCUMENTS: dict[str, Callable[[str, BinaryIO], FileText]] = {
    "text": read_open_text,
    "presentation": read_open_presentation,
    "spreadsheet": read_workbook,
}
_OTHER_ARCHIVES = (
    ("META-INF/MANIFEST.MF", "a Java archive"),
    ("content.xml", "an OpenDocument file that is no text, presentation or workbook"),
)
_OUTLOOK, _EXCEL = "Outlook", "Excel"
_UNKNOWN = "format not supported: an old Office file"
_STREAMS = (
    ("EncryptedPackage", "password-protected Office document: remove its password first"),
    ("__properties_version1.0", _OUTLOOK),
    ("WordDocument", "old Word format (.doc): save it as .docx"),
    ("PowerPoint Document", "old PowerPoint format (.ppt): save it as .pptx"),
    ("Workbook", _EXCEL),
    ("Book", _EXCEL),
)
"""What an OLE container holds, by the names of its streams, which are UTF-16 in its directory."""


def reader_for(shown: str, head: bytes, suffix: str) -> Reader:
    """The reader for what ``head`` starts. Raises ``DocumentError`` for what no reader can use."""
    if not head:
        raise DocumentError(shown, "empty file")
    if is_pdf(head, suffix):
        return read_pdf
    if reader := next((reader for mark, reader in _BY_MARK.items() if head.startswith(mark)), None):
        return reader
    if noun := foreign_format(head):
        raise DocumentError(shown, f"format not supported: {noun}")
    if suffix in _PROMISES:
        raise DocumentError(shown, f"damaged, or not {_PROMISES[suffix]} file at all: save it again from its program")
    refuse_binary(shown, head)
    if MAILBOX.match(head):
        return partial(read_mailbox, read=partial(_read_attachment, 1))
    if is_html(head) and suffix not in (".json", ".jsonl", ".ndjson"):
        return read_html
    return _BY_NAME.get(suffix, read_text)


def _read_archive(path: str, stream: BinaryIO) -> FileText:
    """A ZIP archive that is a document; others are refused by what they are."""
    with parsing(path, "damaged archive: save the file again from its program"), zipfile.ZipFile(stream) as archive:
        names = set(archive.namelist())
        reader = next((reader for part, reader in _PARTS if part in names), None)
        if "content.xml" in names and reader is None:
            kind = archive.open("mimetype").read(200).decode("latin-1") if "mimetype" in names else ""
            reader = next((reader for noun, reader in _OPEN_DOCUMENTS.items() if f"opendocument.{noun}" in kind), None)
    if reader is None:
        noun = next((noun for part, noun in _OTHER_ARCHIVES if part in names), "an archive (ZIP): unpack it")
        raise DocumentError(path, f"format not supported: {noun}")
    stream.seek(0)
    return reader(path, stream)


def _read_ole(path: str, stream: BinaryIO, depth: int = 0) -> FileText:
    """An OLE container that is a document; others are refused by what they are."""
    data = stream.read()
    found = next((what for name, what in _STREAMS if name.encode("utf-16-le") in data), _UNKNOWN)
    if found == _OUTLOOK:
        return read_outlook(path, BytesIO(data), partial(_read_attachment, depth + 1))
    if found == _EXCEL:
        return read_workbook(path, BytesIO(data))
    raise DocumentError(path, found)


def _read_mail(path: str, stream: BinaryIO, depth: int = 0) -> FileText:
    return read_mail(path, stream, partial(_read_attachment, depth + 1))


def _read_attachment(depth: int, name: str, content: bytes) -> FileText:
    """What is attached to a mail, at such a depth of mails within mails."""
    if depth > _MOST_DEPTH:
        raise DocumentError(name, f"not read, for it is {depth} mails deep: save it by itself")
    reader = reader_for(name, content[:HEAD_BYTES], PurePath(name).suffix.lower())
    found = (
        reader(name, BytesIO(content), depth) if reader in (_read_mail, _read_ole) else reader(name, BytesIO(content))
    )
    if not isinstance(found, FileText):
        raise DocumentError(name, "a mailbox within a mail: save it by itself")
    return found


_BY_MARK: dict[bytes, Reader] = {
    b"PK\3\4": _read_archive,
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": _read_ole,
    b"{\\rtf": read_rich_text,
    **dict.fromkeys((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"II*\0", b"MM\0*"), read_image),
}
"""Readers by a file's first bytes: archives, OLE containers, Rich Text, and the pictures that scanners make."""
_BY_NAME: dict[str, Reader] = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), read_markdown),
    **dict.fromkeys((".html", ".htm", ".xhtml"), read_html),
    ".ipynb": read_notebook,
    **dict.fromkeys((".csv", ".tsv", ".tab"), read_table),
    **dict.fromkeys((".rst", ".rest"), read_restructured),
    ".eml": _read_mail,
    **dict.fromkeys((".mht", ".mhtml"), read_web_archive),
    **dict.fromkeys((".srt", ".vtt"), read_captions),
}
TEXTS = frozenset((read_text, read_html, read_markdown, read_notebook, read_table, read_restructured, read_captions))
"""Readers of what is text, in one encoding."""
PARSED = frozenset((*_BY_NAME, *_PROMISES, ".rtf", ".mbox"))
"""Suffixes of files that take a processor; text and JSON take a disk."""
