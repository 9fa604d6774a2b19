"""Verdicts: the forms that raters ask for, and replies that have none."""

from __future__ import annotations

import json

import pytest

from kgplatform.errors import ReplyError
from kgplatform.evaluate.score.raters import Agreement, Correctness, Points, StrictAgreement, recall_of
from kgplatform.models.forms import Form
from kgplatform.models.reply import ask
from kgplatform.models.request import is_closed, json_schema
from kgplatform.prompt import source_of
from kgplatform.testing import ScriptedChat

FORMS: dict[type[Form], str] = {Correctness: "correct", StrictAgreement: "agrees", Agreement: "agrees", Points: "score"}


def examples(prompt: str) -> list[str]:
    return [line for line in source_of(prompt).splitlines() if line.startswith("{")]


def said(form: type[Form], *replies: str) -> tuple[Form, int]:
    """What ``replies`` say to a prompt with the examples of ``form``, and how often it was asked again."""
    messages = [{"role": "user", "content": "\n".join(examples(form.PROMPT))}]  # type: ignore[attr-defined]  # each has it
    chat = ScriptedChat([*replies])
    return ask(chat, messages, form, stage="rate")[0], len(chat.calls) - 1


@pytest.mark.parametrize(
    ("form", "reply", "verdict"),
    [
        (Correctness, '{"reasoning": "Both say Moe.", "correct": 1}', 1),
        (Correctness, '{"correct": "0"}', 0),
        (Correctness, '{"correct": true}', 1),
        (StrictAgreement, '{"reasoning": "Both say Moe.", "agrees": "yes"}', "yes"),
        (Agreement, '{"agrees": "partially"}', "partially"),
        (Points, '```json\n{"Score": 2, "Reason": "..."}\n```', 2),
    ],
)
def test_verdicts(form: type[Form], reply: str, verdict: object) -> None:
    found, again = said(form, reply)
    assert (getattr(found, FORMS[form]), again) == (verdict, 0)


@pytest.mark.parametrize(
    ("form", "reply"),
    [
        (Correctness, '{"reasoning": "My first verdict: yes"}'),
        (Correctness, '{"correct": 2}'),
        (Correctness, '{"correct": null}'),
        (Correctness, "1"),
        (StrictAgreement, '{"agrees": "partially"}'),
        (Agreement, '{"agrees": "yes | partially | no"}'),
        (Points, '{"score": 3}'),
        *((form, examples(form.PROMPT)[0]) for form in FORMS),  # type: ignore[attr-defined]  # each has it
    ],
)
def test_no_verdict(form: type[Form], reply: str) -> None:
    with pytest.raises(ReplyError):
        said(form, reply, reply)


@pytest.mark.parametrize("form", FORMS)
def test_servers_are_asked_for_thoughts_first_and_for_nothing_that_is_open(form: type[Form]) -> None:
    assert is_closed(form)
    assert list(json_schema(form)["properties"]) == ["reasoning", FORMS[form]]


def verdicts(*each: tuple[int, bool, bool]) -> str:
    return json.dumps({"facts": [{"fact": n, "needed": one, "recalled": two} for n, one, two in each]})


def test_verdicts_on_facts() -> None:
    form = recall_of(3)
    found, again = ask(
        ScriptedChat([verdicts((1, True, False), (2, True, True), (3, False, True))]), [], form, stage="rate"
    )
    assert (found.needed, found.recalled, again) == (2, 1, 0)
    facts = json_schema(form)["properties"]["facts"]
    assert is_closed(form)
    assert (facts["maxItems"], list(facts["items"]["properties"])) == (3, ["fact", "reasoning", "needed", "recalled"])


@pytest.mark.parametrize(
    "reply", ["", verdicts((1, True, True)), verdicts((1, True, True), (1, True, True), (3, True, True))]
)
def test_no_verdicts_on_facts(reply: str) -> None:
    messages = [{"role": "user", "content": "?"}]
    with pytest.raises(ReplyError):
        ask(ScriptedChat([reply, reply]), messages, recall_of(3), stage="rate")
