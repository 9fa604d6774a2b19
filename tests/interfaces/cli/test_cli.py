"""The command line as a person and a program meet it: what it prints, where, and how it ends."""

import io
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Run
from conftest import EXAMPLES, ROOT, emptied
from corpora import put
from stopped import until

from kgplatform.client import KnowledgeGraph
from kgplatform.interfaces.cli import main as cli
from kgplatform.neo4j.store import Connection, Store
from kgplatform.readers import readers
from kgplatform.readers.readers import READERS, find, options_for
from kgplatform.records import Answer, SearchResult, Usage
from kgplatform.testing import Fault, OpenAIServer

pytestmark = pytest.mark.indexes
pytest_plugins = ["command_line"]

KGPLATFORM = [sys.executable, "-m", "kgplatform.interfaces.cli.main"]
COMMANDS = sorted(
    each.name or each.callback.__name__ for each in cli.app.registered_commands if each.callback is not None
)
ADA = "Ada Lovelace was born in London in 1815. Charles Babbage designed the Analytical Engine. " * 2


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder of three texts."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.txt").write_text(f"{number}. {ADA}", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def ada(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A graph of one document, for tests that only read it; its file. Those that empty the graph stand elsewhere."""
    folder = tmp_path_factory.mktemp("ada")
    (folder / "ada.txt").write_text(ADA, encoding="utf-8")
    with emptied(neo4j_server, folder / "home") as graph:
        graph.ingest(folder / "ada.txt", extractor="local")
        yield folder / "ada.txt"


def test_a_folder_of_good_and_bad_files(store: Store, run: Run, tmp_path: Path) -> None:
    mixed_folder = put(tmp_path / "mixed", {"empty.txt": ""})[0].parent
    shutil.copy(EXAMPLES / "corpus" / "Expedition_of_1865.pdf", mixed_folder / "good.pdf")
    (mixed_folder / "photo.txt").write_bytes(b"GIF89a" + bytes(64))
    done = run("ingest", mixed_folder, "--extractor", "local")
    assert done.code == 3
    lines = done.out.splitlines()
    assert [line for line in lines if line.startswith("Not ingested")] == [
        f"Not ingested: {mixed_folder}/empty.txt: empty file",
        f"Not ingested: {mixed_folder}/photo.txt: format not supported: an image (GIF), not text",
    ]
    assert any(line.startswith("Documents: 1 new, 2 not ingested. Passages: 1, all read now by") for line in lines)
    (mixed_folder / "good.pdf").unlink()
    nothing_good = run("ingest", mixed_folder, "--extractor", "local", "--json")
    assert nothing_good.code == 2
    skipped = [Path(each["path"]).name for each in nothing_good.document["skipped"]]
    assert skipped == ["empty.txt", "photo.txt"]


OPEN_IE = [
    {
        "title": "Ada Lovelace",
        "text": "Ada Lovelace was born in London.",
        "extracted_entities": ["Ada Lovelace", "London"],
        "extracted_triples": [["Ada Lovelace", "was born in", "London"], ["Ada Lovelace", "London"]],
    }
]


def test_an_open_ie_recording_may_be_given_alone(store: Store, run: Run, tmp_path: Path) -> None:
    """And a corpus that quotes one is none."""
    (tmp_path / "openie.json").write_text(json.dumps(OPEN_IE), encoding="utf-8")
    report = run("ingest", "openie.json", "--json").document
    assert (report["extractor"], report["mode"], report["added"]) == ("recorded", "flexible", 1)
    assert report["malformed"] == {"triple with 2 members": 1}
    assert run("stats", "--json").document["relationships"]["SUBJECT"] == 1
    quoting = [{"title": "About", "text": 'A recording has "extracted_triples": a list of lists, says Ada Lovelace.'}]
    (tmp_path / "about.json").write_text(json.dumps(quoting), encoding="utf-8")
    assert run("ingest", "about.json", "--json").document["extractor"] == "local"


def test_an_ingest_that_ran_out_of_tokens(store: Store, run: Run, texts: Path, monkeypatch: Any) -> None:
    reply = json.dumps({"entities": [{"name": "Ada Lovelace", "type": "Person", "quote": "Ada Lovelace"}]})
    with OpenAIServer(lambda messages: reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("KGPLATFORM_CONCURRENCY", "1")
        done = run("ingest", texts, "--token-budget", 1)
        assert done.code == 1
        assert "budget of 1 tokens is used up" in done.out
        assert "Model, " in done.out
        rest = run("ingest", texts)
    assert rest.code == 0
    assert "Documents: 3 unchanged. Passages: 3, 2 read now by the extractor llm." in rest.out


def test_metadata_of_an_ingest_stay_until_another_says_otherwise(store: Store, run: Run, texts: Path) -> None:
    (texts / "one.md").write_text(f"---\nyear: 1815\n---\n{ADA}")
    said = [each for text in ("lab=01234", "tags=[a, b]", "year=1", "time=12:30") for each in ("--metadata", text)]
    assert run("ingest", texts / "one.md", "--extractor", "local", *said).code == 0
    known = {"lab": "01234", "tags": ["a", "b"], "year": 1815, "time": "12:30"}
    for more in ((), ("--metadata", "year=1"), ("--metadata", "tags=", "--metadata", "lab=2")):
        report = run("ingest", texts, "--extractor", "local", "--json", *more).document
        assert report["extracted"] == (0 if more else 3), more
        found = {each["title"]: each["metadata"] for each in run("documents", "--json").document["documents"]}
        if "tags=" in more:
            known = {"lab": 2, "year": 1815, "time": "12:30"}
        assert found["one"] == known, more
        assert found["0"] == ({"year": 1, "lab": 2} if "tags=" in more else {"year": 1} if more else {}), more
    assert "\tlab=2; time=12:30; year=1815\n" in run("documents").out
    assert run("search", "Ada", "--where", "lab = 2 and year = 1", "--json").document["passages"]
    described = run("describe", "one", "--metadata", "lab=", "--metadata", "team=B", "--json").document["documents"]
    assert [each["metadata"] for each in described] == [{"team": "B", "year": 1815, "time": "12:30"}]
    report = run("ingest", texts, "--extractor", "local", "--json").document
    assert (report["unchanged"], report["changed"]) == (4, 0)
    assert "\tteam=B; time=12:30; year=1815\n" in run("documents").out
    refused = run("describe", "one", "--metadata", "year=2")
    assert (refused.code, refused.err) == (
        2,
        'kgplatform: The document "one" says year itself. Change it there, and ingest it.\n',
    )


def test_progress_on_a_terminal(store: Store, run: Run, texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    done = run("ingest", texts, "--extractor", "local")
    assert done.err.index("preparing") < done.err.index("documents") < done.err.index("extracting")
    assert "3/3" in done.err
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", done.out)
    assert "Documents: 3 new. Passages: 3, all read now by the extractor local." in plain


def test_search_shows_the_sentence_and_the_facts_that_speak_to_the_question(
    store: Store, run: Run, tmp_path: Path
) -> None:
    text = "Rain fell on Leeds. Ada Lovelace was born in London in 1815. Tom Reed died in Paris in 1902."
    (tmp_path / "lives.txt").write_text(text, "utf-8")
    assert run("ingest", "lives.txt", "--extractor", "local").code == 0
    question = "Where was Ada Lovelace born?"
    shown = run("search", question).out
    assert "     Ada Lovelace was born in London in 1815.\n" in shown
    assert "Ada Lovelace born in London" in shown
    assert "Tom Reed" not in shown
    assert "Tom Reed died" in run("search", question, "--facts").out
    facts = run("search", question, "--json").document["facts"]
    assert any("Tom Reed" in fact["text"] and not fact["relevant"] for fact in facts), "programs get all"


def test_what_documents_say_cannot_steer_a_terminal(store: Store, run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("Ada Lovelace met [bold]Babbage[/bold] in [link=x]London[/link].", "utf-8")
    assert run("ingest", "bad.txt", "--extractor", "local").code == 0
    assert "Ada Lovelace met [bold]Babbage[/bold] in [link=x]London[/link]." in run("search", "Babbage").out
    done = run("cypher", "RETURN $text AS `[red]text`", "--param", "text=a\x1b[31mred\x07[b]\\")
    assert "a\ufffd[31mred\ufffd[b]\\" in done.out
    assert "[red]text" in done.out


def test_lists_and_counts_and_what_another_embedder_can_do(store: Store, run: Run) -> None:
    Path("ada.txt").write_text(ADA, encoding="utf-8")
    assert run("ingest", "ada.txt", "--extractor", "local").code == 0
    assert [each["uri"] for each in run("documents", "--json").document["documents"]] == [
        Path("ada.txt").absolute().as_uri()
    ]
    stats = run("stats", "--json").document
    assert stats["nodes"]["Document"] == stats["nodes"]["Chunk"] == 1
    assert stats["relationships"]["FROM_DOCUMENT"] == 1
    assert "Document" in run("stats").out
    assert run("schema", "--json").document["schema"]["name"] == "general"
    assert run("schema").out.splitlines()[-1] == "Schema general; 0 types added to it in this graph."
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGPLATFORM_EMBEDDER", "hash:32")
        refused = run("search", "Ada")
        assert (refused.code, "hash:64" in refused.err, "hash:32" in refused.err) == (1, True, True)
        assert run("stats").code == 0, "what needs no vectors still works"
    assert run("reembed", "--json").document["model"] == "hash:64"
    assert run("remove", "ada.txt").out == "Removed 1 document: ada\n"
    assert run("documents").out == "0 documents\n"
    assert run("remove", "ada", "--json").code == 2


def test_search_for_programs(ada: Path, run: Run) -> None:
    done = run("search", "Where was Ada Lovelace born?", "--json", "--top-k", 3)
    wrong = {
        "author=x": 'No document has metadata "author"',
        "author >": "The condition ends too early: a value is missing.",
    }
    for where, said in wrong.items():
        refused = run("search", "Ada", "--where", where)
        assert (refused.code, said in refused.err) == (2, True)
    found = done.document
    for only in ("--document=ada", "--document=ada.txt", f"--document={ada}", f"--folder={ada.parent.name}"):
        assert run("search", "Where was Ada Lovelace born?", "--json", "--top-k", 3, only).document["passages"]
    missing = {"--document=adas": '"adas" in the graph. Did you mean ada', "--folder=no": 'There is no folder "no" in'}
    for only, said in missing.items():
        for command in (["search", "Ada"], ["ask", "Ada"], ["export", ada.parent / "no.jsonl"]):
            refused = run(*command, "--document=ada", only)
            assert (refused.code, said in refused.err) == (2, True), refused.err
    assert done.err == ""
    assert set(found) == {
        "question",
        "passages",
        "facts",
        "seconds",
        "paths",
        "communities",
        "fits",
        "missing",
        "as_of",
    }
    passage = found["passages"][0]
    assert {"document", "title", "start", "end", "page", "text", "score", "routes"} <= set(passage)
    assert passage["text"] == ADA[passage["start"] : passage["end"]]
    assert passage["document"] == ada.as_uri()
    facts = found["facts"]
    assert {"text", "score", "routes", "citations"} <= set(facts[0])
    assert [fact["score"] for fact in facts] == sorted((fact["score"] for fact in facts), reverse=True)
    assert {"document", "title", "start", "end", "page"} <= set(facts[0]["citations"][0])


def cited(ada: Path) -> tuple[str, str]:
    return f"[1] ada, characters 0–40 ({ada})", "     Ada Lovelace was born in London in 1815."


def test_ask_without_a_model_gives_evidence_and_with_one_cites(
    ada: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("ask", "Where was Ada Lovelace born?")
    assert (done.code, "Passages" in done.out) == (0, True)
    assert "No language model is configured, so there is no answer" in done.out
    reply = {"answer": "In London, in 1816 [1.1].", "sufficient": True}

    def said(messages: list[dict[str, str]]) -> str:
        return json.dumps({"supported": [False]} if "You check statements" in messages[0]["content"] else reply)

    with OpenAIServer(said) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        verified = run("ask", "Where was Ada Lovelace born?", "--verify")
        told = run("ask", "Where was Ada Lovelace born?", "--verify", "--json").document
    mark = "     “In London, in 1816 [1].”: not in the cited text: 1816"
    verdict = "     “In London, in 1816 [1].”: the model finds this not supported by its citation"
    assert verified.out.splitlines() == ["In London, in 1816 [1].", mark, verdict, *cited(ada)]
    assert re.fullmatch(r"2 model calls, [\d,]+ tokens in, \d+ out, [\d.]+ m?s\n", verified.err)
    (statement,) = told["statements"]
    assert (statement["citations"], statement["unread"], statement["supported"]) == ([1], ["1816"], False)
    assert told["sufficient"] is True
    assert told["citations"][0]["text"] == "Ada Lovelace was born in London in 1815."


def test_a_chat_through_a_pipe(ada: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line a question; a question that fails is told, and the next is answered; a thread is resumed by its id."""
    answered = {"answer": "In London [1.1].", "sufficient": True}
    alone = {"reasoning": "She is Ada Lovelace.", "question": "Where was Ada Lovelace born?"}

    def reply(messages: list[dict[str, str]]) -> str | Fault:
        if "she born" in messages[1]["content"] and "stand alone" in messages[0]["content"]:
            return json.dumps(alone)
        return Fault.refuse(401, "No.") if "Why" in messages[1]["content"] else json.dumps(answered)

    def said(*lines: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))

    with OpenAIServer(reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        said("Who was Ada Lovelace?", "", "Where was she born?", "/quit", "Never asked?")
        done = run("chat", "--option", "top_k=3")
        assert done.code == 0
        assert done.out.splitlines() == [
            *("In London [1].", *cited(ada)),
            *("In London [1].", *cited(ada), "Asked as: Where was Ada Lovelace born?"),
        ]
        *costs, last = done.err.splitlines()
        assert [line.partition(",")[0] for line in costs] == ["1 model call", "2 model calls"]
        thread = last.removeprefix("To continue this thread: kgplatform chat --thread ")
        said("Why?", "Where was she born?")
        again = run("chat", "--thread", thread, "--json")
    assert (again.code, again.document["thread"]) == (1, thread)
    why, where = again.document["answers"]
    assert (why["question"], why["error"]["kind"], where["text"]) == ("Why?", "ModelError", "In London [1].")
    assert "check OPENAI_API_KEY" in again.err
    said()
    shown = run("chat", "--thread", thread)
    assert shown.out.count("[1] ada, characters 0–40") == 3
    assert "> Why?\n(no answer)\n" in shown.out
    assert re.search(rf"^{thread}\t4\t.*\tWho was Ada Lovelace\?$", run("chat", "--list").out, re.M)
    assert run("chat", "--remove", thread).out.splitlines()[-1] == "0 threads"
    assert run("chat", "--thread", thread).code == 2


def test_a_reader_that_fails_shows_what_it_found(ada: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(lambda messages: "{}") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        told = run("ask", "Where was Ada Lovelace born?", "--reader", "cypher", "--json").document
    assert told["error"]["kind"] == "ReplyError"
    assert told["usage"]["calls"] == len(server.requests_to("/chat/completions")) > 1, "replies of no use are paid for"
    with OpenAIServer(lambda messages: Fault.refuse(401, "No.")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        done = run("ask", "Where was Ada Lovelace born?")
        for_programs = run("ask", "Where was Ada Lovelace born?", "--json")
    assert done.code == for_programs.code == 1
    assert done.out.startswith("The reader failed. What was found until then: 1 passage\n  1. ada, characters 0–")
    assert "Ada Lovelace was born in London in 1815." in done.out
    cost, sentence = done.err.splitlines()
    assert cost.startswith("no reply from the model, ")
    assert sentence.startswith("kgplatform: ") and "check OPENAI_API_KEY" in sentence
    told = for_programs.document
    assert (told["error"], for_programs.err) == (
        {"kind": "ModelError", "message": sentence.removeprefix("kgplatform: ")},
        f"{sentence}\n",
    )
    assert told["evidence"]["passages"][0]["text"] == ADA.rstrip()


def test_an_answer_is_written_on_a_terminal(ada: Path, environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was shown while it was written is gone at the end; a mark of a wrong citation is not in the answer."""
    said = "In London [1.1], in 1815. [1.7]"
    reply = {"sufficient": True, "answer": said}
    with OpenAIServer(lambda messages: json.dumps(reply), faults=lambda request: Fault.slowly(0.2)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        shown = _on_terminal("ask", "Where was Ada Lovelace born?")
    cleared = shown.rpartition("\x1b[2K")
    assert "search: " in cleared[0]
    assert "A draft:" in cleared[0] and "In London [1.1], in" in cleared[0]
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", cleared[2]).replace("\r", "").split("\n")
    assert [line for line in last if line][:2] == ["In London [1], in 1815.", cited(ada)[0]]
    assert "1 model call, " in last[-2]


def test_cypher(ada: Path, run: Run) -> None:
    done = run(
        "cypher", "MATCH (d:Document {name: $name}) RETURN d.name AS name, d, [d.tokens, 1.5]", "--param", "name=ada"
    )
    assert done.code == 0
    assert '(:Document "ada")' in done.out
    assert done.out.splitlines()[-1] == "1 row"
    path = "MATCH p = (:Chunk)-[:FROM_DOCUMENT]->(:Document) RETURN p"
    assert '(:Chunk "ada · 1")-[:FROM_DOCUMENT]->(:Document "ada")' in run("cypher", path).out
    found = run("cypher", "UNWIND range(1, 5) AS n RETURN n, 0.0/0.0 AS x", "--limit", 2, "--json").document
    assert found == {
        "columns": ["n", "x"],
        "rows": [{"n": 1, "x": "nan"}, {"n": 2, "x": "nan"}],
        "truncated": True,
        "changes": {},
        "notes": [],
    }
    refused = run("cypher", "CREATE (n:Note)")
    assert (refused.code, refused.out) == (2, "")
    assert "Allow that with the option --write." in refused.err
    assert "1 nodes created" in run("cypher", "CREATE (n:Note {id: '1'})", "--write").out
    assert "1 nodes deleted" in run("cypher", "MATCH (n:Note) DELETE n", "--write").out


OPTIONS = {
    "readagent": {
        "--mode open --option lookup=sequential --option pages=3 --option interim=true --option documents=ada": {
            **{"mode": "open", "lookup": "sequential", "pages": 3, "interim": True}
        },
        "--option by_importance=true --option choices=1866 --option choices=1867 --option window_tokens=3000": {
            **{"by_importance": True, "choices": ("1866", "1867"), "window_tokens": 3000}
        },
        "--option preset=paper --answer-style phrase": {"preset": "paper", "answer_style": "phrase"},
    },
    "longagent": {
        "--option member_tokens=none --option member_model=small --option members=retrieved:3": {
            **{"member_tokens": None, "member_model": "small", "members": "retrieved:3"}
        }
    },
    "youtu": {
        "--top-k 3 --option agent=false --option without=path": {"top_k": 3, "agent": False, "without": ("path",)}
    },
    "cypher": {"--option timeout=2.5": {"timeout": 2.5}},
}
"""Lines of ``ask`` by reader, with the values that they stand for: of each type, with and without a flag."""


def test_options_of_ask_reach_their_reader_with_their_values(
    ada: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (document,) = run("documents", "--json").document["documents"]
    got: list[object] = []

    def answer(question: str, run: object, options: object) -> Answer:
        got.append(options)
        return Answer(question, "any", None, (), SearchResult(question, (), (), 0.0), (), Usage(), "")

    monkeypatch.setattr(readers, "READERS", [replace(each, answer=answer) for each in READERS])
    for reader, lines in OPTIONS.items():
        for line, values in lines.items():
            done = run("ask", "Who?", "--reader", reader, *line.split())
            assert done.code == 0, done.err
            chosen = {"documents": (document["id"],)} if "documents=" in line else {}
            assert got.pop() == options_for(reader, values | chosen)
    shown = re.sub(r"[\s│]+", " ", run("ask", "--help").out)
    for reader in READERS:
        names = [option.name for option in find(reader.name).options]
        assert f"{reader.name}: {', '.join(names)}" in shown
        own = re.sub(r"[\s│]+", " ", run("ask", "--reader", reader.name, "--help").out)
        assert all(f" {name}: " in own for name in names)


def test_an_error_is_one_sentence(store: Store, run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("Ada Lovelace", encoding="utf-8")
    graphreader = ["ask", "Who?", "--reader", "graphreader"]
    cases: list[tuple[list[str], int, str]] = [
        (["ingest", "nowhere"], 2, "nowhere: no such file or folder"),
        (["ingest", "x.txt", "--extractor", "recorded"], 2, "Name it with --recorded FILE."),
        (["ingest", "x.txt", "--metadata", "path=a"], 2, '"path" is what the platform knows of every document.'),
        (["search", "Who?"], 2, "The graph is empty. Run `kgplatform ingest PATH…` first."),
        (["cypher", "RETURN $x"], 1, "Expected parameter(s): x"),
        (["search"], 2, "Missing argument 'question'"),
        (["search", "Who?", "--route", "wrong"], 2, "Invalid value for '--route': 'wrong' is not one of"),
        ([*graphreader, "--nodes", "3"], 2, "Write --option nodes=VALUE in place of --nodes."),
        ([*graphreader, "--top-k", "3"], 2, "The reader graphreader has no option --top-k."),
        (["ask", "Who?", "--reader", "youtu", "--no-agent"], 2, "Write --option agent=false in place of --no-agent."),
        (["ask", "Who?", "--option", "nodes=3"], 2, "The reader retrieve has no option nodes. Leave it out, or use"),
        (["ask", "Who?", "--option", "top_k"], 2, "--option 'top_k' is not NAME=VALUE."),
        (["frobnicate"], 2, "No such command 'frobnicate'"),
        (["import", "x.txt"], 2, "x.txt, line 1, is not valid JSON. Nothing was imported."),
    ]
    for arguments, code, says in cases:
        done = run(*arguments)
        assert (done.code, done.out) == (code, ""), arguments
        assert says in re.sub(r"[\s│]+", " ", done.err)
        assert "Traceback" not in done.err
        if done.err.startswith("kgplatform: "):
            assert done.err.count("\n") == 1, arguments


def test_a_wrong_setting_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value, code in (("NEO4J_URI", "bolt://127.0.0.1:1", 1), ("KGPLATFORM_CONCURRENCY", "many", 2)):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            done = run("stats", "--json")
        assert (done.code, done.out, value in done.err or name in done.err) == (code, "", True)
        assert done.err.startswith("kgplatform: ") and "Traceback" not in done.err


def test_debug_counts_as_an_option_alone(store: Store, run: Run) -> None:
    """A question, or the value of another option, may be the same word."""
    for arguments, is_option, says in (
        (["--debug", "search", "Who?"], True, "The graph is empty."),
        (["search", "--json", "--", "--debug"], False, "The graph is empty."),
        (["cypher", "RETURN 1", "--param", "--debug", "--debug"], True, "--param '--debug' is not NAME=VALUE."),
    ):
        done = run(*arguments)
        assert (done.code, "Traceback" in done.err) == (2, is_option)
        assert says in done.err.splitlines()[-1]


def test_a_fault_of_the_platform_is_said_to_be_one(store: Store, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: KnowledgeGraph) -> None:
        raise ValueError("no such thing\nat all")

    monkeypatch.setattr(KnowledgeGraph, "stats", broken)
    done = run("stats")
    said = "kgplatform: internal error: ValueError: no such thing (--debug shows where)\n"
    assert (done.code, done.out, done.err) == (1, "", said)


def test_help_version_and_status_need_no_server(run: Run, tmp_path: Path) -> None:
    for name in COMMANDS:
        done = run(name, "--help")
        assert (done.code, f"Usage: kgplatform {name}" in done.out) == (0, True)
    written = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert written is not None
    assert run("--version").out == f"kgplatform {written[1]}\n"
    lines = run("status", "--home", tmp_path / "new").out.splitlines()
    assert re.fullmatch(rf"Neo4j [\d.]+ is not running\. Its home: {re.escape(str(tmp_path))}/new/neo4j", lines[0])
    assert re.fullmatch(r"NEO4J_URI is set: the other commands use \S+, not this server\.", lines[1])
    assert run("status", "--json").document["running"] is False
    assert run("down", "--json").document == {"stopped": False}
    assert run("down").out == "Neo4j was not running.\n"


def test_help_and_status_import_little_and_the_client_no_other_librarys_adapter(tmp_path: Path) -> None:
    heavy = "torch sentence_transformers onnxruntime numpy scipy neo4j openai lxml pypdfium2"
    code = (
        "import sys\n"
        "from kgplatform.interfaces.cli import main as cli\n"
        "for arguments in (['--help'], ['status'], ['down']):\n"
        "    sys.argv = ['kgplatform', *arguments]\n"
        "    try: cli.main()\n"
        "    except SystemExit as ended: assert not ended.code, ended.code\n"
        f"print('heavy:', [name for name in {heavy.split()!r} if name in sys.modules])\n"
        "import kgplatform.client\n"
        "theirs = ('neo4j_graphrag', 'langchain_core', 'langchain_neo4j', 'llama_index')\n"
        "print('theirs:', [name for name in sys.modules if name.startswith(theirs)])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-2:] == ["heavy: []", "theirs: []"]


def test_ctrl_c_while_a_model_is_silent(store: Store, environment: None, texts: Path) -> None:
    with OpenAIServer([Fault.hang()] * 3) as server:
        process = subprocess.Popen(
            [*KGPLATFORM, "ingest", str(texts)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OPENAI_BASE_URL": server.base_url},
        )
        until(lambda: server.requests or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (1, "")
    # A machine that is busy says before that what it is at.
    assert err.endswith("\nStopped. What was done is kept; run the same command again to resume.\n")
    assert "Traceback" not in err


def test_a_reader_that_stops_reading_is_no_fault(environment: None) -> None:
    command = " ".join([*KGPLATFORM, "cypher", "'UNWIND range(1, 900) AS n RETURN n'", "|", "head", "-1"])
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "n"
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


def _on_terminal(*arguments: str) -> str:
    """What a terminal gets of a command that ends well."""
    ours, theirs = pty.openpty()
    terminal = {"TERM": "xterm-256color", "COLUMNS": "90"}
    process = subprocess.Popen(
        [*KGPLATFORM, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **terminal}
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:
        """Linux says so when the other end is closed."""
    assert process.wait() == 0, shown
    os.close(ours)
    return shown.decode("utf-8", "replace")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*KGPLATFORM, "settings"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("kgplatform: The output cannot be written: No space left on device. Free some space")
