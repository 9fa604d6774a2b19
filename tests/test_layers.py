"""The shape of the code: who may import whom, how long a function may be, what a string may not be."""

import ast
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import kgplatform
from kgplatform.readers.readers import READERS
from kgplatform.settings import Settings

PACKAGE = Path(__file__).parent.parent / "kgplatform"

ORDER = """
moved
text
shown
errors records
settings
query prompt concurrency
neo4j
models
testing
sources
extract
resolution
ingest
tree gist exchange explore search parts workspaces
correct adopt
readers
client
aio
interfaces.integrations
evaluate
interfaces
"""
"""A folder, or a module at the top, imports from its own line's and from lines above, never from a line below."""

INGEST = ("sources", "extract", "resolution", "ingest")
STRANGERS = {
    "ingest": ("tree", "gist", "search", "readers"),
    "search": (*INGEST, "tree", "gist", "models.chat"),
    "readers": (*INGEST, "neo4j"),
    "evaluate": ("neo4j.store", "search"),
    "interfaces": ("neo4j", *INGEST, "tree", "gist", "exchange", "search", "models"),
}
"""Who is not to know whom, although the order would let it."""

NEUTRAL = {
    "interfaces": {
        # What the client takes and returns.
        *("sources.objects", "extract.schema", "tree.build_tree", "gist.options", "exchange"),
        # The jar of Neo4j Browser, and where a person finds it: no graph is needed for either.
        "neo4j.browser",
    }
}
"""What of the strangers does nothing but hold or word."""

EXCEPTIONS = {
    ("interfaces.cli.main", "neo4j.server"): "up, down and status work where there is no graph to open",
    ("interfaces.cli.evaluate", "sources.load"): "texts are read that are in no graph",
    ("interfaces.http.team.people", "neo4j.filters"): "a condition is checked where no graph is open",
    ("interfaces.http.team.spaces", "neo4j.server"): "a workspace's server ends when nobody uses it",
    ("interfaces.cli.people", "neo4j.server"): "a workspace's server that a command started ends with it",
    ("interfaces.http.team.spaces", "neo4j.memory"): "as many workspaces are open as memory allows",
    ("interfaces.cli.changes", "sources.load"): "a path that is not there is told before a server is started",
    ("interfaces.cli.changes", "sources.files.plain"): "values are read as those of front matter",
    ("search.agreement", "extract.aliases"): "a title is no part of a person's name",
    ("search.agreement", "extract.lexicon"): "a people's name is of many",
    ("interfaces.integrations.neo4j_graphrag", "models.chat"): "the type of the client's language model",
    ("interfaces.integrations.neo4j_graphrag", "models.embed"): "its embedding model words questions",
}
"""Single imports of strangers, with their reasons."""

_CYPHER = re.compile(
    r"\b(?:MATCH|MERGE|CREATE)\s*\(|\bUNWIND\s+\S+\s+AS\s|\bDETACH\s+DELETE\b|\bRETURN\s+\w+\.\w+|\]->\(|\)-\["
    r"|\bCREATE\s+(?:INDEX|CONSTRAINT|VECTOR|FULLTEXT)\b|\bCALL\s+db\."
)
_FLAG = re.compile(r"(?<![\w-])--[a-z]")
FLAGS_ELSEWHERE = {
    # Flags of Neo4j's own programs, and of pip.
    *("neo4j.config", "exchange.exporter", "errors"),
    # What people read who stand before a server, or in a guide, and are to go to a terminal.
    *("interfaces.http.app", "interfaces.neo4j_browser.site"),
}
COMMON_WORDS = ("retrieve", "cypher", "fulltext")
"""Readers whose names also mean something else."""
READERS_NAMED = {
    "ingest.facts_pass": "``factsBy`` in the graph (docs/explanation/decisions.md)",
    "interfaces.cli.evaluate": "an example in the help, which is written before any reader is loaded",
}
LONGEST_FUNCTION = 60


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


Nodes = list[ast.AST]


@dataclass
class Source:
    """A module's file. Its tree is made when a test asks for it: every worker of a run imports this module."""

    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"))

    @cached_property
    def nodes(self) -> Nodes:
        return list(ast.walk(self.tree))


SOURCES = {module_name(path): Source(path) for path in sorted(PACKAGE.rglob("*.py")) if path.read_bytes().strip()}


def trees() -> Iterator[tuple[str, Nodes]]:
    """Every module with the nodes of its tree."""
    return ((name, source.nodes) for name, source in SOURCES.items())


LEVEL = {name: level for level, line in enumerate(ORDER.splitlines()) for name in line.split()}


def level(module: str) -> int:
    """Of the longest name in the order that ``module`` is or lies in; 0 where there is none."""
    return max((len(name), LEVEL[name]) for name in LEVEL if f"{module}.".startswith(f"{name}."))[1]


@cache
def imports(module: str) -> set[str]:
    """The package's own modules that ``module`` imports, wherever in it, by their names below ``kgplatform``."""
    found: set[str] = set()
    for node in SOURCES[module].nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {each for each in inner if each.removeprefix("kgplatform.") in SOURCES}
            found |= modules or {node.module}
        elif isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError(f"{module} imports relatively")
    return {each.removeprefix("kgplatform.") for each in found if each.startswith("kgplatform.")}


def test_every_folder_has_its_place() -> None:
    places = {name.partition(".")[0] for name in LEVEL}
    assert {name.partition(".")[0] for name in SOURCES} - {""} == places


def test_imports_go_down() -> None:
    assert [
        f"{module} imports {other}"
        for module in SOURCES
        for other in imports(module)
        if module and level(other) > level(module)
    ] == []


def test_no_imports_go_in_circles() -> None:
    TopologicalSorter({module: imports(module) for module in SOURCES}).prepare()


def test_strangers() -> None:
    """An exception that is no longer needed fails too."""
    known = {
        (module, other)
        for module in SOURCES
        for folder in [module.partition(".")[0]]
        for other in imports(module) - NEUTRAL.get(folder, set())
        for name in STRANGERS.get(folder, ())
        if f"{other}.".startswith(f"{name}.")
    }
    assert known == set(EXCEPTIONS)


def test_no_door_knows_another() -> None:
    """What two of them share lies directly in ``interfaces``; the command line opens them all."""
    inside = [name.split(".") for name in SOURCES if name.startswith("interfaces.") and name.count(".") > 1]
    folders = {parts[1] for parts in inside}
    known = {
        (module, other)
        for module in SOURCES
        for other in imports(module)
        if module.startswith("interfaces.")
        and not module.startswith("interfaces.cli.")
        and other.startswith("interfaces.")
        if other.split(".")[1] in folders - {module.split(".")[1]}
    }
    assert known == set()


def test_interfaces_and_evaluation_call_the_client_alone() -> None:
    """Neither reaches through it to its store."""
    assert [
        f"{module}, line {node.lineno}"
        for module, tree in trees()
        if module.startswith(("interfaces.", "evaluate."))
        for node in tree
        if isinstance(node, ast.Attribute) and node.attr == "store"
    ] == []


def docstrings(tree: Nodes) -> set[str]:
    """The docstrings, and the texts below assignments, which document those."""
    alone = [node.value for node in tree if isinstance(node, ast.Expr)]
    return {node.value for node in alone if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def texts(tree: Nodes) -> set[str]:
    """The string literals; of one with values in it, its parts."""
    return {node.value for node in tree if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_the_driver_has_one_user() -> None:
    """And the managed server, which waits until a driver gets through."""
    users = {
        name
        for name, tree in trees()
        for node in tree
        if (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "neo4j" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "neo4j")
    }
    assert users == {"neo4j.server", "neo4j.store"}


def test_no_cypher_in_python() -> None:
    texts = [
        (
            module,
            "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
            if isinstance(node, ast.JoinedStr)
            else node.value,
        )
        for module, tree in trees()
        for node in tree
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    ]
    found = [(module, text) for module, text in texts if _CYPHER.search(text)]
    assert [(module, text) for module, text in found if text not in docstrings(SOURCES[module].nodes)] == []


def test_only_the_command_line_spells_flags() -> None:
    """An error names an option as Python knows it, and each door spells it its own way."""
    found = {
        module
        for module, tree in trees()
        if not module.startswith("interfaces.cli.")
        for text in texts(tree) - docstrings(tree)
        if _FLAG.search(text)
    }
    assert found == FLAGS_ELSEWHERE


def test_readers_are_named_in_their_folders_and_in_the_list() -> None:
    """Elsewhere what differs between them is asked of their records (``Reader``)."""
    names = "|".join(each.name for each in READERS if each.name not in COMMON_WORDS)
    found = {
        module
        for module, tree in trees()
        if not module.startswith("readers.")
        for text in texts(tree) - docstrings(tree)
        if re.search(rf"(?<![\w/])(?:{names})(?!\w)", text)
    }
    assert found == set(READERS_NAMED)


def test_functions_are_short() -> None:
    functions = [
        (f"{module}.{node.name}", (node.end_lineno or node.lineno) - node.lineno + 1)
        for module, tree in trees()
        for node in tree
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    assert [(name, length) for name, length in functions if length > LONGEST_FUNCTION] == []


def test_exceptions_to_rules_have_reasons() -> None:
    for module, source in SOURCES.items():
        for number, line in enumerate(source.path.read_text(encoding="utf-8").splitlines(), start=1):
            for mark in re.finditer(r"#\s*(?:noqa|type: ignore)\b[^#]*", line):
                reason = re.search(r"\s-+\s*\w+.*|#(?!\s*(?:noqa|type: ignore)).*\w.*", line[mark.start() + 1 :])
                assert reason, f"{module}, line {number}: no reason stands beside {mark[0].strip()!r}"


def _called(function: ast.expr) -> str:
    """The name of a function, or that of a method behind a dot."""
    if isinstance(function, ast.Name):
        return function.id
    return f".{function.attr}" if isinstance(function, ast.Attribute) else ""


def test_every_reply_is_asked_for_in_a_form_and_within_a_bound() -> None:
    """``ask`` and ``ask_said`` take a form; they are given ``tokens``, and what sends by itself says what is wanted."""
    given = [
        (f"{module}, line {node.lineno}", _called(node.func), {each.arg for each in node.keywords})
        for module, tree in trees()
        for node in tree
        if isinstance(node, ast.Call)
    ]
    asked = [(where, keywords) for where, function, keywords in given if function in ("ask", "ask_said")]
    sent = [(where, keywords) for where, function, keywords in given if function == ".send"]
    assert (len(asked) > 20, len(sent) > 3) == (True, True)
    assert [where for where, keywords in asked if "stage" in keywords and "tokens" not in keywords] == []
    assert [where for where, keywords in sent if "stage" in keywords and "wanted" not in keywords] == []


def test_every_setting_is_read() -> None:
    nodes = [node for name, tree in trees() if name != "settings" for node in tree]
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
    blocks = [node for node in SOURCES[""].tree.body if isinstance(node, ast.If)]
    checked = {
        (node.module, alias.name)
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert checked == {(home, name) for home, names in kgplatform._HOMES.items() for name in names}


def test_all_modules_document_themselves() -> None:
    for name, source in SOURCES.items():
        assert ast.get_docstring(source.tree), f"{name} has no docstring"


def test_importing_reads_no_environment(tmp_path: Path) -> None:
    """In a process of its own, with settings that cannot be used and a ``.env`` that is wrong: nobody notices.

    Those of the integrations are left out: the libraries that they stand on take ten seconds to import.
    """
    names = (name for name in SOURCES if not name.startswith("interfaces.integrations."))
    modules = sorted(f"kgplatform.{name}" if name else "kgplatform" for name in names)
    (tmp_path / ".env").write_text("KGPLATFORM_CONCURRENCY=many\n")
    wrong = {"KGPLATFORM_CONCURRENCY": "many", "NEO4J_URI": "no address", "KGPLATFORM_HOME": "\t"}
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
