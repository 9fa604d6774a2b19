"""LightRAG with its Neo4j graph store; its other stores are those it has by default, JSON files and nano-vectordb."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import numpy as np
from peer import DIMENSION, EMBEDDER, SHORT_REPLY, Given, Held, Passage, measure, names_and_pairs, run
from with_nano_graphrag import use_shipped_tokens

_FIELD, _END = "<|#|>", "<|COMPLETE|>"
_BORDER = "\n\n\n"
_BEFORE, _AFTER = "---Input Text---\n```\n", "\n```\n\n---Output---"


def in_its_form(passage: Passage) -> str:
    """The reply that the prompt for entities asks for."""
    lines = [_FIELD.join(("entity", name, "Other", f"{name} is mentioned.")) for name in passage.names]
    lines += [
        _FIELD.join(("relation", subject, object_, predicate, f"{subject} {predicate} {object_}"))
        for subject, predicate, object_ in passage.triples
    ]
    return "\n".join([*lines, _END])


def drive(given: Given) -> dict[str, Any]:
    """Insert the passages as documents, each of which is one chunk, or as the chunks of one document."""
    use_shipped_tokens()
    os.environ.update({f"NEO4J_{name.upper()}": str(given.neo4j[name]) for name in ("uri", "username", "password")})
    from lightrag import LightRAG
    from lightrag.utils import EmbeddingFunc

    async def model(prompt: str, system_prompt: str | None = None, **more: Any) -> str:
        given.calls += 1
        if more.get("history_messages"):
            return _END  # the second look at a passage finds nothing more
        if _BEFORE not in prompt:
            return SHORT_REPLY
        return in_its_form(given.reply(prompt.rpartition(_AFTER)[0].rpartition(_BEFORE)[2]))

    async def embed(texts: list[str]) -> np.ndarray:
        return EMBEDDER.embed(texts)

    peer = LightRAG(
        working_dir=str(given.folder),
        graph_storage="Neo4JStorage",
        llm_model_func=model,
        embedding_func=EmbeddingFunc(embedding_dim=DIMENSION, max_token_size=8192, func=embed),
    )
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(peer.initialize_storages())

    def add(passages: list[Passage], _: Path) -> None:
        texts = [each.text for each in passages]
        if given.whole:
            document = _BORDER.join(texts)
            insert = peer.ainsert(document, split_by_character=_BORDER, split_by_character_only=True)
        else:
            insert = peer.ainsert(texts)
        loop.run_until_complete(insert)

    async def counted() -> tuple[int, int]:
        graph = peer.chunk_entity_relation_graph
        ends = {frozenset((each["source"], each["target"])) for each in await graph.get_all_edges()}
        return len(await graph.get_all_nodes()), len(ends)

    def held(passages: list[Passage]) -> Held:
        return Held(*loop.run_until_complete(counted()), *names_and_pairs(passages))

    try:
        return measure(given, add, held)
    finally:
        loop.run_until_complete(peer.finalize_storages())


if __name__ == "__main__":
    run(drive)
