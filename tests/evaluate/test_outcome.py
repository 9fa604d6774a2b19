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
