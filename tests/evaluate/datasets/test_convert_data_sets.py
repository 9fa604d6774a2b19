"""The converter of other data sets, in the shapes in which they are published, into one's own questions."""

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from corpora import put_jsonl

from kgplatform.evaluate.datasets import load
from kgplatform.evaluate.terms import DataSet, Question, Text

SCRIPT = Path(__file__).parents[3] / "examples" / "convert_data_sets.py"
STORY = "A long story of a lighthouse, which Odd keeps."


def converted(folder: Path, *files: Path) -> DataSet:
    runpy.run_path(str(SCRIPT))["convert"](files, folder / "converted")
    dataset = load(folder / "converted")
    assert dataset.faults == ()
    return dataset


CONTEXT = {"input": "Who keeps the light?", "context": STORY, "answers": ["Odd", "Odd the keeper"]}
LETTERS = {f"choice_{letter}": name for letter, name in zip("ABCD", ("Even", "Odd", "Nobody", "All"), strict=True)}


@pytest.mark.parametrize(
    ("item", "question"),
    [
        (
            CONTEXT | {"_id": "3ab5", "dataset": "narrativeqa", "all_classes": None},
            Question("3ab5", "Who keeps the light?", ("Odd", "Odd the keeper"), within=("3ab5",), kind="narrativeqa"),
        ),
        (
            CONTEXT | {"dataset": "loogle_16k", "answer_keywords": "Odd father"},
            Question(
                "loogle_16k 1",
                CONTEXT["input"],
                ("Odd", "Odd the keeper"),
                keywords=("Odd father",),
                within=("loogle_16k 1",),
                kind="loogle_16k",
            ),
        ),
        (
            {"id": 0, "input": "Who keeps it?", "context": STORY, "answer": ["Odd", "B"], "options": ["Even", "Odd"]},
            Question("dev 0", "Who keeps it?", ("Odd",), choices=("Even", "Odd"), within=("dev 0",), kind="dev"),
        ),
        (
            {"_id": "66", "question": "Who?", "answer": "B", "context": STORY, "difficulty": "hard", "length": "short"}
            | LETTERS,
            Question("66", "Who?", ("Odd",), choices=tuple(LETTERS.values()), within=("66",), kind="hard, short"),
        ),
        (
            {"document": {"id": "00a1", "kind": "film", "text": STORY}, "question": {"text": "Who?"}}
            | {"answers": [{"text": "Odd"}, {"text": "Odd."}]},
            Question("00a1 1", "Who?", ("Odd", "Odd."), within=("00a1",), kind="film"),
        ),
    ],
    ids=["longbench", "lveval", "infinitebench", "longbench-v2", "narrativeqa"],
)
def test_a_question_about_a_long_text(tmp_path: Path, item: dict[str, Any], question: Question) -> None:
    other = {key: "Other." if value == STORY else value for key, value in item.items()}
    dataset = converted(tmp_path, put_jsonl(tmp_path / "dev.jsonl", [item, other | {"_id": "2", "id": 2}]))
    assert dataset.questions[0] == question
    assert dataset.corpus[0].text == STORY


def test_questions_about_one_text_share_it_and_are_asked_apart(tmp_path: Path) -> None:
    items = [CONTEXT | {"_id": n, "context": text} for n, text in (("a", STORY), ("b", "Ice."), ("c", STORY))]
    dataset = converted(tmp_path, put_jsonl(tmp_path / "dev.jsonl", [*items, CONTEXT | {"_id": "sum", "input": ""}]))
    assert dataset.apart
    assert dataset.corpus == (Text("a", STORY), Text("b", "Ice."))
    assert [each.within for each in dataset.questions] == [("a",), ("b",), ("a",)]


def test_squad_is_pooled_unless_it_has_questions_without_an_answer(tmp_path: Path) -> None:
    qas = [{"id": "1", "question": "Who?", "answers": [{"text": "Odd"}, {"text": "Odd"}]}]
    paragraphs = [{"context": STORY, "qas": qas}, {"context": "Ice.", "qas": [qas[0] | {"id": "2"}]}]
    file = put_jsonl(tmp_path / "dev.json", [{"data": [{"title": "Lights", "paragraphs": paragraphs}]}])
    pooled = converted(tmp_path, file)
    assert (pooled.apart, pooled.corpus) == (False, (Text("Lights", STORY), Text("Lights (2)", "Ice.")))
    assert [each.supports for each in pooled.questions] == [(Text("Lights"),), (Text("Lights (2)"),)]
    qas.append({"id": "3", "question": "Whose?", "answers": []})
    put_jsonl(file, [{"data": [{"title": "Lights", "paragraphs": paragraphs}]}])
    apart = converted(tmp_path, file)
    assert apart.apart
    assert [(each.within[0], each.answerable) for each in apart.questions] == [
        ("Lights", True),
        ("Lights", False),
        ("Lights (2)", True),
    ]


def test_quality_has_choices_and_its_articles_lose_their_tags(tmp_path: Path) -> None:
    asked = [
        {"question": "What froze?", "options": ["Ice", "Fire"], "gold_label": 2, "difficult": 1},
        {"question": "No label?", "options": ["Ice", "Fire"]},
    ]
    article = {
        "article": "<p>It was &amp; is cold.</p>",
        "title": "The Cold",
        "set_unique_id": "20_RZ",
        "questions": asked,
    }
    dataset = converted(tmp_path, put_jsonl(tmp_path / "QuALITY.dev", [article]))
    assert dataset.corpus == (Text("The Cold", "It was & is cold."),)
    assert dataset.questions == (
        Question("20_RZ_1", "What froze?", ("Fire",), choices=("Ice", "Fire"), within=("The Cold",), kind="hard"),
    )


def test_narrativeqa_reads_the_stories_beside_its_table(tmp_path: Path) -> None:
    (tmp_path / "qaps.csv").write_text(
        'document_id,set,question,answer1,answer2\nb1,test,"Who, then?",Odd,\nb2,test,Lost?,All,\n', "utf-8"
    )
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / "b1.content").write_text("A book.\n", "utf-8")
    dataset = converted(tmp_path, tmp_path / "qaps.csv")
    assert [(each.text, each.answers, each.within) for each in dataset.questions] == [("Who, then?", ("Odd",), ("b1",))]


def test_graphrag_bench_takes_its_texts_from_its_corpus(tmp_path: Path) -> None:
    item = {
        **{"id": "N-1", "question": "Who?", "answer": "Odd", "question_type": "Fact Retrieval"},
        "evidence": ["Odd did."],
    }
    asked = put_jsonl(tmp_path / "questions.jsonl", [item | {"source": each} for each in ("Novel-1", "Novel-3")])
    texts = [{"corpus_name": f"Novel-{n}", "context": f"Text {n}."} for n in (1, 2)]
    dataset = converted(tmp_path, asked, put_jsonl(tmp_path / "corpus.jsonl", texts))
    assert dataset.questions == (
        Question("N-1", "Who?", ("Odd",), facts=("Odd did.",), within=("Novel-1",), kind="Fact Retrieval"),
    )


def test_graphrag_bench_of_textbooks_names_the_kind_by_the_file(tmp_path: Path) -> None:
    item = {"Question": "Which?", "Choices": {"A": "Ice", "B": "Fire", "C": "Rain"}}
    one = put_jsonl(tmp_path / "MC.jsonl", [item | {"Answer": "B"}])
    several = put_jsonl(tmp_path / "MS.jsonl", [item | {"Answer": "A, C"}])
    true = put_jsonl(tmp_path / "TF.jsonl", [{"Question": "Is it?", "Answer": "True"}])
    section = put_jsonl(tmp_path / "book_structured.json", [{"section": "1", "subsection": "Ice", "content": "Cold."}])
    dataset = converted(tmp_path, one, several, true, section)
    assert [(each.kind, each.answers, len(each.choices)) for each in dataset.questions] == [
        ("multiple choice", ("Fire",), 3),
        ("multiple select", ("Ice; Rain",), 0),
        ("true or false", ("True",), 2),
    ]
    assert dataset.corpus == (Text("1 Ice", "Cold."),)


def test_the_command_writes_a_folder_and_refuses_what_it_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "q.csv"
    table.write_text('\ufeffquestion,answer,kind\n"Who, then?",Odd,\n', "utf-8")

    def run(file: Path) -> None:
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), str(file), str(tmp_path / "out")])
        runpy.run_path(str(SCRIPT), run_name="__main__")

    run(table)
    assert capsys.readouterr().out == f"1 questions about 0 texts in {tmp_path / 'out'}\n"
    assert load(tmp_path / "out").questions == (Question("line 1", "Who, then?", ("Odd",)),)
    with pytest.raises(SystemExit, match="an object with the keys claim, line is of no known"):
        run(put_jsonl(tmp_path / "r.json", [{"claim": 1}]))
