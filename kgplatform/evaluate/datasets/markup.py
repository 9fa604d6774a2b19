"""The text of HTML articles and scripts: paragraphs stay apart, line breaks stay, tags and scripts go.

Nothing is judged to be of no interest, as the pages of an ingest are: a data set's text is taken whole.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

_TAG = re.compile(
    r"</?(?:html|body|p|br|div|span|pre|table|tr|td|h[1-6]|i|b|em|strong|u|a|font|center|blockquote|ul|ol|li)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_BLOCKS = frozenset(
    ("p", "div", "pre", "table", "blockquote", "ul", "ol", "body", "center", "hr", "title")
    + ("h1", "h2", "h3", "h4", "h5", "h6")
)
_LINES = frozenset(("br", "tr", "li"))
_SILENT = frozenset(("script", "style"))
_PAGE = re.compile(r"<(?:!doctype\s+html|html|head|body|pre|table)[\s>]", re.IGNORECASE)
_HEAD = 1 << 14
_SPACE = re.compile(r"[^\S\n]+")


def is_marked_up(text: str) -> bool:
    """Whether tags of HTML stand in ``text``."""
    return _TAG.search(text) is not None


def is_page(text: str) -> bool:
    """Whether ``text`` begins as a page of HTML; a book in plain text, with a tag here and there, does not."""
    return _PAGE.search(text[:_HEAD]) is not None


def plain(html: str) -> str:
    """The text of ``html``. White space is folded, but for the lines of ``pre``."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    text = re.sub(r" *\n *", "\n", "".join(parser.parts)) if not parser.has_pre else "".join(parser.parts)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.has_pre = False
        self._pre = 0
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._separate(tag)
        self._silent += tag in _SILENT
        self._pre += tag == "pre"
        self.has_pre = self.has_pre or tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self._silent = max(0, self._silent - (tag in _SILENT))
        self._pre = max(0, self._pre - (tag == "pre"))
        if tag not in _LINES:
            self._separate(tag)

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data if self._pre else _SPACE.sub(" ", data.replace("\n", " ")))

    def _separate(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n\n")
        elif tag in _LINES:
            self.parts.append("\n")
