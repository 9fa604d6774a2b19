"""Documents that have not changed and are read again all the same: what comes of it is a graph that was read so."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import wipe
from corpora import FIELD, OTHERS, RECORDING, difference, put, put_jsonl
from graph_state import snapshot

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import ModelError, ReplyError
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.settings import Settings
from kgplatform.testing import OpenAIServer, ScriptedChat

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
        "3 passages were not read again. The last ingest used extractor recorded, mode strict and schema "
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
    assert said.startswith("1 passage was not read again.")


def test_replies_that_were_paid_for_are_not_asked_for_again(store: Store, settings: Settings, tmp_path: Path) -> None:
    (file,) = put(tmp_path / "docs", {"a.txt": "The Great Eastern was built by Brunel."})
    with OpenAIServer(lambda messages: '{"entities": [{"name": "Brunel", "type": "Person"}]}') as server:
        given = settings.model_copy(update={"openai_base_url": server.base_url})
        graph = KnowledgeGraph(store, given, embedder=HashEmbedder(64))
        graph.ingest(file)
        asked = len(server.requests_to("/completions"))
        assert graph.ingest(file, reread=True).reread == 1
        assert len(server.requests_to("/completions")) == asked == 1
        assert graph.estimate(file).calls == 0
        assert graph.estimate(file, reread=True).calls == 1
        graph.ingest(file, reread=True, schema="company")
        assert len(server.requests_to("/completions")) == 2


_SAYS = "MATCH (f:Fact)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) RETURN d.name, f.text ORDER BY d.name"
_BUILT = {
    "entities": [{"name": "Brunel", "type": "Person"}, {"name": "Great Eastern", "type": "Ship"}],
    "triples": [["Brunel", "built", "Great Eastern"]],
}
_SAILED = {
    "entities": [{"name": "Great Eastern", "type": "Vessel"}, {"name": "New York", "type": "Place"}],
    "triples": [["Great Eastern", "sailed to", "New York"]],
}


def _reading(store: Store, settings: Settings, read: Callable[[Messages], str]) -> KnowledgeGraph:
    """A graph whose model, which is simulated, reads a passage by ``read``."""
    return KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=ScriptedChat(read))


@pytest.mark.parametrize(
    "failure", [ModelError("the model's server is gone"), ReplyError("the reply is no JSON")], ids=["gone", "of no use"]
)
def test_a_passage_says_what_it_said_until_it_is_read_again(
    store: Store, settings: Settings, tmp_path: Path, failure: ModelError
) -> None:
    """Whether the model dies midway, or has no use for the passage: that of the other document is replaced alone."""
    texts = {"a.txt": "Brunel built the Great Eastern.", "b.txt": "The Great Eastern sailed to New York."}
    files = put(tmp_path, texts)

    def read_before(messages: Messages) -> str:
        return json.dumps(_BUILT if "Brunel" in messages[-1]["content"] else _SAILED)

    def read_now(messages: Messages) -> str:
        if "Brunel" in messages[-1]["content"]:
            raise failure
        return json.dumps(_SAILED | {"triples": [["Great Eastern", "reached", "New York"]]})

    first = _reading(store, settings, read_before)
    first.ingest(files, mode="flexible")
    assert first.cypher(_SAYS).rows == [
        ["a", "Brunel built Great Eastern"], ["b", "Great Eastern sailed to New York"]
    ]  # fmt: skip
    again = _reading(store, settings, read_now)
    report = again.ingest(files, mode="flexible", reread=True)
    assert (report.reread, report.extracted, [each.reason for each in report.failed]) == (2, 1, [str(failure)])
    assert again.cypher(_SAYS).rows == [
        ["a", "Brunel built Great Eastern"], ["b", "Great Eastern reached New York"]
    ]  # fmt: skip
    a, b = again.documents()
    assert (a.failed, b.failed, b.extracted) == (1, 0, 1)


def test_what_is_left_of_a_reading_again_is_read_by_the_next_ingest(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    """The graph is then as if it had been read so at once: no type, and no node, is left of what was said before."""
    texts = {f"{number}.txt": f"Brunel built the Great Eastern. {'It rained. ' * number}" for number in range(3)}
    files = put(tmp_path, texts)
    read = 0

    def read_now(messages: Messages) -> str:
        nonlocal read
        read += 1
        if read == 2:
            raise ModelError("the model's server is gone")
        return json.dumps(_SAILED | {"triples": []})

    _reading(store, settings, lambda messages: json.dumps(_BUILT)).ingest(files, schema="company", mode="flexible")
    again = _reading(store, settings.model_copy(update={"concurrency": 1}), read_now)
    again.ingest(files, schema="general", mode="flexible", reread=True)
    report = again.ingest(files, schema="general", mode="flexible")
    assert (report.unchanged, report.extracted, report.failed, read) == (3, 1, [], 4)
    mended = snapshot(store)
    wipe(store)
    _reading(store, settings, lambda messages: json.dumps(_SAILED | {"triples": []})).ingest(
        files, schema="general", mode="flexible"
    )
    assert difference(mended, snapshot(store)) == []


def test_pages_that_were_written_stay(kg: KnowledgeGraph, tmp_path: Path) -> None:
    (file,) = put(tmp_path, {"a.txt": "The Great Eastern was built by Brunel. " * 4})
    kg.ingest(file, extractor="local")
    kg.cypher("MATCH (d:Document) CREATE (:Page {id: 'p', question: '', index: 0})-[:PAGE_OF]->(d)", write=True)
    kg.ingest(file, extractor="local", reread=True)
    assert kg.documents()[0].pages == 1
