"""Sentences by number: how they are shown, what a number stands for, and what an answer rests on."""

from dataclasses import replace

import pytest
from answers import fact, passage

from kgplatform.readers.grounding import ground
from kgplatform.readers.selection import select
from kgplatform.readers.window import Numbering
from kgplatform.records import Citation, SearchResult
from kgplatform.text.sentences import lines, numbered

CABLE = replace(
    passage("cable", "The cable broke. It was mended in 1858.\n\nField paid for it.", title="Cable"), start=50
)
TEA = passage("tea", "Tea is hot. It is green.")


def shown() -> Numbering:
    numbering = Numbering()
    assert numbering.passages([CABLE, TEA]).startswith("Passage 1: Cable\n[1.1] The cable broke.\n[1.2] It was mended")
    return numbering


# ------------------------------------------------------------------------------------------------------------- numbers


def test_rows_items_and_lines_of_code_are_sentences() -> None:
    text = "Ships laid it.\n| name | year |\n| Agamemnon | 1858 |\n- one item\n- another\nint main()\n{ return 0; }"
    assert [text[each.start : each.end] for each in numbered(text)] == text.replace("it.\n", "it.\n").split("\n")
    assert lines(text, "3", only={2, 3}).splitlines() == ["…", "[3.2] | name | year |", "[3.3] | Agamemnon | 1858 |"]


# ------------------------------------------------------------------------------------------------------------- answers


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


# --------------------------------------------------------------------------------------------------------------- facts


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
