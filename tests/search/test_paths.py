"""Route ``path``: walks over facts, in both directions, and what is shown of them."""

from pathlib import Path

from statements import chain, ingest

from kgplatform.client import KnowledgeGraph
from kgplatform.neo4j.store import trace
from kgplatform.records import FoundPath
from kgplatform.search.evidence import Evidence
from kgplatform.search.question import Question
from kgplatform.search.routes import BEAM, walk
from kgplatform.search.search import HOPS

NAMES = ("Alder", "Birch", "Cedar", "Dogwood", "Elm")
LONG = (*NAMES, "Fir", "Ginkgo")


def asked(kg: KnowledgeGraph, text: str) -> Question:
    return Question(text, kg.embedder)


def start(kg: KnowledgeGraph, name: str) -> str:
    table = kg.cypher("MATCH (e:Entity {name: $name}) RETURN e.id", {"name": name})
    return str(table.rows[0][0])


def named(paths: tuple[FoundPath, ...]) -> set[tuple[str, ...]]:
    return {min(path.names, path.names[::-1]) for path in paths}


def test_five_hops_are_found_with_the_places_that_state_them_and_six_are_too_many(
    kg: KnowledgeGraph, tmp_path: Path
) -> None:
    ingest(kg, tmp_path, chain(*LONG))
    result = kg.search("Who taught whom after Alder?", route="path", top_k=50)
    whole = next(path for path in result.paths if len(path.facts) == 5)
    assert whole.predicates == ("taught",) * 5
    assert len(set(whole.forward)) == 1
    assert len({each.citations[0].document for each in whole.facts}) == 5
    assert all("path" in each.routes for each in (*result.facts, *result.passages))
    assert {each.title for each in result.passages} >= {"000", "001", "002", "003", "004"}
    assert max(len(path.facts) for path in result.paths) == 5
    assert LONG[:6] in named(result.paths)
    assert LONG not in named(result.paths)


def test_facts_lead_in_both_directions(kg: KnowledgeGraph, tmp_path: Path) -> None:
    ingest(kg, tmp_path, [("Alder", "taught", "Birch"), ("Cedar", "taught", "Birch")])
    (path,) = (each for each in kg.search("Who taught Birch like Alder?", route="path").paths if len(each.facts) == 2)
    assert path.names in (("Alder", "Birch", "Cedar"), ("Cedar", "Birch", "Alder"))
    assert path.forward == (True, False)


def test_no_entity_comes_twice_and_no_path_twice(kg: KnowledgeGraph, tmp_path: Path) -> None:
    ring = [*chain(*NAMES, "Alder"), ("Alder", "met", "Birch"), ("Cedar", "met", "Cedar")]
    ingest(kg, tmp_path, ring)
    paths = kg.search("Who met Alder?", route="path", top_k=50).paths
    assert paths
    assert all(len(set(path.entities)) == len(path.entities) == len(path.facts) + 1 for path in paths)
    walked = [frozenset(fact.id for fact in path.facts) for path in paths]
    assert len(set(walked)) == len(walked)


def test_only_entities_lead_on(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """Twenty values of Alder are nearer to the question than the one fact that leads anywhere."""
    ingest(kg, tmp_path, chain("Alder", "Birch", "Cedar"))
    kg.store.run_statement(
        "MATCH (e:Entity {name: 'Alder'})<-[:SUBJECT]-(f:Fact) UNWIND range(1, 20) AS n "
        "CREATE (v:Fact {id: 'value' + n, kind: 'attribute', text: 'x', embedding: f.embedding})-[:SUBJECT]->(e)",
        {},
        write=True,
        timeout=30,
        limit=1,
    )
    assert ("Alder", "Birch", "Cedar") in named(kg.search("Who taught Cedar?", route="path").paths)


def test_what_a_hub_leads_to_is_bounded(kg: KnowledgeGraph, tmp_path: Path) -> None:
    ingest(kg, tmp_path, [("Alder", "taught", f"Pupil {number}") for number in range(40)])
    rows: list[int] = []
    with trace(lambda run: rows.append(run.rows)):
        paths = walk(kg.store, asked(kg, "Who taught Pupil 7?"), [start(kg, "Alder")], 3)
    assert len(paths) == BEAM
    assert max(rows) <= BEAM * (BEAM + 1), "the first two hops are one statement"


def test_all_routes_walk_as_many_hops_as_they_may(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """All are near by meaning, but for where the chain begins and its far end, which only the walk reaches."""
    ingest(kg, tmp_path, chain("Alder", *(f"Tree {number}" for number in range(90))))
    walked: list[str] = []
    with trace(lambda run: walked.append(run.name)):
        result = kg.search("Whom did Alder teach?", top_k=50)
    assert walked.count("search/steps") == HOPS - 1, "the first two hops are one statement"
    assert any("path" in fact.routes for fact in result.facts)
    walked.clear()
    with trace(lambda run: walked.append(run.name)):
        Evidence(kg.store, kg.embedder).search("Whom did Alder teach?", without=("path",))
    assert "search/steps" not in walked
