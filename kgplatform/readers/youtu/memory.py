"""What a run remembers: the evidence of every step and the model's thoughts (the agent's H, section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kgplatform.readers.answer import NONE, within
from kgplatform.records import SearchResult
from kgplatform.retrieve.search import round_robin

_LONGEST_THOUGHT = 2000


@dataclass
class Memory:
    """``results`` and ``thoughts`` in the order in which they came; ``tokens`` bound the evidence in a prompt."""

    question: str
    tokens: int
    results: list[SearchResult] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)

    def evidence(self) -> SearchResult:
        """The best of each step in turn, the newest step first, as far as ``tokens`` reach.

        In turn, because the scores of two searches cannot be compared, and because the newest step alone could fill
        the prompt: so the best of every step is in it.
        """
        most = max(1, sum(max(len(each.passages), len(each.facts)) for each in self.results))
        merged = round_robin(list(reversed(self.results)), most)
        return within(replace(merged, question=self.question), self.tokens)

    def notes(self) -> str:
        """The thoughts as a prompt shows them; empty without any."""
        return "\n\n".join(map(_shortened, self.thoughts))

    def shown_thoughts(self) -> str:
        """Like ``notes``, and said if there are none."""
        return self.notes() or NONE


def _shortened(thought: str) -> str:
    """A thought's end, where what came of it stands."""
    return thought if len(thought) <= _LONGEST_THOUGHT else "… " + thought[-_LONGEST_THOUGHT:]
