"""The Python of the pages adapters.md and export.md runs as it stands; without a library one sentence says so."""

import importlib
import re
import sys
from pathlib import Path

import pytest
from conftest import EXAMPLES, ROOT, emptied
from doc_pages import blocks, page

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import SettingError, to_install
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
    with emptied(neo4j_server, tmp_path_factory.mktemp("snippets")) as kg:
        kg.ingest(EXAMPLES / "corpus", recorded=EXAMPLES / "extraction.jsonl")
    return neo4j_server


@pytest.mark.parametrize(
    ("name", "number", "source"), SNIPPETS, ids=[f"{name}-{number}" for name, number, _ in SNIPPETS]
)
def test_a_snippet_runs(
    graph: Connection,
    at_server: None,
    name: str,
    number: int,
    source: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
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


@pytest.mark.parametrize(("module", "library", "extra"), MISSING)
def test_without_a_library(module: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if f"{each}.".startswith(f"{library}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"kgplatform.interfaces.integrations.{module}", raising=False)
    with pytest.raises(SettingError, match=rf"Run `{re.escape(to_install(extra))}`\."):
        importlib.import_module(f"kgplatform.interfaces.integrations.{module}")


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
