"""What kinds the local extractor gives to names, and what it takes for no name."""

from __future__ import annotations

import pytest
from local_extraction import MANUAL, extract, kinds

from kgplatform.extract.lexicon import kind_of_name


def triples(text: str) -> list[tuple[str, str, str]]:
    return [(each.subject, each.predicate, each.object) for each in extract(text).triples]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Lucien Quill", "Person"),
        ("J. K. Quill", "Person"),
        ("Prince Odo of Varland", "Person"),
        ("Quill Motors", "Organization"),
        ("Lake Varn", "Place"),
        ("Varn Governorate", "Place"),
        ("Ann Arbor, Michigan", "Place"),
        ("U.S.", "Place"),
        ("ROM", None),
        ("Norwegian Quill Festival", "Event"),
        ("Debian", "Product"),
        ("HTTP", "Concept"),
        ("max value", None),
    ],
)
def test_the_form_of_a_name_tells_its_kind(name: str, kind: str | None) -> None:
    assert kind_of_name(name) == kind


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("They asked the physicist Varo Quellin about it.", "Varo Quellin", "Person"),
        ("They asked Varo Quellin, who did not answer.", "Varo Quellin", "Person"),
        ("It was made by Quellin, a Swedish company, in a year.", "Quellin", "Organization"),
        ("He was born in Ostervarn and then moved away.", "Ostervarn", "Place"),
        ("They met in Ostervarn, Sweden, and then went home.", "Ostervarn", "Place"),
        ("He lives in the village of Ostervarn near the sea.", "Ostervarn", "Place"),
        ('She wrote "The Long Road Home" in a year.', "The Long Road Home", "Work"),
        ("He used the Quellin programming language for it.", "Quellin", "Language"),
        ("They spoke with Mr Quellin about it at length.", "Quellin", "Person"),
        ("We met Quellin. Later Quellin recalled that it rained.", "Quellin", "Person"),
        ("We met Quellin. Later Quellin recalled its old model.", "Quellin", None),
    ],
)
def test_the_words_around_a_name_tell_its_kind(text: str, name: str, kind: str | None) -> None:
    assert kinds(text)[name] == kind


def test_a_surname_is_the_person_of_the_full_name() -> None:
    found = kinds("We met Ada Quellin in the town. Later Quellin left, and nobody saw where Quellin went.")
    assert (found["Ada Quellin"], found["Quellin"]) == ("Person", "Person")


def test_a_firm_is_one_without_the_word_that_says_so_too() -> None:
    found = kinds(
        "They asked Quellin Inc about it, and Quellin sent what Varo Systems, Inc. had made for Varo Systems."
    )
    assert {found["Quellin"], found["Varo Systems"]} == {"Organization"}


def test_a_known_firm_is_nobodys_name() -> None:
    found = kinds(
        "In a blog, Microsoft said that it would stay. The page is headed Ukraine Microsoft, and names others."
    )
    assert (found["Microsoft"], found["Ukraine Microsoft"]) == ("Organization", None)


def test_names_of_a_list_are_of_one_kind() -> None:
    found = kinds("The film stars Ada Quill, Varo Quellin and Bruno Stone in the main parts.")
    assert found["Varo Quellin"] == "Person"


def test_an_acronym_is_what_it_stands_behind() -> None:
    assert kinds("They joined the Varn Quill Association (VQA) and paid for it.")["VQA"] == "Organization"


def test_the_title_says_in_brackets_what_it_is() -> None:
    assert kinds("it was made in a year.", "Quellin (film)")["Quellin"] == "Work"


def test_what_a_document_is_sure_of_goes_before_the_form() -> None:
    text = "They moved to Ada Varn, Michigan, in May. They were happy in Ada Varn, Michigan, for years."
    assert kinds(text)["Ada Varn"] == "Place"


# ------------------------------------------------------------------------------------------------------------ no names


@pytest.mark.parametrize(
    "text",
    [
        "He was a Swedish chemist and she was an American one.",
        "The South African team won, and the Puerto Rican team lost.",
        "See Chapter 7 and Table A for this, and Figure 3 too.",
        "They met on Tuesdays and they left on Sunday in May.",
        "Should We Use the Blue Wallet\n\nit was late then.",
        "She is an Actress and he is a President of something.",
    ],
)
def test_adjectives_parts_of_texts_and_headings_are_no_names(text: str) -> None:
    assert kinds(text) == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We saw American chemist Ada Quill and Varn Mayor Bo Stone.", ["Ada Quill", "Bo Stone"]),
        ("They thanked Ada Quill August 1993 and left for good.", ["Ada Quill"]),
        ("New Zealand is far away, and so is Los Angeles.", ["New Zealand", "Los Angeles"]),
        ("They heard of Odo, Duke of Varn, and of Bolo the Great.", ["Odo, Duke of Varn", "Bolo the Great"]),
        ("We asked the Institute for Peace and Justice about it.", ["Institute for Peace and Justice"]),
        ("They read the works of Quill, A.B. Letters of a hunter.", ["Quill"]),
        ("They went from GNU/Linux to a Go-playing machine.", ["GNU", "Linux"]),
    ],
)
def test_where_a_name_begins_and_ends(text: str, names: list[str]) -> None:
    assert list(kinds(text)) == names


@pytest.mark.parametrize(
    ("line", "left_out"),
    [
        ("Set the variable in PATH_QUILL and read quill.Debian.gz then.", "PATH"),
        ("See Section 8.2, “Removing the Old Disk”, for the details.", "Removing the Old Disk"),
        ("The answer is True or the branch is at HEAD or at NULL.", "HEAD"),
        ("- Represents the folder that the command reads.", "Represents"),
        ("Set Pre-Depends and noMetadata in the file at once.", "noMetadata"),
        ("$ ls Desktop Downloads Pictures Templates Videos", "Desktop Downloads Pictures Templates Videos"),
        ("The sidebar GOING FURTHER Old Versions tells more of it.", "GOING FURTHER Old Versions"),
        ('{"Name": "Ada", "Gender": "Female", "Mood": "Happy"}', "Happy"),
    ],
)
def test_what_a_manual_writes_with_a_capital(line: str, left_out: str) -> None:
    assert left_out not in kinds(MANUAL + line)


def test_acronyms_of_a_manual_are_concepts() -> None:
    found = kinds(MANUAL + "The daemon speaks QTTP over the wire, as the QTTP protocol says.")
    assert found["QTTP"] == "Concept"


def test_terms_of_a_manual_stand_behind_an_article() -> None:
    text = (
        MANUAL
        + "the pack file is read first. then the pack file is cut, and a pack file is kept. quill push origin. " * 2
    )
    found = kinds(text)
    assert found["pack file"] == "Concept"
    assert not [name for name in found if "origin" in name]


def test_headlines_are_no_names() -> None:
    assert kinds("it was late then.", "How They Will Pay for It All | The Varn Post") == {}
    assert list(kinds("it was late then.", "Separation of quills and state in Varland")) == [
        "Separation of quills and state in Varland"
    ]


# -------------------------------------------------------------------------------------------------------------- German

GERMAN = (
    "Die Firma wurde nach dem Krieg von Karsten Quellin gegründet, und Quellin leitete sie auch. Frau Stolz lobte die "
    "Arbeit der Quellin GmbH in Österreich. Sie nutzten den HTTP-Server und GitHub, aber keine Esslöffel Milch. Im "
    "Bereich Kosmetik ist die Universität Varn bekannt. Thomas Manns Roman wurde oft gelesen, denn Mann war ein Autor."
)


def test_german_names_show_by_themselves() -> None:
    assert kinds(GERMAN) == {
        "Karsten Quellin": "Person",
        "Quellin": "Person",
        "Stolz": "Person",
        "Quellin GmbH": "Organization",
        "Österreich": "Place",
        "HTTP": "Concept",
        "GitHub": "Product",
        "Universität Varn": "Organization",
        "Thomas Mann": "Person",
        "Mann": "Person",
    }


def test_a_german_heading_is_no_name() -> None:
    text = (
        "Interne Prüfungen sind wichtig, und so werden die Interne Prüfungen nicht nur von uns durch das Amt gemacht."
    )
    assert "Interne Prüfungen" not in kinds(text + " " + GERMAN, "Interne Prüfungen")


# ----------------------------------------------------------------------------------------------------------- relations


@pytest.mark.parametrize(
    "text",
    [
        "As told, Ada Quill, countess of Varn, daughter of Bo Quill, left.",
        "Then git repack wrote a cruft pack for us.",
        "He was born in Varn of Swedish parents, says Ada Quill.",
    ],
)
def test_relations_whose_ends_are_not_what_they_must_be(text: str) -> None:
    assert not [each for each in triples(text) if each[1] in ("parent of", "wrote")]


def test_a_place_has_no_life() -> None:
    found = extract("Prince Odo of Varland and Denmark (born 12 August 2000) is a prince of the house.")
    assert "Denmark" not in {each.entity for each in found.attributes if each.key == "born"}


def test_a_name_and_a_people_make_a_fact() -> None:
    facts = extract("It is known that Ada Quill was a Swedish chemist. It rained on Ada Quill.").facts
    assert [fact.key_elements for fact in facts] == [("Ada Quill",)]
