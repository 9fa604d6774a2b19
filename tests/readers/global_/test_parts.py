"""Communities in parts: all of them, each fact once, what is about one thing undivided, and no part too large."""

import random
import re

import pytest

from kgplatform.readers.global_.reader import lay_out, spoken_of
from kgplatform.readers.window import tokens
from kgplatform.records import FoundCommunity
from kgplatform.search.communities import Group, GroupFact


def group(
    name: str, things: int = 0, facts: int = 3, above: tuple[tuple[str, str], ...] = (), members: int = 0
) -> Group:
    told = tuple(
        GroupFact(f"{name} {thing} {n}", f"{name}{thing} keeps the {n} key of the gate.", f"{name}{thing}")
        for thing in range(things)
        for n in range(facts)
    )
    community = FoundCommunity(name, name, f"All about {name}.", things + members, 0.0)
    return Group(community, len(above), above, facts=told, members=tuple(f"{name}'s {n}" for n in range(members)))


@pytest.mark.parametrize("room", [200, 1000])
def test_every_fact_is_in_one_part_and_what_is_about_one_thing_is_not_divided(room: int) -> None:
    chance = random.Random(room)
    groups = [group(f"G{n}", chance.randrange(12), chance.randrange(1, 6), members=n) for n in range(25)]
    parts = lay_out(groups, room)
    facts = [fact.id for part in parts for fact in part.facts]
    assert facts == [fact.id for each in groups for fact in each.facts]
    for part in parts:
        assert tokens(part.text) <= room
        assert re.findall(r"^\[(\d+)\] ", part.text, re.MULTILINE) == [str(n) for n in range(1, len(part.facts) + 1)]
    assert {each.community.id for part in parts for each in part.groups} == {each.community.id for each in groups}
    text = "\n".join(part.text for part in parts)
    assert all(member in text for each in groups for member in each.members)
    parts = lay_out([group("A", 40, 3)], 400)
    places = {(fact.about, part.number) for part in parts for fact in part.facts}
    assert len(places) == 40
    assert len(parts) > 3


def test_a_summary_is_shown_where_there_are_no_facts() -> None:
    """Else it would repeat them."""
    texts = [lay_out([each], 500)[0].text for each in (group("A", 1), group("B", members=2))]
    assert ["All about" in text for text in texts] == [False, True]
    assert texts[1].endswith("Also in it: B's 0; B's 1")


def told(name: str, *facts: tuple[str, str]) -> Group:
    """Facts as (what they are about, their words)."""
    said = tuple(GroupFact(text, text, about) for about, text in facts)
    return Group(FoundCommunity(name, name, "", len(said), 0.0), 0, facts=said)


SEA = told(
    "Sea",
    ("Mara Voss", "Mara Voss kept the lamp of Ostrel"),
    ("Mara Voss", "Mara Voss disliked soup"),
    ("Jon Reed", "Jon Reed painted gulls"),
    ("Jon Reed", "Mara Voss was taught by Jon Reed"),
    ("Ida Pell", "Ida Pell played the flute"),
)
LAND = told("Land", ("Tom Ash", "Tom Ash mended clocks"))


def test_a_question_is_put_to_what_is_said_of_the_things_it_speaks_of() -> None:
    """Of Mara Voss all, and of Jon Reed, since a fact about him names her; the other community is not read."""
    near, apart = spoken_of([SEA, LAND], "What did the one who kept the lamp of Ostrel do?")
    assert [each.community.name for each in near] == ["Sea"]
    assert [fact.about for fact in near[0].facts] == ["Mara Voss", "Mara Voss", "Jon Reed", "Jon Reed"]
    assert apart == 2


@pytest.mark.parametrize("question", ["Which moods and manners come up?", "Worum geht es?"])
def test_a_question_that_speaks_of_no_one_thing_is_put_to_everything(question: str) -> None:
    assert spoken_of([SEA, LAND], question) == ([SEA, LAND], 0)


def test_a_long_fact_is_cut() -> None:
    long = Group(group("A").community, 0, facts=(GroupFact("1", "word " * 5000, "A"), GroupFact("2", "short", "A")))
    parts = lay_out([long], 400)
    assert [fact.id for part in parts for fact in part.facts] == ["1", "2"]
    assert max(tokens(part.text) for part in parts) <= 400
