"""Extracting all that passages say: several are read at once, and what comes of it is committed in reading order.

It resumes where it was stopped. A passage that failed says why, and is tried again by the next ingest.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from typing import Protocol

from kgplatform.concurrency.stopping import Stop
from kgplatform.concurrency.workers import Workers
from kgplatform.errors import StoppedError
from kgplatform.extract import Extractor, request_of
from kgplatform.extract.bound import Mode
from kgplatform.extract.schema import Expansion, Schema
from kgplatform.ingest.passage_reader import FailedPassage, Item, Outcome, PassageReader, SharedReader
from kgplatform.ingest.plan import Plan
from kgplatform.ingest.read_passage import Reading, ReadPassage
from kgplatform.ingest.rows import Rows
from kgplatform.ingest.schema_expansion import KnownGrowth, Proposed, proposed
from kgplatform.ingest.write import Replaced, Sink, Writer, extraction_statements
from kgplatform.models.chat import Chat, Ledger
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.passes import Pass, is_over
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import Document, Passage, Progress
from kgplatform.settings import Settings

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

    @property
    def request(self) -> str:
        """What passages are asked with, but for their own texts; empty where no model is."""
        return request_of(self.extractor, self.schema)


class Batch:
    """What was read since the last commit. ``writer`` gets it as one transaction, with the word that it is done.

    ``replaces``: what passages said before and lose in that transaction, if they may have said anything. A context
    manager: what is left is handed over at its end, also where the work is stopped.
    """

    def __init__(self, writer: Sink, replaces: Replaced | None = None) -> None:
        self._writer = writer
        self._replaces = replaces
        self._clear()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, StoppedError):
            self.flush()

    def put(self, state: Row, rows: Rows | None = None) -> None:
        """Add a passage: the properties that it gets, and what it says, if it was read; commit if that is due."""
        self._states.append(state)
        if rows is not None:
            self._rows.add(rows)
            self._read.append(state["id"])
        if self._rows.size >= _COMMIT_ROWS or time.monotonic() - self._committed > _COMMIT_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Hand over what is there."""
        if self._states:
            self._writer.put(extraction_statements(self._rows, self._states, self._replaces, self._read))
        self._clear()

    def _clear(self) -> None:
        self._rows, self._states = Rows(), list[Row]()
        self._read = list[str]()
        self._committed = time.monotonic()


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
    tools: Tools, plan: Plan, turn: Pass, spill: Sink | None = None, workers: Workers | None = None
) -> PassagesRead:
    """Extract from the passages of ``plan`` that are not done, window by window; a window's proposals widen the schema
    of the next. ``spill`` takes the writes of a first build, whose passages nobody else can read. ``workers`` read, if
    there are any. ``turn`` shares, and gives way between two windows; what others took away meanwhile is left out.
    """
    if plan.pending:
        tools.progress("extracting", 0, plan.pending)
    growing = _Growing(tools, plan)
    # Only what is paid for is claimed: rules that read the same passage twice write the same.
    is_paid = tools.extractor.name == "llm" and spill is None
    read = 0
    with (
        _reader(tools, plan, workers) as (reader, ahead),
        Writer(tools.store) if spill is None else nullcontext(spill) as writer,
        Batch(writer, "everything" if plan.again else None) as batch,
    ):
        room = Room(turn, batch, writer)
        begun: deque[tuple[Window, Iterator[tuple[Item, Outcome]]]] = deque()
        for planned in _windows(plan, tools.extractor.name):
            room.make()
            window = _claimed(planned, turn, growing, room) if is_paid else planned
            pending = [(passage, document) for passage, document in window if isinstance(passage, Passage)]
            begun.append((window, reader.begin(pending, growing.schema)))
            if len(begun) > ahead:
                read += _take(*begun.popleft(), batch, growing, room)
            if reader.stopped:
                break
        for window, outcomes in begun:  # they are under way, and paid for
            room.make()
            read += _take(window, outcomes, batch, growing, room)
    return PassagesRead(read, reader.failed, growing.expansions, growing.schema, reader.stopped, room.gone)


class Room:
    """Gives way to passes that must be alone, when all that was read is written. ``gone``: how many passages were taken
    away meanwhile, whose extraction is not written.
    """

    def __init__(self, turn: Pass, batch: Batch, writer: Sink) -> None:
        self._turn = turn
        self._batch = batch
        self._writer = writer
        self._gave_way = False
        self.gone = 0

    def make(self) -> bool:
        """Give way if somebody waits for that; whether it was so."""
        if not self._turn.others_wait():
            return False
        self._batch.flush()
        if isinstance(self._writer, Writer):
            self._writer.finish()
        self._turn.give_way()
        self._gave_way = True
        return True

    def without_gone(self, window: Window) -> frozenset[str] | None:
        """The passages of ``window`` that are still there; None if all are."""
        if not self._gave_way:
            return None
        pending = [passage.id for passage, _ in window if isinstance(passage, Passage)]
        there = frozenset(row["id"] for row in self._turn.store.read("ingest/passages_there", passages=pending))
        self.gone += len(pending) - len(there)
        return there


def _claim(turn: Pass, passages: Sequence[str], make_room: Callable[[], bool]) -> frozenset[str]:
    """Those of ``passages`` that the pass is to read, marked in the graph. Waits while another one reads any of them,
    rather than paying again.

    ``make_room`` is called meanwhile, and says if others may have changed the graph since. A claim counts as long as
    its pass does (``kgplatform.neo4j.passes``), and needs no giving back.
    """
    wanted, mine, gone = sorted(passages), set[str](), list[str]()
    while wanted:
        (rows,) = turn.store.write(("ingest/claim", {"passages": wanted, "pass": turn.id, "gone": gone}))
        mine.update(row["id"] for row in rows if not row["done"] and row["holder"] == turn.id)
        others = [row for row in rows if not row["done"] and row["holder"] != turn.id]
        wanted = [row["id"] for row in others]
        gone = sorted({row["holder"] for row in others if is_over(row["holder"])})
        if wanted and not gone:
            turn.store.stop.sleep(_LOOKED_EVERY)
            if make_room():
                wanted = sorted(passages)
                mine.clear()
    return frozenset(mine)


def _claimed(window: Window, turn: Pass, growing: _Growing, room: Room) -> Window:
    """``window`` without what another pass has read or taken away since it was planned: of that the id is left."""
    pending = [passage.id for passage, _ in window if isinstance(passage, Passage)]
    mine = _claim(turn, pending, room.make)
    growing.are_known = growing.are_known or len(mine) < len(pending)
    return [
        (passage if isinstance(passage, str) or passage.id in mine else passage.id, document)
        for passage, document in window
    ]


class _Reader(Protocol):
    """Reads windows in order. ``failed``: passages that could not be read; ``stopped``: why it stopped."""

    failed: list[FailedPassage]
    stopped: str

    def begin(self, window: Sequence[Item], schema: Schema) -> Iterator[tuple[Item, Outcome]]: ...


class _ThreadedReader(PassageReader[ReadPassage]):
    """In this process: by threads if the extractor waits on a network, else one after the other."""

    def __init__(self, reading: Reading, threads: int | None, advance: Callable[[int], None], stop: Stop) -> None:
        super().__init__(threads, advance, stop)
        self._reading = reading

    def begin(self, window: Sequence[Item], schema: Schema) -> Iterator[tuple[Item, Outcome]]:
        return self.read(window, partial(self._reading.read, schema=schema))


@contextmanager
def _reader(tools: Tools, plan: Plan, workers: Workers | None) -> Iterator[tuple[_Reader, int]]:
    """What reads, and how many windows may be under way before the first of them is written.

    None may where a window's proposals widen the schema of the next: then each worker has a part of the window. The
    local rules propose nothing: there each window is one worker's.
    """
    reading = Reading(tools.extractor, tools.schema, tools.mode)
    stop = tools.store.stop

    def advance(number: int) -> None:
        tools.progress("extracting", number, plan.pending)

    if workers is None or tools.extractor.name == "recorded":
        threads = tools.settings.calls_at_once if tools.extractor.name == "llm" else None
        reader = _ThreadedReader(reading, threads, advance, stop)
        with reader:
            yield reader, 0
        return
    is_local = tools.extractor.name == "local"
    parts, ahead = (1, _AHEAD * workers.number) if is_local else (workers.number, 0)
    yield SharedReader(workers, parts, reading, tools.settings, tools.ledger, advance, stop), ahead


Window = Sequence[tuple[Passage | str, Document]]
"""Passages that see the same schema; of those that are done, the id."""


def _windows(plan: Plan, extractor: str) -> Iterator[Window]:
    """Windows of passages in reading order; where each is one of its own, what is done comes many at once."""
    if extractor == "local":
        yield from _whole_documents(plan)
        return
    passages = ((passage, planned.document) for planned in plan for passage in planned.passages)
    if extractor != "recorded":
        while window := list(islice(passages, WINDOW)):
            yield window
        return
    for is_done, run in groupby(passages, key=lambda each: isinstance(each[0], str)):
        while window := list(islice(run, _DONE_AT_ONCE if is_done else 1)):
            yield window


def _whole_documents(plan: Plan) -> Iterator[Window]:
    """Windows that end where a document ends, for rules, which propose nothing: one worker works out, once, what they
    need to know of a document as a whole.
    """
    window: list[tuple[Passage | str, Document]] = []
    for planned in plan:
        for passage in planned.passages:
            window.append((passage, planned.document))
            if len(window) >= _MOST_WHOLE:
                yield window
                window = []
        if len(window) >= WINDOW:
            yield window
            window = []
    if window:
        yield window


def _take(window: Window, outcomes: Iterator[tuple[Item, Outcome]], batch: Batch, growing: _Growing, room: Room) -> int:
    """Hand over what came of a window; returns how many of its passages were read."""
    found: list[Proposed] = []
    there = room.without_gone(window)
    for (passage, document), outcome in outcomes:
        if there is not None and passage.id not in there:
            continue
        if isinstance(outcome, FailedPassage):
            unread = growing.request if outcome.is_final and growing.request else None
            failed = {"state": "failed", "failure": outcome.reason, "unreadBy": unread}
            batch.put({"id": passage.id, "state": {**failed, **_RELEASED}})
        else:
            batch.put({"id": passage.id, "state": {**outcome.state, **_RELEASED}}, outcome.rows)
            found.append((passage.id, document.id, outcome.proposals))
    growing.by(found, [passage for passage, _ in window if isinstance(passage, str)])
    return len(found)


class _Growing:
    """The schema as it is after the windows so far.

    What the passages of ``plan`` have proposed before counts at their place: it does not matter whether a passage is
    read now or was before. ``are_known``: whether there may be any such.
    """

    def __init__(self, tools: Tools, plan: Plan) -> None:
        self._tools = tools
        self.request = tools.request
        self.are_known = tools.store.read("ingest/has_proposals")[0]["found"]
        self._growth = known_growth(tools, set(plan.document_ids) if self.are_known else ())
        self._grow()

    def by(self, found: Sequence[Proposed], done: Sequence[str]) -> None:
        """Widen it by what a window proposes: ``found`` now, and before by the passages ``done``."""
        known = _proposals_of(self._tools.store, done) if self.are_known else []
        if more := [each for each in (*found, *known) if each[2]]:
            self._growth.add(more)
            self._grow()

    def _grow(self) -> None:
        self.expansions = self._growth.expansions()
        self.schema = self._tools.schema.with_expansions(self.expansions)


def known_growth(tools: Tools, without: Collection[str] = ()) -> KnownGrowth:
    """How the schema grows by what passages in the graph proposed, but for those of the documents ``without``."""
    return KnownGrowth(tools.store, tools.schema, tools.settings, without)


def _proposals_of(store: Store, passages: Sequence[str]) -> list[Proposed]:
    return [proposed(row) for row in store.read("ingest/proposals_of", passages=passages)] if passages else []
