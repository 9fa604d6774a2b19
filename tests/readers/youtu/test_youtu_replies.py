"""Replies in the styles of real models, each read once, by the functions with which the reader reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from answers import passage
from test_reflect import read

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


def replies(prompt: str) -> list[Any]:
    """The replies to ``prompt`` with what is to be read from them, by their styles."""
    kept = yaml.safe_load((Path(__file__).parent / "replies" / f"{prompt}.yaml").read_text("utf-8"))
    return [pytest.param(each["reply"], each["reads"], id=each["style"]) for each in kept]


def once(reply: str) -> Calls:
    return Calls(ScriptedChat([reply]), Ledger(), limit=1)


@pytest.mark.parametrize(("reply", "reads"), replies("decompose"))
def test_a_decomposition_is_read(reply: str, reads: list[str]) -> None:
    assert [part.text for part in decompose(QUESTION, None, once(reply), 4, Window(32_768)).parts] == reads


@pytest.mark.parametrize(("reply", "reads"), replies("fill_in"))
def test_short_answers_are_read(reply: str, reads: dict[int, list[str]]) -> None:
    answers = fill_in(ASKED, once(reply), lambda result, shares: result)
    assert {number: list(words) for number, words in answers.items()} == reads


@pytest.mark.parametrize(("reply", "reads"), replies("reflect"))
def test_a_thought_is_read(reply: str, reads: dict[str, str]) -> None:
    thought = read(reply)
    assert {name: words for name in ("answer", "query") if (words := getattr(thought, name))} == reads
