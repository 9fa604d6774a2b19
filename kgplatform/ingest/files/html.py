"""Web pages."""

from __future__ import annotations

from typing import BinaryIO

from kgplatform.ingest.decode import decode
from kgplatform.ingest.files.file_text import FileText, clean, parsing
from kgplatform.ingest.html_text import html_tree, main_text
from kgplatform.text import tidy


def read_html(path: str, stream: BinaryIO) -> FileText:
    """The main text of a page; if it has none, all that is visible."""
    source = clean(decode(path, stream.read(), html=True)).encode()
    with parsing(path, "HTML that cannot be parsed: save the page again"):
        page = html_tree(source)
        if page is None:
            return FileText("")
        titles = [tidy("".join(element.itertext())) for element in page.iter("title", "h1")]
        return FileText(clean(main_text(page)), next(filter(None, titles), None))
