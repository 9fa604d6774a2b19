"""Verdicts in free text: the forms that models give them, and sentences that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgplatform.evaluate.score.raters import Degree, read_degree, read_score, read_yes_no

YES = [
    "YES",
    "yes.",
    "**Yes**",
    "`Yes`",
    "- Yes",
    "Yes。",
    "Yes—both say 1874",
    "Yes John's answer agrees with it.",
    "Yes. Not just partially, but fully.",
    "Yes.\nPartially because he also names the town.",
    "Answer: yes",
    "The answer is: **Yes**",
    '{"verdict": "Yes"}',
    "John says Ostrel, and so does the right answer.\n\nYes",
    "No town is named at first. My final answer is: yes",
]
PARTIALLY = [
    "Yes, partially",
    "**Yes, partially.** Both name the river.",
    "yes - but only partially",
    "Yes (partially)",
    "Yes, it does partially",
    "Partially",
    "Partly: the year is there.",
    "Answer:\nYes, partially correct",
    '{"verdict": "Yes, partially"}',
]
NO = [
    "NO",
    "No.",
    "_No_",
    "no, John names another town",
    "NO because he names another town",
    "No, not even partially.",
    "Yes, he names Ostrel. But the right answer is Varn.\nFinal verdict: No",
    "Verdict: YES is what I first thought.\nVerdict: NO",
]
NEITHER = [
    "",
    "YES or NO",
    "Yes / No",
    "Yes / Yes, partially / No",
    '"Yes", "Yes, partially", or "No"',
    "Yes, partially, or No",
    "yes and no",
    "No difference between them",
    "There is no overlap",
    "Not partially",
    "Nope",
    "Yesterday",
    "The correct answer is No. 5, and so says John",
    "Answer: Ostrel",
    "I cannot say.",
    "\ufffd\x00",
]


@pytest.mark.parametrize(
    ("text", "degree"),
    [(text, "yes") for text in YES]
    + [(text, "partially") for text in PARTIALLY]
    + [(text, "no") for text in NO]
    + [(text, None) for text in NEITHER],
)
def test_yes_partially_and_no(text: str, degree: Degree | None) -> None:
    assert read_degree(text) == degree
    assert read_yes_no(text) == {"yes": True, "no": False}.get(degree or "")


@pytest.mark.parametrize(
    ("text", "judge", "rubric"),
    [
        ("1", 1, 1),
        ("1.", 1, 1),
        ("Correct: 1", 1, 1),
        ("0", 0, 0),
        ("**0**", 0, 0),
        ('{"correct": 1}', 1, 1),
        ("Judgement - 0", 0, 0),
        ("1, because the two agree", 1, 1),
        ("It names 1 of 2 towns.\n0", 0, 0),
        ("Reason: only 1 of the 2 is right.\nScore: 0", 0, 0),
        ("Score: 2 points", None, 2),
        ("2/2", None, 2),
        ("Score: 1/2", None, 1),
        ("1/0", None, None),
        ("1 or 0", None, None),
        ("2, 1 or 0", None, None),
        ("10", None, None),
        ("1.5", None, None),
        ("-1", None, None),
        ("3", None, None),
        ("1874", None, None),
        ("100%", None, None),
        ("", None, None),
    ],
)
def test_scores(text: str, judge: int | None, rubric: int | None) -> None:
    assert (read_score(text, "01"), read_score(text, "012")) == (judge, rubric)


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert read_degree(text) in ("yes", "partially", "no", None)
    assert read_score(text, "012") in (0, 1, 2, None)


def test_a_long_reply_is_read_at_once() -> None:
    """No expression here takes more than linear time, whatever is repeated."""
    for piece in ("yes ", "yes but only it does ", "* ", "answer ", "the final so ", "_", "1/", "\n", "score: "):
        assert read_degree(piece * 20_000 + "x") in ("yes", "partially", "no", None)
        assert read_score(piece * 20_000 + "x", "012") in (0, 1, 2, None)
