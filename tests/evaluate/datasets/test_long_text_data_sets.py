"""LongBench, LV-Eval, QuALITY and NarrativeQA, in the shapes in which they are published; the content is made up."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets import load
from kgplatform.evaluate.terms import Question, Text

LONGBENCH: dict[str, Any] = {
    "input": "Who keeps the light?",
    "context": "A long story of a lighthouse, which Odd keeps.",
    "answers": ["Odd", "Odd the keeper"],
    "length": 9,
    "dataset": "narrativeqa",
    "language": "en",
    "all_classes": None,
    "_id": "3ab5",
}
LVEVAL: dict[str, Any] = {
    "input": "Who keeps the light?",
    "context": "A still longer story of a lighthouse, which Odd keeps.",
    "answers": ["Odd keeps it, as his father did"],
    "length": 10,
    "dataset": "loogle_SD_mixup_16k",
    "language": "en",
    "answer_keywords": "Odd father",
    "confusing_facts": ["Even keeps it."],
}


def lines(file: Path, values: Iterable[Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in values), "utf-8")
    return file


# ----------------------------------------------------------------------------------- LongBench and LV-Eval


def test_longbench_asks_each_question_about_its_own_context(tmp_path: Path) -> None:
    second = LONGBENCH | {"_id": "77c0", "input": "Where?", "context": "Another story.", "answers": ["At sea"]}
    third = LONGBENCH | {"_id": "91d2", "input": "Who is old?"}
    dataset = load(lines(tmp_path / "narrativeqa.jsonl", [LONGBENCH, second, third]))
    assert (dataset.name, dataset.apart, dataset.faults) == ("longbench", True, ())
    assert dataset.corpus == (Text("3ab5", LONGBENCH["context"]), Text("77c0", "Another story."))
    assert dataset.questions[0] == Question(
        id="3ab5",
        text="Who keeps the light?",
        answers=("Odd", "Odd the keeper"),
        within=("3ab5",),
        kind="narrativeqa",
    )
    assert [each.within for each in dataset.questions] == [("3ab5",), ("77c0",), ("3ab5",)]


def test_longbench_classes_are_choices_where_there_are_not_too_many(tmp_path: Path) -> None:
    few = LONGBENCH | {"all_classes": ["Person", "place"], "answers": ["Place"]}
    many = LONGBENCH | {"_id": "4", "all_classes": [f"class {n}" for n in range(50)], "answers": ["class 3"]}
    dataset = load(lines(tmp_path / "trec.jsonl", [few, many]))
    assert [(each.choices, each.answers) for each in dataset.questions] == [
        (("Person", "place"), ("place",)),
        ((), ("class 3",)),
    ]


def test_a_task_of_longbench_that_is_no_question_is_told(tmp_path: Path) -> None:
    dataset = load(lines(tmp_path / "mixed.jsonl", [LONGBENCH, LONGBENCH | {"input": "", "_id": "s"}]))
    assert dataset.faults == ('mixed.jsonl, line 2: its "input" is empty: this task is not a question; skipped.',)
    assert dataset.skipped == 1


def test_longbench_is_a_folder_of_files_each_with_its_task(tmp_path: Path) -> None:
    lines(tmp_path / "data" / "qasper.jsonl", [LONGBENCH | {"dataset": "qasper", "_id": "q", "context": "B."}])
    lines(tmp_path / "data" / "narrativeqa.jsonl", [LONGBENCH])
    assert [each.kind for each in load(tmp_path).questions] == ["narrativeqa", "qasper"]


def test_lveval_has_keywords_and_no_ids(tmp_path: Path) -> None:
    plain = LVEVAL | {"answer_keywords": None, "context": "C.", "dataset": "cmrc_mixup_16k"}
    dataset = load(lines(tmp_path / "loogle_SD_mixup_16k.jsonl", [LVEVAL, plain]))
    assert (dataset.name, dataset.apart) == ("lveval", True)
    first, second = dataset.questions
    assert first == Question(
        id="loogle_SD_mixup_16k line 1",
        text="Who keeps the light?",
        answers=("Odd keeps it, as his father did",),
        keywords=("Odd father",),
        within=("loogle_SD_mixup_16k line 1",),
        kind="loogle_SD_mixup_16k",
    )
    assert (second.keywords, second.within) == ((), ("cmrc_mixup_16k line 2",))


def test_of_questions_asked_apart_only_the_texts_of_those_asked_are_kept(tmp_path: Path) -> None:
    rows = [LONGBENCH | {"_id": f"q{n}", "context": f"Story {n}."} for n in range(30)]
    file = lines(tmp_path / "a.jsonl", rows)
    assert [each.title for each in load(file, limit=2).corpus] == ["q0", "q1"]
    drawn = load(file, sample=3)
    assert [each.title for each in drawn.corpus] == [each.id for each in drawn.questions]
    assert len(drawn.questions) == 3


# ------------------------------------------------------------------------------------------------- QuALITY

ARTICLE = (
    "<p>It was &amp; stays cold.<br/>The <i>Vell</i> froze.</p> <p>Nobody\n came.</p>"
    "<script>var x = '<p>no</p>';</script>"
)


def asked(question: str, **more: Any) -> dict[str, Any]:
    return {"question": question, "options": ["Ice", "Fire", "Rain", "Wind"], "difficult": 0} | more


def article(*questions: dict[str, Any], **more: Any) -> dict[str, Any]:
    told = {"article_id": "20007", "set_unique_id": "20007_RZ", "title": "The Cold", "article": ARTICLE}
    return told | {"questions": list(questions)} | more


def test_quality(tmp_path: Path) -> None:
    first = article(
        asked("What covered the river?", gold_label=1, writer_label=2, question_unique_id="20007_RZ_1"),
        asked("What did not come?", gold_label=2, difficult=1),
    )
    second = article(asked("What was there?", gold_label=4), set_unique_id="20007_AB")
    dataset = load(lines(tmp_path / "QuALITY.v1.0.1.dev", [first, second]))
    assert (dataset.name, dataset.apart, dataset.faults) == ("quality", True, ())
    assert dataset.corpus == (Text("The Cold", "It was & stays cold.\nThe Vell froze.\n\nNobody came."),)
    assert dataset.questions[0] == Question(
        id="20007_RZ_1",
        text="What covered the river?",
        answers=("Ice",),
        choices=("Ice", "Fire", "Rain", "Wind"),
        within=("The Cold",),
        kind="easy",
    )
    told = [(each.id, each.answers, each.kind) for each in dataset.questions[1:]]
    assert told == [("20007_RZ_2", ("Fire",), "hard"), ("20007_AB_1", ("Wind",), "easy")]


def test_two_articles_of_one_title_have_titles_of_their_own(tmp_path: Path) -> None:
    other = article(asked("Why?", gold_label=3), article="Plain words <3 only.", set_unique_id="2")
    dataset = load(lines(tmp_path / "QuALITY.dev", [article(asked("What?", gold_label=1)), other]))
    assert [each.title for each in dataset.corpus] == ["The Cold", "The Cold (2)"]
    assert dataset.corpus[1].text == "Plain words <3 only."
    assert dataset.questions[1].within == ("The Cold (2)",)


def test_what_is_wrong_with_questions_of_an_article_is_told_of_each(tmp_path: Path) -> None:
    values = article(
        asked("No label?"),
        asked("Too far?", gold_label=5),
        asked("Writer's?", writer_label=2),
        asked("Twice?", gold_label=1, options=["Ice", "ice"]),
        asked("One?", gold_label=1, options=["Ice"]),
        {"options": ["a", "b"], "gold_label": 1},
        "no object",  # type: ignore[arg-type]  # as a broken file may have it
    )
    dataset = load(lines(tmp_path / "QuALITY.dev", [values]))
    assert [each.answers for each in dataset.questions] == [("Fire",)]
    assert dataset.skipped == 6
    assert dataset.faults == (
        'QuALITY.dev, line 1, question 1: there is no "gold_label", as in the test split, whose answers are not '
        "published; skipped.",
        'QuALITY.dev, line 1, question 2: "gold_label" is 5, and there are 4 options, counted from 1; skipped.',
        'QuALITY.dev: where there is no "gold_label", the label of the question\'s writer is taken.',
        "QuALITY.dev, line 1, question 4: two choices are the same. Give each once; skipped.",
        "QuALITY.dev, line 1, question 5: give 2 to 26 choices, or none; there is one; skipped.",
        'QuALITY.dev, line 1, question 6: there is no "question"; skipped.',
        "QuALITY.dev, line 1, question 7: found a text, expected an object; skipped.",
    )


def test_a_folder_with_the_splits_of_quality_asks_which(tmp_path: Path) -> None:
    for split in ("train", "dev"):
        lines(tmp_path / f"QuALITY.v1.0.1.htmlstripped.{split}", [article(asked("What?", gold_label=1))])
    with pytest.raises(InputError, match="several files of questions in the format quality: .*dev, .*train. Name the"):
        load(tmp_path)


# --------------------------------------------------------------------------------------------- NarrativeQA

BOOK, FILM, LOST = "00a1" * 10, "00b2" * 10, "00c3" * 10


def table(file: Path, header: str, rows: Sequence[Sequence[str]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header.split(","), *rows])
    return file


@pytest.fixture
def narrativeqa(tmp_path: Path) -> Path:
    """The folder of the repository, without stories."""
    table(
        tmp_path / "qaps.csv",
        "document_id,set,question,answer1,answer2,question_tokenized,answer1_tokenized,answer2_tokenized",
        [
            (BOOK, "test", "Who keeps the light, and why?", "Odd does", "Odd", "", "", ""),
            (FILM, "train", "What froze?", "The river", "The river", "", "", ""),
            (LOST, "train", "Who is lost?", "All", "", "", "", ""),
            (BOOK, "test", "Where?", "At sea", "", "", "", ""),
        ],
    )
    table(
        tmp_path / "documents.csv",
        "document_id,set,kind,story_url,story_file_size,wiki_url,wiki_title,story_word_count,story_start,story_end",
        [
            (BOOK, "test", "gutenberg", "http://example.org/1.txt", "9", "", "The Light (novel)", "9", "A", "end"),
            (FILM, "train", "movie", "http://example.org/2.html", "9", "", "The Cold", "9", "if", "END"),
        ],
    )
    table(
        tmp_path / "third_party" / "wikipedia" / "summaries.csv",
        "document_id,set,summary,summary_tokenized",
        [(BOOK, "test", "Odd keeps a light,\nand \"more\".", ""), (FILM, "train", "A river freezes.", "")],
    )  # fmt: skip
    return tmp_path


def test_narrativeqa_with_stories(narrativeqa: Path) -> None:
    (narrativeqa / "tmp").mkdir()
    (narrativeqa / "tmp" / f"{BOOK}.content").write_text("A book.\r\n\r\nOdd's light <b>burns</b>.\n", "utf-8")
    page = (
        "<html><head><title>The Cold</title><style>p {}</style></head><body><pre>THE COLD\n\n   It's café-cold.</pre>"
    )
    (narrativeqa / "tmp" / f"{FILM}.content").write_bytes(page.encode("cp1252"))
    dataset = load(narrativeqa)
    assert (dataset.name, dataset.apart) == ("narrativeqa", True)
    assert dataset.corpus == (
        Text("The Light (novel)", "A book.\n\nOdd's light <b>burns</b>."),
        Text("The Cold", "THE COLD\n\nIt's café-cold."),
    )
    assert dataset.questions[0] == Question(
        id="00a100a100a1-1",
        text="Who keeps the light, and why?",
        answers=("Odd does", "Odd"),
        within=("The Light (novel)",),
        kind="gutenberg, test",
    )
    assert [each.id for each in dataset.questions] == ["00a100a100a1-1", "00b200b200b2-1", "00a100a100a1-2"]
    assert dataset.faults == (f"qaps.csv, document {LOST}: its text is not there; skipped.",)
    assert dataset.skipped == 1


def test_stories_that_cannot_be_read_are_told_and_only_those_that_are_needed_are_read(narrativeqa: Path) -> None:
    (narrativeqa / "tmp").mkdir()
    (narrativeqa / "tmp" / f"{BOOK}.content").write_text("A book.", "utf-8")
    (narrativeqa / "tmp" / f"{FILM}.content").write_bytes(bytes(range(256)) * 9)
    assert load(narrativeqa / "qaps.csv", limit=1).faults == ()
    dataset = load(narrativeqa / "qaps.csv")
    assert [each.title for each in dataset.corpus] == ["The Light (novel)"]
    assert dataset.skipped == 2
    assert dataset.faults[1:] == (
        "The Cold: binary data, not text.",
        "00b200b200b2-1: a text that it is about cannot be used; skipped.",
    )


def test_narrativeqa_without_stories_is_asked_about_summaries_and_that_is_said(narrativeqa: Path) -> None:
    dataset = load(narrativeqa, "narrativeqa")
    assert dataset.corpus[0] == Text("The Light (novel)", 'Odd keeps a light,\nand "more".')
    assert dataset.faults[0].startswith("summaries.csv: there are no stories (tmp/DOCUMENT.content")
    assert dataset.faults[0].endswith("so that the questions are asked about 2 summaries.")


def test_narrativeqa_as_objects_with_the_text_inside(tmp_path: Path) -> None:
    document = {
        "id": BOOK,
        "kind": "gutenberg",
        "url": "",
        "file_size": 9,
        "word_count": 9,
        "start": "A",
        "end": "end",
        "summary": {"text": "Short.", "tokens": [], "url": "", "title": "The Light"},
        "text": "A book about Odd.",
    }
    first = {
        "document": document,
        "question": {"text": "Who?", "tokens": ["Who", "?"]},
        "answers": [{"text": "Odd", "tokens": ["Odd"]}, {"text": "Odd.", "tokens": []}],
    }
    second = first | {"question": {"text": "What?", "tokens": []}}
    third = first | {"document": document | {"id": FILM, "text": ""}}
    dataset = load(lines(tmp_path / "validation.jsonl", [first, second, third]))
    assert dataset.corpus == (Text("The Light", "A book about Odd."), Text("The Light (2)", "Short."))
    assert [(each.text, each.answers, each.within, each.kind) for each in dataset.questions] == [
        ("Who?", ("Odd", "Odd."), ("The Light",), "gutenberg"),
        ("What?", ("Odd", "Odd."), ("The Light",), "gutenberg"),
        ("Who?", ("Odd", "Odd."), ("The Light (2)",), "gutenberg"),
    ]
    assert dataset.faults == ("validation.jsonl: documents without a text are asked about by their summary.",)
