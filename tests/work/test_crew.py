"""Work on a language model, side by side: order, what follows, and how it ends."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from kgplatform.errors import BudgetError, ModelError
from kgplatform.work.crew import Work, run


class Log:
    """Pieces of work by name, and what became of them."""

    def __init__(self, fails: dict[str, Exception] | None = None) -> None:
        self.fails = fails or {}
        self.done: list[str] = []

    def work(self, name: str, order: int = 0, following: Iterable[Work] = ()) -> Work:
        def call() -> str:
            if name in self.fails:
                raise self.fails[name]
            return name

        def failed(error: ModelError) -> Iterable[Work]:
            self.done.append(f"{name}: {error}")
            return following

        def done(result: str) -> Iterable[Work]:
            self.done.append(result)
            return following

        return Work(order, call, done, failed)


def test_lower_orders_go_first_and_what_follows_is_done() -> None:
    log = Log()
    works = [log.work("open", 2), log.work("gist", 1, [log.work("later", 1)]), log.work("pause", 0)]
    assert run(works, 1) == ""
    assert log.done == ["pause", "gist", "later", "open"]
    assert run([], 3) == ""


def test_a_model_s_error_is_that_piece_s() -> None:
    log = Log({"b": ModelError("No answer.")})
    assert run([log.work("a"), log.work("b", 0, [log.work("again")]), log.work("c")], 1) == ""
    assert log.done == ["a", "b: No answer.", "c", "again"]


def test_a_budget_that_is_used_up_begins_nothing_more() -> None:
    log = Log({"b": BudgetError("It is used up."), "c": BudgetError("Another.")})
    assert run([log.work("a"), log.work("b"), log.work("c"), log.work("d")], 1) == "It is used up."
    assert log.done == ["a"]


def test_other_errors_are_raised() -> None:
    log = Log({"b": ZeroDivisionError("a fault")})
    with pytest.raises(ZeroDivisionError, match="a fault"):
        run([log.work("a"), log.work("b"), log.work("c")], 2)
