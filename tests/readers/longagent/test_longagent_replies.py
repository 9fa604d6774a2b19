"""What LongAgent's leader and members write, as real models write it, and what is read from it without asking again."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable
from typing import Any

import pytest
from reply_files import rows

from kgplatform.errors import ReplyError
from kgplatform.models.chat import Reply
from kgplatform.models.reply import ask
from kgplatform.prompt import source_of
from kgplatform.readers.longagent.forms import (
    Chosen,
    Decided,
    Ended,
    Grouped,
    Instructed,
    Responded,
    Said,
    Settled,
    examples,
    reads,
)
from kgplatform.readers.longagent.team import EXPERTS, find_expert, listed_experts
from kgplatform.readers.refusals import is_members_refusal
from kgplatform.records import Usage
from kgplatform.testing import ScriptedChat
from kgplatform.text import normalise_name

ASKED = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]


def read(text: str, form: type[Said], *, cut_off: bool = False, plain: str = "") -> Said | None:
    """What one reply says; None where it has to be asked for again."""
    chat = ScriptedChat([Reply(text, Usage(1, 1, 1), cut_off=cut_off)])
    try:
        return ask(chat, ASKED, form, stage="s", free=reads(form, plain))[0]
    except (ReplyError, AssertionError, IndexError, StopIteration):
        return None


def said(text: str, form: type[Said], cut_off: bool) -> Any:
    found = read(text, form, cut_off=cut_off)
    if found is None:
        return "unusable"
    return "none" if found.type in ("response", "answer") and is_members_refusal(found.content) else found.content


def groups(text: str, form: type[Said], cut_off: bool) -> Any:
    try:
        found = ask(ScriptedChat([text]), ASKED, Grouped, stage="s", free=Grouped.free)[0]
    except (ReplyError, AssertionError, IndexError, StopIteration):
        return "unusable"
    return [[each.relation, *each.members] for each in found.groups]


def decision(text: str, form: type[Said], cut_off: bool) -> Any:
    found = read(text, form, cut_off=cut_off)
    return f"{found.type}: {said(text, form, cut_off)}" if found else "unusable"


READ: dict[str, tuple[type[Said], Callable[[str, type[Said], bool], Any]]] = {
    "expert": (Chosen, said),
    "instruct": (Instructed, said),
    "member": (Responded, said),
    "batch": (Responded, said),
    "decide": (Decided, decision),
    "end": (Ended, said),
    "group": (Said, groups),
}
CASES = [
    pytest.param(prompt, row, id=f"{prompt}-{number}-{row['style']}")
    for prompt in READ
    for number, row in enumerate(rows(f"readers/longagent/replies/{prompt}.yaml"), 1)
]


@pytest.mark.parametrize(("prompt", "case"), CASES)
def test_a_reply_as_models_write_it_is_read_once(prompt: str, case: dict[str, Any]) -> None:
    form, reading = READ[prompt]
    assert reading(case["reply"], form, case["style"] == "cut off") == case["reads"]


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 45
    assert len({case.values[1]["style"] for case in CASES}) >= 15  # type: ignore[index]


# ---------------------------------------------------------------------------------------------------- the paper's forms


@pytest.mark.parametrize("word", ["instruction", "QUERY", "NEW_STATE", "new state", "Instruction"])
def test_the_papers_words_for_an_instruction(word: str) -> None:
    found = read(f'{{"type": "{word}", "content": "Who?"}}', Decided)
    assert found is not None
    assert (found.type, found.content) == ("instruction", "Who?")


@pytest.mark.parametrize("content", ["[1, 3]", '"1 and 3"', '["Member 1", "Member 3"]'])
def test_a_conflict_names_members(content: str) -> None:
    text = f'{{"type": "CONFLICT", "content": {content}}}'
    found = read(text, Decided)
    assert found is not None
    assert (found.type, found.numbers) == ("conflict", (1, 3))
    assert read(text, Settled) is None, "once conflicts were resolved none can be raised"


@pytest.mark.parametrize(("value", "collects"), [("true", True), ('"Yes"', True), ("false", False), ("null", False)])
def test_a_leader_says_that_it_collects(value: str, collects: bool) -> None:
    found = read(f'{{"type": "instruction", "content": "Which ships?", "collect": {value}}}', Instructed)
    assert isinstance(found, Instructed)
    assert found.collect is collects


def test_short_prose_is_the_answer_where_only_one_thing_is_asked_for() -> None:
    for form, plain in ((Ended, ""), (Responded, ""), (Decided, "answer")):
        found = read("Mara Voss kept it.", form, plain=plain)
        assert found is not None
        assert found.content == "Mara Voss kept it."
    assert read("Mara Voss kept it.", Decided) is None


def test_of_several_replies_the_last_counts_however_long_they_are() -> None:
    found = read('{"answer": "The Great Eastern, of Hull"} No, wait: {"answer": "York"}', Decided)
    assert found is not None
    assert found.content == "York"


def test_the_words_of_the_prompts_examples_are_no_reply() -> None:
    prompts = [source_of(f"longagent/{name}") for name in READ if name != "expert"]
    folded = [normalise_name(text) for text in [*prompts, source_of("longagent/joint")]]
    assert len(examples()) >= 6
    for words in examples():
        assert any(words in text for text in folded), f"{words} is in no prompt any more"
    for name in ("member", "joint", "instruct", "decide", "end", "batch"):
        form = Responded if name == "joint" else READ[name][0]
        for line in source_of(f"longagent/{name}").splitlines():
            if line.startswith('{"') and "No Mention" not in line:
                assert read(line, form) is None, line


def test_any_content_comes_back_as_it_was_written() -> None:
    chance = random.Random(6)
    letters = string.ascii_letters + string.digits + " {}[]\"'\\:,.<>/é漢\n`"
    for _ in range(300):
        content = f"a{''.join(chance.choices(letters, k=chance.randint(1, 60))).strip()}"
        wrapped = f"Here:\n{json.dumps({'reasoning': content, 'type': 'response', 'content': content})}"
        found = read(wrapped, Responded)
        assert found is not None, wrapped
        assert found.content == content


def test_no_text_breaks_the_reading() -> None:
    chance = random.Random(7)
    parts = ['{"type"', ': "answer"', ', "content": "', "x", '"', "}", "]", "{", "[", "<scratchpad>", "'", "\n", ":"]
    found = {read("".join(chance.choices(parts, k=chance.randint(1, 14))), Decided) is not None for _ in range(1500)}
    assert found == {True, False}


# ---------------------------------------------------------------------------------------------------------- experts


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
