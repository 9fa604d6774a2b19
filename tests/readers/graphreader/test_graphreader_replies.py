"""Replies as real models write them (``replies/*.yaml``): each is read once, and nothing in it is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reply_files import styled

from kgplatform.models.chat import Reply
from kgplatform.models.response import read_answer
from kgplatform.prompt import source_of
from kgplatform.readers.graphreader.actions import Stage, ask_step, named, passage_numbers
from kgplatform.readers.graphreader.conclude import ask_answer, is_refusal
from kgplatform.readers.graphreader.initial_nodes import ask_nodes
from kgplatform.readers.graphreader.reader import ask_plan
from kgplatform.records import Usage
from kgplatform.testing import ScriptedChat
from kgplatform.text import normalise_name

FOLDER = Path(__file__).parent / "replies"
NAMES = ["Danko Jones", "Toronto", "mill", "bridge", "Anna Reed", "1911", "Paris, Texas", "O'Hara", "Smile :)"]
AGAIN = "again"


def replies(prompt: str) -> list[Any]:
    return styled(f"readers/graphreader/replies/{prompt}.yaml")


def asked(prompt: str) -> list[dict[str, str]]:
    """The rules of ``prompt``, examples and all, over a question of its own."""
    rules = source_of(f"graphreader/{prompt}").partition("\n---\n")[0]
    return [{"role": "system", "content": rules}, {"role": "user", "content": "Question: Who?"}]


def chat(row: dict[str, Any]) -> ScriptedChat:
    """Plays the reply as the client reads it from a server. One that was cut off is asked for again: to no avail."""
    is_cut_off = row.get("cut_off", False)
    choice = {"message": {"content": row["reply"]}, "finish_reason": "length" if is_cut_off else "stop"}
    reply, _ = read_answer({"choices": [choice]}, [])
    is_kept = is_cut_off and row["reads"] != AGAIN
    return ScriptedChat([reply, Reply("", Usage(1, 1, 1), cut_off=True)] if is_kept else [reply])


def test_there_are_many() -> None:
    assert sum(len(replies(file.stem)) for file in FOLDER.glob("*.yaml")) >= 90


@pytest.mark.parametrize("row", replies("plan"))
def test_plans(row: dict[str, Any]) -> None:
    if row["reads"] == AGAIN:
        asked_again(lambda: ask_plan(chat(row), asked("plan"), tokens=100))
        return
    plan = ask_plan(chat(row), asked("plan"), tokens=100)
    assert all(words in plan for words in row["reads"])
    assert not any(words in plan for words in row.get("lacks", ()))


@pytest.mark.parametrize("row", replies("nodes"))
def test_scores(row: dict[str, Any]) -> None:
    normal = {normalise_name(name): name for name in NAMES}

    def known(words: str) -> str | None:
        return normal.get(normalise_name(words))

    if row["reads"] == AGAIN:
        asked_again(lambda: ask_nodes(chat(row), asked("nodes"), known, tokens=100))
        return
    found = ask_nodes(chat(row), asked("nodes"), known, tokens=100)
    assert found.scores == row["reads"]
    assert len(found.invented) == row.get("invented", 0)


@pytest.mark.parametrize("row", replies("facts"))
def test_facts(row: dict[str, Any]) -> None:
    check_step(row, "facts")


@pytest.mark.parametrize("row", replies("chunk"))
def test_chunks(row: dict[str, Any]) -> None:
    check_step(row, "chunk")


@pytest.mark.parametrize("row", replies("neighbours"))
def test_neighbours(row: dict[str, Any]) -> None:
    check_step(row, "neighbours")


@pytest.mark.parametrize("row", replies("answer"))
def test_answers(row: dict[str, Any]) -> None:
    if row["reads"] == AGAIN:
        asked_again(lambda: ask_answer(chat(row), asked("answer"), tokens=100))
        return
    answer, is_sufficient, _ = ask_answer(chat(row), asked("answer"), tokens=100)
    if row["reads"] == "refused":
        assert not is_sufficient or is_refusal(answer)
    else:
        assert (answer, is_sufficient, is_refusal(answer)) == (row["reads"], True, False)


def check_step(row: dict[str, Any], stage: Stage) -> None:
    wanted = row["reads"]
    if wanted == AGAIN:
        try:
            read = ask_step(chat(row), asked(stage), stage, tokens=100)
        except AssertionError:
            return
        assert read.fault, "the walk asks for it again"
        return
    read = ask_step(chat(row), asked(stage), stage, tokens=100)
    assert (read.function, read.fault) == (wanted["action"], "")
    assert (read.notebook or "") == wanted.get("notebook", "")
    assert list(passage_numbers(read.arguments)) == wanted.get("chunks", []) or stage == "neighbours"
    assert named(read.arguments, NAMES) == wanted.get("node") or stage != "neighbours"


def asked_again(ask: Any) -> None:
    """The script has one reply only."""
    with pytest.raises(AssertionError, match="The script has 1 answers"):
        ask()
