"""nano-graphrag with the stores it has by default: networkx, nano-vectordb and JSON files."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from peer import DIMENSION, EMBEDDER, SHORT_REPLY, Given, Held, Passage, measure, names_and_pairs, run

_FIELD, _RECORD, _END = "<|>", "##", "<|COMPLETE|>"
_BEFORE, _AFTER = "\nText: ", "\n######################\nOutput:"
_REPORT = json.dumps(
    {"title": "Things", "summary": SHORT_REPLY, "rating": 5.0, "rating_explanation": SHORT_REPLY, "findings": []}
)


def use_shipped_tokens() -> None:
    """Let ``tiktoken`` read the tables that litellm ships: it would fetch them from outside."""
    found = importlib.util.find_spec("litellm")
    assert found is not None and found.origin is not None
    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(found.origin).parent / "litellm_core_utils" / "tokenizers")


def in_its_form(passage: Passage) -> str:
    """The reply that the prompt for entities asks for."""
    records = [_tuple("entity", name, "thing", f"{name} is mentioned.") for name in passage.names]
    records += [
        _tuple("relationship", subject, object_, f"{subject} {predicate} {object_}", 1)
        for subject, predicate, object_ in passage.triples
    ]
    return _RECORD.join(records) + _END


def _tuple(*fields: str | int) -> str:
    return "(" + _FIELD.join(f'"{each}"' if isinstance(each, str) else str(each) for each in fields) + ")"


def drive(given: Given) -> dict[str, Any]:
    """Insert the passages as documents, each of which is one chunk."""
    use_shipped_tokens()
    importlib.import_module("graspologic.partition")  # else it is loaded by the first insert, which takes long
    from nano_graphrag import GraphRAG
    from nano_graphrag._utils import wrap_embedding_func_with_attrs

    async def model(prompt: str, system_prompt: str | None = None, **more: Any) -> str:
        given.calls += 1
        if more.get("history_messages"):
            return _END  # the second look at a passage finds nothing more
        if "response_format" in more:
            return _REPORT
        if _AFTER not in prompt:
            return SHORT_REPLY
        return in_its_form(given.reply(prompt.rpartition(_AFTER)[0].rpartition(_BEFORE)[2]))

    @wrap_embedding_func_with_attrs(embedding_dim=DIMENSION, max_token_size=8192)
    async def embed(texts: list[str]) -> np.ndarray:
        return EMBEDDER.embed(texts)

    peer = GraphRAG(working_dir=str(given.folder), best_model_func=model, cheap_model_func=model, embedding_func=embed)

    def held(passages: list[Passage]) -> Held:
        graph = peer.chunk_entity_relation_graph._graph
        wanted = names_and_pairs(passages, str.upper, least=1)
        return Held(graph.number_of_nodes(), graph.number_of_edges(), *wanted)

    return measure(given, lambda passages, _: peer.insert([each.text for each in passages]), held)


if __name__ == "__main__":
    run(drive)
