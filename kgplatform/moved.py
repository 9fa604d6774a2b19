"""Modules under the names that they had before: each leads to the module of now for one release, with a warning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType

MOVED = {
    "adapters": "interfaces.integrations",
    "async_client": "aio",
    "chat_thread": "client",
    "concurrency.stopping": "concurrency.threads",
    "conversation": "client",
    "doors.adapters": "interfaces.integrations",
    "doors.browser.links": "interfaces.neo4j_browser.site",
    "doors.browser": "interfaces.neo4j_browser",
    "doors": "interfaces",
    "evaluate.score": "evaluate",
    "graph.threads": "explore.runs",
    "graph": "explore",
    "interfaces.neo4j_browser.guide": "interfaces.neo4j_browser.site",
    "ingest.bound": "extract.bound",
    "ingest.cut": "sources.cut",
    "ingest.extract": "extract",
    "ingest.files": "sources.files",
    "ingest.given": "sources.objects",
    "ingest.load": "sources.load",
    "ingest.schema": "extract.schema",
    "places": "text.matching",
    "retrieve": "search",
    "text.numbered": "text.sentences",
    "work.stopping": "concurrency.threads",
    "work": "concurrency",
}
"""Old names that the documentation had, and new ones, below ``kgplatform``; what lies in a folder moved with it. The
first that fits counts."""


class MovedModules(MetaPathFinder):
    """Finds modules that moved."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Before any file is looked for: a folder that moved would be found again below its old name, as a copy."""
        package, _, rest = fullname.partition(".")
        old = next((old for old in MOVED if f"{rest}.".startswith(f"{old}.")), "")
        if package != "kgplatform" or not old:
            return None
        return spec_from_loader(fullname, _Alias(f"kgplatform.{MOVED[old]}{rest[len(old) :]}"))


class _Alias(Loader):
    """Hands out a module that has another name; what the import system writes on it is put back."""

    def __init__(self, new: str) -> None:
        self.new = new

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self.new)
        warnings.warn(f"{spec.name} is {self.new} now; the old name goes with the next release.", DeprecationWarning, 2)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


sys.meta_path.insert(0, MovedModules())
