"""Replies in the styles of real models, each read once: nothing is asked again, and nothing in them is lost."""

from __future__ import annotations

from typing import Any

import pytest
from reply_files import replies

from kgplatform.errors import ReplyError
from kgplatform.ingest.extract.llm import LlmExtractor, read_facts
from kgplatform.ingest.schema import EntityType, RelationType, Schema
from kgplatform.models.response import read_answer
from kgplatform.records import Document, Extraction, Passage
from kgplatform.testing import ScriptedChat

SCHEMA = Schema("s", (EntityType("Person"), EntityType("Place")), (RelationType("born_in"),))
DOCUMENT = Document("d", "Ada", "file:///ada.txt", "file:///ada.txt", "", "0")
PASSAGE = Passage("c", "d", "Ada 1", 0, 0, 0, None, "A text that says something.", 30)


def once(reply: str) -> ScriptedChat:
    """A model that writes ``reply``, handed over as from a server, and nothing of use when it is asked again."""
    served, _ = read_answer({"choices": [{"message": {"content": reply}, "finish_reason": "stop"}]}, [])
    return ScriptedChat([served, "No."])


def named(extraction: Extraction) -> dict[str, list[Any]]:
    return {
        "entities": [[each.name, each.type] for each in extraction.entities],
        "triples": [[each.subject, each.predicate, each.object] for each in extraction.triples],
        "attributes": [[each.entity, each.key, each.value] for each in extraction.attributes],
        "facts": [each.text for each in extraction.facts],
        "proposals": [[each.kind, each.name] for each in extraction.proposals],
    }


@pytest.mark.parametrize(("reply", "reads"), replies("ingest/extract/replies/extract.yaml"))
def test_extractions(reply: str, reads: dict[str, list[Any]] | None) -> None:
    chat = once(reply)
    if reads is None:
        with pytest.raises(ReplyError):
            LlmExtractor(chat).extract(PASSAGE, DOCUMENT, SCHEMA)
        return
    found = named(LlmExtractor(chat).extract(PASSAGE, DOCUMENT, SCHEMA))
    assert {kind: found[kind] for kind in reads} == reads
    assert len(chat.calls) == 1


@pytest.mark.parametrize(("reply", "reads"), replies("ingest/extract/replies/atomic_facts.yaml"))
def test_atomic_facts(reply: str, reads: dict[str, list[str]] | None) -> None:
    chat = once(reply)
    if reads is None:
        with pytest.raises(ReplyError):
            read_facts(chat, PASSAGE, DOCUMENT, 1024)
        return
    assert {each.text: list(each.key_elements) for each in read_facts(chat, PASSAGE, DOCUMENT, 1024).facts} == reads
    assert len(chat.calls) == 1
