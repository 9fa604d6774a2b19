"""Files of tasks: what is written is read, and a broken line is named."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from kgplatform.errors import InputError
from kgplatform.evaluate.needles import grid, multi_needle, pass_key, read_tasks, single_needle, write_tasks

TASK = pass_key(300, 0.5)


def test_tasks_are_read_as_they_were_written(tmp_path: Path) -> None:
    odd = replace(TASK, text=TASK.text + "\u2028\x85\r\n\t\"'🏴‍☠️ d\u0301 第三", question="¿Cuál?")
    tasks = [odd, *grid(multi_needle, (500, 700), [(0, 1), (0.33, 0.66)]), single_needle(400, 1)]
    file = tmp_path / "tasks.jsonl"
    assert write_tasks(file, iter(tasks)) == 6
    assert list(read_tasks(file)) == tasks
    assert file.read_bytes().count(b"\n") == 6


def test_a_line_is_a_json_object_with_the_names_that_are_documented(tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    write_tasks(file, [TASK])
    line = json.loads(file.read_text("utf-8"))
    (needle,) = TASK.needles
    assert line["needles"] == [{"start": needle.start, "end": needle.end, "depth": 0.5, "before": needle.before}]
    assert line["text"][line["needles"][0]["start"] :].startswith("The pass key is")


def test_tasks_are_read_one_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    write_tasks(file, [TASK])
    with file.open("a", encoding="utf-8") as stream:
        stream.write("\nbroken\n")
    tasks = read_tasks(file)
    assert next(tasks) == TASK
    with pytest.raises(InputError, match="tasks.jsonl, line 3: not a task"):
        next(tasks)


def changed(**values: Any) -> str:
    task = asdict(TASK) | values
    return json.dumps({name: value for name, value in task.items() if value is not ...})


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not a task (Invalid JSON"),
        ("[]", "not a task ("),
        (changed(text=...), "not a task (text: "),
        (changed(length="long"), "not a task (length: "),
        (changed(answers="12345"), "not a task (answers: "),
        (changed(needles=[{"start": 0}]), "not a task (needles.0.end: "),
        (changed(kind="chess"), "'chess' is not a kind of task. Choose one of qa, kv, number, passkey, math."),
        (changed(question=" "), "the task has no text, no question or no answer."),
        (changed(answers=[]), "the task has no text, no question or no answer."),
        (changed(text="short"), "is not in the text."),
    ],
)
def test_a_broken_line_is_named_with_what_is_wrong(line: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text(f"{changed()}\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        list(read_tasks(file))
    assert str(error.value).startswith(f"{file}, line 2: ")
    assert says in str(error.value)


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="The tasks in .*none.jsonl cannot be read"):
        list(read_tasks(tmp_path / "none.jsonl"))
    (tmp_path / "latin.jsonl").write_bytes(b'{"text": "\xe9"}\n')
    with pytest.raises(InputError, match="The tasks in .*latin.jsonl cannot be read"):
        list(read_tasks(tmp_path / "latin.jsonl"))
    with pytest.raises(InputError, match="The tasks cannot be written to"):
        write_tasks(tmp_path, [TASK])
    with pytest.raises(InputError, match="The tasks cannot be written to"):
        write_tasks(tmp_path / "half.jsonl", [replace(TASK, question="half a pair: \ud83d")])
