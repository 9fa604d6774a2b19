"""Chunks are read, several at once, and what comes of it is committed in reading order: for every pass over chunks."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Generic, TypeVar

from kgplatform.build.report import FailedChunk
from kgplatform.build.rows import Rows
from kgplatform.build.write import Writer, extraction_statements, fact_consequences, fact_removals
from kgplatform.errors import BudgetError, InputError, ModelError, StoppedError
from kgplatform.records import Chunk, Document
from kgplatform.stopping import check_stopped
from kgplatform.store import Row

T = TypeVar("T")
Item = tuple[Chunk, Document]

WINDOW = 64
"""Chunks that are read at once and see the same schema. What they propose counts from the next window on, so that the
graph does not depend on which of them was read first. An extractor that reads one chunk at a time needs none."""

_COMMIT_ROWS = 4000
_COMMIT_SECONDS = 2.0


class Batch:
    """What was read since the last commit. ``writer`` gets it as one transaction, with the word that it is done.

    A context manager: what is left is handed over at its end, also where the work is stopped.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._clear()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, StoppedError):
            self.flush()

    def put(self, state: Row, rows: Rows | None = None, *, replaces_facts: bool = False) -> None:
        """Add a chunk: the properties that it gets, and what it says; commit if that is due.

        ``replaces_facts``: the chunk's atomic facts are taken away first, in the same transaction.
        """
        self._states.append(state)
        if rows is not None:
            self._rows.add(rows)
        if replaces_facts:
            self._replaced.append(state["id"])
        size = len(self._rows.mentions) + len(self._rows.triples)
        if size >= _COMMIT_ROWS or time.monotonic() - self._committed > _COMMIT_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Hand over what is there."""
        if self._states:
            statements = extraction_statements(self._rows, self._states)
            self._writer.put(fact_removals(self._replaced) + statements + fact_consequences(self._replaced, self._rows))
        self._clear()

    def _clear(self) -> None:
        self._rows, self._states = Rows(), list[Row]()
        self._replaced = list[str]()
        self._committed = time.monotonic()


class ChunkReader(Generic[T]):
    """Does a piece of work for each chunk, ``workers`` at once, or one by one on this thread if that is None.

    ``failed`` are those that it could not be done for; ``stopped`` says why no more are read, if so.
    """

    def __init__(self, workers: int | None, advance: Callable[[], None]) -> None:
        self.failed: list[FailedChunk] = []
        self.stopped = ""
        self._pool = ThreadPoolExecutor(workers) if workers is not None else None
        self._halt = threading.Event()
        self._advance = advance

    def __enter__(self) -> ChunkReader[T]:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._halt.set()
        if self._pool is not None:
            # Ctrl-C does not wait for a model that may never answer.
            self._pool.shutdown(wait=kind is not KeyboardInterrupt, cancel_futures=True)

    def read(
        self, window: Sequence[Item], work: Callable[[Chunk, Document], T]
    ) -> Iterator[tuple[Item, T | FailedChunk]]:
        """Each chunk of ``window``, in order, with what came of it or that it failed, which ``failed`` collects.

        Chunks that were not reached before the budget was used up are left out.
        """
        for item, result in self._results(window, work):
            outcome: T | FailedChunk
            try:
                outcome = result()
            except BudgetError as error:
                self.stopped = self.stopped or str(error)
                self._halt.set()
                continue
            except (ModelError, InputError) as error:  # the model cannot, or the recording does not say
                outcome = FailedChunk(item[0].id, item[0].name, str(error))
                self.failed.append(outcome)
            yield item, outcome
            self._advance()

    def _results(
        self, window: Sequence[Item], work: Callable[[Chunk, Document], T]
    ) -> Iterator[tuple[Item, Callable[[], T]]]:
        if self._pool is None:
            for item in window:
                check_stopped()
                yield item, partial(work, *item)
            return
        works = [partial(self._unless_halted, work, *item) for item in window]
        futures: list[Future[T]] = [self._pool.submit(contextvars.copy_context().run, each) for each in works]
        for item, future in zip(window, futures, strict=True):
            yield item, future.result

    def _unless_halted(self, work: Callable[[Chunk, Document], T], chunk: Chunk, document: Document) -> T:
        if self._halt.is_set():
            raise BudgetError("The run is stopping.")
        check_stopped()
        return work(chunk, document)


class Counted:
    """Calls ``progress`` with how many of ``total`` are done."""

    def __init__(self, progress: Callable[[str, int, int], None], stage: str, total: int) -> None:
        self._progress, self._stage, self._total = progress, stage, total
        self._done = 0

    def __call__(self) -> None:
        self._done += 1
        self._progress(self._stage, self._done, self._total)
