"""`kgplatform evaluate`: options that contradict each other, sources of questions, what it prints and writes."""

import fcntl
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import EXAMPLES, emptied
from simulated_readers import reply
from typer.testing import CliRunner

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets import load
from kgplatform.interfaces.cli.evaluate import _with_corpus
from kgplatform.interfaces.cli.main import app
from kgplatform.interfaces.cli.shared import spelled
from kgplatform.neo4j.store import Connection
from kgplatform.prompt import Messages
from kgplatform.settings import load_settings
from kgplatform.testing import Fault, OpenAIServer

QUESTIONS = str(EXAMPLES / "questions.jsonl")


def said(*arguments: str) -> str:
    """The one sentence of a command that cannot be run."""
    done = CliRunner().invoke(app, ["evaluate", *arguments])
    assert isinstance(done.exception, InputError), done.output
    assert "\n" not in str(done.exception)
    return spelled(done.exception)


def test_what_cannot_be_done_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, sentence in (
        ([], "There are no questions. Name a file of your own "),
        (["q.jsonl", "--needles", "single"], "QUESTIONS and --needles cannot be combined: leave one of them out."),
        (["q.jsonl", "--retrieval-only", "--rate", "judge"], "--retrieval-only and --rate cannot be combined"),
        (["--needles", "single:1k"], "'1k' is not a length. Write the tokens of each text, as in 1000,8000."),
        (["q.jsonl", "--rate", "none", "--rate", "judge"], "--rate none turns the raters off"),
        (["q.jsonl"], "q.jsonl: there is no such file or folder."),
        ([QUESTIONS], "An evaluation needs a language model for the answers. Set OPENAI_API_KEY, or OPENAI_BASE_URL "),
    ):
        assert said(*arguments).startswith(sentence)
    # Before any server is reached: there is none at that address.
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:9")
    monkeypatch.setenv("NEO4J_PASSWORD", "none")
    assert 'Unknown reader "yuotu". Did you mean youtu? Choose one of retrieve, ' in said(
        QUESTIONS, "--readers", "yuotu"
    )
    assert "The prices in none.yaml cannot be read: " in said(QUESTIONS, "--prices", "none.yaml")


@pytest.fixture(scope="module")
def corpus(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the first questions of the sample corpus ask about: made once, for no test changes it."""
    files = ("Cyrus_Field.md", "People.json", "Voyages.jsonl", "Success_of_1866.md", "Cable_francais_de_1869.txt")
    with emptied(neo4j_server, tmp_path_factory.mktemp("corpus")) as graph:
        graph.ingest([EXAMPLES / "corpus" / name for name in files], extractor="local")


@pytest.fixture
def sample(corpus: None, at_server: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the tests' server, whose graph has that."""
    monkeypatch.setenv("KGPLATFORM_MODEL_RETRIES", "0")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """The simulated readers."""
    with OpenAIServer(reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


@pytest.mark.usefixtures("sample")
def test_what_comes_of_it_for_people_and_programs(server: OpenAIServer, tmp_path: Path) -> None:
    arguments = ["evaluate", QUESTIONS, "--limit", "3", "--readers", "retrieve,bm25,closed"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    out = tmp_path / "evaluation"
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert [each["setup"]["name"] for each in results["setups"]] == ["retrieve", "bm25", "closed"]
    assert (results["questions"], results["metrics"][0], results["raters"]) == (3, "judge", {"judge": "gpt-4.1-mini"})
    assert all(name in done.stdout for name in ("retrieve", "bm25", "closed"))
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "retrieve" in report
    for picture in out.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.with_suffix(".svg").is_file()
        assert picture.name in report
    assert [each.name for each in out.glob("*.png")] == ["accuracy-cost.png"]
    assert len(list((out / "traces").glob("*/*.txt"))) == 9
    spent = len(server.requests)
    again = CliRunner().invoke(app, [*arguments, "--json"])
    assert again.exit_code == 0, again.output
    document = json.loads(again.stdout)
    assert document["results"] == results
    assert set(document["timing"]["seconds"]["bm25"]) == {each["question"] for each in results["answers"]}
    assert len(server.requests) == spent


@pytest.mark.usefixtures("sample")
def test_repeated_runs_ask_again_and_their_spread_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The model knows the answer in its first run and not in the second; a third time nobody is asked any more."""
    asked: list[str] = []

    def moody(messages: Messages) -> str:
        asked.append(messages[1]["content"])
        return json.dumps({"answer": "The Physical Geography of the Sea" if len(asked) == 1 else "I do not know."})

    arguments = ["evaluate", QUESTIONS, "--limit", "1", "--readers", "closed", "--rate", "none", "--repeat", "2"]
    with OpenAIServer(moody) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
        assert len(set(asked)) == 1
        assert len(asked) == 2
        assert CliRunner().invoke(app, arguments).exit_code == 0
        assert len(asked) == 2
    out = tmp_path / "evaluation"
    repeated = json.loads((out / "repeated.json").read_text())
    assert repeated["runs"] == 2
    assert repeated["scores"]["closed"]["contains"] == [0.5, pytest.approx(0.5**0.5)]
    report = (out / "report.md").read_text()
    assert "scores of 2 runs" in report
    assert "| Contains | 50.0 ± 70.7 |" in report
    assert json.loads((out / "run-2" / "results.json").read_text())["answers"][0]["text"] == "I do not know."


def test_questions_find_the_files_of_a_corpus_that_a_grid_names() -> None:
    """Their texts go into a graph by their titles alone."""
    dataset = load(Path(QUESTIONS), limit=1)
    question = replace(dataset.questions[0], within=("Cyrus_Field.md",))
    found = _with_corpus(load_settings(), replace(dataset, questions=(question,)), [EXAMPLES / "corpus"])
    (asked,) = found.questions
    titles = {each.title for each in found.corpus}
    assert {each.title for each in asked.supports} | set(asked.within) <= titles
    assert "Cyrus_Field.md" not in titles


@pytest.mark.usefixtures("sample", "server")
def test_a_folder_that_another_run_writes_to(tmp_path: Path) -> None:
    out = tmp_path / "results"
    out.mkdir()
    with (out / ".lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        sentence = said(QUESTIONS, "--limit", "1", "--readers", "bm25", "--out", str(out))
    assert sentence == f"Another evaluation is using {out}. Wait for its end, or choose another --out FOLDER."
    (tmp_path / "file").touch()
    assert said(QUESTIONS, "--readers", "bm25", "--out", "file") == "The folder file cannot be used: File exists."


@pytest.mark.usefixtures("sample")
def test_questions_that_failed_end_the_command_with_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def moody(messages: Messages) -> str | Fault:
        return Fault.refuse(500, "It is tired.") if "Cyrus Field asked" in messages[1]["content"] else reply(messages)

    with OpenAIServer(moody) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        done = CliRunner().invoke(app, ["evaluate", QUESTIONS, "--limit", "2", "--readers", "closed", "--rate", "none"])
    assert done.exit_code == 1, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert "closed failed on q01: " in done.stderr
    (scores,) = json.loads((tmp_path / "evaluation" / "results.json").read_text())["setups"]
    assert (scores["answered"], scores["failed"]) == (1, 1)
