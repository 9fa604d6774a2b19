"""What a child process does for another, and how it ends: by its bounds, with a call that is left, with its parent."""

import json
import os
import re
import subprocess
import sys
from itertools import count
from pathlib import Path

import psutil
import pytest
from bounded_children import children
from bounded_work import die_once, fill, keep, noise, pid, steps
from stopped import Working, until

from kgplatform.concurrency.workers import BoundedCalls, ExceededError
from kgplatform.errors import StoppedError

ENDLESS = "(a+)+$", "a" * 60 + "b"
"""A pattern and a text that a regex searches for ever, without giving another thread of Python its turn."""


def test_one_child_does_all_calls_and_none_is_left(capfd: pytest.CaptureFixture[str]) -> None:
    """There is none before the first call. A call that is left takes it along; what it prints is no answer."""
    with BoundedCalls(60, 500) as calls:
        assert children() == []
        first = list(calls.each(pid))
        assert list(calls.each(range, 3)) == [0, 1, 2]
        assert list(calls.each(noise)) == ["answer"]
        assert capfd.readouterr() == ("", "")
        assert list(calls.each(pid)) == first == [each.pid for each in children()]
        found = calls.each(count)
        assert [next(found), next(found)] == [0, 1]
        found.close()  # type: ignore[attr-defined]  # a generator
        assert children() == []
        assert list(calls.each(range, 3)) == [0, 1, 2]
    assert children() == []


def test_what_takes_too_long_ends_whatever_code_it_is_in_and_the_next_call_works() -> None:
    """The time is that of a step, not of all of them."""
    with BoundedCalls(1, 500) as calls:
        assert list(calls.each(steps, 0.4, 0.4, 0.4)) == [0.4, 0.4, 0.4]
        found = calls.each(steps, 0.1, 30)
        assert next(found) == 0.1
        with pytest.raises(ExceededError, match="seconds"):
            next(found)
        with pytest.raises(ExceededError, match="seconds"):
            list(calls.each(re.findall, *ENDLESS))
        assert children() == []
        assert list(calls.each(range, 3)) == [0, 1, 2]


@pytest.mark.parametrize(("function", "argument"), [(bytes, 400_000_000), (fill, 400)], ids=["at once", "in pieces"])
def test_what_takes_too_much_memory_ends(function: object, argument: int) -> None:
    with BoundedCalls(60, 200) as calls:
        with pytest.raises(ExceededError, match="memory"):
            list(calls.each(function, argument))  # type: ignore[arg-type]  # a function of one number
        assert list(calls.each(range, 3)) == [0, 1, 2]


def test_a_child_that_holds_much_is_followed_by_another() -> None:
    with BoundedCalls(60, 400) as calls:
        assert list(calls.each(keep, 50)) == [1]
        assert list(calls.each(keep, 150)) == [2]
        assert list(calls.each(keep, 1)) == [1]


def test_a_crash_is_told_by_its_signal_and_one_by_chance_is_made_good(tmp_path: Path) -> None:
    """Results that came before a crash are good, and come once."""
    with BoundedCalls(60, 500) as calls:
        with pytest.raises(ExceededError) as caught:
            list(calls.each(os.abort))
        assert (caught.value.bound, caught.value.signal) == ("crash", "SIGABRT")
        assert list(calls.each(die_once, tmp_path / "died")) == ["alive"]
        found = calls.each(count)
        assert next(found) == 0
        children()[0].kill()
        seen = []
        with pytest.raises(ExceededError, match="SIGKILL"):
            for each in found:
                seen.append(each)
        assert seen == list(range(1, len(seen) + 1))


def test_an_error_in_the_child_is_raised_here() -> None:
    with BoundedCalls(60, 500) as calls:
        with pytest.raises(RuntimeError, match=r"Traceback[\s\S]*No such file or directory: '/nowhere'"):
            list(calls.each(open, "/nowhere"))
        with pytest.raises(RuntimeError, match="ended with status 3"):
            list(calls.each(os._exit, 3))
        assert list(calls.each(range, 3)) == [0, 1, 2]


def test_it_can_be_stopped_from_another_thread() -> None:
    working = Working(lambda stop: list(BoundedCalls(600, 500, stop).each(re.findall, *ENDLESS)))
    until(lambda: bool(children()))
    assert isinstance(working.stopped(), StoppedError)
    assert children() == []


SCRIPT = """
import json, re, sys
from kgplatform.concurrency.workers import BoundedCalls
calls = BoundedCalls(float(sys.argv[1]), 500)
print(json.dumps(list(calls.each(range, 3))), flush=True)
print(calls._child.pid, flush=True)
list(calls.each(re.findall, *json.loads(sys.argv[2]))) if len(sys.argv) > 2 else sys.stdin.read()
"""


@pytest.mark.parametrize("work", [(), (json.dumps(ENDLESS),)], ids=["idle", "busy"])
def test_a_script_without_a_guard_works_and_its_child_ends_with_it_even_if_it_is_killed(
    tmp_path: Path, work: tuple[str, ...]
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "worked in").mkdir()
    (tmp_path / "worked in" / "json.py").write_text("raise SystemExit('a file where we work was imported')")
    command = [sys.executable, str(tmp_path / "script.py"), "1", *work]
    where = tmp_path / "worked in"
    parent = subprocess.Popen(command, cwd=where, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert json.loads(parent.stdout.readline()) == [0, 1, 2]
    child = psutil.Process(int(parent.stdout.readline()))
    if work:
        until(lambda: not child.is_running() or child.cpu_times().user > 0.3)
    parent.kill()
    parent.communicate()
    until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
