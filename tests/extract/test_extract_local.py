"""The rule-based extractor on friendly, foreign and nasty texts: what is a name, where it ends, and what kind it is."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from kgplatform.extract.lexicon import kind_of_name
from kgplatform.extract.local import DOCUMENTS_KEPT, LocalExtractor, title_forms
from kgplatform.extract.schema import Schema, load_schema
from kgplatform.records import Document, Extraction, Passage

GENERAL = load_schema("general")
MANUAL = (
    "Run quillctl --start and edit /etc/quill/main.conf before you go on. The option --deep is set in ~/.quillrc, and "
    "quill_home names the folder that quillctl(8) reads. "
)
"""Enough paths and options for a text that is a manual."""
GERMAN_MANUAL = (
    "Die Datei /etc/quill/main.conf wird von quillctl(8) gelesen, und die Option --deep ist in ~/.quillrc gesetzt. "
    "Wenn Sie das Paket nicht nutzen, können Sie es mit quillctl --stop beenden. Eine Liste ist in der Datei. "
)
GERMAN = (
    "Die Firma wurde nach dem Krieg von Karsten Quellin gegründet, und Quellin leitete sie auch. Frau Stolz lobte die "
    "Arbeit der Quellin GmbH in Österreich. Sie nutzten den HTTP-Server und GitHub, aber keine Esslöffel Milch. Im "
    "Bereich Kosmetik ist die Universität Varn bekannt. Thomas Manns Roman wurde oft gelesen, denn Mann war ein Autor."
)


def document(text: str, title: str = "notes.txt", uri: str = "") -> Document:
    uri = uri or title
    return Document(title + text[:20], title, uri, uri, text, hashlib.sha256(text.encode()).hexdigest())


def passage(of: Document, start: int = 0, end: int | None = None, index: int = 0) -> Passage:
    stop = len(of.text) if end is None else end
    return Passage(f"{of.id}-{index}", of.id, of.title, index, start, stop, None, of.text[start:stop], 100)


def extract(text: str, title: str = "notes.txt", schema: Schema = GENERAL, uri: str = "") -> Extraction:
    """All of it, the text being one passage."""
    source = document(text, title, uri)
    return LocalExtractor().extract(passage(source), source, schema)


def names(text: str, title: str = "notes.txt") -> list[str]:
    return [entity.name for entity in extract(text, title).entities]


def kinds(text: str, title: str = "notes.txt") -> dict[str, str | None]:
    """Names with their types."""
    return {entity.name: entity.type for entity in extract(text, title).entities}


def triples(text: str, title: str = "notes.txt") -> list[tuple[str, str, str]]:
    return [(triple.subject, triple.predicate, triple.object) for triple in extract(text, title).triples]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Ludwig van Beethoven and Charles de Gaulle.", ["Ludwig van Beethoven", "Charles de Gaulle"]),
        ("The books of J. R. R. Tolkien and J.K. Rowling.", ["J. R. R. Tolkien", "J.K. Rowling"]),
        ("We use AT&T, Simon & Schuster and NASA.", ["AT&T", "Simon & Schuster", "NASA"]),
        ("He likes L'Oréal, d'Artagnan and Jean-Luc Picard.", ["L'Oréal", "d'Artagnan", "Jean-Luc Picard"]),
        ("It happened in March 1920, on Monday, 3 May 1950.", []),
        ("In 1990 Clinton came. The Hague was cold.", ["Clinton", "Hague"]),
        ("the long line of this paragraph is wrapped in the middle of New\nYork and goes on.", ["New York"]),
        ("They heard of Odo, Duke of Varn, and of Bolo the Great.", ["Odo, Duke of Varn", "Bolo the Great"]),
        ("They sold Quellin++ and C++ to us.", ["Quellin", "C++"]),
    ],
)
def test_names_in_english(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Мы читали роман, который написал Лев Толстой.", {"Лев Толстой"}),
        ("Το βιβλίο του Νίκου Καζαντζάκη.", {"Νίκου Καζαντζάκη"}),
        ("他毕业于北京大学，后来在《人民日报》和Google工作。", {"北京大学", "人民日报", "Google"}),
        ("マイクロソフトは「ウィンドウズ」を発売した。", {"マイクロソフト", "ウィンドウズ"}),
        ("قرأ محمد «كتاب الأيام» أمس.", set()),  # nothing tells a title from what is only said
        ("他说：“我们今天去散步”，在离开爱迪生的公司之后。", set()),
        (
            "Au XIXe siècle, le roi d'Allemagne a quitté l’Espagne pour aller dans le nord. L'Italie est loin.",
            {"Allemagne", "Espagne", "Italie"},
        ),
        (
            "Через Тайн в это время не было моста. Закон Великобритании 1981 года и не был забыт. К 1956 году всё.",
            {"Тайн", "Закон Великобритании"},
        ),
        ('그는 "21세기 법의 대표적인 사례로 기억될 것"이라고 말했다.', set()),
    ],
)
def test_names_in_other_languages(text: str, expected: set[str]) -> None:
    assert set(names(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "|---|---|\n| 1 | 2 |",
        "Chapter Two: Ada Quill and Bo Stone ........ 17",
        "if AdaQuill == BoStone: { return TrueValue; }",
    ],
)
def test_tables_code_and_contents_name_nothing(text: str) -> None:
    assert extract(text).is_empty


@pytest.mark.parametrize(
    "text",
    [
        "He was a Swedish chemist and she was an American one.",
        "See Chapter 7 and Table A for this, and Figure 3 too.",
        "Should We Use the Blue Wallet\n\nit was late then.",
        "They spoke of the Summer and left.",
    ],
)
def test_adjectives_parts_of_texts_headings_and_ordinary_words_are_no_names(text: str) -> None:
    assert names(text) == []


def test_what_else_the_document_says_decides() -> None:
    assert names("Water is wet. People drink it.") == [], "the first word of a sentence"
    assert names("Water is wet. Marla drinks it. We know Marla.") == ["Marla"]
    assert "Summer" in names("They spoke of Summer and left. They said that Summer was there, and so was Bo Stone.")
    assert names("INTRODUCTION\n\nthe UN met.") == ["UN"]


def test_lists_and_tables_do_not_glue_names() -> None:
    assert names("cities:\n- Paris\n- Rome\n- Oslo\nend, says Paris, of Rome and Oslo.") == ["Paris", "Rome", "Oslo"]
    assert "Ada Bell Norway" not in names("| we know Ada Bell | Norway |")


def test_recurring_terms_of_a_text_that_names_nothing() -> None:
    text = "the bone marrow makes cells. in the bone marrow there are cells. doctors test the bone marrow first. " * 2
    assert "bone marrow" in names(text)
    assert names("the bone marrow makes cells. we rest.") == []


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
    assert names("我们读了红楼梦的故事。", "红楼梦") == ["红楼梦"]


def of_a_file(text: str, title: str, suffix: str) -> set[str]:
    """The names in a file that is called after its title."""
    found = extract(text, title, uri=f"file:///texts/{quote(title)}{suffix}")
    return {entity.name for entity in found.entities}


@pytest.mark.parametrize("title", ["report", "Annual Report 2020", "scan0001"])
def test_what_only_a_file_is_called_is_no_name(title: str) -> None:
    text = "Ada Quill wrote the report in Lund. It is in the Budget Plan.xlsx and in README.md, too."
    assert of_a_file(text, title, ".pdf") == {"Ada Quill", "Lund"}


def test_a_file_may_have_a_name() -> None:
    text = "Ada Quill wrote in Lund that Apollo 11 flew."
    for title in ("Cyrus Field", "berlin", "鲁迅", "Apollo 11"):
        assert title in of_a_file(text, title, ".md")
    found = extract(text, "Annual Report 2020", uri="file:///texts/0.jsonl#0").entities
    assert "Annual Report 2020" in {entity.name for entity in found}, "whoever gives a title means it"


def test_headlines_are_no_names() -> None:
    assert kinds("it was late then.", "How They Will Pay for It All | The Varn Post") == {}
    assert names("it was late then.", "Separation of quills and state in Varland") == [
        "Separation of quills and state in Varland"
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("Lucien Quill", "Person"), ("Prince Odo of Varland", "Person"), ("Quill Motors", "Organization")),
        *(("Olympic Games", "Event"), ("PostgreSQL 12", "Product"), ("RFC 2411", "Work"), ("ROM", None)),
    ],
)
def test_the_form_of_a_name_tells_its_kind(name: str, kind: str | None) -> None:
    assert kind_of_name(name) == kind


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("They asked the physicist Varo Quellin about it.", "Varo Quellin", "Person"),
        ("We met Quellin. Later Quellin recalled that it rained.", "Quellin", "Person"),
        ("We met Quellin. Later Quellin recalled its old model.", "Quellin", None),
        ("It was made by Quellin, a Swedish company, in a year.", "Quellin", "Organization"),
        ("They joined the Varn Quill Association (VQA) and paid for it.", "VQA", "Organization"),
        ("He lives in the village of Ostervarn near the sea.", "Ostervarn", "Place"),
        ('She wrote "The Long Road Home" in a year.', "The Long Road Home", "Work"),
        ('It is a plant in the family "Quellinaceae" and nothing else.', "Quellinaceae", None),
        ("He used the Quellin programming language for it.", "Quellin", "Language"),
    ],
)
def test_the_words_around_a_name_tell_its_kind(text: str, name: str, kind: str | None) -> None:
    assert kinds(text)[name] == kind


def test_the_title_says_in_brackets_what_it_is() -> None:
    assert kinds("it was made in a year.", "Quellin (film)")["Quellin"] == "Work"


@pytest.mark.parametrize("text", ['"Very good, Bartleby," said the man.', 'She said "When I was old I got bad" to us.'])
def test_speech_is_no_work(text: str) -> None:
    assert "Work" not in kinds(text).values()


def test_types_come_from_the_schema_and_from_no_other() -> None:
    text = "Ada Quill (born 3 May 1950) taught at Lund University near the Gota River in World War II."
    typed = kinds(text)
    assert typed["Ada Quill"] == "Person"
    assert (typed["Lund University"], typed["Gota River"], typed["World War II"]) == ("Organization", "Place", "Event")
    other = Schema.from_dict({"name": "other", "entities": ["location"]})
    assert {entity.type for entity in extract(text, schema=other).entities} == {None, "location"}


@pytest.mark.parametrize(
    ("line", "left_out"),
    [
        ("$ ls Desktop Downloads Pictures Templates Videos", "Desktop Downloads Pictures Templates Videos"),
        ('{"Name": "Ada", "Gender": "Female", "Mood": "Happy"}', "Happy"),
        ("Then open the Summary Window from the View Menu of the program.", "Summary Window"),
        ("- Quillian Count: how many times the filter is run on the picture.", "Quillian Count"),
        ("ログインのときに「パスワード」を使います。", "パスワード"),
    ],
)
def test_what_a_manual_writes_with_a_capital(line: str, left_out: str) -> None:
    assert left_out not in kinds(MANUAL + line)


def test_a_page_of_commands_is_a_manual_and_a_heading_of_ordinary_words_names_none() -> None:
    assert "Legal Notice" not in kinds(MANUAL + "You must read the Legal Notice of this program.", "Legal Notice")
    text = "To make one, use CREATE TABLE or SELECT INTO. To remove one, DROP TABLE it, or DELETE it with WHERE. "
    assert kinds(text + "Then the VOLE clause is read.")["VOLE"] == "Concept"


def test_an_opening_word_goes_only_if_it_is_ordinary() -> None:
    found = kinds(MANUAL + "- Remember Varn Quellin when you go on.\n- Alfa Varn Quellin goes on without you.")
    assert {"Varn Quellin", "Alfa Varn Quellin"} <= set(found)


@pytest.mark.parametrize(
    ("line", "name", "kind"),
    [
        ("The daemon speaks QTTP over the wire, as the QTTP protocol says.", "QTTP", "Concept"),
        ("The FlyQuill product is read at the start of the program.", "FlyQuill", None),
        ("A patch by Varo Quellin made it work at last.", "Varo Quellin", "Person"),
    ],
)
def test_kinds_in_a_manual(line: str, name: str, kind: str | None) -> None:
    assert kinds(MANUAL + line)[name] == kind


def test_terms_of_a_manual_stand_behind_an_article_and_are_no_possessives_and_no_clauses() -> None:
    text = "the pack file is read first. then the pack file is cut, and a pack file is kept. quill push origin. " * 2
    found = kinds(MANUAL + text)
    assert found["pack file"] == "Concept"
    assert not [name for name in found if "origin" in name]
    line = "the pack's owner is the one. this pack orders the keys. the right side of the pack. a pack file is kept. "
    found = kinds(MANUAL + 5 * line + 3 * "the pack file::order of it. the pack orders a key. ")
    assert "pack file" in found
    assert not {"pack's owner", "pack orders", "right side"} & set(found)


def test_german_names_show_by_themselves() -> None:
    assert kinds(GERMAN) == {
        **{"Karsten Quellin": "Person", "Quellin": "Person", "Stolz": "Person", "Quellin GmbH": "Organization"},
        **{"Österreich": "Place", "HTTP": "Concept", "GitHub": "Product", "Universität Varn": "Organization"},
        **{"Thomas Mann": "Person", "Mann": "Person"},
    }


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Wir nutzen UTF-8 und PA\u2011RISC und den HTTP-Server.", ["UTF-8", "PA\u2011RISC", "HTTP"]),
        ("Die Steuer und das Konto stehen bei SteuerKonto und bei OpenQuill.", ["OpenQuill"]),
        ("Wir waren in Essen und in Halle.", ["Essen", "Halle"]),
        ("Ada Quill wurde in Varburg geboren, und Otto von Stein besuchte sie.", ["Ada Quill", "Otto von Stein"]),
    ],
)
def test_german_nouns_are_no_names(line: str, expected: list[str]) -> None:
    assert names(GERMAN_MANUAL + line) == expected


def test_german_headings_titles_and_acronyms() -> None:
    heading = (
        "Interne Prüfungen sind wichtig, und so werden die Interne Prüfungen nicht nur von uns durch das Amt gemacht."
    )
    assert "Interne Prüfungen" not in kinds(f"{heading} {GERMAN}", "Interne Prüfungen")
    noun = "Kontenrahmen ist ein Begriff. Der Kontenrahmen wird von der Datei gelesen."
    assert "Kontenrahmen" not in kinds(GERMAN_MANUAL + noun, "Kontenrahmen")
    found = kinds(GERMAN_MANUAL + "Das QTTP-Protokoll ist alt. Die QNB ist eine andere.")
    assert (found["QTTP"], found["QNB"]) == ("Concept", None)


def test_an_english_text_about_germans_is_english() -> None:
    assert "Varburg" in names("Ada Quill lived in Varburg, and so did Otto von Stein. In Varburg he was known to all.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dark Water is a 1999 film directed by Lena Holt.", ("Lena Holt", "directed", "Dark Water")),
        ("We know that Lena Holt founded Holt Motors in 1950.", ("Lena Holt", "founded", "Holt Motors")),
        ("As told, Ada Quill, daughter of Bo Quill, left.", ("Bo Quill", "parent of", "Ada Quill")),
        ("We saw that Lund is a city in Sweden.", ("Lund", "located in", "Sweden")),
        ("Then Ada Quill married Max Reed.", ("Ada Quill", "married to", "Max Reed")),
    ],
)
def test_relations(text: str, expected: tuple[str, str, str]) -> None:
    assert expected in triples(text)


@pytest.mark.parametrize(
    "text",
    [
        "It stars Greer Garson, and was directed by Robert Leonard.",
        "As told, Ada Quill, countess of Varn, daughter of Bo Quill, left.",
        "The film was produced by Bo Stone, directed by Ada Quill, and shown.",
        "Quill Air is part of Stone Air's plan, and of Quill Airways' two brands.",
        "Ada Quill died in Anno Hegirae 110 in the end.",
    ],
)
def test_relations_that_are_not_stated(text: str) -> None:
    assert triples(text) == []


@pytest.mark.parametrize(
    "text",
    ["Ada Quill died in the Parisian suburb of Passy.", "Ada Quill was married to Spanish actress Nieves Stone."],
)
def test_a_part_of_a_name_is_no_end_of_a_relation(text: str) -> None:
    assert not {"Parisian", "Spanish"} & {name for each in triples(text) for name in each}


def test_dates_and_descriptions() -> None:
    found = extract("Ada Quill (born 3 May 1950) is a Swedish chess player who lives in Lund.")
    assert {(value.entity, value.key, value.value) for value in found.attributes} == {
        ("Ada Quill", "born", "3 May 1950"),
        ("Ada Quill", "description", "Swedish chess player"),
    }
    life = extract("Ada Quill( May 3, 1850 – June 4, 1900) was a Swedish queen.").attributes[:2]
    assert [(value.key, value.value) for value in life] == [("born", "May 3, 1850"), ("died", "June 4, 1900")]
    assert extract("They went on when the painter Ada Quill died in 1933.").attributes[0].value == "1933"
    buried = "Ada Quill died in Lund on March 28, 1950, and was buried at Varburg in May 1950."
    assert names(buried)[:2] == ["Ada Quill", "Lund"], "a date after a name is no part of it"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("VSO 4217 is a standard first published in 1978.", ["standard"]),
        ("Ada Quill was the second president of Varland.", ["second president"]),
    ],
)
def test_a_description_is_whole_or_none(text: str, what: list[str]) -> None:
    assert [each.value for each in extract(text).attributes if each.key == "description"] == what


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Ada Quill (1735–1826) was the second president of Varland.", ["born", "died"]),
        ("The firm grew under its founder Ada Quill (1975–2000).", []),
        ("The Quill Brothers (1965–1980) were a rock band.", []),
        ("Ada Quill (1887–1927) is a detective in the novels of Bo Stone.", []),
        ("In 1862 many were left, and the last full-blooded Varnian died in 1933.", []),
    ],
)
def test_a_range_of_years_that_is_no_life_gives_no_dates(text: str, keys: list[str]) -> None:
    assert [each.key for each in extract(text).attributes if each.key in ("born", "died")] == keys


def test_a_place_has_no_life() -> None:
    found = extract("Prince Odo of Varland and Denmark (born 12 August 2000) is a prince of the house.")
    assert "Denmark" not in {each.entity for each in found.attributes if each.key == "born"}


def test_a_fact_is_a_sentence_that_joins_two_names_or_a_name_and_a_people() -> None:
    facts = extract("It rained in Lund. Then Ada Quill met Max Reed in Lund, and Ada Quill left.").facts
    assert [fact.key_elements for fact in facts] == [("Ada Quill", "Max Reed", "Lund")]
    assert facts[0].quote == "Then Ada Quill met Max Reed in Lund, and Ada Quill left."
    facts = extract("It is known that Ada Quill was a Swedish chemist. It rained on Ada Quill.").facts
    assert [fact.key_elements for fact in facts] == [("Ada Quill",)]


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
