"""What the servers share: sockets, uvicorn with a deadline for slow requests, and a quiet end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import TypeVar

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from kgplatform.concurrency.system import take_address
from kgplatform.errors import InputError

T = TypeVar("T")

_TRIED = 50
"""Ports after the first."""
_BACKLOG = 512


class PromptProtocol(H11Protocol):
    """Uvicorn's HTTP/1.1, which closes a connection if the head of a request does not arrive in time.

    Uvicorn's own ``timeout_keep_alive`` begins after a response and ends with the next byte: a connection that sends
    nothing, or one byte of a head, would stay open for ever (docs/explanation/decisions.md).
    """

    patience = 20.0
    """Seconds."""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """See asyncio."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.patience, transport.close)

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        super().data_received(data)
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        elif not is_answering and self._deadline is None:
            self._deadline = self.loop.call_later(self.patience, self.transport.close)


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


def listen(host: str, port: int | None, first: int = 8600) -> socket.socket:
    """A socket at ``host`` and ``port``, 0 for any free port; None for the first free one from ``first`` on.

    Raises ``InputError`` if there is none.
    """
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
    if not _has_ipv6():
        return [first]
    try:
        return [first, _bound("::1", first.getsockname()[1])]
    except OSError:
        first.close()
        raise


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        return False
    return True
