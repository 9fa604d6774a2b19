"""Questions about what is hidden: how they are made, filtered and scored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgplatform.evaluate.anonymise import HiddenCorpus
from kgplatform.evaluate.answer_words import Reversion, restorations, score_reversion
from kgplatform.evaluate.datasets.formats import as_own
from kgplatform.evaluate.hidden_names import Candidate, Dictionary, SourceNames, StatedTriple
from kgplatform.evaluate.reversion_questions import as_built, build_questions, drop_known, is_known
from kgplatform.evaluate.terms import Question, Text
from kgplatform.models.request import json_schema
from kgplatform.prompt import Messages, source_of
from kgplatform.readers.choices import letter
from kgplatform.testing import ScriptedChat

# -------------------------------------------------------------------------------------------------------------- scoring

P, Q = "[PERSON#200]", "[LOCATION#12]"
BOTH = {P: ("Queequeg",), Q: ("Rokovoko", "Kokovoko")}


@pytest.mark.parametrize(
    ("prediction", "whole", "restored"),
    [
        ("[PERSON#200]: Queequeg\n[LOCATION#12]: Kokovoko", True, 1.0),
        ("PERSON#200——Queequeg LOCATION#12——Rokovoko", True, 1.0),  # as the paper's Table 6 writes it
        ("**[PERSON#200]** -> *Queequeg*; `[LOCATION#12]` = rokovoko.", True, 1.0),
        ('{"[PERSON#200]": "QUEEQUEG", "LOCATION#12": ["Rokovoko"]}', True, 1.0),
        ('```json\n[{"placeholder": "[PERSON#200]", "name": "Queequeg"}]\n```', False, 0.5),
        ('{"mapping": {"PERSON#200": "Queequeg", "LOCATION#12": "Nantucket"}}', False, 0.5),
        ("PERSON#200 is Queequeg and LOCATION#12 stands for Rokovoko.", True, 1.0),
        ("[PERSON#200]: Queequeg (a harpooneer) [1]\n[LOCATION#12]: the Rokovoko, his island", True, 1.0),
        ("[PERSON#200]: Ishmael\n[PERSON#200]: Queequeg", False, 0.5),  # the last one counts
        ("[PERSON#200]: Queequeg or Ishmael", False, 0.0),  # to hedge restores nothing
        ("[PERSON#201]: Queequeg", False, 0.0),
        ("Queequeg", False, 0.0),  # of two placeholders nobody can tell which
        ("The documents do not say.", False, 0.0),
        ("", False, 0.0),
    ],
)
def test_score(prediction: str, whole: bool, restored: float) -> None:
    assert score_reversion(prediction, BOTH) == Reversion(whole, restored)


def test_one_placeholder_may_be_answered_plainly() -> None:
    one = {P: ("Mrs. Garth", "Susan Garth")}
    for right in ("Mrs Garth", "susan garth.", "[PERSON#200] is Mrs. Garth.", "Mrs. Garth [2]", "Susan Garth (a wife)"):
        assert score_reversion(right, one).whole, right
    for wrong in ("Garth", "Mr. Garth", "Mrs. Garth or Mary", "Mrs. Garth, Mary", " "):
        assert not score_reversion(wrong, one).whole, wrong


def test_unicode_and_thoughts() -> None:
    gold = {"[PERSON#532]": ("鲁智深",), "[LOCATION#526]": ("Café Münch",)}
    said = "<think>[PERSON#532]: 史进</think>【PERSON#532】：鲁智深\n[LOCATION#526]: CAFE\u0301 MU\u0308NCH"
    assert score_reversion(said, gold) == Reversion(True, 1.0)


def test_nothing_to_restore_cannot_be_scored() -> None:
    with pytest.raises(ValueError, match="without placeholders"):
        score_reversion("x", {})


@settings(deadline=None)
@given(st.dictionaries(st.integers(1, 999), st.sampled_from(["Ahab", "Mary Garth", "史进", "d'Artagnan"]), min_size=1))
def test_a_whole_answer_is_whole(numbers: Mapping[int, str]) -> None:
    gold = {f"[PERSON#{number}]": (name,) for number, name in numbers.items()}
    as_lines = "\n".join(f"{each}: {names[0]}" for each, names in gold.items())
    as_json = json.dumps({each: names[0] for each, names in gold.items()})
    for said in (as_lines, as_json):
        assert score_reversion(said, gold) == Reversion(True, 1.0)
        assert len(restorations(said)) == len(gold)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_a_score(text: str) -> None:
    assert 0.0 <= score_reversion(text, BOTH).restored <= 1.0


# --------------------------------------------------------------------------------------------------------------- making

PEOPLE = [f"{first} {last}" for first in ("Ada", "Bea", "Cid", "Dov") for last in ("Korn", "Lund", "Mohr", "Nagy")]
CHAIN = [(one, "taught", other) for one, other in zip(PEOPLE, PEOPLE[1:], strict=False)]


def work(triples: Sequence[tuple[str, str, str]]) -> HiddenCorpus:
    ends = dict.fromkeys(name for subject, _, object_ in triples for name in (subject, object_))
    candidates = tuple(Candidate("PERSON" if name in PEOPLE else "", name) for name in dict.fromkeys([*PEOPLE, *ends]))
    statements = tuple(
        StatedTriple(s, p, o, f"{s} {p} {o} in {1800 + n}.", "Doc") for n, (s, p, o) in enumerate(triples)
    )
    names = SourceNames(candidates, (), statements)
    return HiddenCorpus(Dictionary.of([names], [each.text for each in statements], 0), (names,), {"Doc": "doc.txt"})


def test_the_four_kinds() -> None:
    made = work(CHAIN)
    items = build_questions(made, 40, seed=0)
    built = as_built(items, 40, ["a note"])
    assert built.kinds == {"choice complex": 10, "choice simple": 10, "reversion complex": 10, "reversion simple": 10}
    assert built.notes == ("a note",)
    assert len({item.id for item in items}) == 40
    for item in items:
        hops = len(item.facts)
        assert hops <= 4 if item.kind.endswith("simple") else 4 < hops <= 8
        assert item.supports == (Text("doc.txt"),)
        assert not any(name in item.text for name in PEOPLE)
    assert {len(item.facts) for item in items} >= {1, 2, 5}


def test_a_reversion_has_all_that_is_hidden_in_it() -> None:
    made = work(CHAIN)
    item = next(
        each for each in build_questions(made, 40, 0) if each.kind == "reversion simple" and len(each.facts) == 2
    )
    names = {placeholder: made.dictionary.entities[placeholder].name for placeholder in item.placeholders}
    assert len(names) == 3
    assert all(placeholder in item.text for placeholder in names)
    said = "\n".join(f"{placeholder}: {name}" for placeholder, name in names.items())
    assert score_reversion(said, item.placeholders).whole
    assert score_reversion(item.answers[0], item.placeholders).whole
    record = as_own(item)
    assert set(record) == {"id", "question", "answers", "kind", "facts", "documents", "placeholders"}
    assert set(record["placeholders"]) == set(names)


def test_a_choice_has_one_right_answer() -> None:
    made = work(CHAIN)
    choices = [each for each in build_questions(made, 40, 0) if each.kind.startswith("choice")]
    by_clue = {made.dictionary.finder.replaced(s.text): s for s in made.names[0].statements}
    for item in choices:
        assert len(set(item.choices)) == 4
        assert item.answers[0] in item.choices
        assert item.answers[0] not in item.text
        assert "X" in item.text
        others = set(item.choices) - set(item.answers)
        assert not any(other in fact for other in others for fact in item.facts)
        assert all(fact in by_clue for fact in item.facts)
        assert as_own(item)["choices"] == item.choices


def test_who_is_right_too_is_no_distractor() -> None:
    """All of them taught the first one: of the rest only those who did not are offered."""
    triples = [(name, "taught", PEOPLE[0]) for name in PEOPLE[1:6]]
    triples += [(PEOPLE[n], "met", PEOPLE[n + 1]) for n in (7, 9, 11)]
    made = work(triples)
    teachers = {made.dictionary.finder.placeholder_of(name) for name in PEOPLE[1:6]}
    choices = [each for each in build_questions(made, 40, 0) if each.kind == "choice simple"]
    asked_for_teachers = [each for each in choices if each.answers[0] in teachers]
    assert len(asked_for_teachers) >= 5
    assert all(len(teachers & set(each.choices)) == 1 for each in asked_for_teachers)


def test_who_may_be_right_is_no_distractor() -> None:
    """Korn may be any of the four of that name, so that none of them is offered beside it, nor it beside them."""
    triples = [("Korn", "taught", "Zed"), *(("Zed" if n % 2 else "Yan", "met", name) for n, name in enumerate(PEOPLE))]
    made = work([*triples, *CHAIN])
    korns = {made.dictionary.finder.placeholder_of(name) for name in PEOPLE if name.endswith("Korn")}
    korn = made.dictionary.finder.placeholder_of("Korn")
    assert korn is not None
    assert len(korns) == 4
    choices = [each for each in build_questions(made, 400, 0) if each.choices]
    assert any(each.answers[0] == korn for each in choices)
    assert any(each.answers[0] in korns for each in choices)
    for each in choices:
        if each.answers[0] == korn:
            assert korns.isdisjoint(each.choices)
        if each.answers[0] in korns:
            assert korn not in each.choices


def test_the_same_twice_and_another_seed() -> None:
    made = work(CHAIN)
    assert build_questions(made, 20, 0) == build_questions(made, 20, 0)
    assert build_questions(made, 20, 0) != build_questions(made, 20, 1)


def test_too_few_facts() -> None:
    items = build_questions(work(CHAIN[:1]), 10, 0)
    assert [item.kind for item in items] == ["reversion simple"]
    assert as_built(items, 10, []).notes == ("10 questions were wanted; the facts give 1",)
    assert build_questions(work([]), 10, 0) == []


def test_statements_that_do_not_show_both_names_are_not_used() -> None:
    made = work(CHAIN[:1])
    hidden = StatedTriple(PEOPLE[0], "taught", PEOPLE[1], "He taught her.", "Doc")
    plain = StatedTriple("The Ship", "met", "A Whale", "The Ship met A Whale.", "Doc")
    names = SourceNames(made.names[0].candidates, (), (hidden, plain))
    assert build_questions(HiddenCorpus(made.dictionary, (names,), {}), 10, 0) == []


# ------------------------------------------------------------------------------------------------------------ filtering


def items_of(count: int) -> list[Question]:
    return build_questions(work(CHAIN), count, 0)


def test_what_a_model_knows_is_dropped() -> None:
    items = items_of(20)
    by_question = {item.text: item for item in items}

    def knows_choices(messages: Messages) -> str:
        shown = messages[-1]["content"]
        item = next(item for question, item in by_question.items() if question in shown)
        if not item.choices:
            return '{"answer": "I do not know."}'
        return json.dumps({"answer": f"({letter(item.choices.index(item.answers[0]))})"})

    kept, dropped = drop_known(items, 20, ScriptedChat(knows_choices), concurrency=4)
    assert [item.kind.split()[0] for item in kept] == ["reversion"] * 10
    assert dropped == 10
    few, _ = drop_known(items, 3, ScriptedChat(knows_choices), concurrency=2)
    assert few == kept[:3]
    reversion, choice = kept[0], next(item for item in items if item.choices)
    assert is_known(reversion, ScriptedChat([json.dumps({"answer": reversion.answers[0]})]))
    assert not is_known(choice, ScriptedChat(['{"answer": "none of them"}']))


RIGHT, OTHER = "[PERSON#200]: Queequeg\n[LOCATION#12]: Kokovoko", "[PERSON#200]: Ishmael"
PAIRS = [{"placeholder": P, "name": "Queequeg"}, {"placeholder": Q, "name": "Rokovoko"}]
HIDDEN = Question("q", f"- {P} came from {Q}.", answers=(RIGHT,), placeholders=BOTH)
EXAMPLE = next(line for line in source_of("evaluate/anonymity_zero_shot").splitlines() if line.startswith("{"))
CHOICE = Question("c", "Which placeholder was hidden behind X?", answers=(P,), choices=(Q, P))


@pytest.mark.parametrize(
    ("item", "reply", "known"),
    [
        (HIDDEN, json.dumps({"reasoning": f"Not {OTHER}.", "answer": RIGHT}), True),
        (HIDDEN, json.dumps({"reasoning": RIGHT, "answer": "I do not know."}), False),
        (CHOICE, '{"reasoning": "(A) came from there.", "answer": "B"}', True),
    ],
)
def test_what_a_model_says_without_texts_is_read_from_its_answer(item: Question, reply: str, known: bool) -> None:
    chat = ScriptedChat([reply])
    assert is_known(item, chat) is known
    assert list(json_schema(chat.calls[0].wanted.form)["properties"]) == ["reasoning", "answer"]
    assert chat.calls[0].wanted.tokens == 600


@pytest.mark.parametrize("useless", ["", RIGHT, EXAMPLE, '{"reasoning": "It is'])
def test_what_cannot_be_read_is_asked_for_once_more_and_then_not_known(useless: str) -> None:
    assert is_known(HIDDEN, ScriptedChat([useless, json.dumps({"answer": RIGHT})]))
    assert not is_known(HIDDEN, ScriptedChat([useless, useless]))


def test_no_more_is_asked_than_needed() -> None:
    chat = ScriptedChat(lambda _: '{"answer": "I do not know."}')
    kept, dropped = drop_known(items_of(40), 5, chat, concurrency=2)
    assert (len(kept), dropped, len(chat.calls)) == (5, 0, 6)
    assert {call.stage for call in chat.calls} == {"zero-shot"}
