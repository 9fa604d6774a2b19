"""What the documentation says is so: its commands run, its tables equal the code, its links lead somewhere."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from conftest import ROOT, wipe
from event_loops import in_own_thread
from simulated_readers import reply

from kgplatform.client import connect
from kgplatform.doors.cli import main as cli
from kgplatform.doors.cli.serve import read_token
from kgplatform.ingest.extract.recordings import is_open_ie
from kgplatform.ingest.schema import load_schema
from kgplatform.neo4j.store import Connection, Store
from kgplatform.readers.readers import names as reader_names
from kgplatform.retrieve.search import SEARCHES
from kgplatform.settings import settings_table
from kgplatform.testing import OpenAIServer

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("[!.]*/README.md"))]
README, COMMANDS, SETTINGS, SCHEMA = (
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "docs/commands.md", "docs/settings.md", "docs/how-to/schema.md")
)
EXAMPLES_README = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
NAMES = sorted(each.name or each.callback.__name__ for each in cli.app.registered_commands if each.callback is not None)
# These act on a managed server, which tests/neo4j/test_local_neo4j.py and tests/test_demo.py do.
MANAGED = ("kgplatform up", "kgplatform down")
# These run until they are ended, as test_serve_command.py, test_mcp.py and test_browser_command.py do.
SERVERS = ("kgplatform serve", "kgplatform mcp", "kgplatform browser")
# What is asked where a page shows no questions.
_TALK = "Who founded the Atlantic Telegraph Company?\nAnd where?\n"


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of ``language``."""
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.M | re.S)


def commands_of(page: str) -> list[str]:
    """Every line of shell blocks and of indented blocks, and every example in the table of commands."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    lines += re.findall(r"^    (kgplatform .+)$", page, re.M)
    lines += re.findall(r"\| `((?:[A-Z_]+=\S+ )?kgplatform [^`]+)` \|$", page, re.M)
    return lines


# What evaluate, anonymise and the data sets need is made by the tests of their own pages.
_OWN_TESTS = ("evaluation.md", "metrics.md", "data-sets.md", "needle-tasks.md", "anonymity.md", "benchmarks.md")
GUIDES = [
    page.read_text(encoding="utf-8")
    for page in PAGES
    if page.parts[-2] in ("docs", "how-to") and page.name not in _OWN_TESTS
]
ALL = sorted({line for page in (README, COMMANDS, EXAMPLES_README, *GUIDES) for line in commands_of(page)})
RUN = [line for line in ALL if "kgplatform" in line and line not in MANAGED and not line.startswith(SERVERS)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the documentation speaks of."""
    folder = tmp_path_factory.mktemp("reader")
    text = "Cyrus Field founded the Atlantic Telegraph Company in London. The Great Eastern laid the cable of 1866."
    for name in ("my-folder", "reports", "films"):
        (folder / name).mkdir()
        (folder / name / "one.txt").write_text(text, encoding="utf-8")
    (folder / "my-folder" / "report.pdf").write_bytes(
        (ROOT / "examples" / "corpus" / "Expedition_of_1865.pdf").read_bytes()
    )
    (folder / "report.pdf").write_bytes((folder / "my-folder" / "report.pdf").read_bytes())
    (folder / "notes.md").write_text(f"# Notes\n\n{text}\n", encoding="utf-8")
    (folder / "films.yaml").write_text(blocks(SCHEMA, "yaml")[0], encoding="utf-8")
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
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


@pytest.fixture
def reader(neo4j_server: Connection, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The folder is where we are, and the graph holds what the documentation speaks of."""
    monkeypatch.setenv("NEO4J_URI", neo4j_server.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", neo4j_server.password)
    monkeypatch.setenv("KGPLATFORM_EMBEDDER", "hash:64")
    monkeypatch.chdir(folder)
    return Store(neo4j_server)


def run(line: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run one line of documentation in this process, with the settings that stand before the command.

    What another program writes into it, and a thread that it names, are there.
    """
    told, _, line = line.rpartition(" | ")
    asked = subprocess.run(["bash", "-c", told], capture_output=True, text=True, check=True).stdout if told else ""
    monkeypatch.setattr(sys, "stdin", io.StringIO(asked or _TALK))
    words = shlex.split(line)
    if words[-2:] == ["--thread", "ID"]:
        words[-1] = a_thread()
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        monkeypatch.setenv(name, value)
    assert words[0] == "kgplatform"
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(sys, "stdin", io.StringIO("What laid the cable of 1866?\n"))
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
        if not re.search("kgplatform (?:ingest|remove|reembed)", line):
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
    documents = {row["title"] for row in store.read("graph/documents")}
    if documents != {"one", "report", "Notes"} or there[0]["graph"].get("embeddingModel") != "hash:64":
        wipe(store)
        assert run("kgplatform ingest my-folder notes.md --extractor local", monkeypatch) == 0


def test_there_are_commands_to_run() -> None:
    assert len(RUN) > 20
    known = {"kgplatform", "make", "KGPLATFORM_EMBEDDER=hash:64", "export"}
    assert {line.rpartition(" | ")[2].split()[0] for line in ALL} <= known


def mentioned(page: str) -> list[str]:
    """Every command of a page, in blocks of any kind and in sentences."""
    parts = re.split(r"^```.*\n", page, flags=re.M)
    inside = [line.strip() for block in parts[1::2] for line in block.splitlines()]
    outside = re.findall(r"`([^`\n]+)`", "".join(parts[0::2])) + re.findall(r"^    (.+)$", "".join(parts[0::2]), re.M)
    begins = re.compile(rf"(?:[A-Z_]+=\S+ )?kgplatform \S|(?:{'|'.join(NAMES)}) --")
    return [line for line in (*inside, *outside) if begins.match(line) and "COMMAND" not in line]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_is_one(page: Path, tmp_path: Path) -> None:
    """Also those that are mentioned in passing, and those that another test runs: commands and options are there."""
    (tmp_path / "notes").mkdir()
    group = typer.main.get_command(cli.app)
    for line in mentioned(page.read_text(encoding="utf-8")):
        words = [each for each in shlex.split(line, comments=True) if not re.match("[A-Z_]+=", each)]
        words = words[1:] if words[0] == "kgplatform" else words
        assert words[0] in NAMES, line
        try:
            group.commands[words[0]].make_context(words[0], words[1:])  # type: ignore[attr-defined]  # it is a group
        except Exception as error:  # Typer brings its own copy of click, whose errors it does not publish
            # A sentence may leave out what a command or an option is given.
            if type(error).__name__ not in ("MissingParameter", "BadOptionUsage"):
                raise AssertionError(f"{line}: {error}") from error


def test_the_pages_name_commands() -> None:
    assert len({line for page in PAGES for line in mentioned(page.read_text(encoding="utf-8"))}) > 100


# Adapters and export: tests/doors/adapters/test_adapter_snippets.py. The reader of code.md: tests/test_docs_site.py.
# Needle tasks: tests/evaluate/needles/test_needle_tasks_page.py.
_EXAMPLES_ELSEWHERE = ("README.md", "adapters.md", "export.md", "code.md", "needle-tasks.md")
_EXAMPLES = [
    (page.name, number, example)
    for page in PAGES
    if page.name not in _EXAMPLES_ELSEWHERE
    for number, example in enumerate(blocks(page.read_text(encoding="utf-8"), "python"), start=1)
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
    (example,) = blocks(README, "python")
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) >= 3
    assert re.fullmatch(r"\[\[[1-9]\d*\]\]", printed[-1])


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_the_token_of_the_page_is_one(tmp_path: Path) -> None:
    (made,) = [each for each in blocks((ROOT / "docs" / "http.md").read_text("utf-8"), "bash") if "openssl" in each]
    subprocess.run(["bash", "-ec", made], cwd=tmp_path, check=True)
    assert re.fullmatch("[0-9a-f]{64}", read_token(tmp_path / "token"))


def test_every_benchmark_is_named() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    names = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "benchmarks").glob("test_*.py")}
    assert names <= set(re.findall(r"\w+", page.partition("# one:")[2].partition("make bench")[0]))
    assert names <= set(re.findall(r"^\*\*(\w+)\*\*", page, re.M))


@pytest.mark.parametrize("statement", sorted({each for page in GUIDES for each in blocks(page, "cypher")}))
def test_every_statement_runs(reader: Store, statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with reader:
        prepare(reader, monkeypatch)
        columns = reader.run_statement(statement, {}, write=False, timeout=30, limit=10).columns
    assert columns


# The reader that a page tells how to add.
_NOT_THERE = ("kgplatform/readers/bestfact.py", "kgplatform/readers/bestfact/")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_of_the_code_exist(page: Path) -> None:
    named = re.findall(r"`((?:kgplatform|cypher|docs|examples|schemas|tests)/[\w./*-]+)`", page.read_text("utf-8"))
    assert [path for path in named if not list(ROOT.glob(path.rstrip("/"))) and path not in _NOT_THERE] == []


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    said = set(re.findall(r"`make ([a-z-]+)", "".join(page.read_text(encoding="utf-8") for page in PAGES)))
    assert said >= {"demo", "test", "test-all", "lint", "format", "clean", "bench", "measure"}
    assert said | {each.split()[1] for each in ALL if each.startswith("make ")} <= targets


@pytest.mark.parametrize("name", NAMES)
def test_every_command_is_documented(name: str) -> None:
    overview, _, sections = COMMANDS.partition("## ")
    assert re.search(rf"^\|[^|]*`{name}`", overview, re.M)
    assert re.search(rf"kgplatform {name}\b", sections)


def test_every_option_is_documented() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", _LIST_OPTIONS], capture_output=True, text=True, check=True
    ).stdout.split()
    assert [option for option in shown if f"`{option}" not in COMMANDS and f"{option} " not in COMMANDS] == []


def test_the_table_of_the_readers_options_is_the_records() -> None:
    command = typer.main.get_command(cli.app).commands["ask"]  # type: ignore[attr-defined]  # it is a group
    options = [each for each in command.params if getattr(each, "rich_help_panel", None)]
    flags = [((*each.opts, *each.secondary_opts)[-1], each.help) for each in options]
    readers = re.compile(rf"\b({'|'.join(reader_names())})\b")
    rows = [f"| `{flag}` | " + readers.sub(r"`\1`", said) + " |" for flag, said in flags]
    section = COMMANDS[COMMANDS.index("\n## ask\n") : COMMANDS.index("An option that the chosen reader does not have")]
    own = ("`--reader`", "`--where`", "`--trace`", "`--keep`", "`--token-budget`")
    assert [line for line in section.splitlines() if line.startswith("| `--") and line.split()[1] not in own] == rows


_LIST_OPTIONS = """
import typer
from kgplatform.doors.cli import main as cli
group = typer.main.get_command(cli.app)
parameters = [each for command in group.commands.values() for each in command.params]
options = {option for each in parameters for option in (*each.opts, *each.secondary_opts)}
print(*sorted(option for option in options if option.startswith("--") and option != "--help"))
"""


def test_the_settings_table_is_the_codes() -> None:
    rows = [
        f"| `{name}` | {f'`{default}`' if default else ''} | {unit} | {text} |"
        for name, default, unit, text in settings_table()
    ]
    assert [line for line in SETTINGS.splitlines() if line.startswith("| `")] == rows


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_settings_that_a_page_names_exist(page: Path) -> None:
    named = set(re.findall(r"\b(?:KGPLATFORM|NEO4J|OPENAI)_[A-Z0-9_]+\b", page.read_text(encoding="utf-8")))
    known = {name for name, *_ in settings_table()}
    assert {name for name in named - known if not name.startswith("KGPLATFORM_BENCH_")} == set()


def test_defaults_that_the_readme_gives_are_the_codes() -> None:
    defaults = {name: default for name, default, *_ in settings_table()}
    for name, default in re.findall(r"^\| `([A-Z_0-9]+)` \| `([^`]+)` \|", README, re.M):
        assert defaults[name] == default


def test_the_routes_are_documented() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", COMMANDS, re.M)) >= set(SEARCHES)


def test_the_schema_example_loads(folder: Path) -> None:
    schema = load_schema(folder / "films.yaml")
    assert [each.name for each in schema.entities] == ["Person", "Film"]
    assert is_open_ie(folder / "openie.json")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "images").glob("*.png")), ids=lambda path: path.name)
def test_the_pictures_are_pictures_and_shown(picture: Path) -> None:
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert 20_000 < len(content) < 400_000
    assert any(f"images/{picture.name})" in page.read_text(encoding="utf-8") for page in PAGES)


def test_the_readme_is_short_and_begins_with_what_matters() -> None:
    assert len(README.splitlines()) <= 200
    first_screen = "\n".join(README.splitlines()[:48])
    assert "](docs/images/" in first_screen
    assert blocks(first_screen, "sh")[0].split() == ["make", "demo", "make", "test"]
    assert blocks(first_screen, "text")


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
    headings = re.findall(r"^== (\S+ ?\d?)", shown, re.M)
    demo = (ROOT / "examples" / "demo.py").read_text(encoding="utf-8")
    assert headings
    assert all(f'"{heading.strip()}' in demo for heading in headings)
