"""Files of tasks: their form is the published one, and what cannot be written is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kgplatform.errors import InputError
from kgplatform.evaluate.needles import multi_needle, pass_key, write_tasks

TASK = pass_key(300, 0.5)


def test_a_line_is_a_json_object_with_the_published_keys(tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    odd = replace(TASK, text=TASK.text + "\u2028\x85\r\n\t\"'🏴‍☠️ d\u0301 第三", question="¿Cuál?")
    two = multi_needle(500, (0.33, 0.66))
    assert write_tasks(file, iter([odd, two])) == 2
    first, second = map(json.loads, file.read_text("utf-8").removesuffix("\n").split("\n"))
    assert first == {
        "id": TASK.id,
        "context": odd.text,
        "context_length": 300,
        "depth_percent": 50,
        "input": "¿Cuál?",
        "dataset": "needle_pass-key",
        "answers": list(TASK.answers),
    }
    assert (second["depth_percent"], second["dataset"]) == ([33, 66], "needle_multi")


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="The tasks cannot be written to"):
        write_tasks(tmp_path, [TASK])
    with pytest.raises(InputError, match="The tasks cannot be written to"):
        write_tasks(tmp_path / "half.jsonl", [replace(TASK, question="half a pair: \ud83d")])
