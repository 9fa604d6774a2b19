"""The saved queries of ``cypher/saved``: as Neo4j Browser imports them, and each shows something of a real graph."""

from __future__ import annotations

from collections.abc import Iterator

import neo4j
import pytest
from conftest import EXAMPLES, ROOT, wipe
from graphreader_runs import walk
from readagent_runs import first_sentence, read_again
from test_cypher_files import complaints

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.query import query_names
from kgplatform.settings import load_settings
from kgplatform.testing import ScriptedChat
from kgplatform.tree import build_tree

NAMES = query_names("saved")
TABLES = {"saved/most_connected", "saved/outside_schema"}


def lines_of(name: str) -> tuple[list[str], str]:
    """The header without its slashes, and the statement."""
    source = (ROOT / "cypher" / f"{name}.cypher").read_text(encoding="utf-8")
    lines = source.splitlines()
    header = [line for line in lines if line.startswith("//")]
    assert lines[: len(header)] == header, "the header comes first, and there is no comment after it"
    assert source.endswith("\n")
    assert max(map(len, lines)) <= 120
    return [line.removeprefix("// ") for line in header], "\n".join(lines[len(header) :])


@pytest.fixture(scope="module")
def browser(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[neo4j.Session]:
    """A session on the example graph, with a tree, pages, kept runs, and a document that no schema foresees."""
    settings = load_settings(home=tmp_path_factory.mktemp("browse"), embedder="hash:64")
    with Store(neo4j_server) as store:
        wipe(store)
        graph = KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=ScriptedChat(first_sentence))
        graph.ingest(EXAMPLES / "corpus", recorded=EXAMPLES / "extraction.jsonl", mode="flexible", schema="biomedical")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(build_tree, "LARGEST", 8)  # so that there are communities inside of communities
            graph.build_tree()
        read_again(graph)
        answer = graph.ask("Who designed the ship that laid the cable of 1866?", keep=True)
        assert answer.citations
        assert walk(graph, "Who designed the ship?", "Cyrus Field", "Great Eastern", keep=True).citations
    auth = (neo4j_server.username, neo4j_server.password)
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=auth) as driver, driver.session() as session:
        yield session


@pytest.mark.parametrize("name", NAMES)
def test_the_planner_finds_nothing_wrong(browser: neo4j.Session, name: str) -> None:
    summary = browser.run(neo4j.Query(f"EXPLAIN {lines_of(name)[1]}")).consume()
    assert summary.query_type == "r"
    assert complaints(summary) == []


@pytest.mark.parametrize("name", NAMES)
def test_it_shows_something_and_the_same_each_time(browser: neo4j.Session, name: str) -> None:
    def run() -> list[list[object]]:
        return [record.values() for record in browser.run(neo4j.Query(lines_of(name)[1]))]

    rows = run()
    assert 0 < len(rows) <= 500
    assert [shown(row) for row in run()] == [shown(row) for row in rows]
    is_graph = any(isinstance(value, neo4j.graph.Path) for row in rows for value in row)
    assert is_graph == (name not in TABLES)


def test_a_walk_shows_the_passages_that_it_read_in_full(browser: neo4j.Session) -> None:
    assert any(record["read"] for record in browser.run(neo4j.Query(lines_of("saved/walk")[1])))


def shown(value: object) -> object:
    """``value`` as something that can be compared."""
    if isinstance(value, neo4j.graph.Path):
        return [node["id"] for node in value.nodes]
    return sorted(map(str, map(shown, value))) if isinstance(value, list) else value
