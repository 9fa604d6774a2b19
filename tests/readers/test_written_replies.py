"""Replies as real models write them, each read once, by what reads them in the readers and in the gist pass."""

from __future__ import annotations

from typing import Any

import pytest
from gists import paragraph
from reply_files import replies

from kgplatform.gist.options import GistOptions
from kgplatform.gist.pagination import pause_reply
from kgplatform.gist.shorten import UNUSABLE, VerdictReply, shorten
from kgplatform.models.chat import Ledger
from kgplatform.models.forms import Form
from kgplatform.models.reply import ask
from kgplatform.readers.baselines.full_text import _Reply as FullTextReply
from kgplatform.readers.choices import choice_reply
from kgplatform.readers.readagent.gist_memory import PagesAnswer
from kgplatform.readers.readagent.page_requests import NextReply, pages_reply, read_request
from kgplatform.readers.replies import Answering, NotesReply, PieceReply, Said, ask_said
from kgplatform.readers.run import Calls
from kgplatform.testing import ScriptedChat

PROMPT = [{"role": "system", "content": "Read."}, {"role": "user", "content": "Text."}]
OPTIONS = ("a horse", "he slept", "by accident", "a dog")
AGAIN = "again"
HERE = "readers/readagent/replies"


def read(reply: str, form: Any) -> Any:
    """The ``form`` that is read in ``reply``; a second call has no reply to get, and fails."""
    assert issubclass(form, Form)
    return ask(ScriptedChat([reply]), PROMPT, form, stage="read", free=form.free)[0]  # type: ignore[attr-defined]  # each has it


def said(reply: str, form: type[Answering]) -> Said | str:
    """What ``reply`` says; "again" where the model would be asked again."""
    try:
        return ask_said(Calls(ScriptedChat([reply]), Ledger()), PROMPT, form, stage="read", tokens=400)[0]
    except AssertionError:  # the script has one reply
        return AGAIN


def meant(reads: str | None) -> Said | str:
    return AGAIN if reads == AGAIN else Said(reads)


@pytest.mark.parametrize(("reply", "reads"), replies(f"{HERE}/lookup.yaml"))
def test_pages_to_look_up(reply: str, reads: list[int]) -> None:
    assert list(read_request(read(reply, pages_reply(5)).pages, range(20), 5).taken) == reads


@pytest.mark.parametrize(("reply", "reads"), replies(f"{HERE}/next.yaml"))
def test_the_next_page(reply: str, reads: int | str) -> None:
    assert read(reply, NextReply).page == (None if reads == "STOP" else reads)


@pytest.mark.parametrize(("reply", "reads"), replies(f"{HERE}/answer.yaml"))
def test_an_answer_from_a_memory(reply: str, reads: str | None) -> None:
    assert said(reply, PagesAnswer) == meant(reads)


@pytest.mark.parametrize(("reply", "reads"), replies(f"{HERE}/choose.yaml"))
def test_the_choice_of_an_option(reply: str, reads: str) -> None:
    assert said(reply, choice_reply(OPTIONS)) == Said(OPTIONS["ABCD".index(reads)])


@pytest.mark.parametrize(("reply", "reads"), replies("readers/baselines/replies/full_text.yaml"))
def test_an_answer_from_a_text(reply: str, reads: str | None) -> None:
    assert said(reply, FullTextReply) == meant(reads)


@pytest.mark.parametrize(("reply", "reads"), replies("readers/baselines/replies/chunk_read.yaml"))
def test_an_answer_from_a_piece(reply: str, reads: str | None) -> None:
    assert said(reply, PieceReply) == meant(reads)


@pytest.mark.parametrize(("reply", "reads"), replies("readers/baselines/replies/chunk_notes.yaml"))
def test_an_answer_from_a_piece_and_notes(reply: str, reads: Any) -> None:
    assert said(reply, NotesReply) == (AGAIN if reads == AGAIN else Said(reads["answer"], reads["notes"] or ""))


@pytest.mark.parametrize(("reply", "reads"), replies("gist/replies/pause.yaml"))
def test_where_to_pause(reply: str, reads: int) -> None:
    assert read(reply, pause_reply((12, 19, 25))).break_point == reads


@pytest.mark.parametrize(("reply", "reads"), replies("gist/replies/merge.yaml"))
def test_whether_a_part_begins(reply: str, reads: str) -> None:
    assert read(reply, VerdictReply).new_part == reads != UNUSABLE


@pytest.mark.parametrize(("reply", "reads"), replies("gist/replies/gist.yaml"))
def test_the_gist_of_a_page(reply: str, reads: str | None) -> None:
    chat = ScriptedChat([reply, "Ben stays."])
    gist = shorten(chat, paragraph("p", 200), GistOptions.of())
    assert gist.text == (reads or "Ben stays.")
    assert len(chat.calls) == (1 if reads else 2), "what is none is asked for again"
