"""What the documentation says is so: its tables equal the code, its links lead somewhere, its commands are there.

That they run is tested in ``test_docs_commands.py``.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer
import yaml
from conftest import ROOT
from doc_pages import ALL, DOCS, PAGES, blocks, mentioned, page

from kgplatform.client import KnowledgeGraph
from kgplatform.interfaces.cli import main as cli
from kgplatform.interfaces.cli.ask import options_table
from kgplatform.interfaces.cli.serve import read_token
from kgplatform.search.search import SEARCHES
from kgplatform.settings import settings_table

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS, SETTINGS = page("commands.md"), page("settings.md")
NAMES = sorted(typer.main.get_command(cli.app).commands)  # type: ignore[attr-defined]  # it is a group


def test_every_command_is_one(tmp_path: Path) -> None:
    """Also those that are mentioned in passing, and those that another test runs: commands and options are there."""
    (tmp_path / "notes").mkdir()
    group = typer.main.get_command(cli.app)
    for line in (each for path in PAGES for each in mentioned(path.read_text(encoding="utf-8"), NAMES)):
        words = [each for each in shlex.split(line, comments=True) if not re.match("[A-Z_]+=", each)]
        words = words[1:] if words[0] == "kgplatform" else words
        words = words[2:] if words[0] == "--workspace" else words  # an option of all commands
        assert words[0] in NAMES, line
        try:
            group.commands[words[0]].make_context(words[0], words[1:])  # type: ignore[attr-defined]  # it is a group
        except Exception as error:  # Typer brings its own copy of click, whose errors it does not publish
            # A sentence may leave out what a command or an option is given.
            if type(error).__name__ not in ("MissingParameter", "BadOptionUsage"):
                raise AssertionError(f"{line}: {error}") from error


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_the_token_of_the_page_is_one(tmp_path: Path) -> None:
    (made,) = [each for each in blocks(page("http.md"), "bash") if "openssl" in each]
    subprocess.run(["bash", "-ec", made], cwd=tmp_path, check=True)
    assert re.fullmatch("[0-9a-f]{64}", read_token(tmp_path / "token"))


_BENCHMARKS = next(DOCS.rglob("benchmarks"))
_PARTS = (
    *("What was asked", "The data", "How", "The numbers"),
    *("What it means for you", "What it does not say", "Run it"),
)


def test_every_benchmark_is_named_once_in_the_index_and_its_page_says_what_was_asked_and_what_it_means() -> None:
    index = (_BENCHMARKS / "index.md").read_text(encoding="utf-8")
    names = sorted(path.stem.removeprefix("test_") for path in (ROOT / "tests" / "benchmarks").glob("test_*.py"))
    assert sorted(re.findall(r"\*\*(\w+)\*\*", index.partition("## All of them")[2].partition("\n## ")[0])) == names
    for path in _BENCHMARKS.glob("[!i]*.md"):
        text = path.read_text(encoding="utf-8")
        assert [each for each in re.findall(r"^## (.+)$", text, re.M) if each in _PARTS] == [*_PARTS], path
        (told,) = re.findall(rf"^\| \[.+?\]\({path.name}\) \| .+ \| (.+) \|$", index, re.M)
        run = text.partition("## Run it")[2]
        assert [name for name in re.findall(r"\*\*(\w+)\*\*", told) if name not in run] == [], path


# The reader that a page tells how to add.
_NOT_THERE = ("kgplatform/readers/bestfact.py", "kgplatform/readers/bestfact/")


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    said = set(re.findall(r"`make ([a-z-]+)", "".join(each.read_text(encoding="utf-8") for each in PAGES)))
    assert said >= {"demo", "test", "test-all", "lint", "format", "clean", "bench", "measure"}
    assert said | {each.split()[1] for each in ALL if each.startswith("make ")} <= targets


def test_every_command_option_and_route_is_documented() -> None:
    overview, _, sections = COMMANDS.partition("## ")
    for name in NAMES:
        assert re.search(rf"^\|[^|]*`{name}`", overview, re.M), name
        assert re.search(rf"kgplatform {name}\b", sections), name
    assert set(re.findall(r"^\| `(\w+)` \|", COMMANDS, re.M)) >= set(SEARCHES)
    commands = typer.main.get_command(cli.app).commands.values()  # type: ignore[attr-defined]  # it is a group
    options = {
        option for command in commands for each in command.params for option in (*each.opts, *each.secondary_opts)
    }
    shown = sorted(option for option in options if option.startswith("--") and option != "--help")
    assert [option for option in shown if f"`{option}" not in COMMANDS and f"{option} " not in COMMANDS] == []


def test_the_table_of_the_readers_options_is_the_records() -> None:
    rows = [
        (f"`{name}`", ", ".join(f"`{who}`" for who in readers.split(", ")), does)
        for name, readers, does in options_table()
    ]
    table = COMMANDS.partition("| option | readers | meaning |\n|---|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == [f"| {' | '.join(row)} |" for row in rows]


def test_the_settings_tables_are_the_codes() -> None:
    rows = [
        f"| `{name}` | {f'`{default}`' if default else ''} | {unit} | {text} |"
        for name, default, unit, text in settings_table()
    ]
    assert [line for line in SETTINGS.splitlines() if line.startswith("| `")] == rows
    defaults = {name: default for name, default, *_ in settings_table()}
    for name, default in re.findall(r"^\| `([A-Z_0-9]+)` \| `([^`]+)` \|", README, re.M):
        assert defaults[name] == default


def test_settings_and_paths_that_pages_name_exist_and_links_lead_somewhere() -> None:
    known = {name for name, *_ in settings_table()}
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        paths = re.findall(r"`((?:kgplatform|cypher|docs|examples|schemas|tests)/[\w./*-]+)`", text)
        assert [each for each in paths if not list(ROOT.glob(each.rstrip("/"))) and each not in _NOT_THERE] == [], path
        named = set(re.findall(r"\b(?:KGPLATFORM|NEO4J|OPENAI)_[A-Z0-9_]+\b", text))
        assert {name for name in named - known if not name.startswith("KGPLATFORM_BENCH_")} == set(), path
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            assert target.startswith(("http://", "https://")) or (path.parent / target).exists(), (path, target)


_WITH_TEXT = ("*.py", "*.cypher", "*.y*ml", "*.js", "*.html", "*.md", "*.toml", "*.conf", "Makefile")


def test_pages_that_the_code_names_are_there() -> None:
    """In comments and messages too: what is moved or renamed is so everywhere."""
    ours = [each for each in ROOT.iterdir() if not each.name.startswith(".")]
    files = [each for each in ours if each.is_file()]
    files += [path for each in ours if each.is_dir() for kind in _WITH_TEXT for path in each.rglob(kind)]
    named = {
        (str(each.relative_to(ROOT)), path)
        for each in files
        for path in re.findall(r"\bdocs/[\w/.-]+\.(?:md|yml|png|svg)\b", each.read_text(encoding="utf-8"))
    }
    assert len(named) > 20
    assert [(name, path) for name, path in sorted(named) if not (ROOT / path).exists()] == []


def test_the_pictures_are_pictures_and_shown() -> None:
    for picture in (ROOT / "docs" / "images").glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert any(f"images/{picture.name})" in each.read_text(encoding="utf-8") for each in PAGES), picture


def test_what_the_demo_prints_is_what_the_readme_shows() -> None:
    """tests/test_demo.py compares the demo with the corpus; here the README with the questions and the triples."""
    shown = blocks(README, "text")[0]
    read = [json.loads(line) for line in (ROOT / "examples" / "extraction.jsonl").read_text("utf-8").splitlines()]
    stated = {
        f"{triple['subject']} {triple['predicate'].replace('_', ' ')} {triple['object']}"
        for each in read
        for triple in each["triples"]
    }
    questions = (ROOT / "examples" / "questions.jsonl").read_text(encoding="utf-8")
    for line in shown.splitlines():
        if line and not line.startswith(("==", "  ")):
            assert line in stated or line in questions


PAPERS = sorted(next(DOCS.rglob("papers")).glob("*.md"))
TESTS = {
    path.relative_to(ROOT / "tests").as_posix(): set(
        re.findall(r"^ *def (test_\w+)", path.read_text(encoding="utf-8"), re.M)
    )
    for path in (ROOT / "tests").rglob("test_*.py")
}


def test_every_test_that_a_page_names_is_there() -> None:
    """``file.py::test_name`` names a file; a bare ``test_name`` is somewhere in the tests."""
    assert PAPERS
    for paper in PAPERS:
        text = paper.read_text(encoding="utf-8")
        named = re.findall(r"`((?:[\w./]*test_\w+\.py)(?:::test_\w+)?|test_\w+)`", text)
        assert named
        assert [each for each in named if not _is_there(each)] == [], paper


def _is_there(name: str) -> bool:
    file, _, function = name.rpartition("::") if "::" in name else ("", "", name)
    if name.endswith(".py"):
        return any(known.endswith(name) for known in TESTS)
    places = [functions for known, functions in TESTS.items() if known.endswith(file)]
    return any(function in functions for functions in places)


if TYPE_CHECKING:
    from playwright.sync_api import Browser


class Addresses(HTMLParser):
    """What a browser fetches by itself as it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and given.get("rel") in ("canonical", "next", "prev"):
            return
        self.found += [given[name] or "" for name in ("src", "srcset") if name in given]
        if tag == "link":
            self.found.append(given.get("href") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages, built as `make docs` does: a warning fails it."""
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", DOCS / "site" / "mkdocs.yml", "--site-dir", out],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def test_every_page_is_built_and_reached(site: Path) -> None:
    wanted = {page.relative_to(DOCS).with_suffix(".html").as_posix() for page in DOCS.rglob("*.md")}
    assert {page.relative_to(site).as_posix() for page in site.rglob("*.html")} - {"404.html"} == wanted
    nav = yaml.dump(yaml.safe_load((DOCS / "site" / "mkdocs.yml").read_text("utf-8"))["nav"])
    assert [page for page in wanted if page.replace(".html", ".md") not in nav] == []


def test_pages_fetch_nothing_from_elsewhere(site: Path) -> None:
    for built in site.rglob("*.html"):
        addresses = Addresses()
        addresses.feed(built.read_text("utf-8"))
        for address in addresses.found:
            assert not re.match(r"(?:https?:)?//", address), (built.name, address)
            local = address.partition("?")[0].partition("#")[0]
            assert address.startswith("data:") or built.name == "404.html" or (built.parent / local).exists(), address
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(?:https?:)?//", sheet.read_text("utf-8"))


def test_it_is_searched_from_the_disk(site: Path, chromium: Browser) -> None:
    """`make docs` leaves files, and a page that lies on a disk may start no worker."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        page.goto(next(site.rglob("graphreader.html")).as_uri())
        page.get_by_role("textbox", name="Search").press_sequentially("neo4j-admin")
        page.locator(".md-search-result__link[href*='export.html']").first.wait_for()
    finally:
        context.close()


def test_the_python_reference_has_the_public_methods(site: Path) -> None:
    page = next(site.rglob("python.html")).read_text("utf-8")
    public = [name for name in vars(KnowledgeGraph) if not name.startswith("_")]
    assert [name for name in public if f'id="kgplatform.client.KnowledgeGraph.{name}"' not in page] == []


def test_the_graph_picture_shows_what_the_tables_say() -> None:
    picture = (DOCS / "images" / "graph-model.svg").read_text("utf-8")
    tables = page("graph-model.md")
    shown = set(re.findall(r">([A-Z]\w+)</text>", picture)) | set(re.findall(r">([A-Z]+_[A-Z]+)\b", picture))
    assert len(shown) > 25
    assert [name for name in sorted(shown) if name not in tables] == []
    nodes = set(re.findall(r"^\| `(\w+)`", tables, re.M)) - {"Graph"}
    assert [name for name in sorted(nodes) if name not in shown] == []
