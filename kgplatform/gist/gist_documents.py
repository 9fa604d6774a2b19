"""The gist memory of documents (ReadAgent, section 3.1): the job of ``kgplatform gist``, step by step.

survey     which documents have all their pages and gists, made as they are wanted now
paginate   pause after pause; a page is committed as soon as its end is known
gist       page by page, several at once; a gist is committed as it comes
fit        pages merged, or older gists shortened again, where the gists of a document are too long
settle     vectors of gists, and their index

A run that was killed resumes where it stopped: what was committed is not asked for again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from kgplatform.concurrency.spans import Stopwatch
from kgplatform.concurrency.threads import Breaker, Work, run_works
from kgplatform.errors import ModelError, ReplyError
from kgplatform.gist.memory import (
    ChangedMeanwhileError,
    Gist,
    GistRun,
    Memory,
    Page,
    Reading,
    compression_of,
    open_memory,
    replace_pages,
    survey,
    write_gist,
)
from kgplatform.gist.options import GistOptions, GistReport, LongMemory
from kgplatform.gist.pagination import (
    Offer,
    Pause,
    ask_pause,
    covering,
    length,
    next_offer,
    paragraphs,
    uniform_ends,
)
from kgplatform.ingest.graph_state import check_embedder, define_keys, graph_state
from kgplatform.ingest.settle import embed_pending
from kgplatform.models.chat import Chat, Ledger
from kgplatform.models.embed import Embedder
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import ask, is_looped
from kgplatform.neo4j.store import Row, Store
from kgplatform.prompt import Messages, render
from kgplatform.records import Document, Progress, Usage
from kgplatform.settings import Settings
from kgplatform.sources.cut import cut_document
from kgplatform.text import count_tokens, node_id

_PAUSING, _GISTING, _OPENING = range(3)
"""What goes first: the next pause, on which all else of a document waits; then gists; new documents last, so that few
texts are in memory at once."""
_PIECES = 4  # parts of the longest paragraph: none of a longer one has more words
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
        run.characters, run.paginated, run.gists, run.gisted = sum(row["characters"] for row in lacking), 0, 0, 0
        run.failed.clear()
        with watch.stage("gist"):
            begin = partial(_begin, run)
            works = [Work(_OPENING, partial(_open, run, row), begin, _cannot_open, asks=False) for row in lacking]
            try:
                stopped = run_works(works, tools.settings.calls_at_once, breaker)
                break
            except ChangedMeanwhileError as error:  # what was paid for is kept, in the graph or with the replies
                run.notes.append(f"{error} It was read again.")
    if stopped and not breaker.broke:
        run.notes.append(_RESUMES)
    done = embed_pending(tools.store, tools.embedder, "pages", tools.progress)
    watch.add(done.seconds)
    run.notes.extend(done.all_notes())
    rows = survey(tools.store, documents, options.question)
    return _report(run, rows, due.keys(), tools.ledger.by_stage(), watch, stopped)


def _is_done(row: Row, options: GistOptions) -> bool:
    """Whether a document has all its gists, made as is wanted, and few enough tokens of them."""
    fits = options.fit is None or row["gistTokens"] <= options.fit
    # A run that was killed before it wrote what the gists save did not get to the end.
    saved = bool(options.question) or row["compression"] is not None or not row["words"]
    return bool(row["complete"]) and all(made in options.accepted for made in row["made"]) and fits and saved


def _open(run: GistRun, row: Row) -> tuple[Row, Reading]:
    made = row["made"][0] if len(row["made"]) == 1 else run.options.made
    memory = open_memory(run.store, row, run.options.question, made)
    kind, most = run.options.kind, run.options.longest_paragraph
    piece = max(1, most // _PIECES)  # so that there are places to choose from in a longer paragraph, too
    found = paragraphs(memory.text, most, kind.style, memory.starts, whole_lines=kind.whole_lines, piece_words=piece)
    return row, Reading(memory, found, covering(found, len(memory.text)))


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
    # Pages are a memory's beginning if they come in order, each where the one before it ends.
    ends = [0, *(page.end for page in memory.pages)]
    is_whole = [(page.index, page.start) for page in memory.pages] == list(enumerate(ends[:-1]))
    if is_other or not is_whole or ends[-1] > len(memory.text):
        if not is_other:
            run.notes.append(f"The pages of {memory.title} had gaps and were made again.")
        run.replaced += is_other
        run.store.write(("gist/remove_pages", {"memory": memory.id}), *compression_of(memory, None))
        memory.pages = []
        memory.made = run.options.made
    run.paginated += memory.reached
    if memory.document not in run.begun:
        run.kept += sum(page.gist is not None for page in memory.pages)
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
            run.malformed[pause.malformed] += 1
        works = _gists(run, reading, reading.add(run, [pause.end]))
        return [*works, *_next_page(run, reading)]

    call = partial(ask_pause, run.chat, memory.text, reading.found, offer, run.options, last_page)
    return reading.work(run, _PAUSING, call, take, len(memory.pages))


def _gists(run: GistRun, reading: Reading, pages: Iterable[Page]) -> list[Work]:
    def take(page: Page, gist: Gist) -> Iterable[Work]:
        write_gist(run.store, reading.memory, page.with_gist(gist))
        run.written += 1
        run.malformed.update(gist.malformed)
        run.advanced(gists=1)
        return _follow(run, reading)

    def fail(page: Page, reason: str) -> None:
        run.store.write(("gist/failures", {"rows": [{"id": page.id, "failure": reason}]}))
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
    run.store.write(*compression_of(memory, memory.compression))
    if run.options.fit is None or memory.gist_tokens <= run.options.fit:
        return ()
    # Both ways end: merging leaves fewer pages each time, and a gist is shortened again only as long as that makes it a
    # tenth shorter at least. What still does not fit then is reported.
    works = (_merge if run.options.shrink == "merge" else _older)(run, reading)
    if not works:
        run.too_long.append(LongMemory(memory.title, memory.gist_tokens))
    return works


STAGE = "gist"
_PROMPT = "gist/gist"
BEGINNING = "beginning"
OWN_TEXT = "own text"
"""Flags of a page: its gist is its first words, for the model wrote none; or all of it, for the model's was longer."""
TAGGED = "gist with a page tag"
LONGER = "gist longer than its page"
LOOPED = "gist that repeats itself"
PUT_RIGHT = "gist in a reply that was mended or asked for again"
NO_GIST = "no gist in two replies"
_FIRST_WORDS = 60
_FIRST_TOKENS = 160
_LEAST_REPLY = 200
_REPLY_SHARE = 2  # of the tokens of a page, the most that a reply may have, with its JSON: what is longer is no gist

_FEWEST_WORDS = 30  # that a gist is asked to have

_AGAIN = (
    "- It was shortened before. Shorten it again, to about half: what happened long ago is remembered in outline only."
)

_TAG = re.compile(r"[ \t]*</?\s*(?:page|text-[0-9a-f]{6,})\b[^<>\n]{0,20}>[ \t]*\n?", re.IGNORECASE)


class GistReply(Form):
    """A page, shortened."""

    gist: str


def shorten(chat: Chat, page: str, options: GistOptions, *, again: bool = False) -> Gist:
    """The gist of ``page``. A reply that has none, repeats itself, is longer than the page or is the prompt's example
    is asked for once more. Without a gist then, the page's first words are; where it was longer, the page's own text.
    ``again``: ``page`` is a gist, shortened once more (appendix F.3), and stays as it is where the model writes none.
    Raises ``ModelError``."""
    text, malformed = _asked(chat, gist_messages(page, options, again=again), "shorten" if again else STAGE, page)
    if text or again:
        return Gist(text, "", malformed)
    if LONGER in malformed:
        return Gist(page.strip(), OWN_TEXT, malformed)
    # The first words, or about as much of a text that white space does not part.
    words = " ".join(page.split()[:_FIRST_WORDS])
    passages = cut_document(Document("", "", "", "", words, ""), _FIRST_TOKENS)
    return Gist(passages[0].text if passages else "", BEGINNING, malformed)


def gist_messages(passage: str, options: GistOptions, *, again: bool = False) -> Messages:
    """The prompt to shorten ``passage``. The user's question and instruction are rules; the passage is data."""
    whole = length(passage)
    part = max(_FEWEST_WORDS, round(whole / options.kind.part / 10) * 10)
    words = whole // 2 if again else min(whole, part)
    rules = [f"- {options.kind.gist}"] if options.kind.gist else []
    if options.question:
        rules.append(
            f"- The reader wants to know: {options.question} Keep all that bears on that; the rest may be very short."
        )
    rules += [f"- The reader asks besides: {options.instruction}"] if options.instruction else []
    rules += [_AGAIN] if again else []
    return render(
        _PROMPT,
        words=str(words),
        noun=options.kind.noun,
        rules="".join(f"{rule}\n" for rule in rules),
        fence=f"text-{node_id(passage)[:12]}",
        passage=passage.strip(),
    )


def _asked(chat: Chat, messages: Messages, stage: str, page: str) -> tuple[str, tuple[str, ...]]:
    """What the model wrote, less what looks like a tag, and what was wrong with it; empty where neither of two replies
    has a gist of ``page``."""
    faults: list[str] = []

    def unusable(reply: GistReply) -> str:
        text = _TAG.sub("", reply.gist).strip()
        if is_looped(text) and not is_looped(page):
            faults.append(LOOPED)
            return 'in "gist" the same is said again and again; say each thing once.'
        if length(text) > length(page):
            faults.append(LONGER)
            return '"gist" is longer than the passage.'
        return "" if text else '"gist" is empty.'

    most = _REPLY_SHARE * count_tokens(page) + _LEAST_REPLY
    try:
        reply, repairs = ask(chat, messages, GistReply, stage=stage, tokens=most, unusable=unusable)
    except ReplyError:
        return "", tuple(faults) or (NO_GIST,)
    faults += [PUT_RIGHT] if repairs and not faults else []
    text = _TAG.sub("", reply.gist).strip()
    return text, (*faults, TAGGED) if text != reply.gist.strip() else tuple(faults)


_SHORTER = 0.9
SHORTEST_PAIR = "merged, as the shortest pair"


def _merge(run: GistRun, reading: Reading) -> list[Work]:
    """Pages are merged where the model sees no new part begin (appendix I)."""
    memory = reading.memory
    pairs = candidates(memory.pages, run.options.longest_merged)
    asked = [at for at in pairs if _key(reading, at) not in reading.verdicts]
    if pairs and not asked:
        return list(_apply(run, reading))
    run.gists += len(asked)

    def take(at: int, verdict: str) -> Iterable[Work]:
        reading.verdicts[_key(reading, at)] = verdict
        run.merged[f"said {verdict}"] += 1
        run.malformed.update([NO_VERDICT] if verdict == UNUSABLE else [])
        run.advanced(gists=1)
        return () if reading.waiting or reading.failed else _apply(run, reading)

    def verdict(first: str, second: str) -> str:
        fence, noun = f"text-{node_id(first, second)[:12]}", run.options.kind.noun
        messages = render("gist/merge", noun=noun, fence=fence, first=first.strip(), second=second.strip())
        try:
            return ask(run.chat, messages, VerdictReply, stage="merge", tokens=_VERDICT_TOKENS)[0].new_part
        except ReplyError:
            return UNUSABLE

    works = []
    for at in asked:
        call = partial(verdict, *(memory.text_of(page) for page in memory.pages[at : at + 2]))
        works.append(reading.work(run, _GISTING, call, partial(take, at), at, lambda reason: run.advanced(gists=1)))
    return works


def _key(reading: Reading, at: int) -> tuple[int, int, int]:
    """What the verdict on page ``at`` and the next one is about: merging others does not change it."""
    one, other = reading.memory.pages[at : at + 2]
    return one.start, other.start, other.end


def _apply(run: GistRun, reading: Reading) -> Iterable[Work]:
    """Merge in one transaction, so that a run that is killed here asks about the same pairs again, or about none."""
    memory, longest = reading.memory, run.options.longest_merged
    pairs = candidates(memory.pages, longest)
    at = joints(memory.pages, {pair: reading.verdicts[_key(reading, pair)] for pair in pairs}, longest)
    if at:
        run.merged["merged, no new part begins"] += len(at)
    else:
        # The pair that is shortest together; of equals the first.
        at = [min(pairs, key=lambda pair: (memory.pages[pair].length + memory.pages[pair + 1].length, pair))]
        run.merged[SHORTEST_PAIR] += 1
    memory.made = run.options.made_to_fit
    replace_pages(run.store, memory, joined(memory, at))
    return _follow(run, reading)


def _older(run: GistRun, reading: Reading) -> list[Work]:
    """The gist that was shortened least often is shortened again."""
    memory = reading.memory
    left = [page for page in memory.pages if not page.final]
    if not left:
        return []
    if memory.made != run.options.made_to_fit:
        memory.made = run.options.made_to_fit
        run.store.write(("gist/made", {"memory": memory.id, "made": memory.made}))
    page = min(left, key=lambda each: (each.again, each.index))
    run.gists += 1

    def take(gist: Gist) -> Iterable[Work]:
        shorter = page.with_gist(replace(gist, flag="" if page.flag == OWN_TEXT else page.flag))
        is_shorter = bool(gist.text) and shorter.gist_tokens <= _SHORTER * page.gist_tokens
        run.shortened += is_shorter
        kept = shorter if is_shorter else replace(page, final=True)
        write_gist(run.store, memory, replace(kept, again=page.again + 1))
        run.malformed.update(gist.malformed)
        run.advanced(gists=1)
        return _follow(run, reading)

    call = partial(shorten, run.chat, page.gist or "", run.options, again=True)
    return [reading.work(run, _GISTING, call, take, page.index)]


YES, NO, NOT_SURE, UNUSABLE = "yes", "no", "not sure", "unusable"
"""Whether the second of two pages begins a new part. Pages are merged on NO alone."""
_VERDICT_TOKENS = 300
NO_VERDICT = "reply about two pages without yes or no"


class VerdictReply(Form):
    """Whether the second page begins a new part."""

    reasoning: str = text(600)
    new_part: Literal["yes", "no", "not sure"]


def candidates(pages: Sequence[Page], longest: int) -> list[int]:
    """The pages that with the next one are not longer than ``longest`` words, by their index."""
    return [at for at in range(len(pages) - 1) if pages[at].length + pages[at + 1].length <= longest]


def joints(pages: Sequence[Page], verdicts: Mapping[int, str], longest: int) -> list[int]:
    """The indices of the pages that are merged with the next one: where the verdict is NO, from the first page on, as
    long as what comes of it is not longer than ``longest`` words."""
    found: list[int] = []
    words = pages[0].length if pages else 0
    for at in range(len(pages) - 1):
        more = pages[at + 1].length
        if verdicts.get(at) == NO and words + more <= longest:
            found.append(at)
            words += more
        else:
            words = more
    return found


def joined(memory: Memory, at: Collection[int]) -> list[Page]:
    """The pages of ``memory`` with those ``at`` joined to the next ones; a page that was joined has no gist yet."""
    starts = [page for page in memory.pages if page.index - 1 not in at]
    ends = [*(page.start for page in starts[1:]), memory.reached]
    return [
        replace(page, index=index) if end == page.end else memory.page(index, page.start, end)
        for index, (page, end) in enumerate(zip(starts, ends, strict=True))
    ]


def _report(
    run: GistRun, rows: Sequence[Row], due: Collection[str], usage: dict[str, Usage], watch: Stopwatch, stopped: str
) -> GistReport:
    """``rows``: how the memories are now; ``due``: the documents that were not done before."""
    options, notes = run.options, list[str]()
    if rows and not due:
        notes.append("All pages of these documents already have gists; no model was called.")
    if run.replaced:
        what = "document had pages" if run.replaced == 1 else "documents had pages"
        notes.append(f"{run.replaced:,} {what} made with other options, which were replaced.")
    if empty := sum(not row["tokens"] for row in rows):
        notes.append(f"{empty:,} of the documents {'has' if empty == 1 else 'have'} no text, and so no page.")
    wanted = (options.preset, options.min_words, options.max_words, options.uniform, options.question)
    counted = ("replaced", "pages_new", "written", "shortened", "malformed", "merged", "failed", "too_long")
    return GistReport(
        *wanted,
        **{name: getattr(run, name) for name in counted},
        documents=len(rows),
        complete_documents=sum(row["complete"] for row in rows),
        pages=sum(row["pages"] for row in rows),
        kept=run.kept + sum(row["gisted"] for row in rows if row["id"] not in due),
        words=sum(row["words"] for row in rows),
        gisted_words=sum(row["gistedWords"] for row in rows),
        gist_words=sum(row["gistWords"] for row in rows),
        gist_tokens=sum(row["gistTokens"] for row in rows),
        flags=Counter(flag for row in rows for flag in row["flags"]),
        usage=usage,
        seconds={**watch.seconds, "total": watch.total()},
        stopped=stopped,
        notes=run.notes + notes,
    )
