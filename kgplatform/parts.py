"""Graphs of a part of the documents: what a graph built of these documents alone would be.

    parts = Parts(settings, open_graph, report)
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
import secrets
import shutil
import tempfile
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from kgplatform.concurrency.files import claim, file_lock
from kgplatform.concurrency.threads import Stop
from kgplatform.errors import InputError, ServerError
from kgplatform.ingest.graph_state import graph_state
from kgplatform.neo4j.filters import Where, documents_where, none_fits
from kgplatform.neo4j.memory import read_machine
from kgplatform.neo4j.passes import Pass
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import SILENT, Progress
from kgplatform.settings import Settings
from kgplatform.text import counted, node_id


class Graph(Protocol):
    """What is asked here of a ``KnowledgeGraph``."""

    store: Store
    settings: Settings

    @property
    def embedder(self) -> Any: ...

    @property
    def language_model(self) -> Any: ...

    @property
    def look(self) -> Any: ...

    @property
    def model_name(self) -> str | None: ...

    @property
    def stop(self) -> Stop: ...

    def within(self: G, stop: Stop | None = None) -> G: ...

    def close(self) -> None: ...

    def database_id(self) -> str: ...

    def import_graph(self, path: Path, *, progress: Progress = ...) -> Any: ...

    def build_tree(self, *, method: str | None = ..., progress: Progress = ...) -> Any: ...


G = TypeVar("G", bound=Graph)

_MADE = "made"
"""A file in a part's folder; not there before that is whole. It is touched when the part is opened or left."""
_USERS = "users"
"""A folder with a file for each process that has the part open, locked as long as that runs."""
_LOCK = "lock"
_DOCUMENTS = 500
_MOST_KEPT = 16
"""Parts on disk: when there are more, those that were used longest ago go."""
MOST_OPEN = 3
"""Servers of parts that one process keeps running: each takes 1 to 2 GB."""
_MOST_ASKED = 50
_DEEPEST = 3
_NEEDED = 1_000_000_000
"""Bytes of memory that must be free for one more."""
_STARTING = threading.BoundedSemaphore(2)
"""So many are made or started at a time: each takes a server, and a processor."""
_DIGITS = 16


class AnyOf(tuple[str, ...]):
    """Conditions of which one has to hold."""


@dataclass(slots=True)
class _Open(Generic[G]):
    graph: G
    closing: ExitStack
    users: int = 0


class Parts(Generic[G]):
    """The parts of one graph that this process has open, by ``open_graph``. Safe from several threads."""

    def __init__(
        self, settings: Settings, open_graph: Callable[..., G], report: Callable[[str], None] = lambda line: None
    ) -> None:
        self._settings, self._open_graph, self._report = settings, open_graph, _of_part(report)
        self._open: OrderedDict[str, _Open[G]] = OrderedDict()
        self._current: dict[str, tuple[frozenset[str], str, list[str]]] = {}
        """By what was asked: the last change of the whole when that was answered, and the answer."""
        self._opening: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()

    def current(self, whole: G, where: Where | AnyOf, *, any_name: bool = False) -> tuple[str, list[str]]:
        """The name that the part has now, which changes with what it is made of, and the ids of its documents. Raises
        ``InputError`` as ``documents_where`` does, and for no condition."""
        asked = json.dumps([where, str(date.today()), whole.model_name], sort_keys=True, default=str)
        change = whole.store.last_change()
        known = self._current.get(asked)
        if known is None or known[0] != change:
            documents: list[str] = []
            for each in where if isinstance(where, AnyOf) else (where,):
                fitting = documents_where(whole.store, each, any_name=any_name)
                if fitting is None:
                    raise InputError("A part needs a condition.", "where")
                documents = sorted({*documents, *fitting})
            if len(self._current) >= _MOST_ASKED:
                self._current.clear()
            known = self._current[asked] = (change, _name_of(whole, documents), documents)
        return known[1:]

    @contextmanager
    def opened(self, whole: G, where: Where, progress: Progress = SILENT, *, any_name: bool = False) -> Iterator[G]:
        """The graph of the documents that fit ``where``, made if need be, for the work that ``whole`` is for: with its
        models and its stop. Raises ``InputError`` where none fits."""
        name, documents = self.current(whole, where, any_name=any_name)
        if not documents:
            raise none_fits()
        with self.opened_as(whole, name, documents, progress) as part:
            yield part

    @contextmanager
    def opened_as(self, whole: G, name: str, documents: list[str], progress: Progress = SILENT) -> Iterator[G]:
        """The part of ``documents``, which ``current`` has named so."""
        with self._lock:
            opening = self._opening[name]
        with opening:  # one thread makes it, the others wait
            whole.stop.check()
            with self._lock:
                part = self._open.get(name)
            part = part or self._made(self._settings.parts_folder / name, whole, documents, progress)
            with self._lock:
                part.users += 1
                self._open[name] = part
                self._open.move_to_end(name)
        try:
            graph = part.graph.within(whole.stop)
            # Cached properties: else they are those of the work that opened it first.
            vars(graph).update(embedder=whole.embedder, language_model=whole.language_model)
            yield graph
        finally:
            with self._lock:
                part.users -= 1
            self.close_idle(MOST_OPEN)

    def close_idle(self, most: int = 0) -> None:
        """Close those that nobody uses, until ``most`` are open: first what was used least lately."""
        with self._lock:
            idle = [key for key, each in self._open.items() if not each.users]
            gone = [self._open.pop(key) for key in idle[: max(0, len(self._open) - most)]]
        for each in gone:
            each.closing.close()

    def close(self) -> None:
        """Close all of them, and stop the servers that no other process uses."""
        with self._lock, ExitStack() as closing:
            while self._open:
                closing.callback(self._open.popitem()[1].closing.close)

    def _made(self, folder: Path, whole: G, documents: list[str], progress: Progress) -> _Open[G]:
        settings, made = self._settings.in_home(folder), folder / _MADE
        with _STARTING, ExitStack() as closing, file_lock(folder / _LOCK):
            whole.stop.check()
            self.close_idle(MOST_OPEN - 1)
            if read_machine().free < _NEEDED:
                self.close_idle()
            if read_machine().free < _NEEDED:
                raise ServerError("There is too little memory for a graph of these documents: 1 GB must be free.")
            closing.callback(_remove_unmade, folder)
            closing.callback(_left, folder, self._settings, self._report)
            closing.enter_context(_used(folder))
            if not made.exists():
                self._make_room(folder)
                LocalNeo4j(settings, self._report).down()  # of one that was killed while it was made
                shutil.rmtree(folder / "neo4j" / "data", ignore_errors=True)
            graph = self._open_graph(settings, self._report, embedder=whole.embedder, chat=whole.language_model)
            closing.callback(graph.close)
            if not made.exists():
                self._report(f"Making it of {counted(len(documents), 'document')}; it is kept for the next time …")
                _copy(whole, graph.within(whole.stop), documents, progress)
            made.touch()
            return _Open(graph, closing.pop_all())

    def _make_room(self, folder: Path) -> None:
        """Remove the parts that were used longest ago, where there are too many; those in use stay."""
        kept = sorted(folder.parent.glob(f"*/{_MADE}"), key=lambda each: each.stat().st_mtime, reverse=True)
        for made in kept[_MOST_KEPT - 1 :]:
            if _left(made.parent, self._settings, self._report):
                shutil.rmtree(made.parent, ignore_errors=True)


def _remove_unmade(folder: Path) -> None:
    """Remove what is left of a part whose making ended early: nobody might ask for it again."""
    if not (folder / _MADE).exists():
        shutil.rmtree(folder / "neo4j", ignore_errors=True)


def _name_of(whole: Graph, documents: list[str]) -> str:
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


def _copy(whole: Graph, part: Graph, documents: list[str], progress: Progress) -> None:
    from kgplatform.exchange.exporter import export_part  # as the client: few need it

    with tempfile.TemporaryDirectory(prefix="copy-", dir=part.settings.home_folder) as folder:
        file = Path(folder) / "part.jsonl"
        with Pass(whole.store, "copy", progress) as turn:  # alone: nothing is written meanwhile
            export_part(turn.store, file, documents, progress)
            state = graph_state(turn.store)
        part.import_graph(file, progress=progress)
    if _has_tree(state) and part.look.counts().get("Entity"):
        part.build_tree(method=state["treeMethod"], progress=progress)


def stop_parts(settings: Settings, report: Callable[[str], None], *, used: bool = False) -> bool:
    """Stop the servers of parts that processes left running as they were killed, and with ``used`` those that a process
    uses now, too; whether there were any."""
    levels = ["/parts/".join("*" * depth) for depth in range(1, _DEEPEST + 1)]  # a part may be asked for a part, too
    homes = [users.parent for level in levels for users in sorted(settings.parts_folder.glob(f"{level}/{_USERS}"))]
    running = [home for home in homes if LocalNeo4j(settings.in_home(home)).status().running]
    if used:
        for home in running:
            LocalNeo4j(settings.in_home(home), _of_part(report)).down()
        return bool(running)
    return sum(_left(home, settings, _of_part(report)) for home in running) > 0


def _of_part(report: Callable[[str], None]) -> Callable[[str], None]:
    """``report``, told which of the servers a line is of."""
    return lambda line: report(f"Part of the graph: {line}")


def _left(folder: Path, settings: Settings, report: Callable[[str], None]) -> bool:
    """Stop the server of a part, unless some process uses it; whether none does."""
    if not folder.exists():  # another process has renamed or removed the home
        return True
    if _is_used(folder):
        return False
    with file_lock(folder / _LOCK):  # who begins to use it has this first
        if _is_used(folder):
            return False
        LocalNeo4j(settings.in_home(folder), report).down()
        if (made := folder / _MADE).exists():
            made.touch()  # it was used until now
        shutil.rmtree(folder / _USERS, ignore_errors=True)  # marks of processes that were killed
        return True


@contextmanager
def _used(folder: Path) -> Iterator[None]:
    """Tell other processes that this one uses the part, whose lock it has."""
    users = folder / _USERS
    users.mkdir(parents=True, exist_ok=True)
    mark = users / secrets.token_hex(8)
    try:
        with file_lock(mark):
            yield
    finally:
        mark.unlink(missing_ok=True)  # the home may have been renamed


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
