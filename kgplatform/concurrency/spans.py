"""How long work takes: spans of OpenTelemetry, in a process that has it loaded, and the stages of a job.

    with span("chat gpt-4.1-mini", {"gen_ai.operation.name": "chat"}) as tell:
        …
        tell({"gen_ai.usage.input_tokens": 812})

    watch = Stopwatch()
    with watch.stage("read"):
        …
    watch.seconds, watch.total()      # {"read": 0.4}, 0.5

Names and attributes are those of the semantic conventions for generative models and for databases. Who sets up the SDK,
or starts a program with `opentelemetry-instrument`, sees every question with its steps, calls and statements.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
Attributes = Mapping[str, Any]

_SCOPE = "kgplatform"


@contextmanager
def span(name: str, attributes: Attributes, *, calls_out: bool = True) -> Iterator[Callable[[Attributes], None]]:
    """A span round what is done inside; an error inside is recorded. ``calls_out``: it waits for another server. Gives
    what adds attributes that are known at the end."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        yield lambda more: None
        return
    kind = trace.SpanKind.CLIENT if calls_out else trace.SpanKind.INTERNAL
    with trace.get_tracer(_SCOPE).start_as_current_span(name, kind=kind, attributes=attributes) as begun:
        yield begun.set_attributes


def past_span(name: str, seconds: float, attributes: Attributes) -> None:
    """A span of what ended just now, and took ``seconds``."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is not None:
        now = time.time_ns()
        begun = trace.get_tracer(_SCOPE).start_span(name, attributes=attributes, start_time=now - int(seconds * 1e9))
        begun.end(end_time=now)


def carried(work: Callable[[], T]) -> Callable[[], T]:
    """``work`` for another thread, where its spans are inside of the span that is open here."""
    context = sys.modules.get("opentelemetry.context")
    if context is None:
        return work
    outer = context.get_current()

    def within() -> T:
        token = context.attach(outer)
        try:
            return work()
        finally:
            context.detach(token)

    return within


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
