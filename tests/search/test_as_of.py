"""The time of a statement is stored where it is stated; ``as_of`` leaves out what is said of other times."""

import json
from pathlib import Path
from typing import Any

import pytest
from corpora import put_jsonl

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.readers.window import Numbering
from kgplatform.search.evidence import Evidence
from kgplatform.testing import ScriptedChat

LINE = "Great Western Railway"
TEXT = (
    f"Isambard Brunel was chief engineer of the {LINE} from 1833 to 1846. "
    f"Daniel Gooch was chief engineer of the {LINE} from 1846 to 1864. "
    f"The {LINE} owns the Steam Yard. Last year Ada Holt joined the {LINE}."
)
WORKS = [("Isambard Brunel", "1833 to 1846"), ("Daniel Gooch", "1846 to 1864"), ("Ada Holt", "Last year")]
QUESTION = f"Who was chief engineer of the {LINE}?"


def recording(folder: Path) -> Path:
    """A triple, an attribute and an atomic fact of each person, without the time; and one of which no time is said."""
    said = [
        (name, next(s for s in TEXT.split(". ") if s.startswith(name) or s.startswith(f"Last year {name}")))
        for name, _ in WORKS
    ]
    people = [{"name": name, "type": "Person"} for name, _ in WORKS]
    names = [*people, {"name": LINE, "type": "Organization"}, {"name": "Steam Yard", "type": "Place"}]
    triples = [{"subject": name, "predicate": "works for", "object": LINE, "quote": quote} for name, quote in said]
    facts = [{"text": f"{name} worked there.", "key_elements": [name, LINE], "quote": quote} for name, quote in said]
    row: dict[str, Any] = {"document": "Line", "entities": names, "facts": facts}
    row["triples"] = [*triples, {"subject": LINE, "predicate": "owns", "object": "Steam Yard"}]
    row["attributes"] = [{"entity": name, "key": "occupation", "value": "engineer", "quote": q} for name, q in said]
    return put_jsonl(folder / "line.jsonl", [row])


@pytest.fixture
def line(kg: KnowledgeGraph, tmp_path: Path) -> KnowledgeGraph:
    kg.ingest({"text": TEXT, "title": "Line", "date": "2024-03-15"}, recorded=recording(tmp_path))
    return kg


def stated(kg: KnowledgeGraph) -> dict[str, set[tuple[Any, ...]]]:
    """Of each person, what evidence says of the time of the facts about them, and the kinds of these."""
    rows = kg.cypher(
        "MATCH (f:Fact)-[at:FROM_CHUNK]->() UNWIND $names AS name WITH * WHERE f.text STARTS WITH name "
        "RETURN name, at.since, at.until, at.granularity, at.timeStart, at.timeEnd, collect(f.kind) AS kinds",
        {"names": [name for name, _ in WORKS] + [LINE]},
    ).rows
    found: dict[str, set[tuple[Any, ...]]] = {}
    for name, since, until, granularity, start, end, kinds in rows:
        words = TEXT[start:end] if start is not None else None
        found.setdefault(name, set()).add((since, until, granularity, words, *sorted(kinds)))
    return found


def test_stored_with_the_evidence(line: KnowledgeGraph, tmp_path: Path) -> None:
    kinds = ("atomic", "attribute", "triple")
    assert stated(line) == {
        "Isambard Brunel": {("1833-01-01", "1847-01-01", "year", "from 1833 to 1846", *kinds)},
        "Daniel Gooch": {("1846-01-01", "1865-01-01", "year", "from 1846 to 1864", *kinds)},
        "Ada Holt": {("2023-01-01", "2024-01-01", "year", "Last year", *kinds)},
        LINE: {(None, None, None, None, "triple")},
    }
    # Another day of the document is another year, and none is none.
    again = {"text": TEXT, "title": "Line"}
    line.ingest({**again, "date": "1999-01-01"}, recorded=recording(tmp_path))
    assert stated(line)["Ada Holt"] == {("1998-01-01", "1999-01-01", "year", "Last year", *kinds)}
    line.ingest(again, recorded=recording(tmp_path))
    line.describe("Line", {"date": "2001-05-05"})
    assert stated(line)["Ada Holt"] == {("2000-01-01", "2001-01-01", "year", "Last year", *kinds)}
    line.describe("Line", {"date": None})
    assert stated(line)["Ada Holt"] == {(None, None, None, None, *kinds)}
    assert stated(line)["Daniel Gooch"] == {("1846-01-01", "1865-01-01", "year", "from 1846 to 1864", *kinds)}


def test_facts_of_other_times_are_left_out(line: KnowledgeGraph) -> None:
    def people(as_of: str | None, route: str = "all", where: str | None = None) -> set[str]:
        found = line.search(QUESTION, route, 20, as_of=as_of, where=where)
        assert found.as_of == as_of
        facts = [*found.facts, *(fact for path in found.paths for fact in path.facts)]
        assert any("Steam Yard" in fact.text for fact in facts), "what has no time stays"
        return {name for name, _ in WORKS for fact in facts if name in fact.text}

    for route in ("all", "triple", "entity", "path"):
        assert people(None, route) == {"Isambard Brunel", "Daniel Gooch", "Ada Holt"}, route
        assert people("1840", route) == {"Isambard Brunel"}, route
        assert people("1846-06", route) == {"Isambard Brunel", "Daniel Gooch"}, route
        assert people("1847-01-01", route) == {"Daniel Gooch"}, route
        assert people("1900", route) == set(), route
    for where in ("document = Line", "date > 2000"):
        assert people("1840", where=where) == people("1840", "triple", where) == {"Isambard Brunel"}
    (gooch,) = (
        each
        for each in line.search(QUESTION, "triple", as_of="1850").facts
        if "works for" in each.text and "Gooch" in each.text
    )
    place = gooch.citations[0]
    assert (gooch.timed, place.time) == (f"{gooch.text} (1846–1864)", "1846–1864")
    assert place.to_dict()["until"] == "1865-01-01"
    shown = Numbering()
    assert shown.facts([gooch]) == f"[0.1] {gooch.text} (1846–1864)"
    source = shown.source("0.1")
    assert source is not None and source.citation.text == gooch.timed, "an answer that says the year is found in it"
    nodes = Evidence(line.store.at(("1840-01-01", "1841-01-01")), line.embedder).nodes(QUESTION)
    assert [text for group in nodes.facts(LINE, 9).groups for _, text, *_ in group.facts] == [
        "Isambard Brunel worked there. (1833–1846)"
    ]
    assert set(nodes.neighbours(LINE, 9).names) == {"Isambard Brunel", "Steam Yard"}


def test_what_cannot_be_asked(line: KnowledgeGraph) -> None:
    for as_of in ("", "May 1857", "1857-13", "1857-02-30", "57", "1857/1861"):
        for ask in (line.search, line.ask):
            with pytest.raises(InputError, match=f'The time must be a year, month or day such as .*, not "{as_of}"'):
                ask(QUESTION, as_of=as_of)
    with pytest.raises(InputError, match="about all times"):
        Evidence(line.store.at(("1857-01-01", "1858-01-01")), line.embedder).statements(QUESTION)


def test_texts_of_the_time_come_first(kg: KnowledgeGraph) -> None:
    """Of what is said of the question; a life that lasts longer, or another time beside it, is not that."""
    works = {"Gooch": "1846 to 1864", "Brunel": "1833 to 1846", "Churchward": "1902 to 1921"}
    kg.ingest(
        {
            "text": f"{name} lived from 1800 to 1990. {name} was chief engineer of the {LINE} from {years}.",
            "title": name,
        }
        for name, years in works.items()
    )
    for as_of, first in (("1840", "Brunel"), ("1850", "Gooch"), ("1910-05", "Churchward")):
        for route in ("all", "dense", "bm25"):
            assert kg.search(QUESTION, route, as_of=as_of).passages[0].title == first, (as_of, route)
        chat = ScriptedChat([json.dumps({"answer": first, "evidence": ["1.2"]})])
        kg.language_model = chat
        answer = kg.ask(QUESTION, as_of=as_of, answer_style="phrase")
        assert (answer.question, answer.evidence.question, answer.evidence.as_of) == (QUESTION, QUESTION, as_of)
        assert not answer.evidence.missing, "no passage has to name the time"
        (asked,) = (call.messages[-1]["content"] for call in chat.calls)
        assert f"{QUESTION} ({as_of})" in asked, "the model is told the time"
        assert [name for name in works if f"{name} was chief" in asked] == [first], "and reads of no other"
        assert all(f"{name} lived" in asked for name in works)
