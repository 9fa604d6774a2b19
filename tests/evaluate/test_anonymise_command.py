"""`kgplatform anonymise`: what it prints, for people and as JSON, and what it says of wrong options."""

import json
import re
from pathlib import Path

import pytest
from conftest import EXAMPLES
from typer.testing import CliRunner

from kgplatform.client import KnowledgeGraph
from kgplatform.evaluate.hidden_names import Finder
from kgplatform.interfaces.cli.main import app
from kgplatform.interfaces.cli.shared import spelled

CORPUS, QUESTIONS = EXAMPLES / "corpus", EXAMPLES / "questions.jsonl"


def invoke(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["anonymise", *map(str, arguments)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def refused(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["anonymise", *map(str, arguments)])
    assert isinstance(done.exception, Exception)
    return spelled(done.exception)


@pytest.mark.usefixtures("store", "at_server")
def test_the_sample_corpus(tmp_path: Path) -> None:
    """The graph of the texts is made on the way: one step. A second time it is found."""
    out = tmp_path / "hidden"
    said = invoke(CORPUS, "--out", out, "--questions", QUESTIONS).split("\n")
    assert re.match(r"\d\d texts in ", said[0])
    assert "PERSON)" in said[0]
    assert said[1] == f"Map: {out}.map.json. Store it apart from the texts: it has every name."
    assert re.search(r"hidden.reversion.jsonl \([\d,]+ choice simple, [\d,]+ reversion ", said[3])
    assert said[-2].startswith("Names of unknown type, left unchanged")
    found = json.loads(Path(f"{out}.map.json").read_text())["entities"]
    names = {each["name"]: each for each in found}
    assert set(names["Edward Orange Wildman Whitehouse"]["forms"]) >= {"Whitehouse", "Wildman Whitehouse"}
    assert names["Thomson"]["may_be"] == ["James Thomson", "William Thomson"]
    left = Finder({form: each["placeholder"] for each in found for form in each["forms"]})
    assert left.mentions((out / "texts.jsonl").read_text()) == []
    invoke(CORPUS, "--out", tmp_path / "again", "--questions", QUESTIONS)
    assert json.loads((tmp_path / "again.map.json").read_text())["entities"] == found


def test_questions_about_what_a_graph_knows(at_server: None, kg: KnowledgeGraph, tmp_path: Path) -> None:
    """The graph that holds the texts gives the names, however they were read; for other texts it is left as it is."""
    files = tmp_path / "in"
    files.mkdir()
    pupils = ["Ada Korn", "Bea Lund", "Cid Mohr", "Dov Nagy", "Eva Orsi", "Fay Pohl"]
    lines = [f"{one} taught {other}." for one, other in zip(pupils, pupils[1:], strict=False)]
    (files / "school.txt").write_text(" ".join(lines))
    triples = [
        {"subject": one, "predicate": "taught", "object": other, "quote": line}
        for one, other, line in zip(pupils, pupils[1:], lines, strict=False)
    ]
    entities = [{"name": name, "type": "Person"} for name in pupils]
    recorded = tmp_path / "recorded.jsonl"
    recorded.write_text(json.dumps({"document": "school.txt", "entities": entities, "triples": triples}))
    kg.ingest(files, recorded=recorded, mode="flexible")
    names = tmp_path / "names.jsonl"
    names.write_text('{"name": "Ada Korn", "type": "Teacher"}\n{"name": "Pequod", "type": "Ship"}')
    told = json.loads(invoke(files, "--out", tmp_path / "out", "--names", names, "--json"))
    assert (told["texts"], told["mentions"]) == (1, 10)
    assert told["entities"] == {"PERSON": 5, "TEACHER": 1}, "what the file says goes before what the graph says"
    assert {"choice simple", "reversion simple"} <= set(told["built"])
    made = [json.loads(line) for line in (tmp_path / "out.reversion.jsonl").read_text().splitlines()]
    assert {each["documents"][0] for each in made} == {"school"}
    assert not any(name in json.dumps(each["question"]) for each in made for name in pupils)
    assert "needs its own graph" in refused(CORPUS, "--out", tmp_path / "other")
    assert [each.title for each in kg.documents()] == ["school"]
    assert not (tmp_path / "other").exists()
