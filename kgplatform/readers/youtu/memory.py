"""What the reader knows so far, and what of it a prompt shows: evidence by rank, and notes.

memory = AgentMemory(question, room=1200)
memory.results.append(found)
memory.evidence().text(memory.shown)      # numbered sentences; numbers that were given once are kept
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kgplatform.prompt import fence_for
from kgplatform.readers.numbering import Numbering
from kgplatform.readers.selection import PASSAGES, Selection, select
from kgplatform.readers.window import cut, tokens
from kgplatform.records import SearchResult
from kgplatform.search.search import fuse_results

_NOTES_SHARE = 4
"""Notes take at most the room of a quarter of the evidence."""


@dataclass
class AgentMemory:
    """``results`` of searches and ``thoughts`` in the order in which they came; ``queries``: what was searched.

    ``room``: tokens of evidence in a prompt. ``groups`` are notes on near communities, ``fence`` the tags of the last
    prompt. ``shown``: what the prompts of the run have shown, by number.
    """

    question: str
    room: int
    results: list[SearchResult] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    groups: str = ""
    fence: str = ""
    shown: Numbering = field(default_factory=Numbering)
    _order: dict[str, None] = field(default_factory=dict)

    def evidence(self) -> Selection:
        """What a prompt shows: the best of all searches by rank, as far as its tokens reach.

        By rank, because the scores of two searches cannot be compared. Before the first answer they are as many as
        after one search, for a small model answers worse from more; each search after it adds its best that is new.
        What was shown before comes first, in its order, so that servers can reuse what they have read.
        """
        merged = fuse_results(self.results[::-1], sum(len(r.passages) + len(r.facts) for r in self.results))
        order = {id: place for place, id in enumerate(self._order)}
        passages = tuple(sorted(merged.passages, key=lambda each: order.get(each.id, len(order))))
        asked = replace(merged, question=f"{self.question} {' '.join(self.queries)}", passages=passages)
        chosen = select(asked, self.room, max(PASSAGES, len(order)))
        self._order.update(dict.fromkeys(each.id for each in chosen.result.passages))
        return replace(chosen, result=replace(chosen.result, question=self.question))

    def tags(self, *texts: str) -> str:
        """The name of the tags round ``texts``: that of the last prompt, where it can be."""
        self.fence = fence_for(*texts, used=self.fence)
        return self.fence

    def adds(self, result: SearchResult) -> bool:
        """Remember ``result``; whether a prompt now shows a passage of it that none has shown before."""
        self.results.append(result)
        new = next((each.id for each in result.passages if each.id not in self._order), None)
        if new is None:
            return False
        self._order[new] = None
        return new in {each.id for each in self.evidence().result.passages}

    def notes(self) -> str:
        """Groups and thoughts as a prompt shows them, of many thoughts the newest; empty without any."""
        left = self.room // _NOTES_SHARE
        kept: list[str] = []
        for thought in reversed(self.thoughts):
            if left > 0:
                kept.append(thought if tokens(thought) <= left else f"… {cut(thought, left)[-1]}")
                left -= tokens(kept[-1])
        return "\n".join(filter(None, (self.groups, *reversed(kept))))
