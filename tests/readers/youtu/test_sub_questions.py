"""Sub-questions: what waits for what, and types that the schema lacks."""

import json
from typing import Any

import pytest
from youtu_runs import TYPES

from kgplatform.models.chat import Ledger
from kgplatform.readers.run import Calls
from kgplatform.readers.window import Window
from kgplatform.readers.youtu.reader import arrange, decompose, known_types
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
        (["Who made #1 there?", "Where is A?"], ["Who made there?", "Where is A?"], [0, 0]),
        (["Who?", "who", "Where was #2 born?"], ["Who?", "Where was #1 born?"], [0, 1]),
        (["A1", "B2", "C3", "D4", "E5 of #1"], ["A1", "B2", "C3", "D4"], [0, 0, 0, 0]),
        ([], ["THE QUESTION"], [0]),
        (["The question, turned round?"], ["THE QUESTION"], [0]),
    ],
)
def test_what_waits_for_what(texts: list[str], filled_in: list[str], levels: list[int]) -> None:
    parts = arrange(texts, "THE QUESTION", 4)
    assert [part.text for part in parts] == filled_in
    assert [part.level for part in parts] == levels
    assert all(need < place for place, part in enumerate(parts) for need in part.needs)


def test_a_mark_of_the_question_itself_is_a_word() -> None:
    parts = arrange(["Who sang A?", "Was A the #1 hit of 1990?"], "Who sang the #1 hit of 1990?", 4)
    assert [(part.text, part.needs) for part in parts] == [("Who sang A?", ()), ("Was A the #1 hit of 1990?", ())]


@pytest.mark.parametrize("reply", [{}, {"sub_questions": [5, None]}])
def test_a_decomposition_that_names_nothing_leaves_the_question(reply: Any) -> None:
    found = decompose(QUESTION, TYPES, Calls(ScriptedChat([json.dumps(reply)] * 2), Ledger()), 4, Window(32_768))
    assert [part.text for part in found.parts] == [QUESTION]


def test_types_are_the_schemas_own() -> None:
    named = ["creative-work", "Ship", "directedBy", "directed_by", "AWARD"]
    assert known_types(named, TYPES) == (("Creative work", "directed by", "award"), ["Ship"])
    assert known_types(named, None) == ((), named)
