"""Ratings on disk: none is paid for twice, whatever stopped the run before."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgplatform.errors import BudgetError
from kgplatform.evaluate.raters import Rating, Ratings, ToRate, remarks
from kgplatform.evaluate.terms import Question
from kgplatform.models.chat import Chat, Ledger, within
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.prompt import Messages
from kgplatform.readers.answer import REFUSAL
from kgplatform.settings import load_settings
from kgplatform.testing import Fault, OpenAIServer

NUMBERS = range(12)


def item(number: int) -> ToRate:
    """A question of its own; every third answer is wrong."""
    right = f"buoy {number}"
    return ToRate(
        Question(f"q{number}", f"What lies at mark {number}?", (right,)), "a rock" if number % 3 == 0 else right
    )


ITEMS = [item(number) for number in NUMBERS]
EXPECTED = [Rating({"judge": float(number % 3 > 0)}) for number in NUMBERS]


def mark(messages: Messages) -> int:
    found = re.search(r"at mark (\d+)", messages[1]["content"])
    assert found is not None
    return int(found[1])


def judge(messages: Messages) -> str:
    """Right where the right answer stands in the other one."""
    return json.dumps({"correct": int(messages[1]["content"].count(f"buoy {mark(messages)}\n") > 1)})


Reply = Callable[[Messages], "str | Fault"]


class Counting:
    """A model, and how often it was asked about each mark."""

    def __init__(self, reply: Reply = judge) -> None:
        self.reply = reply
        self.asked: Counter[int] = Counter()
        self._lock = threading.Lock()

    def __call__(self, messages: Messages) -> str | Fault:
        with self._lock:
            self.asked[mark(messages)] += 1
        return self.reply(messages)


@contextmanager
def served(model: Reply, **settings: Any) -> Iterator[Chat]:
    """The real chat, without a cache: the file alone remembers."""
    with OpenAIServer(model) as server:
        given = load_settings(openai_base_url=server.base_url, model_retries=0, **settings)
        chat = OpenAIChat(given, Ledger(given.token_budget), None)
        yield chat
        chat.close()


def rated(
    file: Path,
    model: Reply,
    items: Sequence[ToRate] = ITEMS,
    rater: str = "judge",
    meter: Ledger | None = None,
    **settings: Any,
) -> list[Rating]:
    with served(model, **settings) as chat, Ratings(file, within(chat, meter=meter), 4) as ratings:
        return ratings.all(rater, items)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_ratings_come_in_order_and_a_second_run_asks_nothing(tmp_path: Path) -> None:
    file, model = tmp_path / "ratings.jsonl", Counting()
    assert rated(file, model) == EXPECTED
    assert model.asked == Counter(NUMBERS)
    before = file.read_bytes()
    assert rated(file, model) == EXPECTED
    assert model.asked == Counter(NUMBERS)
    assert file.read_bytes() == before
    assert rated(file, model, ITEMS[::-1]) == EXPECTED[::-1]
    assert sorted((line["question"], line["scores"]["judge"]) for line in lines(file)) == sorted(
        (f"q{number}", float(number % 3 > 0)) for number in NUMBERS
    )
    assert file.stat().st_mode & 0o077 == 0, "answers may be private"


def test_the_same_answer_to_the_same_question_is_rated_once(tmp_path: Path) -> None:
    model = Counting()
    again = replace(ITEMS[1], question=replace(ITEMS[1].question, id="another setup's"))
    assert rated(tmp_path / "r.jsonl", model, [ITEMS[1], again, ITEMS[1]]) == [EXPECTED[1]] * 3
    assert model.asked == Counter([1])


@pytest.mark.parametrize(
    "other",
    [
        replace(ITEMS[1], text="another buoy"),
        replace(ITEMS[1], question=replace(ITEMS[1].question, answers=("buoy 1", "a buoy"))),
        replace(ITEMS[1], question=replace(ITEMS[1].question, text="What lies near, at mark 1?")),
    ],
)
def test_what_a_rating_depends_on_makes_it_another(tmp_path: Path, other: ToRate) -> None:
    file, model = tmp_path / "r.jsonl", Counting()
    rated(file, model, [ITEMS[1]])
    rated(file, model, [other])
    rated(file, model, [ITEMS[1]])
    assert model.asked == Counter({1: 2})
    rated(file, model, [ITEMS[1]], chat_model="another")
    assert model.asked == Counter({1: 3}), "another model is another rater"
    assert len({line["key"] for line in lines(file)}) == 3


def test_what_needs_no_model_is_not_in_the_file(tmp_path: Path) -> None:
    file, model = tmp_path / "r.jsonl", Counting()
    unanswerable = ToRate(replace(ITEMS[1].question, answerable=False), "buoy 1")
    items = [replace(ITEMS[1], text=None), replace(ITEMS[1], text=REFUSAL, refused=True), unanswerable, ITEMS[2]]
    assert rated(file, model, items) == [Rating({"judge": 0}), Rating({"judge": 0}), Rating({}), EXPECTED[2]]
    assert model.asked == Counter([2])
    assert len(lines(file)) == 1


# ------------------------------------------------------------------------------------------------------------- failures


def test_an_answer_for_which_the_model_fails_is_unrated_and_asked_for_by_the_next_run(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    failing = Counting(lambda messages: Fault.refuse(500, "overloaded") if mark(messages) == 5 else judge(messages))
    done = rated(file, failing)
    assert done[5].scores == {}
    assert "overloaded" in done[5].fault
    assert done[:5] + done[6:] == EXPECTED[:5] + EXPECTED[6:]
    model = Counting()
    assert rated(file, model) == EXPECTED
    assert model.asked == Counter([5])


def test_an_answer_without_a_verdict_is_asked_for_by_the_next_run(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    done = rated(file, Counting(lambda messages: "Hm." if mark(messages) == 5 else judge(messages)))
    assert (done[5].scores, bool(done[5].fault)) == ({"judge": 0}, True)
    model = Counting()
    assert rated(file, model) == EXPECTED
    assert model.asked == Counter([5])


def test_where_the_tokens_run_out_what_was_rated_is_kept(tmp_path: Path) -> None:
    file, model = tmp_path / "r.jsonl", Counting()
    with pytest.raises(BudgetError, match="The budget of 1,500 tokens is used up .* token_budget"):
        rated(file, model, token_budget=1500)
    kept = len(lines(file))
    assert 0 < kept == model.asked.total() < len(ITEMS)
    assert rated(file, model) == EXPECTED
    assert model.asked == Counter(NUMBERS), "none twice"


def test_lines_that_are_no_ratings_are_named_and_rated_anew(tmp_path: Path) -> None:
    file, model = tmp_path / "r.jsonl", Counting()
    rated(file, model, ITEMS[:3])
    kept = file.read_text("utf-8").splitlines()
    key = json.loads(kept[1])["key"]
    odd = [json.dumps({"key": key, "scores": {"judge": "high"}, "flags": []}), "[]", '{"text": "x"}']
    file.write_text("\n".join([kept[0], *odd, kept[2], ""]), encoding="utf-8")
    with served(model) as chat, Ratings(file, chat, 1) as ratings:
        assert len(ratings.faults) == 3
        assert all("r.jsonl" in each for each in ratings.faults)
        assert ratings.all("judge", ITEMS[:3]) == EXPECTED[:3]
    assert model.asked.total() == 4


# -------------------------------------------------------------------------------------------------------------- remarks


def test_remarks_say_what_scores_leave_out() -> None:
    unrated = Rating({}, "the model is overloaded.")
    flagged = Rating({"judge": 0}, "the judge gave no verdict, asked twice: wrong.")
    assert remarks("judge", [Rating({"judge": 1})]) == ()
    assert remarks("judge", [Rating({"judge": 1}), unrated, flagged, unrated]) == (
        "Rater judge: 2 of 4 answers unrated, counted neither as right nor as wrong; the first: "
        "the model is overloaded.",
        "Rater judge: 1 of 4 answers without a verdict, counted as wrong; the first: "
        "the judge gave no verdict, asked twice: wrong.",
    )
