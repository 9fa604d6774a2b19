"""Questions about what is hidden: how they are made and scored."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from kgplatform.evaluate.anonymise import build_questions
from kgplatform.evaluate.datasets import as_own
from kgplatform.evaluate.hidden_names import Candidate, Dictionary, SourceNames, StatedTriple
from kgplatform.evaluate.metrics import Reversion, score_reversion
from kgplatform.evaluate.terms import Question, Text

P, Q = "[PERSON#200]", "[LOCATION#12]"
BOTH = {P: ("Queequeg",), Q: ("Rokovoko", "Kokovoko")}


@pytest.mark.parametrize(
    ("prediction", "whole", "restored"),
    [
        ("[PERSON#200]: Queequeg\n[LOCATION#12]: Kokovoko", True, 1.0),
        ("PERSON#200——Queequeg LOCATION#12——Rokovoko", True, 1.0),  # as the paper's Table 6 writes it
        ("**[PERSON#200]** -> *Queequeg*; `[LOCATION#12]` = rokovoko.", True, 1.0),
        ('{"mapping": {"PERSON#200": "Queequeg", "LOCATION#12": "Nantucket"}}', False, 0.5),
        ("[PERSON#200]: Queequeg (a harpooneer) [1]\n[LOCATION#12]: the Rokovoko, his island", True, 1.0),
        ("[PERSON#200]: Ishmael\n[PERSON#200]: Queequeg", False, 0.5),  # the last one counts
        ("[PERSON#200]: Queequeg or Ishmael", False, 0.0),  # to hedge restores nothing
        ("Queequeg", False, 0.0),  # of two placeholders nobody can tell which
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


PEOPLE = [f"{first} {last}" for first in ("Ada", "Bea", "Cid", "Dov") for last in ("Korn", "Lund", "Mohr", "Nagy")]
CHAIN = [(one, "taught", other) for one, other in zip(PEOPLE, PEOPLE[1:], strict=False)]


@dataclass
class Work:
    """A corpus whose names are hidden."""

    dictionary: Dictionary
    statements: tuple[StatedTriple, ...]

    def questions(self, wanted: int) -> list[Question]:
        return build_questions(self.dictionary, self.statements, {"Doc": "doc.txt"}, wanted)


def work(triples: Sequence[tuple[str, str, str]]) -> Work:
    ends = dict.fromkeys(name for subject, _, object_ in triples for name in (subject, object_))
    candidates = tuple(Candidate("PERSON" if name in PEOPLE else "", name) for name in dict.fromkeys([*PEOPLE, *ends]))
    statements = tuple(
        StatedTriple(s, p, o, f"{s} {p} {o} in {1800 + n}.", "Doc") for n, (s, p, o) in enumerate(triples)
    )
    return Work(Dictionary.of(SourceNames(candidates), [each.text for each in statements]), statements)


def test_the_four_kinds_and_a_reversion_has_all_that_is_hidden_in_it() -> None:
    made = work(CHAIN)
    items = made.questions(40)
    assert items == made.questions(40)
    kinds = {"choice complex": 10, "choice simple": 10, "reversion complex": 10, "reversion simple": 10}
    assert Counter(item.kind for item in items) == kinds
    assert len({item.id for item in items}) == 40
    for item in items:
        hops = len(item.facts)
        assert hops <= 4 if item.kind.endswith("simple") else 4 < hops <= 8
        assert item.supports == (Text("doc.txt"),)
        assert not any(name in item.text for name in PEOPLE)
    item = next(each for each in items if each.kind == "reversion simple" and len(each.facts) == 2)
    names = {placeholder: made.dictionary.entities[placeholder].name for placeholder in item.placeholders}
    assert len(names) == 3
    assert all(placeholder in item.text for placeholder in names)
    said = "\n".join(f"{placeholder}: {name}" for placeholder, name in names.items())
    assert score_reversion(said, item.placeholders).whole
    assert score_reversion(item.answers[0], item.placeholders).whole
    assert set(as_own(item)["placeholders"]) == set(names)


def test_a_choice_has_one_right_answer() -> None:
    made = work(CHAIN)
    choices = [each for each in made.questions(40) if each.kind.startswith("choice")]
    by_clue = {made.dictionary.finder.replaced(s.text): s for s in made.statements}
    for item in choices:
        assert len(set(item.choices)) == 4
        assert item.answers[0] in item.choices
        assert item.answers[0] not in item.text
        assert "X" in item.text
        others = set(item.choices) - set(item.answers)
        assert not any(other in fact for other in others for fact in item.facts)
        assert all(fact in by_clue for fact in item.facts)
        assert as_own(item)["choices"] == item.choices


def test_who_is_right_too_or_may_be_is_no_distractor() -> None:
    """All of five taught the first one: of the rest only those who did not are offered. Korn may be any of the four of
    that name, so that none of them is offered beside it.
    """
    triples = [(name, "taught", PEOPLE[0]) for name in PEOPLE[1:6]]
    made = work([*triples, *((PEOPLE[n], "met", PEOPLE[n + 1]) for n in (7, 9, 11))])
    teachers = {made.dictionary.finder.placeholder_of(name) for name in PEOPLE[1:6]}
    choices = [each for each in made.questions(40) if each.kind == "choice simple" and each.answers[0] in teachers]
    assert len(choices) >= 5
    assert all(len(teachers & set(each.choices)) == 1 for each in choices)
    met = [("Zed" if n % 2 else "Yan", "met", name) for n, name in enumerate(PEOPLE)]
    made = work([("Korn", "taught", "Zed"), *met, *CHAIN])
    korns = {made.dictionary.finder.placeholder_of(name) for name in PEOPLE if name.endswith("Korn")}
    korn = made.dictionary.finder.placeholder_of("Korn")
    choices = [each for each in made.questions(400) if each.choices and each.answers[0] == korn]
    assert choices
    assert all(korns.isdisjoint(each.choices) for each in choices)


def test_too_few_facts_and_statements_that_do_not_show_both_names() -> None:
    assert [item.kind for item in work(CHAIN[:1]).questions(10)] == ["reversion simple"]
    assert work([]).questions(10) == []
    hidden = StatedTriple(PEOPLE[0], "taught", PEOPLE[1], "He taught her.", "Doc")
    assert Work(work(CHAIN[:1]).dictionary, (hidden,)).questions(10) == []
