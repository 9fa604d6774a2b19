"""The CSV folder, by the real `neo4j-admin database import`: a new database with the graph in it."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import JARS, end_server, wipe
from graph_lines import good, link, write
from graph_state import snapshot
from whole_graph import everything

from kgplatform import connect
from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.config import install, java_environment, write_configuration
from kgplatform.neo4j.memory import Memory
from kgplatform.neo4j.process import Ports
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import load_settings


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
