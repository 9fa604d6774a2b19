"""kgplatform: documents into a Neo4j knowledge graph, and answers out of it.

Public names are loaded when they are first used, so that the command line answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgplatform.client import KnowledgeGraph, connect
    from kgplatform.errors import (
        BudgetError,
        DocumentError,
        EmbeddingMismatchError,
        InputError,
        KgError,
        ModelError,
        ReplyError,
        SchemaError,
        ServerError,
        SettingError,
        StatementError,
        StoreError,
    )
    from kgplatform.ingest.estimate import Estimate
    from kgplatform.ingest.pipeline import IngestReport
    from kgplatform.ingest.schema import Schema, load_schema
    from kgplatform.neo4j.store import trace
    from kgplatform.records import Answer, Citation, FoundFact, FoundPassage, SearchResult, Step, Table, Text, Usage

_HOMES = {
    "kgplatform.ingest.estimate": ("Estimate",),
    "kgplatform.ingest.pipeline": ("IngestReport",),
    "kgplatform.ingest.schema": ("Schema", "load_schema"),
    "kgplatform.client": ("KnowledgeGraph", "connect"),
    "kgplatform.errors": (
        "BudgetError",
        "DocumentError",
        "EmbeddingMismatchError",
        "InputError",
        "KgError",
        "ModelError",
        "ReplyError",
        "SchemaError",
        "ServerError",
        "SettingError",
        "StatementError",
        "StoreError",
    ),
    "kgplatform.records": ("Answer", "Citation", "FoundFact", "FoundPassage", "SearchResult", "Step", "Table", "Text", "Usage"),
    "kgplatform.neo4j.store": ("trace",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Answer",
    "BudgetError",
    "Citation",
    "DocumentError",
    "EmbeddingMismatchError",
    "Estimate",
    "FoundFact",
    "FoundPassage",
    "IngestReport",
    "InputError",
    "KgError",
    "KnowledgeGraph",
    "ModelError",
    "ReplyError",
    "Schema",
    "SchemaError",
    "SearchResult",
    "ServerError",
    "SettingError",
    "StatementError",
    "Step",
    "StoreError",
    "Table",
    "Text",
    "Usage",
    "connect",
    "load_schema",
    "trace",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'kgplatform' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
