"""The page data-sets.md: its examples are read as it says, and it leaves out no name."""

from __future__ import annotations

import re
from pathlib import Path

from doc_pages import page

from kgplatform.evaluate.datasets import DATA_SETS, load
from kgplatform.evaluate.datasets.shared_corpus import KEYS

PAGE = page("data-sets.md")


def test_the_examples_are_questions(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```json\n(.*?)^```$", PAGE, re.M | re.S)
    (tmp_path / "q.jsonl").write_text(example, "utf-8")
    dataset = load(tmp_path / "q.jsonl")
    assert (dataset.faults, dataset.skipped) == ((), 0)
    assert [each.kind for each in dataset.questions] == ["2 hops", "year", "", ""]
    assert [each.answerable for each in dataset.questions] == [True, True, True, False]


def test_every_key_and_every_data_set_has_its_line() -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGE, re.M)
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert {*KEYS, *DATA_SETS} - named == {"own", "hops"}
    assert "`hops`" in PAGE
