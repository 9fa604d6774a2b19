"""Types that passages propose for the schema: how it grows by them, and what was read before it grew."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import conftest
import pytest
from conftest import wipe
from corpora import difference, put, put_jsonl
from graph_state import snapshot

from kgplatform import IngestReport
from kgplatform.client import KnowledgeGraph
from kgplatform.errors import BudgetError
from kgplatform.extract.bound import MODES, Mode
from kgplatform.ingest import schema_expansion
from kgplatform.neo4j.store import Store, trace
from kgplatform.prompt import Messages
from kgplatform.records import QueryRun
from kgplatform.testing import ScriptedChat

opened = partial(conftest.opened, passage_tokens=40, concurrency=1)


Proposals = Sequence[tuple[str, str]]


def ingest(kg: KnowledgeGraph, folder: Path, **documents: Proposals) -> IngestReport:
    """Documents of one passage each, which propose types by kind and name."""
    files = put(folder, {f"{name}.txt": f"The vessel {name} sailed." for name in documents})
    lines = [{"document": f"{name}.txt", "proposals": [*map(_said, told)]} for name, told in documents.items()]
    return kg.ingest(files, recorded=put_jsonl(folder / "told.jsonl", lines), mode="flexible")


def _said(proposal: tuple[str, str]) -> dict[str, Any]:
    kind, name = proposal
    return {"kind": kind, "name": name, "confidence": 0.95, "example": "sailed"}


def proposed(kg: KnowledgeGraph) -> list[list[Any]]:
    return kg.cypher(
        "MATCH (c:Chunk)-[p:PROPOSED]->(t:ProposedType) "
        "RETURN t.kind, t.name, p.words AS words, c.name ORDER BY t.name, c.name, words"
    ).rows


def test_what_is_proposed_is_in_the_graph_and_goes_with_its_passage(store: Store, tmp_path: Path) -> None:
    kg = conftest.opened(store, tmp_path / "home")
    ingest(kg, tmp_path, kate=[("relation", "towed by"), ("entity", "Vessel")], petrel=[("relation", "towedBy")])
    assert proposed(kg) == [
        ["relation", "towedby", "towed by", "kate · 1"],
        ["relation", "towedby", "towedBy", "petrel · 1"],
        ["entity", "vessel", "Vessel", "kate · 1"],
    ]
    kg.remove(["kate"])
    assert proposed(kg) == [["relation", "towedby", "towedBy", "petrel · 1"]]
    kg.remove(["petrel"])
    assert kg.cypher("MATCH (t:ProposedType) RETURN t").rows == []


def test_a_type_gets_its_support_over_several_ingests_and_loses_it(store: Store, tmp_path: Path) -> None:
    kg = conftest.opened(store, tmp_path / "home")
    assert ingest(kg, tmp_path, kate=[("relation", "towed by")]).expansions == []
    (expansion,) = ingest(kg, tmp_path, petrel=[("relation", "towedBy")]).expansions
    assert (expansion.kind, expansion.name, expansion.count) == ("relation", "towed by", 2)
    kg.remove(["petrel"])
    shown = kg.schema()
    assert shown is not None
    assert shown.expansions == ()


def test_one_proposal_of_a_passage_under_each_of_its_words(store: Store, tmp_path: Path) -> None:
    kg = conftest.opened(store, tmp_path / "home")
    names = ("towed by", "towed  by", "towedBy", "x" * 200, "12")
    ingest(kg, tmp_path, kate=[("relation", name) for name in names])
    assert [words for _, _, words, _ in proposed(kg)] == ["towed by", "towedBy"]


def test_one_document_more_reads_the_types_that_it_proposes(store: Store, tmp_path: Path) -> None:
    """Of the whims of others nothing is read; of types with support all."""
    kg = conftest.opened(store, tmp_path / "home")
    whims = {f"ship{number}": [("entity", f"Whim{number}"), ("entity", f"Fad{number // 2}")] for number in range(20)}
    ingest(kg, tmp_path, **whims, kate=[("entity", "Vessel")])
    read: list[QueryRun] = []
    with trace(read.append):
        report = ingest(kg, tmp_path, petrel=[("entity", "vessel"), ("entity", "Island")])
    assert {each.name.casefold() for each in report.expansions} == {*(f"fad{number}" for number in range(10)), "vessel"}
    rows = sum(run.rows for run in read if run.name == "ingest/proposals")
    assert rows == 20 + 1 + 22, "types with support, twice, and the other proposals of a type that gets it now"


def test_an_older_graph_gets_its_proposals_with_the_next_change(store: Store, tmp_path: Path) -> None:
    """A removal from it keeps what others propose."""
    kg = conftest.opened(store, tmp_path / "home")
    ingest(kg, tmp_path, **TOWED)
    wanted = snapshot(store)
    make_older(kg, TOWED)
    ingest(kg, tmp_path, **TOWED)
    assert difference(snapshot(store), wanted) == []
    documents = TOWED | {"slow": []}
    ingest(kg, tmp_path, **documents)
    make_older(kg, documents)
    kg.remove(["slow"])
    shown = kg.schema()
    assert shown is not None
    assert [each.name for each in shown.expansions] == ["towed by"]


TOWED: dict[str, Proposals] = {
    "kate": [("relation", "towed by"), ("entity", "Vessel")],
    "petrel": [("relation", "towedBy")],
}


def make_older(kg: KnowledgeGraph, documents: dict[str, Proposals]) -> None:
    """The graph as format 2 had it: each passage with what it proposed as JSON."""
    for name, told in documents.items():
        kg.cypher(
            "MATCH (c:Chunk {name: $name}) SET c.proposals = $proposals",
            {"name": f"{name} · 1", "proposals": json.dumps([*map(_said, told)]) if told else None},
            write=True,
        )
    kg.cypher("MATCH (t:ProposedType) DETACH DELETE t", write=True)
    kg.cypher("MATCH (g:Graph) SET g.format = 2", write=True)


SHIPS = ("Alca", "Brisa", "Corvo", "Delfin", "Estrela", "Falcao", "Gaivota", "Harpia")
BOOK = "\n\n".join(
    f"In the year {1800 + at} the captain Mira Holt sailed with the {ship} from Sund, and nobody heard of her for nine "
    "long weeks, until a letter came that told of storms and of ice."
    for at, ship in enumerate(SHIPS)
)
SEED = "entities: [Person, Place]\nrelations: {commands: {heads: [Person]}}\nattributes: []\n"


def in_types_of_its_own(messages: Messages) -> str:
    """What a model says of a page: its ship is a Vessel, which no schema has yet."""
    ships = [ship for ship in SHIPS if ship in messages[1]["content"]]
    return json.dumps(
        {
            "entities": [
                {"name": "Mira Holt", "type": "Person"},
                *({"name": ship, "type": "Vessel"} for ship in ships),
            ],
            "triples": [["Mira Holt", "commands", ship] for ship in ships],
            "proposals": [{"kind": "entity", "name": "Vessel", "confidence": 0.97, "example": ship} for ship in ships],
        }
    )


@pytest.fixture
def book(tmp_path: Path) -> list[Path]:
    (tmp_path / "seed.yaml").write_text(SEED)
    return put(tmp_path, {"book.txt": BOOK})


@pytest.mark.parametrize("mode", MODES)
def test_a_single_book_grows_its_schema_and_is_filled_in(
    store: Store, book: list[Path], tmp_path: Path, mode: Mode
) -> None:
    chat = ScriptedChat(in_types_of_its_own)
    kg = opened(store, tmp_path, chat)
    report = kg.ingest(book, schema=tmp_path / "seed.yaml", mode=mode)
    assert [each.name for each in report.expansions] == ["Vessel"]
    assert len(chat.calls) == report.passages == 8, "one window, which saw the seed alone"
    assert sorted(row[0] for row in kg.cypher("MATCH (v:Vessel) RETURN v.name").rows) == list(SHIPS)
    assert kg.cypher("MATCH (:Person)-[r:COMMANDS]->(:Vessel) RETURN count(r)").rows == [[8]]
    assert (report.dropped, report.off_schema, report.kept) == (0, 0, 24)
    assert kg.cypher("MATCH (n {inSchema: false}) RETURN count(n)").rows == [[0]]
    kept = "MATCH (c:Chunk) WHERE c.leftOut IS NOT NULL RETURN count(c)"
    assert kg.cypher(kept).rows == [[8]], "for a part of the graph, whose schema may have grown less"
    assert kg.cypher("MATCH (n:Pending) RETURN count(n)").rows == [[0]]
    assert kg.search("Which ships did Mira Holt command?", route="triple").facts


@pytest.mark.parametrize("mode", MODES)
def test_passages_say_what_they_would_if_read_again(store: Store, tmp_path: Path, mode: Mode) -> None:
    """A type that comes, is spelled otherwise, and goes with the document that proposed it; and nothing is made anew
    of a passage whose words are no matter of it."""
    triples = [["Mira", "towed by", "Alca"], ["Alca", "seen_from", "Sund"], ["Brisa", "towedBy", "Alca"]]
    one = {
        "document": "one.txt",
        "entities": [["Alca", "vessel"], ["Brisa", "Vessel"], ["Mira Holt", "Person"], ["Sund", "Place"]],
        "triples": triples,
        "facts": [{"text": "Alca towed Mira.", "key_elements": ["Alca", "Mira"]}],
        "proposals": [_said(("entity", "vessel")), _said(("relation", "towed by"))],
    }
    other = {"document": "other.txt", "entities": [["Corvo", "Bark"]], "triples": [["Corvo", "left", "Sund"]]}
    third = {"document": "two.txt", "proposals": [_said(("entity", "vessel")), _said(("relation", "towedBy"))]}
    texts = {
        "one.txt": "Mira, towed by Alca.",
        "other.txt": "Corvo left Sund.",
        "two.txt": "A vessel.",
        "last.txt": "Sund.",
    }
    (tmp_path / "seed.yaml").write_text(SEED)
    files = put(tmp_path, texts)
    told = put_jsonl(tmp_path / "told.jsonl", [one, other, third, {"document": "last.txt", "entities": ["Sund"]}])
    kg = conftest.opened(store, tmp_path / "home")
    how: dict[str, Any] = {"recorded": told, "schema": tmp_path / "seed.yaml", "mode": mode}
    facts = "MATCH (f:Fact)-[:FROM_CHUNK]->(:Chunk {name: 'other · 1'}) RETURN collect(elementId(f))"
    of = {path.name: path for path in files}
    kg.ingest([of["one.txt"], of["other.txt"]], **how)
    before = kg.cypher(facts).rows
    kg.ingest(of["two.txt"], **how)
    assert kg.cypher(facts).rows == before
    assert kg.cypher("MATCH (v:Vessel) RETURN v.name ORDER BY v.name").rows == [["Alca"], ["Brisa"]]
    found = snapshot(store)
    kg.ingest([of["one.txt"], of["other.txt"], of["two.txt"]], **how, reread=True)
    assert difference(found, snapshot(store)) == []
    kg.remove(["two"])
    kg.ingest(of["last.txt"], **how)
    stated = "MATCH (f:Fact {kind: 'triple'})-[:FROM_CHUNK]->(:Chunk) RETURN f.subject, f.inSchema ORDER BY f.subject"
    rest = [["Alca", False], ["Brisa", False], ["Corvo", False], ["Mira Holt", False]]
    assert kg.cypher(stated).rows == (rest if mode == "flexible" else [])


def test_a_run_that_was_stopped_ends_with_the_same_graph(store: Store, book: list[Path], tmp_path: Path) -> None:
    opened(store, tmp_path, ScriptedChat(in_types_of_its_own)).ingest(book, schema=tmp_path / "seed.yaml")
    wanted = snapshot(store)
    for enough in (3, 7):
        wipe(store)
        asked: list[Messages] = []

        def poor(messages: Messages, asked: list[Messages] = asked, enough: int = enough) -> str:
            if len(asked) == enough:
                raise BudgetError("The budget is used up.")
            asked.append(messages)
            return in_types_of_its_own(messages)

        assert opened(store, tmp_path, ScriptedChat(poor)).ingest(book, schema=tmp_path / "seed.yaml").stopped
        rest = ScriptedChat(in_types_of_its_own)
        opened(store, tmp_path, rest).ingest(book, schema=tmp_path / "seed.yaml")
        assert len(rest.calls) == 8 - enough
        assert difference(snapshot(store), wanted) == []


def test_passages_of_another_seed_stay_as_they_are(
    store: Store, book: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_expansion, "SUPPORT", 9)
    kg = opened(store, tmp_path, ScriptedChat(in_types_of_its_own))
    kg.ingest(book, schema=tmp_path / "seed.yaml")
    assert kg.cypher("MATCH (c:Chunk) WHERE c.leftOut IS NOT NULL RETURN count(c)").rows == [[8]]
    (tmp_path / "other.yaml").write_text("entities: [Person, Vessel]\n")
    other = put(tmp_path, {"other.txt": BOOK.split("\n\n")[0] + " It was the other one."})
    kg.ingest(other, schema=tmp_path / "other.yaml")
    assert [row[0] for row in kg.cypher("MATCH (v:Vessel) RETURN v.name").rows] == ["Alca"]
