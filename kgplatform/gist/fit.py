"""A memory whose gists are too long for a window is made to fit: pages merged (appendix I), or gists shortened again.

Pages are merged where the model sees no new part begin. Both ways end: merging leaves fewer pages each time, and a gist
is shortened again only as long as that makes it a tenth shorter at least. What still does not fit then is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from kgplatform.errors import ModelError
from kgplatform.gist.memory import GistRun, Memory, Page, Reading, replace_pages, set_made, write_gist
from kgplatform.gist.options import GistOptions, LongMemory
from kgplatform.gist.shorten import OWN_TEXT, Gist, shorten_again
from kgplatform.models.chat import Chat
from kgplatform.models.json_text import without_thoughts
from kgplatform.prompt import Messages, render
from kgplatform.text import node_id
from kgplatform.work.threads import Work

Follow = Callable[[Reading], Iterable[Work]]
"""What is done with a document next."""

SHRINKING = 1
"""The order of such work: as that of gisting."""

_SHORTER = 0.9
SHORTEST_PAIR = "merged, as the shortest pair"


def shrink(run: GistRun, reading: Reading, follow: Follow) -> Iterable[Work]:
    """The work that makes the gists of ``reading`` fit, after which ``follow`` looks again; none if nothing can."""
    works = _merge if run.options.shrink == "merge" else _older
    found = works(run, reading, follow)
    if not found:
        memory = reading.memory
        run.report.too_long.append(LongMemory(memory.title, memory.gist_tokens))
    return found


# ------------------------------------------------------------------------------------------------------------- merging


def _merge(run: GistRun, reading: Reading, follow: Follow) -> list[Work]:
    memory = reading.memory
    pairs = candidates(memory.pages, run.options.longest_merged)
    asked = [at for at in pairs if _key(reading, at) not in reading.verdicts]
    if pairs and not asked:
        return list(_apply(run, reading, follow))
    reading.waiting = len(asked)
    run.gists += len(asked)
    works = []
    for at in asked:
        one, other = memory.text_of(memory.pages[at]), memory.text_of(memory.pages[at + 1])
        works.append(
            Work(
                SHRINKING,
                partial(ask_verdict, run.chat, one, other, run.options),
                partial(_take_verdict, run, reading, follow, at),
                partial(_no_verdict, run, reading, at),
            )
        )
    return works


def _key(reading: Reading, at: int) -> tuple[int, int, int]:
    """What the verdict on page ``at`` and the next one is about: merging others does not change it."""
    one, other = reading.memory.pages[at : at + 2]
    return one.start, other.start, other.end


def _take_verdict(run: GistRun, reading: Reading, follow: Follow, at: int, verdict: str) -> Iterable[Work]:
    reading.verdicts[_key(reading, at)] = verdict
    run.report.merged[f"said {verdict}"] += 1
    if verdict == UNUSABLE:
        run.report.malformed[NO_VERDICT] += 1
    reading.waiting -= 1
    run.advanced(gists=1)
    if reading.waiting or reading.failed:
        return ()
    return _apply(run, reading, follow)


def _no_verdict(run: GistRun, reading: Reading, at: int, error: ModelError) -> Iterable[Work]:
    reading.waiting -= 1
    reading.fail(run, at, str(error))
    run.advanced(gists=1)
    return ()


def _apply(run: GistRun, reading: Reading, follow: Follow) -> Iterable[Work]:
    """Merge in one transaction, so that a run that dies here asks about the same pairs again, or about none."""
    memory, longest = reading.memory, run.options.longest_merged
    pairs = candidates(memory.pages, longest)
    at = joints(memory.pages, {pair: reading.verdicts[_key(reading, pair)] for pair in pairs}, longest)
    if at:
        run.report.merged["merged, no new part begins"] += len(at)
    else:
        at = [shortest_pair(memory.pages, pairs)]
        run.report.merged[SHORTEST_PAIR] += 1
    memory.made = run.options.made_to_fit
    replace_pages(run.store, memory, joined(memory, at))
    return follow(reading)


# ------------------------------------------------------------------------------------------------------- older gists


def _older(run: GistRun, reading: Reading, follow: Follow) -> list[Work]:
    memory = reading.memory
    left = [page for page in memory.pages if not page.final]
    if not left:
        return []
    if memory.made != run.options.made_to_fit:
        set_made(run.store, memory, run.options.made_to_fit)
    page = min(left, key=lambda each: (each.again, each.index))
    reading.waiting = 1
    run.gists += 1
    return [
        Work(
            SHRINKING,
            partial(shorten_again, run.chat, page.gist or "", run.options),
            partial(_take_shorter, run, reading, follow, page),
            partial(_not_shorter, run, reading, page),
        )
    ]


def _take_shorter(run: GistRun, reading: Reading, follow: Follow, page: Page, gist: Gist) -> Iterable[Work]:
    flag = "" if page.flag == OWN_TEXT else page.flag
    shorter = page.with_gist(replace(gist, flag=flag))
    if gist.text and shorter.gist_tokens <= _SHORTER * page.gist_tokens:
        page = shorter
        run.report.shortened += 1
    else:
        page = replace(page, final=True)
    write_gist(run.store, reading.memory, replace(page, again=page.again + 1))
    run.count_malformed(gist)
    run.advanced(gists=1)
    reading.waiting = 0
    return follow(reading)


def _not_shorter(run: GistRun, reading: Reading, page: Page, error: ModelError) -> Iterable[Work]:
    reading.waiting = 0
    reading.fail(run, page.index, str(error))
    return ()


# ----------------------------------------------------------------------------------------------- which pages are merged


STAGE = "merge"
_PROMPT = "gist/merge"

YES, NO, NOT_SURE, UNUSABLE = "yes", "no", "not sure", "unusable"
"""Whether the second of two pages begins a new part. Pages are merged on NO alone."""

NO_VERDICT = "reply about two pages without yes or no"

_VERDICT = re.compile(r"\W*(?:answer\W+|page 2\W+)?(yes|no|not\s+sure|unsure)\b", re.IGNORECASE)


def ask_verdict(chat: Chat, first: str, second: str, options: GistOptions) -> str:
    """What the model says of two pages that follow each other. Raises ``ModelError``."""
    reply = chat.send(merge_messages(first, second, options), stage=STAGE)
    return read_verdict(without_thoughts(reply.text, cut_off=reply.cut_off))


def merge_messages(first: str, second: str, options: GistOptions) -> Messages:
    """The prompt about two pages."""
    fence = f"text-{node_id(first, second)[:12]}"
    return render(_PROMPT, noun=options.kind.noun, fence=fence, first=first.strip(), second=second.strip())


def read_verdict(reply: str) -> str:
    """What a reply begins with.

    >>> read_verdict("**Not sure.** It may.")
    'not sure'
    """
    said = _VERDICT.match(reply)
    if said is None:
        return UNUSABLE
    word = " ".join(said[1].lower().split())
    return word if word in (YES, NO) else NOT_SURE


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
