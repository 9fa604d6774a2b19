"""What an evaluation comes to, for people: its figures in words, who is right where, and the report in Markdown.

    (out / "report.md").write_text(markdown(results, timing, prices, draw(results, timing, out)), encoding="utf-8")

The report, the terminal and the pictures all show these same figures.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kgplatform.evaluate.costs import Prices, model_of, per_question
from kgplatform.evaluate.kept_answers import FOLDER, trace_file
from kgplatform.evaluate.metrics import METRICS
from kgplatform.evaluate.outcome import spread
from kgplatform.evaluate.terms import Mean, Results, Scored, SetupScores, Timing
from kgplatform.records import Usage
from kgplatform.text import counted, duration

RIGHT_FROM = 0.5
"""A score from which an answer is taken as right, where a metric knows more than 0 and 1."""
SHOWN = 0.05
"""The adjusted p below which a difference is called one."""
NONE = "–"
"""In place of a figure that is not there."""
AnswerMark = Literal["right", "wrong", "refused", "failed", "unscored"]
_COUNTED: tuple[AnswerMark, ...] = ("right", "wrong", "refused", "failed")


def title_of(metric: str) -> str:
    """What the metric of that name is called on a page."""
    return METRICS[metric].title


def kinds_of(results: Results) -> dict[str, int]:
    """The kinds of question, in the order in which they come, with how many questions each has."""
    return dict(Counter({answer.question: answer.kind for answer in results.answers if answer.kind}.values()))


def percent(score: Mean | None) -> str:
    """``75.0``; a dash without a score."""
    return NONE if score is None else f"{100 * score.mean:.1f}"


def interval(score: Mean | None) -> str:
    """``75.0 (55.0–90.0)``."""
    return NONE if score is None else f"{percent(score)} ({100 * score.low:.1f}–{100 * score.high:.1f})"


def money(value: float | None) -> str:
    """``1.20``, ``0.0034``: two digits that count, and cents at least."""
    if value is None:
        return NONE
    digits = 2 if value >= 1 or value <= 0 else 1 - math.floor(math.log10(value))
    return f"{value:,.{max(2, digits)}f}"


@dataclass(frozen=True, slots=True)
class RightWhere:
    """Which setup is right on which question, by the chief metric.

    ``marks``: by question and setup, of the questions that some setup was scored on: first those on which the fewest
    were right, then by id. ``compared``: those on which every setup has a mark: only they tell who is right alone.
    """

    marks: Mapping[str, Mapping[str, AnswerMark]]
    compared: tuple[str, ...]

    def right_on(self, question: str) -> set[str]:
        """The setups that are right on ``question``."""
        return {setup for setup, mark in self.marks[question].items() if mark == "right"}

    def right_are(self, setups: Iterable[str]) -> list[str]:
        """Of the questions that are ``compared``, those that just these ``setups`` are right on."""
        return [question for question in self.compared if self.right_on(question) == set(setups)]


def right_where(results: Results) -> RightWhere | None:
    """By the chief metric; None where there is no metric or no score by it."""
    metric = results.metrics[0] if results.metrics else ""
    scored = [answer.question for answer in results.answers if metric in answer.scores]
    marks: dict[str, dict[str, AnswerMark]] = {question: {} for question in scored}
    for answer in results.answers:
        if answer.question in marks:
            marks[answer.question][answer.setup] = _mark(answer, metric)
    in_order = sorted(marks, key=lambda each: (list(marks[each].values()).count("right"), each))
    compared = tuple(each for each in in_order if "unscored" not in marks[each].values())
    return RightWhere({each: marks[each] for each in in_order}, compared) if marks else None


def _mark(answer: Scored, metric: str) -> AnswerMark:
    if answer.error is not None:
        return "failed"
    score = answer.scores.get(metric)
    if score is None:
        return "unscored"
    if (score >= RIGHT_FROM) == (METRICS[metric].better == "higher"):
        return "right"
    return "refused" if answer.refused else "wrong"


_PAIRS, _QUESTIONS, _KINDS = 40, 100, 12  # the most that are listed
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&$!])")
_HOW = f"""\
A score is the mean over the questions that it applies to, in percent, with its 95 % confidence interval in brackets:
percentile bootstrap over the questions. Two setups are compared on the questions that both were scored on: McNemar's
exact test where all scores are 0 or 1, else a paired permutation test that turns signs; p is adjusted for the number of
comparisons (Holm), and a difference counts as shown below {SHOWN:g}. That none is shown does not mean that there is
none: few questions show only large differences. Calls and tokens are means over the answered questions, counted as if
nothing had come from the cache; seconds are those of the run that asked. In the pictures of costs, marks that would
cover each other stand side by side, a little off their places: the table has the figures."""


def markdown(
    results: Results,
    timing: Timing,
    prices: Prices | None = None,
    pictures: Sequence[Path] = (),
    repeated: Sequence[Results] = (),
) -> str:
    """The whole report. ``pictures``: where they lie, seen from its folder; it shows the PNG files among them.
    ``repeated``: the results of all runs, where there were several, the first of which are ``results``."""
    shown = {
        file.stem: f"![{file.stem.replace('-', ' ')}]({file.as_posix()})" for file in pictures if file.suffix == ".png"
    }
    where = right_where(results)
    sections: dict[str, Sequence[str | None]] = {
        f"# Evaluation: {text(results.dataset)}": _asked(results),
        "## Scores and costs": [
            shown.get("accuracy-cost"),
            table(*scores_table(results)),
            table(*costs_table(results, timing, prices)),
            *map(text, remarks(results, timing, prices)),
        ],
        "## Repeated runs": _repeated(repeated),
        "## Who is better": _pairs(results),
        "## Which is right where": _right_where(results, where) if where else [],
        "## By kind of question": _by_kind(results),
        "## By length and depth": [shown.get("heat-map")],
        "## All metrics": _all_metrics(results),
        "## Costs by stage": _stages(results, prices),
        "## Construction and rating": _construction(results, timing, prices),
        "## Questions": _questions(results, where) if where else [],
        "## Notes": [listed(results.notes)],
        "## How to read this": [_HOW],
    }
    parts = [part for title, found in sections.items() if any(found) for part in (title, *found) if part]
    return "\n\n".join(parts) + "\n"


def _asked(results: Results) -> list[str]:
    rated = ", ".join(f"{text(rater)} by {text(model)}" for rater, model in sorted(results.raters.items()))
    lines = [
        f"{counted(results.questions, 'question')}, answered by {counted(len(results.setups), 'setup')} "
        f"with the model {text(results.model) or 'none'}. "
        + (f"Rated by models: {rated}." if rated else "No model rated the answers.")
    ]
    if results.metrics:
        chief = results.metrics[0]
        lines.append(f"The chief metric is {text(title_of(chief))} ({text(METRICS[chief].source)}).")
    if results.skipped:
        lines.append(f"Skipped, since they cannot be used: {counted(results.skipped, 'question')}.")
    if kinds := [f"{text(kind)} ({number:,})" for kind, number in kinds_of(results).items()]:
        named = f": {', '.join(kinds)}" if len(kinds) <= _KINDS else ""
        lines.append(f"The questions are of {counted(len(kinds), 'kind')}{named}.")
    return lines


def scores_table(results: Results) -> tuple[list[str], list[list[str]]]:
    """The heads and the rows: the chief metric of each setup with its interval, and the five metrics after it."""
    metrics = results.metrics[:6]  # so many have room in 80 columns; a later table has all
    ways = (interval, *[percent] * 5)
    rows = [
        [setup.setup.name, *(way(setup.scores.get(name)) for way, name in zip(ways, metrics, strict=False))]
        for setup in results.setups
    ]
    return ["Setup", *map(title_of, metrics)], rows


def costs_table(results: Results, timing: Timing, prices: Prices | None) -> tuple[list[str], list[list[str]]]:
    """The heads and the rows: what a question costs each setup, and how many it failed at."""
    rows, costs = [], per_question(results, timing, prices)
    for setup in results.setups:
        figures, cost = [NONE] * 5, costs[setup.setup.name]
        if cost:
            seconds = (NONE if each is None else duration(each) for each in (cost.median, cost.p95))
            figures = [f"{cost.calls:.1f}", f"{cost.input_tokens:,.0f}", f"{cost.output_tokens:,.0f}", *seconds]
        priced = [money(cost.money if cost else None)] if prices else []
        rows.append([setup.setup.name, *figures, f"{setup.failed:,}", *priced])
    heads = ["Setup", "Calls", "Tokens in", "Tokens out", "p50", "p95", "Failed"]
    return heads + ([prices.currency] if prices else []), rows


def remarks(results: Results, timing: Timing, prices: Prices | None) -> list[str]:
    """What must be known to read both tables, a sentence each."""
    told = ["Scores are in percent, the chief one with its 95 % interval; all else is per question."]
    if prices and results.model not in prices.models:
        told.append(f"The table has no price for {results.model}, so amounts are missing: add it to your own table.")
    elif prices:
        told.append(f"Amounts are in {prices.currency}, by prices of {prices.as_of}.")
    if cached := ", ".join(f"{name} ({number:,})" for name, number in sorted(timing.cached.items()) if number):
        told.append(f"Seconds are too short where replies came from the cache; such questions: {cached}.")
    return told


def _repeated(runs: Sequence[Results]) -> list[str]:
    if len(runs) < 2:
        return []
    found = spread(runs)
    scores = {title_of(metric): [of.get(metric) for of in found.values()] for metric in runs[0].metrics}
    lead = (
        f"Mean and standard deviation of the scores of {len(runs)} runs, in percent. Other tables show the first run."
    )
    rows = [
        [title, *(NONE if each is None else f"{100 * each[0]:.1f} ± {100 * each[1]:.1f}" for each in of)]
        for title, of in scores.items()
    ]
    return [lead, table(["Metric", *found], rows)]


def pairs_table(results: Results, most: int) -> tuple[list[str], list[list[str]]]:
    """The heads and the rows: every two setups compared by the chief metric; of too many the ``most`` surest, in their
    order."""
    chief = [pair for pair in results.pairs if pair.metric == results.metrics[0]]
    surest = sorted(chief, key=lambda pair: (pair.adjusted, pair.p))[:most]
    rows = []
    for pair in filter(surest.__contains__, chief):
        better = None  # where no difference is shown
        if pair.count and pair.adjusted < SHOWN and pair.difference:
            is_first = (pair.difference > 0) == (METRICS[pair.metric].better == "higher")
            better = pair.first if is_first else pair.second
        points = f"{100 * pair.difference:+.1f} ({100 * pair.low:+.1f} to {100 * pair.high:+.1f})"
        tests = [f"{pair.p:.2g}", f"{pair.adjusted:.2g}", f"{pair.count:,}"]
        rows.append(
            [pair.first, pair.second, points, *tests, f"{better} is better" if better else "no difference shown"]
        )
    return ["First", "Second", "First minus second, points", "p", "p, adjusted", "Questions", "In words"], rows


def _pairs(results: Results) -> list[str]:
    heads, rows = pairs_table(results, _PAIRS)
    if not rows:
        return []
    lead = f"By {text(title_of(results.metrics[0]))}, the surest {_PAIRS} at most; results.json has all comparisons."
    return [lead, table(heads, rows)]


def _right_where(results: Results, where: RightWhere) -> list[str]:
    rows, setups = [], [setup.setup.name for setup in results.setups]
    for setup in setups:
        marks = [where.marks[question][setup] for question in where.marks]
        others = [each for each in setups if each != setup]
        alone = where.right_are([setup]), where.right_are(others) if others else []
        counts = (f"{marks.count(mark):,}" for mark in _COUNTED)
        named = [
            f"{len(of):,}" + (f" ({', '.join(of[:5])}{', …' if len(of) > 5 else ''})" if of else "") for of in alone
        ]
        rows.append([setup, *counts, *named])
    heads = ["Setup", *map(str.capitalize, _COUNTED), "Only this one right", "Only this one not right"]
    left_out = results.questions - len(where.marks)
    sentences = [
        f"Of {counted(len(where.compared), 'question')} that every setup was scored on, all setups are right on "
        f"{len(where.right_are(setups)):,} and none on {len(where.right_are(())):,}.",
        f"An answer counts as right from a score of {RIGHT_FROM:g} on.",
        f"{counted(left_out, 'question')} cannot be scored by this metric." if left_out else "",
    ]
    return [" ".join(filter(None, sentences)), table(heads, rows)]


def _by_kind(results: Results) -> list[str]:
    kinds = kinds_of(results)
    if not kinds or not results.metrics:
        return []
    chief = results.metrics[0]
    scores = {kind: [setup.by_kind.get(kind, {}).get(chief) for setup in results.setups] for kind in kinds}
    return [f"{text(title_of(chief))}, in percent.", _crossed("Kind", scores, results.setups)]


def _all_metrics(results: Results) -> list[str]:
    if len(results.metrics) < 2:
        return []
    scores = {title_of(metric): [setup.scores.get(metric) for setup in results.setups] for metric in results.metrics}
    return [_crossed("Metric", scores, results.setups)]


def _stages(results: Results, prices: Prices | None) -> list[str]:
    rows = [
        (setup.setup.name, stage, spent, model_of(results, stage, setup.setup))
        for setup in results.setups
        for stage, spent in setup.spent.items()
    ]
    return _spending("Setup", rows, prices, "Over all questions, those that failed included.")


def _construction(results: Results, timing: Timing, prices: Prices | None) -> list[str]:
    """What does not belong to any one question."""
    rows = [
        (graph, stage, spent, model_of(results, stage))
        for graph, stages in sorted(timing.construction.items())
        for stage, spent in sorted(stages.items())
    ]
    rows += [("rating", rater, spent, results.raters.get(rater, "")) for rater, spent in sorted(timing.rating.items())]
    return _spending("What", rows, prices, "Not part of what a question costs; all runs into this folder together.")


def _spending(first: str, rows: Sequence[tuple[str, str, Usage, str]], prices: Prices | None, lead: str) -> list[str]:
    """A table of (what, stage, tokens, model whose tokens they are)."""
    lines = [
        [what, stage, *(f"{count:,}" for count in (spent.calls, spent.input_tokens, spent.output_tokens))]
        + ([money(prices.cost(spent, model))] if prices else [])
        for what, stage, spent, model in rows
    ]
    heads = [first, "Stage", "Calls", "Tokens in", "Tokens out", *([prices.currency] if prices else [])]
    return [lead, table(heads, lines)] if lines else []


def _questions(results: Results, where: RightWhere) -> list[str]:
    """A row a question, first those on which the setups differ; each cell leads to the trace."""
    setups = [setup.setup.name for setup in results.setups]
    alike = (0, len(setups))
    differ = sorted(where.marks, key=lambda each: len(where.right_on(each)) in alike)  # stable: else as they are
    kinds = {answer.question: answer.kind for answer in results.answers}
    columns = setups if len(setups) <= 12 else []  # more have no room for a column each
    rows = []
    for question in differ[:_QUESTIONS]:
        cells: dict[str, str] = {setup: where.marks[question][setup] for setup in columns}
        for setup, mark in cells.items():
            if mark not in ("failed", "unscored"):  # a failure leaves no trace
                file = trace_file(Path(FOLDER), setup, question).with_suffix(".txt")
                cells[setup] = _Link(f"[{mark}]({file.as_posix()})")
            elif mark == "unscored":
                cells[setup] = NONE
        rows.append([question, kinds[question], *cells.values(), f"{len(where.right_on(question)):,}"])
    left = f" These are {_QUESTIONS} of {len(differ):,}; results.json has all." if len(differ) > _QUESTIONS else ""
    lead = f"First those on which the setups differ.{' Each word links to the trace.' if columns else ''}{left}"
    return [lead, table(["Question", "Kind", *columns, "Right"], rows)]


class _Link(str):
    """A cell that is Markdown already."""


def text(words: str) -> str:
    """``words`` as Markdown that shows them as they are, on one line."""
    flat = " ".join("".join(letter if letter.isprintable() else " " for letter in words).split())
    return _SPECIAL.sub(r"\\\1", flat)


def listed(lines: Iterable[str]) -> str:
    """One item a line; empty without any."""
    return "\n".join(f"- {text(line)}" for line in lines)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are shown as they are, but for links."""
    lines = [list(map(text, heads)), ["---"] * len(heads)]
    lines += [[cell if isinstance(cell, _Link) else text(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _crossed(what: str, scores: Mapping[str, Sequence[Mean | None]], setups: Sequence[SetupScores]) -> str:
    """``scores``: a row of one for each setup; the setups stand at the side where they are more."""
    names = [setup.setup.name for setup in setups]
    rows = [[title, *map(interval, found)] for title, found in scores.items()]
    if len(names) > len(rows):
        columns = zip(names, *(row[1:] for row in rows), strict=True)
        return table(["Setup", *scores], list(columns))
    return table([what, *names], rows)
