"""Plain text, in any encoding, and what is little more: web pages, Rich Text (RTF), subtitles (SRT, WebVTT)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import BinaryIO

from kgplatform.errors import DocumentError
from kgplatform.sources.decode import Decoded, decode
from kgplatform.sources.files.file_text import FileText, Parts, by_heading, by_line, clean, parsing
from kgplatform.sources.html_text import headings_of, html_tree, main_text
from kgplatform.text import tidy

_FIELD = re.compile(r"[A-Za-z][\w-]*:(?=\s|$)")
_LONGEST_HEAD = 5000


def read_text(path: str, stream: BinaryIO) -> FileText:
    """Plain text in any encoding."""
    source = decode(path, stream.read())
    if not source.text.strip():
        raise DocumentError(path, "has no text, only white space")
    return FileText(source.text, title_field(source.text[:_LONGEST_HEAD]), by_line(source.text), source.faults)


def title_field(text: str) -> str | None:
    """What ``Title:`` says among the fields that a text begins with, as a PEP does (RFC 822 has them so)."""
    fields = re.split(r"\n(?![^\S\n])", text.partition("\n\n")[0].lstrip())
    if len(fields) < 2 or not all(map(_FIELD.match, fields)):
        return None
    return next((field[6:] for field in fields if field[:6].lower() == "title:"), None)


def read_html(path: str, stream: BinaryIO) -> FileText:
    """The main text of a page; if it has none, all that is visible."""
    return page_text(path, decode(path, stream.read()))


def page_text(path: str, source: Decoded) -> FileText:
    """The main text of the page ``source``; if it has none, all that is visible."""
    with parsing(path, "HTML that cannot be parsed: save the page again"):
        page = html_tree(source.text.encode())
        if page is None:
            return FileText("")
        title = next(filter(None, headings_of(page, ("title", "h1"))), None)
        headings = headings_of(page)
        text = clean(main_text(page))
        return FileText(text, title, by_heading(text, headings, title), source.faults)


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


_TIMES = re.compile(r"^\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,]\d{1,3}\s*-->.*$", re.M)
_SPEAKER = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]*)>")
_MARK = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}")


def read_captions(path: str, stream: BinaryIO) -> FileText:
    """The captions in one text, so that sentences go on from one to the next. Without times it is plain text."""
    source = decode(path, stream.read())
    if not source.text.strip():
        raise DocumentError(path, "has no text, only white space")
    parts, last = Parts(), ""
    for label, said in _cues(source.text):
        if said != last:  # captions that roll up say their last line again
            parts.add(said, label, " ")
            last = said
    return parts.found(None, source.faults) if parts.text else FileText(source.text, None, (), source.faults)


def _cues(text: str) -> Iterator[tuple[str, str]]:
    """When each caption is shown, and its words."""
    times = list(_TIMES.finditer(text))
    for at, found in enumerate(times):
        end = times[at + 1].start() if at + 1 < len(times) else len(text)
        words = re.split(r"\n[^\S\n]*\n", text[found.end() : end].strip("\n"))[0]
        said = unescape(_MARK.sub("", _SPEAKER.sub(r"\1: ", words)))
        yield f"at {int(found[1] or 0)}:{found[2]:0>2}:{found[3]}", tidy(said)
