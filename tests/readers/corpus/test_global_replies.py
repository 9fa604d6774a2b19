"""What models write for the prompts of ``global``, in many forms: each is read once, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel
from reply_files import styled

from kgplatform.errors import ReplyError
from kgplatform.models.lenient import numbers_of
from kgplatform.models.reply import ask
from kgplatform.readers.corpus.replies import Final, Findings, Remaining, free_final, free_findings
from kgplatform.testing import ScriptedChat

ASKED = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]


class Once(ScriptedChat):
    """Says one thing, and nothing the second time."""

    def __init__(self, reply: str) -> None:
        super().__init__([reply, ""])


def read(reply: str, shape: type[BaseModel], free: Callable[[str], Any]) -> Any:
    try:
        return ask(Once(reply), ASKED, shape, stage="s", free=free)[0]
    except ReplyError:
        return None


def points(found: Remaining) -> list[list[Any]]:
    return [[each.point, each.facts, each.score] for each in found.points]


@pytest.mark.parametrize("said", styled("readers/corpus/replies/map.yaml"))
def test_what_a_part_says_is_read(said: dict[str, Any]) -> None:
    found = read(said["reply"], Findings, free_findings)
    seen = found and {"points": points(found), "items": [[each.name, each.facts] for each in found.items]}
    assert seen == said["reads"]


@pytest.mark.parametrize("said", styled("readers/corpus/replies/merge.yaml"))
def test_what_remains_is_read(said: dict[str, Any]) -> None:
    found = read(said["reply"], Remaining, free_findings)
    assert (found and points(found)) == said["reads"]


@pytest.mark.parametrize("said", styled("readers/corpus/replies/reduce.yaml"))
def test_the_answer_is_read(said: dict[str, Any]) -> None:
    found = read(said["reply"], Final, free_final)
    assert (found and [found.answer, found.citations, found.sufficient]) == said["reads"]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (3, [3]),
        ("[3, 3, 4]", [3, 4]),
        ("facts 3-5 and F7–F8", [3, 4, 5, 7, 8]),
        ("1-999999", [1, 999999]),
        ([True, None, 2.0, float("nan"), float("inf")], [2]),
        ({"3": "Wick has a bell of 1804"}, [3]),
        ({"fact": "3"}, [3]),
        ("", []),
    ],
)
def test_numbers_wherever_they_stand(value: Any, found: list[int]) -> None:
    assert numbers_of(value) == found
