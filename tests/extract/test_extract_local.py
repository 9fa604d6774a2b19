"""The rule-based extractor on friendly, foreign and nasty texts."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from kgplatform.extract.lexicon import kind_of_name
from kgplatform.extract.local import DOCUMENTS_KEPT, LocalExtractor, title_forms
from kgplatform.extract.schema import Schema, load_schema
from kgplatform.records import Document, Extraction, Passage
from kgplatform.text.sentences import LONGEST_SENTENCE, sentences

GENERAL = load_schema("general")


def document(text: str, title: str = "notes.txt") -> Document:
    return Document(title + text[:20], title, title, title, text, hashlib.sha256(text.encode()).hexdigest())


def passage(of: Document, start: int = 0, end: int | None = None, index: int = 0) -> Passage:
    stop = len(of.text) if end is None else end
    return Passage(f"{of.id}-{index}", of.id, of.title, index, start, stop, None, of.text[start:stop], 100)


def extract(text: str, title: str = "notes.txt", schema: Schema = GENERAL) -> Extraction:
    source = document(text, title)
    return LocalExtractor().extract(passage(source), source, schema)


def names(text: str, title: str = "notes.txt") -> list[str]:
    return [entity.name for entity in extract(text, title).entities]


def triples(text: str, title: str = "notes.txt") -> list[tuple[str, str, str]]:
    return [(triple.subject, triple.predicate, triple.object) for triple in extract(text, title).triples]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He read at the University of Copenhagen.", ["University of Copenhagen"]),
        ("We met Ludwig van Beethoven and Charles de Gaulle.", ["Ludwig van Beethoven", "Charles de Gaulle"]),
        ("The books of J. R. R. Tolkien and J.K. Rowling.", ["J. R. R. Tolkien", "J.K. Rowling"]),
        ("They saw Dr. Ada Quill at St. Louis.", ["Ada Quill", "St. Louis"]),
        ("Later the 2018 FIFA World Cup and 20th Century Fox.", ["2018 FIFA World Cup", "20th Century Fox"]),
        ("We use AT&T, Simon & Schuster and NASA.", ["AT&T", "Simon & Schuster", "NASA"]),
        ("He likes L'Oréal, d'Artagnan and Jean-Luc Picard.", ["L'Oréal", "d'Artagnan", "Jean-Luc Picard"]),
        ("She owns an iPhone and saw Apollo 11.", ["iPhone", "Apollo 11"]),
        ("We praise London's parks and James’s hat.", ["London", "James"]),
        ("It happened in March 1920, on Monday, 3 May 1950.", []),
        ("In 1990 Clinton came. The Hague was cold.", ["Clinton", "Hague"]),
        ('She sang "The Long Road Home" there.', ["The Long Road Home"]),
        ('He said "we will not go there again" and left.', []),
        ("the long line of this paragraph is wrapped in the middle of New\nYork and goes on.", ["New York"]),
    ],
)
def test_names_in_english(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Мы читали роман, который написал Лев Толстой.", ["Лев Толстой"]),
        ("Το βιβλίο του Νίκου Καζαντζάκη.", ["Νίκου Καζαντζάκη"]),
        ("Elle vit à Saint-Étienne avec Éric Rohmer.", ["Saint-Étienne", "Éric Rohmer"]),
        ("他毕业于北京大学，后来在《人民日报》和Google工作。", ["北京大学", "人民日报", "Google"]),
        ("艾伦·图灵是数学家。", ["艾伦·图灵"]),
        ("マイクロソフトは「ウィンドウズ」を発売した。", ["マイクロソフト", "ウィンドウズ"]),
        ("قرأ محمد «كتاب الأيام» أمس.", []),  # nothing tells a title from what is only said
        ("他说：“我们今天去散步”，在离开爱迪生的公司之后。", []),
        ("而约瑟夫·普利斯特里向议会提出。", ["约瑟夫·普利斯特里"]),
        ("今天天气很好，我们去散步。", []),
        ("يذهب الولد إلى المدرسة كل يوم.", []),
    ],
)
def test_names_in_other_languages(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize("text", ["", "   \n\t ", "12 345 6.7 2020", "… — !!! ??", "|---|---|\n| 1 | 2 |"])
def test_texts_that_name_nothing(text: str) -> None:
    assert extract(text).is_empty


def test_the_first_word_of_a_sentence_is_a_name_only_if_it_is_one_elsewhere() -> None:
    assert names("Water is wet. People drink it.") == []
    assert names("Water is wet. Marla drinks it. We know Marla.") == ["Marla"]


def test_capital_headings_and_shouting_are_not_names() -> None:
    assert names("ANNUAL REPORT OF THE BOARD\n\nwe did well.") == []
    assert names("INTRODUCTION\n\nthe UN met.") == ["UN"]
    assert names("DO NOT OPEN THIS DOOR NOW. It is locked.") == []


def test_lists_and_tables_do_not_glue_names() -> None:
    assert names("cities:\n- Paris\n- Rome\n- Oslo\nend, says Paris, of Rome and Oslo.") == ["Paris", "Rome", "Oslo"]
    assert "Ada Bell Norway" not in names("| we know Ada Bell | Norway |")


def test_a_sentence_ends_at_its_mark_and_not_at_an_abbreviation() -> None:
    text = "Mr. J. Smith met Dr. No at 5 p.m. in St. Ives. It rained! 他走了。她来了。 Why?"
    spans = [text[found.start : found.end] for found in sentences(text)]
    assert spans == ["Mr. J. Smith met Dr. No at 5 p.m. in St. Ives.", "It rained!", "他走了。", "她来了。", "Why?"]


def test_a_long_line_is_cut() -> None:
    assert max(found.end - found.start for found in sentences("word " * 5000)) <= LONGEST_SENTENCE


def test_title_forms() -> None:
    assert title_forms("The Cure (band)") == ("The Cure (band)", "The Cure", "Cure")
    assert title_forms("annual_report_2020") == title_forms("notes.txt") == title_forms("1984") == ()
    assert title_forms("(untitled)") == ("(untitled)",)


def test_the_title_is_an_entity_of_the_first_passage_and_where_it_is_mentioned() -> None:
    source = document("it began quietly. " * 3 + "so ended the battle of the bees, they say.", "battle of the bees")
    extractor = LocalExtractor()
    first = extractor.extract(passage(source, 0, 54), source, GENERAL)
    second = extractor.extract(passage(source, 54, None, index=1), source, GENERAL)
    third = extractor.extract(passage(source, 0, 18, index=2), source, GENERAL)
    assert [(entity.name, entity.quote) for entity in first.entities] == [("battle of the bees", None)]
    assert [(entity.name, entity.quote) for entity in second.entities] == [("battle of the bees", "battle of the bees")]
    assert third.entities == ()


def test_a_title_in_a_text_without_spaces() -> None:
    assert names("我们读了红楼梦的故事。", "红楼梦") == ["红楼梦"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dark Water is a 1999 film directed by Lena Holt.", ("Lena Holt", "directed", "Dark Water")),
        ("The opera Blue Rain was composed by Ivo Brand.", ("Ivo Brand", "composed", "Blue Rain")),
        ("We know that Lena Holt founded Holt Motors in 1950.", ("Lena Holt", "founded", "Holt Motors")),
        ("In 1970 Ada Quill was born in Lund.", ("Ada Quill", "born in", "Lund")),
        ("As told, Ada Quill, daughter of Bo Quill, left.", ("Bo Quill", "parent of", "Ada Quill")),
        ("We saw that Lund is a city in Sweden.", ("Lund", "located in", "Sweden")),
        ("They say Oslo is the capital of Norway.", ("Oslo", "capital of", "Norway")),
        ("Then Ada Quill married Max Reed.", ("Ada Quill", "married to", "Max Reed")),
    ],
)
def test_relations(text: str, expected: tuple[str, str, str]) -> None:
    assert expected in triples(text)


@pytest.mark.parametrize(
    "text",
    [
        "It stars Greer Garson, and was directed by Robert Leonard.",
        "He stood in the U.S. capital of Washington.",
        "We met Sun Qiang, the twin brother of Sun Quan's father.",
        "The play by Mankiewicz and Ada Quill, based on Dragonwyck.",
    ],
)
def test_relations_that_are_not_stated(text: str) -> None:
    assert triples(text) == []


def test_dates_and_descriptions() -> None:
    found = extract("Ada Quill (born 3 May 1950) is a Swedish chess player who lives in Lund.")
    assert {(value.entity, value.key, value.value) for value in found.attributes} == {
        ("Ada Quill", "born", "3 May 1950"),
        ("Ada Quill", "description", "Swedish chess player"),
    }
    life = extract("Ada Quill (3 May 1850 – 4 June 1900) was a Swedish queen.").attributes[:2]
    assert [(value.key, value.value) for value in life] == [("born", "3 May 1850"), ("died", "4 June 1900")]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Varland was the first northern country to print money.", []),
        ("Ada Quill was the only Varnian player to win it twice.", []),
        ("The Varn Herald is a Varnian business - focused, daily newspaper.", []),
        ("VSO 4217 is a standard first published in 1978.", ["standard"]),
        ("Ada Quill was the second president of Varland.", ["second president"]),
    ],
)
def test_a_description_is_whole_or_none(text: str, what: list[str]) -> None:
    assert [each.value for each in extract(text).attributes if each.key == "description"] == what


@pytest.mark.parametrize(
    "text",
    [
        "Ada Quill died in the Parisian suburb of Passy.",
        "Ada Quill was married to Spanish actress Nieves Stone.",
        "Ada Quill was the daughter of Jean- Baptiste Quill.",
    ],
)
def test_a_part_of_a_name_is_no_end_of_a_relation(text: str) -> None:
    assert not {"Parisian", "Spanish", "Jean", "Baptiste Quill"} & {name for each in triples(text) for name in each}


def test_a_space_after_the_bracket_costs_no_part_of_the_date() -> None:
    life = extract("Ada Quill( May 3, 1850 – June 4, 1900) was a Swedish queen.").attributes[:2]
    assert [(value.key, value.value) for value in life] == [("born", "May 3, 1850"), ("died", "June 4, 1900")]


@pytest.mark.parametrize(
    "text",
    [
        "The firm grew under its founder Ada Quill (1975–2000).",
        "Ada Quill (1975–2000) led the firm.",
        "Ada Quill (3 May 1990 – 4 June 1994) was the chancellor of Varland.",
        "The Varland Republic (1850–1900) was a state in the north.",
        "The Quill Brothers (1965–1980) were a rock band.",
        "Ada Quill (chair, 1975–2000) and Bo Stone (treasurer, 1980–1999) built the firm.",
        "Ada Quill (1975–2000) was the chief executive of Varn Steel.",
        "Ada Quill (22 November 2005 – 8 December 2021) was the chancellor of Varland.",
        "Ada Quill (1961–1971) was a prime minister of Varland.",
        "Ada Quill (1990–2014) was a midfielder for Lund United.",
        "Ada Quill (1887–1927) is a detective in the novels of Bo Stone.",
    ],
)
def test_a_range_of_years_that_is_no_life_gives_no_dates(text: str) -> None:
    assert [each for each in extract(text).attributes if each.key in ("born", "died")] == []


@pytest.mark.parametrize(
    "text",
    [
        "Ada Quill (1735–1826) was the second president of Varland.",
        "Ada Quill (1898–1936) was a Swedish film director.",
        "Ada Quill (1910–1942) was a Swedish painter.",
    ],
)
def test_who_held_an_office_or_died_young_had_a_life(text: str) -> None:
    assert [each.key for each in extract(text).attributes if each.key in ("born", "died")] == ["born", "died"]


def test_types_come_from_the_schema_and_from_no_other() -> None:
    text = "Ada Quill (born 3 May 1950) taught at Lund University near the Gota River in World War II."
    typed = {entity.name: entity.type for entity in extract(text).entities}
    assert typed["Ada Quill"] == "Person"
    assert (typed["Lund University"], typed["Gota River"], typed["World War II"]) == ("Organization", "Place", "Event")
    other = Schema.from_dict({"name": "other", "entities": ["location"]})
    assert {entity.type for entity in extract(text, schema=other).entities} == {None, "location"}


def test_kinds_by_form() -> None:
    assert kind_of_name("Battle of Hastings") == "Event"
    assert kind_of_name("George Washington University") == "Organization"
    assert kind_of_name("Sputnik") is None
    assert kind_of_name("") is None


def test_every_quote_is_in_the_passage() -> None:
    text = (
        'The "Blue Rain" was composed by Ivo Brand.\nIvo Brand (born 1901) is an American composer. '
        "He met Lena\nHolt in New York, at St. John's. 他在《人民日报》工作。 Лев Толстой в Москве."
    )
    found = extract(text, "Ivo Brand (composer)")
    quotes = [entity.quote for entity in found.entities if entity.quote]
    quotes += [item.quote for item in (*found.triples, *found.attributes, *found.facts) if item.quote]
    assert len(quotes) > 10
    assert all(quote in text for quote in quotes)


def test_a_fact_is_a_sentence_that_joins_two_names() -> None:
    facts = extract("It rained in Lund. Then Ada Quill met Max Reed in Lund, and Ada Quill left.").facts
    assert [fact.key_elements for fact in facts] == [("Ada Quill", "Max Reed", "Lund")]
    assert facts[0].quote == "Then Ada Quill met Max Reed in Lund, and Ada Quill left."


def test_recurring_terms_of_a_text_that_names_nothing() -> None:
    text = "the bone marrow makes cells. in the bone marrow there are cells. doctors test the bone marrow first. " * 2
    assert "bone marrow" in names(text)
    assert names("the bone marrow makes cells. we rest.") == []


def test_equal_input_gives_equal_output_from_many_threads() -> None:
    extractor = LocalExtractor()
    sources = [
        document(f"We know that Ada Quill founded Firm {number} in Lund.", f"Firm {number}")
        for number in range(3 * DOCUMENTS_KEPT)
    ]

    def run(source: Document) -> Extraction:
        return extractor.extract(passage(source), source, GENERAL)

    alone = [LocalExtractor().extract(passage(source), source, GENERAL) for source in sources]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, sources * 2)) == alone * 2
    assert extractor._reading.cache_info().currsize <= DOCUMENTS_KEPT


@pytest.mark.parametrize(
    "text",
    [
        "Ada Quill met Max Reed in Lund and " * 30_000,
        "A " * 500_000,
        "x" * 1_000_000,
        "(" * 200_000 + '"' * 200_000,
        "Aaa Bbb of the " * 70_000,
        "。" * 300_000,
        "\n" * 300_000 + "的" * 300_000,
    ],
    ids=["names", "letters", "one word", "brackets", "particles", "marks", "han"],
)
def test_a_megabyte_on_one_line_is_read_in_linear_time(text: str) -> None:
    found = extract(text)
    assert all(len(entity.name) <= LONGEST_SENTENCE for entity in found.entities)


# ------------------------------------------------------------------------------------------ what is no sentence, German


@pytest.mark.parametrize(
    "line",
    [
        "| Ada Quill | Bo Stone | Lund |",
        "Ada Quill\t1815\tBo Stone\t1850",
        "Chapter Two: Ada Quill and Bo Stone ........ 17",
        "if AdaQuill == BoStone: { return TrueValue; }",
        "export ADA_HOME=$HOME/Ada; export BO_HOME=$HOME/Bo",
    ],
)
def test_tables_code_and_contents_name_nothing(line: str) -> None:
    found = extract(line)
    assert (found.entities, found.facts, found.triples, found.attributes) == ((), (), (), ())


def test_a_sentence_with_a_few_symbols_is_one() -> None:
    assert names("Ada Quill and Bo Stone (see `Quill`) wrote it in Lund.")[:2] == ["Ada Quill", "Bo Stone"]


GERMAN = (
    "Die Datei wird im Verzeichnis gespeichert. Sie können den Befehl mit der Option aufrufen. Wenn Sie die Sprache "
    "ändern, startet der Rechner neu. Eine Liste der Pakete finden Sie in der Datei. Unter Linux heißt das Programm "
    "anders. Ada Quill wurde in Varburg geboren und lehrte an der Universität Varburg. Otto von Stein besuchte sie. "
    "Das HTTP-Protokoll ist in RFC 2616 beschrieben."
)


def test_a_date_after_a_name_is_no_part_of_it() -> None:
    assert names("Ada Quill died in Lund on March 28, 1950, and was buried at Varburg in May 1950.")[:2] == [
        "Ada Quill",
        "Lund",
    ]


def test_german_nouns_are_no_names() -> None:
    assert names(GERMAN) == ["Linux", "Ada Quill", "Universität Varburg", "Otto von Stein", "HTTP", "RFC 2616"]


def test_an_english_text_about_germans_is_english() -> None:
    assert "Varburg" in names("Ada Quill lived in Varburg, and so did Otto von Stein. In Varburg he was known to all.")
