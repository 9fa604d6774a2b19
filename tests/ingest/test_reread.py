"""Documents that have not changed and are read again all the same: what comes of it is a graph that was read so."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import wipe
from corpora import FIELD, OTHERS, RECORDING, difference, put, put_jsonl
from graph_state import snapshot

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.models.hash_embedder import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.settings import Settings
from kgplatform.testing import OpenAIServer

SCHEMA = """\
name: ships
entities:
  - name: Ship
    description: A ship.
"""


def test_another_schema_reads_nothing_until_it_is_told_to(kg: KnowledgeGraph, tmp_path: Path) -> None:
    files = put(tmp_path, FIELD | OTHERS)
    options = {"recorded": put_jsonl(tmp_path / "recording.jsonl", RECORDING), "mode": "strict"}
    kg.ingest(files, schema="company", **options)  # type: ignore[arg-type]  # of values of two types
    wanted = snapshot(kg.store)
    wipe(kg.store)
    kg.ingest(files, schema="biomedical", **options)  # type: ignore[arg-type]  # the same
    assert difference(snapshot(kg.store), wanted) != []
    report = kg.ingest(files, schema="company", **options)  # type: ignore[arg-type]  # the same
    assert (report.extracted, report.unchanged, report.reread) == (0, 3, 0)
    assert report.notes == [
        "3 passages stay as they were read before. The last ingest used extractor recorded, mode strict and schema "
        "biomedical. The graph's schema is company from now on. To read them again, ingest with reread."
    ]
    assert difference(snapshot(kg.store), wanted) != []
    report = kg.ingest(files, schema="company", reread=True, **options)  # type: ignore[arg-type]  # the same
    assert (report.extracted, report.unchanged, report.changed, report.reread) == (3, 0, 0, 3)
    assert report.notes == []
    assert difference(snapshot(kg.store), wanted) == []


def test_the_graph_keeps_its_schema_until_another_is_named(kg: KnowledgeGraph, tmp_path: Path) -> None:
    one, two = put(tmp_path / "docs", {"a.txt": "The Great Eastern was built by Brunel.", "b.txt": "Rain fell."})
    (schema,) = put(tmp_path, {"ships.yaml": SCHEMA})

    def own() -> str:
        found = kg.schema()
        assert found is not None
        return found.schema.name

    kg.ingest(one, schema=schema, extractor="local")
    schema.unlink()
    report = kg.ingest([one, two], extractor="local")
    assert (report.schema, report.notes, own()) == ("ships", [], "ships")
    kg.remove(two)
    assert own() == "ships"
    assert kg.ingest([one, two], schema="general", extractor="local").schema == own() == "general"


def test_a_schema_file_that_was_edited_is_another(kg: KnowledgeGraph, tmp_path: Path) -> None:
    (file,) = put(tmp_path / "docs", {"a.txt": "The Great Eastern was built by Brunel."})
    (schema,) = put(tmp_path, {"ships.yaml": SCHEMA})
    kg.ingest(file, schema=schema, extractor="local")
    assert kg.ingest(file, schema=schema, extractor="local").notes == []
    schema.write_text(SCHEMA.replace("A ship.", "A vessel of the sea."), encoding="utf-8")
    (said,) = kg.ingest(file, schema=schema, extractor="local").notes
    assert said.endswith("schema ships, which has changed since. To read them again, ingest with reread.")
    assert said.startswith("1 passage stays as it was read before.")


def test_replies_that_were_paid_for_are_not_asked_for_again(store: Store, settings: Settings, tmp_path: Path) -> None:
    (file,) = put(tmp_path / "docs", {"a.txt": "The Great Eastern was built by Brunel."})
    with OpenAIServer(lambda messages: '{"entities": [{"name": "Brunel", "type": "Person"}]}') as server:
        given = settings.model_copy(update={"openai_base_url": server.base_url})
        graph = KnowledgeGraph(store, given, embedder=HashEmbedder(64))
        graph.ingest(file)
        asked = len(server.requests)
        assert graph.ingest(file, reread=True).reread == 1
        assert len(server.requests) == asked == 1
        assert graph.estimate(file).calls == 0
        assert graph.estimate(file, reread=True).calls == 1
        graph.ingest(file, reread=True, schema="company")
        assert len(server.requests) == 2


def test_pages_that_were_written_stay(kg: KnowledgeGraph, tmp_path: Path) -> None:
    (file,) = put(tmp_path, {"a.txt": "The Great Eastern was built by Brunel. " * 4})
    kg.ingest(file, extractor="local")
    kg.cypher("MATCH (d:Document) CREATE (:Page {id: 'p', question: '', index: 0})-[:PAGE_OF]->(d)", write=True)
    kg.ingest(file, extractor="local", reread=True)
    assert kg.documents()[0].pages == 1


def test_without_files_there_is_nothing_to_read_again(kg: KnowledgeGraph) -> None:
    for wish in ({"reread": True}, {"prune": True}, {}):
        with pytest.raises(InputError, match="Name at least one file or folder to ingest"):
            kg.ingest(facts=bool(wish), **wish)  # type: ignore[arg-type]  # of flags
