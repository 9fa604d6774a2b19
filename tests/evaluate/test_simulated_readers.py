"""The simulated model has a rule for every prompt, reads what it says it reads, and says the same every time."""

from __future__ import annotations

import json
from typing import Any

import pytest
from model_by_prompt import Prompt, beginnings, lines_of
from shared_words import by_rank, names_in, tell
from simulated_readers import RULES, reply

from kgplatform.evaluate.heat_map import KINDS, needle_data_set, parse_depths
from kgplatform.prompt import prompt_names, render
from kgplatform.text.numbered import lines

LAMP = "Ann Ottley was the keeper of the Red Lamp. The weather was bad. In 1801 Ann Ottley was born at Cape Fenn."
QUESTION = "Where was the keeper of the Red Lamp born?"


def test_every_prompt_has_a_rule() -> None:
    files = set(prompt_names())
    assert files - {name for name in files if name.endswith("again")} - set(RULES) == set()
    assert set(RULES) <= files
    told_apart = {(start, lines_of(name)) for name, start in beginnings().items()}
    assert len(told_apart) == len(beginnings()), "two prompts are alike: no rule can tell them apart"


def test_a_second_sentence_follows_from_a_name_of_the_first() -> None:
    told = tell(QUESTION, [LAMP])
    assert told.sentences == (
        "Ann Ottley was the keeper of the Red Lamp.",
        "In 1801 Ann Ottley was born at Cape Fenn.",
    )
    assert told.lacks == ()
    half = tell(QUESTION, ["Ann Ottley was the keeper of the Red Lamp."])
    assert (half.lacks, half.lead(QUESTION)) == (("born",), "Ann Ottley")
    assert tell(QUESTION, ["The weather was bad.", "Red Lamp"]).sentences == (), "a heading says nothing"


def test_names_and_ranks() -> None:
    assert names_in("The Red Lamp was kept by Ann Ottley.", "the Red Lamp") == ["Ann Ottley"]
    numbers = "[100200, 100300, 999000]"
    assert by_rank("What is the second largest number of the list?", numbers) == "100300"
    assert by_rank("What is the smallest number of the list?", numbers) == "100200"
    assert by_rank("What is the largest number of the list?", numbers, most=3) == "999000, 100300, 100200"
    assert by_rank("Who was it?", numbers) == ""


def answered(question: str, text: str) -> dict[str, Any]:
    """From a passage about the weather, and one of ``text``."""
    evidence = f"Passage 1: Weather\n[1.1] It rained.\n\nPassage 2: Lamp\n{lines(text, '2')}"
    inputs = {"question": question, "insufficient": "-", "style": "in a phrase", "example": "-", "notes": ""}
    messages = render("readers/answer", fence="data-0123456789ab", evidence=evidence, **inputs)
    assert Prompt(messages).name == "readers/answer"
    assert reply(messages) == reply(messages)
    found: dict[str, Any] = json.loads(reply(messages))
    return found


def test_an_answer_names_the_sentences_that_say_it() -> None:
    said = answered(QUESTION, LAMP)
    assert said["evidence"]
    assert all(number.startswith("2.") and f"[{number}]" in said["answer"] for number in said["evidence"])


@pytest.mark.parametrize("task", KINDS)
def test_a_full_text_has_every_needle(task: str) -> None:
    found = needle_data_set(task, (900,), parse_depths(task, "0,0.5,1"), samples=3)
    for question in found.questions:
        (text,) = found.texts_of(question)
        assert question.answers[0] in answered(question.text, text.text)["answer"], question


def test_a_prompt_that_is_not_known_is_refused() -> None:
    with pytest.raises(LookupError, match="no prompt begins with 'Sing'"):
        reply([{"role": "system", "content": "Sing"}, {"role": "user", "content": ""}])
