"""Which graph a data set is evaluated on: the one that is there, or one of its own with a managed server."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import settings_at

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import BudgetError, InputError
from kgplatform.evaluate.graphs import CURRENT, Graphs
from kgplatform.evaluate.terms import Build, DataSet, Question, Text
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Connection
from kgplatform.records import Usage
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import OpenAIServer

SHIPS = (
    Text("Marigold", "The Marigold was a paddle steamer. Ida Fenn drew its plans in Dunmouth."),
    Text("Dunmouth", "Dunmouth is a fishing town on the river Aske."),
    Text(
        "Dunmouth",
        "Dunmouth is also the name of a hill in the north, on which sheep graze all summer. Nobody has lived there "
        "since the great storm of 1880 took the roof of the last house.",
    ),
)
BIRDS = (Text("Teal", "The teal is a small duck."), Text("Smew", "The smew is a duck that dives, says Ida Fenn."))


def data_set(name: str = "ships", corpus: tuple[Text, ...] = SHIPS) -> DataSet:
    return DataSet(name, (Question("1", "Who drew the Marigold?", ("Ida Fenn",)),), corpus)


@pytest.fixture
def given(kg: KnowledgeGraph, neo4j_server: Connection, tmp_path: Path) -> Settings:
    """Settings that name the tests' own server, whose database is empty."""
    return settings_at(neo4j_server, tmp_path / "home")


@pytest.fixture
def managed(tmp_path: Path, quick_servers: None) -> Iterator[Settings]:
    """Settings of a home folder of its own; no server is left there."""
    small = {"neo4j_heap": "256m", "neo4j_page_cache": "32m"}
    settings = load_settings(home=tmp_path / "home", embedder="hash:64", **small)
    yield settings
    assert running(settings.home_folder) == []


def running(home: Path) -> list[Path]:
    """The homes under ``home`` whose server is running; these are stopped."""
    found = [file.parent.parent for file in sorted(home.rglob("server.json"))]
    return [each for each in found if LocalNeo4j(load_settings(home=each)).down()]


def test_an_empty_graph_takes_the_texts_once_and_gives_way_to_other_texts(given: Settings) -> None:
    lines: list[str] = []
    with Graphs(given) as graphs:  # a given server has one graph alone
        for build, fill_empty in ((Build(), False), (Build(passage_tokens=50), True)):
            with pytest.raises(InputError, match="unset NEO4J_URI"):
                graphs.for_data_set(data_set(), build, fill_empty=fill_empty)
        with pytest.raises(InputError, match="Unset NEO4J_URI"):
            graphs.empty("needles")
        assert graphs.current().documents() == []
    with Graphs(given, lines.append) as graphs:
        spent: dict[str, Any] = {}
        graphs.built = spent.__setitem__
        with pytest.raises(InputError, match=r"^The graph has no documents\. Run `kgplatform ingest"):
            graphs.for_data_set(data_set(corpus=()))
        graph = graphs.for_data_set(data_set())
        assert graphs.name_of(graph) == CURRENT
        assert sorted(each.title for each in graph.documents()) == ["Dunmouth", "Dunmouth", "Marigold"]
        assert graph.search("Who drew the plans of the Marigold?").passages[0].title == "Marigold"
        assert graphs.seconds[CURRENT] > 0
        assert spent == {CURRENT: {}}
    assert lines == ["ships: 3 texts into the graph that is there (extractor local) …"]
    with Graphs(given) as graphs:
        assert len(graphs.for_data_set(data_set()).documents()) == 3
        assert graphs.seconds == {}, "nothing was done now"
        assert graphs.for_data_set(data_set(corpus=())) is graphs.current()
        with pytest.raises(InputError, match="give their texts too"):
            graphs.for_data_set(data_set(corpus=()), Build(passage_tokens=50))
    with Graphs(given) as graphs:
        graph = graphs.for_data_set(data_set(corpus=SHIPS[:1]))
        assert [each.title for each in graph.documents()] == ["Marigold"]


def test_a_graph_with_just_these_texts_is_used_as_it_is_and_one_with_more_is_not(
    given: Settings, kg: KnowledgeGraph, tmp_path: Path
) -> None:
    """Wherever they come from: here from a JSON file of the user's, in another order. More would change recall."""
    mine, more = tmp_path / "mine.json", tmp_path / "more.json"
    mine.write_text(json.dumps([{"title": each.title, "text": each.text + " \n"} for each in reversed(SHIPS)]))
    kg.ingest(mine, extractor="local")
    spaced = tuple(Text(f" {each.title}", each.text + " \n") for each in SHIPS)
    for fill_empty in (True, False):
        lines: list[str] = []
        with Graphs(given, lines.append) as graphs:
            graph = graphs.for_data_set(data_set(corpus=spaced), fill_empty=fill_empty)
            assert {each.source for each in graph.documents()} == {mine.as_uri()}
        assert lines == ["ships: the current graph contains exactly its 3 texts."]
    more.write_text(json.dumps([{"title": each.title, "text": each.text} for each in BIRDS]))
    kg.ingest(more, extractor="local")
    for texts in (spaced, (Text("Sea", "The sea is salt."),)):
        with Graphs(given) as graphs, pytest.raises(InputError, match="the one at NEO4J_URI holds other texts"):
            graphs.for_data_set(data_set(corpus=texts))
    assert len(kg.documents()) == 5


FOUND = json.dumps(
    {"facts": [["1", "", "Dunmouth"]], "entities": [["Dunmouth", "Location"]], "statements": [], "proposals": []}
)


def test_a_model_that_is_configured_reads_the_texts_and_what_it_costs_is_kept(given: Settings) -> None:
    with OpenAIServer(lambda messages: FOUND) as server:
        settings = given.model_copy(update={"openai_base_url": server.base_url})
        spent: list[dict[str, Usage]] = []
        for _ in range(2):
            with Graphs(settings) as graphs:
                graphs.built = lambda graph, stages: spent.append(stages)
                graphs.for_data_set(data_set())
                paid = graphs.ledger.total.calls
        assert len(server.requests_to("/chat/completions")) == 3
        assert sum(each.calls for each in spent[0].values()) == 3
        assert spent[1] == {}
        assert paid == 0, "the second run asks nobody"


def test_a_budget_that_ends_while_the_graph_is_built(given: Settings) -> None:
    with OpenAIServer(lambda messages: FOUND) as server:
        settings = given.model_copy(update={"openai_base_url": server.base_url, "token_budget": 1, "concurrency": 1})
        with Graphs(settings) as graphs, pytest.raises(BudgetError, match="budget of 1 tokens is used up"):
            graphs.for_data_set(data_set())
        with Graphs(settings.model_copy(update={"token_budget": None})) as graphs:
            graph = graphs.for_data_set(data_set())
            assert all(each.extracted == each.passages for each in graph.documents())


@pytest.mark.usefixtures("kg")
def test_a_driver_that_fails_when_it_is_closed_does_not_hide_ctrl_c(given: Settings) -> None:
    """It does where a thread still waits for the server's answer."""

    def fails() -> None:
        raise BufferError("Existing exports of data: object cannot be re-sized")

    for happens, raised in ((KeyboardInterrupt(), KeyboardInterrupt), (InputError("no"), BufferError)):
        with pytest.raises(raised), Graphs(given) as graphs:
            graphs.current()
            graphs._open[CURRENT][1].callback(fails)
            raise happens


@pytest.mark.long
def test_a_data_set_has_a_graph_of_its_own_and_an_empty_graph_begins_anew(managed: Settings) -> None:
    """In a folder of its own, with a server that runs while it is used; the home's own server is not even started.

    Whatever a run that was killed left in the folder of an empty graph is gone: here texts, an embedding model and a
    schema. The folder is one that was a data set's, for a server takes long to start.
    """
    lines: list[str] = []
    apart, build = data_set("birds-apart", BIRDS), Build(passage_tokens=20)
    with pytest.raises(KeyboardInterrupt), Graphs(managed, lines.append) as graphs:
        birds = graphs.for_data_set(apart, build, fill_empty=False)
        same = replace(build, mode="flexible")  # which is the default
        assert graphs.for_data_set(apart, same, fill_empty=False) is birds
        assert graphs.name_of(birds).startswith("birds-apart-local-")
        folder = birds.settings.home_folder
        assert birds.settings.passage_tokens == 20
        assert (len(birds.documents()), birds.schema() is None) == (len(BIRDS), False)
        assert birds.state()["embeddingModel"]
        assert set(graphs.seconds) == {graphs.name_of(birds)}
        raise KeyboardInterrupt
    assert running(managed.home_folder) == []
    build = Build(extractor="local", passage_tokens=20)  # which was chosen for the data set
    with Graphs(managed) as graphs:
        graph = graphs.empty("birds", build)
        assert graph.settings.home_folder == folder
        assert graph.documents() == []
        assert graph.schema() is None
        assert graph.state() == {}
        with Graphs(managed) as others, pytest.raises(InputError, match="Another evaluation is using"):
            others.empty("birds", build)
        graphs.release(graph)
        assert running(managed.home_folder) == []
    assert not (managed.home_folder / "neo4j").exists()
    assert len([line for line in lines if "into a graph of its own" in line and "extractor local" in line]) == 1
