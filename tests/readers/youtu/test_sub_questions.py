"""Sub-questions: the forms in which models write them, what waits for what, and types that the schema lacks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from youtu_runs import TYPES

from kgplatform.models.chat import Ledger
from kgplatform.readers.run import Calls
from kgplatform.readers.window import Window
from kgplatform.readers.youtu.decompose import decompose, known_types
from kgplatform.readers.youtu.sub_questions import arrange, fill
from kgplatform.testing import ScriptedChat

QUESTION = "Where was the builder of the mill at Hollow Ford born?"


@pytest.mark.parametrize(
    ("texts", "filled_in", "levels"),
    [
        (["Who made A?", "When was #1 born?"], ["Who made A?", "When was #1 born?"], [0, 1]),
        (
            ["Who made A?", "Is [#1] old?", "Do #1 and #2 rhyme?"],
            ["Who made A?", "Is #1 old?", "Do #1 and #2 rhyme?"],
            [0, 1, 2],
        ),
        (["Who made #2?", "Where is #1?"], ["Who made Where is?", "Where is #1?"], [0, 1]),
        (["Who made #1 there?", "Where is A?"], ["Who made there?", "Where is A?"], [0, 0]),
        (["Who made #3?", "Where?", "What is #2?"], ["Who made What is?", "Where?", "What is #2?"], [0, 0, 1]),
        (["Who made #0, #7 and #99 of C#1?"], ["Who made , and of C#1?"], [0]),
        (["Who?", "who", "Where was #2 born?"], ["Who?", "Where was #1 born?"], [0, 1]),
        (["", "Who?", "Where was #2 born?", "#1 #4"], ["Who?", "Where was #1 born?", "THE QUESTION"], [0, 1, 0]),
        (["A1", "B2", "C3", "D4", "E5 of #1"], ["A1", "B2", "C3", "D4"], [0, 0, 0, 0]),
        (["A1 of #5", "B2", "C3", "D4", "E5?"], ["A1 of E5", "B2", "C3", "D4"], [0, 0, 0, 0]),
        ([], ["THE QUESTION"], [0]),
        (["?", " "], ["THE QUESTION"], [0]),
        (["Which film won?", "Who directed that film?"], ["Which film won?", "Who directed #1?"], [0, 1]),
        (
            ["Which film won?", "Who made it?", "Was he old?"],
            ["Which film won?", "Who made #1?", "Was #2 old?"],
            [0, 1, 2],
        ),
        (["Who made A?", "Where is its town?"], ["Who made A?", "Where is #1's town?"], [0, 1]),
        (["Who made A?", "Where was (answer to sub-question 1) born?"], ["Who made A?", "Where was #1 born?"], [0, 1]),
        (["Who made A?", "Where was Q1's answer born?"], ["Who made A?", "Where was #1 born?"], [0, 1]),
        (
            ["Who made A?", "Where was the answer to the previous question born?"],
            ["Who made A?", "Where was #1 born?"],
            [0, 1],
        ),
        (["Who made A?", "Where was {{1}} born?"], ["Who made A?", "Where was #1 born?"], [0, 1]),
        (
            ["Which town is A in?", "Who made A?", "Who rules that town?"],
            ["Which town is A in?", "Who made A?", "Who rules #1?"],
            [0, 0, 1],
        ),
        (["Wer baute A?", "Wo wurde dieser Mann geboren?"], ["Wer baute A?", "Wo wurde #1 geboren?"], [0, 1]),
        (["谁导演了A？", "该导演在哪里出生？"], ["谁导演了A？", "#1在哪里出生？"], [0, 1]),
        (["Who directed that film?"], ["THE QUESTION"], [0]),
        (
            ["Which film that won is old?", "Who is Ann, and is she old?"],
            ["Which film that won is old?", "Who is Ann, and is she old?"],
            [0, 0],
        ),
    ],
)
def test_what_waits_for_what(texts: list[str], filled_in: list[str], levels: list[int]) -> None:
    parts = arrange(texts, "THE QUESTION", 4)
    assert [part.text for part in parts] == filled_in
    assert [part.level for part in parts] == levels
    assert all(need < place for place, part in enumerate(parts) for need in part.needs)


def test_a_mark_of_the_question_itself_is_a_word() -> None:
    parts = arrange(["Who sang A?", "Was A the #1 hit of 1990?"], "Who sang the #1 hit of 1990?", 4)
    assert [(part.text, part.needs) for part in parts] == [
        ("Who sang A?", ()),
        ("Was A the #1 hit of 1990?", ()),
    ]


def test_words_that_the_question_has_itself_stay() -> None:
    parts = arrange(["Who sang A?", "Who heard this song (1)?"], "Who heard this song (1)?", 4)
    assert [(part.text, part.needs) for part in parts] == [("Who sang A?", ()), ("Who heard this song (1)?", ())]


def test_several_answers_are_filled_in_up_to_a_bound() -> None:
    _, _, part = arrange(["Who made A?", "Who made B?", "Did #1 know #2?"], "?", 4)
    assert fill(part, {0: ("Ann",), 1: ("Bo",)}) == ("Did Ann know Bo?",)
    assert fill(part, {0: ("Ann", "Cy"), 1: ("Bo", "Di")}) == (
        "Did Ann know Bo?",
        "Did Ann know Di?",
        "Did Cy know Bo?",
    )


_A, _B = "Who built the mill?", "Where was #1 born?"
_TYPES = {"nodes": ["Person"], "relations": [], "attributes": []}


@pytest.mark.parametrize(
    "reply",
    [
        {"sub_questions": [{"sub-question": _A}, {"sub-question": _B}], "involved_types": _TYPES},
        {"sub_questions": [_A, _B], "involved_types": {"nodes": "person"}},
        {
            "Sub-Questions": [{"question": _A}, {"id": 2, "query": _B}],
            "involved types": {"entities": [{"name": "PERSON"}]},
        },
        {"result": {"sub_questions": [_A, _B], "involved_types": _TYPES}},
        [{"sub_questions": [_A, _B], "involved_types": _TYPES}],
    ],
)
def test_forms_of_a_decomposition(reply: Any) -> None:
    calls = Calls(ScriptedChat([f"Here:\n```json\n{json.dumps(reply)}\n```"]), Ledger())
    found = decompose(QUESTION, TYPES, calls, 4, Window(32_768))
    assert [part.text for part in found.parts] == [_A, _B]
    assert found.types == ("Person",)


@pytest.mark.parametrize("reply", [[_A, _B], [{"sub-question": _A}, {"sub-question": _B}]])
def test_a_bare_list_of_sub_questions_is_accepted(reply: list[Any]) -> None:
    found = decompose(QUESTION, TYPES, Calls(ScriptedChat([json.dumps(reply)]), Ledger()), 4, Window(32_768))
    assert [part.text for part in found.parts] == [_A, _B]
    assert found.types == ()


@pytest.mark.parametrize(
    "reply", [[], {"sub_questions": [], "involved_types": {}}, {"involved_types": None}, [5, None]]
)
def test_a_decomposition_that_names_nothing_leaves_the_question(reply: Any) -> None:
    found = decompose(QUESTION, TYPES, Calls(ScriptedChat([json.dumps(reply)] * 2), Ledger()), 4, Window(32_768))
    assert [part.text for part in found.parts] == [QUESTION]


def test_types_are_the_schemas_own() -> None:
    named = {"nodes": ["creative-work", "Ship"], "relations": ["directedBy", "directed_by"], "attributes": ["AWARD"]}
    assert known_types(named, TYPES) == (("Creative work", "directed by", "award"), ["Ship"])
    assert known_types(named, None) == ((), ["creative-work", "Ship", "directedBy", "directed_by", "AWARD"])
