"""Which metrics there are, and which of them an answer gets: by what its question knows."""

from dataclasses import replace
from typing import Any

import pytest
from doc_pages import page

from kgplatform.evaluate.metrics import CUTS, METRICS, without_model
from kgplatform.evaluate.terms import Question, Text
from kgplatform.readers.answer import REFUSAL
from kgplatform.records import Answer, FoundFact, FoundPassage, SearchResult, Usage

PAGE = page("metrics.md")
WORDS = ["em", "f1", "contains", "rouge1", "rouge2", "rougeL"]
RETRIEVAL = [f"{name}@{k}" for name in ("recall", "all") for k in CUTS]


def passage(title: str, text: str) -> FoundPassage:
    return FoundPassage(title, f"file:///c.json#{title}", title, 0, len(text), None, text, 1.0, ("all",))


def answered(text: str | None, *passages: FoundPassage, **more: Any) -> Answer:
    evidence = SearchResult("?", passages, tuple(more.pop("facts", ())), 0.1)
    return Answer("?", more.pop("reader", "retrieve"), text, (), evidence, (), Usage(), **more)


def scores(question: Question, text: str | None, *passages: FoundPassage, **more: Any) -> dict[str, float]:
    return without_model(question, answered(text, *passages, **more))


ASKED = Question("q1", "Which ship laid it?", answers=("Great Eastern", "SS Great Eastern"))


@pytest.mark.parametrize("name", METRICS)
def test_the_page_defines_each(name: str) -> None:
    base = name.split("@")[0] + "@k" if "@" in name else name
    assert f"| `{base}` |" in PAGE or f"`{base}`," in PAGE or f", `{base}` |" in PAGE


def test_a_plain_question() -> None:
    found = scores(ASKED, "SS Great Eastern [1]")
    assert list(found) == [*WORDS, "refusal", "failed"]
    assert [found[name] for name in (*WORDS, "refusal", "failed")] == [1, 1, 1, 1, 1, 1, 0, 0]


def test_a_refusal_where_there_is_an_answer_is_wrong() -> None:
    found = scores(ASKED, REFUSAL)
    assert (found["refusal"], found["em"], found["contains"], found["failed"]) == (1, 0, 0, 0)
    asked = Question("q", "Had he a sister?", answers=("no",))
    assert scores(asked, "There is no mention of one.", sufficient=False)["contains"] == 0
    assert scores(asked, "There is no mention of one.", sufficient=True)["refusal"] == 0, "the model calls it an answer"
    found = scores(ASKED, "Great Eastern [1]", sufficient=False)
    assert (found["refusal"], found["em"], found["contains"]) == (0, 1, 1), (
        "a right answer is none, whatever it calls it"
    )


def test_without_an_answer_in_the_texts_only_a_refusal_is_right() -> None:
    asked = Question("q", "Which ship laid it?", answerable=False)
    assert scores(asked, REFUSAL) == {"hallucination": 0, "failed": 0}
    assert scores(asked, "Great Eastern [1]") == {"hallucination": 1, "failed": 0}
    assert scores(asked, None) == {"failed": 1}


def test_without_a_right_answer_only_retrieval_is_scored() -> None:
    asked = Question("q", "Which ship laid it?", supports=(Text("Great Eastern"),))
    assert list(scores(asked, "The Agamemnon", passage("Great Eastern", "A ship."))) == [*RETRIEVAL, "failed"]


@pytest.mark.parametrize(
    ("text", "right", "em"),
    [("(B) a great dog [1]", 1, 1), ("B", 1, 1), ("a great dog", 1, 1), ("(A) a horse", 0, 0), (REFUSAL, 0, 0)],
)
def test_of_a_choice_the_words_count(text: str, right: float, em: float) -> None:
    asked = Question("q", "Whom did he follow?", answers=("A great dog",), choices=("a horse", "a great dog", "a cat"))
    found = scores(asked, text)
    assert (found["choice"], found["em"]) == (right, em)
    assert list(found) == ["choice", *WORDS, "refusal", "failed"]


def test_supporting_passages() -> None:
    asked = replace(ASKED, supports=(Text("Great Eastern", "A ship. It laid it."), Text("Brunel", "An engineer.")))
    others = [passage(f"Other {number}", "x") for number in range(3)]
    read = [others[0], passage("Great Eastern", "It laid it."), *others[1:], passage("Brunel", "An engineer.")]
    found = scores(asked, "Great Eastern", *read)
    assert [found[name] for name in RETRIEVAL] == [0.5, 1, 1, 0, 1, 1]
    assert [scores(asked, "Great Eastern")[name] for name in RETRIEVAL] == [0] * 6


def test_supporting_facts_stand_in_passages_or_in_facts() -> None:
    asked = replace(ASKED, facts=("The Great Eastern laid the cable.", "Brunel designed the ship."))
    fact = FoundFact("f", "Brunel designed the ship.", 1.0, ("triple",), ())
    half = scores(asked, "x", passage("Ships", "In 1866 the Great Eastern laid the cable."))
    assert (half["facts"], half["facts.all"]) == (0.5, 0)
    whole = scores(asked, "x", passage("Ships", "In 1866 the Great Eastern laid the cable."), facts=[fact])
    assert (whole["facts"], whole["facts.all"]) == (1, 1)


def test_placeholders_are_scored_by_what_they_restore() -> None:
    names = {"[PERSON#1]": ("Ahab", "Captain Ahab"), "[PERSON#7]": ("Queequeg",)}
    asked = Question("q", "Who are [PERSON#1] and [PERSON#7]?", answers=("[PERSON#1]: Ahab",), placeholders=names)
    found = scores(asked, "[PERSON#1]: Captain Ahab\n[PERSON#7]: Starbuck [1]")
    assert found == {"reverted": 0, "restored": 0.5, "refusal": 0, "failed": 0}


def test_a_reader_that_failed_has_nothing_right() -> None:
    asked = replace(ASKED, keywords=("Great",), supports=(Text("Great Eastern"),), facts=("It laid it.",))
    found = scores(asked, None)
    assert list(found) == list(scores(asked, "Great Eastern"))
    assert {name for name, value in found.items() if value} == {"failed"}
    found = scores(asked, None, passage("Great Eastern", "A ship."))
    assert (found["failed"], found["em"], found["refusal"], found["recall@2"]) == (1, 0, 0, 1), "it still retrieved"


def test_every_score_is_one_of_the_registry() -> None:
    everything = Question(
        "q",
        "?",
        answers=("a b",),
        keywords=("a",),
        choices=("a b", "c"),
        supports=(Text("T"),),
        facts=("A fact there is.",),
    )
    found = scores(everything, "a b", counts={"words.in_context": 1, "words.of_text": 2})
    others = {"hallucination", "reverted", "restored"} | {name for name, each in METRICS.items() if each.rater}
    assert set(found) | others == set(METRICS)
    assert not set(found) & others
