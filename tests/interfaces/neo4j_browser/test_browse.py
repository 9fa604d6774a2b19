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


def statement_of(name: str) -> neo4j.Query:
    """The statement below the header."""
    lines = (ROOT / "cypher" / f"{name}.cypher").read_text(encoding="utf-8").splitlines()
    header = [line for line in lines if line.startswith("//")]
    assert lines[: len(header)] == header, "the header comes first, and there is no comment after it"
    return neo4j.Query("\n".join(lines[len(header) :]))


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


def test_the_planner_finds_nothing_wrong(browser: neo4j.Session) -> None:
    for name in NAMES:
        summary = browser.run(neo4j.Query(f"EXPLAIN {statement_of(name).text}")).consume()
        assert (summary.query_type, complaints(summary)) == ("r", []), name


def test_it_shows_something_and_the_same_each_time(browser: neo4j.Session) -> None:
    for name in NAMES:
        rows, again = ([record.values() for record in browser.run(statement_of(name))] for _ in range(2))
        assert 0 < len(rows) <= 500, name
        assert [shown(row) for row in again] == [shown(row) for row in rows], name
        is_graph = any(isinstance(value, neo4j.graph.Path) for row in rows for value in row)
        assert is_graph == (name not in TABLES), name
    walked = browser.run(statement_of("saved/walk"))
    assert any(record["read"] for record in walked), "a walk shows the passages that it read in full"


def shown(value: object) -> object:
    """``value`` as something that can be compared."""
    if isinstance(value, neo4j.graph.Path):
        return [node["id"] for node in value.nodes]
    return sorted(map(str, map(shown, value))) if isinstance(value, list) else value
