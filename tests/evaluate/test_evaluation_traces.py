"""Traces on disk: equal when read again, as people read them, in files of their own whatever the ids are."""

import json
import re
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from corpora import FIELD, OTHERS, RECORDING, put, put_jsonl
from graphreader_runs import walk

from kgplatform.client import KnowledgeGraph
from kgplatform.evaluate.kept_answers import FOLDER, read_trace, slug, trace_file, write_trace
from kgplatform.evaluate.terms import Question, Setup, Text
from kgplatform.interfaces.cli.show.answers import show_run, trace_in_words
from kgplatform.models.embed import HashEmbedder
from kgplatform.records import Answer, QueryRun, SearchResult, Step, Usage
from kgplatform.testing import ScriptedChat

ASKED = "Where was the founder of the Atlantic Telegraph Company born?"
QUESTION = Question("q01", ASKED, ("Stockbridge", "in Stockbridge"), supports=(Text("field"),), kind="two hops")
SETUP = Setup("youtu agent=false", "youtu", {"agent": False, "top_k": 3})
STEP = Step(
    "search", "s", 0.5, queries=(QueryRun("search/passage", "RETURN $k AS k", {"k": [1.5, "a", None]}, 1, 0.1),)
)
ANSWER = Answer(ASKED, "youtu", "Stockbridge [1].", (), SearchResult(ASKED, (), (), 0.1), (STEP,), Usage(1, 2, 3))


@pytest.fixture
def graph(kg: KnowledgeGraph, tmp_path: Path) -> KnowledgeGraph:
    """Three documents, and a model that always says the same."""
    kg.ingest(put(tmp_path / "texts", FIELD | OTHERS), recorded=put_jsonl(tmp_path / "recording.jsonl", RECORDING))
    chat = ScriptedChat(lambda messages: json.dumps({"answer": "In Stockbridge [1.1].", "sufficient": True}))
    return KnowledgeGraph(kg.store, kg.settings, embedder=HashEmbedder(64), chat=chat)


def as_printed(text: str) -> list[str]:
    """The lines of a trace without what no two prints have alike."""
    return [re.sub(r"[\d.]+ m?s\b", "…", line) for line in text.splitlines()]


def test_a_trace_is_read_as_it_was_written_and_as_ask_prints_it(
    graph: KnowledgeGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for answer in (graph.ask(ASKED, top_k=3), walk(graph, ASKED, "John Pender", "Stockbridge")):
        file = write_trace(tmp_path / FOLDER, SETUP, QUESTION, answer, trace_in_words)
        assert file == trace_file(tmp_path / FOLDER, SETUP.name, "q01")
        assert read_trace(file) == answer
        show_run(answer, as_json=False, trace=True)
        head, text = file.with_suffix(".txt").read_text().split("\n\n", 1)
        assert as_printed(text) == as_printed(capsys.readouterr().out)
        assert head.splitlines() == [
            f"Question q01 (two hops): {ASKED}",
            "Right answers: Stockbridge; in Stockbridge",
            "Needed passages: field",
            "Setup: youtu agent=false (reader youtu, agent False, top_k 3)",
        ]


def test_texts_of_users_and_models_are_kept_to_the_letter_and_steer_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    nasty = "a\x1b[31mred [bold]b[/bold] :smile: \ud800 \u2028 人 {'} \\ud801"
    step = replace(STEP, reply=nasty, queries=(QueryRun("n", "RETURN $p", {"p": nasty, "q": float("inf")}, 0, 0.0),))
    answer = replace(ANSWER, text=nasty, note=nasty, trace=(step,))
    question = Question("q", nasty, choices=(nasty, "b"), answerable=False)
    file = write_trace(tmp_path, Setup(nasty, "youtu"), question, answer, trace_in_words)
    assert read_trace(file) == answer
    text = file.with_suffix(".txt").read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert "red [bold]b[/bold] :smile: \\ud800" in text
    assert "\nChoice: a\ufffd[31mred [bold]b" in text
    assert "\nChoice: b\nRight answer: the texts hold none\n" in text


def test_strange_ids_have_files_of_their_own(tmp_path: Path) -> None:
    """On any system: letters of either case, in any form, and names that some systems keep for themselves."""
    ids = ["../../etc/passwd", "", " ", "a/b", "a_b", "A/b", "a\\b", "..", "x" * 5000, "x" * 5001, "v1.2", "v1.3"]
    ids += ["é", "e\u0301", "人", "\ud800", "q", "Q", "con.", "con", "a\0b", slug("a/b"), slug(slug("a/b"))]
    files = [
        write_trace(tmp_path, SETUP, replace(QUESTION, id=each), replace(ANSWER, note=each), trace_in_words)
        for each in ids
    ]
    assert len({file.name.lower() for file in files}) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._=+-]{0,72}\.json", file.name) for file in files)
    assert {file.parent.parent for file in files} == {tmp_path}
    assert [read_trace(file).note for file in files] == ids
    assert len(list(files[0].parent.iterdir())) == 2 * len(ids)


def test_only_the_owner_may_read_them_and_a_second_run_replaces_them(tmp_path: Path) -> None:
    file = write_trace(tmp_path / "new" / FOLDER, SETUP, QUESTION, ANSWER, trace_in_words)
    assert (
        write_trace(tmp_path / "new" / FOLDER, SETUP, QUESTION, replace(ANSWER, text="Other."), trace_in_words) == file
    )
    assert read_trace(file).text == "Other."
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.with_suffix(".txt"))] == [0o600] * 2
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert sorted(path.name for path in file.parent.iterdir()) == ["q01.json", "q01.txt"]
