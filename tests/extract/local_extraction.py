"""What the local extractor finds in a short text."""

from __future__ import annotations

import hashlib

from kgplatform.extract.local import LocalExtractor
from kgplatform.extract.schema import load_schema
from kgplatform.records import Document, Extraction, Passage

GENERAL = load_schema("general")
MANUAL = (
    "Run quillctl --start and edit /etc/quill/main.conf before you go on. The option --deep is set in ~/.quillrc, and "
    "quill_home names the folder that quillctl(8) reads. "
)
"""Enough paths and options for a text that is a manual."""


def extract(text: str, title: str = "notes.txt") -> Extraction:
    """All of it, the text being one passage."""
    source = Document("d", title, title, title, text, hashlib.sha256(text.encode()).hexdigest())
    passage = Passage("p", "d", title, 0, 0, len(text), None, text, 100)
    return LocalExtractor().extract(passage, source, GENERAL)


def kinds(text: str, title: str = "notes.txt") -> dict[str, str | None]:
    """Names with their types."""
    return {entity.name: entity.type for entity in extract(text, title).entities}
