"""The model alone: its answer is read from a form, thoughts apart, and what refuses is no answer."""

from __future__ import annotations

import json

import pytest

from kgplatform.evaluate.comparators import ClosedOptions, Known, answer_closed
from kgplatform.models.chat import Ledger
from kgplatform.models.forms import examples_of
from kgplatform.models.request import is_closed, json_schema
from kgplatform.readers.answer import OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.run import Calls
from kgplatform.records import Answer
from kgplatform.testing import ScriptedChat

COPIED = json.dumps(examples_of(Known.PROMPT)[0])


def closed(*replies: str) -> tuple[Answer, ScriptedChat]:
    chat = ScriptedChat(list(replies))
    return answer_closed(
        "Who designed the Great Eastern?", Calls(chat, Ledger()), ClosedOptions("open", "phrase")
    ), chat


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ('{"reasoning": "Not Watt: it was Brunel.", "answer": "Brunel"}', "Brunel"),
        ('{"Antwort": "Brunel"}', "Brunel"),
        ('{"answer": "**Final answer:** Brunel"}', "Brunel"),
        ("Brunel", "Brunel"),
        ("At first I thought of Watt.\n### Final Answer\n**Brunel**", "Brunel"),
        ("Reasoning: a ship of 1858.\nAnswer: Brunel", "Brunel"),
        ("Réponse : Brunel", "Brunel"),
        ('{"answer": "(B) Brunel"}', "(B) Brunel"),
        ("[PERSON#1]: Brunel\n[PERSON#2]: Russell", "[PERSON#1]: Brunel\n[PERSON#2]: Russell"),
        ('{"reasoning": "I cannot recall it.", "answer": "I do not know."}', None),
        ('{"reasoning": "I cannot recall it.", "answer": ""}', None),
        ("I'm not sure.", None),
        ("Das weiß ich nicht.", None),
    ],
)
def test_an_answer_is_read_without_its_thoughts(reply: str, text: str | None) -> None:
    answer, chat = closed(reply)
    assert answer.text == (text or REFUSAL)
    assert answer.note == (OWN_KNOWLEDGE if text else "The language model gave no answer from its own knowledge.")
    assert [step.name for step in answer.trace] == ["answer"]
    assert (chat.calls[0].stage, chat.calls[0].wanted.tokens) == ("answer", 500)


@pytest.mark.parametrize("useless", ["", COPIED, '{"reasoning": "It was'])
def test_what_cannot_be_read_is_asked_for_once_more(useless: str) -> None:
    answer, _ = closed(useless, '{"answer": "Brunel"}')
    assert (answer.text, answer.counts) == ("Brunel", {"malformed.no answer": 1})
    answer, _ = closed(useless, useless)
    assert (answer.text, answer.counts) == (REFUSAL, {"malformed.no answer": 2})


def test_the_form_has_room_to_think_before_the_answer() -> None:
    assert is_closed(Known)
    assert list(json_schema(Known)["properties"]) == ["reasoning", "answer"]
