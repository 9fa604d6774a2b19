"""Files from strangers: whatever is wrong with one is told with its place, and nothing of it is written."""

import json
import signal
from pathlib import Path

import igraph
import networkx
import pytest
from command_line import Run
from graph_lines import Line, good, write

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, StoreError
from kgplatform.exchange import exporter
from kgplatform.exchange.elements import Node, Relationship, Spool, read_lines
from kgplatform.exchange.exporter import cell_of, write_graphml

pytest_plugins = ["command_line"]


def refused(kg: KnowledgeGraph, path: Path, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kg.import_graph(path)
    assert kg.cypher("MATCH (n) RETURN count(n)").rows == [[0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, is not valid"),
        ('{"format": "kgplatform-graph", "version": 2}\n', "has version 2 of the format"),
        ('{"format": "kgplatform-graph", "version": 1, "nodes": "1"}\n', "does not say how many"),
        (
            '{"format": "kgplatform-graph", "version": 1, "nodes": 1, "relationships": 0}\nnonsense\n',
            "line 2, is not valid JSON",
        ),
        ("[" * 100_000, "line 1, is not valid"),
    ],
)
def test_what_is_no_export(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "g.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=message):
        list(read_lines(path))


def test_a_line_without_an_end(kg: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgplatform.exchange.elements.LONGEST_LINE", 500)
    lines = good()
    lines[1]["properties"]["text"] = "x" * 1000
    refused(kg, write(tmp_path / "g.jsonl", lines), "line 3, is longer than 500 bytes")


def test_what_cannot_be_named(kg: KnowledgeGraph, tmp_path: Path) -> None:
    good_file = write(tmp_path / "g.jsonl", good())
    (tmp_path / "script.cypher").write_text("MATCH (n) DETACH DELETE n;")
    for path, message in (
        (tmp_path / "none.jsonl", "is not a file"),
        (tmp_path / "g.xlsx", "is not a file"),
        (tmp_path / "script.cypher", "`cypher-shell -f` runs Cypher scripts"),
        (tmp_path, "An import reads JSON lines"),
        (tmp_path / "g.graphml", r"export the graph as \.jsonl"),
    ):
        refused(kg, path, message)
    for kind in ("grapml", "csv"):
        with pytest.raises(InputError, match="An import reads JSON lines"):
            kg.import_graph(good_file, kind)
    with pytest.raises(InputError, match=r'Unknown format "grapml"\. Did you mean graphml'):
        kg.export(tmp_path / "g.txt", "grapml")
    assert kg.import_graph(good_file.rename(tmp_path / "backup")).nodes == 5, "whatever its name"
    for path, kind in ((tmp_path / "g.cypher", None), (tmp_path / "g.txt", "cypher")):
        with pytest.raises(InputError, match=r"Cypher scripts are neither written nor imported: .*NEO4J_URI"):
            kg.export(path, kind)


def spooled(folder: Path, lines: list[Line]) -> Spool:
    folder.mkdir(exist_ok=True)
    with Spool(folder) as spool:
        for each in lines:
            if "node" in each:
                spool.add(Node(each["node"], tuple(sorted(each["labels"])), each["properties"]))
            else:
                spool.add(Relationship(each["relationship"], each["start"], each["end"], each["properties"]))
    return spool


@pytest.fixture
def graphml(tmp_path: Path) -> Path:
    """A file with one of everything."""
    lines = good()
    lines[3]["properties"] |= {
        **{"born": {"date": "1815-12-10"}, "alive": False, "height": 1.5, "n": 7, "limit": {"float": "-Infinity"}},
        **{"where": {"point": {"srid": 4326, "x": 1.5, "y": 2.0}}, "raw": {"bytes": "AP8="}},
        **{"aliases": ["Lady \u0001", "x]]>"], "note": "a\r\nb\tc <&> \"'", "control": "\u0000\u001f\ufffe"},
    }
    lines[6]["properties"] |= {"names": ["a"], "sure": True}
    path = tmp_path / "g.graphml"
    write_graphml(spooled(tmp_path / "spool", lines), path)
    return path


def test_networkx_reads_it(graphml: Path) -> None:
    graph = networkx.read_graphml(graphml)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (5, 2)
    ada = graph.nodes["a"]
    assert (ada["name"], ada["alive"], ada["height"], ada["n"]) == ("Ada", False, 1.5, 7)
    assert ada["note"] == "a\r\nb\tc <&> \"'"
    assert ada["limit"] == float("-inf")
    assert ada["labels"] == ":Entity:KeyElement:Person"
    assert json.loads(ada["aliases"]) == ["Lady \u0001", "x]]>"]
    assert json.loads(ada["json"]) == ["embedding", "born", "where", "raw", "aliases", "control"]
    assert json.loads(ada["where"]) == {"point": {"srid": 4326, "x": 1.5, "y": 2.0}}
    assert graph.edges["a", "b"]["label"] == "KNEW"
    assert graph.edges["a", "b"]["sure"] is True
    assert graph.graph["nodes"] == 5


def test_igraph_reads_it(graphml: Path) -> None:
    graph = igraph.Graph.Read_GraphML(str(graphml))
    assert (graph.vcount(), graph.ecount()) == (5, 2)
    (ada,) = [each for each in graph.vs if each["name"] == "Ada"]
    assert (ada["n"], ada["height"], ada["labels"]) == (7, 1.5, ":Entity:KeyElement:Person")
    assert sorted(graph.es["label"]) == ["FROM_DOCUMENT", "KNEW"]


def test_what_csv_cannot_say(kg: KnowledgeGraph, tmp_path: Path) -> None:
    lines = good()
    lines[3]["properties"] |= {"where": {"point": {"srid": 4326, "x": 1.5, "y": 2.0}}, "raw": {"bytes": "AP8="}}
    kg.import_graph(write(tmp_path / "g.jsonl", lines))
    with pytest.raises(InputError, match=r"CSV has no form for .* (point|bytes).*\.jsonl or \.graphml"):
        kg.export(tmp_path / "csv")
    kg.export(tmp_path / "again.jsonl")
    assert '"where":{"point":{"srid":4326,"x":1.5,"y":2.0}}' in (tmp_path / "again.jsonl").read_text("utf-8")
    assert '"raw":{"bytes":"AP8="}' in (tmp_path / "again.jsonl").read_text("utf-8")
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith(("csv", "."))) == []


def test_places_that_cannot_be_written_and_names_that_cannot_be_exported(kg: KnowledgeGraph, tmp_path: Path) -> None:
    kg.import_graph(write(tmp_path / "g.jsonl", good()))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    for path, kind, message in (
        (tmp_path / "full", "csv", "is not empty"),
        (tmp_path / "full", "jsonl", "is a folder"),
        (tmp_path / "g.jsonl", "csv", "is not a folder"),
        (tmp_path / "none" / "g.jsonl", None, "Nothing can be written into"),
    ):
        with pytest.raises(InputError, match=message):
            kg.export(path, kind)
    assert (tmp_path / "full" / "mine.txt").read_text() == "x"
    kg.cypher("MATCH (c:Chunk) SET c:`Bad``Label`", write=True)
    with pytest.raises(InputError, match="called 'Bad`Label'.*rename it"):
        kg.export(tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("value", [[""], ["a\x1fb"]])
def test_lists_that_a_cell_cannot_hold(value: list[str]) -> None:
    with pytest.raises(ValueError, match="a list"):
        cell_of(value)


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


def test_ctrl_c(small: KnowledgeGraph, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(exporter._WRITERS, "jsonl", lambda *_: signal.raise_signal(signal.SIGINT))
    (tmp_path / "out.jsonl").write_text("the old one")
    done = run("export", "out.jsonl")
    assert (done.code, done.err.endswith("\nStopped. out.jsonl is unchanged.\n")) == (1, True)
    assert (tmp_path / "out.jsonl").read_text() == "the old one"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["g.jsonl", "out.jsonl"]
