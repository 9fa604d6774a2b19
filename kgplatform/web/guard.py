"""Who is let in: the right Host, an Origin of our own, the token where one is needed, and no more bytes than allowed.

A page of a stranger in the same browser can send requests to loopback too. It cannot choose the Host by which it
reached us (DNS rebinding shows there), nor hide where it comes from: Origin and Sec-Fetch-Site tell.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgplatform.web.faults import refusal
from kgplatform.web.limits import Limits

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""Host names that mean this machine, as a Host header writes them."""

CONTENT_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_SAFE = ("GET", "HEAD", "OPTIONS")


class SafeHeaders:
    """Middleware: every response says what a browser may not do with it."""

    def __init__(self, app: ASGIApp, shared: bool) -> None:
        self._app = app
        # An origin that was allowed reads our answers; without one nobody else embeds them, not even as an image.
        self._headers = _HEADERS | ({} if shared else {"Cross-Origin-Resource-Policy": "same-origin"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
                if scope["path"].startswith("/api/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, with_headers)


class Guard:
    """Middleware: refuses what may not come in, before anything of it is read.

    ``hosts``: names that a Host header may have, None for all. ``origins``: those of other pages that may use the API.
    ``token``: what requests below ``/api`` must bring, if any.
    """

    def __init__(
        self, app: ASGIApp, hosts: Collection[str] | None, origins: Collection[str], token: str | None, limits: Limits
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._origins = origins
        self._token = token.encode() if token is not None else None
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if refused := self._refusal(scope, headers):
            status, kind, message, more = refused
            await refusal(status, kind, message, more)(scope, receive, send)
            return
        await self._app(scope, _bounded(receive, self._most(scope), self._limits.idle), send)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str, str, Mapping[str, str] | None] | None:
        if self._hosts is not None and _name_of(headers.get("host", "")) not in self._hosts:
            return 403, "HostError", "This server answers as localhost or 127.0.0.1 only.", None
        if not self._is_own(scope, headers):
            return 403, "OriginError", "Requests from other sites are refused. --cors ORIGIN allows one.", None
        if scope["path"].startswith("/api/") and not self._has_token(headers):
            sentence = "A token is needed: send it as `Authorization: Bearer TOKEN`."
            return 401, "TokenError", sentence, {"WWW-Authenticate": "Bearer"}
        length = headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and int(length) > (most := self._most(scope)):
            return 413, "TooLargeError", _too_large(most), {"Connection": "close"}
        return None

    def _is_own(self, scope: Scope, headers: Headers) -> bool:
        """Whether the request comes from our own page, an origin that was allowed, or no page at all."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if origin in self._origins:
            return True
        if scope["method"] in _SAFE:
            # Others may lead here by a link. They may not have a visitor's browser work for them.
            is_visit = headers.get("sec-fetch-mode", "navigate") == "navigate"
            return site in ("none", "same-origin") or is_visit or not scope["path"].startswith("/api/")
        return site in ("none", "same-origin") and (origin is None or _is_at(origin, headers.get("host", "")))

    def _has_token(self, headers: Headers) -> bool:
        if self._token is None:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        return hmac.compare_digest(given.strip().encode(), self._token) and scheme.lower() == "bearer"

    def _most(self, scope: Scope) -> int:
        is_upload = scope["path"] == "/api/documents"
        return self._limits.upload if is_upload else self._limits.body


def _name_of(host: str) -> str:
    """The name in a Host header, without the port: ``[::1]:8600`` is ``[::1]``."""
    name = host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0]
    return name.lower()


def _is_at(origin: str, host: str) -> bool:
    """Whether the page of ``origin`` came from the same host and port. ``null`` is nobody's."""
    try:
        return bool(host) and urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:  # no address
        return False


def _bounded(receive: Receive, most: int, idle: float) -> Receive:
    """``receive``, which ends a body that turns out longer than it may be, or of which nothing comes for too long."""
    taken, is_whole = 0, False

    async def bounded() -> Message:
        nonlocal taken, is_whole
        if is_whole:  # what may still come is that the client goes
            return await receive()
        try:
            with anyio.fail_after(idle):
                message = await receive()
        except TimeoutError:
            sentence = f"Nothing of the request came for {idle:g} seconds. Send it again."
            raise HTTPException(408, sentence, {"Connection": "close"}) from None
        is_whole = not message.get("more_body", False)
        taken += len(message.get("body", b""))
        if taken > most:
            raise HTTPException(413, _too_large(most), {"Connection": "close"})
        return message

    return bounded


def _too_large(most: int) -> str:
    return f"That is too large: at most {most:,} bytes are taken at once."
