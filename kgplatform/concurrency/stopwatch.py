"""How long the stages of a job take.

watch = Stopwatch()
with watch.stage("read"):
    …
watch.seconds, watch.total()      # {"read": 0.4}, 0.5
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Stopwatch:
    """``seconds`` by stage. What a stage within another takes is not counted for the outer one, too."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._started = time.perf_counter()
        self._inside = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of the ``with`` block for the stage ``name``, unless it raises."""
        started, outside, self._inside = time.perf_counter(), self._inside, 0.0
        yield
        spent = time.perf_counter() - started
        self.add({name: spent - self._inside})
        self._inside = outside + spent

    def each(self, name: str, items: Iterable[T]) -> Iterator[T]:
        """``items``, with the time that it takes to come by each counted for the stage ``name``."""
        iterator = iter(items)
        while True:
            with self.stage(name):
                item = next(iterator, self)
            if item is self:
                return
            yield item  # type: ignore[misc]  # nobody's items are this watch

    def add(self, seconds: Mapping[str, float]) -> None:
        """Count ``seconds`` by stage that another has measured."""
        for name, spent in seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + spent

    def total(self) -> float:
        """Seconds since the beginning, stages or not."""
        return time.perf_counter() - self._started
