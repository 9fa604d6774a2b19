"""Text into graph: the main job, step by step.

compare   load the files, cut them into passages, see what the graph has of them, group by group
lay       write documents and passages, take away what changed
extract   from each passage that is not done, bounded by the schema; each transaction says which are
settle    names, vectors, likenesses, indexes

What is laid and extracted for the first build of a large graph comes in at once (``bulk``), and then is settled.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from kgplatform.concurrency.spans import Stopwatch
from kgplatform.concurrency.workers import bounded_calls, open_workers
from kgplatform.errors import InputError, ModelError
from kgplatform.extract.schema import Expansion
from kgplatform.ingest.bulk import FirstBuild
from kgplatform.ingest.compare import NewLanguages, Plan, check_prune, compare, gone_files, lay
from kgplatform.ingest.corrections import grown_schema
from kgplatform.ingest.facts_pass import BY_PASS, FactsRead, read_facts_of_passages
from kgplatform.ingest.graph_state import (
    bring_up_to_date,
    check_embedder,
    define_graph,
    graph_state,
    is_up_to_date,
    set_state,
)
from kgplatform.ingest.schema_expansion import KnownGrowth, fill_in
from kgplatform.ingest.settle import Settled, Unembedded, settle
from kgplatform.ingest.window import FailedPassage, PassagesRead, Tools, extract_passages
from kgplatform.ingest.write import remove
from kgplatform.models.chat import Chat
from kgplatform.models.embed import MULTILINGUAL, knows_english_only
from kgplatform.models.forms import Form, items
from kgplatform.models.reply import ask
from kgplatform.neo4j.passes import Pass
from kgplatform.neo4j.store import Row, Store
from kgplatform.prompt import fence_for, render
from kgplatform.records import GoneFile, SkippedFile, Usage
from kgplatform.shown import Shown
from kgplatform.sources.load import named_folders
from kgplatform.sources.objects import ADOPTED, Texts
from kgplatform.text import clipped, hash64
from kgplatform.text.languages import NAMES

_COUNTED_AT_ONCE = 500
_MOST_LEFT_OUT = 1000
_REPLACED = "Skipped {:,} passages that another process removed or replaced while they were being read."


@dataclass(frozen=True, slots=True, repr=False)
class IngestReport(Shown):
    """What an ingest did. Counts of extraction are over all passages of the files named, read now or before.

    ``facts_read``: passages that ``--facts`` read now, ``facts_found`` the atomic facts in them, ``facts_failed`` the
    passages that it could not read, which keep the facts that they have. ``unread``, ``facts_unread``: passages for
    which the model was not asked again, since its reply was of no use before (``retry_failed``). ``unnamed``: entities
    and key elements that their passage does not name, which were left out with what is said of them; ``turned``:
    statements that were put right (``bound``). ``left_out``: the commonest of what is not kept, with counts: under
    "type", "relation" and "attribute" what the schema lacks, under other reasons names. ``names``: how many different
    ones there are, ``untyped`` those without a type in the schema.
    ``expansions``: all types that the schema of the graph has grown by, ``expansions_added`` those of this run.
    ``reread``: documents that were as they are in the graph, and were read again all the same. ``gone``: files beneath
    the folders named that are not there any more; the documents that went with them, or from a corpus, are ``removed``.
    ``settled``: names, facts and passages that got their vectors and their likenesses now; ``unembedded``: those that
    the embedding model has no vector for, which a search by meaning does not find.
    """

    extractor: str
    schema: str
    mode: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    reread: int = 0
    removed: int = 0
    gone: list[GoneFile] = field(default_factory=list)
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
    left_out: dict[str, dict[str, int]] = field(default_factory=dict)
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
    settled: int = 0
    unembedded: list[Unembedded] = field(default_factory=list)
    unread: int = 0
    facts_unread: int = 0
    stopped: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do for these files."""
        left = (self.failed, self.facts_failed, self.unembedded, self.unread, self.facts_unread)
        return not (self.stopped or any(left))


_TOLD = (
    "The graph was made by an earlier version; its texts in {} can now be searched by the words of their language. "
    "Names and facts are unchanged; to read them again, ingest with reread."
)
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


def ingest(
    tools: Tools, paths: Sequence[str | Path], texts: Texts, turn: Pass, *, prune: bool = False, reread: bool = False
) -> IngestReport:
    """Update the graph from the files of ``paths`` and from ``texts``, and report what that took. ``turn`` is alone.

    ``prune``: documents of files that are gone from the folders among ``paths`` are removed. ``reread``: documents
    that have not changed are read again.

    Safe to repeat, and to kill at any moment: the same command resumes. Memory does not depend on how much is read.
    """
    watch = Stopwatch()
    with watch.stage("load"):
        if prune:
            check_prune(tools.store, paths)
        before = graph_state(tools.store)
        check_embedder(before, tools.embedder)
        languages = NewLanguages(tools.store, are_told=is_up_to_date(before))
        define_graph(tools.store, tools.embedder)
    with (
        Plan(tools.settings.home_folder) as plan,
        FirstBuild(tools, turn) as build,
        bounded_calls(tools.settings, tools.store.stop) as calls,
        open_workers(tools.settings) or nullcontext() as workers,
    ):
        with watch.stage("lay"):
            how: dict[str, Any] = {"request": "" if tools.retry_failed else tools.request, "metadata": tools.metadata}
            how |= {"texts": texts, "reread": reread, "progress": tools.progress}
            compared = watch.each("load", compare(tools.store, paths, tools.settings, calls, workers, **how))
            lay(tools.store, build.begin(languages.among(compared)), plan, tools.progress, build.spill)
        if build.spill is None:
            turn.share()
        with watch.stage("extract"):
            read = extract_passages(tools, plan, turn, build.spill, workers)
        if build.spill is not None:
            with watch.stage("import"):
                build.bring_in()
        turn.alone()
        if not (read.stopped or read.failed):
            with watch.stage("extract"):
                fill_in(tools.store, tools.schema, read.schema)
        with watch.stage("gone"):
            gone = gone_files(tools.store, paths, prune=prune, progress=tools.progress)
        report = _report(tools, plan, read, before, gone)
        empty = [f"{folder} has no files." for folder, is_empty in named_folders(paths) if is_empty]
        report.notes.extend([*([build.note] if build.note else ()), *empty, *texts.notes])
        if tools.facts_from is not None and not read.stopped:
            turn.share()
            with watch.stage("facts"):
                facts = read_facts_of_passages(tools, tools.facts_from, turn, plan, read.schema)
            turn.alone()
            report = _with_facts(report, facts, "these files")
        done = settle(tools.store, tools.embedder, tools.settings, tools.progress, read.schema)
        report = _with_vectors(report, done, watch)
        _record(tools)
        tools.progress("counting", 0, 1)
        with watch.stage("count"):
            report = replace(report, **_counts(tools.store, plan))
        tools.progress("counting", 1, 1)
        report.notes.extend(_note_on_languages(tools, languages))
    return replace(report, usage=tools.ledger.by_stage(), seconds={**watch.seconds, "total": watch.total()})


def _report(tools: Tools, plan: Plan, read: PassagesRead, before: Row, gone: list[GoneFile]) -> IngestReport:
    known = {(expansion["kind"], expansion["name"]) for expansion in json.loads(before.get("expansions", "[]"))}
    return IngestReport(
        tools.extractor.name,
        tools.schema.name,
        tools.mode,
        added=plan.verdicts["added"],
        changed=plan.verdicts["changed"],
        unchanged=plan.verdicts["unchanged"],
        reread=plan.verdicts["reread"],
        removed=plan.removed + sum(file.documents for file in gone if file.removed),
        gone=gone,
        skipped=plan.skipped,
        passages=plan.passages,
        extracted=read.read,
        failed=read.failed,
        unread=plan.unread,
        expansions=read.expansions,
        expansions_added=[expansion for expansion in read.expansions if (expansion.kind, expansion.name) not in known],
        characters=plan.characters,
        stopped=read.stopped,
        notes=[
            *([_REPLACED.format(read.gone)] if read.gone else ()),
            *_notes_on_others(tools, before, plan.passages - plan.pending - plan.unread),
        ],
    )


def ingest_facts(tools: Tools, turn: Pass) -> IngestReport:
    """Read atomic facts from every passage of the graph that lacks them; no file is looked at. ``turn`` is alone."""
    watch = Stopwatch()
    check_embedder(graph_state(tools.store), tools.embedder)
    if tools.facts_from is None:
        raise InputError("Reading facts needs a language model, and none is configured.")
    define_graph(tools.store, tools.embedder)
    turn.share()
    with watch.stage("facts"):
        facts = read_facts_of_passages(tools, tools.facts_from, turn, None, grown_schema(tools.store))
    turn.alone()
    report = IngestReport(BY_PASS, tools.schema.name, tools.mode, unnamed=facts.unnamed, malformed=facts.malformed)
    report = replace(report, left_out=_commonest(facts.left_out))
    report = _with_vectors(report, settle(tools.store, tools.embedder, tools.settings, tools.progress), watch)
    report = _with_facts(report, facts, "the graph")
    return replace(report, usage=tools.ledger.by_stage(), seconds={**watch.seconds, "total": watch.total()})


def _with_vectors(report: IngestReport, done: Settled, watch: Stopwatch) -> IngestReport:
    watch.add(done.seconds)
    return replace(report, settled=done.settled, unembedded=done.unembedded, notes=report.notes + done.notes())


def _with_facts(report: IngestReport, facts: FactsRead, where: str) -> IngestReport:
    notes = [] if facts.lacking else [f"All passages of {where} already have atomic facts; none was read."]
    return replace(
        report,
        facts_read=facts.read,
        facts_found=facts.facts,
        facts_failed=facts.failed,
        facts_unread=facts.unread,
        stopped=facts.stopped,
        notes=report.notes + notes,
    )


def _commonest(left_out: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    """For a report: the commonest of each kind first, and not without end."""
    return {kind: dict(counts.most_common(_MOST_LEFT_OUT)) for kind, counts in left_out.items()}


def _counts(store: Store, plan: Plan) -> dict[str, Any]:
    """The fields of the report that count what the passages of ``plan`` carry, and the names in them."""
    sums, malformed, left_out = Counter[str](), Counter[str](), dict[str, Counter[str]]()
    names = [np.zeros(0, np.uint64)]
    documents = plan.document_ids
    while some := list(islice(documents, _COUNTED_AT_ONCE)):
        for row in store.read("ingest/counts", documents=some):
            sums.update({name: row[column] for name, column in _COUNTED.items()})
            malformed.update(dict(zip(row["malformed"], row["times"], strict=True)))
            for kind, counts in json.loads(row["notKept"]).items():
                left_out.setdefault(kind, Counter()).update(counts)
        # Names are many: eight bytes stand for one, a hash, and in the last bit whether it has a type.
        found = [hash64(row["name"]) & ~1 | row["typed"] for row in store.read("ingest/names", documents=some)]
        names.append(np.unique(np.array(found, np.uint64)))
    every = np.unique(np.concatenate(names))
    different, typed = np.unique(every >> 1).size, int(np.count_nonzero(every & 1))
    told = {"malformed": malformed, "left_out": _commonest(left_out)}
    return {**sums, **told, "names": different, "untyped": different - typed}


def _notes_on_others(tools: Tools, before: Row, done: int) -> list[str]:
    """Says so if passages that stay as they are were read in another way than this ingest reads."""
    if not done or "extractor" not in before or tools.extractor.name == ADOPTED:
        return []
    now = json.dumps(tools.schema.to_dict(), ensure_ascii=False)
    if (before["extractor"], before["schema"], before["mode"]) == (tools.extractor.name, now, tools.mode):
        return []
    last, is_other = json.loads(before["schema"])["name"], before["schema"] != now
    since = ", which has changed since" if is_other and last == tools.schema.name else ""
    schema = f" The graph's schema is {tools.schema.name} from now on." if is_other and not since else ""
    passages = "1 passage was not read again" if done == 1 else f"{done:,} passages were not read again"
    return [
        f"{passages}. The last ingest used extractor {before['extractor']}, mode {before['mode']} and schema "
        f"{last}{since}.{schema} To read them again, ingest with reread."
    ]


def _note_on_languages(tools: Tools, languages: NewLanguages) -> list[str]:
    """Says of each language that the embedding model does not know it, with the first documents that are in it; and
    that those of an older graph are known now."""
    new = languages.codes
    if not new:
        return []
    *first, last = [NAMES.get(code, code) for code in new]
    named = f"{', '.join(first)} and {last}" if first else last
    told = [] if languages.are_told else [_TOLD.format(named)]
    if not knows_english_only(tools.embedder):
        return told
    return [
        *told,
        f"Some documents are in {named}, and the embedding model supports English only: a search finds "
        f"them by words, not by meaning. To search by meaning too, set KGPLATFORM_EMBEDDER={MULTILINGUAL} and run "
        "`kgplatform reembed`.",
    ]


def _record(tools: Tools) -> None:
    """Record how the graph was read, with the schema as it has become."""
    state = {
        "schema": json.dumps(tools.schema.to_dict(), ensure_ascii=False),
        "expansions": _expansions(tools),
        "chunkTokens": tools.settings.passage_tokens,
        "schemaChosen": None,
    }
    how = {"extractor": tools.extractor.name, "mode": tools.mode}  # of texts: rows have one way to be read
    tools.store.write(set_state(**state, **({} if tools.extractor.name == ADOPTED else how)))


def _expansions(tools: Tools) -> str:
    """What the schema has grown by, by what all passages propose: another ingest may have written some meanwhile."""
    return KnownGrowth(tools.store, tools.schema).kept


def remove_documents(tools: Tools, documents: Sequence[str], passages: Sequence[str]) -> None:
    """Remove documents by id, with their ``passages``, and settle what stays. The documents go last: a removal that was
    killed can be asked for again by their names."""
    tools.progress("removing", 0, len(passages))
    bring_up_to_date(tools.store)
    remove(tools.store, passages, (), documents)
    tools.progress("removing", len(passages), len(passages))
    state = graph_state(tools.store)
    if "schema" in state:  # it keeps the expansions that passages in the graph propose
        tools.store.write(set_state(expansions=_expansions(tools)))
    settle(tools.store, tools.embedder, tools.settings, tools.progress)
    remove(tools.store, (), documents)


_INTRODUCED_PASSAGES = 6
_INTRODUCED_TOKENS = 500
_QUESTIONS = 3
_LONGEST_SUMMARY, _LONGEST_QUESTION = 900, 300
"""Characters."""


class _Introduced(Form):
    summary: str
    questions: list[str] = items(_QUESTIONS)


def introduced(store: Store, chat: Chat, sources: Collection[str]) -> list[str]:
    """Write a short summary and three questions to the documents of ``sources`` that have none for their text, such as
    pasted texts and pages of the web: one call of the model each. A line for people of each of these; where the model
    gave none, it says why, and the next time asks again."""
    lines = []
    for row in store.read("ingest/not_introduced", sources=list(sources), passages=_INTRODUCED_PASSAGES):
        messages = render("ingest/introduce", fence=fence_for(row["text"]), text=row["text"])
        try:
            made, _ = ask(chat, messages, _Introduced, stage="introduce", tokens=_INTRODUCED_TOKENS)
        except ModelError as error:
            lines.append(f"{row['title']}: no summary was written. {error}")
            continue
        summary = clipped(made.summary, _LONGEST_SUMMARY)
        questions = [clipped(each, _LONGEST_QUESTION) for each in made.questions[:_QUESTIONS]]
        said = {"id": row["id"], "sha256": row["sha256"], "summary": summary, "questions": questions}
        store.write(("ingest/introduce", {"rows": [said]}))
        lines.append(f"{row['title']}: {summary} You could ask: {' '.join(questions)}")
    return lines
