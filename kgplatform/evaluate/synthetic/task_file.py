"""Tasks in a file: JSON lines, an object a task, with the names of ``NeedleTask``; docs/needle-tasks.md has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from kgplatform.errors import InputError
from kgplatform.evaluate.synthetic.task import NeedleTask
from kgplatform.readers.experts import EXPERTS

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
