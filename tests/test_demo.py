"""The demo, from its first line to its last, on a server of its own."""

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import EXAMPLES, JARS

from kgplatform.client import open_graph
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.query import parse_query
from kgplatform.records import Document
from kgplatform.settings import load_settings
from kgplatform.sources.load import load

QUESTION = json.loads((EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()[0])


QUICKLY = """
import pathlib, runpy, sys
from kgplatform.neo4j.server import LocalNeo4j
java, demo, *_ = sys.argv[1:]
LocalNeo4j.__init__.__kwdefaults__["java"] = pathlib.Path(java)
sys.argv = sys.argv[2:]
sys.path.insert(0, str(pathlib.Path(demo).parent))
runpy.run_path(demo, run_name="__main__")
"""
"""The demo with a Java that starts and answers with half the work."""


def run_demo(home: Path, java: Path) -> subprocess.CompletedProcess[str]:
    """Run it as ``make demo`` does; NEO4J_URI must not matter."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("NEO4J", "OPENAI", "KGPLATFORM"))},
        "KGPLATFORM_NEO4J_JARS": str(JARS),
        "KGPLATFORM_NEO4J_HEAP": "512m",
        "NEO4J_URI": "bolt://127.0.0.1:1",
        "NEO4J_PASSWORD": "of another graph",
    }
    command = [sys.executable, "-c", QUICKLY, str(java), str(EXAMPLES / "demo.py"), "--home", str(home)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The demo's home folder; its server is stopped in the end."""
    home = tmp_path_factory.mktemp("demo") / "home"
    yield home
    LocalNeo4j(load_settings(home=home)).down()


@pytest.fixture(scope="module")
def first(home: Path, quick_java: Path) -> subprocess.CompletedProcess[str]:
    """The first run."""
    return run_demo(home, quick_java)


def part(output: str, heading: str) -> str:
    """What stands below the heading that begins with ``heading``."""
    found = re.search(rf"^== {heading}.*\n((?:(?!== ).*\n)*)", output, re.M)
    assert found, f"no part {heading!r} in:\n{output}"
    return found[1].strip()


@pytest.mark.long
def test_the_first_run(first: subprocess.CompletedProcess[str], home: Path) -> None:
    assert first.returncode == 0, first.stderr
    assert "Traceback" not in first.stderr
    assert "Documents: 20 new. Passages: 21, all read now by the extractor recorded." in part(
        first.stdout, "The corpus"
    )
    assert "Tree built by the method multiplex: " in part(first.stdout, "The tree")
    assert part(first.stdout, "The question") == QUESTION["question"]
    assert "No language model is configured, so there is no answer" in part(first.stdout, "The answer")
    look = part(first.stdout, "Look at it")
    assert re.search(r"^Neo4j Browser: http://127\.0\.0\.1:\d+$", look, re.M)
    assert str(home / "neo4j" / "password") in look
    assert (home / "neo4j" / "password").is_file()
    for command in ("serve --open", "browser", "ask", "down"):
        assert f".venv/bin/kgplatform {command} --home {home}" in look
    query, shown = re.search(r"^A first query: (.+)$", look, re.M), part(first.stdout, "The path between them")
    assert query
    with open_graph(load_settings(home=home)) as graph:
        assert graph.cypher(query[1]).rows
        (row,) = graph.cypher(shown[shown.index("MATCH") :]).rows
    names = [node["properties"]["name"] for node in row[0]["nodes"]]
    assert names == re.findall(r": (.+)$", shown[: shown.index("\n\n")], re.M)
    assert (row[0]["nodes"][0]["labels"], row[0]["nodes"][-1]["labels"]) == (["Document"], ["Document"])


@pytest.mark.long
def test_both_hops_are_the_evidence_that_the_question_needs(first: subprocess.CompletedProcess[str]) -> None:
    documents = {each.title: each for each in load([EXAMPLES / "corpus"]) if isinstance(each, Document)}
    cited = re.compile(
        r"^  (?P<name>.+?)(?:, page \d+)?, characters (?P<start>\d+)–(?P<end>\d+): “(?P<words>.+)”$", re.M
    )
    told, places = [], set()
    for heading in ("Hop 1", "Hop 2"):
        shown = part(first.stdout, heading)
        told.append(shown.splitlines()[0])
        found = list(cited.finditer(shown))
        assert found
        for each in found:
            text = documents[each["name"]].text
            assert " ".join(text[int(each["start"]) : int(each["end"])].split()) == each["words"]
        places |= {documents[each["name"]].uri.rsplit("/", 1)[-1] for each in found}
    assert told[0] == QUESTION["facts"][0]
    assert len(places) == 2
    assert QUESTION["answer"] in told[1]


def test_a_home_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setattr(sys, "argv", ["demo.py", "--home", str(tmp_path / "file" / "home")])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(EXAMPLES / "demo.py"), run_name="__main__")
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("demo: The home folder ")


def test_its_statements_declare_what_they_use() -> None:
    for path in EXAMPLES.glob("*.cypher"):
        query = parse_query(path.stem, path.read_text(encoding="utf-8"))
        assert (query.mode, bool(query.returns)) == ("read", True), path
