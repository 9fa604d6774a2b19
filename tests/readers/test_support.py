"""What counts as supported: a labelled set of answers, half of them made wrong on purpose, and what holds beside it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from kgplatform.readers.marks import without_marks
from kgplatform.readers.statements import Source
from kgplatform.readers.support import Support, known_only, says_something, support

FOLDER = Path(__file__).parent / "support"
HELD_OUT = ("held_out", "held_out_2", "held_out_3")


class Case(NamedTuple):
    """``change``: what was changed of a right answer; empty for one that is supported."""

    question: str
    sources: list[Source]
    answer: str
    change: str


def cases(name: str) -> Iterator[Case]:
    """The cases of one file, each answer one."""
    for each in yaml.safe_load((FOLDER / f"{name}.yaml").read_text("utf-8")):
        passages = [text.partition(": ") for text in each.get("passages", ())]
        sources = [Source(text, title) for title, _, text in passages] + [
            Source(text) for text in each.get("facts", ())
        ]
        for answer in each["supported"]:
            yield Case(each["question"], sources, answer, "")
        for change, answers in each["unsupported"].items():
            for answer in [answers] if isinstance(answers, str) else answers:
                yield Case(each["question"], sources, answer, change)


@cache
def found(name: str) -> list[tuple[str, Support]]:
    """What was changed of each answer of a file, and what the rule finds: once for all tests of a process."""
    return [
        (case.change, support(case.question, without_marks(case.answer, len(case.sources)), case.sources))
        for case in cases(name)
    ]


def judged(name: str) -> tuple[float, float, Counter[str]]:
    """Precision, recall, and how many wrong answers passed, by what was changed in them."""
    right = [each.holds for change, each in found(name) if not change]
    wrongly = Counter(change for change, each in found(name) if change and each.holds)
    return sum(right) / (sum(right) + wrongly.total()), sum(right) / len(right), wrongly


def test_the_set_is_large_and_half_of_it_is_wrong() -> None:
    everything = [case for file in FOLDER.glob("*.yaml") for case in cases(file.stem)]
    wrong = Counter(case.change for case in everything if case.change)
    assert len(everything) >= 300
    assert wrong.total() >= len(everything) / 2
    assert {"name", "number", "date", "relation"} <= set(wrong)
    assert min(wrong[each] for each in ("name", "number", "date", "relation")) >= 50


def test_on_what_the_rule_was_made_with_it_is_right() -> None:
    for name in ("development", "development_2", "development_3"):
        precision, recall, passed = judged(name)
        assert precision >= 0.93, passed
        assert recall >= 0.95


@pytest.mark.parametrize(
    ("name", "least_precision", "least_recall"),
    [("held_out", 0.87, 0.97), ("development_4", 0.7, 0.88), ("held_out_2", 0.7, 0.71), ("held_out_3", 0.69, 0.67)],
)
def test_on_what_was_held_out_it_is_worse(name: str, least_precision: float, least_recall: float) -> None:
    """Far from the 0.97 and 0.95 that are wanted (docs/explanation/readers.md); the last is real prose that the rule
    never saw."""
    precision, recall, passed = judged(name)
    assert precision >= least_precision, passed
    assert recall >= least_recall


@pytest.mark.parametrize("name", ["development", "development_2", "development_3", "development_4", *HELD_OUT])
def test_few_right_answers_are_refused(name: str) -> None:
    """What fails though all its names, numbers and dates were read is in doubt, and is shown."""
    right = [each for change, each in found(name) if not change]
    assert sum(each.holds or each.in_doubt for each in right) >= 0.92 * len(right)
    assert not any(each.holds and each.in_doubt for each in right)


def test_a_choice_that_the_question_offers_may_be_its_answer() -> None:
    text = [Source("The board lost the case of Dunn v. Harbour Board in 1902.")]
    assert support("Who lost the case of Dunn v. Harbour Board?", "The board", text).holds
    assert support("Who lost, Dunn or the board?", "The board", text).holds
    assert not support("Who heard the case of the board?", "The board", text).holds


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Would the ship have sunk?", "Yes, the ship would have sunk."),
        ("The ship sank in 1871, right?", "Yes, the ship sank in 1871."),
    ],
)
def test_who_says_yes_may_repeat_the_question(question: str, answer: str) -> None:
    text = "The ship sank in 1871. But for the pumps the ship would have sunk years before."
    assert support(question, answer, [Source(text)]).holds


CABLE = Source("Cyrus Field founded the Atlantic Telegraph Company. It laid its first cable on 5 August 1858.", "Cable")
FACT = Source("Atlantic Telegraph Company founded by Cyrus Field")


@pytest.mark.parametrize("answer", ["the", "True", "[1]", "", "…", "It is.", "Cyrus Field was born in 1819.", "1866"])
def test_what_any_text_may_hold_supports_nothing(answer: str) -> None:
    assert not support("Who founded the Atlantic Telegraph Company?", answer, [CABLE, FACT]).holds


@pytest.mark.parametrize(
    ("answer", "in_doubt"),
    [
        ("Field established it to lay the cable.", True),
        ("The Atlantic Telegraph Company", False),  # all of it stands in the question
        ("Cyrus Field, in 1899", False),
        ("Cyrus Whitehouse", False),
        ("the", False),
    ],
)
def test_what_is_not_followed_is_in_doubt_unless_something_of_it_was_never_read(answer: str, in_doubt: bool) -> None:
    found = support("Who founded the Atlantic Telegraph Company?", answer, [CABLE])
    assert (found.holds, found.in_doubt) == (False, in_doubt)


@pytest.mark.parametrize(
    ("answer", "source"),
    [("Cyrus Field", FACT), ("Field", CABLE), ("It was founded by Cyrus Field.", FACT), ("on Aug 5, 1858", CABLE)],
)
def test_a_fact_is_as_good_as_a_passage(answer: str, source: Source) -> None:
    question = "Who founded the Atlantic Telegraph Company, and when was its first cable laid?"
    assert support(question, answer, [source]).holds


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("1,000", "one thousand"),
        ("1000", "1 000"),
        ("2.4 million", "2,400,000"),
        ("15 September 1859", "1859-09-15"),
        ("September 15, 1859", "15.09.1859"),
        ("le 15 septembre 1859", "15 de septiembre de 1859"),
        ("21", "twenty-one"),
        ("the 15th", "the fifteenth"),
    ],
)
def test_numbers_and_dates_count_by_their_value(said: str, written: str) -> None:
    assert support("", said, [Source(f"It was {written} then.")]).holds
    assert support("", written, [Source(f"It was {said} then.")]).holds


@pytest.mark.parametrize(
    ("said", "other", "written"),
    [("1941", "1942", "1936-41"), ("4,550 metres", "4,500 metres", "4,550 m")],
)
def test_a_range_and_a_unit_are_read_as_people_read_them(said: str, other: str, written: str) -> None:
    text = [Source(f"The siege of Fastnet is told of: {written}.")]
    assert support("What is told of the siege of Fastnet?", f"The siege of Fastnet: {said}", text).holds
    assert not support("What is told of the siege of Fastnet?", f"The siege of Fastnet: {other}", text).holds


def test_a_linking_word_may_lack_unless_the_text_says_its_opposite() -> None:
    question, answer = "When did the ship reach Fastnet?", "In 1901, after a gale"
    assert support(question, answer, [Source("Delayed by a gale, the ship reached Fastnet in 1901.")]).holds
    assert not support(question, answer, [Source("The ship reached Fastnet in 1901, before a gale.")]).holds


@pytest.mark.parametrize(
    ("said", "written"),
    [("gales", "gale"), ("gale", "gales"), ("plates", "plate"), ("tides", "tide"), ("robes", "robe"), ("maps", "maps")],
)
def test_a_short_word_holds_in_both_numbers(said: str, written: str) -> None:
    text = [Source(f"On the way the ship met the {written} of Fastnet.")]
    assert support("What did the ship meet?", f"The {said} of Fastnet.", text).holds
    assert not support("What did the ship meet?", "The gals of Fastnet.", text).holds


def test_the_reason_names_what_was_not_found() -> None:
    assert support("Who?", "Cyrus Field, in 1899", [CABLE]).why == '"1899" was not found in what was read.'


def test_the_reason_shows_names_as_the_answer_has_them() -> None:
    assert (
        support("Who?", "Frederic Gisborne", [CABLE]).why == '"Frederic", "Gisborne" were not found in what was read.'
    )


def test_sentences_with_names_and_numbers_that_nothing_shown_has_are_left_out() -> None:
    """What puts together many sources may use other words than theirs."""
    said = "Cyrus Field ran the company. He spent 500 pounds on it [1]. In all there was one cable."
    text, why = known_only("Who ran it?", said, [CABLE])
    assert text == "Cyrus Field ran the company. In all there was one cable."
    assert why == '"500" was not found, so it was left out.'
    assert known_only("Who ran it?", "Gisborne ran it, says Cyrus Smith.", [CABLE])[0] == ""
    assert known_only("When was it laid?", "1799 [1]", [CABLE])[0] == "", "a year at the beginning too"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("In 1854 Cyrus Field founded a firm.", True),
        ("In 1912 Cyrus Field founded a firm.", False),
        ("Three men and Cyrus Field founded a firm.", True),
        ("Die Gründung der Firma im Jahr 1854 war eine Leistung von Cyrus Field.", True),
        ("Er gründete sie mit Karl Maria Weber aus Wien.", False),
        ("Im Jahr 1912 wurde sie verkauft.", False),
        ("1866年，这艘船铺设了跨大西洋电缆。", True),
        ("爱迪生发明了电灯。", False),
        ("1912年大东方号铺设了电缆。", False),
    ],
)
def test_nouns_of_german_and_words_without_spaces_are_no_names_by_themselves(said: str, kept: bool) -> None:
    sources = [Source("Cyrus Field founded the company in 1854."), Source("大东方号在1866年铺设了电缆。")]
    assert known_only("?", said, sources)[0] == (said if kept else "")


def test_a_quote_says_something_from_three_telling_words_on() -> None:
    assert not any(map(says_something, ("the", "[1]", "Cyrus Field", "1854", "and so on")))
    assert says_something("Cyrus Field founded the company")
    assert says_something("He died on 5 April 1994."), "a date with what happened then"
    assert not any(map(says_something, ("on 5 April 1994", "Field in 1854", "the year 1854")))


def test_the_time_grows_with_the_text_alone() -> None:
    """Processor time of one check over 5 and over 20 passages of 400 tokens; no bound on the seconds."""
    words = "The mill of {n} at Ford {n} was built by Anna Reed{n} in 17{n:02}, and it ground oats for the valley. "
    passages = [Source("".join(words.format(n=n * 20 + k) for k in range(16)), f"Ford {n}") for n in range(20)]
    seconds = []
    for count in (5, 20):
        begun = time.process_time()
        support("Who built the mill at Ford 3?", "Anna Reed3 built the mill at Ford 3 in 1703.", passages[:count])
        seconds.append(time.process_time() - begun)
    print(f"\n5 passages {seconds[0] * 1000:.0f} ms, 20 passages {seconds[1] * 1000:.0f} ms")
    assert seconds[1] < 40 * max(seconds[0], 0.001)


def test_a_mark_of_nothing_that_was_shown_goes_and_a_year_stays() -> None:
    assert without_marks("In London [1], in 1815. [7]", 1) == "In London, in 1815."
    assert without_marks("In which year? [1819] [1]", 1) == "In which year? [1819]"
    assert without_marks("[42]", 1) == "[42]"
