"""Recall of supporting passages by route, over a real graph and without any model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import settings_at, wipe

from kgplatform.errors import InputError
from kgplatform.evaluate import comparators
from kgplatform.evaluate.graphs import CURRENT, Graphs
from kgplatform.evaluate.retrieval import (
    ROUTES,
    Measured,
    evaluate_retrieval,
)
from kgplatform.evaluate.terms import DataSet, Mean, Question, Text
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import ScriptedChat

pytestmark = pytest.mark.filterwarnings("ignore:The default returned 'id' field:DeprecationWarning")

CORPUS = (
    Text("Marigold", "The Marigold was a paddle steamer. Ida Fenn drew its plans in Dunmouth."),
    Text("Ida Fenn", "Ida Fenn was born at Aske in 1840, and drew ships."),
    Text("Aske", "Aske is a village of weavers."),
    Text("Teal", "The teal is a small duck."),
    Text("Smew", "The smew is a duck that dives."),
)
QUESTIONS = (
    Question(
        "born",
        "Where was the designer of the paddle steamer Marigold born?",
        ("Aske",),
        supports=CORPUS[:2],
        parts=("Who drew the plans of the Marigold?", "Where was Ida Fenn born?"),
    ),
    Question("dives", "Which duck dives?", ("the smew",), supports=(Text("Smew"),)),
    Question("unknown", "What does nobody say?", ("nothing",)),
    Question("signs", "?!", ("nothing",), supports=(Text("Teal"),)),
)
SHIPS = DataSet("ships", QUESTIONS, CORPUS, skipped=1)


@pytest.fixture(scope="module")
def given(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings that name the tests' own server: the first test puts the texts there, and the last one builds a tree."""
    with Store(neo4j_server) as store:
        wipe(store)
    return settings_at(neo4j_server, tmp_path_factory.mktemp("home"))


def measured(
    given: Settings, dataset: DataSet = SHIPS, routes: Sequence[str] = (), cuts: Sequence[int] = (1, 5)
) -> Measured:
    chat = ScriptedChat([])
    with Graphs(given, chat=chat) as graphs:
        report = evaluate_retrieval([dataset], graphs, routes=routes, cuts=cuts)
    assert chat.calls == [], "no model is asked"
    return report.measured[0]


def test_every_route_is_measured(given: Settings) -> None:
    found = measured(given)
    assert [row.route for row in found.rows] == [route for route in ROUTES if route != "community"]
    assert (found.dataset, found.questions, found.left_out) == ("ships", 2, 3)
    assert (found.documents, found.passages, found.graph, found.embedder) == (5, 5, CURRENT, "hash:64")
    assert found.seconds > 0
    rows = {row.route: row for row in found.rows}
    for route in ("all", "bm25", "official-hybrid"):
        assert rows[route].recall[1].mean == 1.0, route
        assert rows[route].all_found[1] == Mean(1.0, 1.0, 1.0, 2)
    assert all(row.p95 >= row.p50 > 0 and row.failed == 0 for row in found.rows)
    # Two passages are needed for one question, one for the other: the first result is one of each at best.
    assert rows["bm25"].recall[0].mean == 0.75
    assert rows["bm25"].all_found[0].mean == 0.5
    assert rows["all, by parts"].questions == 1
    assert rows["all, by parts"].recall[1].mean == 1.0
    assert found.notes == (
        "community is not measured: the graph has no knowledge tree (`kgplatform tree`).",
        "all, by parts: over the 1 question that people took apart.",
    )


def test_a_question_that_the_official_retriever_fails_at(given: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparators, "escaped", lambda text: text)
    asked = (*QUESTIONS[:2], Question("slash", "Which duck/teal dives?", ("smew",), supports=(Text("Smew"),)))
    found = measured(given, replace(SHIPS, questions=asked), routes=("official-hybrid",))
    assert found.rows[0].failed == 1
    assert found.rows[0].all_found[1].mean == pytest.approx(2 / 3)
    assert "1 question failed and found nothing, the first slash: " in found.notes[-1]


def test_the_tree_has_a_row_where_there_is_one(given: Settings) -> None:
    """The last, for it changes the graph."""
    with pytest.raises(InputError, match="community cannot be measured: the graph has no knowledge tree"):
        measured(given, routes=("community",))
    with Graphs(given) as graphs:
        graphs.current().build_tree()
    assert measured(given, routes=("community",)).rows[0].questions == 2


@pytest.mark.parametrize(
    ("dataset", "routes", "cuts", "words"),
    [
        (SHIPS, ("denze",), (5,), 'Unknown route "denze".*Did you mean dense?'),
        (replace(SHIPS, apart=True), (), (5,), "Each question of ships is about a text of its own"),
        (replace(SHIPS, questions=QUESTIONS[2:3]), (), (5,), "No question of ships names the passages"),
    ],
)
def test_what_cannot_be_measured(
    tmp_path: Path, dataset: DataSet, routes: Sequence[str], cuts: Sequence[int], words: str
) -> None:
    """It is said before any graph is opened."""
    settings = load_settings(home=tmp_path / "home", embedder="hash:64")
    with Graphs(settings) as graphs, pytest.raises(InputError, match=words):
        evaluate_retrieval([dataset], graphs, routes=routes, cuts=cuts)
    assert not (settings.home_folder / "evaluation").exists()
