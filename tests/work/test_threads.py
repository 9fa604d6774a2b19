"""Short works share threads, and none of them waits for another's thread."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from kgplatform.work.threads import short_works


def nested(pool: ThreadPoolExecutor, depth: int) -> int:
    """How many ends a tree has whose every knot is four short works."""
    return sum(short_works([partial(nested, pool, depth - 1)] * 4, pool)) if depth else 1


def test_works_within_works_end_with_a_single_thread_for_all() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert nested(pool, 4) == 4**4


def test_many_who_ask_share_the_threads() -> None:
    before = threading.active_count()
    with ThreadPoolExecutor(2, "shared") as pool, ThreadPoolExecutor(8, "asking") as asking:
        asked = [asking.submit(nested, pool, 3) for _ in range(16)]
        assert [each.result() for each in asked] == [4**3] * 16
        assert threading.active_count() <= before + 2 + 8
    assert threading.active_count() == before


def test_results_are_in_order() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert short_works([lambda number=number: number for number in range(20)], pool) == list(range(20))


def test_no_works() -> None:
    with ThreadPoolExecutor(1) as pool:
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
