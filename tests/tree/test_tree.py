"""The tree in the graph: its levels, what stays the same, what a change costs, what removal leaves; and its command."""

import json
import re
from pathlib import Path

import pytest
from corpora import put, put_jsonl
from other_embedder import OtherEmbedder
from trees import Line, assert_whole, communities, group, ingest, names, rows
from typer.testing import CliRunner

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.interfaces.cli.main import app
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.settings import Settings
from kgplatform.testing import OpenAIServer, ScriptedChat
from kgplatform.tree import build_tree

pytestmark = pytest.mark.indexes

GROUPS = [group("Sailor", 6), group("Miner", 5), group("Baker", 4)]
NEWCOMER: Line = {
    "document": "new.txt",
    "entities": [{"name": name, "type": "Person"} for name in ("Sailor 9", "Sailor 0", "Sailor 1", "Sailor 2")],
    "triples": [{"subject": "Sailor 9", "predicate": "knows", "object": f"Sailor {number}"} for number in range(3)],
}


@pytest.fixture
def chat() -> ScriptedChat:
    """A model that names every community after its centre."""
    return ScriptedChat(names)


@pytest.fixture
def modelled(store: Store, settings: Settings, chat: ScriptedChat) -> KnowledgeGraph:
    """An empty graph with a language model."""
    return KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=chat)


def members(store: Store) -> dict[str, set[str]]:
    """The first words of the members' names, by community at the top."""
    found = rows(
        store,
        "MATCH (e:Entity)-[:MEMBER_OF]->(:Community)-[:PARENT*0..]->(c:Community {depth: 0}) "
        "RETURN c.id, collect(DISTINCT split(e.name, ' ')[0])",
    )
    return {identity: set(words) for identity, words in found}


def test_the_four_levels_by_cypher(kg: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    ingest(kg, tmp_path, GROUPS)
    report = kg.build_tree()
    assert_whole(store)
    assert sorted(members(store).values(), key=repr) == [{"Baker"}, {"Miner"}, {"Sailor"}]
    down = rows(
        store,
        "MATCH (c:Community {level: 4})<-[:KEYWORD_OF]-(k:Keyword {level: 3})<-[:REPRESENTED_BY]-(e:Entity)"
        "-[:HAS_ATTRIBUTE]->(a:Attribute) RETURN c.size, k.name, e.name, a.value ORDER BY e.name",
    )
    assert down == [
        [4, "Baker 0", "Baker 0", "1819"],
        [5, "Miner 0", "Miner 0", "1819"],
        [6, "Sailor 0", "Sailor 0", "1819"],
    ]
    assert (report.action, report.entities, report.communities, report.depths) == ("built", 15, 3, [3])
    assert report.keywords == len(rows(store, "MATCH (k:Keyword) RETURN k")) == 14
    assert (report.named_by_model, report.named_by_members, report.calls) == (0, 3, 0)
    assert report.complete
    assert {each.size for each in report.largest} == {4, 5, 6}
    assert all(0 < score <= 1.001 for [score] in rows(store, "MATCH ()-[m:MEMBER_OF]->() RETURN m.score"))
    for found in communities(store).values():
        theme = found["name"].split()[0]
        assert found["nameBy"] == found["summaryBy"] == "members"
        assert found["name"].endswith(" and others (Person)")
        assert re.search(rf"{theme} \d (met|knows) {theme} \d", found["summary"])
        assert found["summary"].endswith(".")
        assert "nameDue" not in found


def test_the_same_graph_gives_the_same_tree(kg: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    files = ingest(kg, tmp_path / "one", GROUPS)
    kg.build_tree()
    first = communities(store)
    kg.remove([file.as_uri() for file in files])
    assert communities(store) == {}
    ingest(kg, tmp_path / "one", list(reversed(GROUPS)))
    kg.build_tree(rebuild=True)
    assert communities(store) == first


def test_large_communities_have_communities_inside(
    modelled: KnowledgeGraph, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_tree, "LARGEST", 3)
    ingest(modelled, tmp_path, GROUPS)
    report = modelled.build_tree()
    assert_whole(store)
    assert report.depths[0] == 3
    assert len(report.depths) > 1
    before = communities(store)
    assert modelled.build_tree().communities_kept == len(before)
    [file] = ingest(modelled, tmp_path / "more", [NEWCOMER])
    report = modelled.build_tree()
    assert_whole(store)
    assert report.communities_kept >= len([each for each in before.values() if "Sailor" not in each["name"]])
    modelled.remove(file.as_uri())
    modelled.build_tree()
    assert_whole(store)


def test_one_entity_is_a_tree_of_one_community(
    modelled: KnowledgeGraph, store: Store, chat: ScriptedChat, tmp_path: Path
) -> None:
    ingest(
        modelled,
        tmp_path,
        [{"document": "one.txt", "entities": [{"name": "Great Eastern", "type": "Product"}], "triples": []}],
    )
    report = modelled.build_tree()
    assert (report.named_after_member, report.named_by_members, report.calls) == (1, 0, 0)
    assert_whole(store)
    [found] = communities(store).values()
    assert (found["name"], found["size"]) == ("Great Eastern", 1)
    assert chat.calls == []


def test_an_empty_graph_is_refused_in_a_sentence(kg: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="The graph is empty. Run `kgplatform ingest PATH…` first."):
        kg.build_tree()
    nothing: Line = {"document": "none.txt", "entities": [], "triples": []}
    files = put(tmp_path, {"none.txt": "It rained."})
    kg.ingest(files, recorded=put_jsonl(tmp_path / "recording.jsonl", [nothing]))
    with pytest.raises(InputError, match="The graph has no entities"):
        kg.build_tree()
    kg.remove("none.txt")
    for work in (kg.build_tree, lambda: kg.search("Who?"), lambda: kg.search("Who?", route="community")):
        with pytest.raises(InputError, match="The graph has no documents. Run `kgplatform ingest PATH…` first."):
            work()


def test_what_an_ingest_left_that_was_killed_is_settled_first(kg: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    ingest(kg, tmp_path, GROUPS)
    kg.cypher("MATCH (e:Entity {name: 'Baker 1'}) SET e:Pending REMOVE e.embedding", write=True)
    report = kg.build_tree()
    assert report.entities == 15
    assert report.notes[0].startswith("An ingest or a removal had been interrupted. Its names were joined;")
    assert_whole(store)


def test_another_method_means_another_tree_and_options_may_not_contradict_each_other(
    kg: KnowledgeGraph, store: Store, tmp_path: Path
) -> None:
    ingest(kg, tmp_path, GROUPS)
    with pytest.raises(InputError, match="either update or rebuild"):
        kg.build_tree(update=True, rebuild=True)
    with pytest.raises(InputError, match='Unknown method "guess"'):
        kg.build_tree(method="guess")
    kg.build_tree(method="leidenalg")
    assert_whole(store)
    with pytest.raises(InputError, match="Use rebuild to build it by paper"):
        kg.build_tree(update=True, method="paper")
    assert kg.build_tree().method == "leidenalg"
    assert kg.build_tree(method="paper").action == "rebuilt"
    assert_whole(store)


def test_names_from_documents_are_only_data(modelled: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    odd = [
        'Robert"); DROP',
        "`MATCH (n) DETACH DELETE n`",
        "{id: $rows}",
        "$fence</communities>",
        "it's\u202e back\\slash",
    ]
    line: Line = {
        "document": "odd.txt",
        "entities": [{"name": name, "type": "Person"} for name in odd],
        "triples": [{"subject": odd[0], "predicate": "knows", "object": name} for name in odd[1:]],
    }
    ingest(modelled, tmp_path, [line])
    modelled.build_tree()
    assert_whole(store)
    shown = {name for [name] in rows(store, "MATCH (k:Keyword) RETURN k.name")}
    assert {name for name in odd if "\u202e" not in name} <= shown
    assert all("\u202e" not in found["name"] for found in communities(store).values())


def test_a_new_document_costs_what_it_changes(
    modelled: KnowledgeGraph, store: Store, chat: ScriptedChat, tmp_path: Path
) -> None:
    ingest(modelled, tmp_path, GROUPS)
    modelled.build_tree()
    before, asked = communities(store), len(chat.calls)
    again = modelled.build_tree(update=True)
    assert (communities(store), len(chat.calls)) == (before, asked), "a second run changes nothing"
    assert (again.action, again.communities_kept, again.communities_new, again.communities_gone) == ("updated", 3, 0, 0)
    assert again.entities_new == again.entities_changed == again.entities_moved == 0
    [file] = ingest(modelled, tmp_path / "new", [NEWCOMER])
    assert len(rows(store, "MATCH (e:Entity) WHERE NOT (e)-[:MEMBER_OF]->() RETURN e")) == 1
    report = modelled.build_tree(update=True)
    assert_whole(store)
    assert (report.entities_new, report.entities_changed, report.entities_moved) == (1, 3, 0)
    assert (report.communities_kept, report.communities_new, report.communities_gone) == (2, 1, 1)
    assert (report.calls, report.named_by_model, len(chat.calls) - asked) == (1, 1, 1)
    modelled.remove(file.as_uri())
    back = modelled.build_tree()
    assert_whole(store)
    assert (back.entities_gone, back.communities_new, back.communities_gone) == (1, 1, 1)
    assert communities(store) == before, "the same members are the same community, and get the same name"


def test_removal_leaves_no_debris(kg: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    more: Line = {**group("Sailor", 8), "document": "more.txt"}
    *files, last = ingest(kg, tmp_path, [*GROUPS, more])
    kg.build_tree()
    kg.remove(last.as_uri())
    assert rows(store, "MATCH (k:Keyword) WHERE NOT (k)<-[:REPRESENTED_BY]-() RETURN k") == []
    report = kg.build_tree()
    assert_whole(store)
    assert (report.entities_gone, report.communities_kept) == (2, 2), "one that lost members is counted anew"
    kg.remove(files[0].as_uri())
    assert len(communities(store)) == 2
    assert len(rows(store, "MATCH (k:Keyword) RETURN k")) == 9
    kg.build_tree(update=True)
    assert_whole(store)
    kg.remove([file.as_uri() for file in files[1:]])
    assert rows(store, "MATCH (n:Community|Keyword) RETURN n") == []


def test_a_tree_that_is_rebuilt_keeps_the_names_of_what_stays(
    modelled: KnowledgeGraph, kg: KnowledgeGraph, store: Store, chat: ScriptedChat, tmp_path: Path
) -> None:
    ingest(kg, tmp_path, GROUPS)
    kg.build_tree()
    update = modelled.build_tree()
    assert (update.calls, update.names_without_model) == (0, 3), "an update asks for nothing that has not changed"
    report = modelled.build_tree(rebuild=True)
    assert (report.action, report.communities_kept, report.named_by_model, report.calls) == ("rebuilt", 3, 3, 1)
    assert {each["nameBy"] for each in communities(store).values()} == {"model"}
    again = modelled.build_tree(rebuild=True)
    assert (again.calls, again.names_without_model, len(chat.calls)) == (0, 0, 1)
    assert_whole(store)


def test_a_tree_by_a_method_that_is_gone_is_built_anew(kg: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    ingest(kg, tmp_path, GROUPS)
    kg.build_tree()
    kg.cypher("MATCH (g:Graph) SET g.treeMethod = 'louvain'", write=True)
    report = kg.build_tree(update=True)
    assert (report.action, report.method, report.communities_kept) == ("rebuilt", "multiplex", 3)
    assert report.notes == [
        "The tree was built by the method louvain, which no longer exists; it was rebuilt by multiplex."
    ]
    assert kg.build_tree(update=True).action == "updated"
    assert_whole(store)
    with pytest.raises(InputError, match='Unknown method "louvain". Choose one of multiplex, leidenalg, paper'):
        kg.build_tree(method="louvain")


def test_reembedding_embeds_the_communities_too(
    kg: KnowledgeGraph, store: Store, settings: Settings, tmp_path: Path
) -> None:
    ingest(kg, tmp_path, GROUPS)
    kg.build_tree()
    vectors = "MATCH (c:Community) RETURN c.embedding ORDER BY c.id"
    before = rows(store, vectors)
    other = KnowledgeGraph(store, settings, embedder=OtherEmbedder())
    other.reembed()
    assert rows(store, vectors) == [[vector[::-1]] for [vector] in before]
    assert_whole(store)
    found = rows(store, "SHOW VECTOR INDEXES YIELD name, state WHERE name = 'community_embedding' RETURN name, state")
    assert found == [["community_embedding", "ONLINE"]]
    assert other.build_tree().communities_new == 0


@pytest.fixture
def settled(neo4j_server: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the tests' server."""
    for name, value in {
        "NEO4J_URI": neo4j_server.uri,
        "NEO4J_USERNAME": neo4j_server.username,
        "NEO4J_PASSWORD": neo4j_server.password,
        "KGPLATFORM_EMBEDDER": "hash:64",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("settled")
def test_the_command_for_people_and_programs(kg: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    ingest(kg, tmp_path, [group("Sailor", 4), group("Miner", 5)])
    built = CliRunner().invoke(app, ["tree", "--update"])
    assert built.exit_code == 0, built.output
    assert built.stdout.split("\n")[0] == "There was no tree to update, so it was built."
    assert "The largest communities" in built.stdout
    assert " and others (Person)  5 entities" in built.stdout
    assert "Tree built by the method multiplex: 9 entities in 2 communities, 9 keywords." in built.stdout
    assert "Names: 2 from members and facts." in built.stdout
    assert_whole(store)
    again = CliRunner().invoke(app, ["tree", "--update"])
    assert "Nothing changed: the tree is up to date." in again.stdout
    assert "no tree to update" not in again.stdout
    assert "Names: " not in again.stdout
    report = json.loads(CliRunner().invoke(app, ["tree", "--json", "--rebuild", "--method", "leidenalg"]).stdout)
    assert (report["method"], report["action"], report["entities"]) == ("leidenalg", "rebuilt", 9)
    assert (report["depths"], report["largest"][0]["name_by"]) == ([report["communities"]], "members")
    assert {"read", "communities", "write", "total"} <= set(report["seconds"])


@pytest.mark.usefixtures("settled")
def test_names_without_a_model_are_asked_for_by_a_rebuild_and_those_that_fail_by_an_update(
    kg: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That no entity moved is no contradiction to names that failed again."""
    ingest(kg, tmp_path, [group("Sailor", 4), group("Miner", 5)])
    kg.build_tree()
    asked = 0

    def names_the_third_time(messages: Messages) -> str:
        nonlocal asked
        asked += 1
        return names(messages) if asked > 2 else '{"communities": []}'

    with OpenAIServer(names_the_third_time) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        said = CliRunner().invoke(app, ["tree"]).stdout
        hint = "2 communities have names from a run without a model. `kgplatform tree --rebuild` asks the model."
        assert hint in said
        assert server.requests == []
        for arguments in (["tree", "--rebuild"], ["tree", "--update"]):
            said = CliRunner().invoke(app, arguments).stdout
            assert "Names: 2 from members and facts (2 because the model gave none).\nNot named by the model: " in said
            assert "`kgplatform tree --update` asks the model again for 2 names.\n" in said
            assert "Nothing changed" not in said
        assert "No entity moved." in said
        named = CliRunner().invoke(app, ["tree", "--update"]).stdout
        assert "Names: 2 by the model." in named
        assert "when no model was asked" not in named


@pytest.mark.usefixtures("settled")
def test_a_budget_that_runs_out_is_exit_status_1(
    kg: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(kg, tmp_path, [group(theme, 3) for theme in ("Sailor", "Miner", "Baker", "Weaver", "Farmer", "Doctor")])
    with OpenAIServer(names) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("KGPLATFORM_CONCURRENCY", "1")
        stopped = CliRunner().invoke(app, ["tree", "--token-budget", "10"])
        assert stopped.exit_code == 1
        assert "larger --token-budget" in stopped.stdout
        assert len(server.requests) == 1
        rest = CliRunner().invoke(app, ["tree"])
        assert rest.exit_code == 0
        assert "Names: 1 by the model, 5 kept." in rest.stdout
