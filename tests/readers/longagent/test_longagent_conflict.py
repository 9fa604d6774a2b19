"""LongAgent's conflicts: whose answers agree, who reads whose part, and whose answer is left."""

import random
from collections.abc import Callable, Mapping, Sequence

import pytest

from kgplatform.readers.longagent.conflict import (
    Cluster,
    Duel,
    MemberReply,
    Resolution,
    clustered,
    is_part,
    once,
    same,
    sorted_out,
    tournament,
)
from kgplatform.readers.longagent.options import Group, Relation

Says = Mapping[tuple[int, int], str | None]


def told(*answers: str, exact: bool = False) -> list[Cluster]:
    """The clusters of members 1, 2, … with these answers."""
    return clustered([reply(number, answer) for number, answer in enumerate(answers, 1)], exact=exact)


def reply(member: int, answer: str | None, *sentences: str) -> MemberReply:
    return MemberReply((member,), "answer" if answer else "no mention", answer or "", sentences)


def reader(said: Says, sentences: tuple[str, ...] = ("1.1",)) -> Callable[[Sequence[Duel]], list[MemberReply]]:
    return lambda duels: [reply(each.i, said[each.i, each.j], *sentences) for each in duels]


def settle(said: Says, *answers: str, sentences: tuple[str, ...] = ("1.1",), way: str = "group") -> Resolution:
    """Members 1, 2, …, who all contradict each other, and say ``said`` when they read two parts."""
    clusters = told(*answers, exact=way == "once")
    if way == "once":
        return once(clusters, reader(said, ()), random.Random(0))
    rivals = [tuple(range(len(clusters)))] if len(clusters) > 1 else []
    return tournament(clusters, rivals, reader(said, sentences), random.Random(0))


def left(done: Resolution) -> list[str]:
    return [each.answer for each in done.clusters]


def test_members_with_the_same_answer_are_together_in_order() -> None:
    answers = {3: "A Lamp", 4: "Hull", 5: "a lamp!"}
    found = [reply(number, answer, f"{number}.1") for number, answer in answers.items()]
    assert clustered(found) == [Cluster("A Lamp", (3, 5), ("3.1",)), Cluster("Hull", (4,), ("4.1",))]
    assert [each.members for each in clustered(found, exact=True)] == [(3,), (4,), (5,)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *(("Yale Law-Journal", "yale law journal"), ("1,000", "1000"), ("12.3.1990", "12/3/1990"), ("−5 °C", "-5°C")),
        *(("15 September 1859", "1859-09-15"), ("1859年9月15日", "15 settembre 1859")),
    ],
)
def test_answers_that_are_the_same(first: str, second: str) -> None:
    assert same(first, second)
    assert len(told(first, second)) == 1


@pytest.mark.parametrize("part", ["1859", "September 1859"])
def test_a_part_of_an_answer_agrees_with_it_and_a_part_of_two_with_neither(part: str) -> None:
    whole, other = "15 September 1859", "3 May 1859"
    assert not same(part, whole)
    assert is_part(part, whole)
    assert told(part, whole) == [Cluster(whole, (1, 2), (), (part,))]
    assert [each.answer for each in told("1859", other, whole)] == ["1859", other, whole]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *(("Пётр", "Павел"), ("1.5 million", "15 million"), ("2-1", "21"), ("-5", "5"), ("C++", "C#")),
        *(("before 1859", "1859"), ("3 May 1859", "15 September 1859"), ("York", "New York")),
    ],
)
def test_answers_that_are_not_unless_the_leader_says_so(first: str, second: str) -> None:
    assert not same(first, second)
    assert not is_part(first, second)
    assert not is_part(second, first)
    assert len(told(first, second)) == 2


def grouped(*groups: tuple[Relation, tuple[int, ...]]) -> list[Group]:
    return [Group(members=list(members), relation=relation) for relation, members in groups]


def test_what_means_the_same_is_one_and_rivals_are_those_that_contradict() -> None:
    clusters = told("Sturm", "storm", "fire", "fog")
    united, rivals = sorted_out(clusters, grouped(("same", (1, 2)), ("conflicting", (2, 3))))
    assert [(each.answer, each.members, each.others) for each in united] == [
        ("Sturm", (1, 2), ("storm",)),
        ("fire", (3,), ()),
        ("fog", (4,), ()),
    ]
    assert rivals == [(0, 1)]


def test_complementary_answers_are_no_rivals_and_without_groups_all_are() -> None:
    clusters = told("Agamemnon", "Niagara", "fog")
    assert sorted_out(clusters, grouped(("complementary", (1, 2)))) == (clusters, [])
    assert sorted_out(clusters, []) == (clusters, [])
    assert sorted_out(clusters, None)[1] == [(0, 1, 2)]
    assert sorted_out(told("a lamp"), None)[1] == []


def test_two_numbers_are_not_the_same_whatever_a_group_says() -> None:
    clusters = told("1859", "1866")
    assert sorted_out(clusters, grouped(("same", (1, 2)))) == (clusters, [(0, 1)])


def test_groups_with_a_common_member_are_one_conflict_and_unknown_numbers_are_left_out() -> None:
    clusters = told("lamp", "boat", "pier", "quay", "tower")
    groups = grouped(("conflicting", (1, 2)), ("conflicting", (2, 3, 9)), ("conflicting", (4, 5)))
    assert sorted_out(clusters, groups)[1] == [(0, 1, 2), (3, 4)]


@pytest.mark.parametrize(
    ("said", "kept", "dropped"), [("the York", "York", "Hull"), ("Hull, and not Bath", "Hull", "York")]
)
def test_one_reading_decides_between_two_answers_where_it_names_sentences(said: str, kept: str, dropped: str) -> None:
    done = settle({(1, 2): said}, "Hull", "York")
    assert left(done) == [kept]
    (merge,) = done.merges
    assert (merge.duel.i, merge.duel.j, len(merge.readings), merge.aside) == (1, 2, 1, ())
    assert merge.dropped == (dropped,)


@pytest.mark.parametrize("sentences", [("1.1",), ()])
def test_answers_that_are_both_right_are_united(sentences: tuple[str, ...]) -> None:
    first, second = "Agamemnon and Niagara", "Niagara and Agamemnon"
    done = settle({(1, 2): first, (2, 1): second}, "Agamemnon", "Niagara", sentences=sentences)
    assert done.clusters == (Cluster("Agamemnon and Niagara", (1, 2), sentences),)
    assert done.merges[0].dropped == ()
    assert len(done.merges[0].readings) == (1 if sentences else 2)
    assert left(settle({(1, 2): first}, "Agamemnon", "Niagara", way="once")) == ["Agamemnon and Niagara"]


@pytest.mark.parametrize(
    ("first", "second", "answers"),
    [
        *(("Hull", "Hull", ["Hull"]), (None, "York", ["York"]), ("Leeds", "Hull", ["Hull"])),
        *(("Hull", "York", ["Hull", "York"]), (None, None, []), ("Hull", "Hull and York", ["Hull", "York"])),
        ("Hull, not York", "Hull", ["Hull", "York"]),
    ],
)
def test_where_no_sentence_is_named_a_second_member_reads(
    first: str | None, second: str | None, answers: list[str]
) -> None:
    done = settle({(1, 2): first, (2, 1): second}, "Hull", "York", sentences=())
    assert left(done) == answers
    assert len(done.merges[0].readings) == 2
    assert [each.answer for each in done.unsettled] == (answers if len(answers) == 2 else [])


@pytest.mark.parametrize(("fails", "answers"), [((True, True), ["Hull", "York"]), ((True, False), ["York"])])
def test_a_member_that_says_nothing_decides_nothing(fails: tuple[bool, bool], answers: list[str]) -> None:
    failed = MemberReply((1, 2), "failed")
    readings = iter([[failed], [failed if fails[1] else reply(2, "York")]])
    done = tournament(told("Hull", "York"), [(0, 1)], lambda _: next(readings), random.Random(0))
    assert left(done) == answers


def test_the_first_reads_both_parts_and_its_word_is_final() -> None:
    for said in ("the York", None, "Bath"):
        done = settle({(1, 2): said}, "Hull", "York", way="once")
        assert left(done) == ([said] if said else [])
        assert not done.unsettled


def test_a_word_that_neither_gave_goes_to_the_one_that_is_more_like_it() -> None:
    assert settle({(1, 2): "Yorkshire"}, "Hull", "York", way="once").clusters == (Cluster("Yorkshire", (2,)),)
    assert settle({(1, 2): "Hully"}, "Hull", "York", way="once").clusters == (Cluster("Hully", (1,)),)
    fused = settle({(1, 2): "Leeds"}, "Hull", "York", "leeds", way="once")
    assert fused.clusters == (Cluster("Leeds", (2, 3)),)


@pytest.mark.parametrize("way", ["group", "once"])
@pytest.mark.parametrize("count", [2, 17])
def test_there_are_fewer_merges_than_answers_whatever_members_say(way: str, count: int) -> None:
    for seed in range(8):
        chance = random.Random(seed)
        pool = [None, *map(str, range(count + 5))]

        def reread(
            duels: Sequence[Duel], chance: random.Random = chance, pool: list[str | None] = pool
        ) -> list[MemberReply]:
            failed = MemberReply((1, 2), "malformed")
            said = [chance.choice([str(each.i), str(each.j), chance.choice(pool)]) for each in duels]
            return [
                failed if chance.random() < 0.1 else reply(1, each, *chance.choice([(), ("1.1",)])) for each in said
            ]

        clusters = told(*map(str, range(1, count + 1)), exact=way == "once")
        if way == "once":
            done = once(clusters, reread, random.Random(seed))
        else:
            done = tournament(clusters, [tuple(range(count))], reread, random.Random(seed))
        assert len(done.merges) <= count - 1
        assert len({each.answer for each in done.unsettled}) == len(done.unsettled)
        assert set(done.unsettled) <= set(done.clusters)
