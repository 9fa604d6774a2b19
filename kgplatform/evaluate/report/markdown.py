"""The report of an evaluation in Markdown, to be put beside its pictures and traces.

(out / "report.md").write_text(markdown(results, timing, prices, draw(results, timing, out)), encoding="utf-8")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from kgplatform.evaluate.report.costs import Prices
from kgplatform.evaluate.report.overview import (
    RIGHT_FROM,
    SHOWN,
    Mark,
    PerQuestion,
    RightWhere,
    amount,
    better_of,
    interval,
    kinds_of,
    model_of,
    money,
    per_question,
    percent,
    right_where,
    title_of,
)
from kgplatform.evaluate.report.traces import FOLDER, trace_file
from kgplatform.evaluate.results import Build, Pair, Results, Spent, Timing
from kgplatform.evaluate.score.metrics import METRICS
from kgplatform.text import counted, duration

_OTHER_METRICS = 5
"""Metrics beside the chief one in the first table; a later one has all."""
_PAIRS = 40
_QUESTIONS = 100
_KINDS = 12
_COLUMNS = 12
"""Setups that have a column of their own."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&$!])")
_NONE = "–"
_WORDS: dict[Mark, str] = {
    "right": "right",
    "wrong": "wrong",
    "refused": "refused",
    "failed": "failed",
    "unscored": _NONE,
}
_HOW = f"""\
A score is the mean over the questions that it applies to, in percent, with its 95 % confidence interval in brackets:
percentile bootstrap over the questions. Two setups are compared on the questions that both were scored on: McNemar's
exact test where all scores are 0 or 1, else a paired permutation test that turns signs; p is adjusted for the number of
comparisons (Holm), and a difference counts as shown below {SHOWN:g}. That none is shown does not mean that there is
none: few questions show large differences alone. Calls and tokens are means over the answered questions, counted as if
nothing had come from the cache; seconds are those of the run that asked. In the pictures of costs, marks that would
cover each other stand side by side, a little off their places: the table has the figures."""


def markdown(results: Results, timing: Timing, prices: Prices | None = None, pictures: Sequence[Path] = ()) -> str:
    """The whole report. ``pictures``: where they lie, seen from its folder; it shows the PNG files among them."""
    shown = {file.stem: file.as_posix() for file in pictures if file.suffix == ".png"}
    where = right_where(results)
    parts = [
        _asked(results),
        _scores(results, timing, prices, shown),
        _pairs(results),
        _right_where(where, shown),
        _by_kind(results, shown),
        _heat_map(shown),
        _all_metrics(results),
        _setups(results),
        _stages(results, prices),
        _construction(results, timing, prices),
        _questions(results, where),
        _listed("Notes", results.notes),
        f"## How to read this\n\n{_HOW}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _asked(results: Results) -> str:
    lines = [
        f"# Evaluation: {_text(results.dataset)}",
        f"{counted(results.questions, 'question')}, answered by {counted(len(results.setups), 'setup')} "
        f"with the model {_text(results.model) or 'none'}.{_raters(results)}",
    ]
    if results.metrics:
        chief = results.metrics[0]
        source = f" ({_text(METRICS[chief].source)})" if chief in METRICS else ""
        lines.append(f"The chief metric is {_text(title_of(chief))}{source}.")
    if results.skipped:
        lines.append(f"Skipped, since they cannot be used: {counted(results.skipped, 'question')}.")
    kinds = kinds_of(results)
    if len(kinds) > _KINDS:
        lines.append(f"They are of {counted(len(kinds), 'kind')}.")
    elif kinds:
        lines.append(f"Kinds of question: {', '.join(f'{_text(kind)} ({n:,})' for kind, n in kinds.items())}.")
    return "\n\n".join(lines)


def _raters(results: Results) -> str:
    rated = ", ".join(f"{_text(rater)} by {_text(model)}" for rater, model in sorted(results.raters.items()))
    return f" Rated by models: {rated}." if rated else " No model rated the answers."


# --------------------------------------------------------------------------------------------------------------- scores


def _scores(results: Results, timing: Timing, prices: Prices | None, shown: Mapping[str, str]) -> str:
    metrics = results.metrics[: _OTHER_METRICS + 1]
    costs = per_question(results, timing, prices)
    heads = [*map(title_of, metrics), "Calls", "Tokens in", "Tokens out", "Seconds p50", "Seconds p95", "Failed"]
    heads += [f"{prices.currency} a question"] if prices else []
    rows = []
    for each in results.setups:
        scores = [interval(each.scores.get(metric)) for metric in metrics[:1]]
        scores += [percent(each.scores.get(metric)) for metric in metrics[1:]]
        cost = costs[each.setup.name]
        priced = [money(cost.money if cost else None)] if prices else []
        rows.append([_text(each.setup.name), *scores, *_costs(cost), f"{each.failed:,}", *priced])
    lines = [f"## Scores and costs\n{_picture('accuracy-cost', 'The chief metric against cost', shown)}".rstrip()]
    lines += ["Scores are in percent; calls, tokens and seconds are for one question.", _table("Setup", heads, rows)]
    if prices:
        lines.append(_priced(results, prices))
    cached = {name: number for name, number in timing.cached.items() if number}
    if cached:
        which = ", ".join(f"{_text(name)} ({number:,})" for name, number in sorted(cached.items()))
        lines.append(f"Seconds are too short where answers came from the cache of replies; questions so: {which}.")
    return "\n\n".join(lines)


def _costs(cost: PerQuestion | None) -> list[str]:
    if cost is None:
        return [_NONE] * 5
    seconds = [_NONE if value is None else duration(value) for value in (cost.median, cost.p95)]
    return [f"{cost.calls:.1f}", amount(cost.input_tokens), amount(cost.output_tokens), *seconds]


def _priced(results: Results, prices: Prices) -> str:
    lacking = prices.lacking(results.model)
    return _text(lacking) if lacking else f"Amounts are in {prices.currency}, by prices of {prices.as_of}."


def _all_metrics(results: Results) -> str:
    """With a column a setup or a column a metric, whichever makes the narrower table."""
    if len(results.metrics) < 2:
        return ""
    cells = {
        (metric, each.setup.name): interval(each.scores.get(metric))
        for metric in results.metrics
        for each in results.setups
    }
    table = _crossed("Metric", results.metrics, [each.setup.name for each in results.setups], cells, title_of)
    return f"## All metrics\n\n{table}"


def _by_kind(results: Results, shown: Mapping[str, str]) -> str:
    kinds = kinds_of(results)
    if not kinds or not results.metrics:
        return ""
    chief = results.metrics[0]
    cells = {
        (kind, each.setup.name): interval(each.by_kind.get(kind, {}).get(chief))
        for kind in kinds
        for each in results.setups
    }
    table = _crossed("Kind", list(kinds), [each.setup.name for each in results.setups], cells, str)
    picture = _picture("accuracy-by-kind", "The chief metric by kind of question", shown)
    return f"## By kind of question\n{picture}\n{_text(title_of(chief))}, in percent.\n\n{table}"


def _heat_map(shown: Mapping[str, str]) -> str:
    picture = _picture("heat-map", "Right answers by length of the text and depth of the needle", shown)
    return f"## By length and depth\n{picture.rstrip()}" if picture else ""


# ---------------------------------------------------------------------------------------------------------- comparisons


def _pairs(results: Results) -> str:
    chief = [pair for pair in results.pairs if results.metrics and pair.metric == results.metrics[0]]
    if not chief:
        return ""
    # Of too many, those that are surest to differ; they stay in their order.
    surest = sorted(range(len(chief)), key=lambda place: (chief[place].adjusted, chief[place].p, place))[:_PAIRS]
    rows = [_pair(chief[place]) for place in sorted(surest)]
    heads = ["Second", "First minus second, points", "p", "p, adjusted", "Questions", "In words"]
    others = " Comparisons by other metrics stand in results.json." if len(chief) < len(results.pairs) else ""
    lines = [f"## Who is better\n\nBy {_text(title_of(chief[0].metric))}.{others}", _table("First", heads, rows)]
    if len(chief) > len(rows):
        lines.append(f"These are the {len(rows)} surest of {len(chief):,} comparisons; results.json has all.")
    return "\n\n".join(lines)


def _pair(pair: Pair) -> list[str]:
    better = better_of(pair)
    points = f"{100 * pair.difference:+.1f} ({100 * pair.low:+.1f} to {100 * pair.high:+.1f})"
    words = "no difference shown" if better is None else f"{better} is better"
    tests = [f"{pair.p:.2g}", f"{pair.adjusted:.2g}", f"{pair.count:,}"]
    return [_text(pair.first), _text(pair.second), points, *tests, _text(words)]


def _right_where(where: RightWhere | None, shown: Mapping[str, str]) -> str:
    if where is None:
        return ""
    rows = [
        [
            _text(setup),
            *(f"{where.count(setup, mark):,}" for mark in ("right", "wrong", "refused", "failed")),
            _named(where.only(setup)),
            _named(where.all_but(setup)),
        ]
        for setup in where.setups
    ]
    heads = ["Right", "Wrong", "Refused", "Failed", "Only this one right", "Only this one not right"]
    graded = f" An answer counts as right from a score of {RIGHT_FROM:g} on." if where.graded else ""
    left = f" {counted(where.left_out, 'question')} cannot be scored by this metric." if where.left_out else ""
    picture = _picture("right-where", "Which setup is right on which question", shown)
    sentence = (
        f"Of {counted(len(where.compared), 'question')} that every setup was scored on, all setups are right on "
        f"{len(where.all_right):,} and none on {len(where.none_right):,}.{graded}{left}"
    )
    return f"## Which is right where\n{picture}\n{sentence}\n\n{_table('Setup', heads, rows)}"


def _named(questions: Sequence[str], most: int = 5) -> str:
    """How many, and the first of them."""
    if not questions:
        return "0"
    more = ", …" if len(questions) > most else ""
    return f"{len(questions):,} ({', '.join(_text(each) for each in questions[:most])}{more})"


# ------------------------------------------------------------------------------------------------ setups and questions


def _setups(results: Results) -> str:
    """Those that have options; the others are the readers as they are."""
    lines = []
    for each in results.setups:
        build = {name: value for name, value in asdict(each.setup.build).items() if value != asdict(Build())[name]}
        told = [f"{name} {value}" for name, value in sorted(each.setup.options.items())]
        told += [f"built with {name} {value}" for name, value in sorted(build.items())]
        if told:
            lines.append(f"{each.setup.name}: the reader {each.setup.reader}, {', '.join(told)}")
    return _listed("Setups with options", lines)


def _stages(results: Results, prices: Prices | None) -> str:
    """What each step of a reader costs."""
    rows = [
        [_text(each.setup.name), _text(stage), *_spent(spent, model_of(results, stage, each.setup), prices)]
        for each in results.setups
        for stage, spent in each.spent.items()
    ]
    if not rows:
        return ""
    heads = ["Stage", "Calls", "Tokens in", "Tokens out", *([prices.currency] if prices else [])]
    lead = "Over all questions, those that failed included."
    return f"## Costs by stage\n\n{lead}\n\n{_table('Setup', heads, rows)}"


def _construction(results: Results, timing: Timing, prices: Prices | None) -> str:
    """What does not belong to any one question."""
    rows = [
        [_text(what), _text(stage), *_spent(spent, model_of(results, stage), prices)]
        for what, stages in sorted(timing.construction.items())
        for stage, spent in sorted(stages.items())
    ]
    rows += [
        ["rating", _text(rater), *_spent(spent, results.raters.get(rater, ""), prices)]
        for rater, spent in sorted(timing.rating.items())
    ]
    if not rows:
        return ""
    heads = ["Stage", "Calls", "Tokens in", "Tokens out", *([prices.currency] if prices else [])]
    lead = "Not part of what a question costs; all runs into this folder together."
    return f"## Construction and rating\n\n{lead}\n\n{_table('What', heads, rows)}"


def _spent(spent: Spent, model: str, prices: Prices | None) -> list[str]:
    cells = [f"{spent.calls:,}", f"{spent.input_tokens:,}", f"{spent.output_tokens:,}"]
    return [*cells, money(prices.cost(spent, model))] if prices else cells


def _questions(results: Results, where: RightWhere | None) -> str:
    """A row a question, first those on which the setups differ; each cell leads to the trace."""
    if where is None:
        return ""
    number = len(where.setups)
    differ = sorted(where.questions, key=lambda each: len(where.right[each]) in (0, number))  # stable: else as they are
    kinds = {each.question: each.kind for each in results.answers}
    wide = number <= _COLUMNS
    rows = [
        [
            _text(question),
            _text(kinds[question]),
            *([_linked(where, setup, question) for setup in where.setups] if wide else []),
            f"{len(where.right[question]):,}",
        ]
        for question in differ[:_QUESTIONS]
    ]
    heads = ["Kind", *([_text(setup) for setup in where.setups] if wide else []), "Right"]
    left = f" These are {_QUESTIONS} of {len(differ):,}; results.json has all." if len(differ) > _QUESTIONS else ""
    lead = f"First those on which the setups differ.{' Each word leads to the trace.' if wide else ''}{left}"
    return f"## Questions\n\n{lead}\n\n{_table('Question', heads, rows, escaped=True)}"


def _linked(where: RightWhere, setup: str, question: str) -> str:
    mark = where.mark(setup, question)
    if mark in ("failed", "unscored"):  # a failure leaves no trace
        return _WORDS[mark]
    return f"[{_WORDS[mark]}]({trace_file(Path(FOLDER), setup, question).with_suffix('.txt').as_posix()})"


# ------------------------------------------------------------------------------------------------------------ Markdown


def _text(words: str) -> str:
    """``words`` as Markdown that shows them as they are, on one line."""
    flat = " ".join("".join(letter if letter.isprintable() else " " for letter in words).split())
    return _SPECIAL.sub(r"\\\1", flat)


def _picture(stem: str, told: str, shown: Mapping[str, str]) -> str:
    return f"\n![{told}]({shown[stem]})\n" if stem in shown else ""


def _listed(title: str, lines: Iterable[str]) -> str:
    told = "\n".join(f"- {_text(line)}" for line in lines)
    return f"## {title}\n\n{told}" if told else ""


def _table(first: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, escaped: bool = False) -> str:
    """``rows`` are Markdown; ``heads`` too if ``escaped``."""
    named = [first, *(heads if escaped else map(_text, heads))]
    lines = [named, ["---"] * len(named), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _crossed(
    what: str,
    rows: Sequence[str],
    setups: Sequence[str],
    cells: Mapping[tuple[str, str], str],
    title: Callable[[str], str],
) -> str:
    """``cells`` by row and setup; the setups stand at the side where they are more."""
    if len(setups) > len(rows):
        lines = [[_text(setup), *(cells[row, setup] for row in rows)] for setup in setups]
        return _table("Setup", [title(row) for row in rows], lines)
    lines = [[_text(title(row)), *(cells[row, setup] for setup in setups)] for row in rows]
    return _table(what, setups, lines)
