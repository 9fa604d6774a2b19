"""What a text names and states: inventions stay out, paraphrases and other word forms do not."""

import pytest

from kgplatform.extract.grounded_names import is_named, stated_place, without_inventions
from kgplatform.records import ExtractedEntity, ExtractedTriple, Extraction, Passage

TEXT = (
    "In 1866 Cyrus Field laid a cable from Valentia. He had promised the mayor of Cork 2,500 pounds. The US paid, and "
    "it was true."
)
PASSAGE = Passage("c", "d", "n", 0, 0, len(TEXT), None, TEXT, 30)


@pytest.mark.parametrize(
    "name", ["Cyrus Field", "CYRUS FIELD", "1866", "Cork mayor", "mayors of Cork", "US", "Atlantic", "cables"]
)
def test_what_the_text_or_its_title_names(name: str) -> None:
    assert is_named(name, TEXT, "The Atlantic")


@pytest.mark.parametrize(
    "name", ["John Smith", "He", "it", "true", "...", "1867", "Cyrus Fields Hotel", TEXT, "", "None"]
)
def test_what_it_does_not(name: str) -> None:
    assert not is_named(name, TEXT, "The Atlantic")


def test_pronouns_are_those_of_the_language_of_the_text() -> None:
    treaty = "Convention on the Prohibition of the Development, Production and Stockpiling of Bacteriological Weapons"
    treaty += " and on their Destruction"
    text = (
        f"Ella works for Nordlys, and Lei for Oceanic. Nan is a province. Mr. Null signed the {treaty}, and so did it."
    )
    assert all(is_named(name, text) for name in ("Ella", "Lei", "Nan", "Null", treaty))
    assert not any(is_named(name, text) for name in ("it", "It", "null", "None"))
    assert not is_named("Lei", "Lei ha detto che la nave era nel porto di Genova, e che il capitano è partito.")


def test_a_pronoun_with_a_capital_inside_a_sentence_is_a_name() -> None:
    spanish = "Ella Fitzgerald nació en Newport en 1917, y el público la llamó siempre Ella."
    assert is_named("Ella", spanish) and not is_named(
        "Ella", "Ella nació en Newport, y ella cantó con el grupo de la ciudad."
    )
    assert is_named("It", "In 2017 the studio made the film It, and it was a success.")
    text = "Mr. Yes met Panic! At the Disco, No, Q, True, None, NaN and 李 in Io; none, true or nan is void."
    assert all(
        is_named(name, text) for name in ("Yes", "No", "Q", "True", "None", "NaN", "李", "Io", "Panic! At the Disco")
    )
    assert not any(is_named(name, text) for name in ("none", "true", "nan"))


def test_what_is_left_out_is_told_by_name_and_reason() -> None:
    entities = tuple(ExtractedEntity(name, "Person") for name in ("Cyrus Field", "John Smith", "He", "x" * 201))
    said = Extraction(entities, (ExtractedTriple("Cyrus Field", "met", "Mary Smith"),))
    kept, unnamed = without_inventions(said, PASSAGE, "")
    assert ([each.name for each in kept.entities], kept.triples) == (["Cyrus Field"], ())
    reasons = ("not in the text", "a pronoun, or a word for nothing", "longer than 200 characters", "not in the text")
    assert unnamed == dict(zip(("John Smith", "He", "x" * 201, "Mary Smith"), reasons, strict=True))


def test_word_forms_of_other_languages() -> None:
    assert is_named("Москва", "Он родился в Москве в 1815 году.")
    assert is_named("Bundestag", "Die Reden des Bundestages dauern.")
    assert is_named("東京大学", "彼は東京大学で学んだ。")
    assert not is_named("京都大学", "彼は東京大学で学んだ。")
    assert not is_named("Берлин", "Он родился в Москве в 1815 году.")


def test_the_place_of_a_paraphrase_is_the_sentence_with_most_of_its_words() -> None:
    place = stated_place(["Cyrus Field", "promise of 2,500 pounds to Cork"], TEXT, "")
    assert place is not None
    assert TEXT[place.start : place.end].startswith("He had promised")
    assert stated_place(["Cyrus Field", "promise of 3,000 pounds"], TEXT, "") is None
    assert stated_place(["Cyrus Field", "king of Siam"], TEXT, "") is None
    assert stated_place(["Cyrus Field", "deep and lasting friendship"], TEXT, "") is None


def test_a_type_in_place_of_the_name_is_put_right() -> None:
    said = Extraction((ExtractedEntity("Person", "Cyrus Field"), ExtractedEntity("Valentia (Place)")))
    kept, unnamed = without_inventions(said, PASSAGE, "")
    assert kept.entities == (ExtractedEntity("Cyrus Field", "Person"), ExtractedEntity("Valentia", "Place"))
    assert unnamed == {}
