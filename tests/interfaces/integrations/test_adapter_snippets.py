"""The Python of the pages adapters.md and export.md runs as it stands; without a library one sentence says so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import EXAMPLES, ROOT, wipe
from doc_pages import blocks, page

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer

pytestmark = pytest.mark.filterwarnings("ignore:The default returned 'id' field:DeprecationWarning")


SNIPPETS = [
    (name, number, each)
    for name in ("adapters.md", "export.md")
    for number, each in enumerate(blocks(page(name), "python"))
]


@pytest.fixture(scope="module")
def graph(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Connection:
    """The examples are in the graph."""
    with Store(neo4j_server) as store:
        wipe(store)
        settings = load_settings(home=tmp_path_factory.mktemp("snippets"))
        kg = KnowledgeGraph(store, settings, embedder=HashEmbedder(64))
        kg.ingest(EXAMPLES / "corpus", recorded=EXAMPLES / "extraction.jsonl")
    return neo4j_server


@pytest.mark.parametrize(
    ("name", "number", "source"), SNIPPETS, ids=[f"{name}-{number}" for name, number, _ in SNIPPETS]
)
def test_a_snippet_runs(
    graph: Connection,
    name: str,
    number: int,
    source: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("NEO4J_URI", graph.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", graph.password)
    monkeypatch.setenv("KGPLATFORM_EMBEDDER", "hash:64")
    if "networkx" in source:
        with Store(graph) as store:
            KnowledgeGraph(store, load_settings()).export("graph.graphml")
    with OpenAIServer(lambda messages: "Cyrus Field founded it.") as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        exec(compile(source, f"{name}, block {number + 1}", "exec"), {})
    assert capsys.readouterr().out.strip()


MISSING = [
    ("neo4j_graphrag", "neo4j_graphrag", "graphrag"),
    ("langchain", "langchain_core", "langchain"),
    ("langchain", "langchain_neo4j", "langchain"),
    ("llamaindex", "llama_index", "llamaindex"),
]


def test_without_a_library() -> None:
    """In a process of its own, in which one library after the other cannot be imported."""
    program = (
        "import importlib, sys\n"
        "from kgplatform.errors import SettingError\n"
        f"for module, library, _ in {MISSING!r}:\n"
        "    sys.modules[library] = None\n"
        "    try:\n        importlib.import_module('kgplatform.interfaces.integrations.' + module)\n"
        "    except SettingError as error:\n        print(error)\n"
        "    del sys.modules[library]\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    told = done.stdout.splitlines()
    assert [line.partition("Run ")[2] for line in told] == [
        f"`pip install 'kgplatform[{extra}]'`." for *_, extra in MISSING
    ]


def test_the_platform_imports_none_of_them() -> None:
    program = (
        "import sys, kgplatform, kgplatform.client, kgplatform.interfaces.cli.main\n"
        "theirs = ('neo4j_graphrag', 'langchain_core', 'langchain_neo4j', 'llama_index')\n"
        "print([name for name in sys.modules if name.startswith(theirs)])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_indexes_are_what_the_page_says() -> None:
    """Names, labels and properties of the indexes, in the statements that make them."""
    rows = re.findall(r"^\| `(\w+)` \| (vector|full text) \| `(\w+)`[^|]*\| (.+) \|$", page("adapters.md"), re.M)
    statements = "".join(
        path.read_text("utf-8")
        for path in Path(ROOT / "cypher" / "neo4j" / "schema").glob("*.cypher")
        if path.name.startswith(("vector", "fulltext"))
    )
    made = re.findall(r"INDEX (\w+) IF NOT EXISTS\nFOR \(n:(\w+)\) ON (?:EACH )?[(\[](.+?)[)\]]\n", statements)
    said = {(name, label, ", ".join(f"n.{each}" for each in _quoted(keys))) for name, _, label, keys in rows}
    assert said == set(made)


def _quoted(text: str) -> list[str]:
    return re.findall(r"`(\w+)`", text)
