"""The files of the explorer: they take text for markup nowhere, load nothing from elsewhere, and are all there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from conftest import ROOT

import kgplatform
from kgplatform.errors import Code

PACKAGE = Path(kgplatform.__file__).parent
EXPLORER = PACKAGE / "interfaces" / "explorer"
FILES = sorted(path for path in EXPLORER.rglob("*") if path.is_file() and "vendor" not in path.parts)
_MARKUP = re.compile(
    r"\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\b|createContextualFragment"
    r"|setHTML|DOMParser|\bon[a-z]+=\"|srcdoc|javascript:"
)
_NAMESPACE = "http://www.w3.org/2000/svg"
_EXAMPLES = re.compile(r"http://127\.0\.0\.1:\d+/v1")
"""Addresses of servers of language models, for people to choose from."""
"""What a person may write into a file of settings; the page only shows it."""
_IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["'](\.{1,2}/[^"']+)["']""")

_COMMAND = re.compile(r"`kgplatform (?:ingest|tree|gist|documents|cypher)\b")
"""What a person does on the page in other ways."""
_APART = (
    *("interfaces/cli", "interfaces/neo4j_browser", "interfaces/mcp", "evaluate", "exchange", "errors.py"),
    "explore/info.py",
)
"""Where sentences are for people who have commands: the page names documents by their ids, never by words."""


def test_no_text_becomes_markup() -> None:
    assert {path.name: found for path in FILES if (found := _MARKUP.findall(path.read_text("utf-8")))} == {}


def test_nothing_is_loaded_from_elsewhere_and_what_is_imported_is_there() -> None:
    for path in FILES:
        text = path.read_text("utf-8").replace(_NAMESPACE, "")
        text = _EXAMPLES.sub("", text)
        assert re.findall(r"https?://[^\s\"'`)]+|[\"']//[a-z]", text) == [], path
        if path.suffix == ".js":
            assert [name for name in _IMPORT.findall(text) if not (path.parent / name).is_file()] == [], path


def test_the_page_has_no_script_or_style_of_its_own() -> None:
    page = (EXPLORER / "index.html").read_text("utf-8")
    assert re.findall(r"<script(?![^>]*\ssrc=)[^>]*>|<style|\sstyle=|\son[a-z]+=", page) == []
    sources = re.findall(r'(?:src|href)="static/([^"]+)"', page)
    assert sources and [name for name in sources if not (EXPLORER / name).is_file()] == []


def test_vendored_libraries_have_their_licences() -> None:
    for path in (EXPLORER / "vendor").glob("*.js"):
        name = path.name.split(".", 1)[0]
        assert list(path.parent.glob(f"{name}*LICENSE*")), f"{path.name} has no licence beside it"


def test_the_page_and_the_reference_have_every_code_of_an_error() -> None:
    words = re.findall(r"^  (\w+): ", (EXPLORER / "shared" / "api.js").read_text("utf-8"), re.M)
    told = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "reference" / "http.md").read_text("utf-8"), re.M)
    assert [code.name.lower() for code in Code] == words == told


def test_no_sentence_that_reaches_the_page_names_a_command_without_a_code() -> None:
    apart = [PACKAGE / each for each in _APART]
    reached = [path for path in PACKAGE.rglob("*.py") if not any(map(path.is_relative_to, apart))]
    assert [(path.name, text) for path in reached for text in _texts(path) if _COMMAND.search(text)] == []


def _texts(path: Path) -> Iterator[str]:
    """The texts of a module that names a command, without its docstrings."""
    source = path.read_text("utf-8")
    if _COMMAND.search(source):
        nodes = list(ast.walk(ast.parse(source)))
        alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                yield node.value
