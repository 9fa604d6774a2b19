"""How the command line prints: lines, tables and progress for people, or one JSON document for programs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment, Segments
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from kgplatform.interfaces.cli.shared import note
from kgplatform.records import Step, Usage
from kgplatform.shown import plain
from kgplatform.text import duration, without_controls

T = TypeVar("T")

_QUOTE = 400
_UNWRAPPED = 100_000
_FIRST = "preparing"
"""The stage before the first."""
_DRAWN = 8
"""How often a second an answer that is being written is drawn."""
_LAST_STEPS = 5
"""The steps that are shown with it."""
_FREE = 5
"""Lines of the terminal that stay free."""
_NUMBERS = {"Count", "Passages", "Read", "Failed", "Tokens", "Pages", "Saved", "Turns"}


def console() -> Console:
    """Standard output for people. Lines wrap at a terminal's width, and are kept whole in a file or a pipe."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else _UNWRAPPED)


def show(as_json: bool, value: T, for_people: Callable[[T], None], document: object = None) -> None:
    """Print ``value`` for people, or ``document``, by default ``value`` itself, as one JSON document."""
    if as_json:
        print_json(value if document is None else document)
    else:
        for_people(value)


def print_json(value: object) -> None:
    """The one JSON document of ``--json``."""
    print(json.dumps(plain(value), ensure_ascii=False, indent=2))


def safe(text: str) -> str:
    """``text`` from a document or a model as plain text, without rich's markup or a terminal's control codes."""
    return escape(without_controls(text))


def short(text: str) -> str:
    """``text`` on one line, cut after a word where it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTE else flat[:_QUOTE].rsplit(" ", 1)[0] + " …"


def table(out: Console, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table of plain texts; numbers are aligned right. In a file or a pipe, lines of cells with tabs between them."""
    if not out.is_terminal:
        lines = ("\t".join(without_controls(" ".join(cell.split())) for cell in cells) for cells in (columns, *rows))
        # Segments: rich makes blanks of the tabs in a text.
        out.print(Segments(Segment(f"{line}\n") for line in lines), end="", crop=False, soft_wrap=True)
        return
    drawn = Table(show_edge=False, pad_edge=False)
    for column in columns:
        drawn.add_column(safe(column), overflow="fold", justify="right" if column in _NUMBERS else "left")
    for row in rows:
        drawn.add_row(*(safe(cell) for cell in row))
    out.print(drawn)


class ProgressLines:
    """Progress of long work on the error stream: bars on a terminal, from the first moment, else a line every few
    seconds."""

    _EVERY = 5.0
    _REMEMBERED = 600.0
    """Seconds from which the time that is left is guessed: some works tell of a part done once in a minute."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._bar: Progress | None = None
        self._tasks: dict[str, Any] = {}
        self._started: dict[str, tuple[float, int]] = {}
        self._spent: Callable[[], Usage] = Usage
        self._told: set[str] = set()
        self._last_call = self._last_line = time.monotonic()

    def __enter__(self) -> ProgressLines:
        if self._console.is_terminal:
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(bar_width=20),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
                speed_estimate_period=self._REMEMBERED,
            )
            self._tasks[_FIRST] = self._bar.add_task(_FIRST, total=None, rate="")
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def by(self, spent: Callable[[], Usage]) -> None:
        """Say how many tokens a second a model writes, by what is ``spent`` so far."""
        self._spent = spent

    def __call__(self, stage: str, done: int, total: int) -> None:
        """``done`` of ``total`` of ``stage``; a total of 0 is not known yet."""
        now, written = time.monotonic(), self._spent().output_tokens
        # A stage that first calls when a part is done began when the stage before it last called.
        started, before = self._started.setdefault(stage, (self._last_call if done else now, written))
        self._last_call = now
        rate = ""
        if now > started and done and total != 1:
            number, unit = (written - before, " tokens/s") if written > before else (done, "/s")
            rate = f"{number / (now - started):,.0f}{unit}"
        if self._bar is not None:
            if _FIRST in self._tasks:
                self._bar.remove_task(self._tasks.pop(_FIRST))
            if stage not in self._tasks:
                self._tasks[stage] = self._bar.add_task(stage, total=total or None, rate=rate)
            self._bar.update(self._tasks[stage], completed=done, total=total or None, rate=rate)
        elif not done and now - self._last_line >= self._EVERY and stage not in self._told:
            self._told.add(stage)
            self._last_line = now
            note(f"{stage} …")
        elif done and (now - self._last_line >= self._EVERY or (done == total and stage in self._told)):
            self._told.add(stage)
            self._last_line = now
            left = (now - started) * (total - done) / done if done < total else 0.0
            more = f", {duration(left)} left" if done < total else ""
            note(f"{stage}: {done:,}{f' of {total:,}' if total else ''}{', ' + rate if rate else ''}{more}")


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
                console=self._console, get_renderable=self._drawn, refresh_per_second=_DRAWN, transient=True
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

        def on_step(step: Step) -> None:
            detail = " ".join(f"{step.name}: {step.detail}".split()) if step.detail else step.name
            self._steps.append(without_controls(detail))

        def on_text(text: str) -> None:
            self._text = text

        return {"on_step": on_step, "on_text": on_text} if self._live else {}

    def _drawn(self) -> RenderableType:
        """The last steps, one a line, and the end of the text, as much as the terminal has room for."""
        first = max(0, len(self._steps) - _LAST_STEPS)
        steps = [Text(f"{n:3}. {each}", "dim") for n, each in enumerate(self._steps[first:], first + 1)]
        for line in steps:
            line.truncate(self._console.width, overflow="ellipsis")
        room = max(1, self._console.height - len(steps) - _FREE)
        written = Text(without_controls(self._text)).wrap(self._console, self._console.width)
        draft = [Text("A draft:", "dim")] if self._text else []
        return Group(*steps, self._spinner, *draft, *written[-room:])
