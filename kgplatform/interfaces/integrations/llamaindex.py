"""The platform as a LlamaIndex retriever.

engine = RetrieverQueryEngine.from_args(KgRetriever(kg, route="entity"), llm=…)
KgRetriever(kg).retrieve("Who designed the ship?")[0].node.metadata["title"]
"""

from __future__ import annotations

import asyncio
from typing import Any

from kgplatform.client import KnowledgeGraph, Where
from kgplatform.errors import InputError, SettingError, to_install
from kgplatform.interfaces.integrations import fact_metadata, passage_metadata, where_of

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
    from llama_index.core.vector_stores import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
except ImportError as missing:
    raise SettingError(f"LlamaIndex is not installed. Run `{to_install('llamaindex')}`.") from missing

_FOR_PEOPLE = ("id", "document", "start", "end", "score", "relevance", "routes", "citations")
"""Metadata that models and embeddings do not see."""


class KgRetriever(BaseRetriever):
    """A search by one of the platform's routes. Each node is a passage; with ``facts``, the facts that were found
    follow, as nodes with ``citations`` in their metadata. ``where``: only documents with these metadata; ``filters``:
    the same as LlamaIndex writes it, with the operators EQ, IN, ANY and CONTAINS, all of which must fit.

    A node's ``ref_doc_id`` is the document, its ``start_char_idx`` and ``end_char_idx`` the characters of its text.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        route: str = "all",
        top_k: int = 10,
        *,
        facts: bool = False,
        where: Where | None = None,
        filters: MetadataFilters | None = None,
        **more: Any,
    ) -> None:
        self._graph = graph
        self._route = route
        self._top_k = top_k
        self._facts = facts
        self._where = where_of(_plain(filters) if filters else None, where)
        super().__init__(**more)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        result = self._graph.search(query_bundle.query_str, self._route, self._top_k, where=self._where)
        nodes = []
        for passage in result.passages:
            node = _text_node(passage.id, passage.text, passage_metadata(passage))
            node.start_char_idx, node.end_char_idx = passage.start, passage.end
            source = RelatedNodeInfo(node_id=passage.document, metadata={"title": passage.title})
            node.relationships[NodeRelationship.SOURCE] = source
            nodes.append(NodeWithScore(node=node, score=passage.score))
        for fact in result.facts if self._facts else ():
            metadata = fact_metadata(fact) | {"title": fact.citations[0].title if fact.citations else ""}
            nodes.append(NodeWithScore(node=_text_node(fact.id, fact.text, metadata), score=fact.score))
        return nodes

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


_OPERATORS = {
    FilterOperator.EQ: "$eq",
    FilterOperator.NE: "$ne",
    FilterOperator.LT: "$lt",
    FilterOperator.LTE: "$lte",
    FilterOperator.GT: "$gt",
    FilterOperator.GTE: "$gte",
    FilterOperator.IN: "$in",
    FilterOperator.ANY: "$in",
    FilterOperator.NIN: "$nin",
    FilterOperator.CONTAINS: "$eq",
}
"""Of lists too: a document has a value if its list does."""
_JOINTS = {FilterCondition.AND: "$and", FilterCondition.OR: "$or", None: "$and"}


def _plain(each: MetadataFilter | MetadataFilters) -> dict[str, Any]:
    """Their filters as dictionaries. Raises ``InputError`` for what they can ask and ``where`` cannot."""
    if isinstance(each, MetadataFilters):
        if each.condition not in _JOINTS:
            raise InputError(f"Filters joined by {each.condition} cannot be used: join them by AND or OR.")
        return {_JOINTS[each.condition]: [_plain(inner) for inner in each.filters]}
    if each.operator not in _OPERATORS:
        able = ", ".join(operator.value for operator in _OPERATORS)
        raise InputError(f"A filter with {each.operator.value} cannot be used: the operators are {able}.")
    return {each.key: {_OPERATORS[each.operator]: each.value}}


def _text_node(node_id: str, text: str, metadata: dict[str, Any]) -> TextNode:
    hidden = [name for name in _FOR_PEOPLE if name in metadata]
    return TextNode(
        id_=node_id,
        text=text,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
    )
