"""Nodes as GraphReader walks them: names, facts by passage, neighbours, passages to read."""

from pathlib import Path

import pytest
from corpora import put, put_jsonl

from kgplatform.client import KnowledgeGraph
from kgplatform.search.evidence import Evidence, Nodes, ToRead

TEXTS = {
    "one.txt": "The Tern sailed from Whitby. The Tern carried coal.\n\nHer captain was Ruth Moss.",
    "two.txt": "Ruth Moss was born in Whitby. The town is in Yorkshire.",
}
FACTS = {
    "one.txt": [
        ("The Tern sailed from Whitby.", ["Tern", "sailed", "Whitby"]),
        ("The Tern carried coal.", ["Tern", "coal"]),
        ("Her captain was Ruth Moss.", ["captain", "Ruth Moss", "Tern"]),
    ],
    "two.txt": [("Ruth Moss was born in Whitby.", ["Ruth Moss", "Whitby"])],
}


@pytest.fixture(scope="module")
def graph(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    """Two texts with their facts; the last two tests add to it."""
    folder = tmp_path_factory.mktemp("facts")
    lines = [
        {"document": name, "facts": [{"text": text, "key_elements": keys, "quote": text} for text, keys in facts]}
        for name, facts in FACTS.items()
    ]
    lines[0]["entities"] = [{"name": "Whitby", "type": "Place"}]
    lines.append(
        {
            "document": "two.txt",
            "entities": [{"name": "Whitby", "type": "Place"}, {"name": "Yorkshire", "type": "Place"}],
            "triples": [{"subject": "Whitby", "predicate": "located_in", "object": "Yorkshire"}],
        }
    )
    recording = put_jsonl(folder / "facts.jsonl", lines)
    shared_kg.ingest(put(folder / "texts", TEXTS), extractor="recorded", recorded=recording)
    return shared_kg


@pytest.fixture
def nodes(graph: KnowledgeGraph) -> Nodes:
    return Evidence(graph.store, graph.embedder).nodes("Who was the captain of the Tern?")


def test_the_facts_of_a_node_come_by_passage_in_reading_order(nodes: Nodes) -> None:
    found = nodes.facts("Ruth Moss", 10)
    assert [(group.passage.title, [text for _, text, *_ in group.facts]) for group in found.groups] == [
        ("one", ["Her captain was Ruth Moss."]),
        ("two", ["Ruth Moss was born in Whitby."]),
    ]
    assert (found.passages, found.facts, len(found.elements)) == (2, 2, 1)
    assert [run.rows for run in found.queries] == [2]


def test_triples_count_where_a_passage_has_no_atomic_fact(nodes: Nodes) -> None:
    assert [text for group in nodes.facts("Yorkshire", 10).groups for _, text, *_ in group.facts] == [
        "Whitby located in Yorkshire"
    ]
    assert [text for group in nodes.facts("Whitby", 10).groups for _, text, *_ in group.facts] == [
        "The Tern sailed from Whitby.",
        "Ruth Moss was born in Whitby.",
    ]


def test_of_many_passages_the_nearest_to_the_question_are_shown_and_all_are_counted(graph: KnowledgeGraph) -> None:
    evidence = Evidence(graph.store, graph.embedder)
    for question, title in (("Her captain was Ruth Moss", "one"), ("Ruth Moss was born in Whitby", "two")):
        found = evidence.nodes(question).facts("Ruth Moss", 1)
        assert ([group.passage.title for group in found.groups], found.passages, found.facts) == ([title], 2, 2)


def test_neighbours_share_a_fact_and_are_symmetric(nodes: Nodes) -> None:
    neighbours = {name: set(nodes.neighbours(name, 100).names) for page in nodes.pages() for name in page.names}
    assert neighbours["Tern"] == {"sailed", "Whitby", "coal", "captain", "Ruth Moss"}
    assert neighbours["Yorkshire"] == {"Whitby"}
    assert all(name in neighbours[other] for name, others in neighbours.items() for other in others)
    assert all(name not in others for name, others in neighbours.items())
    first = nodes.neighbours("Tern", 2)
    assert (first.names, first.total) == (nodes.neighbours("Tern", 100).names[:2], 5), "the best, and all are counted"


def test_a_form_of_a_node_is_no_node_and_its_facts_are_the_node_s(graph: KnowledgeGraph, nodes: Nodes) -> None:
    graph.cypher(
        "MATCH (a:KeyElement {name: 'captain'}), (b:KeyElement {name: 'Ruth Moss'}) CREATE (a)-[:FORM_OF]->(b)",
        write=True,
    )
    assert "captain" not in [name for page in nodes.pages() for name in page.names]
    assert nodes.facts("captain", 10).groups == ()
    assert len(nodes.facts("Ruth Moss", 10).elements) == 2
    assert set(nodes.neighbours("Tern", 100).names) == {"sailed", "Whitby", "coal", "Ruth Moss"}
    assert set(nodes.neighbours("Ruth Moss", 100).names) == {"Tern", "Whitby"}


def test_a_passage_is_read_in_full_and_knows_its_place(graph: KnowledgeGraph, tmp_path: Path) -> None:
    long = "\n\n".join(f"Paragraph {n} says that the number is {n}. " + "It goes on and on. " * 60 for n in range(3))
    graph.ingest(put(tmp_path / "long", {"long.txt": long}), extractor="local")
    nodes = Evidence(graph.store, graph.embedder).nodes("Which number?")
    ids = [
        row[0] for row in graph.cypher("MATCH (c:Chunk)-->(:Document {name: 'long'}) RETURN c.id ORDER BY c.index").rows
    ]
    assert len(ids) > 2
    first, second, last = nodes.to_read(ids[0], 1), nodes.to_read(ids[1], 1), nodes.to_read(ids[-1], 1)
    assert (around(first), around(second)) == (([], [ids[1]]), ([ids[0]], [ids[2]])), "one each, however few characters"
    assert around(last) == ([ids[-2]], [])
    assert first.passage is not None
    assert first.passage.text.startswith("Paragraph 0")
    assert around(nodes.to_read(ids[1], 1_000_000)) == (ids[:1], ids[2:]), "as far as the characters reach"
    assert [each.text for each in nodes.to_read(ids[1], 1).before] == [first.passage.text]
    evidence = Evidence(graph.store, graph.embedder)
    order = [each.id for passages, _ in evidence.in_reading_order() for each in passages]
    assert [each.id for passages, _ in evidence.in_reading_order(1) for each in passages] == order
    assert order[: len(ids)] == ids
    assert len(order) == len(ids) + 2


def around(read: ToRead) -> tuple[list[str], list[str]]:
    """The ids of the passages before and after, in the order of the text."""
    return [each.id for each in read.before], [each.id for each in read.after]
