"""Route ``community``, over a small tree that is written here as docs/reference/graph-model.md says."""

from pathlib import Path

import pytest
from statements import chain, ingest

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.ingest.graph_state import vector_options
from kgplatform.search.evidence import Evidence
from kgplatform.search.routes import COMMUNITIES, MEMBERS

TREES = ("Alder", "Birch", "Cedar")
SHIPS = ("Falcon", "Gannet", "Heron")
QUESTION = "Which trees taught others in the forest school?"


def plant(kg: KnowledgeGraph, state: str = "complete") -> None:
    """Two leaf communities, and one above them both."""
    leaves = {"trees": ("the forest school of trees", TREES), "ships": ("ships of the harbour", SHIPS)}
    texts = [text for text, _ in leaves.values()]
    vectors = kg.embedder.embed([*texts, "everything"]).tolist()
    rows = [
        {"id": each, "name": text, "vector": vector, "members": list(members)}
        for (each, (text, members)), vector in zip(leaves.items(), vectors, strict=False)
    ]
    run(
        kg,
        "MERGE (g:Graph {id: 'graph'}) SET g.treeState = $state, g.treeMethod = 'by hand' "
        "CREATE (top:Community {id: 'top', name: 'everything', summary: '', size: 6, depth: 0, embedding: $top}) "
        "WITH top UNWIND $rows AS row "
        "CREATE (c:Community {id: row.id, name: row.name, summary: row.name, size: 3, depth: 1, embedding: row.vector})"
        "-[:PARENT]->(top) "
        "WITH c, row MATCH (e:Entity) WHERE e.name IN row.members CREATE (e)-[:MEMBER_OF {score: 1.0}]->(c)",
        rows=rows,
        state=state,
        top=vectors[-1],
    )
    kg.store.define("neo4j/schema/vector_community", options=vector_options("community", 64))
    run(kg, "CALL db.awaitIndexes(60)")


def run(kg: KnowledgeGraph, statement: str, **parameters: object) -> None:
    kg.store.run_statement(statement, parameters, write=True, timeout=60, limit=1)


def test_a_question_leads_through_its_community_to_facts_and_passages(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """Also beside all other routes, unless it is left out; and through a community above others."""
    ingest(kg, tmp_path, [*chain(*TREES), *chain(*SHIPS, predicate="followed")])
    plant(kg)
    result = kg.search(QUESTION, route="community")
    assert result.communities[0].id == "trees"
    assert [each.score for each in result.communities] == sorted((c.score for c in result.communities), reverse=True)
    assert {each.text for each in result.facts} >= {"Alder taught Birch", "Birch taught Cedar"}
    assert all(each.routes == ("community",) and each.citations for each in result.facts)
    assert all(each.routes == ("community",) for each in result.passages)

    evidence = Evidence(kg.store, kg.embedder)
    routes = {route for each in evidence.search(QUESTION).result.facts for route in each.routes}
    assert "community" in routes
    without = evidence.search(QUESTION, without=("community",))
    assert "community" not in {route for each in without.result.facts for route in each.routes}
    assert "search/community" not in {each.name for each in without.queries}

    run(kg, "MATCH (c:Community) WHERE c.id <> 'top' REMOVE c.embedding")
    result = kg.search("everything", route="community")
    assert [each.id for each in result.communities] == ["top"]
    assert {each.title for each in result.passages} == {"000", "001", "002", "003"}


def test_the_communities_and_their_entities_are_bounded(kg: KnowledgeGraph, tmp_path: Path) -> None:
    ingest(kg, tmp_path, [("Alder", "taught", f"Pupil {number}") for number in range(30)])
    plant(kg)
    run(kg, "MATCH (c:Community {id: 'trees'}), (e:Entity) MERGE (e)-[:MEMBER_OF]->(c)")
    run(
        kg,
        "MATCH (c:Community {id: 'trees'}) UNWIND range(1, 20) AS n "
        "CREATE (:Community {id: 'c' + n, name: 'c', summary: '', size: 1, embedding: c.embedding})",
    )
    found = Evidence(kg.store, kg.embedder).search(QUESTION, route="community", top_k=100)
    (query,) = (each for each in found.queries if each.name == "search/community")
    assert query.rows <= COMMUNITIES * MEMBERS
    assert len(found.result.communities) <= COMMUNITIES


def test_where_there_is_no_finished_tree(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """The route says what to run; one that is being written takes no part; and one without communities has nothing."""
    ingest(kg, tmp_path, chain(*TREES))
    with pytest.raises(InputError, match="Run `kgplatform tree`"):
        kg.search(QUESTION, route="community")
    assert kg.search(QUESTION).passages

    plant(kg, state="writing")
    with pytest.raises(InputError, match="no finished knowledge tree"):
        kg.search(QUESTION, route="community")
    assert "community" not in {route for each in kg.search(QUESTION).facts for route in each.routes}

    run(kg, "MATCH (g:Graph) SET g.treeState = 'complete' WITH g MATCH (c:Community) DETACH DELETE c")
    result = kg.search(QUESTION, route="community")
    assert (result.passages, result.facts, result.communities) == ((), (), ())
