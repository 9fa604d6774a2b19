"""neo4j-graphrag, the real library: ours inside of theirs, and theirs on our database as it is."""

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from event_loops import run_in_own_loop
from neo4j_graphrag.exceptions import EmbeddingsGenerationError, LLMGenerationError, Text2CypherRetrievalError
from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.retrievers import Text2CypherRetriever, VectorRetriever
from neo4j_graphrag.types import RetrieverResultItem
from small_graph import QUESTION, TEXTS

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, ModelError, SettingError
from kgplatform.interfaces.integrations import where_of
from kgplatform.interfaces.integrations.neo4j_graphrag import STAGE, KgEmbedder, KgLLM, KgRetriever, schema_text
from kgplatform.models.chat import ANY_OBJECT, FREE_TEXT, Wanted
from kgplatform.prompt import Messages
from kgplatform.testing import OpenAIServer, ScriptedChat

pytest_plugins = ["small_graph"]
pytestmark = pytest.mark.filterwarnings("ignore:The default returned 'id' field:DeprecationWarning")


@pytest.fixture
def asked(graph: KnowledgeGraph) -> Iterator[tuple[KnowledgeGraph, OpenAIServer]]:
    """The graph with a model behind the OpenAI protocol, which answers with the first line of the context."""

    def reply(messages: Messages) -> str:
        context = messages[-1]["content"].partition("Context:")[2].strip()
        return f"From {len(messages)} messages: {context.splitlines()[0] if context else 'nothing'}"

    with OpenAIServer(reply) as server:
        settings = graph.settings.model_copy(update={"openai_base_url": server.base_url})
        yield KnowledgeGraph(graph.store, settings, embedder=graph.embedder), server


def test_a_whole_answer_by_their_graphrag(asked: tuple[KnowledgeGraph, OpenAIServer]) -> None:
    graph, _ = asked
    part = graph.within()
    rag = GraphRAG(KgRetriever(part, "entity"), KgLLM(part))
    found = rag.search(QUESTION, retriever_config={"top_k": 2}, return_context=True)
    ours = graph.search(QUESTION, "entity", 2)
    assert found.answer == f"From 2 messages: {ours.passages[0].text}"
    assert found.retriever_result is not None
    assert [item.content for item in found.retriever_result.items] == [each.text for each in ours.passages]
    assert set(part.ledger.by_stage()) == {STAGE}
    assert part.ledger.total.calls == 1
    assert part.ledger.total.input_tokens > 0


def test_items_say_where_they_stand_and_take_options(graph: KnowledgeGraph) -> None:
    result = KgRetriever(graph).search(query_text=QUESTION, top_k=3)
    assert result.metadata is not None
    for item in result.items:
        place = item.metadata
        assert place is not None
        assert TEXTS[place["title"]][place["start"] : place["end"]] == item.content
    (fact, *_) = [each for each in result.metadata["facts"] if each["text"] == "Ida Fenn created Marigold"]
    cited = fact["citations"][0]
    assert TEXTS[cited["title"]][cited["start"] : cited["end"]] == "Ida Fenn designed the Marigold"
    assert json.loads(json.dumps(result.metadata)) == result.metadata
    with_facts = KgRetriever(graph=graph, top_k=1, facts=True).search(query_text=QUESTION)
    assert "Ida Fenn created Marigold" in [item.content for item in with_facts.items]
    own = KgRetriever(
        graph, result_formatter=lambda record: RetrieverResultItem(content=record["metadata"]["title"].upper())
    )
    assert "THE MARIGOLD" in [item.content for item in own.search(query_text=QUESTION).items]
    assert KgRetriever(graph).search(query_text=QUESTION, route="bm25").metadata["route"] == "bm25"  # type: ignore[index]
    for wrong in ({"top_k": 0}, {"route": "entitty"}, {"filters": {"author": "nobody"}}):
        with pytest.raises(InputError):
            KgRetriever(graph).search(query_text=QUESTION, **wrong)


def test_their_filters_say_what_where_says() -> None:
    both = {"$and": [{"author": "Verne"}, {"year": {"$in": [1869, "1870"]}}], "draft": {"$ne": True}}
    said = '(((`author` = "Verne") and (`year` in (1869, "1870"))) and `draft` != true)'
    assert where_of(both) == said
    assert where_of(both, {"tags": "sea"}) == [said, {"tags": "sea"}]
    escaping = where_of({"tenant": 'x" or "y'}, "a = 1) or (b = 2")
    assert escaping == ['(`tenant` = "x\\" or \\"y")', "a = 1) or (b = 2"], "each is read by itself"
    assert where_of({"$or": [{"year": {"$gte": 1, "$lt": np.int64(3)}}, {"tags": ["x"]}]}, ["a", {"b": 1}]) == [
        '(((`year` >= 1 and `year` < 3) or (`tags` in ("x"))))',
        "a",
        {"b": 1},
    ]
    assert where_of({"at": {"$lte": datetime(2020, 1, 1, 12)}}) == '(`at` <= "2020-01-01T12:00:00")'
    assert (where_of(None), where_of({"$and": []}), where_of(None, "a or b")) == (None, None, "a or b")
    for wrong in (
        {"year": {"$near": 1}},
        {"$or": []},
        {"$not": {"year": 1}},
        {"x": None},
        {"x": {"$in": []}},
        {"`": 1},
    ):
        with pytest.raises(InputError, match="The filter .* cannot be used: give names with values"):
            where_of(wrong)


def test_the_llm_in_both_forms_and_async(asked: tuple[KnowledgeGraph, OpenAIServer]) -> None:
    graph, _ = asked
    part = graph.within()
    llm = KgLLM(part)
    assert llm.model_name == graph.settings.chat_model
    one = llm.invoke("Context:\nx", system_instruction="Be brief.")
    assert one.content == "From 2 messages: x"
    assert one.usage is not None
    assert one.usage.total_tokens == (one.usage.request_tokens or 0) + (one.usage.response_tokens or 0) > 0
    history = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert llm.invoke("Context:\ny", message_history=history).content == "From 3 messages: y"  # type: ignore[arg-type]
    assert llm.invoke([{"role": "user", "content": "Context:\nz"}]).content == "From 1 messages: z"

    async def many() -> list[str]:
        replies = await asyncio.gather(*(llm.ainvoke(f"Context:\n{number}") for number in range(5)))
        return [each.content for each in replies]

    before = part.ledger.total.calls
    assert run_in_own_loop(many()) == [f"From 1 messages: {number}" for number in range(5)]
    assert part.ledger.total.calls == before + 5


def test_the_llm_asks_for_json(graph: KnowledgeGraph) -> None:
    sent: list[Wanted] = []

    class Noting(ScriptedChat):
        def send(self, messages: Messages, *, stage: str, wanted: Wanted = FREE_TEXT) -> Any:
            sent.append(wanted)
            return super().send(messages, stage=stage, wanted=wanted)

    llm = KgLLM(KnowledgeGraph(graph.store, graph.settings, chat=Noting(lambda _: "{}")))
    llm.invoke([{"role": "user", "content": "x"}], response_format={"type": "json_object"})
    llm.invoke([{"role": "user", "content": "x"}])
    llm.invoke([{"role": "user", "content": "x"}], response_format=RetrieverResultItem)
    assert sent == [ANY_OBJECT, FREE_TEXT, Wanted(RetrieverResultItem)]


def test_errors_are_theirs(graph: KnowledgeGraph) -> None:
    with pytest.raises(SettingError, match="OPENAI_API_KEY"):
        KgLLM(graph)

    def fail(messages: Messages) -> str:
        raise ModelError("The model is away.")

    with pytest.raises(LLMGenerationError, match="The model is away"):
        KgLLM(KnowledgeGraph(graph.store, graph.settings, chat=ScriptedChat(fail))).invoke("x")
    closed = graph.settings.model_copy(
        update={"embedder": "openai:x", "openai_base_url": "http://127.0.0.1:9/v1", "model_retries": 0}
    )
    with pytest.raises(EmbeddingsGenerationError):
        KgEmbedder(KnowledgeGraph(graph.store, closed)).embed_query("x")


def test_their_vector_retriever(graph: KnowledgeGraph) -> None:
    indexes = {
        "chunk": "Ida Fenn designed the Marigold",
        "fact": "Ida Fenn created Marigold",
        "element": "harbour cable",
    }
    with graph.store.lend_driver("a test") as driver:
        for index, expected in indexes.items():
            theirs = VectorRetriever(
                driver, f"{index}_embedding", KgEmbedder(graph), return_properties=["name", "text"]
            )
            assert expected in theirs.search(query_text=expected, top_k=3).items[0].content
    vector = run_in_own_loop(KgEmbedder(graph).async_embed_query("harbour"))
    assert vector == [float(each) for each in graph.embedder.embed(["harbour"])[0]]


def test_their_text_to_cypher(graph: KnowledgeGraph) -> None:
    schema = schema_text(graph)
    assert "Person" in schema
    statement = "MATCH (p:Person)<-[:SUBJECT]-(f:Fact {predicate: 'created'})-[:OBJECT]->(o) RETURN p.name AS who"
    asked: list[str] = []

    def reply(messages: Messages) -> str:
        asked.append(messages[-1]["content"])
        return f"```cypher\n{statement}\n```" if "designed" in asked[-1] else "MATCH (n) DETACH DELETE n"

    llm = KgLLM(KnowledgeGraph(graph.store, graph.settings, chat=ScriptedChat(reply)))
    with graph.store.lend_driver("a test") as driver:
        theirs = Text2CypherRetriever(driver, llm, neo4j_schema=schema)
        found = theirs.search(query_text=QUESTION)
        with pytest.raises(Text2CypherRetrievalError, match="Refusing"):
            Text2CypherRetriever(driver, llm, neo4j_schema="Nothing.").search(query_text="Forget all.")
    assert "Ida Fenn" in found.items[0].content
    assert schema in asked[0]
    assert graph.documents()
