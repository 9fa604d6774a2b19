"""Names out of texts: which mentions are found, who is one with whom, what becomes of a folder, and what is printed."""

import json
import os
import re
import stat
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, KgError
from kgplatform.evaluate.anonymise import AnonymityReport, anonymise
from kgplatform.evaluate.hidden_names import (
    Candidate,
    Dictionary,
    Entity,
    Finder,
    SourceNames,
    graph_names,
    names_from_file,
    number_entities,
    resolve,
    with_edits,
)
from kgplatform.interfaces.cli.main import app
from kgplatform.interfaces.cli.shared import spelled

A, B, C = "[PERSON#1]", "[PERSON#2]", "[LOCATION#3]"
FORMS = {"Captain Ahab": A, "Ahab": A, "New York City": C, "New York": B, "York City Hall": A}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ahab’s leg, Ahab-like, (Ahab), “Ahab”.", f"{A}’s leg, {A}-like, ({A}), “{A}”."),
        ("THE VOYAGE OF CAPTAIN AHAB", f"THE VOYAGE OF {A}"),
        ("an ahab of a man; Ahabs; Bahab; Ahab2; _Ahab_", f"an ahab of a man; Ahabs; Bahab; Ahab2; _{A}_"),
        ("Captain\nAhab, Captain \r\n  Ahab, Captain\u00a0Ahab", f"{A}, {A}, {A}"),
        ("He was a captain.\n\nAhab came.", f"He was a captain.\n\n{A} came."),
        ("Captain\n\nAhab", f"Captain\n\n{A}"),
        ("in New York City Hall", f"in New {A}"),  # the longest of what overlaps: 14 letters against 13
        ("New York City and New York", f"{C} and {B}"),
    ],
)
def test_mentions(text: str, expected: str) -> None:
    assert Finder(FORMS).replaced(text) == expected


def test_unicode() -> None:
    finder = Finder(
        {"René Müller": A, "史进": B, "d'Artagnan": C, "Straße": "[LOCATION#4]", "Mrs. Garth": "[PERSON#5]"}
    )
    assert finder.replaced("Rene\u0301 Mu\u0308ller, RENÉ MÜLLER") == f"{A}, {A}"
    assert finder.replaced("Rene\u0301 Mu\u0308ller\u0301") == "Rene\u0301 Mu\u0308ller\u0301"  # another letter
    assert finder.replaced("从史进拜师到最终") == f"从{B}拜师到最终"
    assert finder.replaced("D’Artagnan and d'Artagnan") == f"{C} and {C}"
    assert finder.replaced("STRASSE, Straße") == "[LOCATION#4], [LOCATION#4]"
    assert finder.replaced("Mrs Garth and Mrs. Garth.") == "[PERSON#5] and [PERSON#5]."


def test_a_common_word_is_a_name_only_with_its_capital() -> None:
    finder = Finder({"Field": A}, plain_words=["Field"])
    assert finder.replaced("Field crossed a field: FIELD REPORT") == f"{A} crossed a field: FIELD REPORT"
    assert Finder({"Field": A}).replaced("FIELD") == A


def person(name: str, *aliases: str) -> Candidate:
    return Candidate("PERSON", name, aliases, is_person=True)


def untyped(name: str, *aliases: str) -> Candidate:
    return Candidate("", name, aliases)


def entities(*candidates: Candidate, like: Sequence[tuple[str, str]] = ()) -> dict[str, Entity]:
    return {each.name: each for each in resolve(candidates, like)[0]}


def test_aliases_are_one_entity_also_where_one_is_a_name_of_its_own() -> None:
    found = entities(person("Captain Ahab"), person("Ahab", "the old man"), person("Queequeg"))
    assert set(found) == {"Captain Ahab", "Queequeg"}
    assert found["Captain Ahab"].forms == ("Ahab", "Captain Ahab", "the old man")
    kelvin = entities(person("Lord Kelvin", "William Thomson"), person("William Thomson"))["Lord Kelvin"]
    assert kelvin.forms == ("Lord Kelvin", "William Thomson")
    shared = entities(person("Ahab", "the captain"), person("Peleg", "the captain"))
    assert shared["the captain"].may_be == ("Ahab", "Peleg")
    assert shared["Ahab"].forms == ("Ahab",)


def test_a_shorter_name_is_the_fuller_one() -> None:
    found = entities(person("Charles Tilston Bright"), person("Charles Bright"), person("Bright"), untyped("Tilston"))
    assert found["Charles Tilston Bright"].forms == ("Bright", "Charles Bright", "Charles Tilston Bright", "Tilston")
    places = entities(Candidate("LOCATION", "York"), Candidate("LOCATION", "New York"))
    assert set(places) == {"York", "New York"}  # the graph does not say so, and only persons are called by half a name
    assert places["York"].may_be == ()


def test_what_may_mean_several_has_a_placeholder_of_its_own() -> None:
    for bright in (person("Bright"), untyped("Bright")):
        found = entities(person("Charles Bright"), person("Edward Bright"), bright)
        assert found["Bright"].may_be == ("Charles Bright", "Edward Bright")
        assert "Bright" not in found["Charles Bright"].forms
    chosen = entities(person("Charles Bright", "Bright"), person("Edward Bright"))
    assert set(chosen) == {"Charles Bright", "Edward Bright"}
    assert "Bright" in chosen["Charles Bright"].forms


def test_what_belongs_to_the_sentence_is_no_part_of_a_name() -> None:
    found = entities(person("Miss Marlow!"), person("Miss Marlow"), person("James Marlow"), person("Marlow"))
    assert set(found) == {"Miss Marlow", "James Marlow", "Marlow"}
    assert found["Marlow"].may_be == ("James Marlow", "Miss Marlow")


def test_what_has_no_type() -> None:
    """A name without a type is hidden where it belongs to one that is; else it is told, and so is a common word."""
    people = [person("Cyrus Field"), untyped("Field"), untyped("Field Marshal"), untyped("The Whale")]
    found, left = resolve(people)
    assert [each.forms for each in found] == [("Cyrus Field", "Field")]
    assert left == {"Field Marshal": 1, "The Whale": 1}
    found, left = resolve(people, [], {"field"})
    assert [each.forms for each in found] == [("Cyrus Field",)]
    assert set(left) == {"Field", "Field Marshal", "The Whale"}
    dictionary = Dictionary.of(SourceNames(tuple(people)), ["Field and Field and Field Marshal"])
    assert set(dictionary.untyped) == {"The Whale"}  # of the other something is hidden
    assert dictionary.finder.placeholder_of("Field")
    common = Dictionary.of(SourceNames((person("Cyrus Field", "Field"),)), ["A field. Field."])
    assert not common.finder.mentions("FIELD")  # a common word too: not looked for in capitals


def test_likenesses_of_a_graph() -> None:
    places = [Candidate("LOCATION", name) for name in ("Valentia Island", "Valentia", "Kraków", "Krakow")]
    found = entities(*places, like=[("Valentia Island", "Valentia"), ("Kraków", "Krakow")])
    assert sorted(each.forms for each in found.values()) == [("Krakow", "Kraków"), ("Valentia", "Valentia Island")]
    islands = [Candidate("LOCATION", name) for name in ("Bell", "Bell Rock", "Bell Island")]
    kept = entities(*islands, like=[("Bell", "Bell Rock"), ("Bell", "Bell Island")])
    assert kept["Bell"].may_be == ("Bell Island", "Bell Rock")
    other = entities(person("Kraków"), Candidate("LOCATION", "Krakow"), like=[("Kraków", "Krakow")])
    assert set(other) == {"Kraków", "Krakow"}


def test_numbers_are_stable_and_tell_nothing() -> None:
    names = [("PERSON", f"Name {n:02}") for n in range(40)]
    numbers = number_entities(names, {7})
    assert numbers == number_entities(reversed(names), {7})
    assert sorted(int(each[8:-1]) for each in numbers.values()) == [n for n in range(1, 42) if n != 7]
    in_order = [int(numbers[each][8:-1]) for each in names]
    assert in_order != sorted(in_order)


def test_names_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "names.jsonl"
    file.write_text(
        '{"name": "Ahab", "type": "Character", "aliases": ["the captain"]}\n\n{"name": "X", "type": "Ship"}'
    )
    ahab, ship = names_from_file(file)
    assert (ahab.label, ahab.aliases, ahab.is_person) == ("CHARACTER", ("the captain",), True)
    assert (ship.label, ship.is_person) == ("SHIP", False)
    for wrong in ('{"name": "Ahab"}', "Ahab", '{"name": "…", "type": "X"}'):
        file.write_text('{"name": "A", "type": "B"}\n' + wrong)
        with pytest.raises(InputError, match="names.jsonl, line 2: (?:expected|not valid JSON)"):
            names_from_file(file)
    file.write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        names_from_file(file)
    file.write_bytes(b'{"name": "Ren\xe9", "type": "B"}')
    with pytest.raises(InputError, match="line 1: its text is not UTF-8"):
        names_from_file(file)
    with pytest.raises(InputError, match="cannot be read: no such file"):
        names_from_file(tmp_path / "none")


def test_names_of_the_graph(kg: KnowledgeGraph, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="The graph is empty"):
        graph_names(kg)
    (tmp_path / "ada.txt").write_text(
        "Ada Lovelace, known as Ada King, knew Lady Lovelace. Lovelace was born in London."
    )
    names = ("Ada Lovelace", "Ada King", "Lady Lovelace", "Lovelace", "London")
    people = [{"name": name, "type": "Person"} for name in names]
    others = [{"name": "London", "type": "Place"}, {"name": "Ship", "type": "Thing"}, {"name": "Cable"}]
    triple = {"subject": "Lovelace", "predicate": "born in", "object": "London", "quote": "was born in London"}
    recorded = {"document": "ada.txt", "entities": [*people, *others], "triples": [triple]}
    (tmp_path / "ada.jsonl").write_text(json.dumps(recorded))
    kg.ingest(tmp_path / "ada.txt", recorded=tmp_path / "ada.jsonl", mode="flexible")
    found = graph_names(kg)
    assert sorted((each.label, each.name) for each in found.candidates if each.label) == [
        ("LOCATION", "London"),
        *(("PERSON", name) for name in sorted(names)),
    ]
    assert {"Ada King", "Ada Lovelace"} in map(set, found.likenesses), "as the text says"
    assert [each.name for each in found.candidates if not each.label] == ["Cable"]
    assert [(s.subject, s.object, s.document) for s in found.statements] == [("Lovelace", "London", "ada")]


NAMES = ["Ahab", "Captain Ahab", "New York", "New York City", "史进", "René", "Mrs. Garth", "d'Artagnan"]
PIECES = st.one_of(
    st.sampled_from(
        [*NAMES, "AHAB", "Ahab's", "Rene\u0301", "New\nYork", "New\r\nYork City", "[PERSON#1]", "[PERSON#"]
    ),
    st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=6),
    st.sampled_from(["[PERSON#", " ", "\r\n", "\n\n", "\t", ", ", "\ufeff", "#1]", "]", '"', "\\"]),
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)
PEOPLE = SourceNames(tuple(person(name) for name in NAMES))


@settings(deadline=None)
@given(TEXTS)
def test_nothing_but_names_changes(text: str) -> None:
    dictionary = Dictionary.of(PEOPLE, [text])
    edits = dictionary.finder.mentions(text)
    hidden = with_edits(text, edits)
    assert all(before[1] <= after[0] for before, after in zip(edits, edits[1:], strict=False))
    for placeholder in {each[2] for each in edits}:
        assert placeholder not in text  # so that whoever finds it knows who put it there
        hidden = hidden.replace(placeholder, "\0")
    assert hidden == with_edits(text, [(start, end, "\0") for start, end, _ in edits])


def own(*candidates: Candidate) -> SourceNames:
    return SourceNames(candidates)


AHAB = own(person("Captain Ahab", "Ahab"), Candidate("LOCATION", "Nantucket"))


def run(folder: Path, out: Path, names: SourceNames = AHAB, **more: Any) -> AnonymityReport:
    return anonymise(folder, out, lambda _: names, **more)


def texts_of(folder: Path) -> dict[str, str]:
    """The texts by their titles."""
    lines = (folder / "texts.jsonl").read_text("utf-8").splitlines()
    return {value["title"]: value["text"] for value in map(json.loads, lines)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A book in several encodings."""
    place = tmp_path / "book"
    (place / "Captain Ahab").mkdir(parents=True)
    (place / "one.txt").write_bytes(b"\xef\xbb\xbfCaptain Ahab\r\nof Nantucket.\tAhab's [PERSON#1]\r\n\r\n")
    (place / "Captain Ahab" / "ahab_of_Nantucket.txt").write_text("Ahab came home.")
    (place / "old.txt").write_bytes("Ahab, très âgé.".encode("cp1252"))
    (place / "empty.txt").write_bytes(b"")
    return place


@pytest.fixture
def rich_folder(folder: Path) -> Path:
    """The book in several forms too, which are read in processes of their own."""
    (folder / "corpus.json").write_text('[{"title":"Ahab", "text":"Captain\\nAhab \\u00e9t\\u00e9", "n": 1}]')
    (folder / "page.html").write_text("<html><head><title>T</title></head><body><p>Ahab was there.</p></body></html>")
    return folder


def placeholder(tmp_path: Path, name: str) -> str:
    entities = json.loads((tmp_path / "out.map.json").read_text())["entities"]
    return next(str(each["placeholder"]) for each in entities if each["name"] == name)


def test_a_folder_and_its_questions(rich_folder: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in rich_folder.rglob("*") if path.is_file()}
    questions, hidden_questions = tmp_path / "questions.jsonl", tmp_path / "out.questions.jsonl"
    asked = {"id": "Ahab", "question": "Whose ship?", "answer": "Ahab's", "documents": ["page.html", "Ahab", "one"]}
    questions.write_text(json.dumps(asked) + "\n")
    report = run(rich_folder, tmp_path / "out", questions=questions)
    assert {path: path.read_bytes() for path in before} == before
    ahab, place = placeholder(tmp_path, "Captain Ahab"), placeholder(tmp_path, "Nantucket")
    assert ahab != "[PERSON#1]"
    hidden = texts_of(tmp_path / "out")
    assert hidden["one"].split() == [ahab, "of", f"{place}.", f"{ahab}'s", "[PERSON#1]"]
    assert hidden["old"] == f"{ahab}, très âgé."
    assert hidden[ahab] == f"{ahab} été"
    assert hidden["T"] == f"{ahab} was there."
    assert sorted(hidden) == sorted(["one", f"ahab of {place}", "old", ahab, "T"])  # of a name in lower case no part
    told = json.loads(hidden_questions.read_text())
    assert told == {**asked, "answer": f"{ahab}'s", "documents": ["T", ahab, "one"]}
    assert [each.reason for each in report.skipped if "empty" in each.path] == ["empty file"]
    assert (report.entities, report.texts) == ({"LOCATION": 1, "PERSON": 1}, 5)


def test_the_map_is_private_and_the_same_twice(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path / "out")
    run(folder, tmp_path / "again")
    assert stat.S_IMODE((tmp_path / "out.map.json").stat().st_mode) == 0o600
    assert (tmp_path / "out.map.json").read_bytes() == (tmp_path / "again.map.json").read_bytes()
    assert texts_of(tmp_path / "out") == texts_of(tmp_path / "again")


def test_places_that_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    for out in (folder, folder / "inside", tmp_path):
        with pytest.raises(InputError, match="contains the other"):
            run(folder, out)
    (tmp_path / "nothing").mkdir()
    for place, names, said in (
        (folder / "one.txt", AHAB, "is not a folder"),
        (folder, own(person("…")), "No names to replace were found"),
        (folder, own(person("Ishmael")), "None of the names occurs in the texts"),
        (tmp_path / "nothing", AHAB, "There is no text in"),
    ):
        with pytest.raises(InputError, match=said):
            run(place, tmp_path / "out", names)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.map.json").exists()
    run(folder, tmp_path / "out")
    with pytest.raises(InputError, match="is not empty"):
        run(folder, tmp_path / "out")
    (tmp_path / "other.map.json").write_text("{}")
    with pytest.raises(InputError, match="other.map.json exists already, and may be needed"):
        run(folder, tmp_path / "other")


def test_where_writing_fails_nothing_is_left(folder: Path, tmp_path: Path) -> None:
    """A full device: /dev/full takes no byte."""
    (tmp_path / f"out.map.json.{os.getpid()}-{threading.get_ident()}.tmp").symlink_to("/dev/full")
    with pytest.raises(KgError, match=r"No space is left for .*The texts themselves are as they were"):
        run(folder, tmp_path / "out")
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, no folder")
    with pytest.raises(KgError, match=r"cannot be written: .*The texts themselves are as they were"):
        run(folder, blocked / "out")
    assert blocked.read_text() == "a file, no folder"
    assert not (tmp_path / "out").exists()


CORPUS, QUESTIONS = EXAMPLES / "corpus", EXAMPLES / "questions.jsonl"


def invoke(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["anonymise", *map(str, arguments)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def refused(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["anonymise", *map(str, arguments)])
    assert isinstance(done.exception, Exception)
    return spelled(done.exception)


@pytest.mark.usefixtures("store", "at_server")
def test_the_sample_corpus(tmp_path: Path) -> None:
    """The graph of the texts is made on the way: one step. A second time it is found."""
    out = tmp_path / "hidden"
    said = invoke(CORPUS, "--out", out, "--questions", QUESTIONS).split("\n")
    assert re.match(r"\d\d texts in ", said[0])
    assert "PERSON)" in said[0]
    assert said[1] == f"Map: {out}.map.json. Store it apart from the texts: it has every name."
    assert re.search(r"hidden.reversion.jsonl \([\d,]+ choice simple, [\d,]+ reversion ", said[3])
    assert said[-2].startswith("Names of unknown type, left unchanged")
    found = json.loads(Path(f"{out}.map.json").read_text())["entities"]
    names = {each["name"]: each for each in found}
    assert set(names["Edward Orange Wildman Whitehouse"]["forms"]) >= {"Whitehouse", "Wildman Whitehouse"}
    assert names["Thomson"]["may_be"] == ["James Thomson", "William Thomson"]
    left = Finder({form: each["placeholder"] for each in found for form in each["forms"]})
    assert left.mentions((out / "texts.jsonl").read_text()) == []
    invoke(CORPUS, "--out", tmp_path / "again", "--questions", QUESTIONS)
    assert json.loads((tmp_path / "again.map.json").read_text())["entities"] == found


def test_questions_about_what_a_graph_knows(at_server: None, kg: KnowledgeGraph, tmp_path: Path) -> None:
    """The graph that holds the texts gives the names, however they were read; for other texts it is left as it is."""
    files = tmp_path / "in"
    files.mkdir()
    pupils = ["Ada Korn", "Bea Lund", "Cid Mohr", "Dov Nagy", "Eva Orsi", "Fay Pohl"]
    lines = [f"{one} taught {other}." for one, other in zip(pupils, pupils[1:], strict=False)]
    (files / "school.txt").write_text(" ".join(lines))
    triples = [
        {"subject": one, "predicate": "taught", "object": other, "quote": line}
        for one, other, line in zip(pupils, pupils[1:], lines, strict=False)
    ]
    entities = [{"name": name, "type": "Person"} for name in pupils]
    recorded = tmp_path / "recorded.jsonl"
    recorded.write_text(json.dumps({"document": "school.txt", "entities": entities, "triples": triples}))
    kg.ingest(files, recorded=recorded, mode="flexible")
    names = tmp_path / "names.jsonl"
    names.write_text('{"name": "Ada Korn", "type": "Teacher"}\n{"name": "Pequod", "type": "Ship"}')
    told = json.loads(invoke(files, "--out", tmp_path / "out", "--names", names, "--json"))
    assert (told["texts"], told["mentions"]) == (1, 10)
    assert told["entities"] == {"PERSON": 5, "TEACHER": 1}, "what the file says goes before what the graph says"
    assert {"choice simple", "reversion simple"} <= set(told["built"])
    made = [json.loads(line) for line in (tmp_path / "out.reversion.jsonl").read_text().splitlines()]
    assert {each["documents"][0] for each in made} == {"school"}
    assert not any(name in json.dumps(each["question"]) for each in made for name in pupils)
    assert "needs its own graph" in refused(CORPUS, "--out", tmp_path / "other")
    assert [each.title for each in kg.documents()] == ["school"]
    assert not (tmp_path / "other").exists()
