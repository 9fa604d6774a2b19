"""Rich Text (RTF): its words, without fonts and pictures."""

from __future__ import annotations

import re
from typing import BinaryIO

from kgplatform.ingest.files.file_text import FileText, clean, parsing
from kgplatform.text import tidy

_INFO_TITLE = re.compile(r"\{\\info\b.{0,2000}?\{\\title ([^{}\\]{1,300})\}", re.S)
_FOOTNOTE = re.compile(r"\{(?:\\\*)?\\footnote\b(?:\\ftnalt\b)? ?")


def read_rich_text(path: str, stream: BinaryIO) -> FileText:
    """The paragraphs, apart by blank lines; a note stands where its number does."""
    from striprtf.striprtf import rtf_to_text

    with parsing(path, "damaged RTF: open it in its program and save it again"):
        source = stream.read().decode("latin-1")
        text = clean(rtf_to_text(_FOOTNOTE.sub("{ ", source), errors="replace"))  # type: ignore[no-untyped-call]  # publishes no types
        lines = (line.strip().strip("|").strip() for line in text.split("\n"))
        title = _INFO_TITLE.search(source)
        return FileText(re.sub(r"\n{3,}", "\n\n", "\n\n".join(lines)).strip(), tidy(title[1]) if title else None)
