"""What the adapters share: filters, and the metadata of what a search found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kgplatform.client import Where
from kgplatform.errors import InputError
from kgplatform.records import FoundFact, FoundPassage

_SIGNS = {"$eq": "=", "$ne": "!=", "$lt": "<", "$lte": "<=", "$gt": ">", "$gte": ">=", "$in": "in", "$nin": "not in"}
_JOINTS = {"$and": " and ", "$or": " or "}


def where_of(filters: Mapping[str, Any] | None, where: Where | None = None) -> Where | None:
    """``filters`` as neo4j-graphrag and LangChain write them, and ``where``, both of which must fit, as ``where``:
    ``{"$or": [{"author": "Verne"}, {"year": {"$gte": 1869}}]}``. Raises ``InputError`` for an operator that is none."""
    condition = _condition(filters) if filters and filters != {"$and": []} else ""
    if not condition or not where:
        return condition or where or None
    return [condition, *([where] if isinstance(where, str | Mapping) else where)]


def _condition(filters: Any) -> str:
    """``filters`` as a condition in brackets."""
    if not isinstance(filters, Mapping) or not filters:
        raise _unusable(filters)
    parts = []
    for name, wanted in filters.items():
        if name in _JOINTS and isinstance(wanted, Sequence) and wanted and not isinstance(wanted, str):
            parts.append(f"({_JOINTS[name].join(map(_condition, wanted))})")
            continue
        compared = wanted if isinstance(wanted, Mapping) else {"$in" if isinstance(wanted, _LISTS) else "$eq": wanted}
        for operator, value in compared.items():
            if str(name).startswith("$") or "`" in str(name) or operator not in _SIGNS:
                raise _unusable({name: wanted})
            values = [_literal(item) for item in value] if isinstance(value, _LISTS) else [_literal(value)]
            written = f"({', '.join(values)})" if operator in ("$in", "$nin") else values[0]
            if value is None or not values or (len(values) > 1 and operator not in ("$in", "$nin")):
                raise _unusable({name: wanted})
            parts.append(f"`{name}` {_SIGNS[operator]} {written}")
    return f"({' and '.join(parts)})"


def _unusable(filters: object) -> InputError:
    able = ", ".join((*_SIGNS, *_JOINTS))
    return InputError(f"The filter {filters!r:.100} cannot be used: give names with values; the operators are {able}.")


_LISTS = (list, tuple, set, frozenset)


def _literal(value: Any) -> str:
    if hasattr(value, "item") and not isinstance(value, str):  # a number of numpy's
        value = value.item()
    if isinstance(value, bool | int | float):
        return str(value).lower()
    value = value.isoformat() if hasattr(value, "isoformat") else value
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


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
