"""Coroutines, whatever loop the thread of the tests already has: Playwright leaves one running in it."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_in_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """What ``work`` returns, in a thread and an event loop of its own."""
    return in_own_thread(lambda: asyncio.run(work))


def in_own_thread(work: Callable[[], T]) -> T:
    """What ``work``, which runs a loop itself, returns."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()
