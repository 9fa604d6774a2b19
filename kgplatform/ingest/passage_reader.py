"""Reading several passages at once; what comes of it comes in reading order.

``PassageReader`` reads in threads of this process. ``SharedReader`` hands shares of the passages to workers: here stand
what these are sent, what they send back, and how that is put together.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count, groupby
from typing import Generic, TypeVar

from kgplatform.concurrency.stopping import NEVER, Stop
from kgplatform.concurrency.threads import Breaker
from kgplatform.concurrency.workers import Workers
from kgplatform.errors import BudgetError, InputError, ModelError, ReplyError
from kgplatform.extract import Extractor, make_extractor
from kgplatform.extract.bound import Mode
from kgplatform.extract.schema import Schema
from kgplatform.ingest.read_passage import Reading, ReadPassage
from kgplatform.models.chat import Ledger
from kgplatform.models.openai_chat import make_chat
from kgplatform.records import Document, Passage, Usage
from kgplatform.settings import Settings

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


Outcome = ReadPassage | FailedPassage


@dataclass(frozen=True, slots=True)
class Share:
    """What a worker is sent. ``how``: a pickled ``_How``, the same for all shares of an ingest.

    ``budget``: the tokens that it may spend; None for any number.
    """

    how: bytes
    schema: Schema
    documents: tuple[tuple[Document, tuple[Passage, ...]], ...]
    budget: int | None


@dataclass(frozen=True, slots=True)
class ShareRead:
    """What a worker sends back: outcomes in order, as far as it came, what it spent by stage, and why it stopped.

    ``worth``: what it would have spent without a cache.
    """

    outcomes: list[Outcome]
    spent: dict[str, Usage]
    worth: dict[str, Usage]
    stopped: str


@dataclass(frozen=True, slots=True)
class _How:
    settings: Settings
    extractor: str | Extractor
    seed: Schema
    mode: Mode


def read_share(share: Share) -> ShareRead:
    """In a worker: read the passages of ``share``, several at once if a model reads them."""
    reading, settings, ledger = _reading(share.how)
    before, worth_before = ledger.by_stage(), ledger.worth_by_stage()
    spent = ledger.total.input_tokens + ledger.total.output_tokens
    ledger.budget = None if share.budget is None else spent + share.budget
    threads = settings.calls_at_once if reading.extractor.name == "llm" else None
    reader: PassageReader[ReadPassage] = PassageReader(threads, lambda number: None, NEVER)
    items = [(passage, document) for document, passages in share.documents for passage in passages]
    with reader:
        outcomes = [outcome for _, outcome in reader.read(items, partial(reading.read, schema=share.schema))]
    return ShareRead(
        outcomes, _less(ledger.by_stage(), before), _less(ledger.worth_by_stage(), worth_before), reader.stopped
    )


@lru_cache(maxsize=4)
def _reading(how: bytes) -> tuple[Reading, Settings, Ledger]:
    """Made once in a worker: a model's connections and the rules' word lists take a while."""
    made: _How = pickle.loads(how)
    ledger = Ledger()
    chat = make_chat(made.settings, ledger) if made.extractor == "llm" else None
    return Reading(make_extractor(made.extractor, None, chat), made.seed, made.mode), made.settings, ledger


def _less(now: dict[str, Usage], before: dict[str, Usage]) -> dict[str, Usage]:
    return {stage: usage - before.get(stage, Usage()) for stage, usage in now.items()}


class SharedReader:
    """Reads windows of passages by ``workers``. ``failed`` and ``stopped`` are as those of a ``PassageReader``."""

    def __init__(
        self,
        workers: Workers,
        parts: int,
        reading: Reading,
        settings: Settings,
        ledger: Ledger,
        advance: Callable[[int], None],
        stop: Stop,
    ) -> None:
        self.failed: list[FailedPassage] = []
        self.stopped = ""
        self._workers, self._parts = workers, parts
        self._ledger, self._advance, self._stop = ledger, advance, stop
        self._numbers = count(1)
        named = reading.extractor.name
        by = named if named in ("llm", "local") else reading.extractor
        try:
            self._how = pickle.dumps(_How(settings, by, reading.seed, reading.mode), pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InputError(
                f"The extractor {named} cannot be sent to workers ({error}). Ingest without workers, or define it in a "
                "module of its own, without open files or connections."
            ) from error

    def begin(self, window: Sequence[Item], schema: Schema) -> Iterator[tuple[Item, Outcome]]:
        """Send ``window`` off, in ``parts``; gives what comes of it, in order, when it is there."""
        size = -(-len(window) // self._parts)
        shares = [window[at : at + size] for at in range(0, len(window), size)] if window else []
        budget = self._left(len(shares))
        sent = [(share, self._workers.submit(read_share, self._share(share, schema, budget))) for share in shares]
        return self._outcomes(sent)

    def _share(self, items: Sequence[Item], schema: Schema, budget: int | None) -> Share:
        groups = [list(group) for _, group in groupby(items, lambda each: each[1].id)]
        documents = tuple((group[0][1], tuple(passage for passage, _ in group)) for group in groups)
        return Share(self._how, schema, documents, budget)

    def _left(self, shares: int) -> int | None:
        """Of the budget, for each of ``shares``."""
        if self._ledger.budget is None:
            return None
        total = self._ledger.total
        return max(0, self._ledger.budget - total.input_tokens - total.output_tokens) // max(1, shares)

    def _outcomes(self, sent: Sequence[tuple[Sequence[Item], Future[ShareRead]]]) -> Iterator[tuple[Item, Outcome]]:
        for share, future in sent:
            read = self._stop.result_of(future)
            for stage, usage in read.spent.items():
                self._ledger.add(stage, usage, read.worth[stage])
            self.stopped = self.stopped or read.stopped
            by_id = {item[0].id: item for item in share}
            for outcome in read.outcomes:
                if isinstance(outcome, FailedPassage):
                    self.failed.append(outcome)
                yield by_id[outcome.passage], outcome
                self._advance(next(self._numbers))
