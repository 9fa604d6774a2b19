"""Coroutines, whatever loop the thread of the tests already has: Playwright leaves one running in it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_in_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """What ``work`` returns, in a thread and an event loop of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
