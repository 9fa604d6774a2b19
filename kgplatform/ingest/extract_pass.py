"""Passes over passages: several are read at once, and what comes of it is committed in reading order.

The pass of ``ingest --facts`` reads atomic facts, by GraphReader's own prompt, from passages without any by a model.
A passage remembers in ``factsBy`` who wrote its atomic facts. The pass reads those where that is nobody, or the local
extractor, whose facts it replaces in the transaction that writes the new ones and the mark. So it goes on where it was
stopped; a passage that failed keeps its old facts, says why in ``factsFailure``, and is tried again by the next pass.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from kgplatform.errors import BudgetError, InputError, ModelError, StoppedError
from kgplatform.ingest.extract.atomic_facts import FactLines, read_facts
from kgplatform.ingest.rows import Rows, fact_rows
from kgplatform.ingest.write import Writer, extraction_statements, fact_consequences, fact_removals
from kgplatform.models.chat import Chat
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import Document, Malformed, Passage, Progress
from kgplatform.settings import Settings
from kgplatform.work.stopping import Stop

T = TypeVar("T")
Item = tuple[Passage, Document]

WINDOW = 64
"""Passages that are read at once and see the same schema. What they propose counts from the next window on, so that the
graph does not depend on which of them was read first. An extractor that reads one passage at a time needs none."""

_COMMIT_ROWS = 4000
_COMMIT_SECONDS = 2.0


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
            statements = extraction_statements(self._rows, self._states)
            self._writer.put(fact_removals(self._replaced) + statements + fact_consequences(self._replaced, self._rows))
        self._clear()

    def _clear(self) -> None:
        self._rows, self._states = Rows(), list[Row]()
        self._replaced = list[str]()
        self._committed = time.monotonic()


class PassageReader(Generic[T]):
    """Does a piece of work for each passage, ``workers`` at once, or one by one on this thread if that is None.

    ``failed`` are those that it could not be done for; ``stopped`` says why no more are read, if so. ``stop`` ends it
    between two passages.
    """

    def __init__(self, workers: int | None, advance: Callable[[], None], stop: Stop) -> None:
        self.failed: list[FailedPassage] = []
        self.stopped = ""
        self._pool = ThreadPoolExecutor(workers) if workers is not None else None
        self._halt = threading.Event()
        self._advance = advance
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
                outcome = FailedPassage(item[0].id, item[0].name, str(error))
                self.failed.append(outcome)
            yield item, outcome
            self._advance()

    def _results(
        self, window: Sequence[Item], work: Callable[[Passage, Document], T]
    ) -> Iterator[tuple[Item, Callable[[], T]]]:
        if self._pool is None:
            for item in window:
                self._stop.check()
                yield item, partial(work, *item)
            return
        works = [partial(self._unless_halted, work, *item) for item in window]
        futures: list[Future[T]] = [self._pool.submit(each) for each in works]
        for item, future in zip(window, futures, strict=True):
            yield item, future.result

    def _unless_halted(self, work: Callable[[Passage, Document], T], passage: Passage, document: Document) -> T:
        if self._halt.is_set():
            raise BudgetError("The run is stopping.")
        self._stop.check()
        return work(passage, document)


class Counted:
    """Calls ``progress`` with how many of ``total`` are done."""

    def __init__(self, progress: Callable[[str, int, int], None], stage: str, total: int) -> None:
        self._progress, self._stage, self._total = progress, stage, total
        self._done = 0

    def __call__(self) -> None:
        self._done += 1
        self._progress(self._stage, self._done, self._total)


# --------------------------------------------------------------------------------------------------------- atomic facts


BY_PASS = "graphreader"


@dataclass(slots=True)
class FactsRead:
    """What a pass did. ``lacking``: passages that it had to read; ``read``: those that it did; ``facts``: in those."""

    lacking: int = 0
    read: int = 0
    facts: int = 0
    malformed: Counter[str] = field(default_factory=Counter)
    failed: list[FailedPassage] = field(default_factory=list)
    stopped: str = ""


def passages_without_facts(store: Store, documents: set[str] | None) -> list[Row]:
    """``id``, ``document`` and ``tokens`` of the passages to read, of ``documents`` alone unless that is None."""
    rows = store.read("ingest/passages_without_facts")
    return [row for row in rows if documents is None or row["document"] in documents]


def read_facts_of_passages(
    store: Store, chat: Chat, settings: Settings, progress: Progress, documents: set[str] | None
) -> FactsRead:
    """Read the passages that lack facts, ``settings.concurrency`` at once, and commit as they come."""
    lacking = [row["id"] for row in passages_without_facts(store, documents)]
    found = FactsRead(lacking=len(lacking))
    advance = Counted(progress, "reading facts", len(lacking))
    reader: PassageReader[FactLines] = PassageReader(settings.concurrency, advance, store.stop)
    work = partial(read_facts, chat, most_tokens=settings.facts_tokens)
    with reader, Writer(store) as writer, Batch(writer) as batch:
        for start in range(0, len(lacking), WINDOW):
            texts = store.read("ingest/passage_texts", ids=lacking[start : start + WINDOW])
            known = {row["passage"]["id"]: row for row in texts}
            for (passage, document), outcome in reader.read([_item(row) for row in known.values()], work):
                if isinstance(outcome, FailedPassage):
                    batch.put({"id": passage.id, "state": {"factsFailure": outcome.reason}})
                else:
                    _put(batch, passage, document, outcome, known[passage.id], found)
            if reader.stopped:
                break
    found.failed, found.stopped = reader.failed, reader.stopped
    return found


def _item(row: Row) -> Item:
    document = Document(row["document"], row["title"], "", "", "", "")
    return Passage(document_id=document.id, **row["passage"]), document


def _put(batch: Batch, passage: Passage, document: Document, lines: FactLines, before: Row, found: FactsRead) -> None:
    rows = fact_rows(passage, lines.facts, before["mentions"], document.title)
    kinds, counts = _malformed(before, lines.malformed)
    state = {"factsBy": BY_PASS, "factsFailure": None, "malformedKinds": kinds, "malformedCounts": counts}
    batch.put({"id": passage.id, "state": state}, rows, replaces_facts=True)
    found.read += 1
    found.facts += len(rows.atomic_facts)
    found.malformed.update(each.kind for each in lines.malformed)


def _malformed(before: Row, lines: Iterable[Malformed]) -> tuple[Sequence[str], Sequence[int]]:
    """What was malformed in the passage's extraction, and in the lines of its facts, by kind."""
    counted = Counter(dict(zip(before["malformedKinds"], before["malformedCounts"], strict=True)))
    counted.update(each.kind for each in lines)
    kinds = sorted(counted)
    return kinds, [counted[kind] for kind in kinds]
