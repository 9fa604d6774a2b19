"""Short works share threads that are lent, and none of them waits for another's thread."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from kgplatform.side_by_side import lending, short_works

_word = contextvars.ContextVar("word", default="")


def nested(depth: int) -> int:
    """How many ends a tree has whose every knot is four short works."""
    return sum(short_works([partial(nested, depth - 1)] * 4)) if depth else 1


def test_works_within_works_end_with_a_single_thread_for_all() -> None:
    with ThreadPoolExecutor(1) as pool, lending(pool):
        assert nested(4) == 4**4


def test_many_who_ask_share_the_threads() -> None:
    before = threading.active_count()
    with ThreadPoolExecutor(2, "lent") as pool, lending(pool), ThreadPoolExecutor(8, "asking") as asking:
        asked = [asking.submit(contextvars.copy_context().run, nested, 3) for _ in range(16)]
        assert [each.result() for each in asked] == [4**3] * 16
        assert threading.active_count() <= before + 2 + 8
    assert threading.active_count() == before


@pytest.mark.parametrize("lent", [True, False])
def test_results_are_in_order_and_each_work_has_this_context(lent: bool) -> None:
    def works() -> list[str]:
        _word.set("said")
        return short_works([lambda number=number: f"{_word.get()} {number}" for number in range(20)])

    def run(work: Callable[[], list[str]]) -> list[str]:
        return contextvars.copy_context().run(work)

    expected = [f"said {number}" for number in range(20)]
    if not lent:
        assert run(works) == expected
        return
    with ThreadPoolExecutor(2) as pool, lending(pool):
        assert run(works) == expected


def test_no_works() -> None:
    assert short_works([]) == []


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_is_raised_when_all_that_has_begun_is_over(failing: int) -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def fails() -> None:
        begun.wait(60)
        threading.Timer(0.05, may_end.set).start()
        raise LookupError("no")

    def lasts() -> None:
        begun.set()
        may_end.wait(60)
        ended.set()

    works = [fails, lasts] if failing == 0 else [lasts, fails]
    with ThreadPoolExecutor(2) as pool, lending(pool), pytest.raises(LookupError):
        try:
            short_works(works)
        finally:
            assert ended.is_set()
