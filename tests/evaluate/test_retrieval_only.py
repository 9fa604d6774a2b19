"""Recall of supporting passages by route, over a real graph and without any model."""

from dataclasses import replace
from pathlib import Path

import pytest
from conftest import settings_at, wipe

from kgplatform.errors import InputError
from kgplatform.evaluate.graphs import CURRENT, Graphs
from kgplatform.evaluate.retrieval import ROUTES, Measured, RouteRow, evaluate_retrieval
from kgplatform.evaluate.terms import DataSet, Mean, Question, Text
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import ScriptedChat

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


def measured(given: Settings) -> Measured:
    chat = ScriptedChat([])
    with Graphs(given, chat=chat) as graphs:
        report = evaluate_retrieval(SHIPS, graphs)
    assert chat.calls == [], "no model is asked"
    assert report.cuts == (2, 5, 10)
    return report.measured[0]


def rows_of(found: Measured) -> dict[str, RouteRow]:
    return {row.route: row for row in found.rows}


def test_every_route_is_measured(given: Settings) -> None:
    found = measured(given)
    assert [row.route for row in found.rows] == [route for route in ROUTES if route != "community"]
    assert (found.dataset, found.questions, found.left_out) == ("ships", 2, 3)
    assert (found.documents, found.passages, found.graph, found.embedder) == (5, 5, CURRENT, "hash:64")
    assert found.seconds > 0
    rows = rows_of(found)
    for route in ("all", "bm25"):
        assert rows[route].recall[1].mean == 1.0, route
        assert rows[route].all_found[1] == Mean(1.0, 1.0, 1.0, 2)
    assert all(row.p95 >= row.p50 > 0 for row in found.rows)
    assert rows["all, by parts"].questions == 1
    assert rows["all, by parts"].recall[1].mean == 1.0
    assert found.notes == (
        "community is not measured: the graph has no knowledge tree (`kgplatform tree`).",
        "all, by parts: over the 1 question that people took apart.",
    )


def test_the_tree_has_a_row_where_there_is_one(given: Settings) -> None:
    """The last, for it changes the graph."""
    with Graphs(given) as graphs:
        graphs.current().build_tree()
    assert rows_of(measured(given))["community"].questions == 2


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        (replace(SHIPS, apart=True), "Each question of ships is about a text of its own"),
        (replace(SHIPS, questions=QUESTIONS[2:3]), "No question of ships names the passages"),
    ],
)
def test_what_cannot_be_measured(tmp_path: Path, dataset: DataSet, words: str) -> None:
    """It is said before any graph is opened."""
    settings = load_settings(home=tmp_path / "home", embedder="hash:64")
    with Graphs(settings) as graphs, pytest.raises(InputError, match=words):
        evaluate_retrieval(dataset, graphs)
    assert not (settings.home_folder / "evaluation").exists()
