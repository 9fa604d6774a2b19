"""The server of ``kgplatform browser``: the name localhost in both protocols, and an end without noise."""

from __future__ import annotations

import socket

from starlette.types import ASGIApp

from kgplatform.errors import InputError
from kgplatform.web.serving import QuietServer, listen

_PORT = 8601
_TRIED = 50
_GRACE = 5
"""Seconds that a request has to end. A guide to a large graph takes one."""


class BrowserServer(QuietServer):
    """The server of ``make_browser_app``."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, grace=_GRACE, lifespan=False)


def listen_as_localhost(port: int | None) -> tuple[list[socket.socket], str]:
    """Sockets for whatever address of this machine a web browser takes ``localhost`` for, and the URL.

    ``port``: 0 for any that is free; without one 8601, or the next that is free. Both addresses are taken, so that no
    other program gets visits that are meant for this one. Raises ``InputError`` where that cannot be.
    """
    for tried in range(_PORT, _PORT + _TRIED) if port is None else [port]:
        try:
            sockets = _both(tried)
        except InputError as error:
            fault = error
            continue
        return sockets, f"http://localhost:{sockets[0].getsockname()[1]}"
    raise fault


def _both(port: int) -> list[socket.socket]:
    first = listen("127.0.0.1", port)
    if not _has_ipv6():
        return [first]
    try:
        return [first, listen("::1", first.getsockname()[1])]
    except InputError:
        first.close()
        raise


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        return False
    return True
