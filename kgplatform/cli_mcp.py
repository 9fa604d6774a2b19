"""The command ``mcp``: the graph for programs that speak the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgplatform.cli_base import connect_to, note
from kgplatform.cli_options import Home
from kgplatform.cli_serve import is_loopback, read_token
from kgplatform.errors import InputError, SettingError

_PORT = 8700

Http = Annotated[bool, typer.Option("--http", help="Streamable HTTP at /mcp, instead of standard input and output.")]
Host = Annotated[
    str, typer.Option("--host", help="--http: where to listen; elsewhere than on loopback only with a token.")
]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="--http: 0 takes any that is free.")]
TokenFile = Annotated[
    Path | None,
    typer.Option("--token-file", help="--http: a file with the token that clients must send; its owner's alone."),
]
Write = Annotated[bool, typer.Option("--write", help="Offer the tools that change the graph.")]
Folders = Annotated[
    list[Path] | None,
    typer.Option(
        "--folder",
        exists=True,
        file_okay=False,
        help="--write: files below it may be ingested by path; may be given several times.",
    ),
]
MaxChars = Annotated[int, typer.Option("--max-chars", min=1000, max=1_000_000, help="Most characters of a result.")]


def mcp(
    http: Http = False,
    host: Host = "127.0.0.1",
    port: Port = _PORT,
    token_file: TokenFile = None,
    write: Write = False,
    folders: Folders = None,
    max_chars: MaxChars = 20_000,
    home: Home = None,
) -> None:
    """Serve the graph as an MCP server, read-only unless --write: over standard input and output, or with --http."""
    if folders and not write:
        raise InputError("--folder is for --write: without it nothing is ingested.")
    if token_file is not None and not http:
        raise InputError("--token-file is for --http: who started the server is its only client otherwise.")
    token = read_token(token_file) if token_file is not None else None
    if http and not is_loopback(host) and token is None:
        raise InputError(f"{host} can be reached by others: give a token with --token-file, or listen on 127.0.0.1.")
    try:
        from kgplatform.mcp_server import make_server, serve_http
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise SettingError("The MCP server needs the package mcp. Run `pip install 'kgplatform[mcp]'`.") from error
    from kgplatform.web.serving import address_of, listen

    if not http:
        with connect_to(home) as graph:
            make_server(graph, write=write, folders=folders or (), most=max_chars).run("stdio")
        return
    with listen(host, port) as listening, connect_to(home) as graph:
        server = make_server(graph, write=write, folders=folders or (), most=max_chars)
        note(f"The MCP server is at {address_of(listening)}/mcp (Ctrl-C ends it).")
        serve_http(server, listening, token, is_local=is_loopback(host))
