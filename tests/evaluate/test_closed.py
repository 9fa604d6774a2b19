"""The model alone: its answer is read from a form, thoughts apart."""

from __future__ import annotations

import pytest

from kgplatform.evaluate.comparators import ClosedOptions, answer_closed
from kgplatform.models.chat import Ledger
from kgplatform.prompt import source_of
from kgplatform.readers.answer import OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.run import Calls
from kgplatform.records import Answer
from kgplatform.testing import ScriptedChat

COPIED = next(line for line in source_of("evaluate/zero_shot").splitlines() if line.startswith("{"))
USELESS = ["", COPIED, '{"reasoning": "It was', "Brunel", '{"reasoning": "No.", "answer": ""}']


def closed(*replies: str) -> tuple[Answer, ScriptedChat]:
    chat = ScriptedChat(list(replies))
    return answer_closed(
        "Who designed the Great Eastern?", Calls(chat, Ledger()), ClosedOptions("open", "phrase")
    ), chat


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ('{"reasoning": "Not Watt: it was Brunel.", "answer": "Brunel"}', "Brunel"),
        ('{"answer": "(B) Brunel"}', "(B) Brunel"),
        ('{"reasoning": "I cannot recall it.", "answer": "I do not know."}', "I do not know."),
    ],
)
def test_an_answer_is_read_without_its_thoughts(reply: str, text: str) -> None:
    answer, chat = closed(reply)
    assert (answer.text, answer.note) == (text, OWN_KNOWLEDGE)
    assert [step.name for step in answer.trace] == ["answer"]
    assert (chat.calls[0].stage, chat.calls[0].wanted.tokens) == ("answer", 400)


@pytest.mark.parametrize("useless", USELESS)
def test_what_cannot_be_read_is_asked_for_once_more(useless: str) -> None:
    answer, _ = closed(useless, '{"answer": "Brunel"}')
    assert answer.text == "Brunel"
    answer, _ = closed(useless, useless)
    assert (answer.text, answer.note) == (REFUSAL, "The language model gave no answer from its own knowledge.")
