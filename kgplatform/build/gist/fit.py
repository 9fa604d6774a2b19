"""A memory whose gists are too long for a window is made to fit: pages merged (appendix I), or gists shortened again.

Both end: merging leaves fewer pages each time, and a gist is shortened again only as long as that makes it a tenth
shorter at least. What still does not fit then is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from kgplatform.build.gist.crew import Work
from kgplatform.build.gist.gisting import OWN_TEXT, Gist, shorten_again
from kgplatform.build.gist.merging import (
    NO_VERDICT,
    UNUSABLE,
    ask_verdict,
    candidates,
    joined,
    joints,
    shortest_pair,
)
from kgplatform.build.gist.pages import Page, replace_pages, set_made, write_gist
from kgplatform.build.gist.reading import GistRun, Reading
from kgplatform.build.gist.report import LongMemory
from kgplatform.errors import ModelError

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
        run.report.too_long.append(LongMemory(memory.name, memory.gist_tokens))
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
