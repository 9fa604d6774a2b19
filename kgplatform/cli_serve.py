"""The command ``serve``: the explorer and the HTTP interface."""

from __future__ import annotations

import ipaddress
import logging
import os
import stat
import webbrowser
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from kgplatform.cli_base import connect_to
from kgplatform.cli_options import Home
from kgplatform.errors import InputError

_SHORTEST_TOKEN = 16
_MEGABYTE = 1_000_000
_UPLOADS = 5
"""Uploads of the greatest size for which there is room at once."""

Host = Annotated[str, typer.Option("--host", help="Where to listen; elsewhere than on loopback only with a token.")]
Port = Annotated[
    int | None, typer.Option("--port", min=0, max=65535, help="0 takes any that is free; else 8600 or the next.")
]
TokenFile = Annotated[
    Path | None,
    typer.Option("--token-file", help="A file with the token that clients must send; readable by its owner alone."),
]
Cors = Annotated[
    list[str] | None,
    typer.Option("--cors", metavar="ORIGIN", help="Pages of this site may use it; may be given several times."),
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Refuse whatever changes the graph.")]
MaxUpload = Annotated[int, typer.Option("--max-upload", min=1, metavar="MB", help="Most megabytes of one upload.")]
Open = Annotated[bool, typer.Option("--open", help="Open the explorer in the browser.")]


def serve(
    host: Host = "127.0.0.1",
    port: Port = None,
    token_file: TokenFile = None,
    cors: Cors = None,
    read_only: ReadOnly = False,
    max_upload: MaxUpload = 100,
    open_browser: Open = False,
    home: Home = None,
) -> None:
    """Serve the explorer and the HTTP interface until Ctrl-C."""
    token = read_token(token_file) if token_file is not None else None
    is_local = is_loopback(host)
    if not is_local and token is None:
        raise InputError(f"{host} can be reached by others: give a token with --token-file, or listen on 127.0.0.1.")
    origins = [_origin(each) for each in cors or ()]
    from kgplatform.web.app import make_app
    from kgplatform.web.guard import LOOPBACK
    from kgplatform.web.limits import Limits
    from kgplatform.web.serving import Serving, address_of, listen

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("kgplatform.web").setLevel(logging.INFO)  # others would tell of each request to the model
    logging.getLogger("neo4j").setLevel(logging.ERROR)  # warnings have words of statements
    with listen(host, port) as listening, connect_to(home) as graph:
        limits = Limits(upload=max_upload * _MEGABYTE, uploads=_UPLOADS * max_upload * _MEGABYTE)
        address = address_of(listening)
        hosts = LOOPBACK | {urlsplit(address).netloc.rpartition(":")[0]} if is_local else None
        app = make_app(graph, token=token, hosts=hosts, origins=origins, read_only=read_only, limits=limits)
        print(f"The explorer is at {address} (Ctrl-C ends it).", flush=True)
        if open_browser:
            webbrowser.open(address)
        Serving(app).run([listening])


def read_token(file: Path) -> str:
    """The token in ``file``. Raises ``InputError`` if others can read the file, or if it is no good token."""
    try:
        with file.open(encoding="utf-8") as stream:
            if stat.S_IMODE(os.fstat(stream.fileno()).st_mode) & 0o077:
                raise InputError(f"Others can read the token file {file}. Run `chmod 600` on it.")
            token = stream.read(10_000).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The token file {file} cannot be read: {error}.") from error
    if len(token) < _SHORTEST_TOKEN or not (token.isascii() and token.isprintable()) or " " in token:
        raise InputError(
            f"The token in {file} must be one line of at least {_SHORTEST_TOKEN} letters, digits or signs of ASCII. "
            "`openssl rand -hex 32` makes one."
        )
    return token


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, which may mean anything
        return False


def _origin(given: str) -> str:
    """``given`` as a browser sends it. Raises ``InputError`` for what is none, "*" included."""
    try:
        parts = urlsplit(given.rstrip("/"))
        if parts.scheme in ("http", "https") and parts.hostname and not (parts.path or parts.query or parts.username):
            return f"{parts.scheme}://{parts.netloc}".lower()
    except ValueError:  # no address
        pass
    raise InputError(f"--cors {given!r} is no origin. Write it as https://example.org, without a path.")
