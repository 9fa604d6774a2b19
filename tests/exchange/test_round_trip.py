"""An export as JSON lines, imported, is an equal graph with the same values and indexes; exported again, it is the same
bytes in every format."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import JARS, end_server, wipe
from disks import leave, small_disk
from graph_lines import good, link, write
from graph_state import Snapshot, snapshot
from killed_import import kill_import
from other_embedder import OtherEmbedder
from whole_graph import add_strangers, everything, fill, ingest_some

from kgplatform import connect
from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, StoreError
from kgplatform.exchange import importer
from kgplatform.exchange.importer import LEFT_OUT
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.config import install, java_environment, write_configuration
from kgplatform.neo4j.memory import Memory
from kgplatform.neo4j.process import Ports
from kgplatform.neo4j.server import LocalNeo4j
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


def run_command(folder: Path, home: Path, java: Path) -> None:
    """Run ``import.sh`` with the admin tool of the managed server, which has no launcher of that name."""
    lines = (folder / "import.sh").read_text("utf-8").split("set -e\n")[1]
    words = shlex.split(lines.replace("\\\n", " ").replace('"${1:-neo4j}"', "neo4j"))
    assert words[0] == "neo4j-admin"
    arguments = [f"@{home / 'conf' / 'class-path.args'}", "org.neo4j.cli.AdminTool", *words[1:]]
    command = [str(java), "-Xmx400m", *arguments]
    done = subprocess.run(command, cwd=folder, env=java_environment(home), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "IMPORT DONE" in done.stdout
    assert not re.search(r"bad entries|skipped", done.stdout)


def everything_there_is() -> list[dict[str, Any]]:
    """A small graph with a value of every type that CSV can hold, and one property of several types."""
    lines = good()
    lines[1]["properties"]["text"] = 'Two\nlines, "quoted"; \\ and\ttab\r\n'
    lines[3]["properties"] |= {
        **{"born": {"date": "1815-12-10"}, "at": {"datetime": "1954-07-10T09:30:00.000000001+01:00[Europe/London]"}},
        **{"seen": {"datetime": "1866-07-27T12:00:00.5Z"}, "local": {"localdatetime": "1866-07-27T23:59:59"}},
        **{"bell": {"localtime": "12:30:00"}, "call": {"time": "09:00:00-05:00"}, "trip": {"duration": "P14M10DT5.5S"}},
        **{"days": [{"date": "1866-07-13"}, {"date": "1866-07-27"}], "limit": {"float": "Infinity"}, "empty": ""},
        **{"ages": [1, -2, 2**63 - 1], "shares": [1.5, -0.25, 1e-300], "flags": [True, False], "zero": -0.0},
        **{"nothing": [], "names": ["a,b", "", "c;d", '"'], "mixed": 1, "own note": "人物"},
    }
    lines[4]["properties"] |= {"mixed": "text", "nothing": ["x"]}
    return [*lines, link("Own Type", "b", "a", since={"date": "1866-01-01"}), link("KNEW", "a", "b", weight=1)]


@pytest.mark.long
@pytest.mark.usefixtures("quick_servers")
def test_neo4j_admin_makes_an_equal_graph_whose_server_is_started_by_connecting(
    neo4j_server: Connection, tmp_path: Path, quick_java: Path
) -> None:
    """Without an address the managed server is started, once, and goes on when the graph is closed."""
    settings = load_settings(home=tmp_path / "home", embedder="hash:64")
    with Store(neo4j_server) as store:
        wipe(store)
        graph = KnowledgeGraph(store, settings, embedder=HashEmbedder(64))
        graph.import_graph(write(tmp_path / "graph.jsonl", everything_there_is()))
        before = snapshot(store), everything(store)
        titles = [info.title for info in graph.documents()]
        graph.export(tmp_path / "graph")
    given: dict[str, Any] = {"home": tmp_path / "other", "neo4j_heap": "300m", "neo4j_page_cache": "64m"}
    other = load_settings(**given)
    home = tmp_path / "other" / "neo4j"
    (home / "conf").mkdir(parents=True)
    write_configuration(
        home, Memory("300m", "64m"), Ports(bolt=0, http=0), install(JARS, print)
    )  # the server writes its own
    run_command(tmp_path / "graph", home, quick_java)
    server, said = LocalNeo4j(other), list[str]()
    try:
        with connect(report=said.append, embedder="hash:64", **given) as graph:
            for statement in (tmp_path / "graph" / "after-import.cypher").read_text("utf-8").split(";\n")[:-1]:
                graph.store.run_statement(statement, {}, write=True, timeout=60, limit=1)
            assert snapshot(graph.store) == before[0]
            assert everything(graph.store) == before[1]
        pid = server.status().pid
        assert any(line.startswith("Starting Neo4j") for line in said)
        with connect(report=said.append, embedder="hash:64", **given) as graph:
            assert [info.title for info in graph.documents()] == titles
            graph.store.define("neo4j/schema/await_indexes", seconds=60)
            assert graph.search("Ada knew Charles.", "passage").passages[0].text == "Ada knew Charles."
            graph.export(tmp_path / "again")
        assert server.status().pid == pid is not None
    finally:
        end_server(server)
    names = {each.name for each in (tmp_path / "again").iterdir()}
    assert names == {each.name for each in (tmp_path / "graph").iterdir()} - {"import.report"}  # which the tool wrote
    for name in names:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "graph" / name).read_bytes(), name
