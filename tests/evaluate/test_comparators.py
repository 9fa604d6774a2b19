"""The comparator that is no reader: the model alone."""

from kgplatform.evaluate.comparators import ClosedOptions, answer_closed
from kgplatform.models.chat import Ledger
from kgplatform.prompt import source_of
from kgplatform.readers.answer import OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.run import Calls
from kgplatform.records import Answer
from kgplatform.testing import ScriptedChat


def closed(*replies: str) -> tuple[Answer, ScriptedChat]:
    chat = ScriptedChat(list(replies))
    return answer_closed(
        "Who designed the Great Eastern?", Calls(chat, Ledger()), ClosedOptions("open", "phrase")
    ), chat


def test_what_cannot_be_read_is_asked_for_once_more() -> None:
    copied = next(line for line in source_of("evaluate/zero_shot").splitlines() if line.startswith("{"))
    answer, chat = closed('{"reasoning": "Not Watt: it was Brunel.", "answer": "Brunel"}')
    assert (answer.text, answer.note, [step.name for step in answer.trace]) == ("Brunel", OWN_KNOWLEDGE, ["answer"])
    assert (chat.calls[0].stage, chat.calls[0].wanted.tokens) == ("answer", 400)
    for useless in ("", copied, '{"reasoning": "It was', '{"reasoning": "No.", "answer": ""}'):
        answer, _ = closed(useless, '{"answer": "Brunel"}')
        assert answer.text == "Brunel"
        answer, _ = closed(useless, useless)
        assert (answer.text, answer.note) == (REFUSAL, "The language model gave no answer from its own knowledge.")
