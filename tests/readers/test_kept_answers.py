"""Right answers of kinds that are easily lost: negative, translated, computed, converted, partly right."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kgplatform.readers.grounding import ground, without_numbers
from kgplatform.readers.window import Numbering
from kgplatform.records import FoundPassage

CASES = yaml.safe_load((Path(__file__).parent / "kept_answers.yaml").read_text("utf-8"))[1:]


def shown(passages: list[dict[str, str]]) -> Numbering:
    """What a reader shows of ``passages``, each a title with its text."""
    numbering = Numbering()
    numbering.passages(
        FoundPassage(title, title, title, 0, len(text), None, text, 1.0, ("vector",))
        for each in passages
        for title, text in each.items()
    )
    return numbering


def test_there_are_a_hundred() -> None:
    assert len(CASES) == 100


@pytest.mark.parametrize("case", CASES, ids=[f"{n}: {each['question']}" for n, each in enumerate(CASES, 1)])
def test_nothing_of_a_right_answer_is_lost_and_what_is_marked_is_true(case: dict[str, Any]) -> None:
    answer = json.loads(case["reply"])["answer"]
    grounded = ground(answer, shown(case["passages"]))
    cited = [each for each in grounded.statements if each.citations]
    assert without_numbers(grounded.text) == without_numbers(answer)
    assert grounded.citations and not grounded.dropped
    assert [word for each in cited for word in each.unread] == case.get("unread", [])
    assert all(each.compared for each in cited) == case.get("compared", True)
