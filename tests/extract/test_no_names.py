"""Classes of error in samples of manuals and of reports: what is no name, where one is cut, what kind it is."""

from __future__ import annotations

import pytest
from local_extraction import MANUAL, extract, kinds

from kgplatform.extract.lexicon import is_common, kind_of_name

GERMAN_MANUAL = (
    "Die Datei /etc/quill/main.conf wird von quillctl(8) gelesen, und die Option --deep ist in ~/.quillrc gesetzt. "
    "Wenn Sie das Paket nicht nutzen, können Sie es mit quillctl --stop beenden. Eine Liste ist in der Datei. "
)


def test_ordinary_words() -> None:
    assert all(map(is_common, ("window", "Queries", "Boxes", "step-by-step", "without")))
    assert not any(map(is_common, ("Quillian", "Linux", "Lund", "SQL-standard", "glass-")))


# ------------------------------------------------------------------------------------------------------------- manuals


@pytest.mark.parametrize(
    ("line", "left_out"),
    [
        ("Then open the Summary Window from the View Menu of the program.", "Summary Window"),
        ("In the list choose Total Assets and go on with the next one.", "Total Assets"),
        ("Press the key, and the Quill Rebate dialog is shown to you at once.", "Quill Rebate"),
        ("The Varnish Web browser shows it, and so does every other one.", "Varnish Web"),
        ("- Quillian Count: how many times the filter is run on the picture.", "Quillian Count"),
        ("It is set to Left, and the Bottom is where the next Bottom begins.", "Bottom"),
        ("We show in Section E. what it does, and in Capitolo 11 too.", "Section E."),
        ("See Running Quill Hosts for all that you have to do then.", "Running Quill Hosts"),
        ("Use the WHERE-clause and the SQL-specific form of it here.", "WHERE-clause"),
        ("The code is PA for the town and MI for the minute of the hour.", "PA"),
        ("ログインのときに「パスワード」を使います。", "パスワード"),
    ],
)
def test_what_a_manual_names_with_ordinary_words(line: str, left_out: str) -> None:
    assert left_out not in kinds(MANUAL + line)


def test_a_heading_of_ordinary_words_names_no_manual() -> None:
    assert "Legal Notice" not in kinds(MANUAL + "You must read the Legal Notice of this program.", "Legal Notice")


def test_a_page_of_commands_is_a_manual() -> None:
    text = "To make one, use CREATE TABLE or SELECT INTO. To remove one, DROP TABLE it, or DELETE it with WHERE. "
    assert kinds(text + "Then the VOLE clause is read.")["VOLE"] == "Concept"


def test_an_opening_word_goes_only_if_it_is_ordinary() -> None:
    found = kinds(MANUAL + "- Remember Varn Quellin when you go on.\n- Alfa Varn Quellin goes on without you.")
    assert {"Varn Quellin", "Alfa Varn Quellin"} <= set(found)


def test_known_names_stand_in_a_manual_once() -> None:
    assert kinds(MANUAL + "The next server is in Norway and runs there.")["Norway"] == "Place"


@pytest.mark.parametrize(
    ("line", "name", "kind"),
    [
        ("The NodeTreeDepth is read at the start of the program.", "NodeTreeDepth", "Concept"),
        ("The TreeDepth option is read at the start of the program.", "TreeDepth", "Concept"),
        ("The FlyQuill product is read at the start of the program.", "FlyQuill", None),
        ("You may then DROP ROLE if you want it to be so.", "DROP ROLE", "Concept"),
        ("A patch by Varo Quellin made it work at last.", "Varo Quellin", "Person"),
        ("The project thanks Varo Quellin for the report of it.", "Varo Quellin", "Person"),
        ("The start is now faster on some machines (Varo Quellin).", "Varo Quellin", "Person"),
    ],
)
def test_kinds_in_a_manual(line: str, name: str, kind: str | None) -> None:
    assert kinds(MANUAL + line)[name] == kind


def test_terms_are_no_possessives_and_no_clauses() -> None:
    line = "the pack's owner is the one. this pack orders the keys. the right side of the pack. a pack file is kept. "
    found = kinds(MANUAL + 5 * line + 3 * "the pack file::order of it. the pack orders a key. ")
    assert "pack file" in found
    assert not {"pack's owner", "pack orders", "right side"} & set(found)


# ------------------------------------------------------------------------------------------------------------- reports


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("They sold Quellin++ and C++ to us.", ["Quellin", "C++"]),
        ("We saw the Computer Science and Varnish Arts Lab of it.", ["Varnish Arts Lab"]),
        ("They went to the Varn–Quellin Agreement in a day.", []),
        ("They went to the New Zealand–Quellin Agreement in a day.", ["New Zealand"]),
        ("It was a Very Important Person that we met there.", []),
        ("It is said so in the paper [Qui14] and in no other.", []),
        ("The influence of France on New Zealand was not great.", ["France", "New Zealand"]),
        ("They speak of the attack on Pearl Harbor to this day.", ["Pearl Harbor"]),
        ("They spoke to the CEO of Quellin Motors about it.", ["Quellin Motors"]),
        ("Enter Ada B. Quellin, who knew it all along.", ["Ada B. Quellin"]),
        ("They met Prime Minister Ada Quellin and left.", ["Ada Quellin"]),
        ("He won it at Varn State 16–14 in the end.", ["Varn State"]),
        ("We honour Women's History Month with them.", []),
        ("We have Debian GNU/Linux on all of them.", ["Debian", "GNU", "Linux"]),
        ("They use a Quellin::Pump of the Varn Quellin::Pump kind.", ["Varn"]),
        ("They turned it by Varn 96° and by no more.", ["Varn"]),
        ("They ran it at last on Quellin OS X.", ["Quellin OS X"]),
        ("You will get nothing CLOSE to what you paid for.", []),
    ],
)
def test_where_names_are_cut_and_what_is_none(text: str, names: list[str]) -> None:
    found = list(kinds("We know Varn. They know Varn. " + text if "Varn" in text.split() else text))
    assert [name for name in found if name != "Varn" or "Varn" in names] == names


def test_an_adjective_of_a_name_of_the_document() -> None:
    assert list(kinds("We went to Anesidora, and the Anesidoran council met us in Anesidora.")) == ["Anesidora"]


def test_one_capital_does_not_make_an_ordinary_word_a_name() -> None:
    assert kinds("They spoke of the Summer and left.") == {}
    assert "Summer" in kinds("They spoke of Summer and left. They said that Summer was there, and so was Bo Stone.")


@pytest.mark.parametrize(
    "text",
    ['"Very good, Bartleby," said the man.', '"What a day!" he cried.', 'She said "When I was old I got bad" to us.'],
)
def test_speech_is_no_work(text: str) -> None:
    assert "Work" not in kinds(text).values()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Tom Lane", "Person"),
        ("RFC 2411", "Work"),
        ("PostgreSQL 12", "Product"),
        ("GRUB2", "Product"),
        ("Varnish Games", None),
        ("Olympic Games", "Event"),
        ("Varn Hall of Fame", None),
        ("U.S. House", "Organization"),
    ],
)
def test_kinds_by_form(name: str, kind: str | None) -> None:
    assert kind_of_name(name) == kind


def test_what_is_in_capitals_is_nobody() -> None:
    found = kinds("NASA Administrator Ada Quellin said so, and NASA told us. As one VQO told us, it is late.")
    assert (found["NASA"], found["VQO"]) == ("Organization", None)


def test_a_kind_of_taxon_is_no_work() -> None:
    assert kinds('It is a plant in the family "Quellinaceae" and nothing else.')["Quellinaceae"] is None


# --------------------------------------------------------------------------------------------------- relations, dates


@pytest.mark.parametrize(
    "text",
    [
        "A holiday Varn Channel Movie starring Ada Quill as the queen.",
        "Ada Quill is a series based on the Varn Comics heroes of old.",
        "The seats of the House of Varn were based on the Ninth Count.",
        "The film was produced by Bo Stone, directed by Ada Quill, and shown.",
        "Quill Air is part of Stone Air's plan, and of Quill Airways' two brands.",
        "They know that Ada Quill attended Sundance that year.",
        "Bo Stone appeared in the Liberty Bowl that year.",
        "Quill Motors developed the Nintendo DS version of it.",
        "Ada Quill died in Anno Hegirae 110 in the end.",
    ],
)
def test_what_is_of_a_kind_is_no_end_of_a_relation(text: str) -> None:
    assert extract(text).triples == ()


def test_the_last_of_a_people_is_nobodys_death() -> None:
    assert extract("In 1862 many were left, and the last full-blooded Varnian died in 1933.").attributes == ()
    assert extract("They went on when the painter Ada Quill died in 1933.").attributes[0].value == "1933"


# -------------------------------------------------------------------------------------------------------------- German


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Wir nutzen UTF-8 und PA\u2011RISC und den HTTP-Server.", ["UTF-8", "PA\u2011RISC", "HTTP"]),
        ("Die Steuer und das Konto stehen bei SteuerKonto und bei OpenQuill.", ["OpenQuill"]),
        ("Der Kurs steht bei SW und VI und bei QNB, z.B. am Tag.", ["QNB"]),
        ("Das Essen war gut, und die Halle war voll.", []),
        ("Wir waren in Essen und in Halle.", ["Essen", "Halle"]),
        ("Die BANK nahm es, denn eine Bank nimmt es.", []),
        ("Im Fenster Bill Search ist mehr zu sehen.", []),
        ("Sie stehen in .LCK und in der Datei.", []),
        ("Per Kreditkarte geht es, und Who can do it, auch.", []),
    ],
)
def test_german_manuals(line: str, names: list[str]) -> None:
    assert list(kinds(GERMAN_MANUAL + line)) == names


def test_an_acronym_of_a_german_manual_is_a_concept_only_before_a_noun() -> None:
    found = kinds(GERMAN_MANUAL + "Das QTTP-Protokoll ist alt. Die QNB ist eine andere.")
    assert (found["QTTP"], found["QNB"]) == ("Concept", None)


def test_a_german_noun_with_an_article_is_no_title() -> None:
    text = GERMAN_MANUAL + "Kontenrahmen ist ein Begriff. Der Kontenrahmen wird von der Datei gelesen."
    assert "Kontenrahmen" not in kinds(text, "Kontenrahmen")
