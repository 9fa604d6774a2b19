"""The platform as parts of Neo4j's own package neo4j-graphrag: its ``Retriever``, ``Embedder`` and ``LLMInterface``.

    rag = GraphRAG(KgRetriever(kg), KgLLM(kg))
    rag.search("Who designed the ship that laid the cable?", return_context=True).answer

Their own retrievers also work on the platform's database as it is (docs/how-to/adapters.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import ModelError, SettingError, to_install
from kgplatform.interfaces.integrations import fact_metadata, passage_metadata, where_of
from kgplatform.models.chat import ANY_OBJECT, FREE_TEXT, Chat, Wanted
from kgplatform.models.embed import embed_question

try:
    from neo4j_graphrag import types as their_types
    from neo4j_graphrag.embeddings import Embedder
    from neo4j_graphrag.exceptions import EmbeddingsGenerationError, LLMGenerationError
    from neo4j_graphrag.llm.base import LLMBase
    from neo4j_graphrag.llm.types import LLMResponse, LLMUsage
    from neo4j_graphrag.llm.utils import legacy_inputs_to_messages
    from neo4j_graphrag.message_history import MessageHistory
    from neo4j_graphrag.retrievers.base import Retriever
    from neo4j_graphrag.types import LLMMessage, RawSearchResult, RetrieverResultItem
except ImportError as missing:
    raise SettingError(f"neo4j-graphrag is not installed. Run `{to_install('graphrag')}`.") from missing

STAGE = "neo4j-graphrag"
"""The stage under which ``KgLLM``'s tokens are counted."""

# The library's results are records of the driver, which it imports itself.
_Record: Callable[[dict[str, Any]], Any] = their_types.neo4j.Record  # type: ignore[attr-defined]  # not exported


class KgRetriever(Retriever):
    """A search by one of the platform's routes. Each item is a passage with its place.

    ``facts``: the facts that were found follow as items. The result's metadata always have them, with their citations.
    ``result_formatter`` gets a record with ``text`` and ``metadata``.
    """

    VERIFY_NEO4J_VERSION = False

    def __init__(
        self,
        graph: KnowledgeGraph,
        route: str = "all",
        top_k: int = 10,
        *,
        facts: bool = False,
        result_formatter: Callable[[Any], RetrieverResultItem] | None = None,
    ) -> None:
        # Not theirs: it needs a driver, and changes the name that ours gives to the server.
        self.graph = graph
        self.route = route
        self.top_k = top_k
        self.facts = facts
        self.result_formatter = result_formatter

    def get_search_results(
        self, query_text: str, top_k: int | None = None, route: str | None = None, filters: dict[str, Any] | None = None
    ) -> RawSearchResult:
        """Search the graph for a question, in words.

        Args:
            query_text: the question.
            top_k: how many passages; by default as the retriever was made.
            route: which way to retrieve; by default as the retriever was made.
            filters: only documents with these metadata, such as {"author": "Verne", "year": {"$in": [1869, 1870]}}.
        """
        asked = route or self.route
        count = self.top_k if top_k is None else top_k
        result = self.graph.search(query_text, asked, count, where=where_of(filters))
        records = [
            _Record({"text": passage.text, "metadata": passage_metadata(passage)}) for passage in result.passages
        ]
        facts = [{"text": fact.text, **fact_metadata(fact)} for fact in result.facts]
        if self.facts:
            records += [_Record({"text": fact["text"], "metadata": fact}) for fact in facts]
        metadata = {"route": asked, "facts": facts, "seconds": result.seconds}
        return RawSearchResult(records=records, metadata=metadata)

    def default_record_formatter(self, record: Any) -> RetrieverResultItem:
        """Only the text as content: it goes into the prompt as it is."""
        return RetrieverResultItem(content=record["text"], metadata=record["metadata"])


class KgEmbedder(Embedder):
    """The graph's embedding model as an embedder of theirs: the one that made the vectors of the graph's indexes."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        super().__init__()
        self._graph = graph

    def embed_query(self, text: str) -> list[float]:
        """The vector of ``text``, of length 1. Raises their ``EmbeddingsGenerationError``."""
        try:
            return [float(number) for number in embed_question(self._graph.embedder, text)]
        except ModelError as error:
            raise EmbeddingsGenerationError(str(error)) from error

    async def async_embed_query(self, text: str) -> list[float]:
        """The same in a thread."""
        return await asyncio.to_thread(self.embed_query, text)


class KgLLM(LLMBase):
    """The platform's language model as one of theirs, in both of their call forms (a text, or a list of messages).

    It uses the platform's cache, retries and budget, and counts what it spends; their ``model_params`` are ignored,
    and tools are not supported. Raises ``SettingError`` if no model is configured.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        if graph.language_model is None:
            raise SettingError("No language model is configured. Set OPENAI_API_KEY, or OPENAI_BASE_URL.")
        self._chat: Chat = graph.language_model
        super().__init__(graph.language_model.model)

    def invoke(
        self,
        input: str | list[LLMMessage],
        message_history: list[LLMMessage] | MessageHistory | None = None,
        system_instruction: str | None = None,
        response_format: Any = None,
        **kwargs: Any,
    ) -> LLMResponse:
        """The reply to a text or to messages. ``response_format``, a pydantic model, is the form of the JSON that is
        asked for; any other asks for JSON of no given form. Raises their ``LLMGenerationError``."""
        given = legacy_inputs_to_messages(input, message_history, system_instruction)
        messages = [{"role": each["role"], "content": each["content"]} for each in given]
        is_form = isinstance(response_format, type) and issubclass(response_format, BaseModel)
        wanted = Wanted(response_format) if is_form else FREE_TEXT if response_format is None else ANY_OBJECT
        try:
            reply = self._chat.send(messages, stage=STAGE, wanted=wanted)
        except ModelError as error:
            raise LLMGenerationError(str(error)) from error
        spent = reply.usage if reply.usage.calls else reply.worth or reply.usage
        usage = LLMUsage(
            request_tokens=spent.input_tokens,
            response_tokens=spent.output_tokens,
            total_tokens=spent.input_tokens + spent.output_tokens,
        )
        return LLMResponse(content=reply.text, usage=usage)

    async def ainvoke(self, *args: Any, **kwargs: Any) -> LLMResponse:
        """The same in a thread."""
        return await asyncio.to_thread(self.invoke, *args, **kwargs)


def schema_text(graph: KnowledgeGraph, tokens: int = 3000) -> str:
    """What the graph has, for the ``neo4j_schema`` of their ``Text2CypherRetriever``, in at most ``tokens`` tokens.
    Without it they ask APOC, which the managed server does not have."""
    return graph.schema_text(tokens)
