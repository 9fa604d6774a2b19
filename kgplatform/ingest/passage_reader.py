"""Reading several passages at once, in threads of this process; what comes of it comes in reading order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Generic, TypeVar

from kgplatform.errors import BudgetError, InputError, ModelError, ReplyError
from kgplatform.records import Document, Passage
from kgplatform.work.stopping import Stop
from kgplatform.work.threads import Breaker

T = TypeVar("T")
Item = tuple[Passage, Document]


@dataclass(frozen=True, slots=True)
class FailedPassage:
    """A passage that nothing could be extracted from; the next ingest of its document tries again, unless the reply was
    of no use and would be again (``is_final``)."""

    passage: str
    name: str
    reason: str
    is_final: bool = False


class PassageReader(Generic[T]):
    """Does a piece of work for each passage, ``workers`` at once, or one by one on this thread if that is None.

    ``failed`` are those that it could not be done for; ``stopped`` says why no more are read, if so. ``stop`` ends it
    between two passages. ``advance`` is called with the number of passages that are done.
    """

    def __init__(self, workers: int | None, advance: Callable[[int], None], stop: Stop) -> None:
        self.failed: list[FailedPassage] = []
        self.stopped = ""
        self._pool = ThreadPoolExecutor(workers) if workers is not None else None
        self._halt = threading.Event()
        self._advance = advance
        self._numbers = count(1)
        self._breaker = Breaker("passages", "read")
        self._stop = stop

    def __enter__(self) -> PassageReader[T]:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._halt.set()
        if self._pool is not None:
            # Ctrl-C does not wait for a model that may never answer.
            self._pool.shutdown(wait=kind is not KeyboardInterrupt, cancel_futures=True)

    def read(
        self, window: Sequence[Item], work: Callable[[Passage, Document], T]
    ) -> Iterator[tuple[Item, T | FailedPassage]]:
        """Each passage of ``window``, in order, with what came of it or that it failed, which ``failed`` collects.

        Passages that were not reached before the budget was used up are left out.
        """
        for item, result in self._results(window, work):
            outcome: T | FailedPassage
            try:
                outcome = result()
            except BudgetError as error:
                self.stopped = self.stopped or str(error)
                self._halt.set()
                continue
            except (ModelError, InputError) as error:  # the model cannot, or the recording does not say
                outcome = FailedPassage(item[0].id, item[0].name, str(error), isinstance(error, ReplyError))
                self.failed.append(outcome)
                self.stopped = self.stopped or self._breaker.broke
            yield item, outcome
            self._advance(next(self._numbers))

    def _results(
        self, window: Sequence[Item], work: Callable[[Passage, Document], T]
    ) -> Iterator[tuple[Item, Callable[[], T]]]:
        works = [partial(self._unless_halted, work, *item) for item in window]
        if self._pool is None:
            yield from zip(window, works, strict=True)
            return
        futures: list[Future[T]] = [self._pool.submit(task) for task in works]
        for item, future in zip(window, futures, strict=True):
            yield item, future.result

    def _unless_halted(self, work: Callable[[Passage, Document], T], passage: Passage, document: Document) -> T:
        if self._halt.is_set():
            raise BudgetError("The run is stopping.")
        self._stop.check()
        try:
            result = work(passage, document)
        except ModelError as error:
            self._breaker.failed(error)  # here, and not where the outcome is taken, which may be many calls behind
            if self._breaker.broke:
                self._halt.set()
            raise
        self._breaker.worked()
        return result
