"""What LongAgent's leader and members say, as their forms have it."""

import json
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from kgplatform.errors import ReplyError
from kgplatform.models.reply import parse_reply
from kgplatform.prompt import source_of
from kgplatform.readers.answer import AnswerReply
from kgplatform.readers.longagent.options import Chosen, Decided, Grouped, Instructed, Responded, Settled, Summed

M = TypeVar("M", bound=BaseModel)


def read(form: type[M], **fields: Any) -> M:
    return parse_reply(json.dumps(fields), form)[0]


def test_the_leader_decides_in_the_papers_words_or_in_ours() -> None:
    for word in ("instruction", "QUERY", "NEW_STATE"):
        found = read(Decided, type=word, content="Who?")
        assert (found.type, found.content) == ("instruction", "Who?")
    for content in ([1, 3], "1 and 3", ["Member 1", "Member 3"]):
        found = read(Decided, type="CONFLICT", content=content)
        assert (found.type, found.numbers) == ("conflict", (1, 3))
        with pytest.raises(ReplyError):
            read(Settled, type="conflict", content=content)


def test_an_answer_is_there_or_is_said_not_to_be() -> None:
    assert read(Decided, type="answer", content="Hull [1.2]").reply == AnswerReply(answer="Hull [1.2]")
    assert not read(Decided, type="answer", content="", sufficient=False).reply.sufficient
    for content in ("", "[1.2]"):
        with pytest.raises(ReplyError, match='write the "content"'):
            read(Decided, type="answer", content=content, sufficient=True)
    with pytest.raises(ReplyError):
        read(Decided, type="instruction", content="", sufficient=False)


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"content": " the Zilverbrand ", "sentences": [2.3]}, "the Zilverbrand"),
        ({"mentioned": False, "content": "I think the Klipgeest", "sentences": []}, ""),
        ({"content": None, "sentences": []}, ""),
    ],
)
def test_a_member_says_whether_its_part_has_it(fields: dict[str, Any], answer: str) -> None:
    found = read(Responded, **fields)
    assert found.answer == answer
    assert found.sentences == (["2.3"] if answer else [])


def test_the_examples_of_the_prompts_are_replies_of_their_forms() -> None:
    forms = {
        **{"expert": Chosen, "instruct": Instructed, "member": Responded, "joint": Responded, "group": Grouped},
        **{"decide": Decided, "batch": Summed, "end": AnswerReply},
    }
    for name, form in forms.items():
        examples = [line for line in source_of(f"longagent/{name}").splitlines() if line.startswith("{")]
        assert examples
        for line in examples:
            assert set(json.loads(line)) <= set(form.model_fields)
            assert parse_reply(line, form)[0]
