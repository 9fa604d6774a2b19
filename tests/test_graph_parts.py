"""A part of a graph answers on every route, and by every reader, as a graph of its documents alone."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from command_line import Run
from conftest import DIMENSION, settings_at, wipe
from event_loops import in_own_thread
from graph_state import snapshot
from mcp import Client
from mcp_talk import content, talk
from read_sentences import SentenceReader, corpus
from simulated_readers import reply
from teams import quick_servers_of
from web_server import client_of

from kgplatform.aio import AsyncKnowledgeGraph
from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.threads import Stop
from kgplatform.errors import InputError, StoppedError
from kgplatform.evaluate.graphs import Graphs
from kgplatform.evaluate.terms import DataSet, Text
from kgplatform.interfaces.mcp.app import make_server
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Connection, Store
from kgplatform.parts import stop_parts
from kgplatform.readers.readers import READERS
from kgplatform.search.search import SEARCHES
from kgplatform.settings import Settings
from kgplatform.shown import encode
from kgplatform.testing import OpenAIServer, ScriptedChat

pytestmark = pytest.mark.killed
pytest_plugins = ["command_line"]
QUESTIONS = ("Who founded the Acme Works?", "Where is Mercury moored?", "What is the motto of Ada Lovelace?")


@pytest.fixture(scope="module")
def whole(
    neo4j_server: Connection, quick_java: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeGraph]:
    """A graph of eight documents, with a tree, for all tests here: a part of it that one has made others find."""
    with quick_servers_of(quick_java), OpenAIServer(reply) as server:
        home = tmp_path_factory.mktemp("whole")
        with opened(neo4j_server, settings_at(neo4j_server, home, openai_base_url=server.base_url)) as graph:
            build(graph, range(8))
            yield graph


def opened(connection: Connection, settings: Settings, **chat: Any) -> KnowledgeGraph:
    """One more of the same graph, as another process has it."""
    return KnowledgeGraph(Store(connection), settings, embedder=HashEmbedder(DIMENSION), **chat)


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
    # Without examples: any node may be one, and some of what it has is a clock's.
    found["schema"] = [line for line in graph.schema_text().splitlines() if not line.startswith("Properties")]
    found["highlights"] = graph.look.highlights(20)
    found["map"] = graph.look.map()
    found["questions"] = graph.look.questions(20)
    found["tree"] = top = graph.look.tree()
    found["below"] = [graph.look.tree(each.id) for each in top], graph.look.communities()
    for entity in graph.look.map().ids:
        found[f"entity {entity}"] = graph.look.profile(entity), graph.look.neighbours(entity)
    found["ways"] = [graph.look.ways(*found["map"].ids[at : at + 2]) for at in range(5)]
    found["documents"] = [graph.look.document(each.id) for each in graph.documents()]
    found["stats"] = graph.stats().nodes, graph.stats().relationships
    return found


def running(settings: Settings) -> list[str]:
    """The names of the parts that have a server now."""
    homes = sorted(settings.parts_folder.iterdir())
    servers = [LocalNeo4j(settings.model_copy(update={"home": home})) for home in homes]
    return [home.name for home, server in zip(homes, servers, strict=True) if server.status().running]


def test_servers_run_only_while_they_are_used(whole: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgplatform.parts.MOST_OPEN", 1)
    connection, settings = whole.store.connection, whole.settings
    with opened(connection, settings) as one, opened(connection, settings) as other:
        for number in (0, 1):
            with one.part(f"number = {number}") as part:
                assert part.settings.home_folder.name in running(settings)
        assert len(running(settings)) == 1
        with other.part("number = 1") as part, one.part("number = 1") as same:
            last = part.settings.home_folder
            assert same.settings.home_folder == last
        one.close()
        assert running(settings) == [last.name], "the other one uses it"
    assert running(settings) == []


HOLD = """
import sys
import kgplatform
with kgplatform.connect() as kg, kg.part("number = 1"):
    print("open", flush=True)
    sys.stdin.read()
"""


def test_down_stops_those_that_a_killed_process_left(
    whole: KnowledgeGraph, run: Run, at_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = whole.settings
    monkeypatch.setenv("KGPLATFORM_HOME", str(settings.home_folder))
    monkeypatch.setenv("OPENAI_BASE_URL", settings.openai_base_url or "")

    async def titles() -> list[str]:
        async with AsyncKnowledgeGraph(whole).part("number = 0") as part:
            return [info.title for info in await part.documents()]

    assert in_own_thread(lambda: anyio.run(titles)) == ["Note 0"]
    (used,) = running(settings)
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLD], stdin=pipe, stdout=pipe, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "open\n"
        assert not stop_parts(settings, print)
        assert len(running(settings)) == 2
        child.kill()
    assert run("down").out == "Neo4j is stopped.\n"
    assert running(settings) == [used]
    assert run("down").out == "Neo4j was not running.\n"


def test_one_whose_making_ends_early_leaves_nothing_but_its_lock(whole: KnowledgeGraph) -> None:
    stop = Stop()

    def at_once(stage: str, done: int, total: int) -> None:
        stop.set()

    with pytest.raises(StoppedError), whole.within(stop).part("number = 7", progress=at_once):
        pass
    unmade = [each for each in whole.settings.parts_folder.iterdir() if not (each / "made").exists()]
    assert [sorted(file.name for file in each.iterdir()) for each in unmade] == [["lock"]]


def test_its_models_are_those_of_whoever_asks(whole: KnowledgeGraph) -> None:
    """Who stops takes them from nobody else, and each piece of work counts what it spends."""
    stop, work = Stop(), whole.within()
    assert whole.within(stop).ask(QUESTIONS[0], "global", where="number = 1").text
    stop.set()
    answer = work.ask(QUESTIONS[1], "global", where="number = 1")
    assert answer.usage.calls and work.ledger.total == answer.usage


def test_requests_and_commands_are_about_it(whole: KnowledgeGraph, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGPLATFORM_HOME", str(whole.settings.home_folder))
    monkeypatch.setenv("OPENAI_BASE_URL", whole.settings.openai_base_url or "")
    with whole.part("half") as part, client_of(whole) as client:
        ids = part.look.map().ids
        for path, alone in (
            ("graph/map", part.look.map()),
            ("tree", {"nodes": part.look.tree()}),
            (f"graph/profile/{ids[0]}", part.look.profile(ids[0])),
            ("questions", {"questions": part.look.questions()}),
            ("stats", part.stats()),
            ("document-page", part.look.document_page()),
        ):
            for where in (['{"half": true}', "number < 7"], '[{"half": true}, "number < 7"]'):
                answer = client.get(f"/api/{path}", params={"where": where})
                assert answer.json() == json.loads(encode(alone)), path
        others = next(each for each in whole.look.map().ids if each not in ids)
        assert client.get(f"/api/graph/nodes/{others}").status_code == 200
        assert client.get(f"/api/graph/nodes/{others}", params={"where": "half"}).status_code == 404
        for where in ("half and number = 1", "hlaf", "number <", "5", "[" * 3000):
            assert client.get("/api/tree", params={"where": where}).status_code == 400, where
        assert client.get("/api/tree", params={"where": ""}).json() == client.get("/api/tree").json()
        count = {"statement": "MATCH (d:Document) RETURN count(d)"}
        assert client.post("/api/cypher", params={"where": "half"}, json=count).json()["rows"] == [[4]]

        async def tools(client: Client) -> list[dict[str, Any]]:
            looked = await client.call_tool("look", {"where": "half"})
            return [content(looked), content(await client.call_tool("cypher", count | {"where": {"half": True}}))]

        looked, counted = talk(make_server(whole), tools)
        assert (looked["documents_in_all"], counted["rows"]) == (4, [[4]])
    shown = run("documents", "--where", "half", "--json")
    assert [each["title"] for each in shown.document["documents"]] == [f"Note {each}" for each in range(0, 8, 2)]
    assert "leave out --write or --where" in run("cypher", "RETURN 1", "--write", "--where", "half").err
    with Graphs(whole.settings, embedder=whole.embedder, chat=whole.language_model, where="half") as graphs:
        assert len(graphs.for_data_set(DataSet("asked", ())).documents()) == 4
        with pytest.raises(InputError, match="has its own texts"):
            graphs.for_data_set(DataSet("told", (), (Text("A", "Ada sang."),)))


def test_it_is_kept_until_what_it_is_made_of_changes(whole: KnowledgeGraph) -> None:
    texts = corpus(random.Random(48), 8)
    with whole.part("number = 1") as part:
        first = part.settings.home_folder
        made = (first / "made").stat().st_mtime_ns
    with whole.part(["number = 1 and number < 5"]) as again:
        assert again.settings.home_folder == first, "the same documents"
        assert (first / "made").stat().st_mtime_ns == made, "it was open"
    whole.ingest(replace(texts[1], text=texts[1].text + " " + texts[5].text), extractor=SentenceReader())
    with whole.part("number = 1") as part:
        assert part.settings.home_folder != first
        assert [each.title for each in part.documents()] == ["Note 1"]
    with whole.part("number = 0") as part:
        only = part.settings.home_folder
    whole.remove("note-1")
    with whole.part("number < 2") as part:
        assert part.settings.home_folder == only, "nothing else is left of it"
    whole.remove("note-0")
    with pytest.raises(InputError, match="No document fits"), whole.part("number < 2"):
        pass


@pytest.fixture
def one_by_one(whole: KnowledgeGraph) -> Iterator[KnowledgeGraph]:
    """The same graph with a model whose calls are traced in the order in which they were made."""
    chat = ScriptedChat(lambda messages: reply(messages))
    with opened(whole.store.connection, whole.settings, chat=chat) as graph:
        build(graph, range(8))
        yield graph


def test_it_answers_as_a_graph_of_its_documents(one_by_one: KnowledgeGraph, tmp_path: Path) -> None:
    whole = one_by_one
    with whole.part("half") as part:
        assert part.database_id() != whole.database_id()
        answers, state = told(part), snapshot(part.store)
        by_path = part.ask(QUESTIONS[0], "retrieve", route="path").text
        part.export(tmp_path / "part.graphml")
        whole.export(tmp_path / "half.graphml", where="half")
        assert (tmp_path / "half.graphml").read_bytes() == (tmp_path / "part.graphml").read_bytes()
        assert whole.ask(QUESTIONS[0], "retrieve", where="half", route="path").text == by_path
    through = whole.search(QUESTIONS[0], "community", where="half"), whole.ask(QUESTIONS[0], "global", where="half")
    assert not whole.search(QUESTIONS[0], "entity", where="half and number = 1").passages
    with pytest.raises(InputError, match="No document fits this condition"):
        whole.export(tmp_path / "none.jsonl", where="half and number = 1")
    build(whole, range(0, 8, 2))
    alone = told(whole)
    for name, answer in alone.items():
        assert answers[name] == answer, name
    assert state == snapshot(whole.store)
    assert replace(through[0], seconds=0) == alone[f"community: {QUESTIONS[0]}"]
    assert through[1].text == alone["reader global"][0]
