"""kgplatform: documents into a Neo4j knowledge graph, and answers out of it.

Public names are loaded when they are first used, so that the command line answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import kgplatform.moved  # noqa: F401  # old names of modules lead to new ones

if TYPE_CHECKING:
    from kgplatform.aio import AsyncKnowledgeGraph as AsyncKnowledgeGraph
    from kgplatform.aio import connect_async as connect_async
    from kgplatform.client import KnowledgeGraph as KnowledgeGraph
    from kgplatform.client import connect as connect
    from kgplatform.concurrency.threads import Stop as Stop
    from kgplatform.errors import BudgetError as BudgetError
    from kgplatform.errors import DocumentError as DocumentError
    from kgplatform.errors import EmbeddingMismatchError as EmbeddingMismatchError
    from kgplatform.errors import InputError as InputError
    from kgplatform.errors import KgError as KgError
    from kgplatform.errors import ModelError as ModelError
    from kgplatform.errors import ReplyError as ReplyError
    from kgplatform.errors import SchemaError as SchemaError
    from kgplatform.errors import ServerError as ServerError
    from kgplatform.errors import SettingError as SettingError
    from kgplatform.errors import StatementError as StatementError
    from kgplatform.errors import StoppedError as StoppedError
    from kgplatform.errors import StoreError as StoreError
    from kgplatform.extract import Extractor as Extractor
    from kgplatform.extract.schema import Schema as Schema
    from kgplatform.extract.schema import load_schema as load_schema
    from kgplatform.ingest.estimate import Estimate as Estimate
    from kgplatform.ingest.pipeline import IngestReport as IngestReport
    from kgplatform.models.chat import Chat as Chat
    from kgplatform.models.embed import Embedder as Embedder
    from kgplatform.neo4j.store import trace as trace
    from kgplatform.records import Answer as Answer
    from kgplatform.records import Citation as Citation
    from kgplatform.records import FoundFact as FoundFact
    from kgplatform.records import FoundPassage as FoundPassage
    from kgplatform.records import SearchResult as SearchResult
    from kgplatform.records import Step as Step
    from kgplatform.records import Table as Table
    from kgplatform.records import Usage as Usage
    from kgplatform.sources.files.file_text import FileText as FileText
    from kgplatform.sources.objects import Text as Text

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
    "kgplatform.concurrency.threads": ("Stop",),
    "kgplatform.errors": (
        *("BudgetError", "DocumentError", "EmbeddingMismatchError", "InputError", "KgError", "ModelError"),
        *("ReplyError", "SchemaError", "ServerError", "SettingError", "StatementError", "StoppedError", "StoreError"),
    ),
    "kgplatform.records": (
        *("Answer", "Citation", "FoundFact", "FoundPassage", "SearchResult"),
        *("Step", "Table", "Usage"),
    ),
    "kgplatform.neo4j.store": ("trace",),
}
_HOME_OF = dict(sorted((name, home) for home, names in _HOMES.items() for name in names))

__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'kgplatform' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
