"""Messages that are not JSON-RPC: each gets the error that the specification asks for.

The package ``mcp`` drops such a line of standard input without a word, and takes a request whose id is null or a
fraction for a notification; over HTTP it calls all of them invalid parameters.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from io import TextIOWrapper

import anyio
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import from_json
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgplatform.interfaces.web_server import Json


def error_of(text: str | bytes) -> JSONRPCError | None:
    """What is wrong with a message; None if nothing is.

    >>> error_of('{"jsonrpc": "2.0", "id": null, "method": "ping"}').error.code
    -32600
    """
    try:
        given = from_json(text)
    except ValueError as error:
        return _error(None, PARSE_ERROR, f"The message is not JSON: {error}.")
    if not isinstance(given, dict):
        return _error(None, INVALID_REQUEST, "A message must be one JSON object.")
    id_ = given.get("id")
    if "id" in given and (not isinstance(id_, int | str) or isinstance(id_, bool)):
        return _error(None, INVALID_REQUEST, "The id of a message must be a text or a whole number.")
    try:
        jsonrpc_message_adapter.validate_python(given, by_name=False)
    except ValidationError:
        if isinstance(given.get("params"), list):
            return _error(id_, INVALID_PARAMS, "Parameters are given by name: params must be an object.")
        wanted = 'A request needs "jsonrpc": "2.0", a method and an id, and params, if any, that are an object.'
        return _error(id_, INVALID_REQUEST, wanted)
    return None


def _error(id_: int | str | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=id_, error=ErrorData(code=code, message=message))


async def well_formed_lines(refuse: Callable[[JSONRPCError], Awaitable[None]]) -> AsyncIterator[str]:
    """The messages of standard input, of which nothing else in this process can read any more."""
    taken, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # Never closed: a thread may still wait for a line when the loop has ended.
    reading = TextIOWrapper(os.fdopen(taken, "rb", closefd=False), encoding="utf-8", errors="replace")
    async for line in anyio.wrap_file(reading):
        if not line.strip():
            continue
        if (error := error_of(line)) is None:
            yield line
        else:
            await refuse(error)


class WellFormed:
    """Middleware: a malformed message that ``app`` accepts, or refuses as a request that is wrong, is refused as what
    it is. Who may ask, and how much, ``app`` decides before. ``most``: bytes of a message."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body, is_refused = b"", False

        async def heard() -> Message:
            nonlocal body
            message = await receive()
            if len(body) <= self._most:
                body += message.get("body", b"")
            return message

        async def answered(message: Message) -> None:
            nonlocal is_refused
            is_judged = message["type"] == "http.response.start" and message["status"] in (202, 400)
            if is_judged and (error := error_of(body)):
                is_refused = True
                await Json(error.model_dump(mode="json", exclude_unset=True), 400)(scope, receive, send)
            if not is_refused:
                await send(message)

        await self._app(scope, heard, answered)
