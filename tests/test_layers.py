"""The shape of the code: who may import whom, how long a function may be, what a string may not be."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kgplatform
from kgplatform.settings import Settings

PACKAGE = Path(__file__).parent.parent / "kgplatform"

ORDER = """
errors
records text settings stopping colors
query prompt json_text folding sentences
places
store
neo4j_install neo4j_process neo4j_faults
neo4j_config
local_neo4j
connecting
browser.running
loop_thread side_by_side
llm_cache llm_wire
llm
reply
hash_embedder minilm
embed
testing_server
testing

build.type_names build.schema_file
build.schema
build.content
build.formats
build.corpus
build.load build.chunk
build.extract.words
build.stems
build.extract
build.extract.shape build.extract.placing build.extract.kinds build.extract.names
build.extract.recorded_file build.extract.relations build.extract.terms
build.extract.model build.extract.local build.extract.recorded
build.extract.fact_lines
build.extract.facts
build.bound build.rows build.report build.resolve build.remove build.plan build.forms
build.grouping
build.settle build.write
build.gist.paragraphs build.gist.crew build.gist.report
build.gist.options
build.gist.pagination build.gist.gisting
build.gist.pages
build.gist.merging build.gist.reading
build.gist.fit
build.gist.gist_documents
build.reading
build.facts_pass
build.estimate
build.tree.entity_graph
build.tree.perception build.tree.neighbours
build.tree.multiplex build.tree.paper build.tree.small
build.tree.measures
build.tree.methods
build.tree.nest
build.tree.signature build.tree.words build.tree.report build.tree.communities build.tree.read
build.tree.names build.tree.changes
build.tree.write
build.tree.build_tree
build.recording
build.pipeline

retrieve.found retrieve.fuse retrieve.question
retrieve.paths retrieve.communities retrieve.nodes retrieve.okapi
retrieve.pages
retrieve.routes retrieve.lookup retrieve.types retrieve.merge retrieve.statement_schema
retrieve.statement_sources retrieve.statement_refused
retrieve.statement
retrieve.everything
retrieve.search
retrieve.evidence

readers.calls readers.citing readers.window readers.actions
readers.answering
readers.briefing
readers.path readers.initial_nodes
readers.explore readers.notebooks
readers.graphreader
readers.sub_questions readers.memory
readers.fill_in readers.reflect readers.marked readers.page_requests readers.choices
readers.page_brief
readers.gist_memory
readers.look_up
readers.readagent
readers.conflict readers.envelope readers.experts
readers.team_options
readers.team readers.leader
readers.meeting
readers.longagent
readers.cypher_schema readers.cypher_rows
readers.cypher
readers.retrieve readers.youtu readers.full_text readers.chunk_read readers.given
readers.choose
pasteable function_calls
browser.links browser.style browser.favorites browser.program
browser.guide
exchange.elements exchange.values
exchange.lines
exchange.csv_cells
exchange.spool exchange.checking
exchange.graphml exchange.script exchange.writing
exchange.csv_folder
exchange.files exchange.merging
exchange.exporting exchange.importing
exchange
keep info
look_records
look_discs
look_map
look
client
adapters.passages
adapters.neo4j_graphrag adapters.langchain adapters.llamaindex
show
show_trace
evaluate.question evaluate.results
evaluate.anonymity evaluate.anonymity.placeholders evaluate.anonymity.replace evaluate.anonymity.map_file
evaluate.anonymity.files evaluate.anonymity.reversion evaluate.anonymity.entities
evaluate.anonymity.kinds_by_use
evaluate.anonymity.sources
evaluate.anonymity.dictionary
evaluate.anonymity.anonymise
evaluate.anonymity.restore evaluate.anonymity.questions
evaluate.anonymity.zero_shot
evaluate.journal
evaluate.traces
evaluate.datasets.entries evaluate.datasets.markup evaluate.datasets.writing
evaluate.datasets.fields
evaluate.datasets.draft
evaluate.datasets.format
evaluate.datasets.passages evaluate.datasets.long_texts evaluate.datasets.narrativeqa evaluate.datasets.graphrag_bench
evaluate.datasets.own
evaluate.datasets.recognise
evaluate.datasets.loading
evaluate.datasets
evaluate.words evaluate.recall evaluate.statistics
evaluate.read evaluate.verdicts
evaluate.raters
evaluate.ratings
evaluate.synthetic.invented evaluate.synthetic.task
evaluate.synthetic.haystack evaluate.synthetic.task_file
evaluate.synthetic.needles evaluate.synthetic.retrieval
evaluate.synthetic.needle_tasks evaluate.synthetic.alter
evaluate.synthetic.samples evaluate.synthetic.grid
evaluate.synthetic
evaluate.metrics
evaluate.setups
evaluate.prices evaluate.closed evaluate.keys
evaluate.needles evaluate.ablation
evaluate.official evaluate.graphs
evaluate.prepare evaluate.asking
evaluate.costs
evaluate.answers evaluate.outcome
evaluate.run
evaluate.retrieval
evaluate.overview evaluate.canvas
evaluate.squares evaluate.report
evaluate.plots
show_retrieval show_evaluate
show_tree show_gist cli_options
cli_base
web.encoding web.limits web.options web.uploads
web.steps web.faults
web.guard web.running web.jobs web.room web.keeping
web.streams web.parts
web.examples
web.about web.asking web.seeing web.changing
web.static
web.app
web.serving
mcp_bounds mcp_results
mcp_work
mcp_tools mcp_write
mcp_server
browser.site browser.serving
cli_ask cli_build cli_anonymise cli_evaluate cli_serve cli_browser cli_exchange
cli_mcp
cli
"""
"""A module imports only from lines above its own."""

STRANGERS = {
    "build": ("retrieve", "readers"),
    "retrieve": ("build", "readers", "llm"),
    "readers": ("build", "store"),
    "store": ("build", "retrieve"),
    "evaluate": ("store", "retrieve"),
}

_CYPHER = re.compile(
    r"\b(?:MATCH|MERGE|CREATE)\s*\(|\bUNWIND\s+\S+\s+AS\s|\bDETACH\s+DELETE\b|\bRETURN\s+\w+\.\w+|\]->\(|\)-\["
    r"|\bCREATE\s+(?:INDEX|CONSTRAINT|VECTOR|FULLTEXT)\b|\bCALL\s+db\.",
)
LONGEST_FUNCTION = 60
LONGEST_FILE = 450


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


SOURCES = {
    module_name(path): (path, ast.parse(path.read_text(encoding="utf-8")))
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.read_text(encoding="utf-8").strip()
}
LEVEL = {name: level for level, line in enumerate(ORDER.splitlines()) for name in line.split()}


def imports(module: str) -> set[str]:
    """The package's own modules that ``module`` imports, wherever in it, by their names below ``kgplatform``."""
    found: set[str] = set()
    for node in ast.walk(SOURCES[module][1]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {each for each in inner if each.removeprefix("kgplatform.") in SOURCES}
            found |= modules or {node.module}
        elif isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError(f"{module} imports relatively")
    return {each.removeprefix("kgplatform.") for each in found if each.startswith("kgplatform.")}


def test_every_module_has_its_place() -> None:
    assert set(SOURCES) - {""} == set(LEVEL)


@pytest.mark.parametrize("module", sorted(set(SOURCES) - {""}))
def test_imports_go_down(module: str) -> None:
    assert [each for each in sorted(imports(module)) if LEVEL.get(each, -1) >= LEVEL[module]] == []


@pytest.mark.parametrize("module", sorted(set(SOURCES) - {""}))
def test_strangers(module: str) -> None:
    kept_out = STRANGERS.get(module.partition(".")[0], ())
    met = {each for each in imports(module) if each.partition(".")[0] in kept_out}
    assert {(module, each) for each in met} == set()


def docstrings(tree: ast.Module) -> set[str]:
    """The docstrings, and the texts below assignments, which document those."""
    alone = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    return {node.value for node in alone if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_the_driver_has_one_user() -> None:
    """And the managed server, which waits until a driver gets through."""
    users = {
        name
        for name, (_, tree) in SOURCES.items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "neo4j" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "neo4j")
    }
    assert users == {"store", "local_neo4j"}


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_no_cypher_in_python(module: str) -> None:
    texts = [
        "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
        if isinstance(node, ast.JoinedStr)
        else node.value
        for node in ast.walk(SOURCES[module][1])
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    ]
    told = docstrings(SOURCES[module][1])
    assert [text for text in texts if _CYPHER.search(text) and text not in told] == []


def test_what_looks_like_cypher() -> None:
    for text in ("MATCH (n) RETURN n", "x UNWIND $rows AS row y", "MERGE (a)-[:X]->(b)", "CALL db.awaitIndexes(3)"):
        assert _CYPHER.search(text)
    for text in ("Run `kgplatform cypher`, or match (as a reader does).", "LOAD CSV is refused", "RETURN", "a -> b"):
        assert not _CYPHER.search(text)


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_functions_and_files_are_short(module: str) -> None:
    path, tree = SOURCES[module]
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    lengths = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions}
    assert {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION} == {}
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_exceptions_to_rules_have_reasons(module: str) -> None:
    for number, line in enumerate(SOURCES[module][0].read_text(encoding="utf-8").splitlines(), start=1):
        for mark in re.finditer(r"#\s*(?:noqa|type: ignore)\b[^#]*", line):
            reason = re.search(r"\s-+\s*\w+.*|#(?!\s*(?:noqa|type: ignore)).*\w.*", line[mark.start() + 1 :])
            assert reason, f"{module}, line {number}: no reason stands beside {mark[0].strip()!r}"


def test_every_setting_is_read() -> None:
    nodes = [node for name, (_, tree) in SOURCES.items() if name != "settings" for node in ast.walk(tree)]
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    read |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    # ``home`` and ``neo4j_jars`` are read through the properties that know their defaults.
    through = {"home": "home_folder", "neo4j_jars": "jar_folder"}
    assert [name for name in Settings.model_fields if through.get(name, name) not in read] == []


def test_the_public_names() -> None:
    assert list(kgplatform.__all__) == sorted(set(kgplatform.__all__), key=str)
    assert dir(kgplatform) == sorted(kgplatform.__all__)
    homes = {name for names in kgplatform._HOMES.values() for name in names}
    assert homes == set(kgplatform.__all__)
    for name in kgplatform.__all__:
        value = getattr(kgplatform, name)
        assert value.__name__ == name
        assert value.__doc__
    with pytest.raises(AttributeError, match="'kgplatform' has no attribute 'nothing'"):
        _ = kgplatform.nothing


def test_the_type_checker_sees_the_public_names() -> None:
    blocks = [node for node in SOURCES[""][1].body if isinstance(node, ast.If)]
    checked = {
        (node.module, alias.name)
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert checked == {(home, name) for home, names in kgplatform._HOMES.items() for name in names}


def test_all_modules_document_themselves() -> None:
    for name, (_, tree) in SOURCES.items():
        assert ast.get_docstring(tree), f"{name} has no docstring"


@pytest.mark.parametrize("unset", [False, True])
def test_importing_reads_no_environment(unset: bool, tmp_path: Path) -> None:
    """In a process of its own, with settings that cannot be used and a ``.env`` that is wrong: nobody notices."""
    modules = sorted(f"kgplatform.{name}" if name else "kgplatform" for name in SOURCES)
    (tmp_path / ".env").write_text("KGPLATFORM_CONCURRENCY=many\n")
    wrong = {} if unset else {"KGPLATFORM_CONCURRENCY": "many", "NEO4J_URI": "no address", "KGPLATFORM_HOME": "\t"}
    watch = (
        "import os, sys\n"
        "read = []\n"
        "get = type(os.environ).__getitem__\n"
        "def told(self, key):\n"
        "    caller = sys._getframe(1)\n"
        "    while caller.f_code.co_filename.startswith('<frozen') or '/os.py' in caller.f_code.co_filename:\n"
        "        caller = caller.f_back\n"
        "    if '/kgplatform/' in caller.f_code.co_filename: read.append((caller.f_code.co_filename, key))\n"
        "    return get(self, key)\n"
        "type(os.environ).__getitem__ = told\n"
        "import importlib\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        "print(read)\n"
        "assert not read, read\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", watch],
        cwd=tmp_path,
        env={**os.environ, **wrong},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
    assert importlib.import_module("kgplatform.settings")
