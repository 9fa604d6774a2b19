"""Text into graph: the main job, step by step.

plan    load the files, cut them into passages, compare with the graph
lay     write documents and passages, take away what changed
read    extract from each passage that is not done, bounded by the schema; each transaction says which are
settle  names, vectors, likenesses, indexes
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path

from kgplatform.errors import InputError
from kgplatform.ingest.bound import Counts, accepted, bound
from kgplatform.ingest.extract import Extractor, Mode
from kgplatform.ingest.extract_pass import (
    WINDOW,
    Batch,
    Counted,
    FailedPassage,
    Item,
    PassageReader,
    read_facts_of_passages,
)
from kgplatform.ingest.graph_state import check_embedder, define_graph, graph_state, set_state
from kgplatform.ingest.plan import EXTRACTED, Plan, make_plan
from kgplatform.ingest.rows import Rows, has_usable_names, rows_of
from kgplatform.ingest.schema import Expansion, Schema
from kgplatform.ingest.settle import settle
from kgplatform.ingest.write import Writer, remove, write_documents
from kgplatform.models.chat import Chat, Ledger
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import (
    Document,
    ExtractedTriple,
    Extraction,
    Malformed,
    Passage,
    Progress,
    Proposal,
    SkippedFile,
    Usage,
)
from kgplatform.settings import Settings
from kgplatform.work.stopwatch import Stopwatch

_LAY_PASSAGES = 500

Proposed = tuple[str, str, Proposal]
"""Passage id, document id, and what the passage proposed."""


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


def ingest(tools: Tools, paths: Sequence[str | Path]) -> IngestReport:
    """Bring the graph to what the files of ``paths`` say, and report what that took.

    Safe to repeat, and to kill at any moment: the same command goes on where it stopped.
    """
    report, watch = IngestReport(tools.extractor.name, tools.schema.name, tools.mode), Stopwatch()
    with watch.stage("load"):
        before = graph_state(tools.store)
        check_embedder(before, tools.embedder)
        define_graph(tools.store, tools.embedder)
        plan = make_plan(tools.store, paths, tools.settings.passage_tokens)
        report.notes += _notes_on_others(tools, before, len(plan.done))
    with watch.stage("lay"):
        _lay(tools.store, plan, tools.progress)
    with watch.stage("extract"):
        _read(tools, plan, report)
    known = {(each["kind"], each["name"]) for each in json.loads(before.get("expansions", "[]"))}
    report.expansions_added = [each for each in report.expansions if (each.kind, each.name) not in known]
    if tools.facts_from is not None and not report.stopped:
        with watch.stage("facts"):
            _read_facts(tools, tools.facts_from, report, {document.id for document in plan.documents})
    watch.add(settle(tools.store, tools.embedder, tools.settings, tools.progress))
    _finish(tools, plan, report)
    report.seconds = {**watch.seconds, "total": watch.total()}
    return report


def ingest_facts(tools: Tools) -> IngestReport:
    """Read atomic facts from every passage of the graph that lacks them; no file is looked at."""
    report, watch = IngestReport("graphreader", tools.schema.name, tools.mode), Stopwatch()
    check_embedder(graph_state(tools.store), tools.embedder)
    if tools.facts_from is None:
        raise InputError("Facts are read by a language model, and none is configured.")
    define_graph(tools.store, tools.embedder)
    with watch.stage("facts"):
        _read_facts(tools, tools.facts_from, report, None)
    watch.add(settle(tools.store, tools.embedder, tools.settings, tools.progress))
    report.usage = tools.ledger.by_stage()
    report.seconds = {**watch.seconds, "total": watch.total()}
    return report


def _read_facts(tools: Tools, chat: Chat, report: IngestReport, documents: set[str] | None) -> None:
    found = read_facts_of_passages(tools.store, chat, tools.settings, tools.progress, documents)
    report.facts_read, report.facts_found, report.facts_failed = found.read, found.facts, found.failed
    report.malformed.update(found.malformed if documents is None else {})  # else the passages' own counts have them
    report.stopped = found.stopped
    if not found.lacking:
        where = "the graph" if documents is None else "these files"
        report.notes.append(f"Every passage of {where} has its atomic facts already: none was read for facts.")


def _notes_on_others(tools: Tools, before: Row, done: int) -> list[str]:
    """Says so if passages that stay as they are were read in another way than this ingest reads."""
    if not done or "extractor" not in before:
        return []
    schema = json.loads(before["schema"])["name"]
    last = (before["extractor"], schema, before["mode"])
    if last == (tools.extractor.name, tools.schema.name, tools.mode):
        return []
    return [
        f"{done:,} passages stay as an earlier ingest read them; the last one used extractor {last[0]}, schema "
        f"{last[1]}, mode {last[2]}. To read them anew, `kgplatform remove` their documents first."
    ]


def _lay(store: Store, plan: Plan, progress: Progress) -> None:
    """Documents and passages first: from here on every passage has a state."""
    changed = {document.id for document, _ in plan.written}
    other_texts = frozenset(plan.other_texts)
    remove(store, plan.stale_passages, plan.gone_documents, plan.other_texts)
    batch: list[tuple[Document, list[Passage]]] = []
    done = size = 0
    for entry in plan.written:
        batch.append(entry)
        size += len(entry[1])
        if size >= _LAY_PASSAGES:
            write_documents(store, batch, other_texts)
            done += len(batch)
            progress("documents", done, len(changed))
            batch, size = [], 0
    if batch:
        write_documents(store, batch, other_texts)
    progress("documents", len(changed), len(changed))


# ------------------------------------------------------------------------------------------------------------- reading


def _read(tools: Tools, plan: Plan, report: IngestReport) -> None:
    """Extract window by window; a window's proposals widen the schema of the next."""
    proposals = _known_proposals(tools.store)
    run = {passage.id for passage, _ in plan.passages}
    counted: list[Proposed] = [each for passage, found in proposals.items() if passage not in run for each in found]
    schema, expansions = _expanded(tools, counted)
    waits_on_network = tools.extractor.name == "llm"
    advance = Counted(tools.progress, "extracting", len(plan.pending))
    reader: PassageReader[Extraction] = PassageReader(
        tools.settings.concurrency if waits_on_network else None, advance, tools.store.stop
    )
    with reader, Writer(tools.store) as writer, Batch(writer) as batch:
        for window in _windows(plan.passages, WINDOW if waits_on_network else 1):
            pending = [(passage, document) for passage, document in window if passage.id not in plan.done]
            found = _read_window(tools, reader, batch, pending, schema)
            report.extracted += len(found)
            proposed = [each for proposals_of_passage in found for each in proposals_of_passage]
            proposed += [
                each for passage, _ in window if passage.id in plan.done for each in proposals.get(passage.id, ())
            ]
            if proposed:
                counted += proposed
                schema, expansions = _expanded(tools, counted)
            if reader.stopped:
                break
    report.failed, report.stopped = reader.failed, reader.stopped
    report.expansions = expansions


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
            batch.put(*_take(tools, passage, document, outcome, schema))
            found.append([(passage.id, document.id, proposal) for proposal in outcome.proposals])
    return found


def _windows(passages: list[tuple[Passage, Document]], size: int) -> Iterator[list[tuple[Passage, Document]]]:
    stream = iter(passages)
    while window := list(islice(stream, size)):
        yield window


def _known_proposals(store: Store) -> dict[str, list[Proposed]]:
    rows = store.read("ingest/proposals")
    return {
        row["passage"]: [(row["passage"], row["document"], Proposal(**each)) for each in json.loads(row["proposals"])]
        for row in rows
    }


def _expanded(tools: Tools, counted: list[Proposed]) -> tuple[Schema, list[Expansion]]:
    # Over all proposals each time: they are few beside the calls of a window, and order cannot matter this way.
    settings = tools.settings
    expansions = accepted(counted, tools.schema, settings.expansion_threshold, settings.expansion_support)
    return tools.schema.with_expansions(expansions), expansions


def _take(
    tools: Tools, passage: Passage, document: Document, extraction: Extraction, schema: Schema
) -> tuple[Row, Rows]:
    """What becomes of a passage that was read: its properties, and its rows."""
    usable = _without_unusable(extraction)
    bounded, counts = bound(usable, schema, tools.mode)
    rows = rows_of(passage, bounded, schema, document.title)
    by = tools.extractor.name
    facts_by = by if by in ("llm", "local") or rows.atomic_facts else None
    return {"id": passage.id, "state": _state(usable, bounded, counts, rows) | {"factsBy": facts_by}}, rows


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
        tools.store.write(set_state(expansions=recorded))


def _is_usable(triple: ExtractedTriple) -> bool:
    return has_usable_names([triple.subject, triple.predicate, triple.object])


def _finish(tools: Tools, plan: Plan, report: IngestReport) -> None:
    """Record the schema as it has become, and add up the report."""
    state = {
        "schema": json.dumps(tools.schema.to_dict(), ensure_ascii=False),
        "expansions": json.dumps([asdict(each) for each in report.expansions], ensure_ascii=False),
        "chunkTokens": tools.settings.passage_tokens,
        "extractor": tools.extractor.name,
        "mode": tools.mode,
    }
    tools.store.write(set_state(**state))
    documents = [document.id for document in plan.documents]
    for start in range(0, len(documents), 1000):
        report.count(tools.store.read("ingest/counts", documents=documents[start : start + 1000]))
    report.added, report.changed, report.unchanged = plan.added, plan.changed, plan.unchanged
    report.removed, report.skipped = len(plan.gone_documents), plan.skipped
    report.passages = len(plan.passages)
    report.characters = sum(len(document.text) for document in plan.documents)
    report.usage = tools.ledger.by_stage()


def remove_documents(tools: Tools, documents: Sequence[str], passages: Sequence[str]) -> None:
    """Remove documents by id, with their ``passages``, and settle what stays.

    The documents go last: a removal that was killed can be asked for again by their names.
    """
    remove(tools.store, passages, (), documents)
    _record_expansions(tools)
    settle(tools.store, tools.embedder, tools.settings, tools.progress)
    remove(tools.store, (), documents)


# ----------------------------------------------------------------------------------------------------------- the report


@dataclass(slots=True)
class IngestReport:
    """What an ingest did. Counts of extraction are over all passages of the files named, read now or before.

    ``facts_read``: passages that ``--facts`` read now, ``facts_found`` the atomic facts in them, ``facts_failed`` the
    passages that it could not read, which keep the facts that they have. ``expansions``: all types that the schema of
    the graph has grown by, ``expansions_added`` those of this run.
    """

    extractor: str
    schema: str
    mode: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)
    passages: int = 0
    extracted: int = 0
    failed: list[FailedPassage] = field(default_factory=list)
    kept: int = 0
    mapped: int = 0
    dropped: int = 0
    off_schema: int = 0
    statements_found: int = 0
    statements_not_found: int = 0
    duplicates: int = 0
    malformed: Counter[str] = field(default_factory=Counter)
    expansions: list[Expansion] = field(default_factory=list)
    expansions_added: list[Expansion] = field(default_factory=list)
    usage: dict[str, Usage] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    characters: int = 0
    facts_read: int = 0
    facts_found: int = 0
    facts_failed: list[FailedPassage] = field(default_factory=list)
    stopped: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do for these files."""
        return not (self.stopped or self.failed or self.facts_failed)

    def count(self, rows: list[Row]) -> None:
        """Take over the counts that the passages of these files carry."""
        for row in rows:
            self.kept += row["kept"]
            self.mapped += row["mapped"]
            self.dropped += row["dropped"]
            self.off_schema += row["offSchema"]
            self.statements_found += row["found"]
            self.statements_not_found += row["notFound"]
            self.duplicates += row["duplicates"]
            self.malformed.update(dict(zip(row["malformedKinds"], row["malformedCounts"], strict=True)))
