"""Several pieces of work at the same time, each in a thread that runs in a copy of the context."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def side_by_side(works: Sequence[Callable[[], T]], most: int) -> list[T]:
    """The results of ``works`` in order, at most ``most`` of them made at once.

    The first error is raised: nothing new begins then, and what is under way is waited for, since it may be paid for.
    """
    pool = ThreadPoolExecutor(min(most, max(1, len(works))))
    futures = [pool.submit(contextvars.copy_context().run, work) for work in works]
    try:
        results = [future.result() for future in futures]
    except BaseException as error:
        # Ctrl-C does not wait for a model that may never answer.
        pool.shutdown(wait=not isinstance(error, KeyboardInterrupt), cancel_futures=True)
        raise
    pool.shutdown()
    return results
