"""An update that reads only the communities that a change is in: what it leaves is what a look at all would leave."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from trees import Line, assert_whole, communities, group, ingest, names, rows

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store, trace
from kgplatform.prompt import Messages
from kgplatform.records import QueryRun
from kgplatform.settings import Settings
from kgplatform.testing import ScriptedChat
from kgplatform.tree import part
from kgplatform.tree.build_tree import TreeReport

THEMES = ("Sailor", "Miner", "Baker", "Weaver", "Smith", "Fisher")
COMMUNITIES = "MATCH (c:Community) OPTIONAL MATCH (c)-[:PARENT]->(p) RETURN properties(c), p.id ORDER BY c.id"
MEMBERS = "MATCH (e:Entity)-[m:MEMBER_OF]->(c) RETURN e.id, c.id, m.score, m.signature ORDER BY e.id"
KEYWORDS = "MATCH (e)-[:REPRESENTED_BY]->(k)-[:KEYWORD_OF]->(c) RETURN e.id, k.id, k.score, c.id ORDER BY k.id"


@pytest.fixture
def by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates look at parts, however small the graph and however large the part."""
    monkeypatch.setattr(part, "LARGE", 0)
    monkeypatch.setattr(part, "_SHARE", 1)


def line(rng: random.Random, number: int) -> Line:
    """A document about some people of one theme, or about one who is known in two."""
    theme, other = rng.sample(THEMES, 2)
    names = [f"{theme} {each}" for each in rng.sample(range(30), rng.randrange(2, 9))]
    met = rng.choice((names[-1], f"{other} {rng.randrange(30)}"))
    pairs = [(names[0], each) for each in names[1:]] + [(each, met) for each in names[1:] if each != met]
    return {
        "document": f"{number}.txt",
        "entities": [{"name": name, "type": "Person"} for name in {*names, met}],
        "triples": [{"subject": one, "predicate": "knows", "object": who} for one, who in pairs],
        "attributes": [{"entity": names[0], "key": "birth date", "value": str(1800 + number)}],
    }


def tree(store: Store) -> list[list[list[object]]]:
    """All that the tree is, as rows."""
    return [rows(store, statement) for statement in (COMMUNITIES, MEMBERS, KEYWORDS)]


def looked_at(
    kg: KnowledgeGraph, asked: Sequence[str] = ("tree/entities", "tree/memberships")
) -> tuple[TreeReport, bool]:
    """An update, and whether it read the whole graph."""
    runs: list[QueryRun] = []
    with trace(runs.append):
        report = kg.build_tree(update=True)
    return report, any(run.name in asked for run in runs)


@pytest.mark.usefixtures("by_parts")
def test_after_any_change_a_look_at_everything_finds_nothing_to_do(
    kg: KnowledgeGraph, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(0)
    base = [group(theme, 28) for theme in THEMES[:4]] + [group(theme, rng.randrange(3, 9)) for theme in THEMES[4:]]
    files = ingest(kg, tmp_path, base)
    kg.build_tree()
    for step in range(2):
        if step == 1:
            kg.remove([files.pop(rng.randrange(len(files))).as_uri()])
        files += ingest(kg, tmp_path / str(step), [line(rng, 10 * step + each) for each in range(3)])
        report, whole = looked_at(kg)
        assert not whole
        assert_whole(store)
        now = tree(store)
        assert sum(report.depths) == report.communities == len(now[0])
        assert (report.entities, report.keywords) == (len(now[1]), len(now[2]))
        assert rows(store, "MATCH (n) WHERE n.treeDue IS NOT NULL RETURN n.id") == []
        with monkeypatch.context() as patch:
            patch.setattr(part, "LARGE", 10**9)
            again, whole = looked_at(kg)
        assert whole
        assert (again.communities_new, again.communities_gone, again.entities_changed) == (0, 0, 0)
        assert tree(store) == now


@pytest.mark.usefixtures("by_parts")
def test_newcomers_go_to_those_that_they_belong_to(kg: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    ingest(kg, tmp_path, [group("Sailor", 8), group("Miner", 8), group("Baker", 8)])
    kg.build_tree()
    before = communities(store)
    new: Line = {
        "document": "new.txt",
        "entities": [{"name": name, "type": "Person"} for name in ("Sailor 99", "Miner 99", "Miner 1")],
        "triples": [{"subject": "Miner 99", "predicate": "knows", "object": "Miner 1"}],
    }
    [file] = ingest(kg, tmp_path / "new", [new])
    report, whole = looked_at(kg)
    assert (report.entities_new, report.entities_changed, report.entities_moved, whole) == (2, 1, 0, False)
    assert (report.communities_new, report.communities_gone) == (2, 2)
    found = rows(
        store,
        "MATCH (e:Entity)-[:MEMBER_OF]->(c) WHERE e.name IN ['Miner 99', 'Sailor 99'] "
        "RETURN e.name, [(o)-[:MEMBER_OF]->(c) WHERE o <> e | split(o.name, ' ')[0]] ORDER BY e.name",
    )
    assert [(name, set(others)) for name, others in found] == [("Miner 99", {"Miner"}), ("Sailor 99", {"Sailor"})]
    kg.remove([file.as_uri()])
    report, whole = looked_at(kg)
    assert (report.entities_gone, whole) == (2, False)
    assert_whole(store)
    assert communities(store) == before


@pytest.mark.usefixtures("by_parts")
def test_a_group_of_newcomers_is_a_community_of_its_own(kg: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    ingest(kg, tmp_path, [group("Sailor", 8), group("Miner", 8)])
    kg.build_tree()
    ingest(kg, tmp_path / "new", [group("Weaver", 12)])
    report, whole = looked_at(kg)
    assert (report.communities_kept, report.communities_new, report.communities_gone, whole) == (2, 1, 0, False)
    assert_whole(store)


@pytest.mark.usefixtures("by_parts")
def test_what_comes_while_a_model_names_communities_is_due_in_the_next(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    """The tree can be searched by then, and an ingest goes on beside it."""
    changed = False

    def change(messages: Messages) -> str:
        nonlocal changed
        if not changed:
            changed = True
            ingest(other, tmp_path / "two", [{**group("Sailor", 9), "document": "two.txt"}])
        return names(messages)

    kg = KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=ScriptedChat(change))
    other = KnowledgeGraph(store, settings, embedder=HashEmbedder(64))
    ingest(other, tmp_path, [group("Sailor", 8), group("Miner", 8)])
    other.build_tree()
    ingest(other, tmp_path / "one", [{**group("Weaver", 12), "document": "one.txt"}])
    kg.build_tree(update=True)
    assert changed
    assert rows(store, "MATCH (e:Entity) WHERE e.treeDue IS NOT NULL RETURN count(*)") == [[9]]
    report, whole = looked_at(other)
    assert (report.entities_new, whole) == (1, False)
    assert_whole(store)


def test_small_graphs_and_large_changes_are_looked_at_as_a_whole(
    kg: KnowledgeGraph, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(kg, tmp_path, [group("Sailor", 8), group("Miner", 8)])
    kg.build_tree()
    ingest(kg, tmp_path / "new", [group("Weaver", 12)])
    assert looked_at(kg)[1]
    monkeypatch.setattr(part, "LARGE", 0)
    ingest(kg, tmp_path / "more", [group("Smith", 12)])
    assert looked_at(kg)[1], "a dozen is more than one in four"
    assert rows(store, "MATCH (e:Entity) WHERE e.treeDue IS NOT NULL RETURN e.id") == []
