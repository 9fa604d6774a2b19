"""HippoRAG 2, in memory and in its own files.

Of the packages it names, those that only load models (vllm, transformers, GritLM, litellm, boto3) are stood in for by
empty modules. Its client of an API is what is replaced, so that its own cache of replies is measured with it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

from peer import EMBEDDER, Given, Held, Passage, measure, run

_UNUSED = ("vllm", "transformers", "gritlm", "litellm", "boto3", "botocore", "botocore.exceptions", "ipdb")
_PARAGRAPH = re.compile(r"Paragraph:\n```\n(.*)\n```\n", re.DOTALL)


class _Replies:
    """In place of the client for chat: the names of a passage, or its triples where names are given."""

    def __init__(self, given: Given) -> None:
        self._given = given

    def create(self, messages: list[dict[str, str]], **more: Any) -> Any:
        """As the API's client does."""
        self._given.calls += 1
        asked = messages[-1]["content"]
        framed = _PARAGRAPH.search(asked)
        passage = self._given.reply(framed[1] if framed else asked)
        found = {"triples": passage.triples} if framed else {"named_entities": passage.names}
        choice = SimpleNamespace(message=SimpleNamespace(content=json.dumps(found)), finish_reason="stop")
        return SimpleNamespace(choices=[choice], usage=SimpleNamespace(prompt_tokens=0, completion_tokens=0))


class _Vectors:
    """In place of the client for embeddings."""

    def create(self, input: list[str], model: str) -> Any:
        """As the API's client does."""
        return SimpleNamespace(data=[SimpleNamespace(embedding=each) for each in EMBEDDER.embed(input)])


def drive(given: Given) -> dict[str, Any]:
    """Index the passages; each is one document, as it wants them."""
    for name in _UNUSED:
        sys.modules[name] = MagicMock(name=name)
    os.environ["OPENAI_API_KEY"] = "none"
    from hipporag import HippoRAG
    from hipporag.utils.misc_utils import text_processing

    peer = HippoRAG(
        save_dir=str(given.folder), llm_model_name="gpt-recorded", embedding_model_name="text-embedding-recorded"
    )
    peer.llm_model.openai_client = SimpleNamespace(chat=SimpleNamespace(completions=_Replies(given)))
    peer.embedding_model.client = SimpleNamespace(embeddings=_Vectors())

    def held(passages: list[Passage]) -> Held:
        """It has the names that triples join, in small letters without signs, and each triple of those once."""
        triples = {tuple(map(text_processing, triple)) for each in passages for triple in each.triples}
        names = {end for subject, _, object_ in triples for end in (subject, object_)}
        return Held(
            len(peer.entity_embedding_store.hash_ids), len(peer.fact_embedding_store.hash_ids), len(names), len(triples)
        )

    return measure(given, lambda passages, _: peer.index([each.text for each in passages]), held)


if __name__ == "__main__":
    run(drive)
