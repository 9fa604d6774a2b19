"""Several pieces of work at the same time.

Short work is better done by few threads, also where many ask for it: a thread takes longer to begin than a small graph
to answer, and all of them wait for the one that holds the interpreter. So a store has one pool for all its searches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def side_by_side(works: Sequence[Callable[[], T]], most: int) -> list[T]:
    """The results of ``works`` in order, at most ``most`` of them made at once.

    The first error is raised: nothing new begins then, and what is under way is waited for, since it may be paid for.
    """
    with pool_of(max(1, min(most, len(works)))) as pool:
        futures = [pool.submit(work) for work in works]
        return [future.result() for future in futures]


@contextmanager
def pool_of(threads: int) -> Iterator[ThreadPoolExecutor]:
    """A pool whose work is waited for at its end; after an error nothing new begins in it.

    Ctrl-C does not wait: what is under way may wait itself for a model that never answers.
    """
    pool = ThreadPoolExecutor(threads)
    try:
        yield pool
    except BaseException as error:  # whatever it is, nothing new begins, and it goes on
        pool.shutdown(wait=not isinstance(error, KeyboardInterrupt), cancel_futures=True)
        raise
    pool.shutdown()


def short_works(works: Sequence[Callable[[], T]], pool: ThreadPoolExecutor) -> list[T]:
    """The results of ``works`` in order, made in this thread and in those of ``pool``, which many may share.

    What no other thread has begun by then is done here: nothing waits for a thread, also where works have works of
    their own. The first error is raised when all that has begun is over.
    """
    futures = [pool.submit(work) for work in works[1:]]
    try:
        results = [work() for work in works[:1]]
        for work, future in zip(works[1:], futures, strict=True):
            results.append(work() if future.cancel() else future.result())
        return results
    finally:
        begun = [future for future in futures if not future.cancel()]
        wait(begun)
