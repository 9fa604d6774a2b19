"""Extraction, window by window: some passages that see the same schema, from what is planned to what is written.

planned    passages in reading order (``Plan``); of those that are done only the id is left
claimed    where reading is paid for: what another ingest reads is waited for, not read twice
read       several at once, in threads of this process or by workers
bound      by the schema that the windows before have made of the first one
written    in reading order, each transaction with the mark of what is done; what a window proposes widens the schema
           of the next

It resumes where it was stopped. A passage that failed says why, and is tried again by the next ingest.
"""

from __future__ import annotations

import json
import pickle
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import count, groupby, islice
from pathlib import Path
from typing import Generic, TypeVar

from kgplatform.concurrency.threads import NEVER, Breaker, Stop
from kgplatform.concurrency.workers import LocalWorkers
from kgplatform.errors import BudgetError, InputError, KgError, ModelError, ReplyError, StoppedError
from kgplatform.extract import Extractor, make_extractor
from kgplatform.extract.bound import Mode, bound
from kgplatform.extract.grounded_names import without_inventions
from kgplatform.extract.llm import LlmExtractor
from kgplatform.extract.schema import Expansion, Schema
from kgplatform.ingest.compare import EXTRACTED, Plan
from kgplatform.ingest.schema_expansion import NOTHING_LEFT, KnownGrowth, Proposed, left_out
from kgplatform.ingest.write import (
    Replaced,
    Rows,
    Sink,
    Writer,
    extraction_statements,
    has_usable_names,
    proposal_of,
    rows_of,
)
from kgplatform.models.chat import Chat, Ledger
from kgplatform.models.embed import Embedder
from kgplatform.models.openai_chat import make_chat
from kgplatform.neo4j.passes import Pass, is_over
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import (
    Document,
    Extraction,
    Malformed,
    MetadataValue,
    Passage,
    Progress,
    Proposal,
    Usage,
    written_on,
)
from kgplatform.settings import Settings
from kgplatform.text import clipped

T = TypeVar("T")
Item = tuple[Passage, Document]

WINDOW = 64
"""Passages that are read at once and see the same schema. What they propose counts from the next window on, so that the
graph does not depend on which of them was read first, nor by how many workers. Of a recording each passage is a window
of its own: what was recorded saw no schema, and the next passages may be of the types that this one proposes."""

_DONE_AT_ONCE = 1000
_MOST_WHOLE = 1000
"""Passages of a document that are read together at most."""
_AHEAD = 16
"""Windows for each worker that may be under way: one with a long document takes as long as some dozen others."""
_COMMIT_ROWS = 4000
_COMMIT_SECONDS = 2.0
_LOOKED_EVERY = 0.5
"""Seconds between two looks at passages that another pass reads."""
_RELEASED: Row = {"claimedBy": None}
"""The properties of a passage that was read."""


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
    retry_failed: bool = False
    """Whether a model is asked again where its reply was of no use."""
    metadata: Mapping[str, MetadataValue | None] = field(default_factory=dict)
    """What every document is to have, beside what it says itself."""

    @property
    def request(self) -> str:
        """What passages are asked with, but for their own texts; empty where no model is."""
        return self.extractor.request(self.schema) if isinstance(self.extractor, LlmExtractor) else ""


@dataclass(frozen=True, slots=True)
class PassagesRead:
    """What a pass did: how many passages it read, all types that the schema has grown by, why it stopped early.

    ``schema`` is what the schema has become; ``gone``: passages that another pass took away meanwhile.
    """

    read: int
    failed: list[FailedPassage]
    expansions: list[Expansion]
    schema: Schema
    stopped: str
    gone: int = 0


def extract_passages(
    tools: Tools, plan: Plan, turn: Pass, spill: Sink | None = None, workers: LocalWorkers | None = None
) -> PassagesRead:
    """Extract from the passages of ``plan`` that are not done.

    ``spill`` takes the writes of a first build, whose passages nobody else can read. ``workers`` read, if there are
    any. ``turn`` shares, and gives way between two windows; what others took away meanwhile is left out.
    """
    if plan.pending:
        tools.progress("extracting", 0, plan.pending)
    # Only what is paid for is claimed: rules that read the same passage twice write the same.
    is_paid = tools.extractor.name == "llm" and spill is None
    request = tools.request
    # What a passage proposed before counts at its place: it does not matter whether it is read now or was before.
    has_proposals: bool = tools.store.read("ingest/has_proposals")[0]["found"]
    growth = KnownGrowth(tools.store, tools.schema, plan.document_ids if has_proposals else ())
    read = 0
    with (
        _reader(tools, plan, workers) as (reader, begin, ahead),
        Writer(tools.store) if spill is None else nullcontext(spill) as writer,
        Commits(writer, turn, "everything" if plan.again else None) as commits,
    ):
        planned, begun = _windows(plan, tools.extractor.name), deque[Window]()
        while True:
            window = None if reader.stopped else next(planned, None)
            if window is None and not begun:
                break
            commits.give_way()
            if window is not None:
                if is_paid:
                    has_proposals |= window.claim(turn, commits.give_way)
                window.outcomes = begin(window.pending, growth.schema)
                begun.append(window)
            if window is None or len(begun) > ahead:  # what is under way when the reader stops is paid for
                first = begun.popleft()
                proposed = first.write(commits, request)
                read += len(proposed)
                growth.add([*proposed, *(growth.proposed_by(first.done) if has_proposals else ())])
    return PassagesRead(read, reader.failed, growth.expansions, growth.schema, reader.stopped, commits.gone)


@dataclass(slots=True)
class Window:
    """Passages that see the same schema, in reading order; of those that are done, the id.

    ``outcomes``: what comes of those that are not, once they are being read.
    """

    items: list[tuple[Passage | str, Document]]
    outcomes: Iterator[tuple[Item, Outcome]] = field(default_factory=lambda: iter(()))

    @property
    def pending(self) -> list[Item]:
        """The passages to read."""
        return [(passage, document) for passage, document in self.items if isinstance(passage, Passage)]

    @property
    def done(self) -> list[str]:
        """The ids of the others."""
        return [passage for passage, _ in self.items if isinstance(passage, str)]

    def claim(self, turn: Pass, give_way: Callable[[], bool]) -> bool:
        """Mark the passages in the graph as those that the pass ``turn`` reads, after waiting while another one reads
        any of them. What others have read or taken away since it was planned is done; whether there is any such.

        ``give_way`` is called meanwhile, and says if others may have changed the graph since. A claim counts as long as
        its pass does (``kgplatform.neo4j.passes``), and needs no giving back.
        """
        passages = sorted(passage.id for passage, _ in self.pending)
        wanted, mine, gone = passages, set[str](), list[str]()
        while wanted:
            (rows,) = turn.store.write(("ingest/claim", {"passages": wanted, "pass": turn.id, "gone": gone}))
            mine.update(row["id"] for row in rows if not row["done"] and row["holder"] == turn.id)
            others = [row for row in rows if not row["done"] and row["holder"] != turn.id]
            wanted = [row["id"] for row in others]
            gone = sorted({row["holder"] for row in others if is_over(row["holder"])})
            if wanted and not gone:
                turn.store.stop.sleep(_LOOKED_EVERY)
                if give_way():
                    wanted = passages
                    mine.clear()
        self.items = [
            (passage if isinstance(passage, str) or passage.id in mine else passage.id, document)
            for passage, document in self.items
        ]
        return len(mine) < len(passages)

    def write(self, commits: Commits, request: str) -> list[Proposed]:
        """Hand what came of the passages over to ``commits``; returns those that were read, and what they propose.
        ``request``: what a model was asked with. A passage for which its reply was of no use remembers it."""
        found: list[Proposed] = []
        there = commits.still_there([passage.id for passage, _ in self.pending])
        for (passage, document), outcome in self.outcomes:
            if passage.id not in there:
                continue
            if isinstance(outcome, FailedPassage):
                unread = request if outcome.is_final and request else None
                failed = {"state": "failed", "failure": outcome.reason, "unreadBy": unread}
                commits.put({"id": passage.id, "state": {**failed, **_RELEASED}})
            else:
                commits.put({"id": passage.id, "state": {**outcome.state, **_RELEASED}}, outcome.rows)
                found.append((passage.id, document.id, outcome.proposals))
        return found


def _windows(plan: Plan, extractor: str) -> Iterator[Window]:
    """Windows of passages in reading order.

    Of a recording each passage is one, and what is done comes many at once. For rules, which propose nothing, a window
    ends where a document ends: one worker works out, once, what they need to know of a document as a whole.
    """
    passages = ((passage, planned.document) for planned in plan for passage in planned.passages)
    items: list[tuple[Passage | str, Document]] = []
    if extractor == "recorded":
        for is_done, run in groupby(passages, key=lambda each: isinstance(each[0], str)):
            while items := list(islice(run, _DONE_AT_ONCE if is_done else 1)):
                yield Window(items)
    elif extractor == "local":
        for _, whole in groupby(passages, key=lambda each: each[1].id):
            while len(items := [*items, *islice(whole, _MOST_WHOLE - len(items))]) >= _MOST_WHOLE:
                yield Window(items)
                items = []
            if len(items) >= WINDOW:
                yield Window(items)
                items = []
        if items:
            yield Window(items)
    else:
        while items := list(islice(passages, WINDOW)):
            yield Window(items)


@dataclass(frozen=True, slots=True)
class FailedPassage:
    """A passage that nothing could be extracted from; the next ingest of its document tries again, unless the reply was
    of no use and would be again (``is_final``)."""

    passage: str
    name: str
    reason: str
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """What becomes of ``passage``: the properties that it gets, and its rows."""

    passage: str
    state: Row
    rows: Rows

    @property
    def proposals(self) -> list[Proposal]:
        """The types that it proposes, as the graph will have them."""
        return [*map(proposal_of, self.rows.proposals.values())]


Outcome = ReadPassage | FailedPassage


@dataclass(frozen=True, slots=True)
class Reading:
    """How passages are read, without a database. ``seed`` is the schema that the ingest began with."""

    extractor: Extractor
    seed: Schema
    mode: Mode

    def read(self, passage: Passage, document: Document, schema: Schema) -> ReadPassage:
        """Extract from ``passage`` and bound it by ``schema``, which ``seed`` has become. Raises ``ModelError`` or
        ``InputError`` as the extractor does, and ``ModelError`` where it fails otherwise."""
        by = self.extractor.name
        try:
            extraction = self.extractor.extract(passage, document, schema)
        except KgError:
            raise
        except Exception as error:  # other people's code raises anything at all
            at = traceback.extract_tb(error.__traceback__)[-1]
            why = f"{type(error).__name__}: {error}; {Path(at.filename).name}, line {at.lineno}"
            raise ModelError(f"The extractor {by} failed ({why}).") from error
        if not isinstance(extraction, Extraction):
            raise ModelError(f"The extractor {by} must return an Extraction, not {type(extraction).__name__}.")
        usable, unnamed = extraction, dict[str, str]()
        if by == "llm":  # the rules invent nothing, and for a recording its maker answers
            usable, unnamed = without_inventions(usable, passage, document.title)
        usable = _without_unusable(usable)
        bounded, tally = bound(usable, schema, self.mode)
        rows = rows_of(passage, bounded, schema, document.title, written_on(document.metadata))
        found, not_found = rows.found()
        stated = len(bounded.triples) + len(bounded.attributes) + len(bounded.facts)
        kinds, counts = by_kind(usable.malformed)
        # What the seed lacks may be within what it becomes, or be so no more; but for the rules, and recordings without
        # types, which propose nothing and are mostly outside it.
        is_typed = by != "local" and any(each.type for each in usable.entities)
        by_seed = tally if schema == self.seed else bound(usable, self.seed, self.mode)[1]
        is_outside = by_seed.dropped or (by_seed.off_schema and is_typed)
        state = {
            "state": EXTRACTED,
            "failure": None,
            "unreadBy": None,
            "kept": tally.kept,
            "mapped": tally.mapped,
            "dropped": tally.dropped,
            "offSchema": tally.off_schema,
            "turned": tally.turned,
            "unnamed": len(unnamed),
            "notKept": not_kept(tally.left_out, unnamed),
            "found": found,
            "notFound": not_found,
            "duplicates": stated - found - not_found,
            **(left_out(usable, self.seed, schema, self.mode) if is_outside else NOTHING_LEFT),
            "malformedKinds": kinds,
            "malformedCounts": counts,
            "factsBy": by if by in ("llm", "local") or rows.atomic_facts else None,
        }
        return ReadPassage(passage.id, state, rows)


def _without_unusable(extraction: Extraction) -> Extraction:
    """``extraction`` without what has no name, or one too long to be a name; that is malformed, and counted."""
    entities = tuple(each for each in extraction.entities if has_usable_names(each.name))
    triples = tuple(each for each in extraction.triples if has_usable_names(each.subject, each.predicate, each.object))
    attributes = tuple(each for each in extraction.attributes if has_usable_names(each.entity, each.key))
    before = len(extraction.entities) + len(extraction.triples) + len(extraction.attributes)
    lost = before - len(entities) - len(triples) - len(attributes)
    malformed = extraction.malformed + (Malformed("name that is empty or too long", ""),) * lost
    return replace(extraction, entities=entities, triples=triples, attributes=attributes, malformed=malformed)


def by_kind(
    malformed: Sequence[Malformed], before: Counter[str] | None = None
) -> tuple[list[str], list[int]] | tuple[None, None]:
    """The kinds of what is malformed, and how many there are of each, with those ``before``; None if nothing is."""
    counted = Counter(before or ()) + Counter(item.kind for item in malformed)
    kinds = sorted(counted)
    return (kinds, [counted[kind] for kind in kinds]) if kinds else (None, None)


_LONGEST_SHOWN = 200


def not_kept(kinds: Mapping[str, Counter[str]], names: Mapping[str, str], before: str = "") -> str | None:
    """What of a passage is not kept: the ``kinds`` that the schema lacks, and ``names`` with the reason for each; with
    what was so ``before``. None where all is."""
    found: dict[str, dict[str, int]] = {**(json.loads(before) if before else {}), **kinds}
    for name, reason in names.items():
        found.setdefault(reason, {})[clipped(name, _LONGEST_SHOWN)] = 1
    return json.dumps(found, ensure_ascii=False) if found else None


Begin = Callable[[Sequence[Item], Schema], Iterator[tuple[Item, Outcome]]]
"""Begins to read passages in the bounds of a schema; gives what comes of them, in order, when it is there."""


@contextmanager
def _reader(
    tools: Tools, plan: Plan, workers: LocalWorkers | None
) -> Iterator[tuple[PassageReader[ReadPassage] | SharedReader, Begin, int]]:
    """What reads, how it begins, and how many windows may be under way before the first of them is written.

    None may where a window's proposals widen the schema of the next: then each worker has a part of the window. The
    local rules propose nothing: there each window is one worker's. Threads are for an extractor that waits on a
    network; others read one passage after the other.
    """
    reading = Reading(tools.extractor, tools.schema, tools.mode)
    name, stop = tools.extractor.name, tools.store.stop

    def advance(number: int) -> None:
        tools.progress("extracting", number, plan.pending)

    if workers is None or name == "recorded":
        threads = tools.settings.calls_at_once if name == "llm" else None
        reader: PassageReader[ReadPassage] = PassageReader(threads, advance, stop)
        with reader:
            yield reader, lambda items, schema: reader.read(items, partial(reading.read, schema=schema)), 0
        return
    parts, ahead = (1, _AHEAD * workers.number) if name == "local" else (workers.number, 0)
    shared = SharedReader(workers, parts, reading, tools.settings, tools.ledger, advance, stop)
    yield shared, shared.begin, ahead


class PassageReader(AbstractContextManager["PassageReader[T]"], Generic[T]):
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

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._halt.set()
        if self._pool is not None:
            # Ctrl-C does not wait for a model that may never answer.
            self._pool.shutdown(wait=kind is not KeyboardInterrupt, cancel_futures=True)

    def read(
        self, items: Sequence[Item], work: Callable[[Passage, Document], T]
    ) -> Iterator[tuple[Item, T | FailedPassage]]:
        """Each of ``items``, in order, with what came of it or that it failed, which ``failed`` collects. Passages that
        were not reached before the budget was used up are left out."""
        works = [partial(self._unless_halted, work, *item) for item in items]
        results: list[Callable[[], T]] = [*works]
        if self._pool is not None:
            results = [self._pool.submit(each).result for each in works]
        for item, result in zip(items, results, strict=True):
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


@dataclass(frozen=True, slots=True)
class Share:
    """What a worker is sent. ``how``: pickled, the same for all shares of an ingest: the settings, the extractor or the
    name of one, the seed and the mode.

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
    settings, extractor, seed, mode = pickle.loads(how)
    ledger = Ledger()
    own = make_extractor(extractor, None, lambda: make_chat(settings, ledger))
    return Reading(own, seed, mode), settings, ledger


def _less(now: dict[str, Usage], before: dict[str, Usage]) -> dict[str, Usage]:
    return {stage: usage - before.get(stage, Usage()) for stage, usage in now.items()}


class SharedReader:
    """Has windows read by ``workers``. ``failed`` and ``stopped`` are as those of a ``PassageReader``."""

    def __init__(
        self,
        workers: LocalWorkers,
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
            self._how = pickle.dumps((settings, by, reading.seed, reading.mode), pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InputError(
                f"The extractor {named} cannot be sent to workers ({error}). Ingest without workers, or define it in a "
                "module of its own, without open files or connections."
            ) from error

    def begin(self, items: Sequence[Item], schema: Schema) -> Iterator[tuple[Item, Outcome]]:
        """Send ``items`` off now, in ``parts``; gives what comes of them, in order, when it is there."""
        size = max(1, -(-len(items) // self._parts))
        shares = [items[at : at + size] for at in range(0, len(items), size)]
        budget = None
        if self._ledger.budget is not None:
            spent = self._ledger.total.input_tokens + self._ledger.total.output_tokens
            budget = max(0, self._ledger.budget - spent) // max(1, len(shares))
        sent = []
        for share in shares:
            groups = [list(group) for _, group in groupby(share, lambda each: each[1].id)]
            documents = tuple((group[0][1], tuple(passage for passage, _ in group)) for group in groups)
            sent.append((share, self._workers.submit(read_share, Share(self._how, schema, documents, budget))))
        return self._outcomes(sent)

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


class Commits(AbstractContextManager["Commits"]):
    """What was read since the last commit, which ``writer`` gets as one transaction with the mark of what is done.

    ``turn`` gives way to passes that must be alone when all that was read is written. ``replaces``: what passages said
    before and lose in that transaction, if they may have said anything. ``gone``: how many passages were taken away
    meanwhile, whose extraction is not written. A context manager: what is left is handed over at its end, also where
    the work is stopped.
    """

    def __init__(self, writer: Sink, turn: Pass, replaces: Replaced | None = None) -> None:
        self.gone = 0
        self._writer, self._turn, self._replaces = writer, turn, replaces
        self._gave_way = False
        # Others make corrections between two ingests alone (``neo4j.passes``).
        self._correct: bool = turn.store.read("correct/any")[0]["any"]
        self._clear()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, StoppedError):
            self._flush()

    def put(self, state: Row, rows: Rows | None = None) -> None:
        """Add a passage: the properties that it gets, and what it says, if it was read; commit if that is due."""
        self._states.append(state)
        if rows is not None:
            self._rows.add(rows)
            self._read.append(state["id"])
        if self._rows.size >= _COMMIT_ROWS or time.monotonic() - self._committed > _COMMIT_SECONDS:
            self._flush()

    def give_way(self) -> bool:
        """Give way if somebody waits for that; whether it was so."""
        if not self._turn.others_wait():
            return False
        self._flush()
        if isinstance(self._writer, Writer):
            self._writer.finish()
        self._turn.give_way()
        self._gave_way = True
        return True

    def still_there(self, passages: Sequence[str]) -> frozenset[str]:
        """Those of ``passages`` that nobody took away while others had their turn."""
        if not self._gave_way:
            return frozenset(passages)
        there = frozenset(row["id"] for row in self._turn.store.read("ingest/passages_there", passages=list(passages)))
        self.gone += len(passages) - len(there)
        return there

    def _flush(self) -> None:
        if self._states:
            more = {"correct": self._correct}
            self._writer.put(extraction_statements(self._rows, self._states, self._replaces, self._read, **more))
        self._clear()

    def _clear(self) -> None:
        self._rows, self._states = Rows(), list[Row]()
        self._read = list[str]()
        self._committed = time.monotonic()
