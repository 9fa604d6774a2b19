"""An export as JSON lines, imported, is an equal graph with the same values and indexes; exported again, it is the same
bytes in every format."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import wipe
from disks import leave, small_disk
from graph_state import Snapshot, snapshot
from killed_import import kill_import
from whole_graph import add_strangers, everything, fill, ingest_some

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, StoreError
from kgplatform.exchange import importer
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import load_settings

NAMES = {"jsonl": "graph.jsonl", "graphml": "graph.graphml", "csv": "graph"}


@dataclass(frozen=True)
class Exported:
    """A graph that was exported in every format, and what it was like."""

    folder: Path
    graph: KnowledgeGraph
    before: Snapshot
    everything: list[Any]
    nodes: int
    relationships: int

    def file(self, kind: str) -> Path:
        """The export in one format."""
        return self.folder / NAMES[kind]


@pytest.fixture(scope="module")
def exported(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exported]:
    """The graph of the examples, with all that there can be in one."""
    folder = tmp_path_factory.mktemp("exported")
    with Store(neo4j_server) as store:
        wipe(store)
        graph = KnowledgeGraph(store, load_settings(home=folder / "home"), embedder=HashEmbedder(64))
        fill(graph)
        before = snapshot(store), everything(store)
        add_strangers(graph)
        reports = {kind: graph.export(folder / name) for kind, name in NAMES.items()}
        assert {kind: report.format for kind, report in reports.items()} == {kind: kind for kind in NAMES}
        sizes = {(report.nodes, report.relationships) for report in reports.values()}
        assert len(sizes) == 1
        yield Exported(folder, graph, *before, *sizes.pop())


def bytes_of(path: Path) -> dict[str, bytes]:
    """All files of an export."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {each.name if path.is_dir() else "": each.read_bytes() for each in files}


def test_everything_is_there_but_what_is_not_ours(exported: Exported) -> None:
    text = exported.file("jsonl").read_text("utf-8")
    kinds = {each for line in text.split("\n")[1:-1] for each in json.loads(line).get("labels", ())}
    wanted = {"Graph", "Document", "Chunk", "Entity", "KeyElement", "Attribute", "Fact", "Community", "Keyword", "Page"}
    assert kinds >= wanted | {"Run", "Step", "Own Label"}
    types = {json.loads(line).get("relationship") for line in text.split("\n")[1:-1]}
    assert types >= {"SAME_AS", "FORM_OF", "MENTIONS", "MEMBER_OF", "NEXT_CHUNK", "KEYWORD_OF", "Own Type"}
    assert "Stranger" not in kinds
    assert text.count("\n") == 1 + exported.nodes + exported.relationships
    assert len(exported.before[0]) == exported.nodes


def test_an_import_gives_an_equal_graph(exported: Exported, tmp_path: Path) -> None:
    wipe(exported.graph.store)
    report = exported.graph.import_graph(exported.file("jsonl"))
    assert (report.nodes, report.relationships, report.format) == (exported.nodes, exported.relationships, "jsonl")
    assert_equal(exported)
    assert os.access(exported.file("csv") / "import.sh", os.X_OK)
    for kind in NAMES:
        exported.graph.export(tmp_path / NAMES[kind])
        assert bytes_of(tmp_path / NAMES[kind]) == bytes_of(exported.file(kind))
    assert {each.name for each in tmp_path.iterdir()} == set(NAMES.values()), "nothing else is left"


def assert_equal(exported: Exported) -> None:
    """The graph is what it was: as other tests compare graphs, and to the last digit and type."""
    store = exported.graph.store
    assert snapshot(store) == exported.before
    assert everything(store) == exported.everything
    found = exported.graph.search("Who founded the Atlantic Telegraph Company?")
    assert found.passages
    assert found.facts
    names = {row[0] for row in rows(store, "SHOW INDEXES YIELD name, state WHERE state = 'ONLINE' RETURN name")}
    wanted = {
        "chunk_embedding",
        "fact_embedding",
        "entity_embedding",
        "element_embedding",
        "chunk_text",
        "entity_names",
    }
    assert names >= wanted | {"community_embedding", "page_embedding", "fact_id"}


def restore(exported: Exported) -> None:
    """Bring the graph back, where another test has left something else."""
    store = exported.graph.store
    if everything(store) != exported.everything:
        wipe(store)
        exported.graph.import_graph(exported.file("jsonl"))


def rows(store: Store, statement: str) -> list[list[Any]]:
    return store.run_statement(statement, {}, write=False, timeout=60, limit=10**5).rows


def test_an_imported_graph_goes_on(exported: Exported, tmp_path: Path) -> None:
    """Ingesting the same files again changes nothing: nothing is read anew."""
    restore(exported)
    report = ingest_some(exported.graph)
    assert (report.added, report.changed, report.extracted) == (0, 0, 0)


@pytest.mark.parametrize("parts", [2, 9, 20], ids=["in the nodes", "between", "in the relationships"])
@pytest.mark.killed
def test_an_import_that_was_killed_goes_on(exported: Exported, parts: int) -> None:
    store = exported.graph.store
    wipe(store)
    kill_import(exported.graph, exported.file("jsonl"), parts=parts, batch=-(-exported.nodes // 9))
    (done,) = rows(store, "MATCH (g:Graph) RETURN g.imported")[0]
    assert (done > exported.nodes) == (parts > 9)
    assert (done == exported.nodes) == (parts == 9)
    with pytest.raises(StoreError, match="An import into this graph was interrupted"):
        KnowledgeGraph(store, exported.graph.settings, embedder=HashEmbedder(64)).search("Who?")
    with pytest.raises(StoreError, match="interrupted"):
        ingest_some(exported.graph)
    other = exported.folder / "other.jsonl"
    other.write_bytes(exported.file("jsonl").read_bytes().replace(b"Atlantic", b"Pacific", 1))
    with pytest.raises(StoreError, match="of another file"):
        exported.graph.import_graph(other)
    exported.graph.import_graph(exported.file("jsonl"))
    assert_equal(exported)


def test_two_imports_at_once_do_not_mix(exported: Exported, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one writes what the first one was about to: the first one notices, and writes nothing twice."""
    wipe(exported.graph.store)
    write_part = importer._write_part

    def overtaken(store: Store, work: Any, part: Any, done: int) -> None:
        write_part(store, work, part, done)
        write_part(store, work, part, done)

    with monkeypatch.context() as patch:
        patch.setattr(importer, "_write_part", overtaken)
        with pytest.raises(StoreError, match="Another import into this graph is running"):
            exported.graph.import_graph(exported.file("jsonl"))
    exported.graph.import_graph(exported.file("jsonl"))
    assert_equal(exported)


def test_a_graph_that_is_not_empty_is_left_alone(exported: Exported) -> None:
    restore(exported)
    with pytest.raises(InputError, match="The graph is not empty.*with the option merge"):
        exported.graph.import_graph(exported.file("jsonl"))
    assert everything(exported.graph.store) == exported.everything


def test_an_empty_graph_takes_an_import_whatever_was_there_and_beside_what_is_not_ours(
    exported: Exported, tmp_path: Path
) -> None:
    """First there is nothing, and nothing to export. Then a graph of another model is emptied; strangers stay."""
    store = exported.graph.store
    wipe(store)
    with pytest.raises(InputError, match="The graph is empty"):
        exported.graph.export(tmp_path / "graph.jsonl")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "one.txt").write_text("Ada Lovelace was born in London.")
    other = KnowledgeGraph(store, exported.graph.settings, embedder=HashEmbedder(32))
    other.ingest(tmp_path / "one.txt", extractor="local")
    other.remove("one")
    exported.graph.cypher("CREATE (:Stranger {id: 'x'})-[:KNOWS]->(:Stranger {id: 'y'})", write=True)
    exported.graph.import_graph(exported.file("jsonl"))
    assert everything(store) == exported.everything
    assert rows(store, "MATCH (n:Stranger) RETURN count(n)") == [[2]]
    exported.graph.cypher("MATCH (n:Stranger) DETACH DELETE n", write=True)
    assert_equal(exported)
    another = KnowledgeGraph(store, exported.graph.settings, embedder=HashEmbedder(32))
    with pytest.raises(StoreError, match=r"embedded with hash:64 \(64 dimensions\), but hash:32"):
        another.check_model()


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_an_export_that_does_not_fit_leaves_what_was_there(exported: Exported, kind: str, tmp_path: Path) -> None:
    restore(exported)
    with small_disk(tmp_path / "disk", 1) as disk:
        path = disk / NAMES[kind]
        path.mkdir() if kind == "csv" else path.write_text("before")
        leave(disk, 8192)
        before = bytes_of(path)
        with pytest.raises(InputError, match=r"cannot be written: No space left on device\.$"):
            exported.graph.export(path)
        assert bytes_of(path) == before
        assert {each.name for each in disk.iterdir()} == {path.name, "filler"}
