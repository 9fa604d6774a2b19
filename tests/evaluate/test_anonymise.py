"""Names out of texts: which mentions are found, who is one with whom, and that nothing else changes."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
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
    (tmp_path / "ada.txt").write_text("Ada Lovelace knew Lady Lovelace. Lovelace was born in London.")
    names = ("Ada Lovelace", "Lady Lovelace", "Lovelace", "London")
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
    assert ("London", "London") in found.likenesses  # a person and a place of one name
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
