"""Many workspaces behind one address, each at ``/w/NAME/``, for people with their own rights.

    host = Host(Workspaces(folder), settings, people)     # an ASGI application
    QuietServer(host, …).run([listening])

A request is let in or refused here, before any part of the platform sees it: by who asks, what that person is in the
workspace, and what the request would do. What it then reaches is an application of its own, over the workspace's graph,
or over the part of it that the person may see: a graph in which nothing else ever was (``kgplatform.parts``).

A workspace is opened by the first request and closed when nobody has used it for a while, or when another needs its
memory.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import anyio.to_thread
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgplatform.client import KnowledgeGraph, open_graph
from kgplatform.errors import InputError, KgError
from kgplatform.interfaces.http.app import SafeHeaders, close, make_app
from kgplatform.interfaces.http.failures import FAULT, log, report_fault
from kgplatform.interfaces.http.parts import Limits
from kgplatform.interfaces.http.team.audit import Audit
from kgplatform.interfaces.http.team.people import EVERYWHERE, Grant, People, Person, Right, Role
from kgplatform.interfaces.web_server import API, LOOPBACK, Guard, refusal
from kgplatform.neo4j.memory import read_machine
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.settings import MODEL, Settings, saved_model
from kgplatform.workspaces import Workspaces

SPACE = "/w/"
_NEEDED = 2_000_000_000
"""Bytes of memory that must be free for one more workspace: its server has a heap of 1 GB, and pages."""
_IDLE = 900.0
"""Seconds after which a workspace that nobody uses is closed."""
_LOOKED_EVERY = 15.0
_WHOLE = ("to read", "to write")
"""The keys of the applications over all of a workspace."""
_READS = ("GET", "HEAD", "OPTIONS")
_ASKS = ("/api/search", "/api/ask", "/api/threads", "/api/graph/subgraph", "/v1/chat/completions")
"""What a reader may post to, beside its own statements."""
_OF_ADMINS = ("/api/models/connect", "/api/models/list", "/api/models/test")
_STATEMENTS = "/api/cypher"
_OPEN = ("/api/signin", "/api/signout")
"""What needs no right."""
_WORDS = ("question", "statement", "name", "user", "who")
"""Where a request has what is asked."""
_LONGEST_ASKED = 100_000
_FAILURES, _PERIOD = 20, 60.0
"""Wrong tokens from one address in so many seconds, after which it has to wait."""


@dataclass(eq=False, slots=True)
class _App:
    app: FastAPI
    closing: ExitStack
    busy: int = 0
    used: float = field(default_factory=time.monotonic)


@dataclass(eq=False, slots=True)
class _Space:
    """An open workspace. ``apps``: over all of it, for those who only read and for others; over parts of it."""

    graph: KnowledgeGraph
    was_running: bool
    apps: dict[str, _App] = field(default_factory=dict)
    opening: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    @property
    def busy(self) -> bool:
        is_opening = any(each.locked() for each in self.opening.values())
        return is_opening or any(each.busy for each in self.apps.values())

    @property
    def used(self) -> float:
        return max((each.used for each in self.apps.values()), default=0.0)


class RefusedError(Exception):
    """A request that is answered with ``status`` and one sentence."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status, self.kind = status, kind


class Host:
    """The ASGI application. ``desk``: what answers outside of workspaces. ``token``: one that is good for everything.
    ``sessions``: who a cookie stands for, where people sign in. Without either, and as long as nobody was ever added,
    everybody is an admin: whoever starts it so listens to this machine alone."""

    def __init__(
        self,
        workspaces: Workspaces,
        settings: Settings,
        people: People,
        *,
        token: str | None = None,
        desk: Callable[[Host], ASGIApp],
        sessions: Callable[[Headers], Person | None] | None = None,
        hosts: Collection[str] | None = LOOPBACK,
        origins: Collection[str] = (),
        read_only: bool = False,
        limits: Limits = Limits(),  # noqa: B008 - frozen: one serves all
        report: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.workspaces, self.people = workspaces, people
        self.audit = Audit(workspaces.folder / "audit.jsonl")
        self._settings, self._token, self._sessions = settings, token, sessions
        self._hosts, self._origins, self._limits, self._read_only = hosts, origins, limits, read_only
        self._report = report
        self._spaces: dict[str, _Space] = {}
        self._opening: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._failures: defaultdict[str, list[float]] = defaultdict(list)
        self._desk = desk(self)
        self._janitor: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    def person_of(self, scope: Scope) -> Person | None:
        """Who asks. Raises ``RefusedError`` for a wrong token, and where there were too many."""
        if self._token is None and self._sessions is None and not self.people.file.exists():
            return _of_all("everybody")
        headers = Headers(scope=scope)
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if not given:
            return self._sessions(headers) if self._sessions else None
        address = str((scope.get("client") or ("",))[0])
        now = time.monotonic()
        recent = self._failures[address] = [each for each in self._failures[address] if now - each < _PERIOD]
        if len(recent) >= _FAILURES:
            raise RefusedError(429, "TokenError", "Too many wrong tokens came from this address. Wait a minute.")
        if scheme.lower() == "bearer":
            if self._token is not None and hmac.compare_digest(given.strip().encode(), self._token.encode()):
                return _of_all("token file")
            if (person := self.people.by_token(given.strip())) is not None:
                return person
        recent.append(now)
        raise RefusedError(401, "TokenError", "This token is unknown, has expired or was revoked. Ask for another.")

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        told: dict[str, Any] = {"does": f"{scope['method']} {scope['path']}"}
        heard = _Heard(receive, scope["method"])

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                told["status"] = message["status"]
            await send(message)

        try:
            path = str(scope["path"])
            if not path.startswith(SPACE):
                person = self.person_of(scope) if path.startswith(API) and path not in _OPEN else None
                told |= _named(person)
                scope["kgplatform.person"] = person
                await self._desk(scope, heard, answered)
                return
            name, slash, rest = path.removeprefix(SPACE).partition("/")
            inside, told["workspace"] = f"/{rest}", name
            told["does"] = f"{scope['method']} {inside}"
            if not slash or not inside.startswith(API):  # the page itself, which is the same for all
                await self._desk(scope, heard, answered)
                return
            if (person := self.person_of(scope)) is None:
                raise RefusedError(401, "TokenError", "Sign in, or send a token as `Authorization: Bearer TOKEN`.")
            told |= _named(person)
            right = await anyio.to_thread.run_sync(self._right, person, name)
            if right is None:  # whoever may not see it does not learn whether it is there
                raise RefusedError(404, "NotFoundError", f'There is no workspace "{name[:63]}" that you may open.')
            _check(right, scope["method"], inside)
            served = await self._served(name, right)
            served.busy += 1
            try:
                inner = {**scope, "path": inside, "raw_path": inside.encode(), "root_path": ""}
                await served.app(inner, heard, answered)
            finally:
                served.busy -= 1
                served.used = time.monotonic()
        except RefusedError as error:
            await heard.rest()
            await refusal(error.status, error.kind, str(error), _HEADERS.get(error.status))(scope, receive, answered)
        except KgError as error:
            status = 400 if isinstance(error, InputError) else 503
            await refusal(status, type(error).__name__, str(error), _HEADERS.get(status))(scope, receive, answered)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told as such, and only the log has more
            report_fault(error)
            if "status" not in told:
                await refusal(500, "Fault", FAULT)(scope, receive, answered)
        finally:
            if _is_of_api(str(scope["path"])):
                self.audit.add(**told, asked=heard.asked or _asked_in(scope["query_string"]))

    def _right(self, person: Person, name: str) -> Right | None:
        try:
            return person.right_in(self.workspaces.get(name).id)
        except InputError:  # there is none of that name
            return None

    async def _served(self, name: str, right: Right) -> _App:
        """The application for somebody with this ``right``, opened if need be. Raises ``RefusedError``."""
        async with self._opening[name]:
            space = self._spaces.get(name)
            if space is None:
                await self._make_room()
                space = self._spaces[name] = await anyio.to_thread.run_sync(self._opened, name)
        if not right.where:
            return await self._app(space, _WHOLE[right.may("editor")], "", right)
        where = " or ".join(f"({each})" for each in right.where)
        now = partial(space.graph.parts.current, space.graph, where, any_name=True)
        part, documents = await anyio.to_thread.run_sync(now)
        if not documents:
            raise RefusedError(404, "NotFoundError", "There is no document here yet that you may see.")
        return await self._app(space, part, where, right)

    async def _app(self, space: _Space, key: str, where: str, right: Right) -> _App:
        """The one that is kept as ``key``, opened if need be: over all of the workspace, or over the part ``where``."""
        async with space.opening[key]:
            found = space.apps.get(key)
            if found is None:
                closing = ExitStack()
                graph = space.graph
                if where:
                    await self._make_room()
                    opened = graph.parts.opened(graph, where, any_name=True)
                    graph = await anyio.to_thread.run_sync(closing.enter_context, opened)
                read_only = self._read_only or not right.may("editor")
                how: dict[str, Any] = {"hosts": self._hosts, "origins": self._origins, "limits": self._limits}
                app = make_app(graph, read_only=read_only, **how)
                if not read_only:
                    await anyio.to_thread.run_sync(app.state.parts.jobs.start)
                found = space.apps[key] = _App(app, closing)
            found.used = time.monotonic()
            return found

    def _opened(self, name: str) -> _Space:
        try:
            home = self.workspaces.home(name)
        except InputError as error:
            raise RefusedError(404, "NotFoundError", str(error)) from error
        connected = {} if self._settings.model_fields_set & MODEL else saved_model(home)
        changes = {"home": home, "workspace": None, "neo4j_jars": self._settings.jar_folder, **connected}
        settings = self._settings.model_copy(update=changes)
        was_running = LocalNeo4j(settings).status().running
        graph = open_graph(settings, self._report)
        try:
            graph.check_model()
        except BaseException:
            graph.close()
            raise
        return _Space(graph, was_running)

    async def _make_room(self) -> None:
        """Close what nobody uses, while there is too little memory for one more server: first what was used least
        lately. Raises ``RefusedError`` where all is in use."""
        while read_machine().free < _NEEDED and self._spaces:
            idle = self._idle()
            if not idle:
                raise RefusedError(503, "BusyError", "The server has no memory for more now. Try again in a minute.")
            await self._end(*min(idle)[1:])

    def _idle(self) -> list[tuple[float, str, str]]:
        """When a workspace, or with its key a part of one, was last used, of those that nobody uses now."""
        found = []
        for name, space in self._spaces.items():
            if not space.busy:
                found.append((space.used, name, ""))
            found += [(app.used, name, key) for key, app in space.apps.items() if key not in _WHOLE and not app.busy]
        return found

    async def _end(self, name: str, key: str) -> None:
        if not key:
            await self.close_workspace(name)
        elif (app := self._spaces[name].apps.pop(key, None)) is not None:
            await close(app.app)
            await anyio.to_thread.run_sync(app.closing.close)

    async def close_workspace(self, name: str) -> None:
        """Close a workspace: what runs in it is stopped, and so is its server, unless it ran before."""
        async with self._opening[name]:
            if (space := self._spaces.pop(name, None)) is not None:
                await self._close(space)

    async def _close(self, space: _Space) -> None:
        for app in space.apps.values():
            await close(app.app)

        def end() -> None:
            with ExitStack() as closing:
                if not space.was_running:
                    closing.callback(LocalNeo4j(space.graph.settings, self._report).down)
                closing.callback(space.graph.close)
                for app in space.apps.values():
                    closing.push(app.closing)

        await anyio.to_thread.run_sync(end)

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(_LOOKED_EVERY)
            for used, name, key in self._idle():
                if time.monotonic() - used > _IDLE and name in self._spaces:
                    with suppress(KgError):
                        await self._end(name, key)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self._janitor = asyncio.create_task(self._tidy())
                await send({"type": "lifespan.startup.complete"})
            else:
                if self._janitor is not None:
                    self._janitor.cancel()
                await self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def close(self) -> None:
        """Close all workspaces."""
        for name in list(self._spaces):
            try:
                await self.close_workspace(name)
            except KgError as error:
                log.warning("the workspace %s could not be closed: %s", name, error)


def _of_all(name: str) -> Person:
    """Somebody who may do everything."""
    return Person(name, grants=(Grant(EVERYWHERE, f"user:{name}", "admin"),))


def _named(person: Person | None) -> dict[str, Any]:
    return {"who": person.name, "by": person.by} if person else {}


class _Heard:
    """Passes a request's body on, and keeps what is asked in it."""

    def __init__(self, receive: Receive, method: str) -> None:
        self._receive, self._is_kept = receive, method == "POST"
        self._body, self._is_whole = b"", False

    async def __call__(self) -> Message:
        """See ASGI."""
        message = await self._receive()
        if self._is_kept and message["type"] == "http.request":
            self._body += message.get("body", b"")
            self._is_kept = len(self._body) <= _LONGEST_ASKED
            self._is_whole = not message.get("more_body", False)
        return message

    async def rest(self) -> None:
        """Read the body of a request that is refused before anybody else reads it, as far as it may be kept."""
        while self._is_kept and not self._is_whole:
            if (await self())["type"] != "http.request":
                return

    @property
    def asked(self) -> str:
        """The question or statement in a body of JSON; empty where there is none."""
        try:
            told = json.loads(self._body) if self._body[:1] == b"{" else {}
        except (ValueError, RecursionError):
            return ""
        return next((told[word] for word in _WORDS if isinstance(told.get(word), str)), "")


def _asked_in(query: bytes) -> str:
    return "&".join(f"{name}={value}" for name, values in parse_qs(query.decode("latin-1")).items() for value in values)


def guarded(host: Host, limits: Limits, hosts: Collection[str] | None, origins: Collection[str]) -> ASGIApp:
    """``host`` behind what every server of ours checks of a request, whoever asks."""
    elsewhere = "Requests from other sites are refused. --cors ORIGIN allows one."
    most = max(limits.upload, limits.body)
    guard = Guard(host, hosts=hosts, origins=origins, most=most, idle=limits.idle, elsewhere=elsewhere)
    return SafeHeaders(guard, shared=bool(origins))


_HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"WWW-Authenticate": "Bearer"},
    429: {"Retry-After": "60"},
    503: {"Retry-After": "10"},
}


def _is_of_api(path: str) -> bool:
    """Whether a path, outside of workspaces or inside of one, is of the interface and not of the page."""
    inside = "/" + path.removeprefix(SPACE).partition("/")[2] if path.startswith(SPACE) else path
    return inside.startswith(API)


def _check(right: Right, method: str, path: str) -> None:
    """Raise ``RefusedError`` where a request would do what this right does not allow."""
    wanted: Role = "reader"
    if path.startswith(_STATEMENTS):
        if right.where:
            raise RefusedError(
                403, "RightError", "Statements of your own are for people who may see all of this workspace."
            )
    elif path.startswith(_OF_ADMINS):
        wanted = "admin"
    elif method not in _READS and not path.startswith(_ASKS):
        wanted = "editor"
    if not right.may(wanted):
        raise RefusedError(403, "RightError", f"That needs the role {wanted} in this workspace; you are {right.role}.")
