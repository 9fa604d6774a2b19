"""From answers with their scores to results: means with their intervals, who is better, and what was spent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kgplatform.evaluate.journal import write_whole
from kgplatform.evaluate.metrics import METRICS, ordered
from kgplatform.evaluate.question import DataSet
from kgplatform.evaluate.results import Estimate, Results, Scored, Setup, SetupScores, Spent, Timing
from kgplatform.evaluate.statistics import estimate, pairs
from kgplatform.text import counted

CHIEF = ("choice", "reverted", "judge", "accuracy", "lr1", "f1*", "f1", "contains", "restored")
"""What tells most of whether an answer is right; of those that most questions were scored by the first."""
_WITHOUT_ANSWERS = "facts"
"""What stands in where no answer can be right or wrong: it says what was read, and not what was made of it."""

_COMPARED = ("choice", "reverted", "judge", "accuracy", "lr1", "lr2", "em", "f1", "f1*", "contains", "facts.all")
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
    """``answers``: one of each setup to each question, in the order of both. ``raters``: the model of each.

    ``chief``: the metric that counts most, where it was computed; else the one that ``CHIEF`` comes to.
    """
    names = ordered(name for each in answers for name in each.scores)
    by_setup = {setup.name: [each for each in answers if each.setup == setup.name] for setup in setups}
    metrics = _chief_first(names, answers, chief)
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
        pairs=tuple(pair for name in compared for pair in pairs(name, _by_question(name, by_setup))),
        answers=tuple(answers),
        notes=(*_faults(dataset), *_facts_notes(dataset, by_setup), *notes),
    )


def write_results(folder: Path, results: Results, timing: Timing) -> None:
    """``results.json``, the same for the same answers, and ``timing.json``, which no two runs have alike.

    Raises ``KgError`` where they cannot be written.
    """
    write_whole(folder / "timing.json", as_json(asdict(timing)), mode=0o644)
    write_whole(folder / "results.json", as_json(asdict(results)), mode=0o644)


def as_json(value: Mapping[str, Any]) -> bytes:
    """One JSON document, in UTF-8; half a surrogate pair becomes its escape."""
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "backslashreplace")


def _chief_first(names: tuple[str, ...], answers: Sequence[Scored], chief: str | None) -> tuple[str, ...]:
    if chief not in names:
        counts = {name: sum(name in each.scores for each in answers) for name in CHIEF if name in names}
        lacking = _WITHOUT_ANSWERS if _WITHOUT_ANSWERS in names else None
        chief = max(counts, key=lambda name: (counts[name], -CHIEF.index(name)), default=lacking)
    return names if chief is None else (chief, *(name for name in names if name != chief))


def _scores_of(setup: Setup, answers: Sequence[Scored], metrics: Sequence[str]) -> SetupScores:
    kinds = list(dict.fromkeys(each.kind for each in answers if each.kind))
    failed = sum(each.error is not None for each in answers)
    return SetupScores(
        setup,
        _estimates(answers, metrics),
        {kind: _estimates([each for each in answers if each.kind == kind], metrics) for kind in kinds},
        _sum(answers),
        len(answers) - failed,
        failed,
    )


def _estimates(answers: Sequence[Scored], metrics: Sequence[str]) -> dict[str, Estimate]:
    values = {name: [each.scores[name] for each in answers if name in each.scores] for name in metrics}
    return {name: estimate(found) for name, found in values.items() if found}


def _by_question(metric: str, by_setup: Mapping[str, Sequence[Scored]]) -> dict[str, dict[str, float]]:
    return {
        setup: {each.question: each.scores[metric] for each in answers if metric in each.scores}
        for setup, answers in by_setup.items()
    }


def _sum(answers: Sequence[Scored]) -> dict[str, Spent]:
    total: dict[str, Spent] = {}
    for each in answers:
        for stage, spent in each.spent.items():
            total[stage] = total.get(stage, Spent()) + spent
    return dict(sorted(total.items()))


def _faults(dataset: DataSet) -> list[str]:
    """What of the data set was not used: the first of many, and how many more."""
    more = len(dataset.faults) - _FAULTS_TOLD
    told = list(dataset.faults[:_FAULTS_TOLD])
    return [*told, f"{counted(more, 'more fault')} of the data set's files."] if more > 0 else told


def _facts_notes(dataset: DataSet, by_setup: Mapping[str, Sequence[Scored]]) -> list[str]:
    """Supporting facts counted over the whole set, as GraphReader's appendix F has it: by fact, not by question."""
    sizes = {each.id: len(each.facts) for each in dataset.questions if each.facts}
    told = []
    for setup, answers in by_setup.items():
        shares = [(each.scores["facts"], sizes[each.question]) for each in answers if "facts" in each.scores]
        needed = sum(size for _, size in shares)
        if needed:
            found = sum(round(share * size) for share, size in shares)
            told.append(f"{setup} {found:,} of {needed:,} ({100 * found / needed:.1f} %)")
    title = METRICS["facts"].title
    return [f"{title}, counted by fact over all questions: {', '.join(told)}."] if told else []
