"""A proxy on loopback that lets nothing through and remembers who was asked for.

Chromium asks it for everything but this machine.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def watching_proxy() -> Iterator[tuple[str, list[str]]]:
    """Its address, and the hosts or addresses that were asked for so far."""
    asked: list[str] = []

    class Refusing(BaseHTTPRequestHandler):
        def _refuse(self) -> None:
            asked.append(self.path)
            self.send_error(403)

        do_GET = do_POST = do_CONNECT = do_HEAD = do_OPTIONS = _refuse  # noqa: N815 - as http.server calls them

        def log_message(self, *_: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", asked
        finally:
            server.shutdown()
            thread.join()
