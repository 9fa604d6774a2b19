"""LlamaIndex, the real library: our retrieval as its retriever, alone and inside a query engine."""

import asyncio

import pytest
from event_loops import run_in_own_loop
from llama_index.core import Settings
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import Document, MetadataMode, TextNode
from llama_index.core.vector_stores import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
from small_graph import QUESTION, TEXTS

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.interfaces.integrations.llamaindex import KgRetriever

pytest_plugins = ["small_graph"]


def test_nodes_with_their_places(graph: KnowledgeGraph) -> None:
    nodes = KgRetriever(graph=graph, top_k=2).retrieve(QUESTION)
    ours = graph.search(QUESTION, top_k=2)
    assert [(each.node_id, each.score) for each in nodes] == [(each.id, each.score) for each in ours.passages]
    for each in nodes:
        node, place = each.node, each.metadata
        assert isinstance(node, TextNode)
        assert TEXTS[place["title"]][node.start_char_idx : node.end_char_idx] == each.text
        assert node.ref_doc_id == place["document"]
        assert "score" not in node.get_content(MetadataMode.LLM)
        assert place["title"] in node.get_content(MetadataMode.LLM)


def test_facts_carry_their_citations_and_many_are_asked_at_once(graph: KnowledgeGraph) -> None:
    nodes = KgRetriever(graph, "triple", top_k=3, facts=True).retrieve(QUESTION)
    (fact,) = [each for each in nodes if each.text == "Ida Fenn created Marigold"]
    (cited,) = fact.metadata["citations"]
    assert TEXTS[cited["title"]][cited["start"] : cited["end"]] == "Ida Fenn designed the Marigold"
    retriever = KgRetriever(graph, top_k=1)

    async def ask() -> list[str]:
        found = await asyncio.gather(*(retriever.aretrieve(title) for title in [*TEXTS] * 4))
        return [each[0].metadata["title"] for each in found]

    assert run_in_own_loop(ask()) == [retriever.retrieve(title)[0].metadata["title"] for title in TEXTS] * 4


def test_inside_a_query_engine(graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_tokenizer", str.split)  # theirs would be downloaded
    engine = RetrieverQueryEngine.from_args(KgRetriever(graph, top_k=1), llm=MockLLM())
    response = engine.query(QUESTION)
    assert isinstance(response, Response)
    assert [each.metadata["title"] for each in response.source_nodes] == ["The Marigold"]
    assert TEXTS["The Marigold"] in str(response)  # their mock model says the prompt again


def test_their_documents_go_in_and_are_found_by_their_metadata(kg: KnowledgeGraph) -> None:
    def notes() -> list[Document]:
        return [Document(text=f"Note {n} on the cable.", metadata={"file_path": f"{n}.md", "year": n}) for n in (1, 2)]

    assert kg.ingest(notes(), extractor="local").added == 2
    assert kg.ingest(notes(), extractor="local").unchanged == 2, "their ids are others now"
    (found,) = KgRetriever(kg, where={"year": 2}).retrieve("the cable")
    assert (found.text, found.node.metadata["file_path"]) == ("Note 2 on the cable.", "2.md")
    second = MetadataFilters(filters=[MetadataFilter(key="year", value=[2, 3], operator=FilterOperator.IN)])
    assert KgRetriever(kg, filters=MetadataFilters(filters=[second])).retrieve("the cable") == [found]
    later = MetadataFilter(key="year", value=1, operator=FilterOperator.GT)
    first = MetadataFilter(key="year", value=1, operator=FilterOperator.LT)
    either = MetadataFilters(filters=[first, later], condition=FilterCondition.OR)
    assert found in KgRetriever(kg, filters=either).retrieve("the cable")
    like = MetadataFilters(filters=[MetadataFilter(key="year", value="1", operator=FilterOperator.TEXT_MATCH)])
    neither = MetadataFilters(filters=[first], condition=FilterCondition.NOT)
    for wrong, said in ((like, "A filter with text_match cannot be used"), (neither, "join them by AND or OR")):
        with pytest.raises(InputError, match=said):
            KgRetriever(kg, filters=wrong)
