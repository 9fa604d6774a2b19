"""Several pieces of work at the same time, each in a thread that runs in a copy of the context.

Short work is better done by few threads, also where many ask for it: a thread takes longer to begin than a small graph
to answer, and all of them wait for the one that holds the interpreter. So who serves many lends one pool to all.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

_lent: contextvars.ContextVar[ThreadPoolExecutor | None] = contextvars.ContextVar("lent", default=None)


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


@contextmanager
def lending(pool: ThreadPoolExecutor) -> Iterator[None]:
    """What is done inside of it, in this context and in copies of it, shares ``pool`` for its ``short_works``."""
    token = _lent.set(pool)
    try:
        yield
    finally:
        _lent.reset(token)


def short_works(works: Sequence[Callable[[], T]]) -> list[T]:
    """The results of ``works`` in order, made in this thread and in those that are lent, or in as many of its own.

    What no other thread has begun by then is done here: nothing waits for a thread, also where works have works of
    their own. The first error is raised when all that has begun is over.
    """
    if (pool := _lent.get()) is not None:
        return _shared(works, pool)
    with ThreadPoolExecutor(max(1, len(works) - 1)) as own:
        return _shared(works, own)


def _shared(works: Sequence[Callable[[], T]], pool: ThreadPoolExecutor) -> list[T]:
    futures = [pool.submit(contextvars.copy_context().run, work) for work in works[1:]]
    try:
        results = [work() for work in works[:1]]
        for work, future in zip(works[1:], futures, strict=True):
            results.append(work() if future.cancel() else future.result())
        return results
    finally:
        begun = [future for future in futures if not future.cancel()]
        wait(begun)
