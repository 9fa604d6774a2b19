"""A sentence that is a statement and a triple is one fact to whoever looks at it; the graph keeps both."""

import pytest

from kgplatform.client import KnowledgeGraph
from kgplatform.search.communities import read_groups

BORN = "Ada Lovelace was born in London in 1815."
MET = "Charles Babbage met Ada Lovelace."
FOUNDED = "Babbage and Sons was founded in 1822, and Charles Babbage died in London in 1871."


@pytest.fixture(scope="module")
def lives(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    """One text; only the last test changes what it says."""
    text = tmp_path_factory.mktemp("texts") / "lives.txt"
    text.write_text(f"{BORN} {MET} {FOUNDED}", "utf-8")
    shared_kg.ingest(text, extractor="local")
    return shared_kg


def kinds(kg: KnowledgeGraph, text: str) -> set[str]:
    """The kinds of the other facts that are stated in the place of the statement ``text``."""
    statement = (
        "MATCH (:Fact {text: $text})-[at:FROM_CHUNK]->(c)<-[same:FROM_CHUNK]-(f:Fact) "
        "WHERE at.start = same.start AND at.end = same.end RETURN f.kind"
    )
    return {row[0] for row in kg.cypher(statement, {"text": text}).rows}


def test_the_graph_keeps_the_relation_and_who_looks_sees_the_sentence_once(lives: KnowledgeGraph) -> None:
    """At a node, and in a document; the relation itself, where it is looked at, shows its places."""
    assert "triple" in kinds(lives, BORN)
    assert lives.cypher("MATCH ({name: 'Ada Lovelace'})-[r:BORN_IN]->({name: 'London'}) RETURN r").rows
    (ada, *_) = lives.look.find("Ada Lovelace")
    assert [fact.text for fact in lives.look.node(ada.id).facts] == [BORN, MET]
    (document,) = lives.documents()
    facts = lives.look.document(document.id).facts
    assert [fact.text for fact in facts if fact.start == 0] == [BORN]
    (row,) = lives.cypher("MATCH (f:Fact {kind: 'triple', subject: 'Ada Lovelace'}) RETURN f.id").rows
    assert [fact.kind for fact in lives.look.node(row[0]).facts] == ["triple"]


def test_a_page_says_it_once_beside_the_relation(lives: KnowledgeGraph) -> None:
    (ada, *_) = lives.look.find("Ada Lovelace")
    profile = lives.look.profile(ada.id)
    born = next(group for group in profile.relations if group.type == "BORN_IN")
    assert [(each.node.name, each.sentence) for each in born.related] == [("London", BORN)]
    beside = {each.sentence for group in profile.relations for each in group.related}
    assert MET in {each.text for each in profile.sentences} | beside
    assert BORN not in [each.text for each in profile.sentences]
    assert [(each.title, each.passages) for each in profile.documents] == [("lives", 1)]


def test_a_community_says_it_once(lives: KnowledgeGraph) -> None:
    lives.build_tree()
    groups = read_groups(lives.store, lives.embedder, "Who was born?", None, None, None)
    texts = [fact.text for group in groups.found for fact in group.facts]
    assert texts.count(BORN) == 1
    assert not any("Lovelace born in" in text for text in texts)
    assert all(group.facts_left_out == 0 for group in groups.found), "nothing that is repeated is counted as left out"


def test_what_the_sentence_does_not_say_stays(lives: KnowledgeGraph) -> None:
    """A triple in the words of another name is no repetition."""
    renamed = "MATCH (f:Fact {kind: 'triple', subject: 'Ada Lovelace'}) SET f.subject = 'Countess of Lovelace'"
    lives.cypher(renamed, write=True)
    (row,) = lives.cypher("MATCH (e:Entity {name: 'Ada Lovelace'}) RETURN e.id").rows
    assert {fact.kind for fact in lives.look.node(row[0]).facts} == {"triple", "atomic"}
