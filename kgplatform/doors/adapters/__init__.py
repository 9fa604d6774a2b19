"""What the adapters share: a search, and the metadata of what it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.records import FoundFact, FoundPassage, SearchResult

DEFAULT_ROUTE = "all"
DEFAULT_TOP_K = 10


def found(
    graph: KnowledgeGraph, question: str, route: str, top_k: int, where: Mapping[str, Any] | None = None
) -> SearchResult:
    """What a search finds, with ``top_k`` checked. Raises what ``KnowledgeGraph.search`` raises."""
    if top_k < 1:
        raise InputError(f"top_k is {top_k}: ask for at least one passage.")
    return graph.search(question, route=route, top_k=top_k, where=where)


def passage_metadata(passage: FoundPassage) -> dict[str, Any]:
    """Where a passage stands: ``start`` and ``end`` are characters of the document's text, half open; and what else is
    known of its document."""
    return {
        **passage.metadata,
        "id": passage.id,
        "document": passage.document,
        "title": passage.title,
        "start": passage.start,
        "end": passage.end,
        "page": passage.page or passage.metadata.get("page"),
        "location": passage.location,
        "score": passage.score,
        "relevance": passage.relevance,
        "routes": list(passage.routes),
    }


def fact_metadata(fact: FoundFact) -> dict[str, Any]:
    """A fact with every place that states it: ``found`` is false if only the passage is known."""
    return {
        "id": fact.id,
        "score": fact.score,
        "routes": list(fact.routes),
        "citations": [asdict(citation) for citation in fact.citations],
    }
