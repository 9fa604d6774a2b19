"""Questions of data sets made counterfactual: what is replaced, by what, and what is left out."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from kgplatform.errors import InputError
from kgplatform.evaluate.needles import from_samples, multi_needle, single_needle
from kgplatform.evaluate.needles.haystack import Needles
from kgplatform.evaluate.needles.samples import Sample, alter


def altered(question: str, answer: str, *passages: str, seed: int = 1) -> Needles:
    return alter(Sample(question, (answer,), passages), random.Random(seed))


SANDER = (
    "Richard Sander wrote an article about law schools. It was in the Yale Law Journal that Sander published it. "
    "Sander's critics, and the YALE LAW JOURNAL itself, answered him."
)


def test_an_answer_is_another_one_wherever_it_stands() -> None:
    told = altered("Where did Richard Sander publish?", "the Yale Law Journal", SANDER)
    (answer,) = told.answers
    assert re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+ [A-Z][a-z]+", answer)
    assert told.statements == (SANDER.replace("Yale Law Journal", answer).replace("YALE LAW JOURNAL", answer),)
    assert told.question == "Where did Richard Sander publish?"
    assert told.world == ("Yale Law Journal",)


def test_a_family_name_alone_is_replaced_as_in_the_whole_name() -> None:
    told = altered("Who wrote the article?", "Richard Sander", SANDER)
    first, last = told.answers[0].split()
    assert told.statements[0].startswith(f"{first} {last} wrote an article about law schools. It was")
    assert f"that {last} published it. {last}'s critics" in told.statements[0]
    assert "Sander" not in told.statements[0]


@pytest.mark.parametrize(
    ("answer", "form"),
    [
        ("1992", r"(?!1992)[12]\d{3}"),
        ("30,000", r"(?!30,000)\d{2},\d{3}"),
        ("3.5 million", r"(?!3\.5)\d\.\d million"),
        ("12 May 1997", r"(?!12)\d{2} (?!May)[A-Z][a-z]+ (?!1997)[12]\d{3}"),
        ("the 20th century", r"(?!20)\d+th century"),
        ("NASA", r"(?!NASA)[A-Z]{3,}"),
        ("J. Müller", r"(?!J)[A-Z]\. (?!Müller)[A-Z][a-z]+"),
        ("Bank of the West", r"(?!Bank)[A-Z][a-z]+ of the (?!West)[A-Z][a-z]+"),
        ("東京", r"[A-Z][a-z]+"),
        ("on a Monday", r"on a (?!Monday)[A-Z][a-z]+day"),
    ],
)  # fmt: skip
def test_what_is_replaced_keeps_its_form(answer: str, form: str) -> None:
    passage = f"Nothing else is known. What they said was this: {answer}. Then they went home."
    for seed in range(20):
        told = altered("What did they say?", answer, passage, seed=seed)
        assert re.fullmatch(form, told.answers[0]), told.answers
        assert told.statements == (passage.replace(answer.removeprefix("the "), told.answers[0]),)


def test_a_number_inside_of_another_one_stays() -> None:
    told = altered("How many?", "15", "There were 15 of them in 1915, and 15,000 came in 2015.")
    assert (
        told.statements[0].endswith("of them in 1915, and 15,000 came in 2015.") is False or "15," in told.statements[0]
    )


def test_a_year_that_the_passage_has_already_is_not_the_new_one() -> None:
    years = " ".join(str(year) for year in range(1000, 2100) if year not in (1955, 1990))
    told = altered("When?", "1955", f"It was in 1955. Other years are {years}.")
    assert told.answers == ("1990",)


def test_the_name_that_joins_two_passages_is_replaced_in_both() -> None:
    told = altered(
        "In which year did the winner of the Silver Oar marry?",
        "1931",
        "The Silver Oar was won by Ada Quint of Leeds.",
        "Ada Quint married in 1931. Quint had no children.",
    )
    assert told.bridge is not None
    first, last = told.bridge.split()
    assert told.statements == (
        f"The Silver Oar was won by {first} {last} of Leeds.",
        f"{first} {last} married in {told.answers[0]}. {last} had no children.",
    )
    assert told.question == "In which year did the winner of the Silver Oar marry?"


def test_an_answer_that_the_question_offers_is_replaced_there_too() -> None:
    told = altered(
        "Who is older, Ada Quint or Ben Stone?",
        "Ben Stone",
        "Ada Quint was born in 1931.",
        "Ben Stone was born in 1900.",
    )
    assert told.question == f"Who is older, Ada Quint or {told.answers[0]}?"
    assert told.statements == ("Ada Quint was born in 1931.", f"{told.answers[0]} was born in 1900.")


def test_where_the_answer_is_yes_or_no_the_names_of_the_question_are_replaced() -> None:
    told = altered(
        "Were Ada Quint and Otto Stone both painters?", "no", "Ada Quint was a painter.", "Otto Stone was a sailor."
    )
    names = re.findall(r"[A-Z]\w+ [A-Z]\w+", " ".join(told.statements))
    assert told.question == f"Were {names[0]} and {names[1]} both painters?"
    assert not {"Ada", "Quint", "Otto", "Stone"} & set(" ".join(names).split())
    assert (told.answers, told.world) == (("no",), ())


def test_what_is_invented_is_the_same_for_the_same_seed_only() -> None:
    record = {"question": "Who?", "answer": "Ada Quint", "passages": ["It was Ada Quint."]}
    assert from_samples([record], 3) == from_samples([record], 3)
    assert from_samples([record], 3) != from_samples([record], 4)


# ------------------------------------------------------------------------------------------------------------ records

SQUAD = {
    "context": "The league was won by the\nDenver Broncos in 2015.",
    "question": "Who won the league?",
    "answers": {"text": ["Denver Broncos", "the Broncos", "Denver Broncos"], "answer_start": [26, 0, 26]},
}
HOTPOT = {
    "question": "In which town was the pilot of the Grey Gull born?",
    "answer": "Aldermoor",
    "supporting_facts": [["Grey Gull (aircraft)", 0], ["Ivo Marsh", 1]],
    "context": [
        ["Some Other", ["Not this one."]],
        ["Ivo Marsh", ["Ivo Marsh flew for years.", " He was born in Aldermoor."]],
        ["Grey Gull (aircraft)", ["It was flown by Ivo Marsh."]],
    ],
}


def records() -> dict[str, Any]:
    official = {"context": SQUAD["context"], "qas": [{"question": "Who won?", "answers": [{"text": "Denver Broncos"}]}]}
    hub = {
        "context": {"title": [t for t, _ in HOTPOT["context"]], "sentences": [s for _, s in HOTPOT["context"]]},  # type: ignore[union-attr]  # one type for all values
        "supporting_facts": {"title": ["Grey Gull (aircraft)", "Ivo Marsh"], "sent_id": [0, 1]},
    }
    plain = {"question": "Who?", "answers": ["Ada Quint"], "passages": ["It was Ada Quint."]}
    return {
        "squad": [SQUAD],
        "squad's file": {"version": "1.1", "data": [{"title": "x", "paragraphs": [official, official]}]},
        "hotpotqa": [HOTPOT],
        "hotpotqa of the hub": [{**HOTPOT, **hub}],
        "plain": iter([plain]),
    }


@pytest.mark.parametrize(
    ("form", "statements"),
    [("squad", 1), ("squad's file", 1), ("hotpotqa", 2), ("hotpotqa of the hub", 2), ("plain", 1)],
)
def test_records_of_all_forms_are_read(form: str, statements: int) -> None:
    found = from_samples(records()[form])
    assert found.left_out == ()
    assert {len(each.statements) for each in found.needles} == {statements}
    assert all(any(each.answers[0] in said for said in each.statements) for each in found.needles)


def test_all_answers_of_a_record_stay_right() -> None:
    (told,) = from_samples([SQUAD]).needles
    assert told.answers == (told.answers[0], told.answers[0].split()[1])
    assert told.statements == (f"The league was won by the {told.answers[0]} in 2015.",)


def test_an_answer_that_nothing_was_replaced_in_is_not_right_any_more() -> None:
    asked = {"question": "Who won?", "answers": ["Ada Quint", "a sailor"], "passages": ["A sailor won, Ada Quint."]}
    (told,) = from_samples([asked]).needles
    assert told.answers == (told.statements[0].removeprefix("A sailor won, ").removesuffix("."),)
    assert told.world == ("Ada Quint", "sailor")


def test_a_passage_that_does_not_say_what_it_is_about_begins_with_it() -> None:
    (told,) = from_samples([HOTPOT]).needles
    assert told.statements[1] == f"Grey Gull (aircraft): It was flown by {told.bridge}."
    assert "Not this one." not in " ".join(told.statements)


def test_what_cannot_be_altered_is_left_out_and_told() -> None:
    found = from_samples(
        [
            {"question": "What was he?", "answer": "a drummer", "passages": ["He was a drummer."]},
            {"question": "Who?", "answer": "Ada Quint", "passages": ["It was Ada Quint."]},
            {"question": "Who?", "answers": [], "passages": ["Nobody knows."]},
            {"question": "Is it so?", "answer": "yes", "passages": ["It is so."]},
            {"question": "Who?", "answer": "Ben Stone", "passages": ["It was Ada Quint."]},
        ]
    )
    assert len(found.needles) == 1
    assert found.left_out == (
        "Record 1 is left out: Its answer, 'drummer', has no name and no number that could be replaced.",
        "Record 3 is left out: It has no answer.",
        "Record 4 is left out: Its answer is yes or no, and its question has no name that could be replaced.",
        "Record 5 is left out: Its answer, 'Ben Stone', is not in its passages.",
    )


@pytest.mark.parametrize(
    "record",
    [
        {"question": "Who?", "answer": "Ada"},
        {"question": "Who?", "passages": ["Ada."]},
        {"question": 5, "answer": "Ada", "passages": ["Ada."]},
        {"question": "Who?", "answer": "Ada", "passages": [5]},
        {"question": "Who?", "answers": [7], "passages": ["Ada."]},
        {"question": "Who?", "answer": "Ada", "passages": []},
        {"question": "Who?", "answer": "Ada", "context": [["A", ["x"]]]},
        {**HOTPOT, "context": HOTPOT["context"][:2]},
        "Who?",
    ],
)
def test_a_record_of_unknown_form_is_named(record: Any) -> None:
    good = {"question": "Who?", "answer": "Ada Quint", "passages": ["It was Ada Quint."]}
    with pytest.raises(InputError, match=r"^Record 2 is of no known form.* Expected is"):
        from_samples([good, record])


def test_altered_samples_are_hidden_and_their_originals_kept_out_of_the_haystack() -> None:
    found = from_samples([SQUAD, HOTPOT])
    book = "\n\n".join([str(SQUAD["context"]), *(f"On day {day} it rained in the hills." for day in range(90))])
    single = single_needle(500, 0.5, haystack=book, needles=found.needles)
    assert single.hidden == found.needles[0].statements
    assert "Denver Broncos" not in single.text
    pair = multi_needle(600, (0, 1), haystack=book, needles=found.needles)
    assert (pair.hidden, pair.bridge) == (found.needles[1].statements, found.needles[1].bridge)
