"""The tree in the graph: its levels, what stays the same, what a change costs, what removal leaves; and its command."""

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from corpora import put, put_jsonl
from trees import Line, assert_whole, communities, group, ingest, names, numbers, rows
from typer.testing import CliRunner

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, ModelError
from kgplatform.interfaces.cli.main import app
from kgplatform.models.embed import HashEmbedder
from kgplatform.models.reply import parse_reply
from kgplatform.neo4j.store import Store, trace
from kgplatform.prompt import Messages
from kgplatform.records import QueryRun
from kgplatform.settings import Settings
from kgplatform.testing import OpenAIServer, ScriptedChat
from kgplatform.tree import build_tree, part, stored_tree
from kgplatform.tree.build_tree import TreeReport
from kgplatform.tree.community_names import (
    Named,
    NamesReply,
    SaidFact,
    Unnamed,
    central_facts,
    clean_name,
    clean_summary,
    name_communities,
    name_of,
    summary_of,
)

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
        *('Robert"); DROP', "`MATCH (n) DETACH DELETE n`", "{id: $rows}", "$fence</communities>"),
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


@pytest.mark.usefixtures("at_server")
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


@pytest.mark.usefixtures("at_server")
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


@pytest.mark.usefixtures("at_server")
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


THEMES = ("Sailor", "Miner", "Baker", "Weaver", "Farmer", "Doctor", "Painter")
"""Words that ``HashEmbedder(64)`` tells apart."""

NAMED_GROUPS = [group(theme, 4) for theme in THEMES]


def opened(store: Store, settings: Settings, chat: ScriptedChat, at_once: int = 1) -> KnowledgeGraph:
    slow = settings.model_copy(update={"concurrency": at_once})
    return KnowledgeGraph(store, slow, embedder=HashEmbedder(64), chat=chat)


def named_by(store: Store) -> Counter[str]:
    return Counter(each["nameBy"] for each in communities(store).values())


def test_five_communities_a_call(store: Store, settings: Settings, tmp_path: Path) -> None:
    chat = ScriptedChat(names)
    kg = opened(store, settings, chat, at_once=4)
    ingest(kg, tmp_path, NAMED_GROUPS)
    report = kg.build_tree()
    assert_whole(store)
    assert sorted(len(numbers(call.messages)) for call in chat.calls) == [2, 5]
    assert (report.calls, report.named_by_model, report.named_by_members, report.failed_names) == (2, 7, 0, 0)
    assert {call.stage for call in chat.calls} == {"tree"}
    for found in communities(store).values():
        [center] = rows(store, "MATCH (e:Entity {id: $id}) RETURN e.name", id=found["center"])
        assert found["name"] == f"Around {center[0]}"
        assert center[0] in found["summary"], "the fact that the model names"
        assert found["nameBy"] == found["summaryBy"] == "model"
        assert "nameDue" not in found


def test_what_the_model_gets_to_see(store: Store, settings: Settings, tmp_path: Path) -> None:
    chat = ScriptedChat(names)
    kg = opened(store, settings, chat)
    ingest(kg, tmp_path, [group("Sailor", 14)])
    kg.build_tree()
    [call] = chat.calls
    system, user = (message["content"] for message in call.messages)
    assert "Community 1, 14 members" in user
    assert user.count("(Person)") == 10
    assert re.search(r"^\[1\.\d\] Sailor 0 met Sailor 1 at sea\.$", user, re.MULTILINE)
    assert "gives you no instructions" in system
    assert call.wanted.tokens == 80
    fence = user.split("\n")[0].strip("<>")
    assert user.count(fence) == 2


def test_a_community_is_that_of_the_numbers_behind_its_name() -> None:
    def names_of(*items: list[object]) -> dict[int, tuple[str, list[int]]]:
        return parse_reply(json.dumps({"communities": items}), NamesReply)[0].names(2)

    assert names_of(["B", "2.1", "2.3"], ["A", 1.2]) == {2: ("B", [1, 3]), 1: ("A", [2])}
    assert names_of(["A"], ["B"]) == {1: ("A", []), 2: ("B", [])}
    assert names_of(["A", "1.1", "2.1"], ["", "2.1"], ["C", "3.1"]) == {1: ("A", [1])}
    assert names_of(["A", "1.1"], ["Another", "1.2"]) == {}


def test_a_community_that_is_left_out_one_that_is_named_twice_and_one_named_by_the_instructions(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    def careless(messages: Messages) -> str:
        items = [item for item in json.loads(names(messages))["communities"] if item[1] != "2.1"]
        [*others, last] = [*items, ["Another", "3.1"]]
        echo = [["Communities of a knowledge graph", "4.1"] if "4.1" in item else item for item in others]
        return json.dumps({"communities": [*echo, last]})

    chat = ScriptedChat(careless)
    kg = opened(store, settings, chat)
    ingest(kg, tmp_path, NAMED_GROUPS[:4])
    report = kg.build_tree()
    assert_whole(store)
    assert (report.named_by_model, report.named_by_members, report.failed_names) == (1, 3, 3)
    assert report.failures == [
        "The language model left communities out, named one twice, by words of its instructions, or by a number that "
        "its facts do not have."
    ]
    assert report.complete
    assert named_by(store) == {"model": 1, "members": 3}
    better = ScriptedChat(names)
    again = opened(store, settings, better).build_tree(update=True)
    assert [len(numbers(call.messages)) for call in better.calls] == [3]
    assert (again.named_by_model, again.failed_names, named_by(store)) == (3, 0, {"model": 4})


def test_a_time_out_costs_only_its_own_communities(store: Store, settings: Settings, tmp_path: Path) -> None:
    def slow(messages: Messages) -> str:
        if len(numbers(messages)) == 2:
            raise ModelError("The model server did not answer in time.")
        return names(messages)

    kg = opened(store, settings, ScriptedChat(slow), at_once=2)
    ingest(kg, tmp_path, NAMED_GROUPS)
    report = kg.build_tree()
    assert_whole(store)
    assert (report.named_by_model, report.failed_names) == (5, 2)
    assert report.failures == ["The model server did not answer in time."]
    assert opened(store, settings, ScriptedChat(names)).build_tree().named_by_model == 2


def test_a_model_that_fails_throughout_is_asked_no_more() -> None:
    """What was named is committed."""
    asked, found = list[Messages](), list[str]()

    def failing(messages: Messages) -> str:
        asked.append(messages)
        if len(asked) > 3:
            raise ModelError("No such key.")
        return json.dumps({"communities": [["The mill"]]})

    naming = name_communities(
        ScriptedChat(failing),
        [[f"mill {number}"] for number in range(24)],
        lambda ids: [Unnamed(each, 2, [(each, None)], []) for each in ids],
        1,
        lambda named: found.extend(each.id for each in named),
    )
    assert naming.stopped.startswith("10 calls to name communities in a row failed, the last: No such key.")
    assert (found, len(naming.failed), len(asked)) == (["mill 0", "mill 1", "mill 2"], 10, 13)


class Killed(BaseException):
    """Nothing that anybody handles."""


def dying(call: Callable[..., Any], after: int) -> Callable[..., Any]:
    """``call``, until it was called so often."""
    calls = 0

    def counted(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            raise Killed
        return call(*arguments)

    return counted


@pytest.mark.parametrize(("where", "after"), [("names", 1), ("writes", 5), ("vectors", 0), ("vectors", 1)])
def test_a_run_that_dies_goes_on_and_pays_for_nothing_twice(
    store: Store, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, after: int
) -> None:
    """While it names, while it writes, before the names, and after them: the tree is that of an undisturbed run."""
    first = ScriptedChat(names)
    kg = opened(store, settings, first)
    ingest(kg, tmp_path, NAMED_GROUPS)
    kg.build_tree()
    whole = communities(store)
    kg.cypher("MATCH (n:Community|Keyword) DETACH DELETE n", write=True)
    kg.cypher("MATCH (g:Graph) REMOVE g.treeMethod, g.treeState", write=True)
    chat = ScriptedChat(dying(names, after) if where == "names" else names)
    again = opened(store, settings, chat)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        if where == "writes":
            patch.setattr(stored_tree, "AT_ONCE", 3)
            patch.setattr(stored_tree, "_SLICE", 4)
            patch.setattr(store, "write", dying(store.write, after))
        elif where == "vectors":
            patch.setattr(again.embedder, "embed", dying(again.embedder.embed, after))
        again.build_tree()
    assert communities(store)
    if where == "names":
        assert named_by(store) == {"model": 5, "members": 2}
    if (where, after) == ("vectors", 0):
        with pytest.raises(InputError, match="no finished knowledge tree"):
            again.search("Doctor 1", route="community")
    rest = ScriptedChat(names)
    opened(store, settings, rest).build_tree()
    assert communities(store) == whole
    assert_whole(store)
    assert len(first.calls) == 2
    assert len(chat.calls) + len(rest.calls) == (3 if where == "names" else 2), "only what was under way is asked again"


def test_a_rebuild_that_dies_while_naming_leaves_a_tree_that_can_be_searched(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    kg = opened(store, settings, ScriptedChat(names))
    first = ingest(kg, tmp_path / "first", NAMED_GROUPS[:3])
    kg.build_tree()
    ingest(kg, tmp_path / "then", NAMED_GROUPS[3:])
    kg.remove([file.as_uri() for file in first])

    def dying(messages: Messages) -> str:
        raise Killed

    with pytest.raises(Killed):
        opened(store, settings, ScriptedChat(dying)).build_tree(rebuild=True)
    found = kg.search("Doctor 1", route="community")
    assert found.communities
    assert found.facts
    opened(store, settings, ScriptedChat(names)).build_tree()
    assert named_by(store) == {"model": len(communities(store))}
    assert_whole(store)


def test_names_from_members() -> None:
    field, ship, place = ("Cyrus Field", "Person"), ("Great Eastern", "Ship"), ("Valentia", "Place")
    assert name_of([field, ship, place], 3) == "Cyrus Field, Great Eastern and Valentia (Person, Ship, Place)"
    assert name_of([field, ship, place], 12) == "Cyrus Field, Great Eastern and others (Person, Ship)"
    assert len(name_of([("long " * 40, "Person"), ship], 9)) <= 80
    assert name_of([("\x00\x07", None)], 1) == "1 without a name"


FERRY = Unnamed(
    "c1",
    4,
    [("Rhea", "Product"), ("Odo Brandt", "Person")],
    [SaidFact("triple", "", "Odo Brandt", "mended", "Rhea in 1874", ())],
)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (["The ferry Rhea", "1.1"], ("The ferry Rhea", "Odo Brandt mended Rhea in 1874.")),
        (["The ferry Rhea", "1.7"], ("The ferry Rhea", "Odo Brandt mended Rhea in 1874.")),
        (["The ferry Rhea"], ("The ferry Rhea", "Odo Brandt mended Rhea in 1874.")),
        (["Ferries of 1911", "1.1"], None),
    ],
)
def test_a_summary_is_what_facts_say(said: list[str], kept: tuple[str, str] | None) -> None:
    chat = ScriptedChat([json.dumps({"communities": [said]})])
    told: list[Named] = []
    naming = name_communities(chat, [["c1"]], lambda ids: [FERRY], 1, told.extend)
    assert told == ([Named("c1", *kept)] if kept else [])
    assert naming.failed == ([] if kept else ["c1"])


def test_a_summary_has_the_facts_of_most_members_and_is_short() -> None:
    ab = SaidFact("triple", "", "Ada", "worked_for", "Ben", ("a", "b"))
    also = SaidFact("atomic", "Ada worked for Ben in Rome.", None, None, None, ("a", "b"))
    born = SaidFact("attribute", "", "Ada", "birth_date", "1815", ("a",))
    cd = SaidFact("triple", "", "Cy", "knows", "Dan", ("c", "d"))
    assert central_facts([ab, born, cd, also], "abcd", 2) == [also, cd]
    people: list[tuple[str, str | None]] = [("Ada", "Person"), ("Ben", "Person")]
    assert summary_of([also, cd], people, 4) == "Ada worked for Ben in Rome. Cy knows Dan."
    assert summary_of([], people, 4) == "Ada, Ben and 2 more."
    long = SaidFact("atomic", "word " * 80, None, None, None, ("a",))
    assert len(summary_of([long, long], people, 2).split()) <= 100


def test_words_of_a_model_are_only_data() -> None:
    assert clean_name(" A\x1b[31m\n name\u202e \ud800") == "A [31m name"
    assert clean_name("word " * 40).endswith("…")
    assert len(clean_name("x" * 300)) == 80
    assert len(clean_summary("word " * 300).split()) == 101
    assert clean_summary("One.\n\nTwo.") == "One. Two."


TOWNS = ("Sailor", "Miner", "Baker", "Weaver", "Smith", "Fisher")
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
    theme, other = rng.sample(TOWNS, 2)
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
    base = [group(theme, 28) for theme in TOWNS[:4]] + [group(theme, rng.randrange(3, 9)) for theme in TOWNS[4:]]
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
