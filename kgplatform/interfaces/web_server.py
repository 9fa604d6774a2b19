"""What the servers share: sockets, uvicorn with a deadline for slow requests, a quiet end, and who is let in.

Let in are requests with the right Host and Origin, the token if there is one, and not too many bytes. Another site's
page in the same browser can send requests to loopback too. But it cannot choose the Host header, which exposes DNS
rebinding, nor hide its origin: Origin and Sec-Fetch-Site name it.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import re
import socket
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Any, TypeVar

import anyio
import h11
import uvicorn
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from kgplatform.concurrency.system import take_address
from kgplatform.errors import InputError
from kgplatform.shown import encode

T = TypeVar("T")

_TRIED = 50
"""Ports after the first."""
_BACKLOG = 512


class PromptProtocol(H11Protocol):
    """Uvicorn's HTTP/1.1, which closes a connection if the head of a request does not arrive in time.

    Uvicorn's own ``timeout_keep_alive`` begins after a response and ends with the next byte: a connection that sends
    nothing, or one byte of a head, would stay open for ever (docs/explanation/decisions.md).

    A request that cannot become one is refused at once: h11 would wait for the line feed behind a carriage return, and
    for as many bytes as any chunk announces.
    """

    patience = 20.0
    """Seconds."""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """See asyncio."""
        super().connection_made(_Lingering(transport, self))  # type: ignore[arg-type]  # all that it does not have is the transport's
        self._deadline = self.loop.call_later(self.patience, transport.close)

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if not self.transport.is_closing() and self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            chunk = getattr(self.conn._reader, "_bytes_in_chunk", 0)  # h11 tells it nowhere else
            if chunk > _LARGEST_CHUNK or _BARE_RETURN.search(self.conn.trailing_data[0]):  # it would wait in vain
                self.send_400_response("Invalid HTTP request received.")
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        elif not is_answering and self._deadline is None:
            self._deadline = self.loop.call_later(self.patience, self.transport.close)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, and end what works on its beginning."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:  # an answer has begun
            self.transport.close()
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()


_BARE_RETURN = re.compile(rb"\r(?!\n|\Z)")
_LARGEST_CHUNK = 2**40
"""Bytes: more than any body may have."""


class _Lingering:
    """A transport that, closed before a request was read to its end, first lets the client read the answer; closed
    twice, it does not.

    A socket that is closed with bytes unread resets the connection, and the answer may be lost with that.
    """

    def __init__(self, transport: asyncio.Transport, protocol: PromptProtocol) -> None:
        self._inner, self._protocol = transport, protocol
        self._is_closing = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def is_closing(self) -> bool:
        """Whether nothing more is read or written."""
        return self._is_closing or self._inner.is_closing()

    def close(self) -> None:
        """See asyncio."""
        is_first, self._is_closing = not self.is_closing(), True
        if is_first and self._protocol.conn.their_state in (h11.SEND_BODY, h11.ERROR) and self._inner.can_write_eof():
            self._inner.write_eof()
            self._protocol.flow.resume_reading()
            self._protocol.loop.call_later(self._protocol.patience, self._inner.close)
        else:
            self._inner.close()


class QuietServer(uvicorn.Server):
    """Uvicorn that ends quietly at Ctrl-C; at a second one, without waiting for clients.

    ``grace``: seconds that running requests have to finish. ``lifespan``: whether ``app`` has one.
    """

    def __init__(self, app: ASGIApp, *, grace: int, lifespan: bool) -> None:
        config = uvicorn.Config(
            app,
            http=PromptProtocol,
            ws="none",
            lifespan="on" if lifespan else "off",
            log_config=None,
            log_level="error",  # it warns about WebSockets
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=grace,
        )
        super().__init__(config)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, and have the application end in order too, which uvicorn leaves out where it is in a hurry."""
        await super().shutdown(sockets)
        if self.force_exit:
            await self.lifespan.shutdown()


def listen(host: str, port: int | None, first: int = 8600) -> socket.socket:
    """A socket at ``host`` and ``port``, 0 for any free port; None for the first free one from ``first`` on. Raises
    ``InputError`` if there is none."""
    return _first_bound(partial(_bound, host), host, port, first, "host", "port")


def listen_as_localhost(port: int | None, first: int = 8601) -> tuple[list[socket.socket], str]:
    """Sockets for every address that a web browser may take ``localhost`` for (IPv4 and IPv6), and the URL.

    ``port`` and ``first`` as for ``listen``. Both addresses are taken, so that no other program gets visits meant for
    this one. Raises ``InputError`` if they are not free.
    """
    sockets = _first_bound(_both, "localhost", port, first, "port")
    return sockets, f"http://localhost:{sockets[0].getsockname()[1]}"


def address_of(listening: socket.socket) -> str:
    """The URL of a listening socket, as a browser on this machine opens it."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def _first_bound(bind: Callable[[int], T], host: str, port: int | None, first: int, *options: str) -> T:
    """What ``bind`` makes of ``port``, or of the first free one; ``options`` are those with which another is chosen."""
    for tried in range(first, first + _TRIED) if port is None else [port]:
        try:
            return bind(tried)
        except (OSError, OverflowError) as error:
            fault = error
    where = f"{host}:{port}" if port is not None else f"{host}, ports {first} to {first + _TRIED - 1}"
    another = " or ".join(options)
    raise InputError(f"Cannot listen at {where} ({fault}). Choose another {another}.", *options) from fault


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    bound = socket.socket(family, kind, protocol)
    try:
        take_address(bound)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound


def _both(port: int) -> list[socket.socket]:
    first = _bound("127.0.0.1", port)
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:  # there is no IPv6
        return [first]
    try:
        return [first, _bound("::1", first.getsockname()[1])]
    except OSError:
        first.close()
        raise


LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""Host names that mean this machine, as a Host header writes them."""

MEGABYTE = 1_000_000

_LONGEST_LINE, _MOST_HEADERS, _LONGEST_HEADERS = 16_000, 100, 32_000
_SAFE = ("GET", "HEAD", "OPTIONS")
_TOO_LARGE = "The request is too large: at most {:,} bytes are accepted."


class Json(Response):
    """A JSON response; ``bytes`` are content that is encoded already."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """See ``encode``."""
        return content if isinstance(content, bytes) else encode(content)


def refusal(status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """An error in the one form that all clients get: its kind and one sentence."""
    return Json({"error": {"kind": kind, "message": message}}, status, headers)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, which may resolve to anything
        return False


API = ("/api/", "/v1/")
"""How the paths of the HTTP interface begin."""


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """Middleware: refuses requests before anything of their body is read.

    ``hosts``: the allowed names in a Host header, None for all. ``origins``: other sites whose pages may use the API;
    ``elsewhere``: what the others are told. ``token``: what requests to paths that begin with ``api`` must send, if
    any. ``most``: bytes of a body; ``most_at``: exceptions by path. ``idle``: seconds that a body may stall.
    """

    app: ASGIApp
    hosts: Collection[str] | None
    origins: Collection[str] = ()
    token: str | None = field(default=None, repr=False)
    api: tuple[str, ...] = API
    most: int = MEGABYTE
    most_at: Mapping[str, int] = field(default_factory=dict)
    idle: float = 30.0
    elsewhere: str = "Requests from other sites are refused."

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self.most_at.get(scope["path"], self.most)
        if refused := self._refusal(scope, Headers(scope=scope), most):
            await refused(scope, receive, send)
            return
        await self.app(scope, _bounded(receive, most, self.idle), send)

    def _refusal(self, scope: Scope, headers: Headers, most: int) -> Response | None:
        found = _HOST.fullmatch(headers.get("host", ""))
        if self.hosts is not None and not (found and found[1].lower() in self.hosts):
            return refusal(403, "HostError", "This server accepts only the host names localhost and 127.0.0.1.")
        if not self._is_own(scope, headers):
            return refusal(403, "OriginError", self.elsewhere)
        scheme, _, given = headers.get("authorization", "").partition(" ")
        has_token = self.token is None or (
            hmac.compare_digest(given.strip().encode(), self.token.encode()) and scheme.lower() == "bearer"
        )
        if scope["path"].startswith(self.api) and not has_token:
            sentence = "This server needs a token. Send it as `Authorization: Bearer TOKEN`."
            return refusal(401, "TokenError", sentence, {"WWW-Authenticate": "Bearer"})
        if len(scope["raw_path"] or b"") + len(scope["query_string"]) > _LONGEST_LINE:
            return refusal(414, "TooLargeError", f"The address is too long: at most {_LONGEST_LINE:,} bytes.")
        if len(scope["headers"]) > _MOST_HEADERS:
            return refusal(431, "TooLargeError", f"The request has more than {_MOST_HEADERS} headers.")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > _LONGEST_HEADERS:
            return refusal(431, "TooLargeError", f"The headers are too long: at most {_LONGEST_HEADERS:,} bytes.")
        length = headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and int(length) > most:
            return refusal(413, "TooLargeError", _TOO_LARGE.format(most), {"Connection": "close"})
        return None

    def _is_own(self, scope: Scope, headers: Headers) -> bool:
        """Whether the request comes from our own page, an allowed origin, or no page at all."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if origin in self.origins:
            return True
        if scope["method"] in _SAFE:
            # Other sites may link here, but not read from here, nor have graphs made of parts of this one.
            is_visit = (
                headers.get("sec-fetch-mode", "navigate") == "navigate" and b"where=" not in scope["query_string"]
            )
            return site in ("none", "same-origin") or is_visit or not scope["path"].startswith(self.api)
        host = headers.get("host", "").lower()
        is_at_host = bool(host) and origin is not None and origin.lower() in (f"http://{host}", f"https://{host}")
        return site in ("none", "same-origin") and (origin is None or is_at_host)


_HOST = re.compile(r"(\[[\da-f:.]+\]|[^\s:/?#@\[\]]+)(?::\d{1,5})?", re.I)
"""The name in a Host header, without the port: ``[::1]`` of ``[::1]:8600``."""


def _bounded(receive: Receive, most: int, idle: float) -> Receive:
    """``receive``, which refuses a body that turns out too long or stalls."""
    taken, is_whole = 0, False

    async def bounded() -> Message:
        nonlocal taken, is_whole
        if is_whole:  # only a disconnect can follow
            return await receive()
        try:
            with anyio.fail_after(idle):
                message = await receive()
        except TimeoutError:
            sentence = f"The request stalled for {idle:g} seconds. Send it again."
            raise HTTPException(408, sentence, {"Connection": "close"}) from None
        is_whole = not message.get("more_body", False)
        taken += len(message.get("body", b""))
        if taken > most:
            raise HTTPException(413, _TOO_LARGE.format(most), {"Connection": "close"})
        return message

    return bounded
