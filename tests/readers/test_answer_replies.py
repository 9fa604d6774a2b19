"""Answers in the styles of real models, each read once: none is lost, and no refusal or invention is taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from answers import passage
from model_by_prompt import Model
from reply_files import rows, styled

from kgplatform.errors import ReplyError
from kgplatform.models.chat import Ledger
from kgplatform.places import Place
from kgplatform.readers.answer import Answered, cite, write_answer
from kgplatform.readers.marks import squared, without_marks
from kgplatform.readers.run import Calls
from kgplatform.records import FoundFact, SearchResult
from kgplatform.retrieve.evidence import Stored
from kgplatform.testing import ScriptedChat

REPLIES = "readers/replies/answer.yaml"
QUESTION = "Where was Ada Brook born?"
ADA = passage("ada", "Ada Brook was born in Leeds in 1819. She wrote two novels.", title="Ada Brook")
LEEDS = passage("leeds", "Leeds is a city in Yorkshire, on the river Aire.", title="Leeds")
FACT = FoundFact("f1", "Ada Brook born in Leeds", 1.0, ("triple",), (cite(ADA, Place(0, 27, True)),))
RESULT = SearchResult(QUESTION, (ADA, LEEDS), (FACT,), 0.0)


class Held:
    """The passages as a store would have them."""

    def stored(self, ids: list[str]) -> Stored:
        return Stored({each.id: each for each in (ADA, LEEDS) if each.id in ids}, ())


def answered(reply: dict[str, Any]) -> Answered:
    """What becomes of one reply. Raises ``ReplyError`` where the model would be asked again."""
    chat = ScriptedChat(Model(answer=[reply["reply"], ReplyError("It was asked again.")]))
    return write_answer(QUESTION, RESULT, Held(), Calls(chat, Ledger()), "reject")  # type: ignore[arg-type]  # it asks for no more


@pytest.mark.parametrize("reply", styled(REPLIES))
def test_each_reply_is_read_as_it_is_meant(reply: dict[str, Any]) -> None:
    if reply["reads"] == "again":
        with pytest.raises(ReplyError):
            answered(reply)
        return
    found = answered(reply)
    if reply["reads"] == "none":
        assert not found.holds
        assert found.citations == ()
    else:
        assert found.holds
        assert without_marks(found.text, len(found.citations)) == reply["reads"]
        assert "ada" in {each.passage for each in found.citations}


@pytest.mark.parametrize("words", ["<the answer>", "The answer [1]", "In Pell Harbour [3], by Orla Quennell."])
@pytest.mark.parametrize("around", ["Here it is:\n{}\nLet me know.", "**Answer:** {}"])
def test_what_copies_the_example_is_no_answer_between_sentences_or_in_prose_either(words: str, around: str) -> None:
    said = words if "**" in around else json.dumps({"answer": words, "sufficient": True})
    with pytest.raises(ReplyError):
        answered({"reply": around.format(said)})


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("Leeds (1), of 551 km², and Aire.¹", "Leeds [1], of 551 km², and Aire. [1]"),
        ("The second (2) and Aire²", "The second (2) and Aire²"),
    ],
)
def test_other_marks_count_only_where_they_are_cited(words: str, read: str) -> None:
    assert squared(words, {"1"}) == read


def test_the_note_names_the_words_that_were_not_found() -> None:
    refused = answered(next(each for each in rows(REPLIES) if each["style"] == "an invented year under a good quote"))
    assert '"1829" was not found' in refused.note
