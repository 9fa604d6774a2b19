"""The verdicts that raters ask for: a form each.

parse_reply('{"reasoning": "Both name Moe.", "agrees": "partially"}', Agreement).agrees    # 'partially'
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar, Literal

from pydantic import Field, create_model, model_validator

from kgplatform.models.forms import Form, items, text

Degree = Literal["yes", "partially", "no"]


class Correctness(Form):
    """Whether an answer is right."""

    PROMPT: ClassVar[str] = "evaluate/rater_judge"

    reasoning: str = text(600)
    correct: int = Field(ge=0, le=1)


class StrictAgreement(Form):
    """Whether two answers agree, without anything between yes and no."""

    PROMPT: ClassVar[str] = "evaluate/rater_strict"

    reasoning: str = text(600)
    agrees: Literal["yes", "no"]


class Agreement(Form):
    """How far two answers agree."""

    PROMPT: ClassVar[str] = "evaluate/rater_permissive"

    reasoning: str = text(600)
    agrees: Degree


class Points(Form):
    """How consistent an answer is."""

    PROMPT: ClassVar[str] = "evaluate/rater_rubric"

    reasoning: str = text(600)
    score: int = Field(ge=0, le=2)


class FactVerdict(Form):
    """Of one supporting fact, thoughts first: whether it is truly needed, and whether the text says it."""

    fact: int
    reasoning: str = text(300)
    needed: bool
    recalled: bool


class Recall(Form):
    """Which of the supporting facts are needed, and which of those the text says: ``FACTS`` verdicts."""

    PROMPT: ClassVar[str] = "evaluate/rater_facts"
    FACTS: ClassVar[int] = 0

    facts: list[FactVerdict]

    @model_validator(mode="after")
    def _has_each(self) -> Recall:
        if not len({each.fact for each in self.facts}) == len(self.facts) == self.FACTS:
            raise ValueError(f"write one verdict for each of the {self.FACTS} facts")
        return self

    @property
    def needed(self) -> int:
        """How many facts are needed."""
        return sum(each.needed for each in self.facts)

    @property
    def recalled(self) -> int:
        """How many of those the text says."""
        return sum(each.needed and each.recalled for each in self.facts)


@cache
def recall_of(count: int) -> type[Recall]:
    """``Recall`` of ``count`` facts."""
    form = create_model("Recall", __base__=Recall, facts=(list[FactVerdict], items(count, ...)))
    form.FACTS = count
    return form
