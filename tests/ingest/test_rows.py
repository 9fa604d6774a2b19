"""Extractions as rows: a function of the passage and what it says, one row per node and evidence."""

import pytest

from kgplatform.extract.schema import EntityType, RelationType, Schema
from kgplatform.ingest.write import Rows, rows_of
from kgplatform.records import AtomicFact, ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction, Passage
from kgplatform.text import count_tokens, node_id

SCHEMA = Schema("s", (EntityType("Person"), EntityType("Sea vessel")), (RelationType("sailed on"),))
TEXT = "Ada sailed on the Petrel. ADA, born in 1815, liked it."
ADA = ExtractedEntity("Ada", "Person")
PETREL = ExtractedEntity("Petrel", "Sea vessel")
SAILED = ExtractedTriple("Ada", "sailed on", "Petrel", "Ada sailed on the Petrel")


def passage(text: str = TEXT, start: int = 100, name: str = "c") -> Passage:
    return Passage(name, "d", "D 1", 0, start, start + len(text), None, text, count_tokens(text))


def rows(extraction: Extraction, text: str = TEXT, **more: object) -> Rows:
    return rows_of(passage(text, **more), extraction, SCHEMA, "The title")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sentence", "names", "place"),
    [
        (2, ("Ada", "Petrel"), "ADA, born in 1815, liked it."),
        (1, ("Ada", "Petrel"), "Ada sailed on the Petrel."),
        (9, ("Ada", "Petrel"), "Ada sailed on the Petrel."),
        (2, ("Bo", "Albatross"), "ADA, born in 1815, liked it."),
    ],
)  # fmt: skip
def test_the_number_of_a_sentence_is_its_place(sentence: int, names: tuple[str, str], place: str) -> None:
    said = ExtractedTriple(names[0], "sailed on", names[1], sentence=sentence)
    (row,) = rows(Extraction(tuple(map(ExtractedEntity, names)), (said,))).triples.values()
    assert (TEXT[row["start"] - 100 : row["end"] - 100], row["found"]) == (place, True)


def test_a_sentence_that_stands_twice_is_where_its_number_says() -> None:
    text = "It rained.\n\nIt rained.\n\nIt rained."
    (row,) = rows(
        Extraction((), (), (), (AtomicFact("It rained.", ("rained",), sentence=3),)), text
    ).atomic_facts.values()
    assert (row["start"] - 100, row["end"] - 100) == (24, 34)


@pytest.mark.parametrize(("value", "found"), [("10 December 1815", True), ("1816", False), ("40 years", True)])
def test_a_sentence_does_not_state_a_year_that_the_passage_lacks(value: str, found: bool) -> None:
    said = ExtractedAttribute("Ada", "born", value, sentence=2)
    (row,) = rows(Extraction((ADA,), attributes=(said,))).attributes.values()
    assert row["found"] == found


def test_the_title_may_go_unsaid() -> None:
    title = ExtractedTriple("The title", "sailed on", "Petrel")
    made = rows(Extraction((ExtractedEntity("The title"), PETREL), (title,)))
    assert [row["found"] for row in made.triples.values()] == [True]


def test_a_name_under_two_types_means_the_first() -> None:
    made = rows(Extraction((PETREL, ExtractedEntity("petrel", "Person"), ADA), (SAILED,)))
    (row,) = made.triples.values()
    assert row["objectId"] == node_id("entity", "petrel", "Sea vessel")


def test_a_type_that_the_schema_got_on_the_way_counts() -> None:
    """Both passages may be written in one transaction, or in two: the entity has its label either way."""
    early = rows(Extraction((ExtractedEntity("Petrel", "Sea vessel", in_schema=False),)))
    late = rows(Extraction((PETREL,)), name="c2")
    for order in ((early, late), (late, early)):
        both = Rows()
        for each in order:
            both.add(each)
        (row,) = both.entities.values()
        assert (row["inSchema"], row["labels"]) == (True, ["SeaVessel"])
    (row,) = early.entities.values()
    assert (row["inSchema"], row["labels"]) == (False, [])
