"""Memory gisting (section 3.1, figure 3): a page, shortened by the model; and memories that are too long, made to fit.

gist = shorten(chat, page_text, options)
gist.text, gist.flag, gist.malformed      # 'Ada sails to Brest.', '', ()
works = shrink(run, reading, follow)      # pages merged, or gists shortened again
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from kgplatform.concurrency.threads import Work
from kgplatform.errors import ReplyError
from kgplatform.gist.memory import Gist, GistRun, Memory, Page, Reading, replace_pages, set_made, write_gist
from kgplatform.gist.options import GistOptions, LongMemory
from kgplatform.gist.pagination import length
from kgplatform.models.chat import Chat
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import ask, is_looped
from kgplatform.prompt import Messages, render
from kgplatform.records import Document
from kgplatform.sources.cut import cut_document
from kgplatform.text import count_tokens, node_id

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
_REPLY_SHARE = 2
"""Of the tokens of a page, the most that a reply may have, with its JSON: what is longer is no gist."""

_AGAIN = (
    "- It was shortened before. Shorten it again, to about half: what happened long ago is remembered in outline only."
)

_TAG = re.compile(r"[ \t]*</?\s*(?:page|text-[0-9a-f]{6,})\b[^<>\n]{0,20}>[ \t]*\n?", re.IGNORECASE)


class GistReply(Form):
    """A page, shortened."""

    gist: str


def shorten(chat: Chat, page: str, options: GistOptions) -> Gist:
    """The gist of ``page``. A reply that has none, repeats itself, is longer than the page or is the prompt's example
    is asked for once more. Without a gist then, the page's first words are; where it was longer, the page's own text.
    Raises ``ModelError``.
    """
    text, malformed = _asked(chat, gist_messages(page, options), STAGE, page)
    if text:
        return Gist(text, "", malformed)
    if LONGER in malformed:
        return Gist(page.strip(), OWN_TEXT, malformed)
    return Gist(beginning(page), BEGINNING, malformed)


def shorten_again(chat: Chat, gist: str, options: GistOptions) -> Gist:
    """A ``gist`` shortened once more (appendix F.3); empty where the model wrote none. Raises ``ModelError``."""
    text, malformed = _asked(chat, gist_messages(gist, options, again=True), "shorten", gist)
    return Gist(text, "", malformed)


def gist_messages(passage: str, options: GistOptions, *, again: bool = False) -> Messages:
    """The prompt to shorten ``passage``. The user's question and instruction are rules; the passage is data."""
    words = length(passage) // 2 if again else options.gist_words(length(passage))
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


def beginning(page: str) -> str:
    """The first 60 words of ``page``, or about as much of a text that white space does not part."""
    words = " ".join(page.split()[:_FIRST_WORDS])
    passages = cut_document(Document("", "", "", "", words, ""), _FIRST_TOKENS)
    return passages[0].text if passages else ""


Follow = Callable[[Reading], Iterable[Work]]
"""What is done with a document next."""

SHRINKING = 1
"""The order of such work: as that of gisting."""

_SHORTER = 0.9
SHORTEST_PAIR = "merged, as the shortest pair"


def shrink(run: GistRun, reading: Reading, follow: Follow) -> Iterable[Work]:
    """The work that makes the gists of ``reading`` fit, after which ``follow`` looks again; none if nothing can.

    Pages are merged where the model sees no new part begin (appendix I), or gists shortened again. Both ways end:
    merging leaves fewer pages each time, and a gist is shortened again only as long as that makes it a tenth shorter
    at least. What still does not fit then is reported.
    """
    found = (_merge if run.options.shrink == "merge" else _older)(run, reading, follow)
    if not found:
        run.tally.too_long.append(LongMemory(reading.memory.title, reading.memory.gist_tokens))
    return found


def _merge(run: GistRun, reading: Reading, follow: Follow) -> list[Work]:
    memory = reading.memory
    pairs = candidates(memory.pages, run.options.longest_merged)
    asked = [at for at in pairs if _key(reading, at) not in reading.verdicts]
    if pairs and not asked:
        return list(_apply(run, reading, follow))
    run.gists += len(asked)
    works = []
    for at in asked:
        one, other = memory.text_of(memory.pages[at]), memory.text_of(memory.pages[at + 1])
        call, taken = partial(ask_verdict, run.chat, one, other, run.options), partial(_take, run, reading, follow, at)
        works.append(reading.work(run, SHRINKING, call, taken, at, lambda reason: run.advanced(gists=1)))
    return works


def _key(reading: Reading, at: int) -> tuple[int, int, int]:
    """What the verdict on page ``at`` and the next one is about: merging others does not change it."""
    one, other = reading.memory.pages[at : at + 2]
    return one.start, other.start, other.end


def _take(run: GistRun, reading: Reading, follow: Follow, at: int, verdict: str) -> Iterable[Work]:
    reading.verdicts[_key(reading, at)] = verdict
    run.tally.merged[f"said {verdict}"] += 1
    if verdict == UNUSABLE:
        run.tally.malformed[NO_VERDICT] += 1
    run.advanced(gists=1)
    return () if reading.waiting or reading.failed else _apply(run, reading, follow)


def _apply(run: GistRun, reading: Reading, follow: Follow) -> Iterable[Work]:
    """Merge in one transaction, so that a run that is killed here asks about the same pairs again, or about none."""
    memory, longest = reading.memory, run.options.longest_merged
    pairs = candidates(memory.pages, longest)
    at = joints(memory.pages, {pair: reading.verdicts[_key(reading, pair)] for pair in pairs}, longest)
    if at:
        run.tally.merged["merged, no new part begins"] += len(at)
    else:
        at = [shortest_pair(memory.pages, pairs)]
        run.tally.merged[SHORTEST_PAIR] += 1
    memory.made = run.options.made_to_fit
    replace_pages(run.store, memory, joined(memory, at))
    return follow(reading)


def _older(run: GistRun, reading: Reading, follow: Follow) -> list[Work]:
    """The gist that was shortened least often is shortened again."""
    memory = reading.memory
    left = [page for page in memory.pages if not page.final]
    if not left:
        return []
    if memory.made != run.options.made_to_fit:
        set_made(run.store, memory, run.options.made_to_fit)
    page = min(left, key=lambda each: (each.again, each.index))
    run.gists += 1
    call = partial(shorten_again, run.chat, page.gist or "", run.options)
    return [reading.work(run, SHRINKING, call, partial(_take_shorter, run, reading, follow, page), page.index)]


def _take_shorter(run: GistRun, reading: Reading, follow: Follow, page: Page, gist: Gist) -> Iterable[Work]:
    shorter = page.with_gist(replace(gist, flag="" if page.flag == OWN_TEXT else page.flag))
    if gist.text and shorter.gist_tokens <= _SHORTER * page.gist_tokens:
        page = shorter
        run.tally.shortened += 1
    else:
        page = replace(page, final=True)
    write_gist(run.store, reading.memory, replace(page, again=page.again + 1))
    run.tally.malformed.update(gist.malformed)
    run.advanced(gists=1)
    return follow(reading)


YES, NO, NOT_SURE, UNUSABLE = "yes", "no", "not sure", "unusable"
"""Whether the second of two pages begins a new part. Pages are merged on NO alone."""

_VERDICT_TOKENS = 300

NO_VERDICT = "reply about two pages without yes or no"


class VerdictReply(Form):
    """Whether the second page begins a new part."""

    reasoning: str = text(600)
    new_part: Literal["yes", "no", "not sure"]


def ask_verdict(chat: Chat, first: str, second: str, options: GistOptions) -> str:
    """What the model says of two pages that follow each other. Raises ``ModelError``."""
    fence, noun = f"text-{node_id(first, second)[:12]}", options.kind.noun
    messages = render("gist/merge", noun=noun, fence=fence, first=first.strip(), second=second.strip())
    try:
        return ask(chat, messages, VerdictReply, stage="merge", tokens=_VERDICT_TOKENS)[0].new_part
    except ReplyError:
        return UNUSABLE


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


def shortest_pair(pages: Sequence[Page], among: Collection[int]) -> int:
    """The one of ``among`` that is shortest together with the next page; of equals the first."""
    return min(among, key=lambda at: (pages[at].length + pages[at + 1].length, at))


def joined(memory: Memory, at: Collection[int]) -> list[Page]:
    """The pages of ``memory`` with those ``at`` joined to the next ones; a page that was joined has no gist yet."""
    pages: list[Page] = []
    starts = [page for page in memory.pages if page.index - 1 not in at]
    for index, page in enumerate(starts):
        end = starts[index + 1].start if index + 1 < len(starts) else memory.reached
        if end == page.end:
            pages.append(replace(page, index=index))
        else:
            pages.append(memory.page(index, page.start, end))
    return pages
