"""Extracting all that passages say: several are read at once, and what comes of it is committed in reading order.

It resumes where it was stopped. A passage that failed says why, and is tried again by the next ingest.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count, groupby, islice
from typing import Generic, TypeVar

from kgplatform.errors import BudgetError, InputError, ModelError, StoppedError
from kgplatform.ingest.bound import Mode
from kgplatform.ingest.extract import Extractor
from kgplatform.ingest.fill_in import fill_in
from kgplatform.ingest.growth import Growth
from kgplatform.ingest.plan import Plan
from kgplatform.ingest.read_passage import Reading, ReadPassage
from kgplatform.ingest.schema import Expansion, Schema
from kgplatform.ingest.write import Rows, Writer, extraction_statements
from kgplatform.models.chat import Chat, Ledger
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import Document, Passage, Progress, Proposal
from kgplatform.settings import Settings
from kgplatform.work.stopping import Stop
from kgplatform.work.threads import Breaker

T = TypeVar("T")
Item = tuple[Passage, Document]

WINDOW = 64
"""Passages that are read at once and see the same schema. What they propose counts from the next window on, so that the
graph does not depend on which of them was read first. An extractor that reads one passage at a time needs none."""

_DONE_AT_ONCE = 1000
_COMMIT_ROWS = 4000
_COMMIT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Tools:
    """What an ingest works with."""

    store: Store
    embedder: Embedder
    extractor: Extractor
    schema: Schema
    mode: Mode
    settings: Settings
    ledger: Ledger
    progress: Progress
    facts_from: Chat | None = None
    """The model that reads atomic facts from passages that lack them; None if they stay without."""


@dataclass(frozen=True, slots=True)
class FailedPassage:
    """A passage that nothing could be extracted from; the next ingest of its document tries again."""

    passage: str
    name: str
    reason: str


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
        """Add a passage: the properties that it gets, and what it says; commit if that is due.

        ``replaces_facts``: the passage's atomic facts are taken away first, in the same transaction.
        """
        self._states.append(state)
        if rows is not None:
            self._rows.add(rows)
        if replaces_facts:
            self._replaced.append(state["id"])
        if self._rows.size >= _COMMIT_ROWS or time.monotonic() - self._committed > _COMMIT_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Hand over what is there."""
        if self._states:
            self._writer.put(extraction_statements(self._rows, self._states, self._replaced))
        self._clear()

    def _clear(self) -> None:
        self._rows, self._states = Rows(), list[Row]()
        self._replaced = list[str]()
        self._committed = time.monotonic()


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
                self._breaker.worked()
            except BudgetError as error:
                self.stopped = self.stopped or str(error)
                self._halt.set()
                continue
            except (ModelError, InputError) as error:  # the model cannot, or the recording does not say
                outcome = FailedPassage(item[0].id, item[0].name, str(error))
                self.failed.append(outcome)
                self._break_off(error)
            yield item, outcome
            self._advance(next(self._numbers))

    def _break_off(self, error: Exception) -> None:
        """Read no more after too many failures of the model in a row."""
        if isinstance(error, ModelError):
            self._breaker.failed(error)
        if self._breaker.broke:
            self.stopped = self.stopped or self._breaker.broke
            self._halt.set()

    def _results(
        self, window: Sequence[Item], work: Callable[[Passage, Document], T]
    ) -> Iterator[tuple[Item, Callable[[], T]]]:
        if self._pool is None:
            for item in window:
                self._stop.check()
                yield item, partial(work, *item)
            return
        works = [partial(self._unless_halted, work, *item) for item in window]
        futures: list[Future[T]] = [self._pool.submit(task) for task in works]
        for item, future in zip(window, futures, strict=True):
            yield item, future.result

    def _unless_halted(self, work: Callable[[Passage, Document], T], passage: Passage, document: Document) -> T:
        if self._halt.is_set():
            raise BudgetError("The run is stopping.")
        self._stop.check()
        return work(passage, document)


@dataclass(frozen=True, slots=True)
class PassagesRead:
    """What a pass did: how many passages it read, all types that the schema has grown by, why it stopped early."""

    read: int
    failed: list[FailedPassage]
    expansions: list[Expansion]
    stopped: str


def extract_passages(tools: Tools, plan: Plan) -> PassagesRead:
    """Extract from the passages of ``plan`` that are not done, window by window; a window's proposals widen the schema
    of the next.
    """
    reading = Reading(tools.extractor, tools.schema, tools.mode)
    growth, has_more = _grown_by_others(tools, plan)
    schema, read = tools.schema.with_expansions(growth.expansions()), 0
    waits_on_network = tools.extractor.name == "llm"
    reader: PassageReader[ReadPassage] = PassageReader(
        tools.settings.concurrency if waits_on_network else None,
        lambda number: tools.progress("extracting", number, plan.pending),
        tools.store.stop,
    )
    with reader, Writer(tools.store) as writer, Batch(writer) as batch:
        for window in _windows(plan, WINDOW if waits_on_network else 1):
            pending = [(passage, document) for passage, document in window if isinstance(passage, Passage)]
            found = _read_window(reader, batch, pending, partial(reading.read, schema=schema))
            read += len(found)
            if has_more:
                found += _proposals_of(tools.store, [passage for passage, _ in window if isinstance(passage, str)])
            if more := [each for each in found if each[2]]:
                for each in more:
                    growth.add(*each)
                schema = tools.schema.with_expansions(growth.expansions())
            if reader.stopped:
                break
    if tools.mode == "strict" and not (reader.stopped or reader.failed):
        fill_in(tools.store, tools.schema, schema)
    return PassagesRead(read, reader.failed, growth.expansions(), reader.stopped)


Window = Sequence[tuple[Passage | str, Document]]
"""Passages that see the same schema; of those that are done, the id."""


def _windows(plan: Plan, size: int) -> Iterator[Window]:
    """Windows of ``size`` passages in reading order; if that is 1, what is done comes many at once."""
    passages = ((passage, planned.document) for planned in plan for passage in planned.passages)
    if size > 1:
        while window := list(islice(passages, size)):
            yield window
        return
    for is_done, run in groupby(passages, key=lambda each: isinstance(each[0], str)):
        while window := list(islice(run, _DONE_AT_ONCE if is_done else 1)):
            yield window


Proposed = tuple[str, str, Sequence[Proposal]]
"""Passage id, document id, and what the passage proposed."""


def _read_window(
    reader: PassageReader[ReadPassage],
    batch: Batch,
    pending: Sequence[Item],
    work: Callable[[Passage, Document], ReadPassage],
) -> list[Proposed]:
    """Read the passages of a window; for each that could be read, what it proposes."""
    found: list[Proposed] = []
    for (passage, document), outcome in reader.read(pending, work):
        if isinstance(outcome, FailedPassage):
            batch.put({"id": passage.id, "state": {"state": "failed", "failure": outcome.reason}})
        else:
            batch.put(outcome.state, outcome.rows)
            found.append((passage.id, document.id, outcome.proposals))
    return found


def new_growth(tools: Tools) -> Growth:
    """How the schema grows, before anything is proposed."""
    return Growth(tools.schema, tools.settings.expansion_threshold, tools.settings.expansion_support)


def add_known(growth: Growth, store: Store, without: Collection[str] = ()) -> bool:
    """Add what the graph's passages have proposed, but for those of the documents ``without``; says whether any of
    those proposed something.
    """
    are_left_out = False
    for row in store.read("ingest/proposals"):
        if row["document"] in without:
            are_left_out = True
        else:
            growth.add(*_proposed(row))
    return are_left_out


def _grown_by_others(tools: Tools, plan: Plan) -> tuple[Growth, bool]:
    """What passages of other documents have proposed, and whether some of ``plan``'s have: those count at their place,
    so that it does not matter whether a passage is read now or was before.
    """
    growth = new_growth(tools)
    if not tools.store.read("ingest/has_proposals")[0]["found"]:
        return growth, False
    return growth, add_known(growth, tools.store, set(plan.document_ids))


def _proposals_of(store: Store, passages: Sequence[str]) -> list[Proposed]:
    return [_proposed(row) for row in store.read("ingest/proposals_of", passages=passages)] if passages else []


def _proposed(row: Row) -> Proposed:
    return row["passage"], row["document"], [Proposal(**each) for each in json.loads(row["proposals"])]
