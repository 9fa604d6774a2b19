"""Replies in the styles of real models, each read once, by the functions with which the reader reads."""

from __future__ import annotations

import pytest
from answers import passage
from reply_files import replies
from test_reflect import read

from kgplatform.errors import ReplyError
from kgplatform.models.chat import Ledger
from kgplatform.readers.run import Calls
from kgplatform.readers.window import Window
from kgplatform.readers.youtu.decompose import decompose
from kgplatform.readers.youtu.fill_in import fill_in
from kgplatform.records import SearchResult
from kgplatform.testing import ScriptedChat

QUESTION = "When was the director of The Salt Road born?"
FOUND = SearchResult("?", (passage("p", "…"),), (), 0.0)
ASKED = {1: ("Who built the mill?", FOUND), 2: ("Who drained the fen?", FOUND)}


def once(reply: str) -> Calls:
    return Calls(ScriptedChat([reply]), Ledger(), limit=1)


@pytest.mark.parametrize(("reply", "reads"), replies("readers/youtu/replies/decompose.yaml"))
def test_a_decomposition_is_read(reply: str, reads: list[str]) -> None:
    assert [part.text for part in decompose(QUESTION, None, once(reply), 4, Window(32_768)).parts] == reads


@pytest.mark.parametrize(("reply", "reads"), replies("readers/youtu/replies/fill_in.yaml"))
def test_short_answers_are_read(reply: str, reads: dict[int, list[str]]) -> None:
    answers = fill_in(ASKED, once(reply), lambda result, shares: result)
    assert {number: list(words) for number, words in answers.items()} == reads


@pytest.mark.parametrize(("reply", "reads"), replies("readers/youtu/replies/reflect.yaml"))
def test_a_thought_is_read(reply: str, reads: dict[str, str] | str) -> None:
    if reads == "again":
        with pytest.raises(ReplyError, match="to ask again"):
            read(reply)
        return
    thought = read(reply)
    assert {name: words for name in ("answer", "query") if (words := getattr(thought, name))} == reads
