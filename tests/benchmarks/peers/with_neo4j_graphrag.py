"""The official neo4j-graphrag: its embedder of chunks, its extractor and its ``Neo4jWriter``, one after the other.

Its writer makes relationships with APOC, which the managed server does not have; here Cypher of Neo4j 5.26 does that
one step. Its resolvers, which join entities of the same name, are made of APOC alone and cannot run.
"""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from peer import DIMENSION, EMBEDDER, Given, Held, Passage, measure, run

_BEFORE = "\nInput text:\n\n"
_HERE = Path(__file__).parent
_RELATIONSHIPS = (_HERE / "neo4j_graphrag_relationships.cypher").read_text("utf-8")
_COUNTED = (_HERE / "neo4j_graphrag_counts.cypher").read_text("utf-8")


def in_its_form(passage: Passage) -> str:
    """The reply that the prompt for entities asks for."""
    numbers = {name: str(number) for number, name in enumerate(passage.names)}
    nodes = [{"id": number, "label": "Thing", "properties": {"name": name}} for name, number in numbers.items()]
    relationships = [
        {"type": _type(predicate), "start_node_id": numbers[subject], "end_node_id": numbers[object_], "properties": {}}
        for subject, predicate, object_ in passage.triples
    ]
    return json.dumps({"nodes": nodes, "relationships": relationships})


def _type(predicate: str) -> str:
    return re.sub(r"\W+", "_", predicate).upper()


def drive(given: Given) -> dict[str, Any]:
    """Embed, extract and write the passages, which are the chunks of one document."""
    import neo4j
    from neo4j_graphrag.components.embedder import TextChunkEmbedder
    from neo4j_graphrag.components.entity_relation_extractor import LLMEntityRelationExtractor
    from neo4j_graphrag.components.kg_writer import Neo4jWriter
    from neo4j_graphrag.components.types import TextChunk, TextChunks
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.indexes import create_vector_index
    from neo4j_graphrag.llm.base import LLMInterface
    from neo4j_graphrag.llm.types import LLMResponse

    class Hashed(Embedder):
        def embed_query(self, text: str) -> list[float]:
            vector: list[float] = EMBEDDER.embed([text])[0].tolist()
            return vector

    class Recorded(LLMInterface):
        def invoke(self, input: str, *more: Any, **named: Any) -> LLMResponse:
            given.calls += 1
            return LLMResponse(content=in_its_form(given.reply(input.rpartition(_BEFORE)[2].strip())))

        async def ainvoke(self, input: str, *more: Any, **named: Any) -> LLMResponse:
            return self.invoke(input)

    class Writer(Neo4jWriter):
        def _upsert_relationships(self, rels: list[Any]) -> None:
            self.driver.execute_query(_RELATIONSHIPS, rows=self._relationships_to_rows(rels))

    address = given.neo4j
    with neo4j.GraphDatabase.driver(address["uri"], auth=(address["username"], address["password"])) as driver:
        create_vector_index(driver, "chunks", "Chunk", "embedding", DIMENSION, "cosine")
        embedder, extractor, writer = (
            TextChunkEmbedder(Hashed()),
            LLMEntityRelationExtractor(Recorded("recorded")),
            Writer(driver),
        )

        async def add(passages: list[Passage]) -> None:
            chunks = TextChunks(chunks=[TextChunk(text=each.text, index=at) for at, each in enumerate(passages)])
            written = await writer.run(graph=await extractor.run(chunks=await embedder.run(text_chunks=chunks)))
            if written.status != "SUCCESS":
                raise RuntimeError(f"Neo4jWriter failed: {written.metadata}")

        def held(passages: list[Passage]) -> Held:
            """Entities are those of each passage: nothing joins them."""
            found = driver.execute_query(_COUNTED).records[0]
            triples = sum(len({(s, _type(p), o) for s, p, o in each.triples}) for each in passages)
            return Held(found["entities"], found["relations"], sum(len(each.names) for each in passages), triples)

        return measure(given, lambda passages, _: asyncio.run(add(passages)), held)


if __name__ == "__main__":
    run(drive)
