"""Into a graph that has something in it: what it lacks comes, what it has stays, and the rest is settled."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import wipe
from graph_state import snapshot
from killed_import import kill_import
from other_embedder import OtherEmbedder

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, StoreError
from kgplatform.exchange.importer import LEFT_OUT

ONE = "Ada Lovelace knew Charles Babbage. She was born in London."
TWO = "Charles Babbage was born in London. Ada Lovelace praised the Engine."
PEOPLE = [{"name": "Ada Lovelace", "type": "Person"}, {"name": "Charles Babbage", "type": "Person"}]
LONDON = {"name": "London", "type": "Place"}
SAID: dict[str, dict[str, Any]] = {
    "one.txt": {
        "entities": [*PEOPLE, LONDON],
        "triples": [{"subject": "Ada Lovelace", "predicate": "knew", "object": "Charles Babbage"}],
        "facts": [{"text": "Ada was born in London.", "key_elements": ["Ada", "London"]}],
    },
    "two.txt": {
        "entities": [*PEOPLE, LONDON, {"name": "Engine", "type": "Thing"}],
        "triples": [
            {"subject": "Charles Babbage", "predicate": "born in", "object": "London"},
            {"subject": "Ada Lovelace", "predicate": "knew", "object": "Charles Babbage"},
        ],
    },
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two texts that speak of the same people, and what they say."""
    (tmp_path / "one.txt").write_text(ONE)
    (tmp_path / "two.txt").write_text(TWO)
    lines = [json.dumps({"document": name, **said}) for name, said in SAID.items()]
    (tmp_path / "said.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def ingest(kg: KnowledgeGraph, folder: Path, *names: str) -> None:
    kg.ingest([folder / name for name in names], recorded=folder / "said.jsonl", mode="flexible")


def comparable(kg: KnowledgeGraph) -> Any:
    nodes, edges = snapshot(kg.store)
    return {key: each for key, each in nodes.items() if not key.startswith("['Graph']")}, edges


def parted(kg: KnowledgeGraph, folder: Path) -> Any:
    """What both texts make together; then one of them is in the graph, and the other in ``two.jsonl``."""
    ingest(kg, folder, "one.txt", "two.txt")
    whole = comparable(kg)
    kg.remove("one")
    kg.export(folder / "two.jsonl")
    wipe(kg.store)
    ingest(kg, folder, "one.txt")
    return whole


def test_two_halves_are_the_whole(kg: KnowledgeGraph, folder: Path) -> None:
    whole = parted(kg, folder)
    # As the command opens it: the embedding model is not known before it is needed.
    report = KnowledgeGraph(kg.store, kg.settings).import_graph(folder / "two.jsonl", merge=True)
    assert report.notes == (LEFT_OUT,)
    assert comparable(kg) == whole
    kg.import_graph(folder / "two.jsonl", merge=True)
    assert comparable(kg) == whole, "the same once more changes nothing"
    rows = kg.cypher("MATCH (:Person)-[r {predicate: 'knew'}]->(:Person) RETURN r.weight").rows
    assert rows == [[2]]


def test_into_an_empty_graph_all_of_it_comes(kg: KnowledgeGraph, folder: Path) -> None:
    ingest(kg, folder, "one.txt", "two.txt")
    kg.build_tree()
    before = snapshot(kg.store)
    kg.export(folder / "all.jsonl")
    wipe(kg.store)
    assert kg.import_graph(folder / "all.jsonl", merge=True).notes == ()
    assert snapshot(kg.store) == before


def test_the_tree_of_the_file_stays_out(kg: KnowledgeGraph, folder: Path) -> None:
    ingest(kg, folder, "two.txt")
    kg.build_tree()
    kg.export(folder / "two.jsonl")
    wipe(kg.store)
    ingest(kg, folder, "one.txt")
    kg.build_tree()
    kg.import_graph(folder / "two.jsonl", merge=True)
    assert kg.cypher("MATCH (e:Entity) WHERE COUNT { (e)-[:MEMBER_OF]->() } > 1 RETURN count(e)").rows == [[0]]
    kg.build_tree()
    assert kg.cypher("MATCH (e:Entity) WHERE COUNT { (e)-[:MEMBER_OF]->() } <> 1 RETURN count(e)").rows == [[0]]


def test_other_vectors_are_refused(kg: KnowledgeGraph, folder: Path) -> None:
    ingest(kg, folder, "two.txt")
    kg.export(folder / "two.jsonl")
    wipe(kg.store)
    other = KnowledgeGraph(kg.store, kg.settings, embedder=OtherEmbedder())
    ingest(other, folder, "one.txt")
    before = snapshot(kg.store)
    with pytest.raises(InputError, match=r"embedded with another:64 \(64 dimensions\), the file's with hash:64 \(64\)"):
        other.import_graph(folder / "two.jsonl", merge=True)
    assert snapshot(kg.store) == before


def test_another_text_of_a_document_is_refused(kg: KnowledgeGraph, folder: Path) -> None:
    ingest(kg, folder, "two.txt")
    kg.export(folder / "two.jsonl")
    (folder / "two.txt").write_text("Something else altogether about Ada Lovelace.")
    ingest(kg, folder, "two.txt")
    before = snapshot(kg.store)
    with pytest.raises(InputError, match="another text of 'two' than the file.*kgplatform remove"):
        kg.import_graph(folder / "two.jsonl", merge=True)
    assert snapshot(kg.store) == before


def test_a_merge_that_was_killed_goes_on(kg: KnowledgeGraph, folder: Path) -> None:
    whole = parted(kg, folder)
    kill_import(kg, folder / "two.jsonl", parts=3, batch=10, merge=True)
    with pytest.raises(StoreError, match="interrupted"):
        ingest(kg, folder, "one.txt")
    kg.import_graph(folder / "two.jsonl")
    assert comparable(kg) == whole
