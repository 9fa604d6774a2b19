"""Verdicts, in JSON and in free text: the forms that models give them, and replies that have none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgplatform.errors import ReplyError
from kgplatform.evaluate.score.verdicts import (
    Agreement,
    Correctness,
    Degree,
    Points,
    StrictAgreement,
    Verdict,
    read_degree,
    read_score,
    recall_of,
)
from kgplatform.models.forms import examples_of
from kgplatform.models.reply import ask
from kgplatform.models.request import is_closed, json_schema
from kgplatform.testing import ScriptedChat

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
    "Correct.",
    "true",
    "Ja, beide nennen Ostrel.",
    "Oui.",
    "**Sí**",
    "Antwort: ja",
    "是。",
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
    "Agrees: partially",
    "Ja, aber nur teilweise.",
    "Oui, en partie",
    "Sí, parcialmente",
    "部分一致",
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
    "Incorrect",
    "Nein, John nennt einen anderen Ort.",
    "Non",
    "Bewertung: nein",
    "不是",
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
    "Correct answers name the town.",
    "Vielleicht",
    "1. John names a town.\n2. The right answer names a river.",
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
        ("1. It names Ostrel.\n2. So does the right answer, of 1874.\n0", 0, 0),
        ("1. It names Ostrel, as the right answer does.", 1, 1),
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
    for piece in (
        "yes ",
        "yes but only it does ",
        "* ",
        "answer ",
        "the final so ",
        "_",
        "1/",
        "\n",
        "score: ",
        "score: 1. ",
        "ja ",
        "1. not needed ",
        "recalled 1 ",
    ):
        assert read_degree(piece * 20_000 + "x") in ("yes", "partially", "no", None)
        recall_of(2).free(piece * 20_000 + "x")
        assert read_score(piece * 20_000 + "x", "012") in (0, 1, 2, None)


# --------------------------------------------------------------------------------------------------------------- forms

FACTS = [
    '{"facts": [{"fact": 1, "reasoning": "Not said.", "needed": true, "recalled": false}, {"fact": 2, "needed": true, '
    '"recalled": true}, {"fact": 3, "needed": false, "recalled": true}]}',
    '{"Facts": {"1": {"needed": "Yes", "Recalled": "No"}, "2": {"needed": "ja", "recalled": 1}, "3": {"needed": 0}}}',
    '[{"needed": true, "recalled": false}, {"needed": true, "recalled": true}, {"needed": false}]',
    '{"fact": 1, "needed": true, "recalled": "no, it does not"}\n{"fact": 2, "needed": true, "recalled": true}\n'
    '{"fact": 3, "needed": false, "recalled": false}',
    "| fact | needed | recalled |\n|---|---|---|\n| 1 | yes | no |\n| 2 | yes | yes |\n| 3 | no | no |",
    "- fact: 1\n  needed: yes\n  recalled: no\n- fact: 2\n  needed: yes\n  recalled: yes\n- fact: 3\n  needed: no",
    "**Fact 1** Needed: **yes**. Recalled: no.\n**Fact 2** Needed: yes; recalled: yes\n**Fact 3** Needed: no",
    "1. It is needed, but not recalled.\n2. Needed and recalled.\n3. Not needed, though recalled.",
    "### Fact 1\nAt first it is not needed.\nNeeded yes\nRecalled no\n### Fact 2\nNeeded yes\nRecalled yes\n"
    "### Fact 3\nIt isn't needed.",
    "Fakt 1: benötigt: ja, im Text: nein\nFakt 2: benötigt: ja, im Text: ja\nFakt 3: nicht benötigt",
    "1. 需要：是，提到：否\n2. 需要：是，提到：是\n3. 不需要",
    '{"analysis": "Fact by fact.", "recalled": 1, "needed": 2}',
    "Needed: 3, I thought.\n**Needed:** 2\n**Recalled** 1",
]


@pytest.mark.parametrize("reply", FACTS)
def test_verdicts_on_facts(reply: str) -> None:
    form = recall_of(3)
    found, _ = ask(ScriptedChat([reply]), render_of(form), form, stage="rate", free=form.free)
    assert (found.needed, found.recalled) == (2, 1)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot say.",
        "Needed: 4\nRecalled: 1",
        "Needed: 1\nRecalled: 2",
        "Needed: 1\nRecalled: -1",
        "Needed: 2",
        "1. Needed: yes / no\n2. Needed: yes / no\n3. Needed: yes / no",
        "1. Needed, recalled.\n2. Needed, recalled.",
        '{"facts": [{"fact": 1, "needed": true}, {"fact": 2, "needed": false}, {"fact": 3, "needed": false}]}',
        '{"facts": [{"fact": 1, "needed": true, "recalled": true}]}',
        json.dumps(examples_of("evaluate/rater_facts")[0]),
    ],
)
def test_no_verdicts_on_facts(reply: str) -> None:
    form = recall_of(3)
    with pytest.raises(ReplyError):
        ask(ScriptedChat([reply, reply]), render_of(form), form, stage="rate", free=form.free)


def test_a_fact_is_thought_about_before_it_is_judged() -> None:
    form = recall_of(3)
    facts = json_schema(form)["properties"]["facts"]
    assert is_closed(form)
    assert (facts["maxItems"], list(facts["items"]["properties"])) == (3, ["fact", "reasoning", "needed", "recalled"])


ALL = (Correctness, StrictAgreement, Agreement, Points)


def said(form: type[Verdict], *replies: str) -> tuple[object, int]:
    """The verdict in ``replies``, of which the last is said again, and how often it was mended or asked for again."""
    chat = ScriptedChat([*replies, replies[-1]])
    value, repaired = ask(chat, render_of(form), form, stage="rate", free=form.free)
    return getattr(value, form.COUNTS), repaired


def render_of(form: type[Verdict]) -> list[dict[str, str]]:
    """A prompt with the examples of ``form``."""
    shown = "\n".join(json.dumps(each) for each in examples_of(form.PROMPT))
    return [{"role": "system", "content": shown}, {"role": "user", "content": "Which is it?"}]


@pytest.mark.parametrize(
    ("form", "reply", "verdict"),
    [
        (Correctness, '{"reasoning": "Both say Moe.", "correct": 1}', 1),
        (Correctness, '{"correct": true}', 1),
        (Correctness, '{"correct": "0"}', 0),
        (Correctness, '{"correct": 0.0}', 0),
        (Correctness, '{"Is correct": "Nein"}', 0),
        (Correctness, '{"verdict": "Incorrect."}', 0),
        (Correctness, '{"result": {"reason": "Moe.", "score": 1}}', 1),
        (Correctness, '```json\n{"reasoning": "It is 1 of 2.", "correct": 0}\n```', 0),
        (Correctness, '<think>It says 1, so {"correct": 1}?</think>{"correct": 0}', 0),
        (Correctness, '{"reasoning": "Moe?", "correct": 1}\nNo, wait.\n{"reasoning": "Nils.", "correct": 0}', 0),
        (StrictAgreement, '{"reasoning": "Both say Moe.", "agrees": "YES"}', "yes"),
        (StrictAgreement, '{"agrees": true}', "yes"),
        (StrictAgreement, '{"agrees": 0}', "no"),
        (StrictAgreement, '{"urteil": "Ja."}', "yes"),
        (Agreement, '{"verdict": "Yes, partially"}', "partially"),
        (Agreement, '{"agrees": 1}', "yes"),
        (Agreement, '{"agrees": false}', "no"),
        (Agreement, '{"Agreement": {"value": "partial"}}', "partially"),
        (Agreement, '{"agrees": "oui, partiellement"}', "partially"),
        (Points, '{"reasoning": "Both say Moe.", "score": 2}', 2),
        (Points, '{"score": "2/2"}', 2),
        (Points, '{"Score": 2, "Reason": "..."}', 2),
        (Points, '{"points": "1 point, for it is vague"}', 1),
        (Points, '{"Bewertung": [0]}', 0),
    ],
)
def test_verdicts_in_json(form: type[Verdict], reply: str, verdict: object) -> None:
    assert said(form, reply) == (verdict, 0)


@pytest.mark.parametrize(
    ("form", "reply", "verdict"),
    [
        (Correctness, "1", 1),
        (Correctness, "<think>Not 1.</think>0", 0),
        (Correctness, "Reasoning: only 1 of the 2 is right.\nCorrect: 0", 0),
        (Correctness, "$\\boxed{1}$", 1),
        (StrictAgreement, "Nein.", "no"),
        (StrictAgreement, "1", "yes"),
        (Agreement, "**Agrees:** Yes, partially", "partially"),
        (Agreement, "Reasoning: the river is the same.\nAgrees: partially", "partially"),
        (Points, "Reason: vague.\n**Score: 1**", 1),
    ],
)
def test_verdicts_without_json(form: type[Verdict], reply: str, verdict: object) -> None:
    assert said(form, reply) == (verdict, 1)


@pytest.mark.parametrize(
    ("form", "reply"),
    [
        (Correctness, '{"reasoning": "My first verdict: yes"}'),
        (Correctness, '{"reasoning": "Both name the lamp. Verdict: yes'),
        (Correctness, '{"correct": 2}'),
        (Correctness, '{"correct": null}'),
        (Correctness, '{"correct": "partially"}'),
        (StrictAgreement, '{"agrees": "Yes, partially"}'),
        (Agreement, '{"agrees": "yes | partially | no"}'),
        (Agreement, '{"agrees": 0.5}'),
        (Points, '{"score": true}'),
        (Points, '{"score": 3}'),
        (Points, '{"score": "2, 1 or 0"}'),
    ],
)
def test_no_verdict(form: type[Verdict], reply: str) -> None:
    with pytest.raises(ReplyError):
        said(form, reply)


@pytest.mark.parametrize("form", ALL)
def test_an_example_is_no_verdict_but_for_its_verdict_alone(form: type[Verdict]) -> None:
    examples = examples_of(form.PROMPT)
    choices = json_schema(form)["properties"][form.COUNTS]["enum"]
    assert sorted(map(str, choices)) == sorted(str(each[form.COUNTS]) for each in examples), "each is shown once"
    for example in examples:
        verdict = example[form.COUNTS]
        own = {"reasoning": "Both say Moe.", form.COUNTS: verdict}
        assert said(form, json.dumps(example), json.dumps(own)) == (verdict, 1)
        assert said(form, json.dumps({form.COUNTS: verdict})) == (verdict, 0)
        assert said(form, str(verdict)) == (verdict, 1)


@pytest.mark.parametrize("form", ALL)
def test_servers_are_asked_for_thoughts_first_and_for_nothing_that_is_open(form: type[Verdict]) -> None:
    assert is_closed(form)
    assert list(json_schema(form)["properties"]) == ["reasoning", form.COUNTS]
