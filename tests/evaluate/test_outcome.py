"""What the answers come to: which metric is the chief one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kgplatform.evaluate.outcome import outcome
from kgplatform.evaluate.terms import DataSet, Question, Scored, Setup


def chief(*scores: Mapping[str, float]) -> str | None:
    """The chief metric of one setup with these scores, an answer each."""
    questions = tuple(Question(str(number), "Who?", ("x",), facts=("Someone did.",)) for number in range(len(scores)))
    answers = [
        Scored(question.id, "", "retrieve", "x", None, False, each, {})
        for question, each in zip(questions, scores, strict=True)
    ]
    found = outcome(DataSet("own", questions), [Setup("retrieve", "retrieve")], answers, model="m", raters={})
    return found.metrics[0]


@pytest.mark.parametrize(
    ("scores", "wanted"),
    [
        (({"f1": 1.0, "judge": 0.0}, {"f1": 0.0, "judge": 1.0}), "judge"),
        (({"f1": 1.0, "judge": 0.0}, {"f1": 0.0}), "f1"),
        (({"choice": 0.0, "facts": 1.0}, {"reverted": 0.0, "facts": 1.0}, {"reverted": 0.0, "facts": 1.0}), "reverted"),
        (({"facts": 1.0, "failed": 0.0},), "facts"),
    ],
    ids=["the judge before words", "what most were scored by", "facts say nothing of answers", "nothing but facts"],
)
def test_the_chief_metric(scores: tuple[Mapping[str, float], ...], wanted: str) -> None:
    assert chief(*scores) == wanted


def test_the_recall_by_fact_and_by_sample() -> None:
    """3 of 5 facts over all questions; 1 question of 3 has all of its facts."""
    facts = {"q1": (2, 1.0), "q2": (2, 0.5), "q3": (1, 0.0)}
    questions = [Question(name, "Who?", ("Ann",), facts=("x",) * size) for name, (size, _) in facts.items()]
    answers = [
        Scored(name, "", "youtu", "Ann", None, False, {"facts": share, "facts.all": float(share == 1)}, {})
        for name, (_, share) in facts.items()
    ]
    found = outcome(DataSet("own", tuple(questions)), [Setup("youtu", "youtu")], answers, model="m", raters={})
    assert found.notes == ("Facts read, counted by fact over all questions: youtu 3 of 5 (60.0 %).",)
    assert found.setups[0].scores["facts.all"].mean == pytest.approx(1 / 3)
