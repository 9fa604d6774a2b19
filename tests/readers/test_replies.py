"""Replies that begin with a mark: what is read as which."""

from __future__ import annotations

import pytest

from kgplatform.errors import InputError
from kgplatform.models.chat import FREE_TEXT, Ledger, Reply, Wanted
from kgplatform.readers.replies import Said, ask_marked, asked, read_answer, read_reply, reminder, room_for
from kgplatform.readers.run import Calls
from kgplatform.records import Usage
from kgplatform.testing import ScriptedChat

PROMPT = [{"role": "system", "content": "Read."}, {"role": "user", "content": "Text."}]
NOTHING = Said(None, marked=False)


@pytest.mark.parametrize(
    ("reply", "said"),
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
def test_marks_are_read_whatever_their_case_brackets_and_stars(reply: str, said: Said) -> None:
    calls = Calls(ScriptedChat([reply]), Ledger())
    assert ask_marked(calls, PROMPT, read_reply, stage="read", marks="a mark") == (said, 0)


@pytest.mark.parametrize(
    ("reply", "notes"),
    [
        ("", ""),
        ("Casa Loma", ""),
        ("Whether this is answerable depends.", ""),
        ("[answerable]", ""),
        ("[summary] From Toronto.", "From Toronto."),
        ("In summary, it is unanswerable in my view.", ""),
    ],
)
def test_a_reply_with_neither_mark_is_asked_for_once_more(reply: str, notes: str) -> None:
    chat = ScriptedChat([reply, "[answerable] Casa Loma"])
    calls = Calls(chat, Ledger())
    assert ask_marked(calls, PROMPT, read_reply, stage="read", marks="[answerable]") == (Said("Casa Loma"), 1)
    first, second = (call.messages for call in chat.calls)
    assert first == PROMPT
    assert second[-1]["content"] == f"Text.{reminder('[answerable]')}"
    assert calls.made == 2
    chat = ScriptedChat([reply, reply])
    said = ask_marked(Calls(chat, Ledger()), PROMPT, read_reply, stage="read", marks="[answerable]")
    assert said == (Said(None, notes, marked=False), 2)
    once = ask_marked(Calls(ScriptedChat([reply]), Ledger()), PROMPT, read_reply, stage="r", marks="x", again=False)
    assert once == (Said(None, notes, marked=False), 1)


def test_replies_of_no_use_are_forgotten_so_that_another_run_asks_the_model() -> None:
    class Remembering(ScriptedChat):
        forgotten: list[str] = []

        def forget(self, messages: list[dict[str, str]], *, wanted: Wanted = FREE_TEXT) -> None:
            self.forgotten.append(messages[-1]["content"])

    ask_marked(Calls(Remembering(["", ""]), Ledger()), PROMPT, read_reply, stage="read", marks="it")
    assert Remembering.forgotten == ["Text.", f"Text.{reminder('it')}"]


def test_a_thought_that_was_cut_off_says_nothing() -> None:
    cut_off = Reply("<think>[answerable] Berlin", Usage(1, 1, 1), cut_off=True)
    calls = Calls(ScriptedChat([cut_off, "[unanswerable]"]), Ledger())
    assert ask_marked(calls, PROMPT, read_reply, stage="read", marks="it") == (Said(None), 1)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (" Casa Loma. ", Said("Casa Loma.")),
        ("Is this answerable? Yes: Casa Loma.", Said("Is this answerable? Yes: Casa Loma.")),
        ("[answerable] Casa Loma", Said("Casa Loma")),
        ("[unanswerable]", Said(None)),
        (" \n", NOTHING),
    ],
)
def test_a_full_answer_needs_no_mark(reply: str, said: Said) -> None:
    assert read_answer(reply) == said


def test_a_question_that_leaves_no_room_is_refused() -> None:
    assert room_for(1000, PROMPT, "it") > 800
    with pytest.raises(InputError, match="leaves no room for a text in a window of 1,000 tokens. Shorten it"):
        room_for(1000, [{"role": "user", "content": "word " * 850}], "it")
    assert asked("  Who\n is it? ") == "Who is it?"
    with pytest.raises(InputError, match="The question is empty"):
        asked(" ?! ")
