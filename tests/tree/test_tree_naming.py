"""Names by a language model: batches, faults, budgets, and runs that were cut off."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trees import assert_whole, communities, group, ingest, names, numbers, rows

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, ModelError
from kgplatform.models.embed import HashEmbedder
from kgplatform.models.reply import parse_reply
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.settings import Settings
from kgplatform.testing import ScriptedChat
from kgplatform.tree import stored_tree
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

THEMES = ("Sailor", "Miner", "Baker", "Weaver", "Farmer", "Doctor", "Painter")
"""Words that ``HashEmbedder(64)`` tells apart."""

GROUPS = [group(theme, 4) for theme in THEMES]


def opened(store: Store, settings: Settings, chat: ScriptedChat, at_once: int = 1) -> KnowledgeGraph:
    slow = settings.model_copy(update={"concurrency": at_once})
    return KnowledgeGraph(store, slow, embedder=HashEmbedder(64), chat=chat)


def named_by(store: Store) -> Counter[str]:
    return Counter(each["nameBy"] for each in communities(store).values())


def test_five_communities_a_call(store: Store, settings: Settings, tmp_path: Path) -> None:
    chat = ScriptedChat(names)
    kg = opened(store, settings, chat, at_once=4)
    ingest(kg, tmp_path, GROUPS)
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
    ingest(kg, tmp_path, GROUPS[:4])
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
    ingest(kg, tmp_path, GROUPS)
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
    ingest(kg, tmp_path, GROUPS)
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
    first = ingest(kg, tmp_path / "first", GROUPS[:3])
    kg.build_tree()
    ingest(kg, tmp_path / "then", GROUPS[3:])
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
