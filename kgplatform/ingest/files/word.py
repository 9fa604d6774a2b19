"""Word documents (DOCX): paragraphs apart by blank lines, and tables row by row."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from kgplatform.ingest.files.archive import core_title, opened
from kgplatform.ingest.files.file_text import FileText, clean
from kgplatform.ingest.html_text import html_tree, shown_text


def read_word(path: str, stream: BinaryIO) -> FileText:
    """The text of a Word document, with its tables, footnotes and endnotes."""
    import mammoth  # type: ignore[import-untyped]  # publishes no types

    with opened(path, stream) as archive:
        title = core_title(path, archive)
        page = mammoth.convert_to_html(_without_style_sheets(archive), convert_image=_no_image).value
        tree = html_tree(clean(page).encode())
        return FileText("" if tree is None else shown_text(tree, all_tables=True), title)


def _no_image(_: object) -> list[Any]:
    return []


def _without_style_sheets(archive: zipfile.ZipFile) -> BinaryIO:
    """The parts that may hold text. Word writes hundreds of styles, which take mammoth longer than all the rest."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w") as target:
        for part in archive.namelist():
            if part.endswith((".xml", ".rels")) and PurePosixPath(part).name != "styles.xml":
                target.writestr(part, archive.read(part))
    kept.seek(0)
    return kept
