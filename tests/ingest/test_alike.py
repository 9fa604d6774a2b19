"""Likely the same: which names are alike, and which name an entity is shown under."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgplatform.ingest.alike import best_name, like_names
from kgplatform.text import normalise_name

ALIKE = [
    ("Barack Obama", "Obama, Barack"),
    ("Lord Kelvin", "Kelvin"),
    ("The Great Eastern", "Great Eastern"),
    ("University of Oxford", "Oxford University"),
    ("Mendeleev", "Mendeleyev"),
    ("Philip Reis", "Phillip Reiss"),
    ("Émile Zola", "Emile Zola"),
    ("Dvořák Antonín", "Antonin Dvorak"),
    ("Владимир Путин", "Путин"),
    ("نجيب محفوظ", "محفوظ"),
    ("Apollo 11 mission", "Apollo 11"),
    ("鲁迅", "鲁迅"),
]
UNLIKE = [
    ("1866 cable", "cable"),
    ("Apollo 11", "Apollo 12"),
    ("Apollo 11", "Apollo"),
    ("Henry VIII of England", "Henry of Navarre"),
    ("John Smith", "John Brown"),
    ("Paris", "Pairs of shoes"),
    ("鲁迅", "鲁肃"),
    ("Ida", "Ada"),
    ("World War 1", "World War 2"),
    ("", "Ada"),
]


def pairs(*names: str) -> list[tuple[str, str]]:
    keys = {f"{number:03}": normalise_name(name) for number, name in enumerate(names)}
    return like_names(keys, keys)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_are_alike(one: str, other: str) -> None:
    assert pairs(one, other) == [("000", "001")] == pairs(other, one)


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_names_that_are_not(one: str, other: str) -> None:
    assert pairs(one, other) == [] == pairs(other, one)


def test_what_else_is_there_does_not_matter() -> None:
    names = [name for pair in ALIKE + UNLIKE for name in pair]
    every = {f"{number:03}": normalise_name(name) for number, name in enumerate(names)}
    whole = like_names(every, every)
    assert whole == sorted(set(whole))
    assert all(one < other for one, other in whole)
    for one, other in whole:
        assert pairs(every[one], every[other]) == [("000", "001")]
    ids = list(every)
    random.Random(5).shuffle(ids)
    halves = [{each: every[each] for each in part} for part in (ids[:20], ids[20:])]
    grown = like_names(halves[0], halves[0]) + like_names(halves[1], {**halves[1], **halves[0]})
    assert sorted(set(grown)) == whole


@given(st.lists(st.text(alphabet="abcé é1北ب ,.-", max_size=12), max_size=8))
def test_any_names(names: list[str]) -> None:
    found = pairs(*names)
    assert found == sorted(found)
    assert all(one < other for one, other in found)


@pytest.mark.parametrize(
    ("forms", "name", "aliases"),
    [
        (["Ada"], "Ada", []),
        (["Ada", "ADA", "ADA"], "ADA", ["Ada"]),
        (["b", "a"], "a", ["b"]),
        (["c", "b", "b", "a", "a"], "a", ["b", "c"]),
        (["ÉMILE", "Émile", "Émile"], "Émile", ["ÉMILE"]),
    ],
)
def test_the_form_that_most_passages_use(forms: list[str], name: str, aliases: list[str]) -> None:
    assert best_name(forms) == best_name(forms[::-1]) == (name, aliases)
