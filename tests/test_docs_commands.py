"""Every block of the documentation is run, or has a reason why not; every command of a shell block is.

The graph holds what the pages speak of, and a program that counts words stands in for the language model.
"""

import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import EXAMPLES, ROOT, wipe
from doc_pages import ALL, PAGES, blocks, commands_of, page
from event_loops import in_own_thread
from simulated_readers import reply

from kgplatform.adopt.mapping import read_mapping
from kgplatform.client import connect
from kgplatform.evaluate.costs import load_prices
from kgplatform.evaluate.setups import read_grid
from kgplatform.extract.recorded import is_open_ie
from kgplatform.extract.schema import load_schema
from kgplatform.interfaces.cli import main as cli
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer

pytestmark = pytest.mark.indexes

TUTORIAL, ANONYMITY = "first-graph.md", "anonymity.md"
# Commands that are not run one by one, and why not. A line begins with one of these, or has it after a space.
NOT_ONE_BY_ONE = {
    "kgplatform up": "acts on a managed server: tests/neo4j/test_local_neo4j.py",
    "kgplatform down": "acts on a managed server: tests/neo4j/test_local_neo4j.py",
    "kgplatform serve": "runs until it is ended: tests/interfaces/http/test_serve_command.py",
    "kgplatform mcp": "runs until it is ended: tests/interfaces/mcp/",
    "kgplatform browser": "runs until it is ended: tests/interfaces/neo4j_browser/",
    "kgplatform watch": "runs until it is ended: tests/interfaces/cli/test_kept_commands.py",
    "kgplatform answer": "needs a kept answer: the same",
    "--needles": "a managed server and a graph for each text: tests/evaluate/test_needles.py",
    "evaluate musique/": "a data set: tests/evaluate/test_evaluate_command.py, test_evaluate_graphs.py",
    "evaluate hotpot_dev": "the same",
    "evaluate questions.jsonl --readers retrieve,bm25,closed": "tests/evaluate/test_evaluate_command.py",
    "--prepare": "reads and gists for five readers: tests/evaluate/test_evaluate_killed.py",
    "--grid": "forty setups: the grid is read below, and evaluated in tests/evaluate/test_evaluate_command.py",
    '"…"': "a question to fill in: the same commands run with one",
    "kgplatform anonymise": "one command after the other, below",
    "hidden": "one command after the other, below",
    "workspaces ": "one command after the other: tests/interfaces/team/test_commands.py",
    "people ": "the same",
    "--workspace ": "the same",
    "--workspaces ": "the same",
    "kgplatform adopt": "another server: tests/adopt/test_adopted.py",
    "ingest examples/corpus": "the tutorial, one command after the other, below",
}
# Blocks of bash, and of Python that other tests run.
ELSEWHERE = {
    ("http.md", "bash"): "tests/interfaces/http/test_serve_command.py, test_readme.py",
    ("team.md", "nginx"): "of another program; what it must pass on is in tests/interfaces/team/test_host.py",
    (TUTORIAL, "bash"): "sets up the reader's shell; the stand-in is what all tests here ask",
    ("README.md", "python"): "test_the_python_example_runs",
    ("adapters.md", "python"): "tests/interfaces/integrations/test_adapter_snippets.py",
    ("export.md", "python"): "tests/interfaces/integrations/test_adapter_snippets.py",
    ("code.md", "python"): "tests/readers/test_recipe.py",
    ("needle-tasks.md", "python"): "tests/evaluate/test_needles.py",
    ("from-other-tools.md", "python"): "test_what_other_tools_keep_is_brought_over",
    ("extend.md", "toml"): "tests/test_extend.py",
}
_RUN_OR_READ_HERE = ("sh", "console", "python", "cypher", "ini", "json", "yaml")
_OUTPUT = "text"
# What is asked where a page shows no questions.
_TALK = "Who founded the Atlantic Telegraph Company?\nAnd where?\n"

RUN = [line for line in ALL if "kgplatform" in line and not any(f" {each}" in f" {line}" for each in NOT_ONE_BY_ONE)]
# Of those that differ in what is asked alone, one is run; test_cypher_files.py runs the statements of all. An
# evaluation that begins another is that one's first part.
RUN = [*{re.sub('"[^"]+"', '"…"', line): line for line in RUN}.values()]
RUN = [line for line in RUN if " evaluate " not in line or not any(each.startswith(f"{line} ") for each in RUN)]


def test_every_block_is_run_or_has_a_reason() -> None:
    found = {
        (each.name, language)
        for each in PAGES
        for language in re.findall(r"^```(\w*)\n.*?^```", each.read_text(encoding="utf-8"), re.M | re.S)
    }
    handled = {*_RUN_OR_READ_HERE, _OUTPUT}
    assert sorted(each for each in found if each[1] not in handled and each not in ELSEWHERE) == []
    assert sorted(each for each in ELSEWHERE if each not in found) == []
    assert [each for each in NOT_ONE_BY_ONE if not any(f" {each}" in f" {line}" for line in ALL)] == []


def test_every_command_is_a_known_programs() -> None:
    known = {"kgplatform", "make", "KGPLATFORM_EMBEDDER=hash:64", "export"}
    assert {line.rpartition(" | ")[2].split()[0] for line in ALL} <= known


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the documentation speaks of."""
    folder = tmp_path_factory.mktemp("reader")
    text = "Cyrus Field founded the Atlantic Telegraph Company in London. The Great Eastern laid the cable of 1866."
    for name in ("my-folder", "reports", "films", "books"):
        (folder / name).mkdir()
        (folder / name / "one.txt").write_text(text, encoding="utf-8")
    (folder / "my-folder" / "report.pdf").write_bytes((EXAMPLES / "corpus" / "Expedition_of_1865.pdf").read_bytes())
    (folder / "report.pdf").write_bytes((folder / "my-folder" / "report.pdf").read_bytes())
    (folder / "notes.md").write_text(f"# Notes\n\n{text}\n", encoding="utf-8")
    (folder / "films.yaml").write_text(blocks(page("schema.md"), "yaml")[0], encoding="utf-8")
    (folder / "extraction.jsonl").write_text(
        '{"document": "one.txt", "entities": [{"name": "Cyrus Field"}]}\n'
        '{"document": "report.pdf", "entities": [{"name": "Great Eastern"}]}\n',
        "utf-8",
    )
    (folder / "openie.json").write_text(
        '[{"title": "Field", "text": "Cyrus Field lived in New York.", "extracted_entities": ["Cyrus Field"],'
        ' "extracted_triples": [["Cyrus Field", "lived in", "New York"]]}]',
        encoding="utf-8",
    )
    (folder / "questions.jsonl").write_text(
        '{"question": "Who founded the Atlantic Telegraph Company?", "answer": "Cyrus Field", "documents": ["one"]}\n'
        '{"question": "What laid the cable of 1866?", "answer": "the Great Eastern", "documents": ["one"]}\n',
        encoding="utf-8",
    )
    (folder / "graph.jsonl").write_text(
        '{"format": "kgplatform-graph", "version": 1, "nodes": 2, "relationships": 0}\n{"node": "graph", "labels": '
        '["Graph"], "properties": {"format": 1, "embeddingModel": "hash:64", "embeddingDimension": 64}}\n'
        '{"node": "a run", "labels": ["Run"], "properties": {"question": "Who?", "reader": "retrieve"}}\n',
        encoding="utf-8",
    )
    (folder / "musique").mkdir()
    (folder / "musique" / "musique_ans_v1.0_dev.jsonl").write_text(
        '{"id": "2hop__1", "question": "Who founded it?", "answer": "Cyrus Field", "answer_aliases": [], '
        '"answerable": true, "question_decomposition": [], "paragraphs": [{"idx": 0, "title": "Field", '
        '"paragraph_text": "Cyrus Field founded it.", "is_supporting": true}]}\n',
        encoding="utf-8",
    )
    (folder / "examples").symlink_to(EXAMPLES)
    return folder


@pytest.fixture
def reader(neo4j_server: Connection, at_server: None, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The folder is where we are, and the graph holds what the documentation speaks of."""
    monkeypatch.chdir(folder)
    return Store(neo4j_server)


def run(line: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run one line of documentation in this process, with the settings that stand before the command.

    What another program writes into it, and a thread that it names, are there.
    """
    told, _, line = line.rpartition(" | ")
    asked = subprocess.run(["bash", "-c", told], capture_output=True, text=True, check=True).stdout if told else ""
    monkeypatch.setattr(sys, "stdin", io.StringIO(asked or _TALK))
    words = shlex.split(line, comments=True)
    if words[-2:] == ["--thread", "ID"]:
        words[-1] = a_thread()
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        monkeypatch.setenv(name, value)
    assert words[0] == "kgplatform"
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def a_thread() -> str:
    """A thread in which a question was asked."""
    with connect() as graph:
        thread = graph.chat()
        thread.ask("Who founded the Atlantic Telegraph Company?")
        return thread.id


@pytest.mark.parametrize("line", RUN)
def test_every_command_runs(
    reader: Store, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with reader:
        if not re.search("kgplatform (?:ingest|remove|reembed|correct alias)", line):
            prepare(reader, monkeypatch)
        elif " ingest " not in line:
            wipe(reader)
            prepare(reader, monkeypatch)
        else:
            wipe(reader)
    if "--reader global" in line:
        assert run("kgplatform tree", monkeypatch) == 0
    capsys.readouterr()
    with OpenAIServer(reply) as model:
        if needs_a_model(line):
            monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        code = run(line, monkeypatch)
    out, err = capsys.readouterr()
    assert code == 0, err
    assert out.strip()
    if re.search(r"kgplatform chat(?! --list)", line):
        assert "To continue this thread: kgplatform chat --thread " in err


def needs_a_model(line: str) -> bool:
    """All others do without."""
    return line.startswith(("kgplatform gist", "kgplatform evaluate")) and "--retrieval-only" not in line


def prepare(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The graph that reading commands need, unless it is there."""
    there = store.read("ingest/graph_state")
    documents = {row["title"] for row in store.read("explore/documents")}
    if documents != {"one", "report", "Notes"} or there[0]["graph"].get("embeddingModel") != "hash:64":
        wipe(store)
        assert run("kgplatform ingest my-folder notes.md --extractor local", monkeypatch) == 0


def test_the_tutorial_from_its_first_command_to_its_last(
    reader: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it shows is what is printed, line by line; lines that it leaves out it leaves out."""
    with reader:
        wipe(reader)
    printed, compared = "", 0
    with OpenAIServer(reply) as model:
        for language, block in re.findall(r"^```(sh|bash|text)\n(.*?)^```", page(TUTORIAL), re.M | re.S):
            if "export OPENAI_BASE_URL" in block:
                monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
            elif language == "sh" and not re.match("make demo|kgplatform (?:serve|down)", block):
                assert run(block.strip(), monkeypatch) == 0
                printed = " ".join(capsys.readouterr().out.split())
            elif language == "text":
                lines = [" ".join(line.split()) for line in block.splitlines()]
                if lines[0].startswith("Tree built"):  # how many communities depends on the embedding model
                    lines, printed = [re.sub(r"\d+", "0", each) for each in lines], re.sub(r"\d+", "0", printed)
                assert [line for line in lines if line not in printed] == [], printed
                compared += 1
    assert compared == 7


def test_texts_are_anonymised_as_the_page_says(reader: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = commands_of(page(ANONYMITY))
    assert [line.split()[1] for line in lines] == ["anonymise", "ingest", "evaluate"]
    with reader:
        prepare(reader, monkeypatch)
        assert run(lines[0], monkeypatch) == 0
        wipe(reader)
    assert "Cyrus Field" not in (folder / "hidden" / "texts.jsonl").read_text(encoding="utf-8")
    with OpenAIServer(reply) as model:
        assert run(lines[1].replace(" --home anonymous", " --extractor local"), monkeypatch) == 0
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        assert run(lines[2].replace(" --home anonymous", ""), monkeypatch) == 0


_EXAMPLES = [
    (each.name, number, example)
    for each in PAGES
    if (each.name, "python") not in ELSEWHERE
    for number, example in enumerate(blocks(each.read_text(encoding="utf-8"), "python"), start=1)
]


@pytest.mark.parametrize(("name", "number", "example"), _EXAMPLES, ids=[f"{name}-{at}" for name, at, _ in _EXAMPLES])
def test_the_python_examples_run(
    reader: Store, name: str, number: int, example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reader:
        prepare(reader, monkeypatch)
    with OpenAIServer(reply) as model:
        if "evaluate(" in example:
            monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        program = compile(example, f"{name}, block {number}", "exec")
        in_own_thread(lambda: exec(program, {})) if "asyncio.run(" in example else exec(program, {})


def test_the_python_example_runs(reader: Store, capsys: pytest.CaptureFixture[str]) -> None:
    with reader:
        wipe(reader)
    (example,) = blocks((ROOT / "README.md").read_text(encoding="utf-8"), "python")
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) >= 3
    assert re.fullmatch(r"\[\[[1-9]\d*\]\]", printed[-1])


def test_every_statement_runs(reader: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with reader:
        prepare(reader, monkeypatch)
        for statement in sorted({each for path in PAGES for each in blocks(path.read_text("utf-8"), "cypher")}):
            assert reader.run_statement(statement, {}, write=False, timeout=30, limit=10).columns, statement


def test_settings_and_json_of_the_pages_can_be_read() -> None:
    for text in (path.read_text(encoding="utf-8") for path in PAGES):
        for block in blocks(text, "ini"):
            Path(".env").write_text(block, encoding="utf-8")
            assert load_settings()
        for block in blocks(text, "json"):
            whole = not block.startswith('{"id"')  # else a document a line
            assert [json.loads(each) for each in ([block] if whole else block.splitlines())]


def test_yaml_is_what_the_page_says_it_is(folder: Path) -> None:
    (mapping,) = blocks(page("commands.md"), "yaml")
    assert len(read_mapping(mapping, "adopt.yaml").paths) == 1
    schema = load_schema(folder / "films.yaml")
    assert [each.name for each in schema.entities] == ["Person", "Film"]
    assert is_open_ie(folder / "openie.json")
    prices, grid = blocks(page("evaluation.md"), "yaml")
    (folder / "prices.yaml").write_text(prices, encoding="utf-8")
    (folder / "grid.yaml").write_text(grid, encoding="utf-8")
    assert load_prices(folder / "prices.yaml")
    assert read_grid(folder / "grid.yaml")


# What the libraries keep: LightRAG 1.5 its texts, HippoRAG 2 its open IE, the two on Neo4j their nodes.
_LIGHTRAG = {"doc-1": {"content": "Cyrus Field lived in New York.", "file_path": "field.txt"}}
_HIPPORAG_FILE = "outputs/openie_results_ner_gpt-4o-mini.json"
_HIPPORAG = {
    "docs": [
        {
            "idx": "chunk-1",
            "passage": "Brunel designed the Great Eastern.",
            "extracted_entities": ["Brunel", "Great Eastern"],
            "extracted_triples": [["Brunel", "designed", "Great Eastern"]],
        }
    ],
    "avg_ent_chars": 9.5,
    "avg_ent_words": 1.5,
}
_THEIRS = """
CREATE (d:Document {path: 'cable.pdf', fileName: 'cable.pdf'})
CREATE (c:Chunk {text: 'Cyrus Field founded the Atlantic Telegraph Company.', index: 0, position: 0})
CREATE (a:Person:`__Entity__` {name: 'Cyrus Field', id: 'Cyrus Field'})
CREATE (b:Company:`__Entity__` {name: 'Atlantic Telegraph Company', id: 'Atlantic Telegraph Company'})
CREATE (c)-[:FROM_DOCUMENT]->(d), (a)-[:FROM_CHUNK]->(c), (b)-[:FROM_CHUNK]->(c), (a)-[:FOUNDED]->(b)
CREATE (c)-[:PART_OF]->(d), (c)-[:HAS_ENTITY]->(a), (c)-[:HAS_ENTITY]->(b)
"""


def test_what_other_tools_keep_is_brought_over(
    reader: Store, tmp_path: Path, neo4j_server: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts, hipporag, theirs = blocks(page("from-other-tools.md"), "python")
    for name, kept in (("rag_storage/kv_store_full_docs.json", _LIGHTRAG), (_HIPPORAG_FILE, _HIPPORAG)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(json.dumps(kept), "utf-8")
    for snippet in (texts, hipporag):
        exec(compile(snippet, "from-other-tools.md", "exec"), {})
    (tmp_path / "openie.jsonl").rename(tmp_path / "hipporag.jsonl")
    theirs = theirs.replace("neo4j://localhost:7687", neo4j_server.uri).replace("THEIR-PASSWORD", neo4j_server.password)
    with reader:
        wipe(reader)
        reader.run_statement(_THEIRS, {}, write=True, timeout=30, limit=1)
        exec(compile(theirs, "from-other-tools.md", "exec"), {})
        written = json.loads((tmp_path / "openie.jsonl").read_text("utf-8"))
        exec(compile(theirs.replace("query(GRAPHRAG)", "query(BUILDER)"), "from-other-tools.md", "exec"), {})
        again = json.loads((tmp_path / "openie.jsonl").read_text("utf-8"))
        assert {**again, "extracted_entities": sorted(written["extracted_entities"])} == {
            **written,
            "extracted_entities": sorted(again["extracted_entities"]),
        }
        wipe(reader)
    with connect() as graph:
        report = graph.ingest(["texts.jsonl", "hipporag.jsonl", "openie.jsonl"])
        assert report.skipped == []
        assert report.added == 3
        triples = graph.cypher(
            "MATCH (s:Entity)<-[:SUBJECT]-(f:Fact)-[:OBJECT]->(o:Entity) RETURN s.name, f.predicate, o.name"
        ).rows
        kept = {row[0] for row in graph.cypher("MATCH (c:Chunk) RETURN c.text").rows}
    assert ["Cyrus Field", "founded", "Atlantic Telegraph Company"] in triples
    assert kept == {
        "Cyrus Field lived in New York.",
        "Cyrus Field founded the Atlantic Telegraph Company.",
        "Brunel designed the Great Eastern.",
    }
