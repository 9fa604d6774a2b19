"""Texts that contradict each other: two values of what the schema has one of, at overlapping times."""

from pathlib import Path
from typing import Any

import pytest
from corpora import put_jsonl

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import SchemaError
from kgplatform.explore.conflicts import agree
from kgplatform.extract.schema import Schema, load_schema, schema_of_text

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


def test_the_schema_says_what_is_single() -> None:
    general = load_schema("general")
    assert [each.name for each in general.relations if each.single] == ["born_in", "died_in"]
    assert Schema.from_dict(general.to_dict()) == general
    with pytest.raises(SchemaError, match="single must be true or false"):
        schema_of_text("entities: [A]\nrelations: {r: {single: maybe}}")
