"""kgplatform: documents into a Neo4j knowledge graph, and answers out of it.

Public names are loaded when they are first used, so that the command line answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import kgplatform.moved  # noqa: F401  # old names of modules lead to new ones

if TYPE_CHECKING:
    from kgplatform.aio import AsyncKnowledgeGraph, connect_async
    from kgplatform.client import KnowledgeGraph, connect
    from kgplatform.concurrency.stopping import Stop
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
    from kgplatform.extract import Extractor
    from kgplatform.extract.schema import Schema, load_schema
    from kgplatform.ingest.estimate import Estimate
    from kgplatform.ingest.pipeline import IngestReport
    from kgplatform.models.chat import Chat
    from kgplatform.models.embed import Embedder
    from kgplatform.neo4j.store import trace
    from kgplatform.records import Answer, Citation, FoundFact, FoundPassage, SearchResult, Step, Table, Usage
    from kgplatform.sources.files.file_text import FileText
    from kgplatform.sources.objects import Text

_HOMES = {
    "kgplatform.ingest.estimate": ("Estimate",),
    "kgplatform.extract": ("Extractor",),
    "kgplatform.sources.files.file_text": ("FileText",),
    "kgplatform.sources.objects": ("Text",),
    "kgplatform.ingest.pipeline": ("IngestReport",),
    "kgplatform.extract.schema": ("Schema", "load_schema"),
    "kgplatform.aio": ("AsyncKnowledgeGraph", "connect_async"),
    "kgplatform.client": ("KnowledgeGraph", "connect"),
    "kgplatform.models.chat": ("Chat",),
    "kgplatform.models.embed": ("Embedder",),
    "kgplatform.concurrency.stopping": ("Stop",),
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
