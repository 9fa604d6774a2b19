"""What people want to see of an evaluation, from its results: what a question costs, and who is right where.

The report, the terminal and the pictures all show these same figures.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from kgplatform.evaluate.report.costs import Prices
from kgplatform.evaluate.results import Estimate, Pair, Results, Scored, Setup, Spent, Timing
from kgplatform.evaluate.score.metrics import METRICS

RIGHT_FROM = 0.5
"""A score from which an answer is taken as right, where a metric knows more than 0 and 1."""
SHOWN = 0.05
"""The adjusted p below which a difference is called one."""
_EMBED = "embed"
"""What an embedding model does; all other stages are a language model's."""
_TEAM_STAGES = ("member", "merge")
"""What the model of ``--member-model`` does for LongAgent; all else is its leader's."""

Mark = Literal["right", "wrong", "refused", "failed", "unscored"]


# --------------------------------------------------------------------------------------------------------------- scores


def title_of(metric: str) -> str:
    """What the metric of that name is called on a page."""
    return METRICS[metric].title if metric in METRICS else metric


def lower_is_better(metric: str) -> bool:
    """Whether 0 is the best that it can be."""
    return metric in METRICS and METRICS[metric].better == "lower"


def better_of(pair: Pair) -> str | None:
    """The setup that is better; None where no difference is shown."""
    if pair.count == 0 or pair.adjusted >= SHOWN or pair.difference == 0:
        return None
    return pair.first if (pair.difference > 0) != lower_is_better(pair.metric) else pair.second


def kinds_of(results: Results) -> dict[str, int]:
    """The kinds of question, in the order in which they come, with how many questions each has."""
    return dict(Counter({each.question: each.kind for each in results.answers if each.kind}.values()))


# ---------------------------------------------------------------------------------------------------------------- costs


@dataclass(frozen=True, slots=True)
class PerQuestion:
    """What a setup spends on a question, on average over the ``answered`` ones.

    ``median``, ``p95``: seconds; None where nobody measured them. ``money``: None without a price.
    """

    answered: int
    calls: float
    input_tokens: float
    output_tokens: float
    median: float | None
    p95: float | None
    money: float | None

    @property
    def tokens(self) -> float:
        """Input and output together."""
        return self.input_tokens + self.output_tokens


def per_question(results: Results, timing: Timing, prices: Prices | None = None) -> dict[str, PerQuestion | None]:
    """By the name of the setup, in order; None where it answered no question."""
    answered: dict[str, list[Scored]] = {each.setup.name: [] for each in results.setups}
    for one in results.answers:
        if one.error is None:
            answered[one.setup].append(one)
    return {
        each.setup.name: _per_question(each.setup, answered[each.setup.name], results, timing, prices)
        for each in results.setups
    }


def _per_question(
    setup: Setup, answered: Sequence[Scored], results: Results, timing: Timing, prices: Prices | None
) -> PerQuestion | None:
    if not answered:
        return None
    number = len(answered)
    total = sum((each.total for each in answered), Spent())
    measured = timing.seconds.get(setup.name, {})
    seconds = [measured[each.question] for each in answered if each.question in measured]
    median, p95 = (float(value) for value in np.percentile(seconds, (50, 95))) if seconds else (None, None)
    money = _money(setup, answered, results, prices)
    return PerQuestion(
        answered=number,
        calls=total.calls / number,
        input_tokens=total.input_tokens / number,
        output_tokens=total.output_tokens / number,
        median=median,
        p95=p95,
        money=None if money is None else money / number,
    )


def _money(setup: Setup, answers: Iterable[Scored], results: Results, prices: Prices | None) -> float | None:
    """What all of it costs; None if the price of a model that worked at it is unknown."""
    if prices is None:
        return None
    by_model: dict[str, Spent] = {}
    for answer in answers:
        for stage, spent in answer.spent.items():
            who = model_of(results, stage, setup)
            by_model[who] = by_model.get(who, Spent()) + spent
    costs = [prices.cost(spent, who) for who, spent in sorted(by_model.items())]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def model_of(results: Results, stage: str, setup: Setup | None = None) -> str:
    """The model whose price the tokens of ``stage`` have; without a ``setup``, of building a graph."""
    if stage == _EMBED:
        return results.embedder
    member = setup.options.get("member_model") if setup is not None and stage in _TEAM_STAGES else None
    return str(member or results.model)


# ------------------------------------------------------------------------------------------------------ right and wrong


@dataclass(frozen=True)
class RightWhere:
    """Which setup is right on which question, by the chief metric.

    ``questions``: those that some setup was scored on: first those on which the fewest were right, then by id.
    ``marks``: by setup and question. ``graded``: it knows more than 0 and 1; from ``RIGHT_FROM`` on an answer is right.
    ``left_out``: how many questions have no score by this metric.
    """

    metric: str
    setups: tuple[str, ...]
    questions: tuple[str, ...]
    marks: Mapping[str, Mapping[str, Mark]]
    graded: bool
    left_out: int

    @cached_property
    def right(self) -> Mapping[str, tuple[str, ...]]:
        """The setups that are right, by question."""
        return {
            question: tuple(setup for setup in self.setups if self.mark(setup, question) == "right")
            for question in self.questions
        }

    def mark(self, setup: str, question: str) -> Mark:
        """What ``setup`` made of ``question``."""
        return self.marks[setup].get(question, "unscored")

    def count(self, setup: str, mark: Mark) -> int:
        """How many questions ``setup`` has that mark on."""
        return sum(self.mark(setup, question) == mark for question in self.questions)

    @cached_property
    def compared(self) -> tuple[str, ...]:
        """The questions on which every setup has a mark: only they tell who is right alone."""
        return tuple(
            question
            for question in self.questions
            if all(self.mark(setup, question) != "unscored" for setup in self.setups)
        )

    @cached_property
    def all_right(self) -> tuple[str, ...]:
        """The questions that every setup is right on."""
        return tuple(question for question in self.compared if len(self.right[question]) == len(self.setups))

    @cached_property
    def none_right(self) -> tuple[str, ...]:
        """The questions that no setup is right on."""
        return tuple(question for question in self.compared if not self.right[question])

    def only(self, setup: str) -> tuple[str, ...]:
        """The questions that ``setup`` alone is right on."""
        return tuple(question for question in self.compared if self.right[question] == (setup,))

    def all_but(self, setup: str) -> tuple[str, ...]:
        """The questions that all the others are right on."""
        nearly = len(self.setups) - 1
        return tuple(
            question
            for question in self.compared
            if nearly and len(self.right[question]) == nearly and setup not in self.right[question]
        )


def right_where(results: Results) -> RightWhere | None:
    """By the chief metric; None where there is no metric or no score by it."""
    metric = results.metrics[0] if results.metrics else ""
    scored = {each.question for each in results.answers if metric in each.scores}
    if not scored:
        return None
    setups = tuple(each.setup.name for each in results.setups)
    marks: dict[str, dict[str, Mark]] = {setup: {} for setup in setups}
    for each in results.answers:
        if each.question in scored:
            marks[each.setup][each.question] = _mark(each, metric)
    rights = {question: sum(marks[setup].get(question) == "right" for setup in setups) for question in scored}
    values = {each.scores[metric] for each in results.answers if metric in each.scores}
    return RightWhere(
        metric=metric,
        setups=setups,
        questions=tuple(sorted(scored, key=lambda question: (rights[question], question))),
        marks=marks,
        graded=not values <= {0.0, 1.0},
        left_out=len({each.question for each in results.answers} - scored),
    )


def _mark(answer: Scored, metric: str) -> Mark:
    if answer.error is not None:
        return "failed"
    score = answer.scores.get(metric)
    if score is None:
        return "unscored"
    if (score >= RIGHT_FROM) != lower_is_better(metric):
        return "right"
    return "refused" if answer.refused else "wrong"


# ----------------------------------------------------------------------------------------------------- figures in words


def percent(score: Estimate | None) -> str:
    """``75.0``; a dash without a score."""
    return "–" if score is None else f"{100 * score.mean:.1f}"


def interval(score: Estimate | None) -> str:
    """``75.0 (55.0–90.0)``."""
    return "–" if score is None else f"{percent(score)} ({100 * score.low:.1f}–{100 * score.high:.1f})"


def amount(number: float) -> str:
    """A mean number of tokens: ``812``, ``12,400``."""
    return f"{number:,.0f}"


def money(value: float | None) -> str:
    """``1.20``, ``0.0034``: two digits that count, and cents at least."""
    if value is None:
        return "–"
    digits = 2 if value >= 1 or value <= 0 else 1 - math.floor(math.log10(value))
    return f"{value:,.{max(2, digits)}f}"
