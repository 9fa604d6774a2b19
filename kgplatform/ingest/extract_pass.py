"""Passes over passages: several are read at once, and what comes of it is committed in reading order.

``extract_passages`` extracts all that passages say. ``read_facts_of_passages``, the pass of ``ingest --facts``, reads
atomic facts, by GraphReader's own prompt, from passages without any by a model: a passage remembers in ``factsBy`` who
wrote its atomic facts, and the pass reads those where that is nobody, or the local extractor, whose facts it replaces
in the transaction that writes the new ones and the mark. Either resumes where it was stopped. A passage that failed
says why, keeps the facts that it had, and is tried again by the next pass.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import count, islice
from typing import Generic, TypeVar

from kgplatform.errors import BudgetError, InputError, ModelError, StoppedError
from kgplatform.ingest.bound import Mode, accepted, bound
from kgplatform.ingest.extract import Extractor
from kgplatform.ingest.extract.llm import read_facts
from kgplatform.ingest.fill_in import NOTHING_LEFT, fill_in, left_out
from kgplatform.ingest.named import without_inventions
from kgplatform.ingest.schema import Expansion, Schema
from kgplatform.ingest.write import (
    Rows,
    Writer,
    extraction_statements,
    fact_rows,
    has_usable_names,
    rows_of,
)
from kgplatform.models.chat import Chat, Ledger
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import Row, Store, batches
from kgplatform.records import Document, Extraction, Malformed, Passage, Progress, Proposal
from kgplatform.settings import Settings
from kgplatform.work.stopping import Stop
from kgplatform.work.threads import Breaker

T = TypeVar("T")
Item = tuple[Passage, Document]

EXTRACTED = "extracted"
BY_PASS = "graphreader"
"""What the facts pass is called in the graph (``factsBy``) and in reports: the reader whose facts these are."""

WINDOW = 64
"""Passages that are read at once and see the same schema. What they propose counts from the next window on, so that the
graph does not depend on which of them was read first. An extractor that reads one passage at a time needs none."""

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


Proposed = tuple[str, str, Proposal]
"""Passage id, document id, and what the passage proposed."""


@dataclass(frozen=True, slots=True)
class PassagesRead:
    """What a pass did: how many passages it read, all types that the schema has grown by, why it stopped early."""

    read: int
    failed: list[FailedPassage]
    expansions: list[Expansion]
    stopped: str


def extract_passages(tools: Tools, passages: Sequence[Item], done: set[str]) -> PassagesRead:
    """Extract from ``passages``, but for those ``done``, window by window; a window's proposals widen the schema of
    the next.
    """
    known = known_proposals(tools.store)
    ours = {passage.id for passage, _ in passages}
    proposed = [proposal for passage, found in known.items() if passage not in ours for proposal in found]
    expansions, read = expansions_of(tools, proposed), 0
    waits_on_network = tools.extractor.name == "llm"
    total, stream = sum(passage.id not in done for passage, _ in passages), iter(passages)
    reader: PassageReader[Extraction] = PassageReader(
        tools.settings.concurrency if waits_on_network else None,
        lambda number: tools.progress("extracting", number, total),
        tools.store.stop,
    )
    with reader, Writer(tools.store) as writer, Batch(writer) as batch:
        while not reader.stopped and (window := list(islice(stream, WINDOW if waits_on_network else 1))):
            pending = [item for item in window if item[0].id not in done]
            found = _read_window(tools, reader, batch, pending, tools.schema.with_expansions(expansions))
            read += len(found)
            found += [known.get(passage.id, []) for passage, _ in window if passage.id in done]
            if more := [proposal for proposals in found for proposal in proposals]:
                proposed += more
                expansions = expansions_of(tools, proposed)
    if tools.mode == "strict" and not (reader.stopped or reader.failed):
        fill_in(tools.store, tools.schema, tools.schema.with_expansions(expansions))
    return PassagesRead(read, reader.failed, expansions, reader.stopped)


def _read_window(
    tools: Tools, reader: PassageReader[Extraction], batch: Batch, pending: Sequence[Item], schema: Schema
) -> list[list[Proposed]]:
    """Read the passages of a window; for each that could be read, what it proposes."""
    found = []
    for (passage, document), outcome in reader.read(
        pending, lambda passage, document: tools.extractor.extract(passage, document, schema)
    ):
        if isinstance(outcome, FailedPassage):
            batch.put({"id": passage.id, "state": {"state": "failed", "failure": outcome.reason}})
        else:
            batch.put(*_bounded(tools, passage, document, outcome, schema))
            found.append([(passage.id, document.id, proposal) for proposal in outcome.proposals])
    return found


def known_proposals(store: Store) -> dict[str, list[Proposed]]:
    """What passages of the graph have proposed, by the passage."""
    rows = store.read("ingest/proposals")
    return {
        row["passage"]: [
            (row["passage"], row["document"], Proposal(**proposal)) for proposal in json.loads(row["proposals"])
        ]
        for row in rows
    }


def expansions_of(tools: Tools, proposed: Sequence[Proposed]) -> list[Expansion]:
    """The types that ``proposed`` adds to the schema.

    Over all proposals each time: they are few beside the calls of a window, and order cannot matter this way.
    """
    return accepted(proposed, tools.schema, tools.settings.expansion_threshold, tools.settings.expansion_support)


def _bounded(
    tools: Tools, passage: Passage, document: Document, extraction: Extraction, schema: Schema
) -> tuple[Row, Rows]:
    """What becomes of a passage that was read: its properties, and its rows."""
    usable, unnamed = _without_unusable(extraction), 0
    if tools.extractor.name == "llm":  # the rules invent nothing, and for a recording its maker answers
        usable, unnamed = without_inventions(usable, passage, document.title)
    bounded, tally = bound(usable, schema, tools.mode)
    rows = rows_of(passage, bounded, schema, document.title)
    found, not_found = rows.found()
    stated = len(bounded.triples) + len(bounded.attributes) + len(bounded.facts)
    kinds, counts = _by_kind(usable.malformed)
    by = tools.extractor.name
    state = {
        "state": EXTRACTED,
        "failure": None,
        "kept": tally.kept,
        "mapped": tally.mapped,
        "dropped": tally.dropped,
        "offSchema": tally.off_schema,
        "turned": tally.turned,
        "unnamed": unnamed,
        "found": found,
        "notFound": not_found,
        "duplicates": stated - found - not_found,
        **(left_out(usable, tools.schema, schema) if tools.mode == "strict" and tally.dropped else NOTHING_LEFT),
        "malformedKinds": kinds,
        "malformedCounts": counts,
        "proposals": json.dumps([asdict(proposal) for proposal in bounded.proposals]) if bounded.proposals else None,
        "factsBy": by if by in ("llm", "local") or rows.atomic_facts else None,
    }
    return {"id": passage.id, "state": state}, rows


def _without_unusable(extraction: Extraction) -> Extraction:
    """``extraction`` without what has no name, or one too long to be a name; that is malformed, and counted."""
    entities = tuple(entity for entity in extraction.entities if has_usable_names(entity.name))
    triples = tuple(
        triple for triple in extraction.triples if has_usable_names(triple.subject, triple.predicate, triple.object)
    )
    attributes = tuple(
        attribute for attribute in extraction.attributes if has_usable_names(attribute.entity, attribute.key)
    )
    before = len(extraction.entities) + len(extraction.triples) + len(extraction.attributes)
    lost = before - len(entities) - len(triples) - len(attributes)
    malformed = extraction.malformed + (Malformed("name that is empty or too long", ""),) * lost
    return replace(extraction, entities=entities, triples=triples, attributes=attributes, malformed=malformed)


def _by_kind(malformed: Sequence[Malformed], before: Counter[str] | None = None) -> tuple[list[str], list[int]]:
    """The kinds of what is malformed, and how many there are of each, with those ``before``."""
    counted = Counter(before or ()) + Counter(item.kind for item in malformed)
    kinds = sorted(counted)
    return kinds, [counted[kind] for kind in kinds]


@dataclass(frozen=True, slots=True)
class FactsRead:
    """What a pass did. ``lacking``: passages that it had to read; ``read``: those that it did; ``facts``: in those.

    ``unnamed``: key elements that their passage does not name, which were left out.
    """

    lacking: int = 0
    read: int = 0
    facts: int = 0
    unnamed: int = 0
    malformed: Counter[str] = field(default_factory=Counter)
    failed: list[FailedPassage] = field(default_factory=list)
    stopped: str = ""


def passages_without_facts(store: Store, documents: set[str] | None) -> list[Row]:
    """``id``, ``document`` and ``tokens`` of the passages to read, of ``documents`` alone unless that is None."""
    rows = store.read("ingest/passages_without_facts")
    return [row for row in rows if documents is None or row["document"] in documents]


def read_facts_of_passages(tools: Tools, chat: Chat, documents: set[str] | None) -> FactsRead:
    """Read the passages that lack facts, ``settings.concurrency`` at once, and commit as they come."""
    store = tools.store
    lacking = [row["id"] for row in passages_without_facts(store, documents)]
    put, malformed = list[tuple[int, int]](), Counter[str]()
    reader: PassageReader[Extraction] = PassageReader(
        tools.settings.concurrency, lambda number: tools.progress("reading facts", number, len(lacking)), store.stop
    )
    work = partial(read_facts, chat, most_tokens=tools.settings.facts_tokens)
    with reader, Writer(store) as writer, Batch(writer) as batch:
        for some in batches(lacking, WINDOW):
            texts = store.read("ingest/passage_texts", ids=some)
            known = {row["passage"]["id"]: row for row in texts}
            for (passage, document), outcome in reader.read([_item(row) for row in known.values()], work):
                if isinstance(outcome, FailedPassage):
                    batch.put({"id": passage.id, "state": {"factsFailure": outcome.reason}})
                else:
                    put.append(_put_facts(batch, passage, document, outcome, known[passage.id]))
                    malformed.update(item.kind for item in outcome.malformed)
            if reader.stopped:
                break
    facts, unnamed = (sum(numbers) for numbers in zip((0, 0), *put, strict=True))
    return FactsRead(len(lacking), len(put), facts, unnamed, malformed, reader.failed, reader.stopped)


def _item(row: Row) -> Item:
    document = Document(row["document"], row["title"], "", "", "", "")
    return Passage(document_id=document.id, **row["passage"]), document


def _put_facts(batch: Batch, passage: Passage, document: Document, found: Extraction, before: Row) -> tuple[int, int]:
    """Replace the facts of a passage; returns how many it has now, and how many key elements were left out.

    ``before``: what its extraction counted.
    """
    usable, unnamed = without_inventions(found, passage, document.title)
    rows = fact_rows(passage, usable.facts, before["mentions"], document.title)
    malformed = Counter(dict(zip(before["malformedKinds"], before["malformedCounts"], strict=True)))
    kinds, counts = _by_kind(found.malformed, malformed)
    state = {"factsBy": BY_PASS, "factsFailure": None, "malformedKinds": kinds, "malformedCounts": counts}
    state["unnamed"] = before["unnamed"] + unnamed
    batch.put({"id": passage.id, "state": state}, rows, replaces_facts=True)
    return len(rows.atomic_facts), unnamed
