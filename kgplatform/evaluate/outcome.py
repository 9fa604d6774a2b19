"""From answers with their scores to results: means with their intervals, who is better, and what was spent.

Bootstrap intervals and paired tests over the same questions say how sure a mean is, and whether two setups differ:

    estimate([1.0, 0.0, 1.0])                                  # Mean(mean=0.667, low=0.0, high=1.0, count=3)
    compare({"q1": 1.0, "q2": 0.0}, {"q1": 0.0, "q2": 0.0})    # Pair(difference=0.5, …, p=1.0, count=2)

Everything is drawn with one seed: the same scores give the same figures, in whatever order they come.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations
from statistics import fmean, stdev
from typing import Any

import numpy as np
from scipy import stats  # type: ignore[import-untyped]  # scipy carries no types

from kgplatform.evaluate.costs import added
from kgplatform.evaluate.metrics import METRICS, ordered
from kgplatform.evaluate.terms import DataSet, Mean, Pair, Results, Scored, Setup, SetupScores, first_of

RESAMPLES = 10_000
_SEED = 0
_DRAWN_AT_ONCE = 2_000_000  # draws that are held in memory together
_DECIMALS_OF_SUMS = 9  # sums that agree so far are equal: their terms were added in another order
_DECIMALS = 12


def estimate(values: Sequence[float]) -> Mean:
    """The mean with its 95 % interval by the percentile bootstrap (Efron and Tibshirani 1993, chapter 13).

    Values that are all the same, and one value alone, have no spread to draw from: then both bounds are the mean, which
    says nothing of how sure it is. Raises ``ValueError`` without values.
    """
    if not values:
        raise ValueError("there is nothing to estimate from")
    if min(values) == max(values):
        mean = float(values[0])
        return Mean(mean, mean, mean, len(values))
    mean = math.fsum(values) / len(values)
    found = stats.bootstrap(
        (np.sort(np.asarray(values, np.float64)),),  # so that their own order is of no consequence
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, _DRAWN_AT_ONCE // len(values)),
        method="percentile",
        random_state=np.random.default_rng(_SEED),
    ).confidence_interval
    low, high = (round(float(bound), _DECIMALS) for bound in found)
    return Mean(mean, min(low, mean), max(high, mean), len(values))


def compare(
    first: Mapping[str, float],
    second: Mapping[str, float],
    metric: str = "",
    names: tuple[str, str] = ("first", "second"),
) -> Pair:
    """Two setups' scores, by question, over the questions that both have. Raises ``ValueError`` if there are none.

    The interval is bootstrapped over the questions. The test is McNemar's, exact, where all scores are 0 or 1; else
    the paired permutation test, which turns the signs of the differences: all ways, or ``RESAMPLES`` of them. Its p is
    not adjusted yet.
    """
    common = sorted(first.keys() & second.keys())
    differences = [first[question] - second[question] for question in common]
    mean = estimate(differences)
    if all(scores[question] in (0, 1) for scores in (first, second) for question in common):
        only_first, discordant = differences.count(1), len(differences) - differences.count(0)
        p = float(stats.binomtest(only_first, discordant).pvalue) if discordant else 1.0  # McNemar 1947
    else:
        p = _sign_flip(differences)
    return Pair(metric, *names, mean.mean, mean.low, mean.high, p, p, len(common))


def pairs(metric: str, by_setup: Mapping[str, Mapping[str, float]]) -> tuple[Pair, ...]:
    """Every two setups compared, in the order given, the p values adjusted for their number (Holm 1979). ``by_setup``:
    for each setup its scores by question. Setups without a question in common are not compared."""
    found = [
        compare(by_setup[first], by_setup[second], metric, (first, second))
        for first, second in combinations(by_setup, 2)
        if by_setup[first].keys() & by_setup[second].keys()
    ]
    adjusted = holm([pair.p for pair in found])
    return tuple(replace(pair, adjusted=p) for pair, p in zip(found, adjusted, strict=True))


def holm(ps: Sequence[float]) -> list[float]:
    """Each p value times the number of those that are not smaller, no less than a smaller one's, at most 1."""
    order = np.argsort(ps, kind="stable")
    adjusted = np.empty(len(ps))
    adjusted[order] = np.maximum.accumulate(np.asarray(ps, np.float64)[order] * np.arange(len(ps), 0, -1))
    return [float(p) for p in np.minimum(adjusted, 1.0)]


def _sign_flip(differences: Sequence[float]) -> float:
    """The share of ways to turn signs that give a sum at least as far from 0 (Fisher 1935). Of drawn ways the one that
    is there counts as one more, so that p is never 0 (Phipson and Smyth 2010)."""
    turned = np.asarray(sorted(filter(None, differences), key=abs), np.float64)
    if len(turned) < 2:
        return 1.0  # both signs of one difference are as far from 0
    found = stats.permutation_test(
        (turned, -turned),
        lambda one, other, axis: np.round(np.abs(one.sum(axis=axis)), _DECIMALS_OF_SUMS),
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=max(1, _DRAWN_AT_ONCE // len(turned)),
        alternative="greater",
        random_state=np.random.default_rng(_SEED),
    )
    return float(found.pvalue)


CHIEF = ("choice", "reverted", "judge", "lr1", "f1*", "f1", "contains", "restored")
"""Metrics, most telling first. The chief one is the first that most questions were scored by."""
_WITHOUT_ANSWERS = "facts"
"""What stands in where no answer can be right or wrong: it says what was read, and not what was made of it."""

_COMPARED = ("choice", "reverted", "judge", "lr1", "lr2", "em", "f1", "f1*", "contains", "facts.all")
_FAULTS_TOLD = 5


def outcome(
    dataset: DataSet,
    setups: Sequence[Setup],
    answers: Sequence[Scored],
    *,
    model: str,
    embedder: str = "",
    raters: Mapping[str, str],
    notes: Sequence[str] = (),
    chief: str | None = None,
) -> Results:
    """``answers``: one of each setup to each question, in the order of both. ``raters``: the model of each. ``chief``:
    the metric that counts most, where it was computed; else the one that ``CHIEF`` comes to."""
    names = ordered(name for answer in answers for name in answer.scores)
    by_setup = {setup.name: [answer for answer in answers if answer.setup == setup.name] for setup in setups}
    if chief not in names:
        counts = {name: sum(name in answer.scores for answer in answers) for name in CHIEF if name in names}
        lacking = _WITHOUT_ANSWERS if _WITHOUT_ANSWERS in names else None
        chief = max(counts, key=lambda name: (counts[name], -CHIEF.index(name)), default=lacking)
    metrics = names if chief is None else (chief, *(name for name in names if name != chief))
    compared = [name for name in metrics if name in _COMPARED or name == metrics[0]]
    return Results(
        dataset=dataset.name,
        questions=len(dataset.questions),
        skipped=dataset.skipped,
        model=model,
        embedder=embedder,
        raters=dict(raters),
        metrics=metrics,
        setups=tuple(_scores_of(setup, by_setup[setup.name], metrics) for setup in setups),
        pairs=tuple(
            pair
            for metric in compared
            for pair in pairs(metric, {name: _by_question(metric, its) for name, its in by_setup.items()})
        ),
        answers=tuple(answers),
        notes=(*first_of(dataset.faults, _FAULTS_TOLD), *_facts_notes(dataset, by_setup), *notes),
    )


def spread(runs: Sequence[Results]) -> dict[str, dict[str, tuple[float, float]]]:
    """By setup and metric: the mean of its scores in repeated runs, and their standard deviation."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for same in zip(*(results.setups for results in runs), strict=True):
        metrics = [metric for metric in same[0].scores if all(metric in setup.scores for setup in same)]
        means = {metric: [setup.scores[metric].mean for setup in same] for metric in metrics}
        found[same[0].setup.name] = {metric: (fmean(of), stdev(of)) for metric, of in means.items()}
    return found


def as_json(value: Mapping[str, Any]) -> bytes:
    """One JSON document, in UTF-8; half a surrogate pair becomes its escape."""
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "backslashreplace")


def _scores_of(setup: Setup, answers: Sequence[Scored], metrics: Sequence[str]) -> SetupScores:
    kinds = list(dict.fromkeys(answer.kind for answer in answers if answer.kind))
    failed = sum(answer.error is not None for answer in answers)
    return SetupScores(
        setup,
        _estimates(answers, metrics),
        {kind: _estimates([answer for answer in answers if answer.kind == kind], metrics) for kind in kinds},
        reduce(added, (dict(answer.spent) for answer in answers), {}),
        len(answers) - failed,
        failed,
    )


def _estimates(answers: Sequence[Scored], metrics: Sequence[str]) -> dict[str, Mean]:
    values = {name: list(_by_question(name, answers).values()) for name in metrics}
    return {name: estimate(found) for name, found in values.items() if found}


def _by_question(metric: str, answers: Sequence[Scored]) -> dict[str, float]:
    return {answer.question: answer.scores[metric] for answer in answers if metric in answer.scores}


def _facts_notes(dataset: DataSet, by_setup: Mapping[str, Sequence[Scored]]) -> list[str]:
    """Supporting facts counted over the whole set, as GraphReader's appendix F has it: by fact, not by question."""
    sizes = {question.id: len(question.facts) for question in dataset.questions if question.facts}
    told = []
    for setup, answers in by_setup.items():
        shares = [(answer.scores["facts"], sizes[answer.question]) for answer in answers if "facts" in answer.scores]
        needed = sum(size for _, size in shares)
        if needed:
            found = sum(round(share * size) for share, size in shares)
            told.append(f"{setup} {found:,} of {needed:,} ({100 * found / needed:.1f} %)")
    title = METRICS["facts"].title
    return [f"{title}, counted by fact over all questions: {', '.join(told)}."] if told else []
