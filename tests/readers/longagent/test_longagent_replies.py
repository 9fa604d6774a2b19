"""What LongAgent's leader and members write: one JSON object, whatever stands around it and however it is broken."""

from __future__ import annotations

import json
import random
import string
from collections import Counter

import pytest

from kgplatform.models.chat import ANY_OBJECT, FREE_TEXT, Ledger, Reply, Wanted
from kgplatform.readers.longagent.envelope import Envelope, Unusable, ask_envelope, read_envelope, reminder_tokens
from kgplatform.readers.longagent.team import EXPERTS, find_expert, listed_experts
from kgplatform.readers.refusals import is_members_refusal
from kgplatform.readers.run import Calls
from kgplatform.readers.window import cost
from kgplatform.records import Usage
from kgplatform.testing import ScriptedChat

LEADER = ("answer", "instruction", "conflict")
MEMBER = ("response",)
ASKED = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"type": "answer", "content": "Kingston"}', "Kingston"),
        ('Sure!\n```json\n{"type": "answer", "content": "Kingston"}\n```\nThat is it.', "Kingston"),
        (
            '<scratchpad>{"type": "answer", "content": "draft"} {</scratchpad>{"type":"answer","content":"Kingston"}',
            "Kingston",
        ),
        ('<think>{"type": "answer", "content": "no"}</think>{"type": "answer", "content": "Kingston"}', "Kingston"),
        ('<scratchpad>It says {"type": "answer", "content": "Kingston"}', "Kingston"),
        ('<scratchpad>{"type": "answer", "content": "Kingston"}</scratchpad>', "Kingston"),
        ('{"type": "answer", "content": "Hull"} No: {"type": "answer", "content": "Kingston"}', "Kingston"),
        ('{"type": "answer", "content": "Kingston"} {"note": "it is sure"}', "Kingston"),
        ("{'type': 'answer', 'content': 'the captain\\'s log'}", "the captain's log"),
        ("{'type': 'answer', 'content': \"the captain's log\"}", "the captain's log"),
        ('"type": "answer", "content": "Yale Law Journal"', "Yale Law Journal"),
        ("type: answer, content: Yale Law Journal", "Yale Law Journal"),
        ('"type": "answer", "content": "Yale Law Journal"}\n\nSo says "member 1".', "Yale Law Journal"),
        ('{"type": "answer", "content": "Kingston"]}}', "Kingston"),
        ('{"type": "answer", "content": "Kingston"', "Kingston"),
        ('{"type": "answer", "content": "he said "no" twice"}', 'he said "no" twice'),
        ('{"type": "answer", "content": "a {brace} and a ]"}', "a {brace} and a ]"),
        ('{"type": "answer", "content": ["Hull", "Kingston"]}', '["Hull", "Kingston"]'),
        ('{"type": "answer", "content": {"city": "Zürich"}}', '{"city": "Zürich"}'),
        ('{"type": "answer", "content": 94}', "94"),
        ('[{"type": "answer", "content": "Kingston"}]', "Kingston"),
        ('{"type": "Final Answer", "content": "Kingston"}', "Kingston"),
    ],
)
def test_an_answer_is_read_whatever_its_form(text: str, content: str) -> None:
    assert read_envelope(text, LEADER) == Envelope("answer", content)


@pytest.mark.parametrize("word", ["instruction", "QUERY", "NEW_STATE", "new state", "Instruction"])
def test_the_papers_words_for_an_instruction(word: str) -> None:
    assert read_envelope(f'{{"type": "{word}", "content": "Who?"}}', LEADER) == Envelope("instruction", "Who?")


@pytest.mark.parametrize("content", ["[1, 3]", '"1 and 3"', '["Member 1", "Member 3"]'])
def test_a_conflict_names_members(content: str) -> None:
    read = read_envelope(f'{{"type": "CONFLICT", "content": {content}}}', LEADER)
    assert isinstance(read, Envelope)
    assert (read.type, read.numbers) == ("conflict", (1, 3))


@pytest.mark.parametrize(
    ("text", "fault", "plain"),
    [
        ("", "empty reply", ""),
        (" \n", "empty reply", ""),
        ("It is Kingston.", "no json", "It is Kingston."),
        ('{"city": "Kingston"}', "no json", ""),
        ('{"content": "Kingston"}', "no json", ""),
        ('{"type": "member", "content": "QA member"}', "wrong type", ""),
        ('{"type": "response", "content": "Kingston"}', "wrong type", ""),
        ('{"type": null, "content": "Kingston"}', "wrong type", ""),
        ('{"type": "answer", "content": ""}', "no content", ""),
        ('{"type": "answer", "content": null}', "no content", ""),
        ('{"type": "answer"}', "no content", ""),
    ],
)
def test_what_cannot_be_used_is_named(text: str, fault: str, plain: str) -> None:
    assert read_envelope(text, LEADER) == Unusable(fault, plain)


def test_of_a_reply_that_broke_off_only_a_whole_object_counts() -> None:
    assert read_envelope('{"type": "answer", "content": "King', LEADER, cut_off=True) == Unusable("cut off")
    whole = '{"type": "answer", "content": "Kingston"} And I th'
    assert read_envelope(whole, LEADER, cut_off=True) == Envelope("answer", "Kingston")


def test_a_members_empty_answer_is_one() -> None:
    assert read_envelope('{"type": "response", "content": ""}', MEMBER) == Envelope("response", "")
    assert read_envelope('{"type": "response", "content": null}', MEMBER) == Unusable("no content")


def test_any_content_comes_back_as_it_was_written() -> None:
    chance = random.Random(6)
    letters = string.ascii_letters + string.digits + " {}[]\"'\\:,.<>/é漢\n`"
    for _ in range(500):
        content = "".join(chance.choices(letters, k=chance.randint(1, 60))).strip()
        wrapped = f"<scratchpad>{content}</scratchpad>\n{json.dumps({'type': 'response', 'content': content})}"
        read = read_envelope(wrapped, MEMBER)
        assert read == (Envelope("response", content) if content else Envelope("response", "")), wrapped


def test_no_text_breaks_the_reading() -> None:
    chance = random.Random(7)
    parts = [
        '{"type"',
        ': "answer"',
        ', "content": "',
        "x",
        '"',
        "}",
        "]",
        "{",
        "[",
        "<scratchpad>",
        "</scratchpad>",
        "'",
        "\n",
        ":",
    ]
    kinds = Counter(
        type(read_envelope("".join(chance.choices(parts, k=chance.randint(1, 14))), LEADER)).__name__
        for _ in range(2000)
    )
    assert set(kinds) == {"Envelope", "Unusable"}


# ------------------------------------------------------------------------------------------------------- asking again


def test_a_reply_that_cannot_be_used_is_asked_for_again_with_its_fault() -> None:
    chat = ScriptedChat(["", "prose", '{"type": "answer", "content": "x"}'])
    calls = Calls(chat, Ledger())
    asked = ask_envelope(calls, ASKED, LEADER, stage="leader", form=ANY_OBJECT)
    assert asked == Envelope("answer", "x")
    assert calls.counts == {"malformed.empty reply": 1, "malformed.no json": 1}
    first, second, third = (each.messages for each in chat.calls)
    assert first == ASKED
    assert second[1]["content"].startswith("U\n\nYour last reply could not be used: it was empty. Asked again, 1 of 2.")
    assert "there was no JSON object" in third[1]["content"]
    assert "Asked again, 2 of 2." in third[1]["content"]
    assert third[1]["content"].endswith('{"type": "instruction", "content": "<the instruction>"}')
    assert all(cost(each) <= cost(ASKED) + reminder_tokens(LEADER) for each in (second, third))


def test_after_two_times_it_is_left_and_the_chat_forgets_it() -> None:
    forgotten: list[str] = []

    class Forgetful(ScriptedChat):
        def forget(self, messages: list[dict[str, str]], *, wanted: Wanted = FREE_TEXT) -> None:
            forgotten.append(messages[1]["content"])

    chat = Forgetful(["one", "two", "three", "four"])
    calls = Calls(chat, Ledger())
    asked = ask_envelope(calls, ASKED, MEMBER, stage="member", form=FREE_TEXT)
    assert asked == Unusable("no json", "three")
    assert calls.counts == {"malformed.no json": 3}
    assert (len(chat.calls), len(forgotten), len(set(forgotten))) == (3, 3, 3)
    assert not any(each.wanted.form for each in chat.calls)


def test_text_that_is_enough_is_not_asked_for_again() -> None:
    chat = ScriptedChat(["No Mention"])
    calls = Calls(chat, Ledger())
    asked = ask_envelope(calls, ASKED, MEMBER, stage="m", form=FREE_TEXT, enough=is_members_refusal)
    assert (asked, calls.counts) == (Unusable("no json", "No Mention"), {"malformed.no json": 1})


def test_a_reply_that_is_cut_off_is_asked_for_again() -> None:
    cut = Reply('<scratchpad>{"type": "response", "content": "x', Usage(1, 1, 1), cut_off=True)
    chat = ScriptedChat([cut, '{"type": "response", "content": "x"}'])
    calls = Calls(chat, Ledger())
    asked = ask_envelope(calls, ASKED, MEMBER, stage="m", form=FREE_TEXT)
    assert (asked, calls.counts) == (Envelope("response", "x"), {"malformed.cut off": 1})
    assert "be shorter" in chat.calls[1].messages[1]["content"]


# ----------------------------------------------------------------------------------------------- refusals and experts


@pytest.mark.parametrize(
    "text",
    [
        "No Mention",
        "no mention.",
        "",
        " — ",
        "N/A",
        "Unanswerable",
        "The question is unanswerable.",
        "The document does not contain the answer.",
        "The passage doesn't mention the lamp.",
        "This part does not explicitly state who kept it.",
        "Not mentioned",
        "It is not mentioned in the text.",
        "The answer is not provided in the given passage, sorry.",
        "No information about the lamp.",
        "There is no mention of a lamp in this part.",
        "The text contains no information on that.",
        "I couldn't find it.",
        "I could not find any reference to the lamp in the passage that I was given to read today.",
        "Cannot be answered from this part.",
        "The number cannot be determined.",
        "Unable to find the key.",
        "The members did not find any information on that.",
        "The replies do not say it.",
        "The answer is not mentioned in any of the members' replies.",
        "The part says nothing about it.",
        "Nothing is said about the lamp.",
        "There is nothing about that in my part.",
        "No Mention. The passage tells of a tower and of the weather, of gulls and sails, of the evening wind and of "
        "a pier that was built of oak, and of little else that could be of any use here.",
    ],
)
def test_refusals(text: str) -> None:
    assert is_members_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "Mara Voss",
        "0",
        "None of them",
        "The treasure was not found.",
        "The divers could not find the wreck.",
        "No Country for Old Men",
        "The passage does not name the keeper's wife, but it says that Mara Voss kept the lamp.",
        "Mara Voss kept the lamp from 1871 on, and lit it every evening. Her letters, which were found in the tower "
        "after the war, say that she came from Hull; what became of her is not mentioned in the book.",
        "not guilty",
        "a fish that is not found in the sea",
        "The team did not find the wreck.",
        "They are not available in the north",
        "The prophet said nothing.",
    ],
)
def test_answers_that_look_like_refusals(text: str) -> None:
    assert not is_members_refusal(text)


@pytest.mark.parametrize("name", ["QA member", "qa MEMBER", "QA", "  Qa Member. "])
def test_experts_are_found_by_name(name: str) -> None:
    assert find_expert(name) is EXPERTS["qa"]


def test_the_experts_of_the_paper() -> None:
    assert [each.name for each in EXPERTS.values()] == [
        "QA member",
        "KV member",
        "NS member",
        "PassKey member",
        "Math member",
    ]
    assert [each.name for each in EXPERTS.values() if not each.resolves] == ["Math member"]
    assert all(find_expert(each.name) is each for each in EXPERTS.values())
    assert find_expert("Poet member") is None
    assert len(listed_experts().splitlines()) == 5
