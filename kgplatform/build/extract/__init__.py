"""Extractors: what a chunk says, before the schema bounds it. ``llm``, ``local`` and ``recorded`` are alike here."""

from __future__ import annotations

from typing import Literal, Protocol

from kgplatform.build.schema import Schema
from kgplatform.records import Chunk, Document, Extraction

Mode = Literal["strict", "flexible"]

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
