"""Text into graph: the main job, step by step.

plan    load the files, cut them into passages, compare with the graph
lay     write documents and passages, take away what changed
read    extract from each passage that is not done, bounded by the schema; each transaction says which are
settle  names, vectors, likenesses, indexes

``estimate`` says what that would cost.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from kgplatform.errors import InputError
from kgplatform.ingest.cut import cut_document
from kgplatform.ingest.extract.llm import extraction_messages, fact_messages
from kgplatform.ingest.extract_pass import (
    BY_PASS,
    EXTRACTED,
    FactsRead,
    FailedPassage,
    Item,
    Tools,
    expansions_of,
    extract_passages,
    known_proposals,
    passages_without_facts,
    read_facts_of_passages,
)
from kgplatform.ingest.graph_state import check_embedder, define_graph, graph_state, set_state
from kgplatform.ingest.load import load
from kgplatform.ingest.schema import Expansion, Schema
from kgplatform.ingest.settle import settle
from kgplatform.ingest.write import remove, write_documents
from kgplatform.neo4j.store import Row, Store, batches
from kgplatform.records import Document, Passage, Progress, SkippedFile, Usage
from kgplatform.settings import Settings
from kgplatform.text import count_tokens
from kgplatform.work.stopwatch import Stopwatch

T = TypeVar("T")

_LAY_PASSAGES = 500


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did. Counts of extraction are over all passages of the files named, read now or before.

    ``facts_read``: passages that ``--facts`` read now, ``facts_found`` the atomic facts in them, ``facts_failed`` the
    passages that it could not read, which keep the facts that they have. ``unnamed``: entities and key elements that
    their passage does not name, which were left out with what is said of them; ``turned``: statements that were put
    right (``turn``). ``names``: how many different ones there are, ``untyped`` those without a type in the schema.
    ``expansions``: all types that the schema of the graph has grown by, ``expansions_added`` those of this run.
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
    names: int = 0
    untyped: int = 0
    unnamed: int = 0
    turned: int = 0
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


_COUNTED = {
    "kept": "kept",
    "mapped": "mapped",
    "dropped": "dropped",
    "off_schema": "offSchema",
    "unnamed": "unnamed",
    "turned": "turned",
    "statements_found": "found",
    "statements_not_found": "notFound",
    "duplicates": "duplicates",
}
"""Counts of the report, and the columns of ``ingest/counts`` that they are the sums of."""


def ingest(tools: Tools, paths: Sequence[str | Path]) -> IngestReport:
    """Bring the graph to what the files of ``paths`` say, and report what that took.

    Safe to repeat, and to kill at any moment: the same command resumes where it stopped.
    """
    watch = Stopwatch()
    with watch.stage("load"):
        before = graph_state(tools.store)
        check_embedder(before, tools.embedder)
        define_graph(tools.store, tools.embedder)
        plan = make_plan(tools.store, paths, tools.settings.passage_tokens)
    with watch.stage("lay"):
        _lay(tools.store, plan, tools.progress)
    with watch.stage("extract"):
        read = extract_passages(tools, plan.passages, plan.done)
    known = {(expansion["kind"], expansion["name"]) for expansion in json.loads(before.get("expansions", "[]"))}
    report = IngestReport(
        tools.extractor.name,
        tools.schema.name,
        tools.mode,
        added=plan.added,
        changed=plan.changed,
        unchanged=plan.unchanged,
        removed=len(plan.gone_documents),
        skipped=plan.skipped,
        passages=len(plan.passages),
        extracted=read.read,
        failed=read.failed,
        expansions=read.expansions,
        expansions_added=[expansion for expansion in read.expansions if (expansion.kind, expansion.name) not in known],
        characters=sum(len(document.text) for document in plan.documents),
        stopped=read.stopped,
        notes=_notes_on_others(tools, before, len(plan.done)),
    )
    documents = [document.id for document in plan.documents]
    if tools.facts_from is not None and not read.stopped:
        with watch.stage("facts"):
            facts = read_facts_of_passages(tools, tools.facts_from, set(documents))
        report = _with_facts(report, facts, "these files")
    watch.add(settle(tools.store, tools.embedder, tools.settings, tools.progress))
    _record(tools, read.expansions)
    return _finished(replace(report, **_counts(tools.store, documents)), tools, watch)  # type: ignore[arg-type]  # counts


def ingest_facts(tools: Tools) -> IngestReport:
    """Read atomic facts from every passage of the graph that lacks them; no file is looked at."""
    watch = Stopwatch()
    check_embedder(graph_state(tools.store), tools.embedder)
    if tools.facts_from is None:
        raise InputError("Facts are read by a language model, and none is configured.")
    define_graph(tools.store, tools.embedder)
    with watch.stage("facts"):
        facts = read_facts_of_passages(tools, tools.facts_from, None)
    report = IngestReport(BY_PASS, tools.schema.name, tools.mode, unnamed=facts.unnamed, malformed=facts.malformed)
    watch.add(settle(tools.store, tools.embedder, tools.settings, tools.progress))
    return _finished(_with_facts(report, facts, "the graph"), tools, watch)


def _with_facts(report: IngestReport, facts: FactsRead, where: str) -> IngestReport:
    notes = (
        [] if facts.lacking else [f"Every passage of {where} has its atomic facts already: none was read for facts."]
    )
    return replace(
        report,
        facts_read=facts.read,
        facts_found=facts.facts,
        facts_failed=facts.failed,
        stopped=facts.stopped,
        notes=report.notes + notes,
    )


def _finished(report: IngestReport, tools: Tools, watch: Stopwatch) -> IngestReport:
    return replace(report, usage=tools.ledger.by_stage(), seconds={**watch.seconds, "total": watch.total()})


def _counts(store: Store, documents: Sequence[str]) -> dict[str, int | Counter[str]]:
    """The fields of the report that count what the passages of ``documents`` carry, and the names in them."""
    sums, malformed = Counter[str](), Counter[str]()
    for some in batches(documents):
        for row in store.read("ingest/counts", documents=some):
            sums.update({name: row[column] for name, column in _COUNTED.items()})
            malformed.update(dict(zip(row["malformed"], row["times"], strict=True)))
    (names,) = store.read("ingest/names", documents=list(documents))
    return {**sums, "malformed": malformed, **names}


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
        f"{last[1]}, mode {last[2]}. To read them again, `kgplatform remove` their documents first."
    ]


def _record(tools: Tools, expansions: Sequence[Expansion]) -> None:
    """Record how the graph was read, with the schema as it has become."""
    state = {
        "schema": json.dumps(tools.schema.to_dict(), ensure_ascii=False),
        "expansions": _as_json(expansions),
        "chunkTokens": tools.settings.passage_tokens,
        "extractor": tools.extractor.name,
        "mode": tools.mode,
    }
    tools.store.write(set_state(**state))


def _as_json(expansions: Sequence[Expansion]) -> str:
    return json.dumps([asdict(expansion) for expansion in expansions], ensure_ascii=False)


def _lay(store: Store, plan: IngestPlan, progress: Progress) -> None:
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


def remove_documents(tools: Tools, documents: Sequence[str], passages: Sequence[str]) -> None:
    """Remove documents by id, with their ``passages``, and settle what stays.

    The documents go last: a removal that was killed can be asked for again by their names.
    """
    remove(tools.store, passages, (), documents)
    state = graph_state(tools.store)
    if "schema" in state:  # it keeps the expansions that passages in the graph propose
        tools = replace(tools, schema=Schema.from_dict(json.loads(state["schema"])))
        proposed = [proposal for found in known_proposals(tools.store).values() for proposal in found]
        tools.store.write(set_state(expansions=_as_json(expansions_of(tools, proposed))))
    settle(tools.store, tools.embedder, tools.settings, tools.progress)
    remove(tools.store, (), documents)


@dataclass(frozen=True, slots=True)
class IngestPlan:
    """The difference between some files and the graph. ``passages`` are all passages of the files, in reading order.

    ``other_texts``: documents that are gone, or have another text or name than the graph has for them.
    """

    documents: list[Document] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    passages: list[Item] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    written: list[tuple[Document, list[Passage]]] = field(default_factory=list)
    stale_passages: list[str] = field(default_factory=list)
    gone_documents: list[str] = field(default_factory=list)
    other_texts: list[str] = field(default_factory=list)
    added: int = 0
    changed: int = 0
    unchanged: int = 0

    @property
    def pending(self) -> list[Item]:
        """The passages that nothing was extracted from yet."""
        return [item for item in self.passages if item[0].id not in self.done]


def make_plan(store: Store, paths: Sequence[str | Path], max_tokens: int) -> IngestPlan:
    """Load ``paths`` and compare them with the graph; nothing is written."""
    loaded = list(_unless_stopped(store, load(paths)))
    documents = [item for item in loaded if isinstance(item, Document)]
    known = _known(store, {document.source for document in documents})
    compared = [
        _compared(document, cut_document(document, max_tokens), known.pop(document.id, None))
        for document in _unless_stopped(store, documents)
    ]
    gone = sorted(known)  # what a file of several documents held before, and does not any more
    verdicts = Counter(each.verdict for each in compared)
    return IngestPlan(
        documents=documents,
        skipped=[item for item in loaded if isinstance(item, SkippedFile)],
        passages=[(passage, each.document) for each in compared for passage in each.passages],
        done=set[str]().union(*(each.done for each in compared)),
        written=[(each.document, each.passages) for each in compared if each.verdict != "unchanged"],
        stale_passages=[
            passage
            for stale in (*(each.stale for each in compared), *(known[each].states for each in gone))
            for passage in sorted(stale)
        ],
        gone_documents=gone,
        other_texts=[each.document.id for each in compared if each.is_other_text] + gone,
        added=verdicts["added"],
        changed=verdicts["changed"],
        unchanged=verdicts["unchanged"],
    )


def _unless_stopped(store: Store, items: Iterable[T]) -> Iterator[T]:
    for item in items:
        store.stop.check()
        yield item


def holds(store: Store, path: Path) -> bool:
    """Whether the graph has what ``path`` says: any of its documents, with the text that it has there now."""
    documents = {item.id: item.sha256 for item in load([path]) if isinstance(item, Document)}
    known = _known(store, [path.as_uri()]) if documents else {}
    return any(known[id].sha256 == sha256 for id, sha256 in documents.items() if id in known)


@dataclass(frozen=True, slots=True)
class _Known:
    """A document as the graph has it, with the states of its passages by id."""

    title: str
    sha256: str
    states: dict[str, str]


def _known(store: Store, sources: Iterable[str]) -> dict[str, _Known]:
    rows = store.read("ingest/existing_passages", sources=sorted(sources))
    return {row["id"]: _Known(row["name"], row["sha256"], dict(row["passages"])) for row in rows}


@dataclass(frozen=True, slots=True)
class _Compared:
    """A document of the files beside the graph's: which passages are ``done`` there, and which are ``stale``."""

    document: Document
    passages: list[Passage]
    verdict: Literal["added", "changed", "unchanged"]
    done: frozenset[str] = frozenset()
    stale: frozenset[str] = frozenset()
    is_other_text: bool = False


def _compared(document: Document, passages: list[Passage], known: _Known | None) -> _Compared:
    if known is None:
        return _Compared(document, passages, "added")
    # What a passage says may depend on the rest of its document and on the title: of another text, none is kept.
    if (known.title, known.sha256) != (document.title, document.sha256):
        return _Compared(document, passages, "changed", stale=frozenset(known.states), is_other_text=True)
    wanted = {passage.id for passage in passages}
    done = frozenset(passage for passage in wanted if known.states.get(passage) == EXTRACTED)
    stale = frozenset(known.states.keys() - wanted)
    return _Compared(document, passages, "unchanged" if known.states.keys() == wanted else "changed", done, stale)


OUTPUT_SHARE = 6.8
"""Tokens that a model writes for each token of a passage: the median of the sample corpus (docs/decisions.md)."""

FACTS_SHARE = 2.2
"""The same for facts with their key elements."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an ingest would cost. Tokens are counted offline, within about 10 %; output tokens are a rule of thumb."""

    documents: int
    passages: int
    pending_passages: int
    calls: int
    input_tokens: int
    output_tokens: int
    skipped: tuple[SkippedFile, ...]


def estimate(
    store: Store, paths: Sequence[str | Path], schema: Schema, extractor: str, settings: Settings, *, facts: bool
) -> Estimate:
    """The calls and tokens that ``ingest`` would spend on the passages that are not in the graph yet.

    ``facts``: and on reading facts from those that lack them, in the whole graph if there are no ``paths``. Of
    what a recording says of a passage nothing is known yet: such passages count as lacking them.
    """
    plan = make_plan(store, paths, settings.passage_tokens) if paths or not facts else IngestPlan()
    pending = plan.pending
    paid = pending if extractor == "llm" else []
    sizes = [sum(count_tokens(m["content"]) for m in extraction_messages(c, d, schema)) for c, d in paid]
    output = round(OUTPUT_SHARE * sum(passage.tokens for passage, _ in paid))
    lacking = _lacking(store, plan, unread=not paid) if facts else []
    if lacking:
        # What a prompt for facts has besides the text.
        empty = Passage("", "", "", 0, 0, 0, None, "", 0), Document("", "", "", "", "", "")
        prompt = sum(count_tokens(message["content"]) for message in fact_messages(*empty, settings.facts_tokens))
        sizes += [prompt + size for size in lacking]
        output += round(sum(min(FACTS_SHARE * size, settings.facts_tokens) for size in lacking))
    return Estimate(
        documents=len(plan.documents),
        passages=len(plan.passages),
        pending_passages=len(pending),
        calls=len(sizes),
        input_tokens=sum(sizes),
        output_tokens=output,
        skipped=tuple(plan.skipped),
    )


def _lacking(store: Store, plan: IngestPlan, *, unread: bool) -> list[int]:
    """The tokens of passages that lack facts: those that stay as they are; with ``unread`` those to be read as well."""
    if not plan.documents:
        return [row["tokens"] for row in passages_without_facts(store, None)]
    known = passages_without_facts(store, {document.id for document in plan.documents})
    staying = [row["tokens"] for row in known if row["id"] in plan.done]
    return staying + ([passage.tokens for passage, _ in plan.pending] if unread else [])
