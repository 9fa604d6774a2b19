"""What a reader does and writes, while it does: on a terminal, in a place that is cleared for the answer."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from kgplatform.records import Step
from kgplatform.text import without_controls

_A_SECOND = 8
"""How often it is drawn."""
_STEPS = 5
"""The last steps, which are shown."""
_LEFT = 5
"""Lines of the terminal that stay free."""

_DRAFT = "A draft:"


class LiveAnswer:
    """A context manager: the steps of a reader, and its answer so far, drawn again and again; at the end all is gone.

    with LiveAnswer(as_json=False) as live:
        answer = graph.ask(question, **live.listeners)

    Where output is not a terminal's, or a program's, nobody listens and nothing is drawn.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._spinner = Spinner("dots", "reading")
        self._steps: list[str] = []
        self._text = ""
        self._console = Console(stderr=True, highlight=False)
        self._live: Live | None = None
        if self._console.is_terminal and sys.stdout.isatty() and not as_json:
            self._live = Live(
                console=self._console, get_renderable=self._drawn, refresh_per_second=_A_SECOND, transient=True
            )

    def __enter__(self) -> LiveAnswer:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    @property
    def listeners(self) -> dict[str, Any]:
        """What ``KnowledgeGraph.ask`` is to call."""
        return {"on_step": self._step, "on_text": self._hear} if self._live else {}

    def _step(self, step: Step) -> None:
        detail = " ".join(f"{step.name}: {step.detail}".split()) if step.detail else step.name
        self._steps.append(without_controls(detail))

    def _hear(self, text: str) -> None:
        self._text = text

    def _drawn(self) -> RenderableType:
        """The last steps, one a line, and the end of the text, as much as the terminal has room for."""
        first = max(0, len(self._steps) - _STEPS)
        steps = [Text(f"{n:3}. {each}", "dim") for n, each in enumerate(self._steps[first:], first + 1)]
        for line in steps:
            line.truncate(self._console.width, overflow="ellipsis")
        room = max(1, self._console.height - len(steps) - _LEFT)
        written = Text(without_controls(self._text)).wrap(self._console, self._console.width)
        draft = [Text(_DRAFT, "dim")] if self._text else []
        return Group(*steps, self._spinner, *draft, *written[-room:])
