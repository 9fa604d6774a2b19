"""The two benchmarks called GraphRAG-Bench, in the shapes in which they are published; the content is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgplatform.evaluate.datasets import load
from kgplatform.evaluate.terms import Question, Text

SOURCED: dict[str, Any] = {
    "id": "Novel-73",
    "source": "Novel-1",
    "question": "Who keeps the light?",
    "answer": "Odd keeps it.",
    "question_type": "Fact Retrieval",
    "evidence": ["Odd kept the light.", "It burnt."],
    "evidence_relations": "Odd keeps the light",
}
TEXTS = [{"corpus_name": "Novel-1", "context": "Odd kept it."}, {"corpus_name": "Novel-2", "context": "Ice."}]


def listed(file: Path, values: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(values), "utf-8")
    return file


def lines(file: Path, *values: dict[str, Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(each) + "\n" for each in values), "utf-8")
    return file


# ------------------------------------------------------------------------------------- novels and medicine


def test_questions_about_one_text_are_about_the_whole_graph(tmp_path: Path) -> None:
    listed(tmp_path / "Corpus" / "medical.json", TEXTS[:1])
    listed(tmp_path / "Questions" / "medical_questions.json", [SOURCED])
    dataset = load(tmp_path)
    assert (dataset.name, dataset.apart, dataset.faults) == ("graphrag-bench", False, ())
    assert dataset.corpus == (Text("Novel-1", "Odd kept it."),)
    assert dataset.questions == (
        Question(
            id="Novel-73",
            text="Who keeps the light?",
            answers=("Odd keeps it.",),
            facts=("Odd kept the light.", "It burnt."),
            kind="Fact Retrieval",
        ),
    )


def test_questions_about_several_texts_are_asked_apart(tmp_path: Path) -> None:
    listed(tmp_path / "Corpus" / "novel.json", TEXTS)
    strange = SOURCED | {"id": "c", "source": "Novel-9"}
    cold = SOURCED | {"id": "b", "source": "Novel-2", "question": "What?"}
    listed(tmp_path / "Questions" / "novel_questions.json", [SOURCED, cold, strange])
    dataset = load(tmp_path)
    assert dataset.apart
    assert [each.within for each in dataset.questions] == [("Novel-1",), ("Novel-2",)]
    assert [each.title for each in dataset.corpus] == ["Novel-1", "Novel-2"]
    assert dataset.faults == (
        "novel_questions.json, item 3: its source Novel-9 is not in the corpus; skipped.",
    )  # fmt: skip
    assert [each.title for each in load(tmp_path, limit=1).corpus] == ["Novel-1"]


def test_without_a_corpus_the_graph_that_is_there_is_asked(tmp_path: Path) -> None:
    dataset = load(listed(tmp_path / "questions.json", [SOURCED]))
    assert (dataset.corpus, dataset.apart, dataset.questions[0].within) == ((), False, ())


@pytest.mark.parametrize(
    ("evidence", "facts"),
    [
        ("Odd kept it.", ("Odd kept it.",)),
        ("['Odd kept it.', \"It's lit.\"]", ("Odd kept it.", "It's lit.")),
        ("[sic] Odd kept it.", ("[sic] Odd kept it.",)),
        (None, ()),
        ("", ()),
    ],
)
def test_evidence_is_a_list_or_a_text(tmp_path: Path, evidence: Any, facts: tuple[str, ...]) -> None:
    (question,) = load(listed(tmp_path / "questions.json", [SOURCED | {"evidence": evidence}])).questions
    assert question.facts == facts


def test_two_questions_with_one_id_are_both_kept(tmp_path: Path) -> None:
    other = SOURCED | {"question": "Who else?"}
    dataset = load(listed(tmp_path / "questions.json", [SOURCED, other, SOURCED]))
    assert [each.id for each in dataset.questions] == ["Novel-73", "Novel-73 (2)"]
    assert dataset.skipped == 1
    assert dataset.faults == (
        "questions.json, item 2: another question has the id Novel-73 already; this one is called Novel-73 (2).",
        "questions.json, item 3: the same question is there already, with the id Novel-73; skipped.",
    )


# ------------------------------------------------------------------------------------------------ textbooks

OPTIONS = {"A": "a tree", "B": "a ring", "C": "a star", "D": "a line"}


def of_textbook(question: str, answer: Any, **more: Any) -> dict[str, Any]:
    topics = {"Level-1 Topic": "Networks", "Level-2 Topic": "Topologies", "Rationale": "Because."}
    return {"Question": question, "Answer": answer, **topics, **more}


def test_textbooks_have_a_file_for_each_sort_of_question(tmp_path: Path) -> None:
    folder = tmp_path / "questions"
    lines(folder / "FB.jsonl", of_textbook("A net of ________.", "nodes"))
    lines(
        folder / "MC.jsonl", of_textbook("Which?", "B", Choices=OPTIONS), of_textbook("W?", "a ring", Choices=OPTIONS)
    )
    lines(folder / "MS.jsonl", of_textbook("Which ones?", "DA", Choices=OPTIONS))
    lines(folder / "OE.jsonl", of_textbook("Why?", "For speed."))
    lines(folder / "TF.jsonl", of_textbook("It is so.", "true"))
    listed(
        tmp_path / "textbooks" / "textbook1_structured.json",
        [{"section": "1 Nets", "subsection": "1.1 Rings", "subsubsection": "", "content": "A ring has no end."}],
    )
    dataset = load(tmp_path)
    assert (dataset.name, dataset.apart, dataset.faults) == ("graphrag-bench", False, ())
    assert dataset.corpus == (Text("1 Nets 1.1 Rings", "A ring has no end."),)
    choices = tuple(OPTIONS.values())
    told = [(each.id, each.kind, each.answers, each.choices) for each in dataset.questions]
    assert told == [
        ("FB line 1", "fill in the blank", ("nodes",), ()),
        ("MC line 1", "multiple choice", ("a ring",), choices),
        ("MC line 2", "multiple choice", ("a ring",), choices),
        ("MS line 1", "multiple select", ("a tree; a line",), ()),
        ("OE line 1", "open-ended", ("For speed.",), ()),
        ("TF line 1", "true or false", ("True",), ("True", "False")),
    ]
    assert dataset.questions[3].text == "Which ones?\n(A) a tree\n(B) a ring\n(C) a star\n(D) a line"


@pytest.mark.parametrize("answer", ["ACD", "A, C, D", ["A", "C", "D"], ["a tree", "a star", "a line"]])
def test_several_right_options_are_told_in_several_ways(tmp_path: Path, answer: Any) -> None:
    file = lines(tmp_path / "MS.jsonl", of_textbook("Which ones?", answer, Choices=OPTIONS))
    assert load(file).questions[0].answers == ("a tree; a star; a line",)


def test_an_answer_that_is_no_option_is_told(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "MC.jsonl", of_textbook("Which?", "B", Choices=OPTIONS), of_textbook("W?", "E", Choices=OPTIONS)
    )
    assert load(file).faults == ('MC.jsonl, line 2: its "Answer" E is none of the "Choices"; skipped.',)
