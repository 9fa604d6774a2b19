"""The gist memory of documents (ReadAgent, section 3.1): the job of ``kgplatform gist``, step by step.

survey     which documents have all their pages and gists, made as they are wanted now
paginate   pause after pause; a page is committed as soon as its end is known
gist       page by page, several at once; a gist is committed as it comes
fit        pages merged, or older gists shortened again, where the gists of a document are too long
settle     vectors of gists, and their index

A run that was killed resumes where it stopped: what was committed is not asked for again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from kgplatform.concurrency.stopwatch import Stopwatch
from kgplatform.concurrency.threads import Breaker, Work, run_works
from kgplatform.errors import ModelError
from kgplatform.gist.memory import (
    ChangedMeanwhileError,
    Gist,
    GistRun,
    Page,
    Reading,
    follows,
    forget,
    open_memory,
    survey,
    write_compression,
    write_failure,
    write_gist,
)
from kgplatform.gist.options import GistOptions, GistReport
from kgplatform.gist.pagination import Offer, Pause, ask_pause, next_offer, uniform_ends
from kgplatform.gist.shorten import shorten, shrink
from kgplatform.ingest.graph_state import check_embedder, define_keys, graph_state
from kgplatform.ingest.settle import embed_pending
from kgplatform.models.chat import Chat, Ledger
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import Progress, Usage
from kgplatform.settings import Settings

_PAUSING, _GISTING, _OPENING = range(3)
"""What goes first: the next pause, on which all else of a document waits; then gists; new documents last, so that few
texts are in memory at once."""

_RESUMES = "Finished gists are kept. Make gists again with the same options to continue."
_HALF_THERE = "Some of its passages are missing: an ingest of it was interrupted. Ingest it again."


@dataclass(frozen=True, slots=True)
class GistTools:
    """What a run works with."""

    store: Store
    embedder: Embedder
    chat: Chat
    settings: Settings
    ledger: Ledger
    """What the run spends, and nothing else does."""
    progress: Progress


def gist_documents(tools: GistTools, documents: Sequence[str], options: GistOptions) -> GistReport:
    """Give each of ``documents`` (ids) its pages and gists, and report what that took.

    Safe to repeat, and to kill at any moment. A memory that was made with other options is replaced. Pages and gists
    that the budget does not reach stay for the next run, as do pages that the model failed at; where it fails at page
    after page, the run stops and says so.
    """
    watch = Stopwatch()
    with watch.stage("survey"):
        check_embedder(graph_state(tools.store), tools.embedder)
        define_keys(tools.store)
    run = GistRun(tools.store, tools.chat, options, tools.progress)
    breaker = Breaker("pages", "made")
    due = {}
    while True:
        with watch.stage("survey"):
            lacking = [row for row in survey(tools.store, documents, options.question) if not _is_done(row, options)]
        due.update({row["id"]: row for row in lacking})
        run.begin(sum(row["characters"] for row in lacking))
        with watch.stage("gist"):
            begin = partial(_begin, run)
            works = [Work(_OPENING, partial(_open, run, row), begin, _cannot_open, asks=False) for row in lacking]
            try:
                stopped = run_works(works, tools.settings.calls_at_once, breaker)
                break
            except ChangedMeanwhileError as error:  # what was paid for is kept, in the graph or with the replies
                run.tally.notes.append(f"{error} It was read again.")
    if stopped and not breaker.broke:
        run.tally.notes.append(_RESUMES)
    watch.add(embed_pending(tools.store, tools.embedder, "pages", tools.progress))
    rows = survey(tools.store, documents, options.question)
    return _report(run, rows, due.keys(), tools.ledger.by_stage(), watch, stopped)


def _is_done(row: Row, options: GistOptions) -> bool:
    """Whether a document has all its gists, made as is wanted, and few enough tokens of them."""
    fits = options.fit is None or row["gistTokens"] <= options.fit
    # A run that was killed before it wrote what the gists save did not get to the end.
    saved = bool(options.question) or row["compression"] is not None or not row["words"]
    return _has_all(row) and all(made in options.accepted for made in row["made"]) and fits and saved


def _has_all(row: Row) -> bool:
    return bool(row["paginated"]) and row["gisted"] == row["pages"]


def _open(run: GistRun, row: Row) -> tuple[Row, Reading]:
    made = row["made"][0] if len(row["made"]) == 1 else run.options.made
    memory = open_memory(run.store, row, run.options.question, made)
    return row, Reading.of(memory, run.options)


def _cannot_open(error: ModelError) -> Iterable[Work]:
    raise error  # no model is asked for that


def _begin(run: GistRun, opened: tuple[Row, Reading]) -> Iterable[Work]:
    """The work on a document: what is missing, or all of it where its pages are not as they are wanted."""
    row, reading = opened
    memory = reading.memory
    if memory.tokens != row["tokens"]:
        reading.fail(run, 0, _HALF_THERE)
        return ()
    is_other = any(made not in run.options.accepted for made in row["made"])
    if is_other or not follows(memory.pages, len(memory.text)):
        if not is_other:
            run.tally.notes.append(f"The pages of {memory.title} had gaps and were made again.")
        run.tally.replaced += is_other
        forget(run.store, memory)
        memory.made = run.options.made
    run.paginated += memory.reached
    if memory.document not in run.begun:
        run.tally.kept += sum(page.gist is not None for page in memory.pages)
        run.begun.add(memory.document)
    missing = [page for page in memory.pages if page.gist is None]
    run.gists += len(missing)
    return [*_gists(run, reading, missing), *_next_page(run, reading)]


def _next_page(run: GistRun, reading: Reading) -> Iterable[Work]:
    """The next pause with the gists of pages that need none, or what comes after the last."""
    if run.options.uniform and not reading.memory.is_paginated:
        ends = [end for end in uniform_ends(reading.found, run.options) if end > reading.first]
        return _gists(run, reading, reading.add(run, ends))
    works: list[Work] = []
    while not reading.memory.is_paginated:
        offer = next_offer(reading.found, reading.first, run.options)
        if not offer.settled:
            return [*works, _pause(run, reading, offer)]
        works += _gists(run, reading, reading.add(run, [offer.end]))
    return works or _follow(run, reading)


def _pause(run: GistRun, reading: Reading, offer: Offer) -> Work:
    memory = reading.memory
    last_page = memory.text_of(memory.pages[-1]).strip() if memory.pages else ""

    def take(pause: Pause) -> Iterable[Work]:
        if pause.malformed:
            run.tally.malformed[pause.malformed] += 1
        works = _gists(run, reading, reading.add(run, [pause.end]))
        return [*works, *_next_page(run, reading)]

    call = partial(ask_pause, run.chat, memory.text, reading.found, offer, run.options, last_page)
    return reading.work(run, _PAUSING, call, take, len(memory.pages))


def _gists(run: GistRun, reading: Reading, pages: Iterable[Page]) -> list[Work]:
    def take(page: Page, gist: Gist) -> Iterable[Work]:
        write_gist(run.store, reading.memory, page.with_gist(gist))
        run.tally.written += 1
        run.tally.malformed.update(gist.malformed)
        run.advanced(gists=1)
        return _follow(run, reading)

    def fail(page: Page, reason: str) -> None:
        write_failure(run.store, page, reason)
        run.advanced(gists=1)

    works = []
    for page in pages:
        call = partial(shorten, run.chat, reading.memory.text_of(page), run.options)
        works.append(reading.work(run, _GISTING, call, partial(take, page), page.index, partial(fail, page)))
    return works


def _follow(run: GistRun, reading: Reading) -> Iterable[Work]:
    """What comes when no work on a document is left: merged pages are gisted, gists made to fit, or it is done."""
    memory = reading.memory
    if reading.waiting or reading.failed or not memory.is_paginated:
        return ()
    missing = [page for page in memory.pages if page.gist is None]
    if missing:
        run.gists += len(missing)
        return _gists(run, reading, missing)
    write_compression(run.store, memory)
    if run.options.fit is not None and memory.gist_tokens > run.options.fit:
        return shrink(run, reading, partial(_follow, run))
    return ()


def _report(
    run: GistRun, rows: Sequence[Row], due: Collection[str], usage: dict[str, Usage], watch: Stopwatch, stopped: str
) -> GistReport:
    """``rows``: how the memories are now; ``due``: the documents that were not done before."""
    options, tally, notes = run.options, run.tally, list[str]()
    if rows and not due:
        notes.append("All pages of these documents already have gists; no model was called.")
    if tally.replaced:
        what = "document had pages" if tally.replaced == 1 else "documents had pages"
        notes.append(f"{tally.replaced:,} {what} made with other options, which were replaced.")
    if empty := sum(not row["tokens"] for row in rows):
        notes.append(f"{empty:,} of the documents {'has' if empty == 1 else 'have'} no text, and so no page.")
    return GistReport(
        options.preset,
        options.min_words,
        options.max_words,
        options.uniform,
        options.question,
        documents=len(rows),
        complete_documents=sum(_has_all(row) for row in rows),
        replaced=tally.replaced,
        pages=sum(row["pages"] for row in rows),
        pages_new=tally.pages_new,
        written=tally.written,
        kept=tally.kept + sum(row["gisted"] for row in rows if row["id"] not in due),
        shortened=tally.shortened,
        words=sum(row["words"] for row in rows),
        gisted_words=sum(row["gistedWords"] for row in rows),
        gist_words=sum(row["gistWords"] for row in rows),
        gist_tokens=sum(row["gistTokens"] for row in rows),
        flags=Counter(flag for row in rows for flag in row["flags"]),
        malformed=tally.malformed,
        merged=tally.merged,
        failed=tally.failed,
        too_long=tally.too_long,
        usage=usage,
        seconds={**watch.seconds, "total": watch.total()},
        stopped=stopped,
        notes=tally.notes + notes,
    )
