"""Another graph beside the documents: rows are found, cited, joined, corrected, refreshed and forgotten; theirs stays.

Theirs and ours are in the run's one database here, which the product refuses: its labels end so that none is ours.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Run
from conftest import DIMENSION, wipe
from example_graphs import dumped, movies, run
from graph_state import snapshot

from kgplatform import InputError, KnowledgeGraph, Text
from kgplatform.adopt.mapping import read_mapping, terms_of
from kgplatform.adopt.rows import AdoptedRows, RowExtractor
from kgplatform.extract.schema import load_schema
from kgplatform.ingest.window import Reading
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import load_settings
from kgplatform.sources.cut import cut_document

pytest_plugins = ["command_line"]
THEIRS = "Row"
LETTER = Text("Tom Hanks wrote to Helen Hunt about a delivery of chai.", "Letter", id="letter")


@pytest.fixture
def beside(store: Store, neo4j_server: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeGraph:
    """An empty graph, and Movies as theirs."""
    monkeypatch.setattr("kgplatform.adopt.adopt.check_apart", lambda theirs, ours: None)
    movies(store, THEIRS)
    theirs = {"adopt_uri": neo4j_server.uri, "adopt_password": neo4j_server.password}
    settings = load_settings(home=tmp_path / "home", embedder=f"hash:{DIMENSION}", **theirs)
    return KnowledgeGraph(store, settings, embedder=HashEmbedder(DIMENSION))


@pytest.fixture(autouse=True, scope="module")
def theirs_go(neo4j_server: Connection) -> Iterator[None]:
    """Others have the database afterwards, without constraints."""
    yield
    shown = "SHOW CONSTRAINTS YIELD name, labelsOrTypes WHERE labelsOrTypes[0] ENDS WITH 'Row' RETURN name"
    with Store(neo4j_server) as store, store.lend_driver("the tests") as driver:
        wipe(store)
        for (name,) in run(store, shown):
            driver.execute_query(f"DROP CONSTRAINT {name}")


def mapping(graph: KnowledgeGraph) -> Path:
    """What is proposed, with types that are not their labels."""
    Path("map.yaml").write_text(re.sub(r"type: (\w+)Row", r"type: \1", graph.adopt.propose()), "utf-8")
    return Path("map.yaml")


def test_rows_take_part_and_go_again(beside: KnowledgeGraph) -> None:
    file = mapping(beside)
    beside.ingest(LETTER, extractor="local")
    theirs, before = dumped(beside.store, THEIRS), snapshot(beside.store)
    report = beside.adopt.ingest(file)
    assert (report.added, report.statements_not_found, report.off_schema) == (17, 0, 0)

    found = beside.search("Who acted in Cast Away?")
    assert found.passages[0].location == "MATCH (n:MovieRow {title: 'Cast Away'}) RETURN n"
    assert run(beside.store, found.passages[0].location)[0][0]["properties"]["title"] == "Cast Away"
    fact = next(each for each in found.facts if each.text == "Tom Hanks acted in movie Cast Away")
    document = beside.look.document(fact.citations[0].document)
    assert "acted in Cast Away, roles Chuck Noland." in str(document)
    only = beside.search("Which film is it?", where='adopted = "MovieRow" and released < 1996')
    assert {each.title for each in only.passages} == {"Apollo 13 (movie row)"}

    hanks = "MATCH (:Person {name: 'Tom Hanks'})-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d) RETURN d.name"
    assert {name for (name,) in run(beside.store, hanks)} == {"Letter", "Tom Hanks (person row)"}
    made = beside.correct.merge("Lana Wachowski (Person)", "Halle Berry (Person)")
    assert made.passages and not beside.adopt.refresh().changed
    assert dumped(beside.store, THEIRS) == theirs

    run(beside.store, "MATCH (m:MovieRow {title: 'Cast Away'}) SET m.released = 2001")
    run(beside.store, "MATCH (p:PersonRow {name: 'Kevin Bacon'}) DETACH DELETE p")
    run(
        beside.store,
        "CREATE (:PersonRow {born: 1900}) WITH * UNWIND [1, 2] AS n CREATE (:PersonRow {name: 'Meg Ryan'})",
    )
    theirs, report = dumped(beside.store, THEIRS), beside.adopt.refresh()
    assert (report.added, report.changed, report.removed, report.unchanged) == (1, 1, 1, 15)
    assert [note.split(", ")[0] for note in report.notes] == [
        "Left out: 1 node without a name or an id that is a text or a number.",
        "Left out: 1 node with the id of another",
    ]

    beside.correct.undo(made.id)
    assert beside.adopt.forget() == 17
    assert beside.adopt.mapping is None
    assert dumped(beside.store, THEIRS) == theirs
    now = snapshot(beside.store)
    ours = [
        ({k: v for k, v in nodes.items() if THEIRS not in k}, [e for e in edges if e[0]])
        for nodes, edges in (before, now)
    ]
    assert ours[0] == ours[1]


def test_the_command_line(beside: KnowledgeGraph, run: Run, neo4j_server: Connection, monkeypatch: Any) -> None:
    monkeypatch.setenv("KGPLATFORM_ADOPT_PASSWORD", "wrong")
    refused = run("adopt", "--from", neo4j_server.uri)
    assert refused.code and "KGPLATFORM_ADOPT_PASSWORD" in refused.err
    monkeypatch.setenv("KGPLATFORM_ADOPT_PASSWORD", neo4j_server.password)
    assert 'tagline: "{name}: tagline {tagline}."  # string' in run("adopt", "--from", neo4j_server.uri).out
    assert "is there already" in run("adopt", "--from", neo4j_server.uri).err
    assert f"The password would be sent to {neo4j_server.uri}" in run("adopt", "adopt.yaml").err
    monkeypatch.setenv("KGPLATFORM_ADOPT_URI", neo4j_server.uri)
    Path("adopt.yaml").write_text(Path("adopt.yaml").read_text().replace("id: title", "id: titel"))
    line = Path("adopt.yaml").read_text().split("\n").index("    id: titel  # unique by a constraint") + 1
    assert (
        f"adopt.yaml, line {line}: The graph has no property 'titel'. Did you mean title?"
        in run("adopt", "adopt.yaml").err
    )
    assert run("adopt", mapping(beside), "--json").document["added"] == 17
    assert run("adopt", "--refresh", "--json").document["unchanged"] == 17
    assert "MATCH (n:MovieRow {title: 'Cast Away'}) RETURN n" in run("search", "Cast Away").out
    assert run("adopt", "--forget", "--json").document == {"removed": 17}
    assert "No graph is adopted" in run("adopt", "--refresh").err
    assert run("adopt", "--refresh", "--forget").code == 2


def test_one_database_is_refused(kg: KnowledgeGraph, neo4j_server: Connection) -> None:
    kg.settings = replace_password(kg, neo4j_server)
    with pytest.raises(InputError, match="Unset NEO4J_URI"):
        kg.adopt.propose(neo4j_server.uri)


def replace_password(kg: KnowledgeGraph, connection: Connection) -> Any:
    return load_settings(home=kg.settings.home, embedder=kg.settings.embedder, adopt_password=connection.password)


FILE = """\
from: bolt://localhost
nodes:
  City:
    id: code
    name: "{name}"
    sentences:
      founded: "{name} was founded in {founded}[ by {founder}]."
  State:
    id: code
    name: "{name}"
relationships:
  (City)-[:IN]->(State): "{a.name} is in {b.name}."
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('    id: code\n    name: "{name}"\n    sent', '    name: "{name}"\n    sent', 3, "The label City lacks id."),
        ("{founded}[", "{found}[", 7, "The sentence of founded lacks {founded}."),
        ("id: code", "id: cod", 4, "The graph has no property 'cod'. Did you mean code?"),
        ("City:", "Citty:", 3, "The graph has no label 'Citty'. Did you mean City?"),
        (
            "(State):",
            "(Sate):",
            12,
            "The label Sate of (City)-[:IN]->(Sate) is not among the nodes. Did you mean State?",
        ),
        ("[:IN]", "[IN]", 12, "'(City)-[IN]->(State)' is no path: write it as (Label)-[:TYPE]->(Label)."),
        ("in {b.name}", "in it", 12, "The sentence of (City)-[:IN]->(State) lacks {b.name}."),
        (
            "    id",
            "    type: Page\n    id",
            4,
            "The type 'Page' is one of kgplatform itself: give the label another type.",
        ),
        ("nodes:", "node:", 1, "The mapping lacks nodes."),
        ("nodes:", "nodes: [", 4, "not valid YAML"),
    ],
)
def test_each_fault_has_its_line(old: str, new: str, line: int, said: str) -> None:
    properties = {"code", "name", "founded", "founder"}
    known = {"label": {"City", "State"}, "relationship type": {"IN"}, "property": properties}
    with pytest.raises(InputError) as refused:
        read_mapping(FILE.replace(old, new, 1), "map.yaml", known)
    assert f"map.yaml, line {line}: {said}" in str(refused.value)


def test_each_fact_stands_in_its_sentence_and_names_mean_what_they_are() -> None:
    read = read_mapping(FILE, "map.yaml")
    terms = terms_of(read, load_schema("general"))
    rows = AdoptedRows(None, None, read, terms)  # type: ignore[arg-type]  # none is read from
    values = ["NY", "New York", 1624, "the\nDutch {name}"]
    document = rows._document({"label": "City", "values": values, "related": [["IN", [], "State", ["New York"]]]})
    assert document and document.text.split("\n")[1:] == [
        "New York was founded in 1624 by the Dutch {name}.",
        "New York is in New York.",
    ]
    (passage,) = cut_document(document, 400)
    said = Reading(RowExtractor(), terms.schema, "flexible").read(passage, document, terms.schema).rows
    (triple,), (attribute,) = said.triples.values(), said.attributes.values()
    ends = [said.entities[triple[end]]["type"] for end in ("subjectId", "objectId")]
    assert ends == [terms.types["City"], "State"]
    for row in (triple, attribute):
        assert row["found"] and row["inSchema"]
        assert document.text[row["start"] : row["end"]] in document.text.split("\n")
    without = rows._document({"label": "City", "values": [7, "Rome", None, None], "related": []})
    assert without and without.text == "City: Rome."
    assert without.locations[0].label == "MATCH (n:City {code: 7}) RETURN n"
    long = rows._document({"label": "City", "values": [8, "Rome", "in many words " * 400, None], "related": []})
    assert long and replace(long, text="") == replace(long, text="")
    assert {each.location for each in cut_document(long, 400)} == {"MATCH (n:City {code: 8}) RETURN n"}
