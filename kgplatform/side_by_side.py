"""Several pieces of work at the same time, each in a thread that runs in a copy of the context."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def side_by_side(works: Sequence[Callable[[], T]], most: int) -> list[T]:
    """The results of ``works`` in order, at most ``most`` of them made at once.

    The first error is raised: nothing new begins then, and what is under way is waited for, since it may be paid for.
    """
    with pool_of(min(most, max(1, len(works)))) as pool:
        futures = [pool.submit(contextvars.copy_context().run, work) for work in works]
        return [future.result() for future in futures]


@contextmanager
def pool_of(threads: int) -> Iterator[ThreadPoolExecutor]:
    """A pool whose work is waited for at its end; after an error nothing new begins in it.

    Ctrl-C does not wait: what is under way may wait itself for a model that never answers.
    """
    pool = ThreadPoolExecutor(threads)
    try:
        yield pool
    except BaseException as error:
        pool.shutdown(wait=not isinstance(error, KeyboardInterrupt), cancel_futures=True)
        raise
    pool.shutdown()
