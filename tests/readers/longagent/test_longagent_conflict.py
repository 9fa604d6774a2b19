"""LongAgent's conflicts: who is asked with whom, and whose answer is left."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import pytest

from kgplatform.readers.longagent.conflict import Cluster, Resolution, SharedReading, Way, clustered, resolve, same

Says = Mapping[tuple[int, int], str | None]


def reader(said: Says) -> Callable[[Sequence[tuple[int, int]]], list[SharedReading]]:
    return lambda pairs: [SharedReading(said[each]) for each in pairs]


def settle(
    way: Way, said: Says, *answers: str, stands: Callable[[str, int], bool] = lambda text, number: False
) -> Resolution:
    """Members 1, 2, … with these answers, who say ``said`` when they read two parts."""
    clusters = clustered(dict(enumerate(answers, 1)), exact=way == "once")
    return resolve(clusters, way, reader(said), stands, random.Random(0))


def left(done: Resolution) -> list[str]:
    return [each.answer for each in done.clusters]


def test_members_with_the_same_answer_are_together_in_order() -> None:
    answers = {3: "The Lamp", 1: "No Mention", 5: "lamp!", 4: "Hull", 2: "the document does not contain it"}
    assert clustered(answers) == [Cluster("The Lamp", (3, 5)), Cluster("Hull", (4,))]
    exact = [Cluster("The Lamp", (3,)), Cluster("Hull", (4,)), Cluster("lamp!", (5,))]
    assert clustered(answers, exact=True) == exact


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("the Yale Law Journal", "Yale Law Journal"),
        ("U.S.", "us"),
        ("1,000", "1000"),
        ("  a  lamp ", "Lamp"),
        ("A", "a"),
        ("12.3.1990", "12/3/1990"),
        ("−5 °C", "-5°C"),
    ],
)
def test_answers_that_are_the_same(first: str, second: str) -> None:
    assert same(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("+", "-"),
        ("Hull", "Hall"),
        ("the", "a lamp"),
        ("Пётр", "Павел"),
        ("1.5 million", "15 million"),
        ("2-1", "21"),
        ("-5", "5"),
        ("C++", "C#"),
        ("12, 13", "1213"),
    ],
)
def test_answers_that_are_not(first: str, second: str) -> None:
    assert not same(first, second)


# ------------------------------------------------------------------------------------------------------------- each


@pytest.mark.parametrize(
    ("first", "second", "answers", "dropped"),
    [
        ("Hull", "Hull", ["Hull"], ("York",)),  # the second corrects itself
        ("York", "York", ["York"], ("Hull",)),  # the first does
        ("hull", "Leeds", ["hull"], ("York",)),  # one keeps its answer, in new words
        ("Hull", None, ["Hull"], ("York",)),
        (None, "York", ["York"], ("Hull",)),
        (None, None, [], ("Hull", "York")),
        ("Hull", "York", ["Hull", "York"], ()),  # neither changes
        ("Leeds", "leeds", ["Leeds"], ("Hull", "York")),  # both change, and agree
        ("Leeds", "Bath", [], ("Hull", "York")),  # both change, and neither answer stands anywhere
        ("Leeds", None, [], ("Hull", "York")),
    ],
)
def test_both_read_both_parts(
    first: str | None, second: str | None, answers: list[str], dropped: tuple[str, ...]
) -> None:
    done = settle("each", {(1, 2): first, (2, 1): second}, "Hull", "York")
    assert left(done) == answers
    (merge,) = done.merges
    assert (merge.first, merge.second, merge.dropped) == (1, 2, dropped)
    assert [each.answer for each in done.unsettled] == (["Hull", "York"] if answers == ["Hull", "York"] else [])
    assert merge.unsettled is bool(done.unsettled)


def test_two_new_answers_are_told_apart_by_the_text() -> None:
    said = {(1, 2): "Leeds", (2, 1): "Bath"}
    done = settle("each", said, "Hull", "York", stands=lambda text, number: (text, number) == ("Bath", 1))
    assert done.clusters == (Cluster("Bath", (1,)),)
    both = settle("each", said, "Hull", "York", stands=lambda text, number: True)
    assert left(both) == [each.answer for each in both.unsettled] == ["Leeds", "Bath"]
    own = settle(
        "each", {(1, 2): "York", (2, 1): "Hull"}, "Hull", "York", stands=lambda text, n: (text == "Hull") == (n == 1)
    )
    assert own.clusters == own.unsettled == (Cluster("Hull", (1,)), Cluster("York", (2,)))
    one = settle("each", {(1, 2): None, (2, 1): "Bath"}, "Hull", "York", stands=lambda text, number: number == 2)
    assert one.clusters == (Cluster("Bath", (2,)),)


def test_a_new_answer_joins_those_that_say_the_same() -> None:
    said = {(1, 2): "Leeds", (2, 1): "Leeds"}
    done = settle("each", said, "Hull", "York", "the Leeds")
    assert done.clusters == (Cluster("Leeds", (2, 3)),), "of equals the members of the second"
    assert len(done.merges) == 1


@pytest.mark.parametrize("fails", [0, 1])
def test_a_member_that_says_nothing_decides_nothing(fails: int) -> None:
    readings = [SharedReading("York"), SharedReading("York")]
    readings[fails] = SharedReading(None, failed=True)
    done = resolve(
        clustered({1: "Hull", 2: "York"}), "each", lambda pairs: readings, lambda *_: False, random.Random(0)
    )
    assert left(done) == [each.answer for each in done.unsettled] == ["Hull", "York"]


def test_an_answer_that_was_set_aside_and_is_found_again_is_one() -> None:
    said = {(1, 2): "Hull", (2, 1): "York", (1, 3): "York", (3, 1): "York"}
    done = settle("each", said, "Hull", "York", "Bath")
    assert done.clusters == (Cluster("York", (2, 3)),)
    assert not done.unsettled


def test_what_is_set_aside_is_not_asked_again() -> None:
    asked: list[tuple[int, int]] = []

    def reread(pairs: Sequence[tuple[int, int]]) -> list[SharedReading]:
        asked.extend(pairs)
        return [SharedReading({1: "Hull", 2: "York", 3: "Hull"}[each[0]]) for each in pairs]

    done = resolve(clustered({1: "Hull", 2: "York", 3: "Bath"}), "each", reread, lambda *_: False, random.Random(0))
    assert asked == [(1, 2), (2, 1), (1, 3), (3, 1)]
    assert left(done) == ["Hull", "York"]


# ------------------------------------------------------------------------------------------------------------- once


@pytest.mark.parametrize(
    ("said", "answers"),
    [
        ("Hull", ["Hull"]),
        ("the York", ["the York"]),
        (None, []),
        ("Yorkshire", ["Yorkshire"]),
        ("Kingston", ["Kingston"]),
    ],
)
def test_the_first_reads_both_parts_and_its_word_is_final(said: str | None, answers: list[str]) -> None:
    done = settle("once", {(1, 2): said}, "Hull", "York")
    assert left(done) == answers
    assert not done.unsettled


def test_a_word_that_neither_gave_goes_to_the_one_that_is_more_like_it() -> None:
    assert settle("once", {(1, 2): "Yorkshire"}, "Hull", "York").clusters == (Cluster("Yorkshire", (2,)),)
    assert settle("once", {(1, 2): "Hully"}, "Hull", "York").clusters == (Cluster("Hully", (1,)),)
    assert settle("once", {(1, 2): "xyz"}, "ab", "cd").clusters == (Cluster("xyz", (2,)),)
    fused = settle("once", {(1, 2): "Leeds"}, "Hull", "York", "leeds")
    assert fused.clusters == (Cluster("Leeds", (2, 3)),)


def test_off_and_single_answers_need_no_merge() -> None:
    assert settle("each", {}, "Hull", "hull").merges == ()
    assert settle("once", {}, "Hull").clusters == (Cluster("Hull", (1,)),)
    assert settle("each", {}).clusters == ()


# -------------------------------------------------------------------------------------------------------- properties


@pytest.mark.parametrize("way", ["each", "once"])
@pytest.mark.parametrize("count", [2, 3, 17, 64])
def test_there_are_fewer_merges_than_answers_whatever_members_say(way: Way, count: int) -> None:
    for seed in range(40):
        chance = random.Random(seed)
        pool = [None, *map(str, range(count + 5))]

        def reread(
            pairs: Sequence[tuple[int, int]], chance: random.Random = chance, pool: list[str | None] = pool
        ) -> list[SharedReading]:
            return [
                SharedReading(chance.choice([str(i), str(j), chance.choice(pool)]), chance.random() < 0.1)
                for i, j in pairs
            ]

        clusters = clustered({number: str(number) for number in range(1, count + 1)}, exact=way == "once")
        done = resolve(clusters, way, reread, lambda text, number: number % 2 == 0, random.Random(seed))
        assert len(done.merges) <= count - 1
        assert len({each.answer for each in done.unsettled}) == len(done.unsettled)
        assert set(done.unsettled) <= set(done.clusters)


@pytest.mark.parametrize("way", ["each", "once"])
def test_one_member_with_the_truth_wins_against_any_number_of_others(way: Way) -> None:
    """With its part in hand any member says the truth; without it each invents: it is never a vote."""
    for truth in (1, 7, 20):
        said = {number: "Hull" if number == truth else "York" for number in range(1, 21)}
        asked: list[tuple[int, int]] = []

        def reread(
            pairs: Sequence[tuple[int, int]], truth: int = truth, asked: list[tuple[int, int]] = asked
        ) -> list[SharedReading]:
            asked.extend(pairs)
            return [SharedReading("Hull" if truth in pair else "York") for pair in pairs]

        done = resolve(clustered(said), way, reread, lambda *_: False, random.Random(1))
        assert left(done) == ["Hull"]
        assert len(done.merges) == 1


def test_who_speaks_for_a_cluster_is_drawn_and_repeats_with_the_seed() -> None:
    clusters = [Cluster("York", tuple(range(1, 30))), Cluster("Hull", (30,))]

    def drawn(seed: int) -> int:
        done = resolve(clusters, "once", lambda pairs: [SharedReading("Hull")], lambda *_: False, random.Random(seed))
        return done.merges[0].first

    assert [drawn(seed) for seed in range(5)] == [drawn(seed) for seed in range(5)]
    assert len({drawn(seed) for seed in range(20)}) > 5
