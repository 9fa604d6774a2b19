"""Plain text, in any encoding."""

from __future__ import annotations

import re
from typing import BinaryIO

from kgplatform.errors import DocumentError
from kgplatform.ingest.decode import decode
from kgplatform.ingest.files.file_text import FileText, clean

_FIELD = re.compile(r"[A-Za-z][\w-]*:(?=\s|$)")
_LONGEST_HEAD = 5000


def read_text(path: str, stream: BinaryIO) -> FileText:
    """Plain text in any encoding."""
    text = clean(decode(path, stream.read()))
    if not text.strip():
        raise DocumentError(path, "has no text, only white space")
    return FileText(text, title_field(text[:_LONGEST_HEAD]))


def title_field(text: str) -> str | None:
    """What ``Title:`` says among the fields that a text begins with, as a PEP does (RFC 822 has them so)."""
    fields = re.split(r"\n(?![^\S\n])", text.partition("\n\n")[0].lstrip())
    if len(fields) < 2 or not all(map(_FIELD.match, fields)):
        return None
    return next((field[6:] for field in fields if field[:6].lower() == "title:"), None)
