"""The workspaces that a server has open: opened by the first request, closed when nobody uses them for a while, or when
another needs their memory.

What a request reaches is an application of its own: over the workspace's graph, for those who only read and for others;
or over the part of it that somebody may see, a graph in which nothing else ever was (``kgplatform.parts``).
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fastapi import FastAPI

from kgplatform.client import KnowledgeGraph, open_graph
from kgplatform.errors import KgError
from kgplatform.interfaces.http.app import close
from kgplatform.interfaces.http.failures import HttpRequestError, log
from kgplatform.interfaces.http.team.people import Right
from kgplatform.neo4j.memory import read_machine
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.parts import AnyOf
from kgplatform.settings import MODEL, Settings, saved_model
from kgplatform.workspaces import EVERYWHERE, Workspace, Workspaces

_NEEDED = 2_000_000_000
"""Bytes of memory that must be free for one more workspace: its server has a heap of 1 GB, and pages."""
_IDLE = 900.0
"""Seconds after which a workspace, or a part of one, that nobody uses is closed."""
_LOOKED_EVERY = 15.0
_WHOLE = ("to read", "to write")
"""The keys of the applications over all of a workspace."""

Make = Callable[[KnowledgeGraph, bool], FastAPI]
"""Makes the application over a graph; for those who only read, or for others."""


def is_checked(workspaces: Workspaces, name: str, where: str) -> bool:
    """Whether the names in a grant's condition can be compared with those that the workspace's documents have: all is
    yet to come in one that was never opened, and nobody opens an archived one."""
    if not where.strip() or name == EVERYWHERE:
        return False
    found = workspaces.get(name)
    return not found.archived and (found.home / "neo4j").is_dir()


def check_names(graph: KnowledgeGraph, where: str) -> None:
    """Raise ``InputError`` for what ``where`` names and no document has; before there are any, all is yet to come."""
    if graph.look.counts().get("Document"):
        graph.parts.current(graph, where)


@dataclass(eq=False, slots=True)
class _App:
    app: FastAPI
    closing: ExitStack
    busy: int = 0
    used: float = field(default_factory=time.monotonic)


@dataclass(eq=False, slots=True)
class _Space:
    """``home``: where it was when it was opened. ``busy``: requests in it, from the first thing that they need."""

    graph: KnowledgeGraph
    home: Path
    was_running: bool
    busy: int = 0
    used: float = field(default_factory=time.monotonic)
    apps: dict[str, _App] = field(default_factory=dict)
    opening: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    def runs(self) -> bool:
        """Whether its server runs."""
        return LocalNeo4j(self.graph.settings).connection() is not None

    @property
    def is_idle(self) -> bool:
        """Whether nobody uses it, and no job runs in it."""
        return not self.busy and not any(each.app.state.parts.jobs.is_busy for each in self.apps.values())


class Spaces:
    """Those of a server with ``settings``, by the ids of the workspaces. Used in the event loop's thread alone."""

    def __init__(self, settings: Settings, make: Make, report: Callable[[str], None]) -> None:
        self._settings, self._make, self._report = settings, make, report
        self._open: dict[str, _Space] = {}
        self._opening: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._left: list[asyncio.Task[_Space]] = []
        """Being opened for somebody who is gone."""

    @asynccontextmanager
    async def served(self, workspace: Workspace, right: Right) -> AsyncIterator[FastAPI]:
        """The application for somebody with this ``right``, opened if need be. Raises ``HttpRequestError``."""
        async with self._used(workspace) as space:
            found = await self._app(space, right)
            found.busy += 1
            try:
                yield found.app
            finally:
                found.busy -= 1
                found.used = time.monotonic()

    async def check(self, workspace: Workspace, where: str) -> None:
        """Raise ``InputError`` for what ``where`` names and no document of the workspace has."""
        async with self._used(workspace) as space:
            await asyncio.to_thread(check_names, space.graph, where)

    @asynccontextmanager
    async def _used(self, workspace: Workspace) -> AsyncIterator[_Space]:
        """The workspace, which nobody closes inside."""
        space = await self._space(workspace)
        try:
            yield space
        finally:
            space.busy -= 1
            space.used = time.monotonic()

    @asynccontextmanager
    async def closed(self, id: str) -> AsyncIterator[None]:
        """Close a workspace: what runs in it is stopped, and so is its server, unless it ran before. Nobody opens it
        again inside."""
        async with self._opening[id]:
            if (space := self._open.pop(id, None)) is not None:
                await self._end(space)
            yield

    async def close(self) -> None:
        """Close all of them."""
        for id_ in list(self._open):
            try:
                async with self.closed(id_):
                    pass
            except KgError as error:
                log.warning("a workspace could not be closed: %s", error)
        while self._left:
            with suppress(KgError, HttpRequestError):
                await self._end(await self._left.pop())

    async def tidy(self) -> None:
        """Without end: close what nobody has used for a while."""
        while True:
            await asyncio.sleep(_LOOKED_EVERY)
            for used, id_, key in self._idle():
                if time.monotonic() - used > _IDLE and id_ in self._open:
                    with suppress(KgError):
                        await self._free(id_, key)
            for task in [each for each in self._left if each.done()]:
                self._left.remove(task)
                with suppress(KgError, HttpRequestError):
                    await self._end(task.result())

    async def _space(self, workspace: Workspace) -> _Space:
        async with self._opening[workspace.id]:
            space = self._open.get(workspace.id)
            if space is not None and (space.home != workspace.home or not await asyncio.to_thread(space.runs)):
                # It has been given another name, or somebody has stopped its server.
                await self._end(self._open.pop(workspace.id))
                space = None
            if space is None:
                await self._make_room()
                task = asyncio.create_task(asyncio.to_thread(self._opened, workspace))
                try:
                    space = self._open[workspace.id] = await asyncio.shield(task)
                except asyncio.CancelledError:  # whoever asked is gone, and the server is being started all the same
                    self._left.append(task)
                    raise
            space.busy += 1
            return space

    async def _app(self, space: _Space, right: Right) -> _App:
        if not right.where:
            return await self._kept(space, _WHOLE[right.may("editor")], [])
        parts, where = space.graph.parts, AnyOf(right.where)
        part, documents = await asyncio.to_thread(partial(parts.current, space.graph, where, any_name=True))
        if not documents:
            raise HttpRequestError(404, "NotFoundError", "There is no document here yet that you may see.")
        return await self._kept(space, part, documents)

    async def _kept(self, space: _Space, key: str, documents: list[str]) -> _App:
        """The one that is kept as ``key``, opened if need be: over all of the workspace, or a part of it."""
        async with space.opening[key]:
            if (found := space.apps.get(key)) is None:
                closing, graph = ExitStack(), space.graph
                if documents:
                    await self._make_room()
                    opened = graph.parts.opened_as(graph, key, documents)
                    graph = await asyncio.to_thread(closing.enter_context, opened)
                app = self._make(graph, key != _WHOLE[1])
                if key == _WHOLE[1] and not app.state.parts.read_only:
                    await asyncio.to_thread(app.state.parts.jobs.start)
                found = space.apps[key] = _App(app, closing)
            found.used = time.monotonic()
            return found

    def _opened(self, workspace: Workspace) -> _Space:
        connected = {} if self._settings.model_fields_set & MODEL else saved_model(workspace.home)
        settings = self._settings.in_home(workspace.home).model_copy(update=connected)
        was_running = LocalNeo4j(settings).status().running
        graph = open_graph(settings, self._report)
        try:
            graph.check_model()
        except BaseException:  # whatever it is, nothing stays open
            graph.close()
            raise
        return _Space(graph, workspace.home, was_running)

    async def _make_room(self) -> None:
        """Close what nobody uses, while there is too little memory for one more server: first what single requests
        asked for, then what was used least lately. Raises ``HttpRequestError`` where all is in use."""
        if read_machine().free < _NEEDED:
            for app in [app for space in self._open.values() for app in space.apps.values()]:
                await asyncio.to_thread(app.app.state.parts.graph.parts.close_idle)
        while read_machine().free < _NEEDED and self._open:
            if not (idle := self._idle()):
                busy = "The server has no memory for more now. Try again in a minute."
                raise HttpRequestError(503, "BusyError", busy, {"Retry-After": "60"})
            await self._free(*min(idle)[1:])

    def _idle(self) -> list[tuple[float, str, str]]:
        """When a workspace, or with its key a part of one, was last used, of those that nobody uses now."""
        found = []
        for id_, space in self._open.items():
            if space.is_idle:
                found.append((space.used, id_, ""))
            found += [(app.used, id_, key) for key, app in space.apps.items() if key not in _WHOLE and not app.busy]
        return found

    async def _free(self, id_: str, key: str) -> None:
        if not key:
            async with self.closed(id_):
                return
        if (app := self._open[id_].apps.pop(key, None)) is not None:
            parts = self._open[id_].graph.parts
            await close(app.app)
            await asyncio.to_thread(app.closing.close)
            await asyncio.to_thread(parts.close_idle)

    async def _end(self, space: _Space) -> None:
        for app in space.apps.values():
            await close(app.app)

        def end() -> None:
            with ExitStack() as closing:
                if not space.was_running:
                    closing.callback(LocalNeo4j(space.graph.settings, self._report).down)
                closing.callback(space.graph.close)
                for app in space.apps.values():
                    closing.push(app.closing)

        await asyncio.to_thread(end)
