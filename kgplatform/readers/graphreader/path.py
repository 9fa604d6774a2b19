"""What one walk of GraphReader knows: its notebook, its queue of passages, what it did and what it saw (checklist 2).

Passages are known to the model by short ids that no other walk of the run uses: the k-th passage that walk p meets is
``ID-<1000 p + k>``, whatever the threads of the other walks do.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from kgplatform.errors import ModelError
from kgplatform.readers.graphreader.brief import short_name
from kgplatform.records import FoundPassage, Step

_WIDTH = 1000


@dataclass(frozen=True, slots=True)
class Waiting:
    """A passage in the queue: its text from the character ``start`` on, where what is before was read already."""

    passage: str
    start: int = 0


@dataclass
class Path:
    """One walk. ``actions``: what it did, in words; ``made``: function calls; ``ended``: why it is over.

    ``visited``, ``read`` and ``facts`` (id to text) are in the order in which the walk came to them.
    """

    number: int
    node: str
    notebook: str = ""
    queue: deque[Waiting] = field(default_factory=deque)
    actions: list[str] = field(default_factory=list)
    made: int = 0
    visited: dict[str, None] = field(default_factory=dict)
    read: dict[str, FoundPassage] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    ended: str = ""
    error: ModelError | None = None
    steps: list[Step] = field(default_factory=list)
    passages: dict[int, str] = field(default_factory=dict)
    _labels: dict[str, str] = field(default_factory=dict)

    def label(self, passage: str, title: str) -> str:
        """The passage's short id and its document's title, as prompts show it."""
        if passage not in self._labels:
            count = len(self._labels) + 1
            number = (self.number * _WIDTH if count < _WIDTH else self.number * _WIDTH**2) + count
            self.passages[number] = passage
            self._labels[passage] = f"ID-{number} ({short_name(title)})"
        return self._labels[passage]

    def labels(self, passages: Iterable[str]) -> list[str]:
        """Of passages that the walk has met."""
        return [self._labels[passage] for passage in passages]

    def ids(self, passages: Iterable[str]) -> str:
        """The short ids alone of passages that the walk has met, as a list."""
        return ", ".join(label.partition(" ")[0] for label in self.labels(passages))

    def do(self, stage: str, function: str, where: str, arguments: str = "") -> None:
        """Note a function call."""
        self.made += 1
        self.counts[f"{stage}.{function}"] += 1
        self.actions.append(f"at {where}: {function}({arguments})")

    def put_first(self, passage: str, *, after_rest_of: str = "") -> None:
        """Into the queue at the front, or behind what is left of ``after_rest_of`` there."""
        rest_is_first = bool(self.queue) and self.queue[0].passage == after_rest_of and self.queue[0].start > 0
        self.queue.insert(1 if rest_is_first else 0, Waiting(passage))

    def end(self, reason: str) -> None:
        """The walk is over; its last step says why."""
        self.ended = reason
        if self.steps:
            last = self.steps[-1]
            self.steps[-1] = replace(last, detail=f"{last.detail}; the path ends: {reason}")
