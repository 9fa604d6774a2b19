"""Subtitles (SRT, WebVTT): what is said, and when: "at 0:01:05"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import BinaryIO

from kgplatform.errors import DocumentError
from kgplatform.ingest.decode import decode
from kgplatform.ingest.files.file_text import FileText, Parts, clean
from kgplatform.text import tidy

_TIMES = re.compile(r"^\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,]\d{1,3}\s*-->.*$", re.M)
_SPEAKER = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]*)>")
_MARK = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}")


def read_captions(path: str, stream: BinaryIO) -> FileText:
    """The captions in one text, so that sentences go on from one to the next. Without times it is plain text."""
    text = clean(decode(path, stream.read()))
    if not text.strip():
        raise DocumentError(path, "has no text, only white space")
    parts, last = Parts(), ""
    for label, said in _cues(text):
        if said != last:  # captions that roll up say their last line again
            parts.add(said, label, " ")
            last = said
    return parts.found() if parts.text else FileText(text)


def _cues(text: str) -> Iterator[tuple[str, str]]:
    """When each caption is shown, and its words."""
    times = list(_TIMES.finditer(text))
    for at, found in enumerate(times):
        end = times[at + 1].start() if at + 1 < len(times) else len(text)
        words = re.split(r"\n[^\S\n]*\n", text[found.end() : end].strip("\n"))[0]
        said = unescape(_MARK.sub("", _SPEAKER.sub(r"\1: ", words)))
        yield f"at {int(found[1] or 0)}:{found[2]:0>2}:{found[3]}", tidy(said)
