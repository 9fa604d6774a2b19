"""The reader ``cypher`` shows a model no row whose facts stand in the words of no passage, and cites no such place."""

from dataclasses import replace

import pytest
from corpora import put, put_jsonl
from cypher_runs import asked, cited_words, said, statement

from kgplatform.client import KnowledgeGraph
from kgplatform.readers.answer import REFUSAL

ADA = "Ada Lovelace"
PLACES = "MATCH (a:Person {name: $name})-[r]->(b:Place) "
BORN = "MATCH path = (a:Person {name: $name})-[r:BORN_IN]->(b:Place) "
VALUES = "MATCH (a:Person {name: $name})-[:HAS_ATTRIBUTE]->(v:Attribute) "
FACTS = "MATCH (:Person {name: $name})<-[:SUBJECT]-(f:Fact {predicate: 'born_in'}) "


@pytest.fixture(scope="module")
def half(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    """Of Ada Lovelace the text says where she lived, and neither where nor when she was born."""
    home = tmp_path_factory.mktemp("half")
    entities = [{"name": ADA, "type": "Person"}, *({"name": each, "type": "Place"} for each in ("London", "Paris"))]
    lived, born = (
        {"subject": ADA, "predicate": said, "object": place}
        for said, place in (("lived_in", "London"), ("born_in", "Paris"))
    )
    lines = [
        {"document": "a.txt", "entities": entities, "triples": [lived]},
        {
            "document": "b.txt",
            "entities": entities,
            "triples": [lived, born],
            "attributes": [{"entity": ADA, "key": "birth date", "value": "1815"}],
        },
    ]
    texts = {"a.txt": "The house has a garden.", "b.txt": "Ada Lovelace lived in London, near the river."}
    report = shared_kg.ingest(put(home, texts), recorded=put_jsonl(home / "r.jsonl", lines))
    assert (report.statements_found, report.statements_not_found) == (1, 3)
    return shared_kg


@pytest.mark.parametrize(
    "text",
    [
        f"{BORN}RETURN b.name AS place, r.fact AS sources",
        f"{BORN}RETURN [n IN nodes(path) | n.name] AS names",
        f"{BORN}RETURN count(r) AS number, collect(r.fact) AS sources",
        "MATCH path = (:Place)<-[:BORN_IN]-(:Person {name: $name})-[:LIVED_IN]->(:Place) RETURN path",
        f"{VALUES}RETURN v.value AS value",
        f"{FACTS}RETURN {{said: f.text, id: f.id}} AS fact",
    ],
)
def test_a_row_whose_only_facts_were_not_found_is_left_out(half: KnowledgeGraph, text: str) -> None:
    done, _ = asked(half, statement(text, name=ADA), question="What is known of Ada Lovelace?")
    assert (done.text, done.counts) == (REFUSAL, {"unfound.row": 1})
    assert (done.evidence.facts, done.evidence.passages) == ((), ())
    assert done.note.startswith("No passage has the words of what was found. ")


@pytest.mark.parametrize(
    ("returns", "counts"),
    [
        ("b.name AS place", {"unfound.row": 1}),
        ("a.name AS who, collect({to: b.name, source: r.fact}) AS places", {"unfound.value": 1}),
    ],
)
def test_what_was_not_found_stays_out_of_the_prompt(half: KnowledgeGraph, returns: str, counts: dict[str, int]) -> None:
    text = f"{PLACES}RETURN {returns} ORDER BY {'who' if 'who' in returns else 'b.name'}"
    done, chat = asked(
        half, statement(text, name=ADA), said("Ada Lovelace lived in London [1]."), question="What of Ada Lovelace?"
    )
    shown = chat.calls[1].messages[1]["content"]
    assert ("Paris" in shown, "born in" in shown) == (False, False)
    assert done.counts == counts
    assert [fact.text for fact in done.evidence.facts] == ["Ada Lovelace lived in London"]
    assert cited_words(half, done) == ["Ada Lovelace lived in London, near the river."]


def test_texts_of_facts_are_known_by_the_ids_beside_them(half: KnowledgeGraph) -> None:
    text = "MATCH (f:Fact) RETURN collect(f.text) AS facts, collect(f.id) AS sources"
    done, chat = asked(half, statement(text), said("She lived in London [1]."))
    assert '\nfacts\n[1.1] ["Ada Lovelace lived in London"]' in chat.calls[1].messages[1]["content"]
    assert done.counts == {"unfound.value": 2}


def test_only_places_that_were_found_are_cited(half: KnowledgeGraph) -> None:
    """Not the place in the document before it, which is of the same fact."""
    done, _ = asked(half, statement(f"{PLACES}RETURN b.name, r.fact", name=ADA), said("It was London [1]."))
    places = done.evidence.facts[0].citations
    assert [place.found for place in places] == [False, True]
    assert [replace(each, text="") for each in done.citations] == list(places[1:])


def test_what_a_number_counts_cannot_be_told(half: KnowledgeGraph) -> None:
    done, _ = asked(half, statement(f"{PLACES}RETURN count(r) AS number", name=ADA), said("There are 2 [1]."))
    assert (done.text, done.counts, done.citations) == ("There are 2.", {}, ())
