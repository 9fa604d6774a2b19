"""A synthetic task: a long text, a question about what is hidden in it, and where that stands.

Tasks by a grid, one at a time, and tasks in a file: JSON lines, an object a task; docs/needle-tasks.md has the names.

    write_tasks("needles.jsonl", grid(single_needle, LENGTHS, DEPTHS, samples=10))    # 1,500 tasks, as in the paper
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from kgplatform.errors import InputError
from kgplatform.readers.longagent.experts import EXPERTS


@dataclass(frozen=True, slots=True)
class Needle:
    """What was hidden: ``text[start:end]`` of the task.

    ``depth``: where it was to stand, as the share of the haystack's tokens before it. ``before``: the tokens of the
    haystack that do stand before it; other needles belong to no haystack.
    """

    start: int
    end: int
    depth: float
    before: int


@dataclass(frozen=True, slots=True)
class NeedleTask:
    """One text and one question.

    ``kind`` is that of LongAgent's expert for it (``readers.experts``), ``description`` what the leader is told of the
    work; ``form`` says which task of that kind: "single", "multi", "second largest" … Each of ``answers`` is right.
    ``bridge``: the name that joins two needles, which the question does not tell. ``length``: the tokens that were
    asked for; ``tokens`` that the text has, as ``count_tokens`` counts them; ``haystack`` of them are not the needles'.
    """

    id: str
    kind: str
    form: str
    text: str
    question: str
    description: str
    answers: tuple[str, ...]
    needles: tuple[Needle, ...]
    bridge: str | None
    length: int
    tokens: int
    haystack: int
    seed: int

    @property
    def depths(self) -> tuple[float, ...]:
        """Where the needles do stand: the share of the haystack's tokens before each (LongAgent, section 3.1)."""
        return tuple(each.before / self.haystack if self.haystack else 0.0 for each in self.needles)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The needles' texts."""
        return tuple(self.text[each.start : each.end] for each in self.needles)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What makes one task: the same gives the same, to the letter. Raises ``InputError`` for what cannot be had."""

    kind: str
    form: str
    length: int
    depths: tuple[float, ...]
    seed: int

    def __post_init__(self) -> None:
        if self.length < 1:
            raise InputError(f"A text cannot have {self.length} tokens: ask for a length of 1 or more.")
        for depth in self.depths:
            if not 0 <= depth <= 1:
                raise InputError(f"{depth:g} is no depth: give a share of the text from 0 to 1, such as 0.5.")

    @property
    def id(self) -> str:
        """``single-8000-0.5-3``; also a good name for a file, and so for a document."""
        depths = (f"{depth:.6g}" for depth in self.depths)
        return "-".join([self.form.replace(" ", ""), str(self.length), *depths, str(self.seed)])

    def chance(self) -> random.Random:
        """The task's own source of chance, at its beginning."""
        return random.Random(self.id)


# ---------------------------------------------------------------------------------------------------------------- grids


Depth = TypeVar("Depth")


def even(least: int, most: int, count: int) -> tuple[int, ...]:
    """``count`` whole numbers at even distances, both ends included.

    >>> even(1_000, 128_000, 3)
    (1000, 64500, 128000)
    """
    if count < 2 or least >= most:
        raise InputError(f"{count} lengths from {least:,} to {most:,} make no grid: ask for two or more, least first.")
    return tuple(least + round(step * (most - least) / (count - 1)) for step in range(count))


LENGTHS = even(1_000, 128_000, 15)
"""LongAgent's: 15 lengths evenly from 1,000 to 128,000 tokens."""

DEPTHS = tuple(step / 9 for step in range(10))
"""LongAgent's for one needle: 10 depths evenly from 0 to 1 (A, appendix A.1)."""

DEPTH_PAIRS = tuple(combinations((0.0, 0.33, 0.66, 1.0), 2))
"""LongAgent's for two needles: the six pairs of 0, 33, 66 and 100 % (A, appendix A.2)."""


def grid(
    make: Callable[[int, Depth, int], NeedleTask],
    lengths: Sequence[int],
    depths: Sequence[Depth],
    samples: int = 1,
    seed: int = 0,
) -> Iterator[NeedleTask]:
    """``samples`` tasks for each length and depth, by length, then depth; ``make`` gets length, depth and a seed.

    The seeds of a cell are ``seed``, ``seed + 1`` and so on; another length or depth draws another needle for them.
    """
    for length in lengths:
        for depth in depths:
            for number in range(samples):
                yield make(length, depth, seed + number)


# ---------------------------------------------------------------------------------------------------------------- files


_READER = TypeAdapter(NeedleTask)


def write_tasks(file: str | Path, tasks: Iterable[NeedleTask]) -> int:
    """Write ``tasks`` to ``file``, each as it comes; returns how many. Raises ``InputError`` if that cannot be done."""
    count = 0
    try:
        with Path(file).open("w", encoding="utf-8", newline="\n") as stream:
            for task in tasks:
                stream.write(json.dumps(asdict(task), ensure_ascii=False) + "\n")
                count += 1
    except (OSError, UnicodeEncodeError) as error:
        raise InputError(f"The tasks cannot be written to {file}: {error}.") from error
    return count


def read_tasks(file: str | Path) -> Iterator[NeedleTask]:
    """The tasks of ``file`` as ``write_tasks`` wrote them, one at a time; empty lines are skipped.

    Raises ``InputError`` that names the line in which something is wrong, once it is reached.
    """
    try:
        with Path(file).open(encoding="utf-8", newline="\n") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield _task(line, f"{file}, line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The tasks in {file} cannot be read: {error}.") from error


def _task(line: str, where: str) -> NeedleTask:
    try:
        task = _READER.validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"{where}: this is no task ({place + ': ' if place else ''}{first['msg']}).") from error
    _check(task, where)
    return task


def _check(task: NeedleTask, where: str) -> None:
    """What a task says of its own text must be so."""
    if not (task.text.strip() and task.question.strip() and any(answer.strip() for answer in task.answers)):
        raise InputError(f"{where}: the task has no text, no question or no answer.")
    if task.kind not in EXPERTS:
        raise InputError(f"{where}: {task.kind!r} is no kind of task; known are {', '.join(EXPERTS)}.")
    for needle in task.needles:
        if not 0 <= needle.start < needle.end <= len(task.text):
            raise InputError(f"{where}: the needle at {needle.start} to {needle.end} does not stand in the text.")
