"""`kgplatform gist`: what it prints, for people and as JSON, and its exit status; and what `documents` says then."""

import json
from pathlib import Path

import pytest
from corpora import put
from gists import by_rules, opened, paragraph, story
from model_by_prompt import Prompt
from typer.testing import CliRunner

from kgplatform.interfaces.cli.main import app
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.testing import Fault, OpenAIServer

pytest_plugins = ["command_line"]


@pytest.fixture
def settled(store: Store, environment: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The tests' server has a document of four pages and one of one."""
    monkeypatch.setenv("KGPLATFORM_MODEL_RETRIES", "0")
    files = put(tmp_path, {"ten.txt": story([100] * 10), "one.txt": paragraph("one", 30)})
    opened(store, tmp_path / "home", None).ingest(files, extractor="local")


@pytest.mark.usefixtures("settled")
def test_the_command_for_people_and_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    without = CliRunner().invoke(app, ["gist"])
    assert without.exit_code != 0
    assert "Gists are written by a language model, and none is configured." in str(without.exception)
    with OpenAIServer(by_rules) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        done = CliRunner().invoke(app, ["gist"])
        assert done.exit_code == 0, done.output
        said = done.stdout.split("\n")
        assert said[0] == "2 documents in 5 pages (report, 280 to 600 words, by the model). Gists: 5 written now."
        assert said[2].startswith("Model, gist: 5 calls, ")
        report = json.loads(CliRunner().invoke(app, ["gist", "--json"]).stdout)
        assert (report["pages"], report["kept"], report["written"], report["complete"]) == (5, 5, 0, True)
        assert report["compression"] == pytest.approx(89.32, abs=0.01)
        assert "90.0%" in CliRunner().invoke(app, ["documents"]).stdout
        told = json.loads(CliRunner().invoke(app, ["documents", "--json"]).stdout)["documents"]
        assert [(each["title"], each["pages"]) for each in told] == [("one", 1), ("ten", 4)]


@pytest.mark.usefixtures("settled")
def test_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    systems: list[str] = []

    def heard(messages: Messages) -> str:
        systems.append(messages[0]["content"])
        return by_rules(messages)

    with OpenAIServer(heard) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        given = ["--preset", "book", "--min-words", "200", "--max-words", "500", "--for", "Who sailed?"]
        given += ["--instruction", "Keep dates.", "ten", "--json"]
        report = json.loads(CliRunner().invoke(app, ["gist", *given]).stdout)
        assert (report["preset"], report["min_words"], report["max_words"]) == ("book", 200, 500)
        assert (report["question"], report["documents"], report["pages"]) == ("Who sailed?", 1, 5)
        assert all("Who sailed?" in system for system in systems)
        assert sum("Keep dates." in system for system in systems) == 5
        uniform = CliRunner().invoke(app, ["gist", "ten", "--uniform"]).stdout
        assert "1 document in 2 pages (report, 280 to 600 words, of equal length). Gists: 2 written now." in uniform
        shrunk = CliRunner().invoke(app, ["gist", "ten", "--fit", "40", "--shrink", "older"])
        assert shrunk.exit_code == 3
        assert "Too long: ten: its gists have " in shrunk.stdout
        assert "1 document had pages made with other options, which were replaced." in shrunk.stdout
        spent = CliRunner().invoke(app, ["gist", "--preset", "transcript", "--token-budget", "1"])
        assert (spent.exit_code, "The budget of 1 tokens is used up" in spent.stdout) == (1, True)
    for wrong in (["gist", "--preset", "poem"], ["gist", "--max-words", "0"], ["gist", "--shrink", "fold"]):
        assert CliRunner().invoke(app, wrong).exit_code == 2


@pytest.mark.usefixtures("settled")
def test_a_page_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def tired(messages: Messages) -> str | Fault:
        return Fault.refuse(500, "It is tired.") if "Paqa" in Prompt(messages).data else by_rules(messages)

    with OpenAIServer(tired) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        done = CliRunner().invoke(app, ["gist", "--uniform"])
    assert done.exit_code == 3
    assert "Failed: ten, page 0: " in done.stdout
    assert "1 page failed. Run the same command again to retry." in done.stdout
