"""What a person sees of the graph: of the example graph with tree, pages and runs, and of graphs made to break it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import EXAMPLES, emptied
from graphreader_runs import walk
from readagent_runs import first_sentence, read_again
from written_pages import run

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.explore.info import FactAt, MapFilter, Subgraph
from kgplatform.explore.look import KINDS, Look
from kgplatform.ingest.graph_state import define_keys
from kgplatform.neo4j.store import Connection, Store
from kgplatform.records import Citation
from kgplatform.testing import ScriptedChat
from kgplatform.text import normalise_name
from kgplatform.tree import build_tree

QUESTION = "Who designed the ship that laid the cable of 1866?"


@pytest.fixture(scope="module")
def graph(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """The example graph, with a tree of communities inside of communities, pages, and two kept runs. Read only."""
    with emptied(neo4j_server, tmp_path_factory.mktemp("look"), chat=ScriptedChat(first_sentence)) as graph:
        graph.ingest(EXAMPLES / "corpus", recorded=EXAMPLES / "extraction.jsonl")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(build_tree, "LARGEST", 8)
            graph.build_tree()
        read_again(graph)
        graph.ask(QUESTION, keep=True)
        walk(graph, QUESTION, "Cyrus Field", keep=True)
        yield graph


@pytest.fixture
def look(graph: KnowledgeGraph) -> Look:
    return Look(graph.store)


def one(graph: KnowledgeGraph, statement: str) -> str:
    """The one value that ``statement`` returns."""
    return str(graph.cypher(statement).rows[0][0])


def ids(graph: KnowledgeGraph, statement: str) -> list[str]:
    return [str(row[0]) for row in graph.cypher(statement).rows]


FIELD = "MATCH (e:Entity {name: 'Cyrus Field'}) RETURN e.id"


@pytest.mark.parametrize("text", ["Cyrus Field", "  CYRUS \n FIELD ", "cyrus f", "field cyr"])
def test_an_entity_is_found_by_its_name_and_parts_of_it(look: Look, text: str) -> None:
    first = look.find(text)[0]
    assert (first.name, first.kind, first.type) == ("Cyrus Field", "Entity", "Person")


def test_documents_communities_and_key_elements_are_found(graph: KnowledgeGraph, look: Look) -> None:
    for kind in ("Document", "Community"):
        for name in ids(graph, f"MATCH (n:{kind}) RETURN DISTINCT n.name ORDER BY n.name LIMIT 5"):
            assert (name, kind) in {(node.name, node.kind) for node in look.find(name)}
    plain = one(
        graph, "MATCH (k:KeyElement) WHERE NOT k:Entity RETURN k.name ORDER BY size(k.name) DESC, k.name LIMIT 1"
    )
    assert plain in {node.name for node in look.find(plain[:-1]) if node.kind == "KeyElement"}


def test_what_is_found_is_bounded_and_comes_in_the_same_order(look: Look) -> None:
    every = look.find("c", 50)
    assert len(every) > 5
    assert look.find("c", 5) == look.find("c", 5)
    assert len(look.find("c", 5)) == 5
    with pytest.raises(InputError, match="limit of 0"):
        look.find("c", 0)


def test_what_nothing_is_called_finds_nothing_or_what_shares_a_word_and_a_search_has_no_syntax(
    graph: KnowledgeGraph, look: Look
) -> None:
    before = graph.stats().nodes
    for text in (" \t", "\x00", '"', "`", "'; MATCH (n) DETACH DELETE n", "🚢" * 9, "name:*", "[a TO z]", "\\", "/.*/"):
        found = look.find(text)
        assert all(node.name != text for node in found)
        assert len(found) <= 20
    assert len(look.find("a" * 10_000)) <= 20
    assert graph.stats().nodes == before


def is_whole(found: Subgraph) -> bool:
    """Whether nodes come once, and edges once and between nodes that are there."""
    nodes = [node.id for node in found.nodes]
    edges = [edge.id for edge in found.edges]
    joined = {end for edge in found.edges for end in (edge.source, edge.target)}
    return len(set(nodes)) == len(nodes) and len(set(edges)) == len(edges) and joined <= set(nodes)


def test_an_entity_sees_what_it_is_joined_with(graph: KnowledgeGraph, look: Look) -> None:
    found = look.neighbours(one(graph, FIELD), limit=200)
    assert is_whole(found)
    assert found.nodes[0].name == "Cyrus Field"
    assert found.more == 0
    assert {"Entity", "Attribute", "Chunk", "Community"} <= {node.kind for node in found.nodes}
    known = set(ids(graph, "MATCH (:Entity {name: 'Cyrus Field'})-[r]-(o:Entity) RETURN o.name"))
    assert known <= {node.name for node in found.nodes if node.kind == "Entity"}
    relations = [edge for edge in found.edges if edge.type == "FOUNDED"]
    assert relations
    assert all(edge.label == "founded" and edge.fact for edge in relations)
    kinds = [node.kind for node in look.neighbours(one(graph, FIELD), limit=12).nodes[1:]]
    assert (len(kinds), "Chunk" in kinds) == (12, True), "many of one kind leave room for others"
    assert kinds.count("Entity") > 4


def test_the_strongest_neighbours_come_first(graph: KnowledgeGraph, look: Look) -> None:
    field = one(graph, FIELD)
    order = ids(
        graph,
        "MATCH (:Entity {name: 'Cyrus Field'})<-[:SUBJECT|OBJECT]-(f:Fact)-[:SUBJECT|OBJECT]->(o:Entity) "
        "WHERE o.name <> 'Cyrus Field' WITH o, sum(COUNT { (f)-[:FROM_CHUNK]->() }) AS places "
        "RETURN o.id ORDER BY places DESC, o.name LIMIT 3",
    )
    found = look.neighbours(field, limit=3, kinds=["Entity"])
    assert [node.id for node in found.nodes] == [field, *order]
    assert found.more == len(look.neighbours(field, limit=500, kinds=["Entity"]).nodes) - 4


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_node_has_neighbours_and_shows_all_but_its_vector(
    graph: KnowledgeGraph, look: Look, kind: str
) -> None:
    plain = " WHERE NOT n:Entity" if kind == "KeyElement" else ""
    node = one(graph, f"MATCH (n:{kind}){plain} WITH n ORDER BY n.id LIMIT 1 RETURN n.id")
    details = look.node(node)
    assert details.node.id == node
    assert kind in details.labels
    assert details.properties["id"] == node
    assert not {"embedding", "elementEmbedding"} & set(details.properties)
    assert json.loads(json.dumps(details.properties)) == details.properties
    assert len(details.node.text) <= 300
    found = look.neighbours(node)
    assert is_whole(found)
    assert (found.nodes[0].id, found.nodes[0].kind) == (node, kind)
    assert len(found.nodes) > 1
    assert found.edges
    assert look.neighbours(node) == found


def test_what_is_not_there_is_said(look: Look) -> None:
    for ask in (look.neighbours, look.node, look.document, look.tree, look.community, look.members, look.run):
        with pytest.raises(InputError, match=r"There is no \w+( \w+)? 'nobody'"):
            ask("nobody")
    with pytest.raises(InputError, match='Unknown kind of node "Ship". Choose one of Entity'):
        look.neighbours("nobody", kinds=["Ship"])
    with pytest.raises(InputError, match="…"):
        look.node("x" * 1000)


def test_facts_are_edges_or_nodes(graph: KnowledgeGraph, look: Look) -> None:
    for kind, type_ in (("triple", None), ("attribute", "HAS_ATTRIBUTE"), ("atomic", "MENTIONS")):
        fact = one(graph, f"MATCH (f:Fact {{kind: '{kind}'}})--(:Entity) RETURN f.id ORDER BY f.id LIMIT 1")
        found = look.subgraph([fact])
        assert is_whole(found)
        assert fact in {edge.fact for edge in found.edges if type_ in (None, edge.type)}
        assert (fact in {node.id for node in found.nodes}) == (kind == "atomic")


def test_ids_of_any_kind_are_drawn_together(graph: KnowledgeGraph, look: Look) -> None:
    wanted = [one(graph, FIELD)]
    wanted += ids(
        graph, "MATCH (:Entity {name: 'Cyrus Field'})-[:FROM_CHUNK]->(c:Chunk) RETURN c.id ORDER BY c.id LIMIT 3"
    )
    wanted += ids(graph, "MATCH (p:Page) RETURN p.id ORDER BY p.index")
    found = look.subgraph([*wanted, wanted[0], "gone"])
    assert [node.id for node in found.nodes] == wanted
    assert {"FROM_CHUNK", "NEXT_PAGE"} <= {edge.type for edge in found.edges}
    assert look.subgraph([]) == look.subgraph(["gone"]) == Subgraph((), (), 0)


def test_the_facts_of_a_node_have_their_places(graph: KnowledgeGraph, look: Look) -> None:
    details = look.node(one(graph, FIELD))
    known = ids(
        graph, "MATCH (:Entity {name: 'Cyrus Field'})<-[:SUBJECT|OBJECT|MENTIONS]-(f:Fact) RETURN DISTINCT f.id"
    )
    said = ids(
        graph,
        "MATCH (f:Fact)-[at:FROM_CHUNK]->(c:Chunk)<-[same:FROM_CHUNK]-(s:Fact {kind: 'atomic'}) "
        "WHERE f.kind <> 'atomic' AND at.start = same.start AND at.end = same.end RETURN f.id",
    )
    listed = {fact.id for fact in details.facts}
    assert set(known) - set(said) <= listed < set(known), "what a statement says is listed once"
    places = [(fact.id, fact.passage) for fact in details.facts]
    assert len(set(places)) == len(places)
    often = one(graph, "MATCH (f:Fact) RETURN f.id ORDER BY COUNT { (f)-[:FROM_CHUNK]->() } DESC, f.id LIMIT 1")
    stated = ids(graph, f"MATCH (:Fact {{id: '{often}'}})-[:FROM_CHUNK]->(c:Chunk) RETURN c.id")
    assert sorted(fact.passage for fact in look.node(often).facts) == sorted(stated)
    assert len(stated) > 1
    for fact in details.facts[:20]:
        assert look.document(fact.document, fact.start, fact.end).title == fact.title
    assert len({fact.id for fact in look.node(details.node.id, facts=3).facts}) == 3


def test_facts_come_by_how_often_they_are_stated_then_by_document_and_place(graph: KnowledgeGraph, look: Look) -> None:
    """And not by their ids, which are others where the same documents lie in another folder."""
    places: dict[str, list[FactAt]] = {}
    for fact in look.node(one(graph, FIELD)).facts:
        places.setdefault(fact.id, []).append(fact)
    order = [(-len(each), normalise_name(each[0].title), each[0].start) for each in places.values()]
    assert order == sorted(order)
    assert len(set(order)) > 10


def test_communities_around_a_node_and_types_with_their_numbers(graph: KnowledgeGraph, look: Look) -> None:
    inside = one(graph, "MATCH (e:Entity)-[:MEMBER_OF]->(:Community)-[:PARENT]->() RETURN e.id ORDER BY e.id LIMIT 1")
    inner, *outer = look.node(inside).communities
    assert outer
    assert [node.id for node in look.node(inner.id).communities] == [node.id for node in outer]
    types = look.types()
    assert list(types.values()) == sorted(types.values(), reverse=True)
    assert types["Person"] == graph.stats().nodes["Person"]


def test_a_window_of_a_document_is_that_part_of_it(graph: KnowledgeGraph, look: Look) -> None:
    for info in graph.documents():
        whole = look.document(info.id)
        assert (whole.start, whole.end, len(whole.text)) == (0, info.characters, info.characters)
        assert look.document(info.uri) == whole
        for start in range(0, info.characters, max(1, info.characters // 7)):
            part = look.document(info.id, start, start + 333)
            assert part.text == whole.text[start : start + 333]
            assert part.facts == tuple(f for f in whole.facts if f.start < start + 333 and f.end > start)
        if info.uri.endswith("Channel_cable.txt"):
            text = (EXAMPLES / "corpus" / "Channel_cable.txt").read_text(encoding="utf-8")
            assert "".join(whole.text.split()) == "".join(text.split()), "what was read is what is shown"
        places = graph.cypher(
            "MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d:Document {id: $id}) RETURN c.start, c.end, c.text", {"id": info.id}
        )
        assert all(whole.text[start:end] == text for start, end, text in places.rows)


def test_windows_that_are_none(graph: KnowledgeGraph, look: Look) -> None:
    info = graph.documents()[0]
    behind = look.document(info.id, info.characters + 5)
    assert (behind.text, behind.start, behind.end) == ("", info.characters, info.characters)
    for start, end in ((-1, 5), (9, 3)):
        with pytest.raises(InputError, match="give 0 ≤ start ≤ end"):
            look.document(info.id, start, end)


def test_the_tree_from_the_top_to_the_attributes(graph: KnowledgeGraph, look: Look) -> None:
    entities, attributes, kinds = [], 0, set()

    def walk_down(parent: str | None, depth: int) -> None:
        nonlocal attributes
        for node in look.tree(parent):
            kinds.add(node.kind)
            assert node.depth == depth
            if node.kind == "Entity":
                entities.append(node.id)
                attributes += node.children
            if node.kind == "Community":
                assert len(look.tree(node.id)) == node.children
                walk_down(node.id, depth + 1)

    walk_down(None, 0)
    top = [node.size for node in look.tree()]
    assert top == sorted(top, reverse=True)
    assert kinds == {"Community", "Keyword", "Entity"}
    assert sorted(entities) == sorted(ids(graph, "MATCH (e:Entity) RETURN e.id"))
    assert attributes == graph.stats().nodes["Attribute"]


def test_communities_and_their_members(graph: KnowledgeGraph, look: Look) -> None:
    every = look.communities(1000)
    assert len(every) == graph.stats().nodes["Community"]
    assert list(every) == sorted(every, key=lambda node: (node.depth, -node.size, node.id))
    assert look.communities(3) == every[:3]
    for community in every[:5]:
        assert look.community(community.id).node.name == community.name
        members = look.members(community.id, 500)
        assert len({node.id for node in members}) == len(members) == community.size
        assert look.members(community.id, 2) == members[:2]
    with pytest.raises(InputError, match="is not a community but a node of kind Entity"):
        look.community(one(graph, FIELD))


def test_kept_runs_can_be_played_again(look: Look) -> None:
    walked, asked, *_ = look.runs()
    assert (walked.reader, asked.reader, asked.question) == ("graphreader", "retrieve", QUESTION)
    assert walked.at > asked.at
    assert look.runs(1) == (walked,)
    info, steps = look.run(walked.id)
    assert info == walked
    assert [step["number"] for step in steps] == list(range(1, info.steps + 1))
    assert any(step["elements"] for step in steps)
    assert any("MATCH" in statement for step in steps for statement in step["statements"])
    (fact,) = [step["facts"][0] for step in look.run(asked.id)[1] if step["facts"]][:1]
    assert look.node(fact).node.kind == "Fact"
    assert set(steps[0]) == {
        *("number", "path", "name", "detail", "prompt", "reply", "seconds", "statements"),
        *("facts", "passages", "elements", "pages"),
    }


def test_citations_keep_their_numbers(store: Store) -> None:
    store.define("neo4j/schema/constraint_run")
    run(
        store,
        "CREATE (r:Run {id: 'r'})-[:CITES {number: 3, start: 2, end: 5}]->"
        "(c:Chunk {id: 'c', start: 2, end: 5})-[:FROM_DOCUMENT]->(:Document {id: 'd', name: 'D', uri: 'file:d'})",
    )
    assert Look(store).citations("r") == (None, None, Citation("file:d", "D", 2, 5, None, "c", found=False))


def test_how_long_a_call_took(store: Store) -> None:
    run(
        store,
        "CREATE (r:Run {id: 'r', model: 'm'}) FOREACH (made IN [[1, 2.0], [1, 4.0], [0, 9.0], [3, 9.0]] | "
        "CREATE (r)-[:HAS_STEP]->(:Step {calls: made[0], seconds: made[1]}))",
    )
    assert (Look(store).seconds_per_call("m"), Look(store).seconds_per_call("other")) == (3.0, None)


def test_a_filter_of_the_map_that_is_no_condition_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="where=5 cannot be used: it must be a condition, a dictionary"):
        Look(store).map(only=MapFilter(where=5))  # type: ignore[arg-type]  # on purpose


def test_a_hub_is_bounded(store: Store) -> None:
    define_keys(store)
    run(
        store,
        "CREATE (h:Entity:KeyElement {id: 'hub', name: 'Hub', key: 'hub'}) "
        "WITH h UNWIND range(1, 6000) AS i "
        "CREATE (e:Entity:KeyElement {id: 'e' + i, name: 'E' + i, key: 'e' + i})"
        "<-[:OBJECT]-(f:Fact {id: 'f' + i, kind: 'triple', text: 'Hub has E' + i})-[:SUBJECT]->(h) "
        "CREATE (h)-[:HAS_PART {fact: 'f' + i, predicate: 'has', weight: 1}]->(e)",
    )
    look = Look(store)
    found = look.neighbours("hub", limit=20)
    assert (len(found.nodes), len(found.edges), found.more) == (21, 20, 1980)
    assert found.nodes[0].degree == 12_000
    assert [(edge.label, edge.type) for edge in found.edges] == [("has", "HAS_PART")] * 20
    assert look.node("hub").facts == (), "none has a place"
    many = look.subgraph([f"f{i}" for i in range(1, 1500)])
    assert (len(many.nodes), len(many.edges), many.more) == (1000, 999, 500)


def test_edges_between_hubs_are_seen(store: Store) -> None:
    define_keys(store)
    run(
        store,
        "CREATE (a:Entity:KeyElement {id: 'a', name: 'A'})-[:HAS_PART {fact: 'f', predicate: 'has'}]->"
        "(b:Entity:KeyElement {id: 'b', name: 'B'}) "
        "WITH a, b UNWIND range(1, 1100) AS i CREATE (c:Chunk {id: 'c' + i}) "
        "CREATE (a)-[:FROM_CHUNK {count: 1}]->(c) CREATE (b)-[:FROM_CHUNK {count: 1}]->(c)",
    )
    assert [edge.fact for edge in Look(store).subgraph(["b", "a"]).edges] == ["f"]


LETTERS = {
    "letter": "# March 1\n\nMarta Oyelaran met Daniel Scales in Rotterdam.\n\nInes Kallio has signed.\n",
    "minutes": "# Minutes\n\nMarta Oyelaran spoke. Later Marta Oyelaran met Piet Verwey in Utrecht.\n",
}


def test_names_of_the_same_sentences_join_where_no_relation_does(kg: KnowledgeGraph, tmp_path: Path) -> None:
    for name, text in LETTERS.items():
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    kg.ingest(tmp_path, extractor="local")
    look, node = kg.look, {each: kg.look.find(each)[0].id for each in ("Daniel Scales", "Piet Verwey", "Ines Kallio")}
    drawn = look.map()
    joined = {frozenset((drawn.names[a], drawn.names[b])) for a, b in zip(drawn.sources, drawn.targets, strict=True)}
    assert drawn.together == len(joined) and frozenset(("Marta Oyelaran", "Daniel Scales")) in joined
    assert drawn.names[0] == look.highlights(1)["entities"][0]["name"] == "Marta Oyelaran"
    assert look.questions(1)[0].startswith("What do the documents say about Marta Oyelaran and ")
    kinds = [each.kind for each in look.ways(node["Daniel Scales"], node["Piet Verwey"]).nodes]
    assert kinds.count("Fact") == 2 and "Chunk" not in kinds
    assert "Chunk" in [each.kind for each in look.ways(node["Daniel Scales"], node["Ines Kallio"]).nodes]


def test_a_graph_without_names_has_questions(kg: KnowledgeGraph, tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text("wash your hands before you eat. close the door at night.\n", "utf-8")
    kg.ingest(tmp_path, extractor="local")
    assert kg.look.questions() == ("What does “rules” say?",)
