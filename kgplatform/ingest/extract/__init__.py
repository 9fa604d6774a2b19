"""Extractors: what a passage says, before the schema bounds it. ``llm``, ``local`` and ``recorded`` are alike here."""

from __future__ import annotations

from typing import Literal, Protocol

from kgplatform.ingest.schema import Schema
from kgplatform.records import Document, Extraction, Passage
from kgplatform.text import node_id, tidy

Mode = Literal["strict", "flexible"]

_LONGEST_TITLE = 200

FULL_PASSAGE_TOKENS = 20
"""From this many tokens on, a passage with letters in it says something."""


class Extractor(Protocol):
    """Reads passages, from several threads at once. ``default_mode`` is how the schema bounds it unless told."""

    name: str
    default_mode: Mode

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        """What ``passage`` says. Raises ``ModelError`` or ``InputError`` if nothing usable is there."""


def is_full(passage: Passage) -> bool:
    """Whether an extraction of nothing from ``passage`` is a failure."""
    return passage.tokens >= FULL_PASSAGE_TOKENS and any(letter.isalpha() for letter in passage.text)


def passage_inputs(passage: Passage, document: Document) -> dict[str, str]:
    """The inputs of a prompt that shows ``passage``: ``fence``, ``title`` and ``text``.

    The fence round the text is derived from the text: no document can contain its own.
    """
    title = tidy(document.title)[:_LONGEST_TITLE]
    return {"fence": f"text-{node_id(passage.text)[:12]}", "title": title, "text": passage.text}
