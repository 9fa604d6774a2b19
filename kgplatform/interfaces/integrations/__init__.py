"""What the adapters share: filters, and the metadata of what a search found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kgplatform.errors import InputError
from kgplatform.records import FoundFact, FoundPassage


def where_of(filters: Mapping[str, Any] | None, where: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None:
    """``filters`` as neo4j-graphrag and LangChain write them, and ``where``, both of which must fit, as ``where``:
    ``{"author": "Verne", "year": {"$in": [1869, 1870]}}``.

    Raises ``InputError`` for other operators than ``$eq``, ``$in`` and ``$and``, and for a name that comes twice.
    """
    found = dict(where or {})
    for name, wanted in (filters or {}).items():
        if name == "$and" and isinstance(wanted, Sequence):
            for part in wanted:
                found = dict(where_of(part, found) or {})
            continue
        operator, value = (
            next(iter(wanted.items())) if isinstance(wanted, Mapping) and len(wanted) == 1 else ("", wanted)
        )
        if isinstance(wanted, Mapping) and operator not in ("$eq", "$in") or str(name).startswith("$"):
            raise InputError(
                f"The filter {{{name!r}: {wanted!r:.100}}} cannot be used: only values, $eq, $in and $and."
            )
        if name in found:
            raise InputError(f"{name} is filtered twice. Name its values once, in a list.")
        found[name] = value
    return found or None


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
