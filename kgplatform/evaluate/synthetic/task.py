"""A synthetic task: a long text, a question about what is hidden in it, and where that stands."""

from __future__ import annotations

import random
from dataclasses import dataclass

from kgplatform.errors import InputError


@dataclass(frozen=True, slots=True)
class Needle:
    """What was hidden: ``text[start:end]`` of the task.

    ``depth``: where it was to stand, as the share of the haystack's tokens before it. ``before``: the tokens of the
    haystack that do stand before it; other needles belong to no haystack.
    """

    start: int
    end: int
    depth: float
    before: int


@dataclass(frozen=True, slots=True)
class NeedleTask:
    """One text and one question.

    ``kind`` is that of LongAgent's expert for it (``readers.experts``), ``description`` what the leader is told of the
    work; ``form`` says which task of that kind: "single", "multi", "second largest" … Each of ``answers`` is right.
    ``bridge``: the name that joins two needles, which the question does not tell. ``length``: the tokens that were
    asked for; ``tokens`` that the text has, as ``count_tokens`` counts them; ``haystack`` of them are not the needles'.
    """

    id: str
    kind: str
    form: str
    text: str
    question: str
    description: str
    answers: tuple[str, ...]
    needles: tuple[Needle, ...]
    bridge: str | None
    length: int
    tokens: int
    haystack: int
    seed: int

    @property
    def depths(self) -> tuple[float, ...]:
        """Where the needles do stand: the share of the haystack's tokens before each (LongAgent, section 3.1)."""
        return tuple(each.before / self.haystack if self.haystack else 0.0 for each in self.needles)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The needles' texts."""
        return tuple(self.text[each.start : each.end] for each in self.needles)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What makes one task: the same gives the same, to the letter. Raises ``InputError`` for what cannot be had."""

    kind: str
    form: str
    length: int
    depths: tuple[float, ...]
    seed: int

    def __post_init__(self) -> None:
        if self.length < 1:
            raise InputError(f"A text cannot have {self.length} tokens: ask for a length of 1 or more.")
        for depth in self.depths:
            if not 0 <= depth <= 1:
                raise InputError(f"{depth:g} is no depth: give a share of the text from 0 to 1, such as 0.5.")

    @property
    def id(self) -> str:
        """``single-8000-0.5-3``; also a good name for a file, and so for a document."""
        depths = (f"{depth:.6g}" for depth in self.depths)
        return "-".join([self.form.replace(" ", ""), str(self.length), *depths, str(self.seed)])

    def chance(self) -> random.Random:
        """The task's own source of chance, at its beginning."""
        return random.Random(self.id)
