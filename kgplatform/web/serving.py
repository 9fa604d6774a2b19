"""The server: a socket, uvicorn on it, and an end without noise."""

from __future__ import annotations

import asyncio
import socket
from types import FrameType

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from kgplatform.errors import InputError
from kgplatform.web.app import close

PORT = 8600
_TRIED = 50
_GRACE = 10
_BACKLOG = 512


class PunctualProtocol(H11Protocol):
    """Uvicorn's HTTP, which closes a connection on which the head of a request does not come in time.

    Uvicorn itself waits for ever for the first one, and for the end of any that has begun.
    """

    patience = 20.0
    """Seconds."""
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """See asyncio."""
        super().connection_made(transport)
        self._late = asyncio.get_running_loop().call_later(self.patience, transport.close)

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        super().data_received(data)
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering:
            self._be_patient()
        elif self._late is None:
            self._late = asyncio.get_running_loop().call_later(self.patience, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._be_patient()
        super().connection_lost(exc)

    def _be_patient(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class QuietServer(uvicorn.Server):
    """Uvicorn that ends at Ctrl-C as if nothing had happened, the second time without waiting for clients.

    ``grace``: seconds that requests have to end after they were told to. ``lifespan``: whether ``app`` has one.
    """

    def __init__(self, app: ASGIApp, *, grace: int, lifespan: bool) -> None:
        config = uvicorn.Config(
            app,
            http=PunctualProtocol,
            ws="none",
            lifespan="on" if lifespan else "off",
            log_config=None,
            log_level="error",  # it warns of pages that try a WebSocket
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


class Serving(QuietServer):
    """The server of ``make_app``, which stops what is under way as soon as it is to end."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__(app, grace=_GRACE, lifespan=True)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Work first: streams end by themselves then, and uvicorn need not wait for them."""
        await close(self._app)
        await super().shutdown(sockets)


def listen(host: str, port: int | None) -> socket.socket:
    """A socket at ``host``: at ``port``, 0 for any that is free; without one at 8600, or the next that is free.

    Raises ``InputError`` where that cannot be.
    """
    for tried in range(PORT, PORT + _TRIED) if port is None else [port]:
        try:
            return _bound(host, tried)
        except (OSError, OverflowError) as error:
            fault = error
    where = f"{host}:{port}" if port is not None else f"{host}, ports {PORT} to {PORT + _TRIED - 1}"
    raise InputError(f"Nothing can listen at {where} ({fault}). Choose another with --host or --port.") from fault


def address_of(listening: socket.socket) -> str:
    """The URL of what listens there, as a browser on this machine opens it."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound
