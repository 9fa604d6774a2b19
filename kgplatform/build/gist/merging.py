"""Pages merged, so that the gists of a very long text fit (appendix I): where the model sees no new part begin.

verdict = ask_verdict(chat, "… text of a page", "… of the next", options)
pages = joined(memory, joints(memory.pages, {0: NO, 1: YES}, options.longest_merged))
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kgplatform.build.gist.options import GistOptions
from kgplatform.build.gist.pages import Memory, Page
from kgplatform.json_text import without_thoughts
from kgplatform.llm import Chat
from kgplatform.prompt import Messages, render
from kgplatform.text import node_id

STAGE = "merge"
_PROMPT = "readagent_merge"

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
