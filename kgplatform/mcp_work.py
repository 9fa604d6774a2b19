"""Work of the MCP server's tools: in a thread, stopped where the client cancels it, its faults as one sentence."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent

from kgplatform.build.settle import Progress
from kgplatform.errors import KgError
from kgplatform.mcp_bounds import bounded
from kgplatform.records import Step
from kgplatform.stopping import Stop, result_of, stoppable

T = TypeVar("T")

_DETAIL = 200


async def in_thread(work: Callable[[], T]) -> T:
    """What ``work`` returns. It ends within a second where the client cancels the request. Raises ``ToolError``."""
    stop = Stop()

    def until_stopped() -> T:
        with stoppable(stop):
            return work()

    try:
        return await anyio.to_thread.run_sync(until_stopped, abandon_on_cancel=True)
    except KgError as error:
        raise ToolError(" ".join(str(error).split())) from error
    finally:
        stop.set()


def as_result(result: dict[str, Any], most: int, how: str = "") -> CallToolResult:
    """``result`` in at most ``most`` characters, as an object and as the same in text, which older clients read."""
    content = bounded(result, most, how)
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=content)


def tell_steps(context: Context[Any, Any]) -> Callable[[Step], None]:
    """What tells the client each step of a reader, from the thread in which it happens."""
    tell = _teller(context)
    return lambda step: tell(f"{step.name}: {step.detail[:_DETAIL]}")


def tell_progress(context: Context[Any, Any]) -> Progress:
    """What tells the client how far a stage of the building of the graph is."""
    tell = _teller(context)
    return lambda stage, done, total: tell(f"{stage}: {done:,} of {total:,}")


def _teller(context: Context[Any, Any]) -> Callable[[str], None]:
    """What tells the client, from any thread, what happens; the number only grows, as MCP wants it."""
    loop = asyncio.get_running_loop()
    numbers = itertools.count(1)

    def tell(message: str) -> None:
        # Not ``anyio.from_thread``, which knows the threads that it started, and readers start others.
        told = context.report_progress(next(numbers), None, message)
        result_of(asyncio.run_coroutine_threadsafe(told, loop))

    return tell
