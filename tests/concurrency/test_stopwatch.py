"""Seconds by stage."""

from __future__ import annotations

import pytest

from kgplatform.concurrency import stopwatch
from kgplatform.concurrency.stopwatch import Stopwatch


def test_what_is_inside_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 1.0, 3.0, 7.0, 12.0, 20.0, 21.0, 50.0])
    monkeypatch.setattr(stopwatch.time, "perf_counter", lambda: next(times))
    watch = Stopwatch()
    with watch.stage("write"), watch.stage("embed"):
        pass
    with watch.stage("embed"):
        pass
    watch.add({"embed": 0.5, "wait": 2.0})
    assert watch.seconds == {"embed": 5.5, "write": 7.0, "wait": 2.0}
    assert watch.total() == 50.0
