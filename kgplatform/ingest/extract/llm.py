"""The extractor ``llm``: one language-model call a passage."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pydantic import RootModel, model_validator

from kgplatform.ingest.extract import Mode, is_full, passage_inputs
from kgplatform.ingest.extract.shape import KEYS, read_extraction
from kgplatform.ingest.schema import Schema
from kgplatform.models.chat import Chat
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, render
from kgplatform.records import Document, Extraction, Passage

STAGE = "extract"
_OTHER_KEYS = {
    "nodes": "entities",
    "named_entities": "entities",
    "extracted_entities": "entities",
    "relations": "triples",
    "relationships": "triples",
    "extracted_triples": "triples",
    "atomic_facts": "facts",
    "atomicfacts": "facts",
    "properties": "attributes",
}


class ExtractionReply(RootModel[dict[str, Any]]):
    """A model's reply: any JSON that has at least one of the keys that the prompt asks for, or is empty."""

    @model_validator(mode="before")
    @classmethod
    def _find_content(cls, raw: object) -> dict[str, Any]:
        return _content_of(raw)

    @cached_property
    def extraction(self) -> Extraction:
        """What the reply means."""
        return read_extraction(self.root)


class FullExtractionReply(ExtractionReply):
    """A reply that says something, as it must of a full passage."""

    @model_validator(mode="after")
    def _check(self) -> FullExtractionReply:
        if self.extraction.is_empty:
            raise ValueError("nothing usable was extracted, although the text says something")
        return self


class LlmExtractor:
    """Asks a language model for everything that a passage says, in one call."""

    name = "llm"
    default_mode: Mode = "strict"

    def __init__(self, chat: Chat) -> None:
        self.chat = chat

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        """What the model says that ``passage`` says.

        Raises ``ReplyError`` if the answer is unusable, or empty for a full passage, twice in a row, and another
        ``ModelError`` if no answer came.
        """
        shape = FullExtractionReply if is_full(passage) else ExtractionReply
        reply, _ = ask(self.chat, extraction_messages(passage, document, schema), shape, stage=STAGE)
        return reply.extraction


def extraction_messages(passage: Passage, document: Document, schema: Schema) -> Messages:
    """The prompt for ``passage``. All that differs between passages is in the user message, so that servers that
    remember a prompt's beginning charge less for the rest."""
    return render(
        "ingest/extract",
        schema=schema.prompt_text() or "(none: choose short general types)",
        **passage_inputs(passage, document),
    )


def _content_of(raw: object) -> dict[str, Any]:
    """The mapping that has the wanted keys: the reply, or what it is wrapped in."""
    if isinstance(raw, list):
        if raw and all(isinstance(each, list) for each in raw):
            return {"triples": raw}
        raw = raw[0] if len(raw) == 1 else raw
    if not isinstance(raw, dict):
        raise ValueError(f"the reply must be one JSON object with the keys {', '.join(KEYS[:5])}")
    content: dict[str, Any] = {}
    for key, value in raw.items():
        plain = str(key).strip().lower().replace(" ", "_")
        content.setdefault(_OTHER_KEYS.get(plain, plain), value)
    if content and not content.keys() & set(KEYS):
        inner = list(raw.values())
        if len(inner) == 1 and isinstance(inner[0], dict | list):
            return _content_of(inner[0])
        raise ValueError(f"the reply has none of the keys {', '.join(KEYS[:5])}")
    return content
