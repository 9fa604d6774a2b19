"""Many workspaces behind one address, each at ``/w/NAME/``, for people with their own rights.

    host = Host(Workspaces(folder), settings, people)     # an ASGI application
    QuietServer(host, …).run([listening])

A request is let in or refused here, before any part of the platform sees it: by who asks, what that person is in the
workspace, and what the request would do. What it then reaches is in ``spaces``.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, quote

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgplatform.errors import InputError, KgError
from kgplatform.interfaces.http.app import ELSEWHERE, SafeHeaders, make_app
from kgplatform.interfaces.http.failures import FAULT, HttpRequestError, log, report_fault
from kgplatform.interfaces.http.parts import Limits
from kgplatform.interfaces.http.team.audit import AUDIT_FILE, Audit
from kgplatform.interfaces.http.team.people import SIGN_IN, Grant, People, Person, Right, Role
from kgplatform.interfaces.http.team.spaces import Spaces
from kgplatform.interfaces.web_server import API, LOOPBACK, Guard, refusal
from kgplatform.settings import Settings
from kgplatform.workspaces import EVERYWHERE, Workspace, Workspaces

SPACE = "/w/"
_READS = ("GET", "HEAD", "OPTIONS")
_ASKS = ("/api/search", "/api/ask", "/api/threads", "/api/graph/subgraph", "/v1/chat/completions")
"""What a reader may post to, beside its own statements."""
_OF_ADMINS = ("/api/models/connect", "/api/models/list", "/api/models/test")
_STATEMENTS = "/api/cypher"
_OPEN = ("/api/signin", "/api/signout")
"""What needs no right."""
_WORDS = ("question", "statement")
"""Where a request has what is asked."""
_LONGEST_ASKED = 100_000
_OF_DESK = ("/api/people", "/api/workspaces")
_SIGNED_IN = "/signin/back"
_FAILURES, _NOBODY, _PERIOD = 20, 120, 60.0
"""Wrong tokens from one address, and lines in the log of requests by nobody, in so many seconds."""
_MOST_NOTED = 10_000
_LONGEST_PATH = 200
"""Characters that are logged of one."""


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
        self.workspaces, self.people, self.read_only = workspaces, people, read_only
        self.audit = Audit(workspaces.folder / AUDIT_FILE)
        self._token, self._sessions = token, sessions
        self._is_open = token is None and sessions is None and hosts is not None
        self._failures: defaultdict[str, list[float]] = defaultdict(list)
        how: dict[str, Any] = {"hosts": hosts, "origins": origins, "limits": limits}
        self.spaces = Spaces(
            settings, lambda graph, only_reads: make_app(graph, read_only=read_only or only_reads, **how), report
        )
        self._desk = desk(self)
        self._janitor: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    def person_of(self, scope: Scope) -> Person | None:
        """Who asks. Raises ``HttpRequestError`` for a wrong token."""
        self._is_open = self._is_open and not self.people.file.exists()  # once closed, it never opens again
        if self._is_open:
            return _of_all("everybody")
        headers = Headers(scope=scope)
        scheme, _, given = headers.get("authorization", "").partition(" ")
        try:
            if not given:
                return self._sessions(headers) if self._sessions else None
            if scheme.lower() == "bearer":
                if self._token is not None and hmac.compare_digest(given.strip().encode(), self._token.encode()):
                    return _of_all("token file")
                if (person := self.people.by_token(given.strip())) is not None:
                    return person
        except InputError as error:  # what is wrong with the file is not for everybody
            log.error("%s", error)
            raise HttpRequestError(503, "StoreError", "The rights cannot be read. Ask an admin.") from error
        if self._is_frequent(f"token {(scope.get('client') or ('',))[0]}", _FAILURES):
            raise HttpRequestError(429, "TokenError", "Too many wrong tokens came from this address. Wait a minute.")
        raise HttpRequestError(401, "TokenError", "This token is unknown, has expired or was revoked. Ask for another.")

    def _is_frequent(self, what: str, most: int) -> bool:
        """Note that ``what`` has happened; whether it has done so more than ``most`` times in a minute."""
        now = time.monotonic()
        if len(self._failures) > _MOST_NOTED:
            self._failures.clear()
        recent = self._failures[what] = [each for each in self._failures[what] if now - each < _PERIOD][-most:]
        recent.append(now)
        return len(recent) > most

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        told: dict[str, Any] = {}
        heard = _Heard(receive, scope["method"])

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                told["status"] = message["status"]
            await send(message)

        async def refuse(error: Exception, status: int, kind: str, message: str) -> None:
            with suppress(HTTPException):  # it stalled: what was asked is not known
                await heard.rest()
            headers = getattr(error, "headers", None) or _HEADERS.get(status)
            if "status" not in told:
                await refusal(status, kind, message, headers)(scope, receive, answered)

        try:
            await self._reach(scope, heard, answered, told)
        except HttpRequestError as error:
            await refuse(error, error.status, error.kind, str(error))
        except KgError as error:
            await refuse(error, 400 if isinstance(error, InputError) else 503, type(error).__name__, str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told as such, and only the log has more
            report_fault(error)
            await refuse(error, 500, "Fault", FAULT)
        finally:
            self._log(scope, told, heard)

    async def _reach(self, scope: Scope, heard: _Heard, send: Send, told: dict[str, Any]) -> None:
        """Let a request in, or raise what refuses it; ``told`` gets what the log has of it."""
        path = str(scope["path"])
        name, slash, rest = path.removeprefix(SPACE).partition("/") if path.startswith(SPACE) else ("", "/", path[1:])
        inside = f"/{rest}"
        told |= {"workspace": name, "does": f"{scope['method']} {inside if name else path}"}
        if not slash or not inside.startswith(API):  # the page itself, which is the same for all
            await self._desk(scope, heard, send)
            told["who"] = scope.get("kgplatform.signed_in")
            return
        person = self.person_of(scope) if name or inside not in _OPEN else None
        told |= {"who": person.name, "by": person.by} if person else {}
        if not name:
            scope["kgplatform.person"] = person
            await self._desk(scope, heard, send)
            return
        if person is None:
            raise HttpRequestError(401, "TokenError", SIGN_IN)
        workspace, right = await asyncio.to_thread(self._right, person, name)
        _check(right, scope["method"], inside)
        async with self.spaces.served(workspace, right) as app:
            inner = {
                **scope,
                "kgplatform.person": person,
                "path": inside,
                "raw_path": quote(inside).encode(),
                "root_path": "",
            }
            await app(inner, heard, send)

    def _right(self, person: Person, name: str) -> tuple[Workspace, Right]:
        """The workspace, and what somebody may do there. Who may do nothing does not learn whether it is there."""
        with suppress(InputError):
            found = self.workspaces.get(name)
            right = person.right_in(found.id)
            if right is not None and found.archived:
                raise HttpRequestError(404, "NotFoundError", f'The workspace "{name}" is archived.')
            if right is not None:
                return found, right
        raise HttpRequestError(404, "NotFoundError", f'There is no workspace "{name[:63]}" that you may open.')

    def _log(self, scope: Scope, told: dict[str, Any], heard: _Heard) -> None:
        path = str(scope["path"])
        is_back = path == _SIGNED_IN
        if not is_back and not _is_of_api(path):
            return
        if not told.get("who") and self._is_frequent("nobody", _NOBODY):  # nobody washes the others' lines away
            return
        asked = "" if is_back else heard.asked(whole=path.startswith(_OF_DESK)) or _asked_in(scope["query_string"])
        told["does"] = told.get("does", "")[:_LONGEST_PATH]
        told["workspace"] = told.get("workspace", "")[:_LONGEST_PATH]
        try:
            self.audit.add(**told, asked=asked)
        except OSError as error:
            log.error("the log %s cannot be written: %s", self.audit.file, error.strerror or error)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self._janitor = asyncio.create_task(self.spaces.tidy())
                await send({"type": "lifespan.startup.complete"})
            else:
                if self._janitor is not None:
                    self._janitor.cancel()
                await self.spaces.close()
                await send({"type": "lifespan.shutdown.complete"})
                return


def _of_all(name: str) -> Person:
    """Somebody who may do everything."""
    return Person(name, grants=(Grant(EVERYWHERE, f"user:{name}", "admin"),))


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

    def asked(self, *, whole: bool) -> str:
        """The question or statement in a body of JSON, of a chat the last message; or the ``whole`` body. Empty where
        there is none."""
        try:
            told = json.loads(self._body) if self._body[:1] == b"{" else {}
        except (ValueError, RecursionError):
            return ""
        if whole:
            return json.dumps(told, ensure_ascii=False) if told else ""
        messages = told.get("messages")
        if isinstance(messages, list) and messages and isinstance(messages[-1], dict):
            told = {**told, "question": str(messages[-1].get("content"))}
        return next((told[word] for word in _WORDS if isinstance(told.get(word), str)), "")


def _asked_in(query: bytes) -> str:
    return "&".join(f"{name}={value}" for name, values in parse_qs(query.decode("latin-1")).items() for value in values)


def guarded(host: Host, limits: Limits, hosts: Collection[str] | None, origins: Collection[str]) -> ASGIApp:
    """``host`` behind what every server of ours checks of a request, whoever asks."""
    most = max(limits.upload, limits.body)
    guard = Guard(host, hosts=hosts, origins=origins, most=most, idle=limits.idle, elsewhere=ELSEWHERE)
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
    """Raise ``HttpRequestError`` where a request would do what this right does not allow."""
    wanted: Role = "reader"
    if path.startswith(_STATEMENTS):
        if right.where:
            raise HttpRequestError(
                403, "RightError", "Statements of your own are for people who may see all of this workspace."
            )
    elif path.startswith(_OF_ADMINS):
        wanted = "admin"
    elif method not in _READS and not path.startswith(_ASKS):
        wanted = "editor"
    if not right.may(wanted):
        raise HttpRequestError(
            403, "RightError", f"That needs the role {wanted} in this workspace; you are {right.role}."
        )
