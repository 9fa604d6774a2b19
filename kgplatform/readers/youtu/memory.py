"""What the reader knows so far, and what of it fits into a prompt: evidence by turns, and notes.

memory = AgentMemory(question, Window(32_768, reply=1_000))
memory.results.append(found)
memory.evidence().passages          # as a prompt shows them; numbers that were given once are kept
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kgplatform.errors import InputError
from kgplatform.prompt import source_of
from kgplatform.readers.answer_old import fence_for
from kgplatform.readers.window import Window, cut, tokens, within
from kgplatform.records import SearchResult
from kgplatform.retrieve.search import round_robin

_PROMPTS = ("readers/answer", "youtu/reflect", "youtu/fill_in")
_SPARE = 150
"""Tokens for labels and for what says the style of an answer."""
_LEAST = 100
_NOTES_SHARE = 8
"""Notes take an eighth of the window at most."""
_PER_ITEM = 6


@dataclass
class AgentMemory:
    """``results`` of searches and ``thoughts`` in the order in which they came; ``queries``: what was searched.

    ``groups`` are notes on near communities, ``fence`` the tags of the last prompt. ``most`` bounds the tokens of
    evidence beside the ``window``.
    """

    question: str
    window: Window
    most: int | None = None
    results: list[SearchResult] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    groups: str = ""
    fence: str = ""
    _shown: dict[str, None] = field(default_factory=dict)

    def evidence(self) -> SearchResult:
        """What a prompt shows: the best of each search by turns, the newest first, as far as its tokens reach.

        By turns, because the scores of two searches cannot be compared, and because one alone could fill the prompt.
        What was shown before comes first, in its order, so that servers can reuse what they have read; new is behind.
        """
        merged = round_robin(list(reversed(self.results)), sum(len(r.passages) + len(r.facts) for r in self.results))
        chosen = self.within(replace(merged, question=self.question), 1)
        for item in (*(each.id for each in chosen.passages), *(each.id for each in chosen.facts)):
            self._shown.setdefault(item)
        order = {item: place for place, item in enumerate(self._shown)}
        passages = sorted(chosen.passages, key=lambda each: order[each.id])
        return replace(chosen, passages=tuple(passages), facts=tuple(sorted(chosen.facts, key=lambda f: order[f.id])))

    def tags(self, *texts: str) -> str:
        """The name of the tags round ``texts``: that of the last prompt, where it can be."""
        self.fence = fence_for(*texts, used=self.fence)
        return self.fence

    def adds(self, result: SearchResult) -> bool:
        """Remember ``result``; whether a prompt now shows what none has shown before."""
        before = len(self._shown)
        self.results.append(result)
        self.evidence()
        return len(self._shown) > before

    def notes(self) -> str:
        """Groups and thoughts as a prompt shows them, of many thoughts the newest; empty without any."""
        left = self.window.limit // _NOTES_SHARE - tokens(self.groups)
        kept: list[str] = []
        for thought in reversed(self.thoughts):
            shown = _end(thought, left) if left > 0 else ""
            kept += [shown] if shown else []
            left -= tokens(shown) + _PER_ITEM
        return "\n\n".join(filter(None, (self.groups, *reversed(kept))))

    @property
    def tokens(self) -> int:
        """Tokens of evidence that fit beside rules, question, notes and queries. Raises ``InputError`` for too few."""
        rules = max(tokens(source_of(name)) for name in _PROMPTS) + _SPARE
        queries = sum(tokens(query) + _PER_ITEM for query in self.queries)
        room = self.window.limit - rules - tokens(self.question) * 2 - tokens(self.notes()) - queries
        if room < _LEAST:
            raise InputError(
                f"The question leaves no room for evidence in a window of {self.window.tokens:,} tokens. "
                "Shorten it, or raise window_tokens.",
                "window_tokens",
            )
        return room if self.most is None else min(room, self.most)

    def within(self, result: SearchResult, shares: int) -> SearchResult:
        """What of ``result``, best first, fits into one of so many equal ``shares`` of the evidence."""
        return within(result, self.tokens // shares)


def _end(thought: str, room: int) -> str:
    """``thought``, of a long one its end: what came of it stands there."""
    return thought if tokens(thought) <= room else f"… {cut(thought, room)[-1]}"
