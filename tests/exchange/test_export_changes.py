"""A graph that is changed while it is exported: an export is of one state of it, or there is none."""

import signal
from pathlib import Path

import pytest
from graph_lines import good, write

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, StoreError
from kgplatform.exchange import exporter
from kgplatform.interfaces.cli.main import main


@pytest.fixture
def small(kg: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnowledgeGraph:
    """The smallest graph, of which an export reads two nodes at a time."""
    kg.import_graph(write(tmp_path / "g.jsonl", good()))
    monkeypatch.setattr(exporter, "_PAGE", 2)
    return kg


def export_while(graph: KnowledgeGraph, path: Path, statement: str) -> bytes:
    """Export to ``path``, and run ``statement`` once, after the graph and the document were read."""
    changes = iter([statement])

    def progress(stage: str, done: int, total: int) -> None:
        if stage == "exporting" and done == 2 and (change := next(changes, None)):
            graph.cypher(change, write=True)

    graph.export(path, progress=progress)
    assert next(changes, None) is None
    return path.read_bytes()


def test_a_change_of_what_was_read_already(small: KnowledgeGraph, tmp_path: Path) -> None:
    """Of a property, of a label, a node for another, a relationship for another."""
    path = tmp_path / "out.jsonl"
    for change in (
        "MATCH (d:Document) SET d.name = 'Another'",
        "MATCH (d:Document) SET d:Marked",
        "MATCH (d:Document) SET d.id = 'dd'",
        "MATCH (:Chunk)-[r:FROM_DOCUMENT]->(d) CREATE (d)-[:FROM_DOCUMENT]->(d) DELETE r",
    ):
        path.write_text("the old one")
        with pytest.raises(StoreError, match="was changed while it was exported: nothing was written. Export it again"):
            export_while(small, path, change)
        assert path.read_text() == "the old one"
        assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]
        small.export(path)


def test_a_change_of_what_was_not_read_yet(small: KnowledgeGraph, tmp_path: Path) -> None:
    """The export has it: that is the state of the graph after it."""
    found = export_while(small, tmp_path / "out.jsonl", "MATCH (c:Chunk) SET c.name = 'Another'")
    assert b"Another" in found
    small.export(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == found


def test_a_change_of_what_is_not_ours(small: KnowledgeGraph, tmp_path: Path) -> None:
    small.export(tmp_path / "before.jsonl")
    found = export_while(small, tmp_path / "out.jsonl", "CREATE (:Stranger {id: 'x'})")
    assert found == (tmp_path / "before.jsonl").read_bytes()


def test_a_node_of_two_kinds(small: KnowledgeGraph, tmp_path: Path) -> None:
    small.cypher("MATCH (d:Document) SET d:Chunk", write=True)
    with pytest.raises(InputError, match="the node d has the labels Chunk and Document"):
        small.export(tmp_path / "out.jsonl")


def test_ctrl_c(
    small: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    connection = small.store.connection
    monkeypatch.setenv("NEO4J_URI", connection.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", connection.password)
    monkeypatch.setitem(exporter._WRITERS, "jsonl", lambda *_: signal.raise_signal(signal.SIGINT))
    monkeypatch.setattr("sys.argv", ["kgplatform", "export", "out.jsonl"])
    (tmp_path / "out.jsonl").write_text("the old one")
    with pytest.raises(SystemExit, match="1"):
        main()
    assert capsys.readouterr().err.endswith("\nStopped. out.jsonl is unchanged.\n")
    assert (tmp_path / "out.jsonl").read_text() == "the old one"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["g.jsonl", "out.jsonl"]
