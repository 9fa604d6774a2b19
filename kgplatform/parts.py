"""Graphs of a part of the documents: what a graph built of these documents alone would be.

    parts = Parts(settings, report)
    with parts.opened(graph, where) as part:
        part.ask("What do they agree on?", "global")

Names, types, aliases, counts, ranks and communities of a graph follow from all that was read. No filter at the time of
a question can take that back, so a part is a graph of its own: a home folder ``parts/NAME`` in the home of the whole,
with a managed server. It is copied from the whole without calling a model (``exchange.part``), but for the names of its
communities where the whole has a tree and a model is set. It stays on disk under a name that hashes what it is made of:
when other documents fit, or more was read of them, that is another part. Its server runs as long as a process has it
open.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from kgplatform.concurrency.files import claim, file_lock
from kgplatform.errors import InputError
from kgplatform.exchange.exporter import export_part
from kgplatform.ingest.graph_state import graph_state
from kgplatform.neo4j.filters import Where, documents_where
from kgplatform.neo4j.passes import Pass
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Row
from kgplatform.query import batches
from kgplatform.records import SILENT, Progress
from kgplatform.settings import Settings
from kgplatform.text import counted, node_id

if TYPE_CHECKING:
    from kgplatform.client import KnowledgeGraph

FOLDER = "parts"
_MADE = "made"
"""A file in a part's folder; not there before that is whole. It is touched when the part is opened."""
_USERS = "users"
"""A folder with a file for each process that has the part open, locked as long as that runs."""
_DOCUMENTS = 500
_MOST_KEPT = 8
"""Parts on disk: when there are more, those that were used longest ago go."""
MOST_OPEN = 3
"""Servers of parts that one process keeps running: each takes 1 to 2 GB."""
_DIGITS = 16


@dataclass(slots=True)
class _Open:
    graph: KnowledgeGraph
    closing: ExitStack
    users: int = 0


class Parts:
    """The parts of one graph that this process has open. Safe from several threads."""

    def __init__(self, settings: Settings, report: Callable[[str], None] = lambda line: None) -> None:
        self._settings, self._report = settings, report
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._current: dict[str, tuple[frozenset[str], str, list[str]]] = {}
        """By what was asked: the last change of the whole when that was answered, and the answer."""
        self._opening: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()

    def current(self, whole: KnowledgeGraph, where: Where, *, any_name: bool = False) -> tuple[str, list[str]]:
        """The name that the part has now, which changes with what it is made of, and the ids of its documents. Raises
        ``InputError`` as ``documents_where`` does, and for no condition."""
        asked = json.dumps([where, str(date.today()), whole.model_name], sort_keys=True, default=str)
        change = whole.store.last_change()
        known = self._current.get(asked)
        if known is None or known[0] != change:
            documents = documents_where(whole.store, where, any_name=any_name)
            if documents is None:
                raise InputError("A part needs a condition.", "where")
            known = self._current[asked] = (change, _name_of(whole, documents), documents)
        return known[1:]

    @contextmanager
    def opened(
        self, whole: KnowledgeGraph, where: Where, progress: Progress = SILENT, *, any_name: bool = False
    ) -> Iterator[KnowledgeGraph]:
        """The graph of the documents that fit ``where``, made if need be. Raises ``InputError`` where none fits."""
        name, documents = self.current(whole, where, any_name=any_name)
        if not documents:
            raise InputError(
                "No document fits this condition. Compare it with the metadata of your documents.", "where"
            )
        with self._lock:
            opening = self._opening[name]
        with opening:  # one thread makes it, the others wait
            with self._lock:
                part = self._open.get(name)
            part = part or self._made(self._settings.home_folder / FOLDER / name, whole, documents, progress)
            with self._lock:
                part.users += 1
                self._open[name] = part
                self._open.move_to_end(name)
        try:
            yield part.graph.within(whole.stop)
        finally:
            with self._lock:
                part.users -= 1
                idle = [key for key, each in self._open.items() if not each.users]
                gone = [self._open.pop(key) for key in idle[: max(0, len(self._open) - MOST_OPEN)]]
            for each in gone:
                each.closing.close()

    def close(self) -> None:
        """Close all of them, and stop the servers that no other process uses."""
        with self._lock, ExitStack() as closing:
            while self._open:
                closing.callback(self._open.popitem()[1].closing.close)

    def _made(self, folder: Path, whole: KnowledgeGraph, documents: list[str], progress: Progress) -> _Open:
        from kgplatform.client import open_graph

        changes = {"home": folder, "workspace": None, "neo4j_uri": None, "neo4j_jars": self._settings.jar_folder}
        settings = self._settings.model_copy(update=changes)
        server, made = LocalNeo4j(settings, self._report), folder / _MADE
        with ExitStack() as closing, file_lock(folder / "lock"):
            closing.callback(_left, folder, server)
            closing.enter_context(_used(folder))
            if not made.exists():
                self._make_room(folder)
                server.down()  # of one that was killed while it was made
                shutil.rmtree(folder / "neo4j" / "data", ignore_errors=True)
            graph = open_graph(settings, self._report, embedder=whole.embedder, chat=whole.language_model)
            closing.callback(graph.close)
            if not made.exists():
                self._report(f"Making a graph of {counted(len(documents), 'document')}, kept for the next time …")
                _copy(whole, graph, documents, progress)
            made.touch()
            return _Open(graph, closing.pop_all())

    def _make_room(self, folder: Path) -> None:
        """Remove the parts that were used longest ago, where there are too many; those in use stay."""
        kept = sorted(folder.parent.glob(f"*/{_MADE}"), key=lambda each: each.stat().st_mtime, reverse=True)
        for made in kept[_MOST_KEPT - 1 :]:
            if not _is_used(made.parent):
                shutil.rmtree(made.parent, ignore_errors=True)


def _name_of(whole: KnowledgeGraph, documents: list[str]) -> str:
    """A hash of all that the part of ``documents`` follows from: it has another name when any of that changes."""
    state = graph_state(whole.store)
    told = [state.get(key) for key in ("embeddingModel", "schema", "schemaChosen", "mode", "extractor", "treeMethod")]
    if _has_tree(state):
        told.append(f"tree, named by {whole.model_name}")
    for some in batches(sorted(documents), _DOCUMENTS):
        rows = whole.store.read("neo4j/documents_as_read", documents=list(some))
        told += [node_id(json.dumps(row, sort_keys=True, default=str)) for row in rows]
    return node_id(whole.database_id(), json.dumps(told))[:_DIGITS]


def _has_tree(state: Row) -> bool:
    return bool(state.get("treeState") == "complete")


def _copy(whole: KnowledgeGraph, part: KnowledgeGraph, documents: list[str], progress: Progress) -> None:
    with tempfile.TemporaryDirectory(prefix="copy-", dir=part.settings.home_folder) as folder:
        file = Path(folder) / "part.jsonl"
        with Pass(whole.store, "copy", progress) as turn:  # alone: nothing is written meanwhile
            export_part(turn.store, file, documents, progress)
            state = graph_state(turn.store)
        part.import_graph(file, progress=progress)
    if _has_tree(state) and part.look.counts().get("Entity"):
        part.build_tree(method=state["treeMethod"], progress=progress)


@contextmanager
def _used(folder: Path) -> Iterator[None]:
    """Tell other processes that this one uses the part."""
    users = folder / _USERS
    users.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=users) as mark, claim(Path(mark.name)) or ExitStack():
        yield


def _is_used(folder: Path) -> bool:
    for mark in (folder / _USERS).glob("*"):
        try:
            free = claim(mark)
        except OSError:  # it has just gone
            continue
        if free is None:
            return True
        free.close()
        mark.unlink(missing_ok=True)  # of a process that was killed
    return False


def _left(folder: Path, server: LocalNeo4j) -> None:
    """Stop the server of a part that this process uses no more, if no other one does."""
    if not _is_used(folder):
        server.down()
