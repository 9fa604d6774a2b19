"""A part of a graph answers on every route, and by every reader, as a graph of its documents alone."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import DIMENSION, wipe
from graph_state import snapshot
from read_sentences import SentenceReader, corpus
from simulated_readers import reply

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Store
from kgplatform.parts import FOLDER, MOST_OPEN
from kgplatform.readers.readers import READERS
from kgplatform.search.search import SEARCHES
from kgplatform.settings import Settings
from kgplatform.testing import ScriptedChat

pytestmark = pytest.mark.killed
QUESTIONS = ("Who founded the Acme Works?", "Where is Mercury moored?", "What is the motto of Ada Lovelace?")


@pytest.fixture
def whole(store: Store, settings: Settings, quick_servers: None) -> Iterator[KnowledgeGraph]:
    """A graph of eight documents, with a tree, whose parts are gone at the end."""
    with KnowledgeGraph(
        store, settings, embedder=HashEmbedder(DIMENSION), chat=ScriptedChat(lambda messages: reply(messages))
    ) as graph:
        build(graph, range(8))
        yield graph


def build(graph: KnowledgeGraph, chosen: Any) -> None:
    """Build the graph of these documents anew."""
    wipe(graph.store)
    texts = corpus(random.Random(48), 8)
    graph.ingest([texts[each] for each in chosen], extractor=SentenceReader(), schema="general")
    graph.build_tree()
    graph.gist()


def told(graph: KnowledgeGraph) -> dict[str, Any]:
    """What it answers, by each route and each reader, and what there is to look at; without what a clock says."""
    found: dict[str, Any] = {}
    for question in QUESTIONS:
        for route in SEARCHES:
            found[f"{route}: {question}"] = replace(graph.search(question, route), seconds=0)
    for reader in READERS:
        answer = graph.ask(QUESTIONS[0], reader.name)
        steps = [(step.name, step.detail, step.prompt, step.reply) for step in answer.trace]
        found[f"reader {reader.name}"] = answer.text, answer.citations, steps
    found["schema"] = graph.schema_text()
    found["highlights"] = graph.look.highlights(20)
    found["map"] = graph.look.map()
    found["stats"] = graph.stats().nodes, graph.stats().relationships
    return found


def test_it_answers_as_a_graph_of_its_documents(whole: KnowledgeGraph) -> None:
    with whole.part("half") as part:
        assert part.database_id() != whole.database_id()
        answers, state = told(part), snapshot(part.store)
    through = whole.search(QUESTIONS[0], "community", where="half"), whole.ask(QUESTIONS[0], "global", where="half")
    build(whole, range(0, 8, 2))
    alone = told(whole)
    for name, answer in alone.items():
        assert answers[name] == answer, name
    assert state == snapshot(whole.store)
    assert replace(through[0], seconds=0) == alone[f"community: {QUESTIONS[0]}"]
    assert through[1].text == alone["reader global"][0]


def test_it_is_kept_until_what_it_is_made_of_changes(whole: KnowledgeGraph, tmp_path: Path) -> None:
    texts = corpus(random.Random(48), 8)
    with whole.part("number < 2") as part:
        first = part.settings.home_folder
        made = (first / "made").stat().st_mtime_ns
    with whole.part(["number = 0 or number = 1"]) as again:
        assert again.settings.home_folder == first, "the same documents"
        assert (first / "made").stat().st_mtime_ns == made, "it was open"
    whole.ingest(replace(texts[1], text=texts[1].text + " " + texts[5].text), extractor=SentenceReader())
    with whole.part("number < 2") as part:
        assert part.settings.home_folder != first
        assert part.look.counts()["Document"] == 2
    whole.remove("note-1")
    with whole.part("number < 2") as part:
        assert [each.title for each in part.documents()] == ["Note 0"]
    whole.remove("note-0")
    with pytest.raises(InputError, match="No document fits"), whole.part("number < 2"):
        pass


def test_servers_run_only_while_they_are_used(whole: KnowledgeGraph, store: Store, settings: Settings) -> None:
    def running() -> list[str]:
        homes = sorted((settings.home_folder / FOLDER).iterdir())
        servers = [LocalNeo4j(settings.model_copy(update={"home": home})) for home in homes]
        return [home.name for home, server in zip(homes, servers, strict=True) if server.status().running]

    for number in range(MOST_OPEN + 1):
        with whole.part(f"number = {number}") as part:
            assert part.settings.home_folder.name in running()
    assert len(running()) == MOST_OPEN
    with KnowledgeGraph(
        Store(store.connection), settings, embedder=HashEmbedder(DIMENSION), chat=whole.language_model
    ) as other:
        with other.part("number = 3") as part, whole.part("number = 3") as same:
            last = part.settings.home_folder
            assert same.settings.home_folder == last
        whole.close()
        assert running() == [last.name], "the other one uses it"
    assert running() == []
