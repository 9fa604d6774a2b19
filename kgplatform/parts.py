"""Graphs of a part of the documents: what a graph built of these documents alone would be.

    parts = Parts(settings, report)
    with parts.opened(part_name(store, documents, model), open_graph, copy) as part:
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from kgplatform.concurrency.files import claim, file_lock
from kgplatform.ingest.graph_state import graph_state
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.settings import Settings
from kgplatform.text import node_id

G = TypeVar("G")

_MADE = "made"
"""A file in a part's folder; not there before that is whole. It is touched when the part is opened."""
_USERS = "users"
"""A folder with a file for each process that has the part open, locked as long as that runs."""
_LOCK = "lock"
_DOCUMENTS = 500
_MOST_KEPT = 8
"""Parts on disk: when there are more, those that were used longest ago go."""
MOST_OPEN = 3
"""Servers of parts that one process keeps running: each takes 1 to 2 GB."""
_DIGITS = 16


def part_name(store: Store, documents: Sequence[str], model: str | None) -> str:
    """A hash of all that the part of ``documents`` (ids) follows from, the ``model`` that names its communities among
    it: another name when any of that changes."""
    state = graph_state(store)
    told = [state.get(key) for key in ("embeddingModel", "schema", "schemaChosen", "mode", "extractor", "treeMethod")]
    if has_tree(state):
        told.append(f"tree, named by {model}")
    for some in batches(sorted(documents), _DOCUMENTS):
        rows = store.read("neo4j/documents_as_read", documents=list(some))
        told += [node_id(json.dumps(row, sort_keys=True, default=str)) for row in rows]
    database = store.read("neo4j/database")[0]["id"]
    return node_id(str(database), json.dumps(told))[:_DIGITS]


def has_tree(state: Row) -> bool:
    """Whether the graph of this state has a tree, which then its parts have too."""
    return bool(state.get("treeState") == "complete")


@dataclass(slots=True)
class _Open(Generic[G]):
    graph: G
    closing: ExitStack
    users: int = 0


class Parts(Generic[G]):
    """The parts of one graph that this process has open, each as a ``G``. Safe from several threads."""

    def __init__(self, settings: Settings, report: Callable[[str], None] = lambda line: None) -> None:
        self._settings, self._report = settings, report
        self._open: OrderedDict[str, _Open[G]] = OrderedDict()
        self._opening: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()

    @contextmanager
    def opened(
        self, name: str, open_: Callable[[Settings], AbstractContextManager[G]], fill: Callable[[G], None]
    ) -> Iterator[G]:
        """The part of this name, which ``open_`` opens at its own home; where it is not there yet, ``fill`` gets it
        empty."""
        with self._lock:
            opening = self._opening[name]
        with opening:  # one thread makes it, the others wait
            with self._lock:
                part = self._open.get(name)
            part = part or self._made(self._settings.parts_folder / name, open_, fill)
            with self._lock:
                part.users += 1
                self._open[name] = part
                self._open.move_to_end(name)
        try:
            yield part.graph
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

    def _made(
        self, folder: Path, open_: Callable[[Settings], AbstractContextManager[G]], fill: Callable[[G], None]
    ) -> _Open[G]:
        changes = {"home": folder, "neo4j_uri": None, "neo4j_jars": self._settings.jar_folder}
        settings, made = self._settings.model_copy(update=changes), folder / _MADE
        with ExitStack() as closing, file_lock(folder / _LOCK):
            closing.callback(_left, folder, settings, self._report)
            closing.enter_context(_used(folder))
            if not made.exists():
                self._make_room(folder)
                LocalNeo4j(settings, self._report).down()  # of one that was killed while it was made
                shutil.rmtree(folder / "neo4j" / "data", ignore_errors=True)
            graph = closing.enter_context(open_(settings))
            if not made.exists():
                fill(graph)
            made.touch()
            return _Open(graph, closing.pop_all())

    def _make_room(self, folder: Path) -> None:
        """Remove the parts that were used longest ago, where there are too many; those in use stay."""
        kept = sorted(folder.parent.glob(f"*/{_MADE}"), key=lambda each: each.stat().st_mtime, reverse=True)
        for made in kept[_MOST_KEPT - 1 :]:
            if _left(made.parent, self._settings, self._report):
                shutil.rmtree(made.parent, ignore_errors=True)


def stop_unused(settings: Settings, report: Callable[[str], None]) -> bool:
    """Stop the servers of parts that processes left running as they were killed; whether there were any."""
    homes = [users.parent for users in sorted(settings.parts_folder.glob(f"*/{_USERS}"))]
    running = [home for home in homes if LocalNeo4j(settings.model_copy(update={"home": home})).status().running]
    return sum(_left(home, settings, report) for home in running) > 0


def _left(folder: Path, settings: Settings, report: Callable[[str], None]) -> bool:
    """Stop the server of a part, unless some process uses it; whether none does."""
    if _is_used(folder):
        return False
    with file_lock(folder / _LOCK):  # who begins to use it has this first
        if _is_used(folder):
            return False
        LocalNeo4j(settings.model_copy(update={"home": folder}), report).down()
        shutil.rmtree(folder / _USERS, ignore_errors=True)  # marks of processes that were killed
        return True


@contextmanager
def _used(folder: Path) -> Iterator[None]:
    """Tell other processes that this one uses the part, whose lock it has."""
    users = folder / _USERS
    users.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=users) as mark, file_lock(Path(mark.name)):
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
    return False
