"""The grown schema reaches what was read before it grew, in one book too, and without a call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import wipe
from corpora import difference, put
from graph_state import snapshot

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import BudgetError
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.settings import load_settings
from kgplatform.testing import ScriptedChat

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


def opened(store: Store, home: Path, chat: ScriptedChat, support: int = 2) -> KnowledgeGraph:
    settings = load_settings(home=home, passage_tokens=40, embedder="hash:64", concurrency=1, expansion_support=support)
    return KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=chat)


@pytest.fixture
def book(tmp_path: Path) -> list[Path]:
    (tmp_path / "seed.yaml").write_text(SEED)
    return put(tmp_path, {"book.txt": BOOK})


def test_a_single_book_grows_its_schema_and_is_filled_in(store: Store, book: list[Path], tmp_path: Path) -> None:
    chat = ScriptedChat(in_types_of_its_own)
    kg = opened(store, tmp_path, chat)
    report = kg.ingest(book, schema=tmp_path / "seed.yaml")
    assert [each.name for each in report.expansions] == ["Vessel"]
    assert len(chat.calls) == report.passages == 8, "one window, which saw the seed alone"
    assert sorted(row[0] for row in kg.cypher("MATCH (v:Vessel) RETURN v.name").rows) == list(SHIPS)
    assert kg.cypher("MATCH (:Person)-[r:COMMANDS]->(:Vessel) RETURN count(r)").rows == [[8]]
    assert (report.dropped, report.kept) == (0, 24)
    assert kg.cypher("MATCH (c:Chunk) WHERE c.leftOut IS NOT NULL RETURN count(c)").rows == [[0]]
    assert kg.cypher("MATCH (n:Pending) RETURN count(n)").rows == [[0]]
    assert kg.search("Which ships did Mira Holt command?", route="triple").facts


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


def test_passages_of_another_seed_stay_as_they_are(store: Store, book: list[Path], tmp_path: Path) -> None:
    kg = opened(store, tmp_path, ScriptedChat(in_types_of_its_own), support=9)
    kg.ingest(book, schema=tmp_path / "seed.yaml")
    assert kg.cypher("MATCH (c:Chunk) WHERE c.leftOut IS NOT NULL RETURN count(c)").rows == [[8]]
    (tmp_path / "other.yaml").write_text("entities: [Person, Vessel]\n")
    other = put(tmp_path, {"other.txt": BOOK.split("\n\n")[0] + " It was the other one."})
    kg.ingest(other, schema=tmp_path / "other.yaml")
    assert [row[0] for row in kg.cypher("MATCH (v:Vessel) RETURN v.name").rows] == ["Alca"]
