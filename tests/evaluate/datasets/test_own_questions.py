"""One's own questions in JSON lines: what may stand in them, what is told of them, and writing them."""

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from doc_pages import page
from hypothesis import given, settings
from hypothesis import strategies as some

from kgplatform.evaluate.datasets import FORMATS, KEYS, as_own, load
from kgplatform.evaluate.terms import Question, Text
from kgplatform.text import tidy

EXAMPLES = Path(__file__).parents[3] / "examples" / "questions.jsonl"


def lines(file: Path, *values: Any) -> Path:
    texts = (each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in values)
    file.write_text("\n".join(texts) + "\n", "utf-8")
    return file


def test_the_shipped_questions_are_read_as_they_are() -> None:
    dataset = load(EXAMPLES)
    assert (dataset.name, dataset.corpus, dataset.apart) == ("own", (), False)
    assert (dataset.faults, dataset.skipped) == ((), 0)
    assert len(dataset.questions) == 20
    first = dataset.questions[0]
    assert (first.id, first.kind, first.answers) == ("q01", "2 hops", ("The Physical Geography of the Sea",))
    assert first.supports == (Text("Cyrus_Field.md"), Text("Matthew Fontaine Maury"))
    assert len(first.facts) == 2


def test_everything_that_a_question_may_say(tmp_path: Path) -> None:
    values = {
        "id": " q 1 ",
        "question": " Who keeps\nthe light? ",
        "answer": "Odd",
        "answers": ["Odd", "Odd the keeper"],
        "keywords": ["Odd"],
        "choices": ["Even", "Odd the Keeper"],
        "documents": ["light.md"],
        "passages": [{"title": "Keepers", "text": "Odd keeps it."}, {"title": "Lights"}],
        "facts": ["Odd keeps the light."],
        "parts": ["Which light?", "Who keeps it?"],
        "within": ["Keepers"],
        "kind": "who",
        "hops": 3,
        "placeholders": {"[PERSON#12]": ["Odd", "Odd Vik"], "[PLACE#3]": "Vell"},
    }
    dataset = load(lines(tmp_path / "q.jsonl", values))
    assert dataset.faults == ()
    assert dataset.questions == (
        Question(
            id="q 1",
            text="Who keeps\nthe light?",
            answers=("Odd the Keeper",),
            keywords=("Odd",),
            choices=("Even", "Odd the Keeper"),
            supports=(Text("light.md"), Text("Keepers", "Odd keeps it."), Text("Lights")),
            facts=("Odd keeps the light.",),
            parts=("Which light?", "Who keeps it?"),
            within=("Keepers",),
            kind="who",
            placeholders={"[PERSON#12]": ("Odd", "Odd Vik"), "[PLACE#3]": ("Vell",)},
        ),
    )


def test_the_least_that_a_question_must_say_where_null_is_no_key(tmp_path: Path) -> None:
    blank = {"keywords": None, "choices": None, "facts": None, "hops": None, "placeholders": None}
    file = lines(
        tmp_path / "q.jsonl", "", {"question": "Why?", "answer": 7}, {"question": "W?", "answer": 0.5, **blank}
    )
    assert load(file).questions == (
        Question("line 2", "Why?", answers=("7",)),
        Question("line 3", "W?", answers=("0.5",)),
    )


def test_a_question_without_an_answer_is_kept_where_retrieval_can_be_scored(tmp_path: Path) -> None:
    with_passages = {"question": "Who?", "documents": ["a.md"]}
    unanswerable = {"question": "Whose?", "answerable": False, "answer": "n/a"}
    placeholders = {"question": "Who is [PERSON#1]?", "placeholders": {"[PERSON#1]": ["Odd"]}}
    dataset = load(lines(tmp_path / "q.jsonl", with_passages, {"question": "Why?"}, unanswerable, placeholders))
    assert [(each.text, each.answers, each.answerable) for each in dataset.questions] == [
        ("Who?", (), True),
        ("Whose?", (), False),
        ("Who is [PERSON#1]?", (), True),
    ]
    assert dataset.skipped == 1
    assert dataset.faults == (
        "q.jsonl, line 1: there is no answer, so that only the retrieval of its passages is scored.",
        "q.jsonl, line 2: there is no answer; skipped.",
        'q.jsonl, line 3: "answerable" is false, so that its answer is not used.',
    )


def test_a_key_that_is_not_known_is_told_once(tmp_path: Path) -> None:
    asked = ({"question": f"{n}?", "answer": "a", "anwser": "b"} for n in range(3))
    dataset = load(lines(tmp_path / "q.jsonl", *asked))
    assert dataset.faults == ("q.jsonl: the key anwser is not known and not used.",)
    assert (len(dataset.questions), dataset.skipped) == (3, 0)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"question": "Who?", "answer": "a"', "not valid JSON: expecting ',' delimiter"),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"question": "Who?", "answer": ' + "1" * 5000 + "}", "not valid JSON: a number is too long"),
        ({"question": "Who?", "answer": None}, '"answer" is null, expected a text'),
        ({"question": "Who?", "answer": "a", "choices": ["b", "c"]}, "its answer a is none of the choices"),
        ({"question": "Who?", "placeholders": {"[A#1]": []}}, '"placeholders" has no name for [A#1]'),
    ],
)  # fmt: skip
def test_a_broken_line_is_named_skipped_and_counted(tmp_path: Path, line: Any, reason: str) -> None:
    good = {"question": "Good?", "answer": "yes"}
    dataset = load(lines(tmp_path / "q.jsonl", good, line, good | {"question": "Better?"}))
    assert [each.text for each in dataset.questions] == ["Good?", "Better?"]
    assert dataset.skipped == 1
    assert dataset.faults == (f"q.jsonl, line 2: {reason}; skipped.",)


def test_questions_that_all_name_their_texts_are_asked_apart(tmp_path: Path) -> None:
    texts = [{"title": f"Story {n}", "text": f"Light {n} burns."} for n in range(4)]
    asked = [{"id": f"q{n}", "question": f"Who {n}?", "answer": "Odd", "within": [f"Story {n // 2}"]} for n in range(6)]
    lines(tmp_path / "corpus.jsonl", *texts)
    lines(tmp_path / "questions.jsonl", *asked, asked[0] | {"id": "q9", "within": ["Story 7"]})
    dataset = load(tmp_path)
    assert dataset.apart
    assert dataset.corpus == tuple(Text(**text) for text in texts[:3])
    assert [each.within for each in dataset.questions[:3]] == [("Story 0",), ("Story 0",), ("Story 1",)]
    told = 'questions.jsonl, line 7: "within" names Story 7, which is not in the corpus; skipped.'
    assert (dataset.faults, dataset.skipped) == ((told,), 1)
    assert [each.title for each in load(tmp_path, limit=2).corpus] == ["Story 0"]
    lines(tmp_path / "questions.jsonl", *asked, {"question": "Where?", "answer": "At sea"})
    assert not load(tmp_path).apart


def test_the_page_names_every_key_and_its_examples_are_questions(tmp_path: Path) -> None:
    text = page("data-sets.md")
    named = {name for row in re.findall(r"^\| (`.*?) \|", text, re.M) for name in re.findall(r"`([^`]+)`", row)}
    assert {*KEYS, *(each.name for each in FORMATS)} - named == {"own", "hops"}
    (example,) = re.findall(r"^```json\n(.*?)^```$", text, re.M | re.S)
    (tmp_path / "q.jsonl").write_text(example, "utf-8")
    dataset = load(tmp_path / "q.jsonl")
    assert (dataset.faults, [each.kind for each in dataset.questions]) == ((), ["2 hops", "year", "", ""])


_words = some.text(some.characters(exclude_categories=("C",)), min_size=1, max_size=12).map(tidy)
_word = _words.filter(bool)
_several = some.lists(_word, max_size=3, unique=True).map(tuple)
_texts = some.builds(Text, _word, _words)
_questions = some.builds(
    Question,
    id=_word,
    text=_word,
    answers=some.lists(_word, min_size=1, max_size=3, unique=True).map(tuple),
    keywords=_several,
    supports=some.lists(_texts, max_size=3, unique=True).map(tuple),
    facts=_several,
    parts=_several,
    within=_several,
    kind=_words,
    placeholders=some.dictionaries(
        _word, some.lists(_word, min_size=1, max_size=2, unique=True).map(tuple), max_size=2
    ),
)


@settings(max_examples=25, deadline=None)
@given(some.lists(_questions, min_size=1, max_size=4, unique_by=lambda each: each.id))
def test_what_was_written_is_read_back_equal(questions: list[Question]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        dataset = load(lines(Path(folder) / "q.jsonl", *map(as_own, questions)))
    assert dataset.faults == ()
    assert dataset.questions == tuple(questions)
