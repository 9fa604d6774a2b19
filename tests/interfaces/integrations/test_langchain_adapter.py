"""LangChain, the real library: our retrieval as its retriever, our graph as its graph documents, and back."""

from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from graph_state import snapshot
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship
from small_graph import QUESTION, TEXTS, ingest

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.interfaces.integrations.langchain import KgRetriever, from_graph_documents, to_graph_documents

pytest_plugins = ["small_graph"]


def test_documents_with_their_places_and_facts_with_their_citations(graph: KnowledgeGraph) -> None:
    found = KgRetriever(graph=graph, top_k=2).invoke(QUESTION)
    ours = graph.search(QUESTION, top_k=2)
    assert [(each.id, each.metadata["score"]) for each in found] == [(each.id, each.score) for each in ours.passages]
    for each in found:
        place = each.metadata
        assert TEXTS[place["title"]][place["start"] : place["end"]] == each.page_content
    found = KgRetriever(graph=graph, route="triple", facts=True).invoke(QUESTION)
    (fact,) = [each for each in found if each.page_content == "Ida Fenn created Marigold"]
    (cited,) = fact.metadata["citations"]
    assert TEXTS[cited["title"]][cited["start"] : cited["end"]] == "Ida Fenn designed the Marigold"
    found = KgRetriever(graph).invoke(QUESTION, top_k=1, route="bm25")
    assert [each.metadata["routes"] for each in found] == [["bm25"]]
    for retriever, more in ((KgRetriever(graph, k=2), {}), (KgRetriever(graph), {"k": 2})):
        assert len(retriever.invoke(QUESTION, **more)) == 2
    with pytest.raises(InputError, match='Unknown option of KgRetriever "topk". Did you mean top_k?'):
        KgRetriever(graph, topk=2)
    with pytest.raises(InputError, match="Unknown route"):
        KgRetriever(graph=graph, route="entitty").invoke(QUESTION)


def by_title(graph: KnowledgeGraph) -> dict[str, GraphDocument]:
    documents = list(to_graph_documents(graph))
    assert all(each.source for each in documents)
    return {each.source.metadata["title"]: each for each in documents if each.source}


def test_what_a_passage_says_as_a_graph_document(graph: KnowledgeGraph) -> None:
    documents = by_title(graph)
    assert set(documents) == set(TEXTS)
    born = documents["Ida Fenn"]
    assert {(node.id, node.type) for node in born.nodes} == {("Ida Fenn", "Person"), ("Dunmouth", "Place")}
    (person,) = [node for node in born.nodes if node.id == "Ida Fenn"]
    assert person.properties["birth year"] == "1841"
    (relationship,) = born.relationships
    assert (relationship.source.id, relationship.target.id) == ("Ida Fenn", "Dunmouth")
    assert relationship.properties["quote"] == "born in Dunmouth"
    assert born.source is not None
    place = slice(relationship.properties["start"], relationship.properties["end"])
    assert TEXTS["Ida Fenn"][place] == "born in Dunmouth"
    (fact,) = documents["The Marigold"].source.metadata["facts"]  # type: ignore[union-attr]
    assert fact["text"] == "The Marigold laid the harbour cable."
    assert fact["key_elements"] == ["Marigold", "harbour cable"]
    (only,) = to_graph_documents(graph, "Dunmouth")
    assert only.source is not None
    assert only.source.page_content == TEXTS["Dunmouth"]
    with pytest.raises(InputError, match="There is no document 'Nowhere'"):
        list(to_graph_documents(graph, "Nowhere"))


def test_out_and_in_again_says_the_same(kg: KnowledgeGraph, tmp_path: Path) -> None:
    graph = ingest(kg, tmp_path)
    documents = list(to_graph_documents(graph))
    before = said(graph)
    graph.remove([each.id for each in graph.documents()])
    report = from_graph_documents(graph, documents)
    assert report.complete
    assert said(graph) == before


def said(graph: KnowledgeGraph) -> list[Any]:
    """Entities, and statements with the words that state them."""
    entities = graph.cypher("MATCH (e:Entity) RETURN e.name, e.type, e.inSchema ORDER BY e.name").rows
    facts = graph.cypher("MATCH (f:Fact)-[at:FROM_CHUNK]->() RETURN f.kind, f.text, at.start, at.end, at.found").rows
    return [entities, sorted(facts)]


def their_documents(predicate: str = "FOUNDED") -> list[GraphDocument]:
    """As LangChain's LLMGraphTransformer makes them: names as ids, no quotes."""
    ada, engine = (
        Node(id="Ada", type="Person", properties={"shoe size": "36", "tags": ["x", "y"]}),
        Node(id="The Engine"),
    )
    text = "Ada founded The Engine in 1842. Ada was born in 1815."
    return [
        GraphDocument(
            nodes=[ada, engine],
            relationships=[Relationship(source=ada, target=engine, type=predicate)],
            source=Document(text, metadata={"source": "http://example.org/ada"}),
        ),
        GraphDocument(nodes=[], relationships=[], source=Document("Nothing is said here.", metadata={"title": "One"})),
        GraphDocument(nodes=[], relationships=[], source=Document("Nothing either.", metadata={"title": "One"})),
    ]


def test_what_their_transformer_makes_and_again_and_with_other_facts(kg: KnowledgeGraph) -> None:
    report = from_graph_documents(kg, their_documents())
    assert report.added == 3
    assert sorted(each.title for each in kg.documents()) == ["One", "One (2)", "http://example.org/ada"]
    rows = kg.cypher(
        "MATCH (s)<-[:SUBJECT]-(f:Fact {kind: 'triple'})-[:OBJECT]->(o), (f)-[at:FROM_CHUNK]->(c) "
        "RETURN s.name, f.predicate, o.name, at.found, c.text"
    ).rows
    assert [row[:4] for row in rows] == [["Ada", "founded", "The Engine", True]]
    values = kg.cypher("MATCH (:Entity {name: 'Ada'})-[:HAS_ATTRIBUTE]->(a) RETURN a.key, a.value").rows
    assert sorted(values) == [["shoe size", "36"], ["tags", "x"], ["tags", "y"]]
    first = snapshot(kg.store)
    assert from_graph_documents(kg, their_documents()).extracted == 0
    assert snapshot(kg.store) == first
    from_graph_documents(kg, their_documents("PRAISED"))
    assert kg.cypher("MATCH (f:Fact {kind: 'triple'}) RETURN f.predicate").rows == [["praised"]]
    from_graph_documents(kg, their_documents()[1:])
    assert sorted(each.title for each in kg.documents()) == ["One", "One (2)"]


class Notes(BaseLoader):
    """A loader of theirs."""

    def lazy_load(self) -> Iterator[Document]:
        for page in (1, 2):
            yield Document(f"Page {page} of the log of the ship.", metadata={"source": "log.pdf", "page": page})


def test_their_documents_and_loaders_go_in_and_are_found_by_their_metadata(kg: KnowledgeGraph) -> None:
    assert kg.ingest(Notes(), extractor="local").added == 2
    assert kg.ingest(list(Notes().lazy_load()), extractor="local").unchanged == 2
    (found,) = KgRetriever(kg, where={"page": 2}).invoke("the log of the ship")
    assert (found.page_content[:6], found.metadata["source"], found.metadata["page"]) == ("Page 2", "log.pdf", 2)
    assert KgRetriever(kg).invoke("the log", where={"page": 7}) == []
    both = KgRetriever(kg, filter={"page": {"$in": [2, 3]}}).invoke("the log of the ship", where={"source": "log.pdf"})
    assert [document.metadata["page"] for document in both] == [2]


def test_titles_that_look_like_ours(kg: KnowledgeGraph) -> None:
    """No text takes another's place."""
    titles = ["One", "One (3)", "One", "One", "One (2)"]
    sources = [Document(f"Text {number}.", metadata={"title": each}) for number, each in enumerate(titles)]
    from_graph_documents(kg, [GraphDocument(nodes=[], relationships=[], source=each) for each in sources])
    names = ["One", "One (2)", "One (2) (2)", "One (3)", "One (4)"]
    assert [each.title for each in kg.documents()] == names


def test_what_cannot_be_imported(kg: KnowledgeGraph) -> None:
    for documents, name, message in (
        ([GraphDocument(nodes=[Node(id="a")], relationships=[])], "x", "Graph document 1 has no source text"),
        ([], "x", "no graph documents"),
        (their_documents(), "../../etc", "cannot be a name"),
    ):
        with pytest.raises(InputError, match=message):
            from_graph_documents(kg, documents, name=name)
    assert kg.cypher("MATCH (n) RETURN count(n)").rows == [[0]]


def test_hostile_names_are_names(kg: KnowledgeGraph) -> None:
    """Backticks and Cypher in ids and types end as texts, and an id of another type than a text as a name."""
    evil = Node(id="x`}) DETACH DELETE (n) //", type="Bad`Type")
    number = Node(id=7, type="Person")
    source = Document("Here x`}) DETACH DELETE (n) // praised 7.")
    link = Relationship(source=evil, target=number, type="PRAISED`]->() //")
    from_graph_documents(kg, [GraphDocument(nodes=[evil, number], relationships=[link], source=source)])
    names = sorted(map(itemgetter(0), kg.cypher("MATCH (e:Entity) RETURN e.name").rows))
    assert names == ["7", "x`}) DETACH DELETE (n) //"]
    labels = {label for (each,) in kg.cypher("MATCH (e:Entity) RETURN labels(e)").rows for label in each}
    assert not [label for label in labels if "`" in label]
