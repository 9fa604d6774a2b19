"""Extractors: what a chunk says, before the schema bounds it. ``llm``, ``local`` and ``recorded`` are alike here."""

from __future__ import annotations

from typing import Literal, Protocol

from kgplatform.ingest.schema import Schema
from kgplatform.records import Chunk, Document, Extraction
from kgplatform.text import node_id, tidy

Mode = Literal["strict", "flexible"]

_LONGEST_TITLE = 200

FULL_CHUNK_TOKENS = 20
"""From this many tokens on, a chunk with letters in it says something."""


class Extractor(Protocol):
    """Reads chunks, from several threads at once. ``default_mode`` is how the schema bounds it unless told."""

    name: str
    default_mode: Mode

    def extract(self, chunk: Chunk, document: Document, schema: Schema) -> Extraction:
        """What ``chunk`` says. Raises ``ModelError`` or ``InputError`` if nothing usable is there."""


def is_full(chunk: Chunk) -> bool:
    """Whether an extraction of nothing from ``chunk`` is a failure."""
    return chunk.tokens >= FULL_CHUNK_TOKENS and any(letter.isalpha() for letter in chunk.text)


def passage_inputs(chunk: Chunk, document: Document) -> dict[str, str]:
    """The inputs of a prompt that shows ``chunk``: ``fence``, ``title`` and ``text``.

    The fence round the text is derived from the text: no document can contain its own.
    """
    title = tidy(document.name)[:_LONGEST_TITLE]
    return {"fence": f"text-{node_id(chunk.text)[:12]}", "title": title, "text": chunk.text}
