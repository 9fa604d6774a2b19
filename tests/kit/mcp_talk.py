"""The official MCP client, against servers that are real processes or stand in this one."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from event_loops import run_in_own_loop
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

T = TypeVar("T")
COMMAND = ("-m", "kgplatform.interfaces.cli.main", "mcp")
OURS = ("NEO4J_", "OPENAI_", "KGPLATFORM_")


def talk(to: Any, work: Callable[[Client], Awaitable[T]]) -> T:
    """What ``work`` returns, in a thread and an event loop of its own: other tests keep one in theirs."""

    async def connected() -> T:
        async with Client(to) as client:
            return await work(client)

    return run_in_own_loop(connected())


def process(log: Path, *options: str) -> Any:
    """`kgplatform mcp` with ``options`` over standard input and output; what it says beside it goes to ``log``."""
    ours = {name: value for name, value in os.environ.items() if name.startswith(OURS)}
    started = StdioServerParameters(command=sys.executable, args=[*COMMAND, *options], env=ours)
    return stdio_client(started, errlog=log.open("a"))


def with_token(address: str, token: str) -> Any:
    """The server at ``address``, which asks for ``token``."""
    sent = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False)
    return streamable_http_client(address, http_client=sent)


@contextmanager
def served(log: Path, *options: str) -> Iterator[str]:
    """The address of `kgplatform mcp --http` with ``options``, which Ctrl-C ends."""
    with log.open("w") as errors:
        command = [sys.executable, *COMMAND, "--http", "--port", "0", *options]
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert started.stderr is not None
        try:
            for line in started.stderr:
                errors.write(line)
                if found := re.search(r"http://\S+/mcp", line):
                    yield found[0]
                    break
            else:
                raise AssertionError("the server said no address")
        finally:
            started.send_signal(signal.SIGINT)
            out, rest = started.communicate()
            errors.write(rest)
            assert out == "", "standard output is no place for words"


def content(result: CallToolResult) -> dict[str, Any]:
    """The object that a tool gave back, which its text says too."""
    assert not result.is_error, result.content
    (said,) = result.content
    assert isinstance(said, TextContent)
    assert json.loads(said.text) == result.structured_content
    return dict(result.structured_content or {})


def fault(result: CallToolResult) -> str:
    """The sentence of a tool that failed."""
    assert result.is_error
    (said,) = result.content
    assert isinstance(said, TextContent)
    assert "\n" not in said.text
    assert "Traceback" not in said.text
    return said.text
