"""Results of an evaluation that never ran, for tests of what is made of results: marks become scores and costs."""

from collections.abc import Mapping, Sequence

from kgplatform.evaluate.outcome import outcome
from kgplatform.evaluate.terms import DataSet, Question, Results, Scored, Setup, Timing
from kgplatform.records import Usage

COSTS = {"retrieve": (1, 2_000, 1.0), "youtu": (5, 9_000, 6.0), "graphreader": (30, 50_000, 40.0)}
"""Calls, tokens of input and seconds of a question."""


def results_of(
    marks: Mapping[str, str],
    *,
    kinds: Sequence[str] = (),
    ids: Sequence[str] = (),
    dataset: str = "own",
    notes: Sequence[str] = (),
    values: Mapping[str, float] | None = None,
) -> Results:
    """By setup a letter for each question: + right, - wrong, 0 refused, x failed, space not scored.

    ``values``: what a letter scores, where it is not 1 for + and 0 else.
    """
    number = len(next(iter(marks.values())))
    names = ids or [f"q{place + 1:02}" for place in range(number)]
    kind = [kinds[place % len(kinds)] if kinds else "" for place in range(number)]
    questions = tuple(
        Question(name, f"Question {name}?", ("yes",), kind=its) for name, its in zip(names, kind, strict=True)
    )
    setups = [Setup(name, name.split()[0]) for name in marks]
    worth = {"+": 1.0, "-": 0.0, "0": 0.0, "x": 0.0, **(values or {})}
    answers = [
        _scored(question, setup.name, letter, worth)
        for setup in setups
        for question, letter in zip(questions, marks[setup.name], strict=True)
    ]
    return outcome(
        DataSet(dataset, questions),
        setups,
        answers,
        model="gpt-4o-mini",
        raters={"judge": "gpt-4o"},
        notes=notes,
    )


def _scored(question: Question, setup: str, letter: str, worth: Mapping[str, float]) -> Scored:
    failed = letter == "x"
    calls, tokens, _ = COSTS.get(setup.split()[0], (2, 3_000, 2.0))
    scores = {"failed": float(failed)}
    if letter != " ":
        scores |= {"judge": worth[letter], "em": float(letter == "+")}
    return Scored(
        question=question.id,
        kind=question.kind,
        setup=setup,
        text=None if failed else "An answer.",
        error="The model did not answer (503)." if failed else None,
        refused=letter == "0",
        scores=scores,
        spent={} if failed else {"answer": Usage(calls, tokens, 50)},
    )


def timing_of(results: Results) -> Timing:
    """Seconds of every answered question: those of ``COSTS``, and a second more from question to question."""
    return Timing(
        {
            each.setup.name: {
                one.question: COSTS.get(each.setup.reader, (2, 3_000, 2.0))[2] + place
                for place, one in enumerate([one for one in results.answers if one.setup == each.setup.name])
                if one.error is None
            }
            for each in results.setups
        }
    )
