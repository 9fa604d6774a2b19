"""Texts that contradict each other: two values of what the schema has one of, at overlapping times."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from corpora import put_jsonl

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import SchemaError
from kgplatform.extract.schema import Schema, load_schema, schema_of_text
from kgplatform.interfaces.cli.show.reports import show_corrections
from kgplatform.prompt import Messages
from kgplatform.search.conflicts import agree, disputes
from kgplatform.testing import ScriptedChat

SCHEMA = Schema.from_dict(
    {
        "name": "works",
        "entities": ["Person", "Place", "Organization"],
        "relations": {"led_by": {"single": "true"}, "born_in": {"single": True}, "knows": "", "located_in": ""},
        "attributes": {"birth date": {"single": True}, "death date": {"single": True}, "trait": {}},
    }
)


def said(
    text: str, *triples: tuple[str, str, str], attributes: tuple[tuple[str, str, str], ...] = ()
) -> tuple[str, dict[str, Any]]:
    names = sorted({name for one, _, other in triples for name in (one, other)} | {name for name, *_ in attributes})
    types = {"Acme": "Organization"}
    row: dict[str, Any] = {"entities": [{"name": name, "type": types.get(name, "Person")} for name in names]}
    row["triples"] = [dict(zip(("subject", "predicate", "object"), each, strict=True)) for each in triples]
    row["attributes"] = [dict(zip(("entity", "key", "value"), each, strict=True)) for each in attributes]
    return text, row


TEXTS = {
    "A": said("Acme was led by Ada Holt from 1990 to 1999.", ("Acme", "led_by", "Ada Holt")),
    "B": said("Acme was led by Bob Ray from 1999 to 2005.", ("Acme", "led_by", "Bob Ray")),
    "C": said("Acme was led by Cy Lund since 2006.", ("Acme", "led_by", "Cy Lund")),
    "D": said(
        "Ada Holt was born in 1950. Ada Holt was born in Bath, which lies in Avon. Ada Holt knows Bob Ray.",
        ("Ada Holt", "born_in", "Bath"),
        ("Bath", "located_in", "Avon"),
        ("Ada Holt", "knows", "Bob Ray"),
        attributes=(("Ada Holt", "birth date", "1950"), ("Ada Holt", "trait", "bold")),
    ),
    "E": said(
        "Ada Holt was born on 3 May 1951. Ada Holt was born in Avon. Ada Holt knows Cy Lund.",
        ("Ada Holt", "born_in", "Avon"),
        ("Ada Holt", "knows", "Cy Lund"),
        attributes=(("Ada Holt", "birth date", "3 May 1951"), ("Ada Holt", "trait", "shy")),
    ),
    "F": said("Ada Holt was born on 2 June 1950.", attributes=(("Ada Holt", "birth date", "2 June 1950"),)),
    # Two of one name: who lived at other times, is something else, or has a surname alone.
    **{
        name: said(
            f"Cy Lund was born in {born}. Cy Lund died in {died}.",
            attributes=(("Cy Lund", "birth date", born), ("Cy Lund", "death date", died)),
        )
        for name, born, died in (("G", "1820", "1881"), ("H", "1920", "1990"))
    },
    **{
        name: said(
            f"{who} was born in {born}. {who} is a {trait}.",
            attributes=((who, "birth date", born), (who, "trait", trait)),
        )
        for name, who, born, trait in (
            ("I", "Di Penn", "1968", "Swedish actor"),
            ("J", "Di Penn", "1989", "Swedish sprinter"),
            ("K", "Penn", "1980", "sprinter"),
        )
    },
    "L": said("Penn was born in 1985.", attributes=(("Penn", "birth date", "1985"),)),
    # One sentence says where the place lies; a time is no place.
    "M": said(
        "Bob Ray was born in 1940 in Ely, Kent.", *(("Bob Ray", "born_in", place) for place in ("1940", "Ely", "Kent"))
    ),
    "N": said("Bob Ray was born in Kent.", ("Bob Ray", "born_in", "Kent")),
}


def ingest(kg: KnowledgeGraph, folder: Path, names: str) -> None:
    rows = put_jsonl(folder / "said.jsonl", [{"document": name, **TEXTS[name][1]} for name in names])
    kg.ingest([{"text": TEXTS[name][0], "title": name, "id": name} for name in names], recorded=rows, schema=SCHEMA)


def found(kg: KnowledgeGraph) -> set[tuple[str, str, frozenset[str]]]:
    """The subject and the relation of each, and the documents of the two sides."""
    return {
        (each.subject, each.name, frozenset(place.title for fact in each.facts for place in fact.citations))
        for each in kg.conflicts()
    }


def test_two_values_at_overlapping_times(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """Led by two in 1999, born in two years; but Bath lies in Avon, one may know two, and 1950 has a second of June."""
    assert kg.conflicts() == ()
    ingest(kg, tmp_path, "ABCDEFGHIJKLMN")
    birth = [("Ada Holt", "birth date", frozenset(pair)) for pair in ("DE", "EF")]
    assert found(kg) == {("Acme", "led_by", frozenset("AB")), *birth}
    assert len(kg.conflicts(1)) == 1
    kg.remove(["E"])
    assert found(kg) == {("Acme", "led_by", frozenset("AB"))}
    kg.remove(["B"])
    assert found(kg) == set()
    ingest(kg, tmp_path, "E")
    assert found(kg) == {birth[0], birth[1]}


def test_forms_of_one_value() -> None:
    for one, other in [
        ("448 in 2000", "806 in 2010"),
        ("1930", "Gothenburg, Sweden"),
        ("1815", "10 December 1815"),
        ("1,200 men", "1200 men"),
        ("London", "London, England"),
        ("A b", "a B"),
    ]:
        assert agree(one, other), (one, other)
    for one, other in [
        ("1815", "1816"),
        ("3 May 1815", "4 May 1815"),
        ("1.5", "15"),
        ("London", "Paris"),
        ("448 in 2000", "806 in 2000"),
        ("Apollo 11", "Voyager"),
    ]:
        assert not agree(one, other), (one, other)


def test_what_documents_cannot_say_of_one_thing_is_told_apart_by_a_split(
    kg: KnowledgeGraph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By titles, by a birth after a death, by days of other years; but 1901 may be written for 1900."""
    texts = {
        "John Ellis (guitarist)": ("John Ellis was born on 1 June 1952.", "John Ellis", "birth date", "1 June 1952"),
        "John Ellis (antiquarian)": ("John Ellis wrote poems.", "John Ellis", "occupation", "poems"),
        "Notes": ("John Ellis died on 3 May 1791.", "John Ellis", "death date", "3 May 1791"),
        "Memoirs": ("Ann Lee was born on 2 May 1900.", "Ann Lee", "birth date", "2 May 1900"),
        "Letters": ("Ann Lee was born on 7 June 1931.", "Ann Lee", "birth date", "7 June 1931"),
        "Diary": ("Ann Lee was born on 2 May 1901.", "Ann Lee", "birth date", "2 May 1901"),
        "Once": ("Bob Ray was born on 1 May 1900.", "Bob Ray", "birth date", "1 May 1900"),
        "Again": ("Bob Ray was born on 1 May 1910.", "Bob Ray", "birth date", "1 May 1910"),
    }
    rows = [{"document": title, **said(text, attributes=(each,))[1]} for title, (text, *each) in texts.items()]
    documents = [{"text": text, "title": title, "id": title} for title, (text, *_) in texts.items()]
    kg.ingest(documents, recorded=put_jsonl(tmp_path / "said.jsonl", rows), schema="general")

    def told() -> list[tuple[str, str, list[tuple[str, ...]]]]:
        return [(each.name, each.called, [side.titles for side in each.sides]) for each in kg.correct.namesakes()]

    ann = ("Ann Lee", "Ann Lee (7 June 1931)", [("Diary", "Memoirs"), ("Letters",)])
    john = (
        "John Ellis",
        "John Ellis (guitarist)",
        [("John Ellis (antiquarian)", "Notes"), ("John Ellis (guitarist)",)],
    )
    assert told() == [ann, john]
    _, found = kg.correct.namesakes()
    assert [len(side.passages) for side in found.sides] == [2, 1]
    assert [fact.text.endswith(("3 May 1791", "1 June 1952")) for side in found.sides for fact in side.facts] == [
        True
    ] * 2
    show_corrections(kg.correct.namesakes())
    assert f"correct split {found.id} 'John Ellis (guitarist)' --document" in capsys.readouterr().out
    made = kg.correct.split(found.id, found.called, found.sides[1].documents)
    assert told() == [ann]
    kg.correct.undo(made.id)
    assert told() == [ann, john]


def test_the_schema_says_what_is_single() -> None:
    general = load_schema("general")
    assert [each.name for each in general.relations if each.single] == ["born_in", "died_in"]
    assert Schema.from_dict(general.to_dict()) == general
    with pytest.raises(SchemaError, match="single must be true or false"):
        schema_of_text("entities: [A]\nrelations: {r: {single: maybe}}")


LATER = {
    "G": said("Acme has been led by Dan Fox since 2010.", ("Acme", "led_by", "Dan Fox")),
    "H": said("Acme has been led by Eve Gray since May 2015.", ("Acme", "led_by", "Eve Gray")),
    "I": said("Acme has been led by Dan Fox since 2020.", ("Acme", "led_by", "Dan Fox")),
    "J": said("Acme is led by Finn Hay.", ("Acme", "led_by", "Finn Hay")),
    "K": said("Acme is led by Gil Ives.", ("Acme", "led_by", "Gil Ives")),
}
"""The first three say since when; those after them do not."""


def told(kg: KnowledgeGraph, folder: Path, names: str, **metadata: dict[str, Any]) -> None:
    rows = put_jsonl(folder / "told.jsonl", [{"document": name, **LATER[name][1]} for name in names])
    texts = [{"text": LATER[name][0], "title": name, "id": name, **metadata.get(name, {})} for name in names]
    kg.ingest(texts, recorded=rows, schema=SCHEMA)


def led_by(kg: KnowledgeGraph, day: str) -> set[str]:
    facts = kg.search("Who was Acme led by?", "triple", as_of=day).facts
    return {fact.text.removeprefix("Acme led by ").rstrip(".") for fact in facts}


def others(kg: KnowledgeGraph, title: str) -> set[tuple[str, str]]:
    """What other documents say of what the document states, and since when."""
    facts = kg.search("Who was Acme led by?", "triple").facts
    cited = [place for fact in facts for place in fact.citations if place.title == title]
    return {(each.facts[1].citations[0].title, each.since) for each in disputes(kg.store, SCHEMA.single, cited)}


def test_what_begins_later_ends_what_was_before(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """And without it, nothing has ended."""
    told(kg, tmp_path, "GHI")
    assert kg.conflicts() == ()
    days = ("2009", "2012", "2015-04", "2015-06", "2018", "2021")
    assert [led_by(kg, day) for day in days] == [set(), *[{"Dan Fox"}] * 2, *[{"Eve Gray"}] * 2, {"Dan Fox"}]
    assert others(kg, "H") == {("I", "2020-01-01")}
    kg.remove(["I"])
    assert led_by(kg, "2021") == {"Eve Gray"}
    assert (others(kg, "G"), others(kg, "H")) == ({("H", "2015-05-01")}, set())
    kg.remove(["H"])
    assert led_by(kg, "2021") == {"Dan Fox"}
    assert others(kg, "G") == set()


def test_a_newer_version_ends_what_it_says_otherwise(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """Only where it is said to be one, and both are dated."""
    dated = {"J": {"date": "2020-03-01"}, "K": {"date": "2022-07-01"}}
    told(kg, tmp_path, "JK", **dated)
    assert others(kg, "J") == {("K", "")}
    assert led_by(kg, "2023") == {"Finn Hay", "Gil Ives"}
    kg.describe("K", {"replaces": "J"})
    assert kg.conflicts() == ()
    assert (others(kg, "J"), others(kg, "K")) == ({("K", "2022-07-01")}, set())
    assert (led_by(kg, "2021"), led_by(kg, "2023")) == ({"Finn Hay"}, {"Gil Ives"})
    kg.remove(["K"])
    assert led_by(kg, "2023") == {"Finn Hay"}


def test_an_answer_says_what_another_passage_states(kg: KnowledgeGraph, tmp_path: Path) -> None:
    told(kg, tmp_path, "HJ", J={"side": "one"})

    def model(messages: Messages) -> str:  # cites the sentence by its number in the prompt
        number = re.search(r"\[(\d+\.\d+)\] Acme is led by Finn Hay", messages[-1]["content"])
        assert number
        said = {"evidence": [number[1]], "answer": f"Acme is led by Finn Hay [{number[1]}].", "sufficient": True}
        return json.dumps(said)

    chat = ScriptedChat(model)
    with_model = KnowledgeGraph(kg.store, kg.settings, embedder=kg.embedder, chat=chat)
    answer = with_model.ask("Who is Acme led by? Finn Hay?")
    assert [place.title for place in answer.citations] == ["J"]
    assert answer.other_sides == ("Another passage says: “Acme led by Eve Gray (since 2015-05)” (H)",)
    assert with_model.ask("Who is Acme led by? Finn Hay?", where="side = one").other_sides == ()
