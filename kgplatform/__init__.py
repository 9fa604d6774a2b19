"""kgplatform: documents into a Neo4j knowledge graph, and answers out of it.

Public names are loaded when they are first used, so that the command line answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgplatform.async_client import AsyncKnowledgeGraph, connect_async
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
        StoppedError,
        StoreError,
    )
    from kgplatform.ingest.estimate import Estimate
    from kgplatform.ingest.extract import Extractor
    from kgplatform.ingest.files.file_text import FileText
    from kgplatform.ingest.given import Text
    from kgplatform.ingest.pipeline import IngestReport
    from kgplatform.ingest.schema import Schema, load_schema
    from kgplatform.models.chat import Chat
    from kgplatform.models.embed import Embedder
    from kgplatform.neo4j.store import trace
    from kgplatform.records import Answer, Citation, FoundFact, FoundPassage, SearchResult, Step, Table, Usage
    from kgplatform.work.stopping import Stop

_HOMES = {
    "kgplatform.ingest.estimate": ("Estimate",),
    "kgplatform.ingest.extract": ("Extractor",),
    "kgplatform.ingest.files.file_text": ("FileText",),
    "kgplatform.ingest.given": ("Text",),
    "kgplatform.ingest.pipeline": ("IngestReport",),
    "kgplatform.ingest.schema": ("Schema", "load_schema"),
    "kgplatform.async_client": ("AsyncKnowledgeGraph", "connect_async"),
    "kgplatform.client": ("KnowledgeGraph", "connect"),
    "kgplatform.models.chat": ("Chat",),
    "kgplatform.models.embed": ("Embedder",),
    "kgplatform.work.stopping": ("Stop",),
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
        "StoppedError",
        "StoreError",
    ),
    "kgplatform.records": (
        *("Answer", "Citation", "FoundFact", "FoundPassage", "SearchResult"),
        *("Step", "Table", "Usage"),
    ),
    "kgplatform.neo4j.store": ("trace",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Answer",
    "AsyncKnowledgeGraph",
    "BudgetError",
    "Chat",
    "Citation",
    "DocumentError",
    "Embedder",
    "EmbeddingMismatchError",
    "Estimate",
    "Extractor",
    "FileText",
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
    "Stop",
    "StoppedError",
    "StoreError",
    "Table",
    "Text",
    "Usage",
    "connect",
    "connect_async",
    "load_schema",
    "trace",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'kgplatform' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
