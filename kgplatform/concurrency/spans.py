"""Spans of OpenTelemetry, in a process that has it loaded; in any other, nothing.

    with span("chat gpt-4.1-mini", {"gen_ai.operation.name": "chat"}) as tell:
        …
        tell({"gen_ai.usage.input_tokens": 812})

Names and attributes are those of the semantic conventions for generative models and for databases. Who sets up the SDK,
or starts a program with `opentelemetry-instrument`, sees every question with its steps, calls and statements.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")
Attributes = Mapping[str, Any]

_SCOPE = "kgplatform"


@contextmanager
def span(name: str, attributes: Attributes, *, calls_out: bool = True) -> Iterator[Callable[[Attributes], None]]:
    """A span round what is done inside; an error inside is recorded. ``calls_out``: it waits for another server.

    Gives what adds attributes that are known at the end.
    """
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
    return work if context is None else partial(_within, context, context.get_current(), work)


def _within(context: Any, outer: Any, work: Callable[[], T]) -> T:
    token = context.attach(outer)
    try:
        return work()
    finally:
        context.detach(token)
