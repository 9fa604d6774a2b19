"""Text into graph: the main job, step by step.

plan    load the files, cut them into chunks, compare with the graph
lay     write documents and chunks, take away what changed
read    extract from each chunk that is not done, bounded by the schema; each transaction says which are
settle  names, vectors, likenesses, indexes
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

from kgplatform.build.bound import Counts, accepted, bound
from kgplatform.build.extract import Extractor, Mode
from kgplatform.build.plan import EXTRACTED, Plan, make_plan
from kgplatform.build.remove import remove
from kgplatform.build.report import FailedChunk, IngestReport
from kgplatform.build.rows import Rows, has_usable_names, rows_of
from kgplatform.build.schema import Expansion, Schema
from kgplatform.build.settle import Progress, check_embedder, define_graph, graph_state, settle
from kgplatform.build.write import Writer, extraction_statements, write_documents
from kgplatform.embed import Embedder
from kgplatform.errors import BudgetError, InputError, ModelError
from kgplatform.llm import Ledger
from kgplatform.records import Chunk, Document, ExtractedTriple, Extraction, Malformed, Proposal
from kgplatform.settings import Settings
from kgplatform.store import Row, Store

WINDOW = 64
"""Chunks that are read at once and see the same schema. What they propose counts from the next window on, so that the
graph does not depend on which of them was read first. An extractor that reads one chunk at a time needs none."""

_LAY_CHUNKS = 500
_COMMIT_ROWS = 4000
_COMMIT_SECONDS = 2.0

Proposed = tuple[str, str, Proposal]
"""Chunk id, document id, and what the chunk proposed."""


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


def ingest(tools: Tools, paths: Sequence[str | Path]) -> IngestReport:
    """Bring the graph to what the files of ``paths`` say, and report what that took.

    Safe to repeat, and to kill at any moment: the same command goes on where it stopped.
    """
    started = time.perf_counter()
    report = IngestReport(tools.extractor.name, tools.schema.name, tools.mode)
    before = graph_state(tools.store)
    check_embedder(before, tools.embedder)
    define_graph(tools.store, tools.embedder)
    plan = make_plan(tools.store, paths, tools.settings.chunk_tokens)
    report.notes += _notes_on_others(tools, before, len(plan.done))
    report.seconds["load"] = time.perf_counter() - started
    _timed(report, "lay", lambda: _lay(tools.store, plan, tools.progress))
    _timed(report, "extract", lambda: _read(tools, plan, report))
    report.seconds |= settle(tools.store, tools.embedder, tools.settings.same_as_threshold, tools.progress)
    _finish(tools, plan, report)
    report.seconds["total"] = time.perf_counter() - started
    return report


def _notes_on_others(tools: Tools, before: Row, done: int) -> list[str]:
    """Says so if chunks that stay as they are were read in another way than this ingest reads."""
    if not done or "extractor" not in before:
        return []
    schema = json.loads(before["schema"])["name"]
    last = (before["extractor"], schema, before["mode"])
    if last == (tools.extractor.name, tools.schema.name, tools.mode):
        return []
    return [
        f"{done:,} chunks stay as an earlier ingest read them; the last one used extractor {last[0]}, schema "
        f"{last[1]}, mode {last[2]}. To read them anew, `kgplatform remove` their documents first."
    ]


def _timed(report: IngestReport, stage: str, work: Callable[[], None]) -> None:
    started = time.perf_counter()
    work()
    report.seconds[stage] = time.perf_counter() - started


def _lay(store: Store, plan: Plan, progress: Progress) -> None:
    """Documents and chunks first: from here on every chunk has a state."""
    changed = {document.id for document, _ in plan.written}
    remove(store, plan.stale_chunks, plan.gone_documents)
    batch: list[tuple[Document, list[Chunk]]] = []
    done = size = 0
    for entry in plan.written:
        batch.append(entry)
        size += len(entry[1])
        if size >= _LAY_CHUNKS:
            write_documents(store, batch)
            done += len(batch)
            progress("documents", done, len(changed))
            batch, size = [], 0
    if batch:
        write_documents(store, batch)
    progress("documents", len(changed), len(changed))


# ------------------------------------------------------------------------------------------------------------- reading


def _read(tools: Tools, plan: Plan, report: IngestReport) -> None:
    """Extract window by window; a window's proposals widen the schema of the next."""
    proposals = _known_proposals(tools.store)
    run = {chunk.id for chunk, _ in plan.chunks}
    counted: list[Proposed] = [each for chunk, found in proposals.items() if chunk not in run for each in found]
    schema, expansions = _expanded(tools, counted)
    reader = _ChunkReader(tools, report, len(plan.pending))
    with reader, Writer(tools.store) as writer:
        for window in _windows(plan.chunks, reader.window):
            pending = [(chunk, document) for chunk, document in window if chunk.id not in plan.done]
            found = reader.read(pending, schema, writer)
            found += [each for chunk, _ in window if chunk.id in plan.done for each in proposals.get(chunk.id, ())]
            if found:
                counted += found
                schema, expansions = _expanded(tools, counted)
            if reader.stopped:
                break
        reader.flush(writer)
    report.expansions = expansions


def _windows(chunks: list[tuple[Chunk, Document]], size: int) -> Iterator[list[tuple[Chunk, Document]]]:
    stream = iter(chunks)
    while window := list(islice(stream, size)):
        yield window


def _known_proposals(store: Store) -> dict[str, list[Proposed]]:
    rows = store.read("build/proposals")
    return {
        row["chunk"]: [(row["chunk"], row["document"], Proposal(**each)) for each in json.loads(row["proposals"])]
        for row in rows
    }


def _expanded(tools: Tools, counted: list[Proposed]) -> tuple[Schema, list[Expansion]]:
    # Over all proposals each time: they are few beside the calls of a window, and order cannot matter this way.
    settings = tools.settings
    expansions = accepted(counted, tools.schema, settings.expansion_threshold, settings.expansion_support)
    return tools.schema.with_expansions(expansions), expansions


class _ChunkReader:
    """Runs the extractor over chunks, several at once, and hands what it says to the writer in reading order."""

    def __init__(self, tools: Tools, report: IngestReport, total: int) -> None:
        self.stopped = False
        self._tools = tools
        self._report = report
        self._total = total
        self._done = 0
        self._rows = Rows()
        self._states: list[Row] = []
        self._committed = time.monotonic()
        waits_on_network = tools.extractor.name == "llm"
        self._pool = ThreadPoolExecutor(tools.settings.concurrency) if waits_on_network else None
        self._halt = threading.Event()
        self.window = WINDOW if waits_on_network else 1

    def __enter__(self) -> _ChunkReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._halt.set()
        if self._pool is not None:
            # Ctrl-C does not wait for a model that may never answer.
            self._pool.shutdown(wait=kind is not KeyboardInterrupt, cancel_futures=True)

    def read(self, window: list[tuple[Chunk, Document]], schema: Schema, writer: Writer) -> list[Proposed]:
        """Read the chunks of ``window`` and return what they propose."""
        proposed: list[Proposed] = []
        for (chunk, document), result in self._results(window, schema):
            try:
                extraction = result()
            except BudgetError as error:
                self.stopped = True
                self._report.stopped = self._report.stopped or str(error)
                self._halt.set()
                continue
            except (ModelError, InputError) as error:  # the model cannot, or the recording does not say
                self._fail(chunk, str(error))
                continue
            self._take(chunk, document, extraction, schema)
            proposed += [(chunk.id, document.id, proposal) for proposal in extraction.proposals]
            if self._is_due():
                self.flush(writer)
        return proposed

    def flush(self, writer: Writer) -> None:
        """Hand over what was read since the last time, as one transaction."""
        if self._states:
            writer.put(extraction_statements(self._rows, self._states))
        self._rows, self._states, self._committed = Rows(), [], time.monotonic()

    def _results(
        self, window: list[tuple[Chunk, Document]], schema: Schema
    ) -> Iterator[tuple[tuple[Chunk, Document], Callable[[], Extraction]]]:
        extract = self._tools.extractor.extract
        if self._pool is None:
            for chunk, document in window:
                yield (chunk, document), partial(extract, chunk, document, schema)
            return
        futures: list[Future[Extraction]] = [self._pool.submit(self._extract, *each, schema) for each in window]
        for each, future in zip(window, futures, strict=True):
            yield each, future.result

    def _extract(self, chunk: Chunk, document: Document, schema: Schema) -> Extraction:
        if self._halt.is_set():
            raise BudgetError("The run is stopping.")
        return self._tools.extractor.extract(chunk, document, schema)

    def _take(self, chunk: Chunk, document: Document, extraction: Extraction, schema: Schema) -> None:
        usable = _without_unusable(extraction)
        bounded, counts = bound(usable, schema, self._tools.mode)
        rows = rows_of(chunk, bounded, schema, document.name)
        self._rows.add(rows)
        self._states.append({"id": chunk.id, "state": _state(usable, bounded, counts, rows)})
        self._report.extracted += 1
        self._advance()

    def _fail(self, chunk: Chunk, reason: str) -> None:
        self._report.failed.append(FailedChunk(chunk.id, chunk.name, reason))
        self._states.append({"id": chunk.id, "state": {"state": "failed", "failure": reason}})
        self._advance()

    def _advance(self) -> None:
        self._done += 1
        self._tools.progress("extracting", self._done, self._total)

    def _is_due(self) -> bool:
        size = len(self._rows.mentions) + len(self._rows.triples)
        return size >= _COMMIT_ROWS or time.monotonic() - self._committed > _COMMIT_SECONDS


def _state(usable: Extraction, bounded: Extraction, counts: Counts, rows: Rows) -> Row:
    found, not_found = rows.found()
    malformed = sorted(Counter(each.kind for each in usable.malformed).items())
    stated = len(bounded.triples) + len(bounded.attributes) + len(bounded.facts)
    return {
        "state": EXTRACTED,
        "failure": None,
        "kept": counts.kept,
        "mapped": counts.mapped,
        "dropped": counts.dropped,
        "offSchema": counts.off_schema,
        "found": found,
        "notFound": not_found,
        "duplicates": stated - found - not_found,
        "malformedKinds": [kind for kind, _ in malformed],
        "malformedCounts": [count for _, count in malformed],
        "proposals": json.dumps([asdict(each) for each in bounded.proposals]) if bounded.proposals else None,
    }


def _without_unusable(extraction: Extraction) -> Extraction:
    """``extraction`` without what has no name, or one too long to be a name; that is malformed, and counted."""
    entities = tuple(each for each in extraction.entities if has_usable_names([each.name]))
    triples = tuple(each for each in extraction.triples if _is_usable(each))
    attributes = tuple(each for each in extraction.attributes if has_usable_names([each.entity, each.key]))
    lost = (
        len(extraction.entities) + len(extraction.triples) + len(extraction.attributes)
        - len(entities) - len(triples) - len(attributes)
    )  # fmt: skip
    malformed = extraction.malformed + (Malformed("name that is empty or too long", ""),) * lost
    return replace(extraction, entities=entities, triples=triples, attributes=attributes, malformed=malformed)


def _record_expansions(tools: Tools) -> None:
    """The schema's expansions, from the proposals that are in the graph now."""
    state = graph_state(tools.store)
    if "schema" in state:
        schema = Schema.from_dict(json.loads(state["schema"]))
        proposals = [each for found in _known_proposals(tools.store).values() for each in found]
        _, expansions = _expanded(replace(tools, schema=schema), proposals)
        recorded = json.dumps([asdict(each) for each in expansions], ensure_ascii=False)
        tools.store.write(("build/set_graph_state", {"state": {"expansions": recorded}}))


def _is_usable(triple: ExtractedTriple) -> bool:
    return has_usable_names([triple.subject, triple.predicate, triple.object])


def _finish(tools: Tools, plan: Plan, report: IngestReport) -> None:
    """Record the schema as it has become, and add up the report."""
    state = {
        "schema": json.dumps(tools.schema.to_dict(), ensure_ascii=False),
        "expansions": json.dumps([asdict(each) for each in report.expansions], ensure_ascii=False),
        "chunkTokens": tools.settings.chunk_tokens,
        "extractor": tools.extractor.name,
        "mode": tools.mode,
    }
    tools.store.write(("build/set_graph_state", {"state": state}))
    documents = [document.id for document in plan.documents]
    for start in range(0, len(documents), 1000):
        report.count(tools.store.read("build/counts", documents=documents[start : start + 1000]))
    report.added, report.changed, report.unchanged = plan.added, plan.changed, plan.unchanged
    report.removed, report.skipped = len(plan.gone_documents), plan.skipped
    report.chunks = len(plan.chunks)
    report.characters = sum(len(document.text) for document in plan.documents)
    report.usage = tools.ledger.by_stage()


def remove_documents(tools: Tools, documents: Sequence[str], chunks: Sequence[str]) -> None:
    """Remove documents by id, with their ``chunks``, and settle what stays.

    The documents go last: a removal that was killed can be asked for again by their names.
    """
    remove(tools.store, chunks, ())
    _record_expansions(tools)
    settle(tools.store, tools.embedder, tools.settings.same_as_threshold, tools.progress)
    remove(tools.store, (), documents)
