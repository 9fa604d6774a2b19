"""Replies that answer, or say that the text does not: as JSON, and by marks and labels as the last way."""

from __future__ import annotations

import json

import pytest

from kgplatform.errors import InputError
from kgplatform.models.chat import FREE_TEXT, Ledger, Reply, Wanted
from kgplatform.models.forms import examples_of, is_placeholder
from kgplatform.models.reply import parse_reply
from kgplatform.readers.choices import choice_reply
from kgplatform.readers.replies import (
    Answering,
    AnswerReply,
    NotesReply,
    PieceReply,
    Said,
    ask_said,
    asked,
    read_answer,
    room_for,
)
from kgplatform.readers.run import Calls
from kgplatform.readers.window import Window
from kgplatform.records import Usage
from kgplatform.testing import ScriptedChat

PROMPT = [{"role": "system", "content": "Read."}, {"role": "user", "content": "Text."}]
NOTHING = Said(None, marked=False)


def said(chat: ScriptedChat, form: type[Answering], **limit: int) -> tuple[Said, int]:
    return ask_said(Calls(chat, Ledger(), **limit), PROMPT, form, stage="read", tokens=400)


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ({"reasoning": "It says so.", "answer": "Casa Loma", "sufficient": True}, Said("Casa Loma")),
        ({"Answer": "Casa Loma"}, Said("Casa Loma")),
        ({"result": {"answer": "Casa Loma", "reasoning": "It says so."}}, Said("Casa Loma")),
        ({"result": {"answer": "Perhaps the CN Tower", "sufficient": False}}, Said(None)),
        ({"reasoning": None, "answer": 1965, "sufficient": "yes"}, Said("1965")),
        ({"answer": 1965.0}, Said("1965")),
        ({"answer": ["Casa Loma", None, "the CN Tower"]}, Said("Casa Loma, the CN Tower")),
        ({"answer": {"text": "Casa Loma"}}, Said("Casa Loma")),
        ({"answer": "**Answer:** Casa Loma", "sufficient": "perhaps"}, Said("Casa Loma")),
        ({"result": {"final_answer": "Casa Loma"}}, Said("Casa Loma")),
        ({"answer": True}, Said("yes")),
        ({"answer": "[unanswerable]"}, Said(None)),
        ({"answer": "The passage does not mention it.", "sufficient": True}, Said(None)),
        ({"answer": "", "sufficient": False}, Said(None)),
        ({"answer": None, "sufficient": "no"}, Said(None)),
        ({"answer": "Perhaps Casa Loma", "sufficient": False}, Said(None)),
    ],
)
def test_each_field_is_read_by_itself(reply: object, wanted: Said) -> None:
    assert said(ScriptedChat([json.dumps(reply)]), AnswerReply) == (wanted, 0)


@pytest.mark.parametrize(
    "answer", ["", "...", "<the answer>", "the answer", "[your answer here]", "<answer>", "string"]
)
def test_a_placeholder_is_no_answer_and_is_asked_for_again(answer: str) -> None:
    chat = ScriptedChat([json.dumps({"answer": answer, "sufficient": True}), "Casa Loma"])
    assert said(chat, AnswerReply) == (Said("Casa Loma"), 1)


@pytest.mark.parametrize("answer", ["The answer lies in Toronto", "A", "<3>", "the text of 1854", "Note 7"])
def test_what_is_no_placeholder(answer: str) -> None:
    assert not is_placeholder(answer)


@pytest.mark.parametrize("form", [PieceReply, NotesReply, choice_reply(("sand", "gold"))])
def test_the_example_of_the_prompt_is_no_reply(form: type[Answering]) -> None:
    examples = [each for each in examples_of(form.PROMPT) if each.get("sufficient", True)]
    assert examples, form.PROMPT
    for example in examples:
        own = {"reasoning": "It is said there.", "choice": "A", "answer": "Casa Loma", "sufficient": True}
        chat = ScriptedChat([json.dumps(example), json.dumps(own)])
        assert said(chat, form)[0].answer in ("Casa Loma", "sand")
        assert "it is the example of the instructions" in chat.calls[1].messages[-1]["content"]


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("Answer: Brunel", "Brunel"),
        ("**Answer:** Brunel", "Brunel"),
        ("### Final Answer\n\n**Brunel**", "Brunel"),
        ("final answer - Brunel", "Brunel"),
        ("The answer is Brunel.", "Brunel."),
        ("The answer is: Brunel", "Brunel"),
        ("The ship was his.\n\nAnswer: Brunel\n\nExplanation: page 3 says so.", "Brunel"),
        ("Answer: Field? No. Answer: Brunel", "Brunel"),
        ("Antwort: Brunel", "Brunel"),
        ("**Réponse :** Brunel", "Brunel"),
        ("Respuesta: Brunel", "Brunel"),
        ("答案：Brunel", "Brunel"),
        ("`Brunel`", "Brunel"),
        ("### Final Answer\n**Brunel**", "Brunel"),
        ("The answer is **Brunel**", "Brunel"),
        ("The answer lies with Brunel.", "The answer lies with Brunel."),
        ("Answers differ: some say Brunel.", "Answers differ: some say Brunel."),
    ],
)
def test_an_answer_loses_its_label(reply: str, wanted: str) -> None:
    """Else no answer is right to the letter, and EM is 0 (readers.md)."""
    assert read_answer(reply) == Said(wanted)
    assert said(ScriptedChat([json.dumps({"answer": reply})]), AnswerReply) == (Said(wanted), 0)


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("[answerable] Casa Loma", Said("Casa Loma")),
        ("[answerable]\nCasa Loma.\n\nIt is in Toronto.", Said("Casa Loma.\n\nIt is in Toronto.")),
        ("[Answerable]: Casa Loma", Said("Casa Loma")),
        ("**[ANSWERABLE]** Answer: Casa Loma", Said("Casa Loma")),
        ("Answerable: Casa Loma", Said("Casa Loma")),
        ("**Answerable:** Casa Loma", Said("Casa Loma")),
        ("answerable\nCasa Loma", Said("Casa Loma")),
        ("- `answerable` - Casa Loma", Said("Casa Loma")),
        ("answerable] Casa Loma", Said("Casa Loma")),
        ("[answerable Casa Loma", Said("Casa Loma")),
        ("I read the piece.\n\n[answerable] Casa Loma", Said("Casa Loma")),
        ("The castle is Casa Loma. [answerable]", Said("The castle is Casa Loma.")),
        ("[unanswerable]", Said(None)),
        ("Unanswerable.", Said(None)),
        ("**[Unanswerable]** The piece is about ships.", Said(None)),
        ("[not answerable]", Said(None)),
        ("Un-answerable", Said(None)),
        ("UNANSWERABLE: it says nothing", Said(None)),
        ("[summary] The band is from Toronto.\n[unanswerable]", Said(None, "The band is from Toronto.")),
        ("**Summary:** From Toronto.\n\n**Answerable:** Casa Loma", Said("Casa Loma", "From Toronto.")),
        ("[unanswerable]\n[summary] From Toronto.", Said(None, "From Toronto.")),
        ("[Summary]\n- one\n- two\n[Answerable]\nboth", Said("both", "- one\n- two")),
        ("[summary]\n[unanswerable]", Said(None)),
        ("**[answerable]** - **-5 degrees**", Said("-5 degrees")),
        ("<think>[answerable] Berlin</think>[unanswerable]", Said(None)),
    ],
)
def test_marks_are_read_whatever_their_case_brackets_and_stars(reply: str, wanted: Said) -> None:
    assert said(ScriptedChat([reply]), NotesReply) == (wanted, 0)
    assert said(ScriptedChat([reply]), PieceReply) == (Said(wanted.answer), 0)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Casa Loma",
        "Whether this is answerable depends.",
        "[answerable]",
        '{"answer": "Casa',
        "[answerable] the answer",
    ],
)
def test_a_reply_that_says_neither_is_asked_for_once_more(reply: str) -> None:
    chat = ScriptedChat([reply, "[answerable] Casa Loma"])
    assert said(chat, PieceReply) == (Said("Casa Loma"), 1)
    first, second = (call.messages for call in chat.calls)
    assert (first, second[0]) == (PROMPT, PROMPT[0])
    (again,) = second[1:]
    assert again["role"] == "user"
    assert again["content"].startswith(f"{PROMPT[1]['content']}\n\nA reply to this could not be used: ")
    assert said(ScriptedChat([reply, reply]), PieceReply) == (NOTHING, 2)
    assert said(ScriptedChat([reply]), PieceReply, limit=1) == (NOTHING, 1)


def test_notes_alone_say_that_nothing_answers_yet() -> None:
    for reply in ("[summary] From Toronto.", '{"notes": ["From Toronto."], "answer": null}'):
        assert said(ScriptedChat([reply]), NotesReply) == (Said(None, "From Toronto."), 0)
    for none in ("none", "(none)", "No new notes.", "..."):
        assert said(ScriptedChat([f'{{"notes": "{none}", "sufficient": false}}']), NotesReply)[0].notes == ""


def test_the_form_has_room_to_think_before_it_decides() -> None:
    assert list(NotesReply.model_json_schema()["properties"]) == ["reasoning", "notes", "answer", "sufficient"]
    chosen = choice_reply(("a", "b", "c")).model_json_schema()["properties"]
    assert list(chosen) == ["reasoning", "choice"]
    assert chosen["choice"]["enum"] == ["A", "B", "C"]


@pytest.mark.parametrize("choice", ["B", "(b)", "b) a dog", "Option B", "a dog", ["B"], "Answer: (B) a dog", "**B**"])
def test_the_choice_of_a_form(choice: object) -> None:
    assert parse_reply(json.dumps({"choice": choice}), choice_reply(("a horse", "a dog"))).said == Said("a dog")


def test_replies_of_no_use_are_forgotten_so_that_another_run_asks_the_model() -> None:
    class Remembering(ScriptedChat):
        forgotten: list[str] = []

        def forget(self, messages: list[dict[str, str]], *, wanted: Wanted = FREE_TEXT) -> None:
            assert wanted == Wanted(PieceReply, 400, again=bool(self.forgotten))
            self.forgotten.append(messages[-1]["content"])

    said(Remembering(["", ""]), PieceReply)
    first, again = Remembering.forgotten
    assert first == "Text."
    assert again.startswith("Text.\n\nA reply to this could not be used: ")


def test_a_thought_that_was_cut_off_says_nothing() -> None:
    cut_off = Reply("<think>[answerable] Berlin", Usage(1, 1, 1), cut_off=True)
    assert said(ScriptedChat([cut_off, "[unanswerable]"]), PieceReply) == (Said(None), 1)


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        (" Casa Loma. ", Said("Casa Loma.")),
        ("Is this answerable? Yes: Casa Loma.", Said("Is this answerable? Yes: Casa Loma.")),
        ("[answerable] Casa Loma", Said("Casa Loma")),
        ("[unanswerable]", Said(None)),
        (" \n", NOTHING),
    ],
)
def test_a_full_answer_needs_no_mark(reply: str, wanted: Said) -> None:
    assert read_answer(reply) == wanted


def test_a_question_that_leaves_no_room_is_refused() -> None:
    assert room_for(Window(1000, 100), PROMPT) > 700
    with pytest.raises(InputError, match="leaves no room for a text in a window of 1,000 tokens. Shorten it"):
        room_for(Window(1000), [{"role": "user", "content": "word " * 850}])
    assert asked("  Who\n is it? ") == "Who is it?"
    with pytest.raises(InputError, match="The question is empty"):
        asked(" ?! ")
