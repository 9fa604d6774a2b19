"""LongBench v2, InfiniteBench, Needle-in-a-Haystack PLUS and SQuAD, in the shapes in which they are published.

All of it is made by hand: the keys are those of the data sets, the content is invented.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets import load
from kgplatform.evaluate.kept_answers import inquiry_for
from kgplatform.evaluate.needles import grid, math_find, multi_needle, pass_key, single_needle, write_tasks
from kgplatform.evaluate.needles.heat_map import needle_data_set
from kgplatform.evaluate.score.metrics import without_model
from kgplatform.evaluate.setups import parse_setups
from kgplatform.evaluate.terms import Question, Text
from kgplatform.records import Answer, SearchResult, Usage

STORY = "A long story of a lighthouse, which Odd keeps."


def lines(file: Path, values: Iterable[Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), "utf-8")
    return file


def chosen(question: Question, said: str) -> float:
    """The score of an answer in these words to a question with choices."""
    answer = Answer(question.text, "retrieve", said, (), SearchResult(question.text, (), (), 0.0), (), Usage())
    return without_model(question, answer)["choice"]


# ------------------------------------------------------------------------------------------------------ LongBench v2

V2: dict[str, Any] = {
    "_id": "66f36490821e116aacb2cc22",
    "domain": "Single-Document QA",
    "sub_domain": "Literary",
    "difficulty": "hard",
    "length": "short",
    "question": "Who keeps the light?",
    "choice_A": "Even",
    "choice_B": "Odd",
    "choice_C": "Nobody",
    "choice_D": "A machine",
    "answer": "B",
    "context": STORY,
}


def test_longbench_v2_is_multiple_choice(tmp_path: Path) -> None:
    """It is published as one JSON list."""
    second = V2 | {"_id": "66", "difficulty": "easy", "question": "And where?", "answer": "D"}
    (tmp_path / "data.json").write_text(json.dumps([V2, second]), "utf-8")
    dataset = load(tmp_path)
    assert (dataset.name, dataset.apart, dataset.faults) == ("longbench-v2", True, ())
    assert dataset.corpus == (Text(V2["_id"], STORY),)
    assert dataset.questions[0] == Question(
        id=V2["_id"],
        text="Who keeps the light?",
        answers=("Odd",),
        choices=("Even", "Odd", "Nobody", "A machine"),
        within=(V2["_id"],),
        kind="hard, short",
    )
    assert (dataset.questions[1].answers, dataset.questions[1].kind) == (("A machine",), "easy, short")


def test_choices_are_shown_and_scored_by_letter_or_words(tmp_path: Path) -> None:
    dataset = load(lines(tmp_path / "data.jsonl", [V2]))
    (question,) = dataset.questions
    (setup,) = parse_setups("retrieve")
    assert inquiry_for(setup, question, dataset).text.endswith("(A) Even\n(B) Odd\n(C) Nobody\n(D) A machine")
    for right in ("B", "(B)", "Answer: (B) Odd", "Odd", "The correct answer is (B)."):
        assert chosen(question, right) == 1.0, right
    for wrong in ("A", "(C) Nobody", "Even", "The documents do not say."):
        assert chosen(question, wrong) == 0.0, wrong


def test_a_right_choice_that_is_none_of_them_is_told(tmp_path: Path) -> None:
    broken = [V2 | {"answer": "E"}, V2 | {"_id": "2", "choice_D": ""}, V2 | {"_id": "3"}]
    dataset = load(lines(tmp_path / "data.jsonl", broken))
    assert dataset.faults == (
        "data.jsonl, line 1: its answer E is none of the choices; skipped.",
        'data.jsonl, line 2: "choice_D" is empty; skipped.',
    )


# ----------------------------------------------------------------------------------------------------- InfiniteBench

INFINITE: dict[str, Any] = {
    "id": 0,
    "context": STORY,
    "input": "Who keeps the light?",
    "answer": ["Odd"],
    "options": [],
}
FOUR = ["Even", "Odd", "Nobody", "A machine"]


def test_infinitebench_has_a_file_for_each_task(tmp_path: Path) -> None:
    lines(tmp_path / "longbook_qa_eng.jsonl", [INFINITE, INFINITE | {"id": 1, "answer": ["At sea", "the sea"]}])
    of_choices = [INFINITE | {"options": FOUR}, INFINITE | {"id": 1, "options": FOUR, "answer": ["Odd", "B"]}]
    lines(tmp_path / "longbook_choice_eng.jsonl", of_choices)
    lines(tmp_path / "longbook_sum_eng.jsonl", [INFINITE | {"input": "", "answer": ["A summary."]}])
    dataset = load(tmp_path)
    assert (dataset.name, dataset.apart) == ("infinitebench", True)
    assert dataset.faults == (
        'longbook_sum_eng.jsonl, line 1: its "input" is empty: this task is not a question; skipped.',
    )
    told = [(question.id, question.kind, question.answers, question.choices) for question in dataset.questions]
    assert told == [
        ("longbook_choice_eng 0", "longbook_choice_eng", ("Odd",), tuple(FOUR)),
        ("longbook_choice_eng 1", "longbook_choice_eng", ("Odd",), tuple(FOUR)),
        ("longbook_qa_eng 0", "longbook_qa_eng", ("Odd",), ()),
        ("longbook_qa_eng 1", "longbook_qa_eng", ("At sea", "the sea"), ()),
    ]
    assert [text.text for text in dataset.corpus] == [STORY]


# --------------------------------------------------------------------------------------- Needle-in-a-Haystack PLUS

PLUS: dict[str, Any] = {
    "id": "squad_1000_0",
    "context": STORY,
    "context_length": 1000,
    "depth_percent": 50,
    "input": "Who keeps the light?",
    "dataset": "needle_squad",
    "answers": ["Odd"],
}


def test_needle_in_a_haystack_plus_has_length_and_depth(tmp_path: Path) -> None:
    two = PLUS | {"id": "hotpot_2000", "context_length": "2000", "dataset": "needle_hotpotqa", "context": "Other."}
    depths = ([0, 33], "0,33", "(0, 33)")
    pairs = [two | {"id": f"h{number}", "depth_percent": depth} for number, depth in enumerate(depths)]
    dataset = load(lines(tmp_path / "plus.jsonl", [PLUS, *pairs, PLUS | {"id": "b", "depth_percent": "deep"}]))
    assert (dataset.name, dataset.apart, dataset.skipped) == ("niah-plus", True, 1)
    assert dataset.questions[0] == Question(
        id="squad_1000_0",
        text="Who keeps the light?",
        answers=("Odd",),
        within=("squad_1000_0",),
        kind="single, 1000 tokens, depth 0.5",
    )
    assert {question.kind for question in dataset.questions[1:]} == {"multi, 2000 tokens, depths 0/0.33"}
    assert dataset.faults == (
        'plus.jsonl, line 5: "depth_percent" is a text, expected numbers from 0 to 100; skipped.',
    )


def test_tasks_that_were_written_are_read_as_those_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "needles.jsonl"
    tasks = [*grid(single_needle, (300, 500), (0, 0.5)), multi_needle(400, (0, 0.33)), pass_key(300, 1)]
    assert write_tasks(file, [*tasks, math_find(300, 0.25, rank="second largest")]) == 7
    dataset = load(file)
    made = [
        *needle_data_set("single", (300, 500), (0.0, 0.5)).questions,
        *needle_data_set("multi", (400,), ((0.0, 0.33),)).questions,
        *needle_data_set("pass-key", (300,), (1.0,)).questions,
        *needle_data_set("math", (300,), (0.25,), rank="second largest").questions,
    ]
    for read, written in zip(dataset.questions, made, strict=True):
        assert (read.id, read.text, read.answers) == (written.id, written.text, written.answers)
        assert (read.within, read.kind) == (written.within, written.kind)
    assert [text.text for text in dataset.corpus][:4] == [task.text for task in tasks[:4]]


# ------------------------------------------------------------------------------------------------------------- SQuAD


def asked(identity: str, question: str, *answers: str, **more: Any) -> dict[str, Any]:
    given = [{"text": answer, "answer_start": 0} for answer in answers]
    return {"id": identity, "question": question, "answers": given} | more


def squad(*questions: dict[str, Any]) -> dict[str, Any]:
    keeper, cable = "Odd keeps the light.", "The cable was laid in 1866."
    first, *rest = questions
    paragraphs = [{"context": keeper, "qas": [first]}, {"context": cable, "qas": rest}]
    return {"version": "1.1", "data": [{"title": "The_Light", "paragraphs": paragraphs}]}


def test_squad_v1_pools_its_paragraphs(tmp_path: Path) -> None:
    file = tmp_path / "dev-v1.1.json"
    file.write_text(json.dumps(squad(asked("a", "Who?", "Odd", "Odd", "Odd keeps it"), asked("b", "When?", "1866"))))
    dataset = load(file)
    assert (dataset.name, dataset.apart, dataset.faults) == ("squad", False, ())
    assert dataset.corpus == (
        Text("The_Light", "Odd keeps the light."),
        Text("The_Light", "The cable was laid in 1866."),
    )
    assert dataset.questions[0] == Question(
        id="a", text="Who?", answers=("Odd", "Odd keeps it"), supports=(Text("The_Light", "Odd keeps the light."),)
    )


def test_squad_v2_is_asked_apart_for_some_have_no_answer_in_their_paragraph(tmp_path: Path) -> None:
    lacking = asked("b", "Who laid it?", is_impossible=True, plausible_answers=[{"text": "1866", "answer_start": 0}])
    file = tmp_path / "dev-v2.0.json"
    file.write_text(json.dumps(squad(asked("a", "Who?", "Odd", is_impossible=False), lacking)))
    dataset = load(file)
    assert (dataset.name, dataset.apart) == ("squad", True)
    first, second = dataset.questions
    assert (first.answerable, first.within, first.supports) == (True, ("The_Light",), (Text("The_Light"),))
    assert (second.answerable, second.answers, second.within) == (False, (), ("The_Light (2)",))


def test_squad_in_rows(tmp_path: Path) -> None:
    """As Hugging Face has it: a row a question, the answers in two lists; none of them where it has no answer."""
    row = {"id": "a", "title": "The_Light", "context": "Odd keeps the light.", "question": "Who?"}
    rows = [row | {"answers": {"text": ["Odd"], "answer_start": [0]}}]
    dataset = load(lines(tmp_path / "squad.jsonl", rows))
    assert (dataset.name, dataset.apart, dataset.questions[0].answers) == ("squad", False, ("Odd",))
    rows.append(row | {"id": "b", "question": "When?", "answers": {"text": [], "answer_start": []}})
    dataset = load(lines(tmp_path / "squad_v2.jsonl", rows))
    assert (dataset.apart, [question.answerable for question in dataset.questions]) == (True, [True, False])


def test_what_is_wrong_with_a_question_of_an_article_is_told_of_it(tmp_path: Path) -> None:
    file = tmp_path / "dev.json"
    file.write_text(json.dumps(squad(asked("a", "", "Odd"), asked("b", "When?", "1866"), asked("c", "Why?", 7))))  # type: ignore[arg-type]  # a number
    dataset = load(file)
    assert dataset.faults == ('dev.json, item 1, question a: "question" is empty; skipped.',)
    assert [question.answers for question in dataset.questions] == [("1866",), ("7",)]


@pytest.mark.parametrize("name", ["longbench", "lveval", "squad"])
def test_another_format_than_the_one_that_was_named_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not in the format .* It looks like niah-plus: name that instead\."):
        load(lines(tmp_path / "plus.jsonl", [PLUS]), name)
