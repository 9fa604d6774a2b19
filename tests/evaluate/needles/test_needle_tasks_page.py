"""The page needle-tasks.md: its examples run, and what it says of the file is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from doc_pages import blocks, page
from simulated_team import SimulatedTeam, told

from kgplatform.evaluate import needles as synthetic
from kgplatform.neo4j.store import Store
from kgplatform.testing import OpenAIServer

PAGE = page("needle-tasks.md")
EXAMPLES = [each for each in blocks(PAGE, "python") if "connect()" not in each]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.splitlines()[0])
def test_an_example_runs_as_it_stands(example: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(example, "needle-tasks.md", "exec"), {"__name__": "example"})
    printed = capsys.readouterr().out
    assert printed.strip()
    if "needles.jsonl" in example:
        assert "60 tasks" in printed
        assert (tmp_path / "needles.jsonl").exists()


def test_a_reader_is_asked_as_the_page_says(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = blocks(PAGE, "python")[:2]
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(first, "needle-tasks.md", "exec"), names)
    with OpenAIServer(SimulatedTeam(told(names["task"]), invents=0.2)) as model:
        given = store.connection
        monkeypatch.setenv("NEO4J_URI", given.uri)
        monkeypatch.setenv("NEO4J_PASSWORD", given.password)
        monkeypatch.setenv("KGPLATFORM_EMBEDDER", "hash:64")
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        exec(compile(second, "needle-tasks.md", "exec"), names)
    assert capsys.readouterr().out.splitlines()[-1] == "True"


def test_the_page_tells_every_key_of_a_task_and_every_function() -> None:
    table = PAGE.partition("## The file")[2]
    assert synthetic.pass_key(300, 0.5).as_published().keys() - set(re.findall(r"`(\w+)`", table)) == set()
    functions = {name for name in synthetic.__all__ if callable(getattr(synthetic, name)) and name.islower()}
    assert {name for name in functions if name not in PAGE} == set()
    assert {name for name in synthetic.RANKS if name not in PAGE} == set()
