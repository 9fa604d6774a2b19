"""Progress where there is no terminal: a line every few seconds, whatever the stages; what a search shows."""

from dataclasses import replace

import pytest

from kgplatform.interfaces.cli.show import answers, terminal
from kgplatform.records import FoundCommunity, FoundPassage, FoundPath, SearchResult
from kgplatform.text import duration

Call = tuple[float, str, int, int]
"""The second at which it is called, the stage, how much is done, how much there is."""


def lines(calls: list[Call], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What is said on the error stream when ``calls`` come; the clock starts at 0."""
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    with terminal.ProgressLines() as progress:
        for second, *call in calls:
            now[0] = second
            progress(*call)
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([(1, "documents", 1, 1), (3, "extracting", 1, 1)], []),  # short work
        (
            [(5, "extracting", 50, 100), (9, "extracting", 90, 100), (10, "extracting", 100, 100)],
            ["extracting: 50 of 100, 10/s, 5.0 s left", "extracting: 100 of 100, 10/s"],
        ),
        (
            [(6, "documents", 0, 0), (12, "documents", 0, 0), (13, "documents", 30, 0), (18, "documents", 90, 0)],
            ["documents …", "documents: 30, 4/s", "documents: 90, 8/s"],
        ),
    ],
)
def test_a_line_every_few_seconds(
    calls: list[Call], said: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lines(calls, monkeypatch, capsys) == said


def test_it_is_said_that_no_passage_fits(capsys: pytest.CaptureFixture[str]) -> None:
    near = FoundPassage("p", "file:///p", "note", 0, 5, None, "Rain.", 1.0, ("passage",), relevance=0.012)
    answers.show_search(SearchResult("Who?", (near,), (), 0.002, fits=False))
    shown = capsys.readouterr().out
    assert shown.startswith("No passage is likely to answer this")
    assert "score 1.000  by passage" in shown
    answers.show_search(SearchResult("Who wrote Faust?", (near,), (), 0.002, fits=False, missing=("Faust",)))
    assert "No passage is likely to answer this, and none mentions Faust" in capsys.readouterr().out
    answers.show_search(SearchResult("Who?", (replace(near, relevance=None),), (), 0.002))
    shown = capsys.readouterr().out
    assert "likely" not in shown and "score 1.000  by passage" in shown


def test_communities_and_paths_without_facts_are_something(capsys: pytest.CaptureFixture[str]) -> None:
    ships = FoundCommunity(id="c", name="Great Ships", summary="Of ships.", size=3, score=0.5)
    path = FoundPath(("a", "b"), ("Great Eastern", "Valentia"), ("lies off",), (True,), (), 0.5)
    answers.show_search(SearchResult("Who?", (), (), 0.002, communities=(ships,)))
    assert "Great Ships  3 entities" in capsys.readouterr().out
    answers.show_search(SearchResult("Who?", (), (), 0.002, paths=(path,)))
    assert "Great Eastern —[lies off]→ Valentia" in capsys.readouterr().out
    answers.show_search(SearchResult("Who?", (), (), 0.002))
    assert capsys.readouterr().out == "Nothing was found.\n"


def test_durations() -> None:
    said = {0.0004: "0 ms", 0.9994: "999 ms", 0.9996: "1.0 s", 59.96: "1 min 00 s", 3599.7: "1 h 00 min"}
    assert {seconds: duration(seconds) for seconds in said} == said
