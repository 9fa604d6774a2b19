"""What is taken away leaves no trace: A and B without B is A, whatever they share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import wipe
from corpora import FIELD, OTHERS, RECORDING, difference, put, put_jsonl
from graph_state import Snapshot, snapshot
from numpy.typing import NDArray

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store, trace
from kgplatform.records import QueryRun
from kgplatform.settings import Settings


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return put_jsonl(tmp_path / "recording.jsonl", RECORDING)


def rows(kg: KnowledgeGraph, statement: str) -> list[list[object]]:
    return kg.cypher(statement, limit=10_000).rows


def alone(kg: KnowledgeGraph, files: list[Path], **options: object) -> Snapshot:
    """The graph of ``files`` alone; the database is empty afterwards."""
    kg.ingest(files, **options)  # type: ignore[arg-type]
    found = snapshot(kg.store)
    wipe(kg.store)
    return found


def test_removing_the_second_gives_the_first_alone(kg: KnowledgeGraph, tmp_path: Path, recording: Path) -> None:
    first, others = put(tmp_path, FIELD), put(tmp_path, OTHERS)
    wanted = alone(kg, first, recorded=recording)
    kg.ingest(first, recorded=recording)
    kg.ingest(others, recorded=recording)

    # What the second brings is there, else this test would prove nothing.
    field = "MATCH (e:Entity {key: 'cyrus field'}) RETURN e.name, e.aliases"
    assert rows(kg, field) == [["CYRUS FIELD", ["Cyrus Field"]]]
    assert rows(kg, "MATCH (k:KeyElement {key: 'cable'}) RETURN k.name, k.aliases") == [["Cable", ["cable"]]]
    likely = "MATCH (:Entity {key: 'cyrus field'})-[s:SAME_AS]-(e) RETURN e.name, s.score >= 0.8"
    assert rows(kg, likely) == [["Cyrus West Field", True]]
    weights = "MATCH (:Entity {key: 'cyrus field'})-[r:FOUNDED]->() RETURN r.weight ORDER BY r.weight"
    assert rows(kg, weights) == [[2], [2]]
    shared = "MATCH (a:Attribute {key: 'birth date'})<-[:VALUE]-(f:Fact) RETURN f.subject ORDER BY f.subject"
    assert rows(kg, shared) == [["CYRUS FIELD"], ["Cyrus Field"]]
    graph = kg.schema()
    assert graph is not None
    assert [(each.kind, each.name, each.count) for each in graph.expansions] == [("relation", "financed", 2)]

    removed = kg.remove([path.name for path in others[:1]] + [others[1].as_uri()])
    assert sorted(each.uri for each in removed) == sorted(path.as_uri() for path in others)
    assert difference(snapshot(kg.store), wanted) == []


class LoudEmbedder(HashEmbedder):
    """Hears capitals, as real models do."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return super().embed([f"{text} loud loud loud" if text.isupper() else text for text in texts])


def test_a_likeness_goes_and_comes_with_the_name_that_is_shown(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    kg = KnowledgeGraph(store, settings, embedder=LoudEmbedder(64))
    likely = "MATCH (:Entity {key: 'cyrus field'})-[:SAME_AS]-(e) RETURN e.name"
    quiet = [("one.txt", "Cyrus Field"), ("two.txt", "Cyrus West Field")]
    loud = [("three.txt", "CYRUS FIELD"), ("four.txt", "CYRUS FIELD")]
    files = put(tmp_path, {name: f"{person} laid a cable." for name, person in quiet + loud})
    lines = [{"document": name, "entities": [{"name": person, "type": "Person"}]} for name, person in quiet + loud]
    options: dict[str, Any] = {"recorded": put_jsonl(tmp_path / "r.jsonl", lines)}
    wanted, both = alone(kg, files[:2], **options), alone(kg, files, **options)
    kg.ingest(files[:2], **options)
    assert rows(kg, likely) == [["Cyrus West Field"]]
    kg.ingest(files, **options)
    assert rows(kg, likely) == []
    assert difference(snapshot(store), both) == []
    kg.remove([str(file) for file in files[2:]])
    assert difference(snapshot(store), wanted) == []


def test_removing_all_leaves_what_the_graph_knows_of_itself(
    kg: KnowledgeGraph, tmp_path: Path, recording: Path
) -> None:
    kg.ingest(put(tmp_path, FIELD | OTHERS), recorded=recording)
    kg.remove([info.id for info in kg.documents()])
    assert kg.stats().nodes == {"Graph": 1}
    assert kg.stats().relationships == {}


def test_a_removal_that_was_killed_can_be_asked_for_again(kg: KnowledgeGraph, tmp_path: Path, recording: Path) -> None:
    """Wherever it stops, the same call again gives the same graph: the documents keep their names to the end."""
    first, others = put(tmp_path, FIELD), put(tmp_path, OTHERS)
    wanted = alone(kg, first, recorded=recording)
    kg.ingest(first + others, recorded=recording)
    names = [path.as_uri() for path in others]
    told: list[str] = []

    class KilledError(Exception):
        pass

    def kill_at(number: int) -> None:
        def count(executed: QueryRun) -> None:
            told.append(executed.name)
            if len(told) == number:
                raise KilledError

        told.clear()
        with trace(count):
            kg.remove(names)

    for number in range(2, 40):
        try:
            kill_at(number)
        except KilledError:
            continue
        break
    assert "ingest/remove_documents" in told
    assert difference(snapshot(kg.store), wanted) == []


def test_how_a_document_may_be_named(kg: KnowledgeGraph, tmp_path: Path, recording: Path) -> None:
    folder = tmp_path / "more"
    put(folder, {"pair.jsonl": '{"title": "One", "text": "Ada Byron wrote."}\n{"title": "Two", "text": "Two, too."}\n'})
    put(folder, {"one.txt": "Another One."})
    kg.ingest(folder)
    with pytest.raises(InputError, match="There is no document 'Three'"):
        kg.remove(["One", "Three"])
    assert len(kg.documents()) == 3
    (folder / "again").mkdir()
    put(folder / "again", {"one.txt": "A third One."})
    kg.ingest(folder)
    with pytest.raises(InputError, match="2 documents are called 'one'") as caught:
        kg.remove("one")
    assert (folder / "again" / "one.txt").as_uri() in str(caught.value)
    assert [info.title for info in kg.remove("Two")] == ["Two"]
    assert [info.title for info in kg.remove(str(folder / "pair.jsonl"))] == ["One"]
    left = kg.documents()
    assert len(kg.remove([left[0].uri, left[1].id])) == 2
    assert kg.documents() == []
