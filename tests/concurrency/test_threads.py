"""Works that lead to more: their order, what follows, how they end. Short works, which share threads."""

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

from kgplatform.concurrency.threads import Breaker, Work, run_works, short_works
from kgplatform.errors import BudgetError, ModelError


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
    assert run_works(works, 1) == ""
    assert log.done == ["pause", "gist", "later", "open"]
    assert run_works([], 3) == ""


def test_a_model_s_error_is_that_piece_s() -> None:
    log = Log({"b": ModelError("No answer.")})
    assert run_works([log.work("a"), log.work("b", 0, [log.work("again")]), log.work("c")], 1) == ""
    assert log.done == ["a", "b: No answer.", "c", "again"]


def test_a_budget_that_is_used_up_begins_nothing_more() -> None:
    log = Log({"b": BudgetError("It is used up."), "c": BudgetError("Another.")})
    assert run_works([log.work("a"), log.work("b"), log.work("c"), log.work("d")], 1) == "It is used up."
    assert log.done == ["a"]


def test_a_model_that_fails_throughout_is_asked_no_more() -> None:
    """What is under way is taken; work that asks no model says nothing about it."""
    log = Log({str(number): ModelError("No answer.") for number in range(3, 30)})
    works = [replace(log.work(str(number)), asks=number < 30) for number in (*range(8), 30, *range(8, 30))]
    said = run_works(works, 2, Breaker("pages", "made"))
    assert said.startswith("10 pages in a row failed, the last: No answer. What was made is kept; fix that and run")
    assert log.done[:4] == ["0", "1", "2", "3: No answer."]
    assert "30" in log.done
    assert sum(": " in each for each in log.done) in (10, 11), "one more may be under way"


def test_a_model_that_fails_now_and_then_is_asked_on() -> None:
    log = Log({str(number): ModelError("No answer.") for number in range(0, 40, 2)})
    assert run_works([log.work(str(number)) for number in range(40)], 1, Breaker("pages", "made")) == ""
    assert len(log.done) == 40


def test_other_errors_are_raised() -> None:
    log = Log({"b": ZeroDivisionError("a fault")})
    with pytest.raises(ZeroDivisionError, match="a fault"):
        run_works([log.work("a"), log.work("b"), log.work("c")], 2)


def nested(pool: ThreadPoolExecutor, depth: int) -> int:
    """How many ends a tree has whose every knot is four short works."""
    return sum(short_works([partial(nested, pool, depth - 1)] * 4, pool)) if depth else 1


def test_works_within_works_end_with_a_single_thread_for_all() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert nested(pool, 4) == 4**4


def test_results_are_in_order() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert short_works([lambda number=number: number for number in range(20)], pool) == list(range(20))
        assert short_works([], pool) == []


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_is_raised_when_all_that_has_begun_is_over(failing: int) -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def fails() -> None:
        begun.wait()
        threading.Timer(0.05, may_end.set).start()
        raise LookupError("no")

    def lasts() -> None:
        begun.set()
        may_end.wait()
        ended.set()

    works = [fails, lasts] if failing == 0 else [lasts, fails]
    with ThreadPoolExecutor(2) as pool, pytest.raises(LookupError):
        try:
            short_works(works, pool)
        finally:
            assert ended.is_set()
