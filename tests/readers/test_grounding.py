"""Sentences by number: how they are shown, what a number stands for, and what an answer rests on."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from answers import fact, passage

from kgplatform.readers.grounding import ground, unread, without_numbers
from kgplatform.readers.selection import select
from kgplatform.readers.window import Numbering
from kgplatform.records import Citation, FoundPassage, SearchResult
from kgplatform.text.sentences import lines, numbered

CABLE = replace(
    passage("cable", "The cable broke. It was mended in 1858.\n\nField paid for it.", title="Cable"), start=50
)
TEA = passage("tea", "Tea is hot. It is green.")


def shown() -> Numbering:
    numbering = Numbering()
    assert numbering.passages([CABLE, TEA]).startswith("Passage 1: Cable\n[1.1] The cable broke.\n[1.2] It was mended")
    return numbering


def test_rows_items_and_lines_of_code_are_sentences() -> None:
    text = "Ships laid it.\n| name | year |\n| Agamemnon | 1858 |\n- one item\n- another\nint main()\n{ return 0; }"
    assert [text[each.start : each.end] for each in numbered(text)] == text.replace("it.\n", "it.\n").split("\n")
    assert lines(text, "3", only={2, 3}).splitlines() == ["…", "[3.2] | name | year |", "[3.3] | Agamemnon | 1858 |"]


@pytest.mark.parametrize(
    ("said", "text", "places"),
    [
        ("It broke. [1.1] It was mended. [1.2]", "It broke [1]. It was mended [2].", [(50, 66), (67, 89)]),
        ("It broke and was mended [1.1-2].", "It broke and was mended [1].", [(50, 89)]),
        ("It broke [1.1][1.1] [1.2], [1.2]", "It broke [1][2], [2]", [(50, 66), (67, 89)]),
        ("It broke [1.1, 3].", "It broke [1][2].", [(50, 66), (91, 109)]),
        ("It broke (1.1)", "It broke [1]", [(50, 66)]),
        ("It broke [1.1", "It broke [1]", [(50, 66)]),
        ("It broke [Passage 1, sentence 1]", "It broke [1]", [(50, 66)]),
        ("All of [2]", "All of [1]", [(0, 24)]),
        ("It broke [7.1] in [1858] [sic]", "It broke in [1858] [sic]", []),
        ("它断了[1.1]。", "它断了 [1]。", [(50, 66)]),
    ],
)
def test_what_numbers_stand_for(said: str, text: str, places: list[tuple[int, int]]) -> None:
    grounded = ground(said, shown())
    assert grounded.text == text
    assert [(each.start, each.end) for each in grounded.citations] == places


def test_statements_have_their_own_citations_and_marks() -> None:
    grounded = ground("It broke [1.1]. Field mended it in 1859 [1.2]. So they say.", shown())
    assert [(each.text, each.citations, each.unread) for each in grounded.statements] == [
        ("It broke [1].", (1,), ()),
        ("Field mended it in 1859 [2].", (2,), ("1859",)),
        ("So they say.", (), ()),
    ]


def test_evidence_that_is_named_apart_is_that_of_all_statements() -> None:
    grounded = ground("It broke. It was mended.", shown(), ["1.1", "1.2", "9.1"])
    assert (grounded.text, grounded.dropped) == ("It broke. It was mended [1][2].", 1)
    assert [each.citations for each in grounded.statements] == [(1, 2)]
    assert ground("Tea is hot [2.1].", shown(), ["1.1"]).text == "Tea is hot [1].", "its own numbers count"


def test_a_passage_keeps_its_number_and_only_what_was_shown_can_be_cited() -> None:
    numbering = Numbering()
    numbering.passages([TEA])
    numbering.passages([CABLE, TEA], {"cable": {2}})
    assert numbering.source("1.1").citation.text == "Tea is hot."  # type: ignore[union-attr]  # it was shown
    assert numbering.source("2.1") is None
    every = [f"{part}.{number}" for part in range(4) for number in range(1, 5)]
    assert [number for number in every if numbering.source(number)] == ["1.1", "1.2", "2.2"]


def test_a_fact_that_a_shown_sentence_says_is_not_shown() -> None:
    numbering = shown()
    place = Citation(CABLE.document, "Cable", 67, 89, None, "cable")
    said = replace(fact("f1", "the cable mended in 1858"), citations=(place,))
    other = replace(fact("f2", "Field lived in New York"), citations=(replace(place, document="else", passage="x"),))
    assert numbering.facts([said, other]) == "[0.1] Field lived in New York"
    assert ground("In New York [0.1]", numbering).citations[0].document == "else"


def test_a_selection_is_small_and_has_what_matches() -> None:
    long = passage("long", " ".join(f"Sentence {n} says little." for n in range(80)) + " Anna Reed built the mill. So.")
    facts = (fact("far", "ArtifactHub description awesome project"), fact("near", "Anna Reed owned the mill"))
    found = SearchResult("Who built the mill?", (long, *(passage(f"p{n}", "x y") for n in range(9))), facts, 0.0)
    selected = select(found, 400)
    text = selected.text(Numbering())
    assert len(selected.result.passages) == 5
    assert "Anna Reed built the mill." in text
    assert "Sentence 3 says" in text or "Sentence 79 says little." in text
    assert "[0.1] Anna Reed owned the mill" in text
    assert "ArtifactHub" not in text
    assert len(text.split()) < 300


LABELLED = Path(__file__).parent.parent / "benchmarks" / "marked.jsonl"


def marked(statement: str, *sources: str) -> tuple[str, ...]:
    found = unread(statement, sources)
    assert found.compared
    return found.words


def test_a_name_with_its_number_counts_as_a_whole() -> None:
    text = "In March the council rejected PEP 637; 649 people had written."
    assert marked("The council rejected PEP 637.", text) == ()
    assert marked("The council rejected PEP 649.", text.replace("649 ", "")) == ("PEP 649",)
    assert marked("The council rejected PEPs 637 and 640.", text) == ("640",)


@pytest.mark.parametrize("mark", ["", "\u00a0", "’", ","])
def test_thousands_are_parted_by_many_marks(mark: str) -> None:
    text = f"The toll at the gate was 1{mark}200 crowns in the year 1640."
    for written in ("1200", "1,200", "1.200", "1 200", "1\u202f200", "1’200", "one thousand two hundred", "１２００"):
        assert marked(f"It was {written} crowns.", text) == (), written
    assert marked("It was 12,000 crowns.", text) == ("12,000",)
    assert marked("It was 120 crowns.", text) == ("120",)


@pytest.mark.parametrize(
    ("said", "written"),
    [
        *(("2.4 million", "2,400,000"), ("0.4", "0.40"), ("12,34,567", "1234567"), ("4.5", "४.५"), ("1985", "١٩٨٥")),
        ("1941", "1936-41"),
    ],
)
def test_a_number_is_what_it_is_worth(said: str, written: str) -> None:
    assert marked(f"It was {said} then.", f"All in all it was {written} at the time.") == ()
    assert marked("It was 77 then.", f"All in all it was {written} at the time.") == ("77",)


@pytest.mark.parametrize("written", ["−7", "minus 7"])
def test_minus_seven_is_not_seven(written: str) -> None:
    assert marked(f"At {written} degrees.", "At -7 degrees the lock of Vik freezes.") == ()
    assert marked("At 7 degrees.", f"At {written} degrees the lock of Vik freezes.") == ("7",)
    assert marked("At -7 degrees.", "At 7 degrees the lock of Vik freezes.") == ("-7",)
    assert marked("From 3 to 7 degrees.", "From 3-7 degrees on the lock of Vik is open.") == ()


@pytest.mark.parametrize(
    ("words", "figures", "other"),
    [
        ("Two hundred and twelve patients came to the ward.", "212 patients came to the ward.", "two hundred"),
        ("The fifteenth of the ships was lost in the storm.", "The 15th of the ships was lost.", "twelfth"),
        ("Es kamen zweihundertzwölf Leute und ein Hund.", "Es kamen 212 Leute und ein Hund.", "dreißig"),
        (
            "Il y avait quatre-vingt-dix-sept personnes dans la salle.",
            "Il y avait 97 personnes dans la salle.",
            "vingt et un",
        ),
        ("En la sala había treinta y dos personas.", "En la sala había 32 personas.", "doscientos doce"),
        ("Na sala estavam duzentos e vinte e três homens.", "Na sala estavam 223 homens.", "duzentos e vinte"),
        ("हमारे पास पाँच लाख पुस्तकें हैं।", "हमारे पास 5,00,000 पुस्तकें हैं।", "तीस"),
        ("Er waren tweehonderdtwaalf mensen in de zaal.", "Er waren 212 mensen in de zaal.", "dertig"),
        ("В зале было двести двенадцать человек.", "В зале было 212 человек.", "тридцать"),
        ("一九三四年に建てられた。", "1934年に建てられた。", "三百"),
        ("책은 8만 5천 권이 있다.", "책은 85,000권이 있다.", "3만"),
    ],
)
def test_numbers_in_words_are_numbers(words: str, figures: str, other: str) -> None:
    assert marked(words, figures) == marked(figures, words) == ()
    assert marked(f"{words} {other}", figures) == (other,)


def test_a_number_in_words_and_in_figures_is_one() -> None:
    text = "Fees are refunded at fifty percent (50%) of the price."
    assert marked("Fees are refunded at fifty percent (50%).", text) == ()
    assert marked("Fees are refunded at 50 %.", text) == ()
    assert marked("Fees are refunded at sixty percent (60%).", text) == ("sixty", "60")
    assert marked("One fee is refunded.", text) == (), "a word for one is an article in many languages"


DATES = ("3 May 1931", "May 3, 1931", "1931-05-03", "03.05.1931", "3.5.1931", "03/05/1931", "3rd of May, 1931")
FOREIGN = (
    "3. Mai 1931",
    "le 3 mai 1931",
    "3 de mayo de 1931",
    "3 maggio 1931",
    "3 мая 1931",
    "1931年5月3日",
    "1931년 5월 3일",
)


@pytest.mark.parametrize("date", [*DATES, *FOREIGN])
def test_a_date_is_written_in_many_ways(date: str) -> None:
    text = f"The garden was opened to the public ({date}) by Klara Vogt."
    for written in DATES:
        assert marked(f"It was opened on {written}.", text) == (), written
    assert marked("It was opened in May 1931.", text) == marked("It was opened in 1931.", text) == ()
    assert marked("It was opened on 4 May 1931.", text) == ("4 May 1931",)
    assert marked("It was opened on May 3, 1932.", text) == ("May 3, 1932",)
    assert marked("It was opened in June 1931.", text) == ("June 1931",)


def test_what_a_date_leaves_out_may_stand_beside_it() -> None:
    text = ["The expedition of 1897 left in June.", "It turned back on 5 August because of the ice."]
    assert marked("It turned back on 5 August 1897.", *text) == ()
    assert marked("It turned back in August 1897.", *text) == ()
    assert marked("It turned back on 6 August 1897.", *text) == ("6 August 1897",)
    assert marked("It turned back in September 1897.", *text) == ("September 1897",)


@pytest.mark.parametrize(
    ("statement", "missing"),
    [
        ("The lighthouse was designed by Margaret Oyelaran.", ()),
        ("The lighthouse was designed by Margaret Duff.", ("Duff",)),
        *(("Oyelaran's lighthouse stands on Skerry Point.", ()), ("M. Oyelaran designed it.", ())),
        *(("Esther Vane designed it.", ("Esther", "Vane")), ("However, the lighthouse was designed by her.", ())),
        *(("It is in the United States.", ()), ("The EPRDF owns it.", ()), ("The Icelandic keeper left.", ())),
        *(("It was built in Africa.", ()), ("It was built in Asia.", ("Asia",))),
        *(("Margareta Oyelaran designed it.", ("Margareta",)), ("Bjork Halfdanardottir and Lodz are named.", ())),
    ],
)
def test_names_count_in_every_form(statement: str, missing: tuple[str, ...]) -> None:
    text = (
        "The lighthouse on Skerry Point, built in the US, was designed by Margaret Oyelaran. "
        "Its owner is the Ethiopian People's Revolutionary Democratic Front. Its builder was South African, its "
        "keeper came from Iceland, as did Björk Hálfdánardóttir, and the lamp from Łódź."
    )
    assert marked(statement, text) == missing


def test_a_first_name_may_be_a_letter_in_the_text() -> None:
    assert marked("The act was signed by John Smith.", "The act was signed by J. Smith.") == ()
    assert marked("The act was signed by Carl Smith.", "The act was signed by J. Smith.") == ("Carl",)


def test_german_nouns_are_no_names() -> None:
    text = "Die Glashütte wurde 1787 von Johann Kestner in Eschenau gegründet."
    assert marked("Die Gründung der Hütte war im Jahr 1787, und zwar durch Johann Kestner.", text) == ()
    assert marked("Die Glashütte wurde 1787 von Otto Braun gegründet.", text) == ("Otto", "Braun")
    assert marked("Kästle", text) == ("Kästle",), "nothing else is said"


@pytest.mark.parametrize(
    ("statement", "missing"),
    [
        ("gh-96976 is fixed in v1.2.4.", ("gh-96976", "v1.2.4")),
        ("The A320neo has the address 10.1.2.3.", ()),
        ("The A321neo has the address 10.1.2.4.", ("A321neo", "10.1.2.4")),
        ("It needs storage.encrypt for it.", ("storage.encrypt",)),
    ],
)
def test_identifiers_count_as_wholes(statement: str, missing: tuple[str, ...]) -> None:
    text = "The fix of gh-96975 is in v1.2.3. The A320neo answers at 10.1.2.3 with `storage.compress`."
    assert marked(statement, text) == missing


@pytest.mark.parametrize(
    ("statement", "text", "missing"),
    [
        ("1985年に東京で設立された", "ＡＢＣ商事は１９８５年に東京で設立された。", ()),
        ("ABC商事は1958年に設立された", "ABC商事は1985年に東京で設立された。", ("1958",)),
        ("KX8手机", "KX9手机由蓝海公司在2007年发布。", ("KX8",)),
        ("张伟", "CEO李明于2015年加入蓝海公司。", ()),
        ("في عام ١٩٦٣", "حفر سالم الحربي البئر في عام 1962.", ("١٩٦٣",)),
        ("สร้างเมื่อ 2501", "สะพานสร้างเมื่อปี ๒๕๐๑ โดยวิศวกร", ()),
        ("הגשר נבנה ב־1931", "הגשר נבנה בשנת 1931 על ידי דוד לוי.", ()),
    ],
)
def test_scripts_without_capitals_have_numbers_and_identifiers(
    statement: str, text: str, missing: tuple[str, ...]
) -> None:
    assert marked(statement, text) == missing


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("Der Rat hat es im März abgelehnt.", "The council rejected PEP 637 in March."),
        ("The firm was founded by Ivan Orlov.", "Фирму основал Иван Орлов в 1874 году."),
        ("公司成立于1856年。", "The company was founded in 1856."),
    ],
)
def test_another_language_is_not_compared(statement: str, text: str) -> None:
    assert unread(statement, [text]) == ((), False)


def test_what_is_wholly_in_the_text_is_compared_in_any_script() -> None:
    assert unread("Cyrus Field", ["公司由 Cyrus Field 于1856年创立。"]) == ((), True)
    assert unread("1856", ["公司由 Cyrus Field 于1856年创立。"]) == ((), True)
    assert unread("", ["The company was founded in 1856."]) == ((), True)
    assert unread("1856", []) == (("1856",), True)


def test_each_word_is_named_once_and_in_order() -> None:
    assert marked("Vane met Duff in 1901, and Vane left in 1901.", "They met.") == ("Vane", "Duff", "1901")


def test_on_labelled_statements_nearly_all_that_was_exchanged_is_marked() -> None:
    labelled = map(json.loads, LABELLED.read_text("utf-8").splitlines())
    marks = [
        (bool(each.get("exchanged")), bool(unread(each["statement"], each["cited"] + each["beside"]).words))
        for each in labelled
        if each["part"] != "relations"
    ]
    assert sum(mark for exchanged, mark in marks if exchanged) >= 95
    assert sum(mark for exchanged, mark in marks if not exchanged) <= 5
    assert len(marks) == 200


CASES = yaml.safe_load((Path(__file__).parent / "kept_answers.yaml").read_text("utf-8"))[1:]


def shown_to(passages: list[dict[str, str]]) -> Numbering:
    """What a reader shows of ``passages``, each a title with its text."""
    numbering = Numbering()
    numbering.passages(
        FoundPassage(title, title, title, 0, len(text), None, text, 1.0, ("vector",))
        for each in passages
        for title, text in each.items()
    )
    return numbering


def test_there_are_a_hundred() -> None:
    assert len(CASES) == 100


@pytest.mark.parametrize("case", CASES, ids=[f"{n}: {each['question']}" for n, each in enumerate(CASES, 1)])
def test_nothing_of_a_right_answer_is_lost_and_what_is_marked_is_true(case: dict[str, Any]) -> None:
    answer = json.loads(case["reply"])["answer"]
    grounded = ground(answer, shown_to(case["passages"]))
    cited = [each for each in grounded.statements if each.citations]
    assert without_numbers(grounded.text) == without_numbers(answer)
    assert grounded.citations and not grounded.dropped
    assert [word for each in cited for word in each.unread] == case.get("unread", [])
    assert all(each.compared for each in cited) == case.get("compared", True)
